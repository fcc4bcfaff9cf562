"""Lesson 01: its pictures show what the norms return."""

import math

import numpy as np
import pytest
import torch

from helpers.figures import norm_geometry
from helpers.norms import layer_norm, rms_norm

X = torch.tensor([10.0, 11.0, 12.0], dtype=torch.float64)


def test_sphere_shows_what_the_norms_return():
    view = norm_geometry.NormSphere(X, layer_norm, rms_norm)
    start = view.images["layer_norm"]
    for shift in (-200, -11, 0, 91, 200):
        view.update(shift=shift, scale=1.0)
        np.testing.assert_allclose(view.images["layer_norm"], start, atol=1e-9)
        for name in ("layer_norm", "rms_norm"):
            solid, flat = view.lines[name]
            drawn = np.array(solid.get_data_3d())[:, 0]
            np.testing.assert_allclose(drawn, view.images[name])
            # The slice is the plane through the axis and x, so it must hold the point: same length.
            assert np.hypot(*np.array(flat.get_data())[:, 0]) == pytest.approx(
                np.linalg.norm(drawn)
            )
    view.update(shift=-11, scale=1.0)
    np.testing.assert_allclose(view.images["layer_norm"], view.images["rms_norm"], atol=1e-6)


def test_sphere_shrinks_by_eps_only_at_the_smallest_scale():
    view = norm_geometry.NormSphere(X, layer_norm, rms_norm)
    view.update(shift=0, scale=0.01)
    assert 0.99 < np.linalg.norm(view.images["layer_norm"]) / math.sqrt(3) < 0.995
    view.update(shift=0, scale=100)
    assert np.linalg.norm(view.images["layer_norm"]) == pytest.approx(math.sqrt(3), abs=1e-7)


def test_ellipsoid_survives_a_vanishing_image():
    view = norm_geometry.GammaEllipsoid(torch.tensor([1.0, 2.0, -1.5]), rms_norm)
    view.update(scale_1=-1.0, scale_2=-1.0, scale_3=-1.0)
    assert "no direction left" in view.describe()
    view.update(scale_1=0.5, scale_2=0.5, scale_3=0.5)
    assert view.angle == pytest.approx(0, abs=1e-2)


def test_gain_paths_part_only_under_decay():
    def train(weight_decay):
        return [1.0, 1.8 - 0.2 * weight_decay], [1.0, 1.8 - 0.1 * weight_decay]

    view = norm_geometry.GainPaths(train, 1.8)
    np.testing.assert_allclose(*view.paths)
    view.update(weight_decay=4.0)
    assert view.gamma.get_ydata()[-1] == pytest.approx(1.0)
    assert view.scale.get_ydata()[-1] == pytest.approx(1.4)
    assert "weight decay 4.0" in view.describe()


def test_eps_curve_bends_at_the_root():
    unit = torch.ones(8, dtype=torch.float64)
    view = norm_geometry.EpsCurve(unit, lambda x, eps: rms_norm(x, eps=eps))
    for eps in (1e-12, 1e-6, 1e-2):
        view.update(eps=eps)
        at = np.interp(math.sqrt(eps), view.rms_in, view.rms_out)
        assert at == pytest.approx(math.sqrt(0.5), abs=0.02)


def test_precision_marks_the_overflow():
    def own(x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()

    pattern = torch.linspace(-0.9, 1.0, 16, dtype=torch.float64)
    view = norm_geometry.Precision(pattern, {"float16": torch.float16}, own, rms_norm)
    view.update(magnitude=200.0, dtype="float16")
    assert view.errors["naive"] < 0.01
    view.update(magnitude=300.0, dtype="float16")
    assert view.errors["naive"] > 1 and view.errors["careful"] < 1e-3
    assert "inf" in view.describe()


def test_mean_share_measures_the_mean():
    vectors = torch.randn(200, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    view = norm_geometry.MeanShare(vectors, layer_norm, rms_norm)
    assert np.mean(view.share) == pytest.approx(1 / 64, rel=0.5)
    view.update(mean=3.0)
    assert np.median(view.share) == pytest.approx(0.9, abs=0.03)
    assert np.median(view.angle) == pytest.approx(np.degrees(np.arctan(3)), abs=3)


def test_a_picture_kept_after_live_drawing_holds_its_texts():
    view = norm_geometry.EpsCurve(
        torch.ones(8, dtype=torch.float64), lambda x, eps: rms_norm(x, eps=eps)
    )
    before = view.png()
    for artist in view.moving:
        artist.set_animated(True)
    assert view.png() == before
    assert all(artist.get_animated() for artist in view.moving)
