"""Lesson 02: its pictures show what attention computes, and an exercise's bound is reached."""

import numpy as np
import pytest
import torch

from helpers.figures import attention as figures
from tests.answers.lesson_02 import _attend, _largest, _normal, _weights


def _entropy(weights):
    return torch.special.entr(weights).sum(-1)


def test_the_bound_of_exercise_3_is_reached():
    query = torch.ones(1, 4, dtype=torch.float64)
    keys = torch.cat([query, -query.expand(63, 4)])
    assert float(_weights(query, keys)[0, 0]) == pytest.approx(_largest(64, 4), rel=1e-5)


def test_spread_shows_what_attention_returns():
    view = figures.SpreadToOneHot(lambda c: (_attend(c), _attend(c).softmax(-1)), _entropy)
    for c in (0.01, 1.0, 3.0, 100.0):
        view.update(c=c)
        heights = [[bar.get_height() for bar in bars] for bars in view.bars]
        assert heights[0] == sorted(heights[0], reverse=True)
        np.testing.assert_allclose(np.sort(heights[0]), np.sort(_attend(c)[0]))
        assert sum(heights[1]) == pytest.approx(1) and max(heights[1]) == heights[1][0]
        assert view.mean_entropy == pytest.approx(float(_entropy(_attend(c).softmax(-1)).mean()))
        assert view.dots[0].get_ydata()[0] == view.mean_entropy
        top, bottom = view.figure.axes[0].get_ylim()
        assert top < min(heights[0]) and max(heights[0]) < bottom, "a bar is cut off"
    assert view.mean_entropy < 0.01 and view.mean_peak > 0.99


def test_head_dim_spreads_as_its_root():
    products = _normal(3200, 256) * _normal(6400, 256)[3200:]
    view = figures.HeadDimSpread(products)
    for head_dim in (4, 16, 64.2, 256):
        view.update(head_dim=head_dim)
        raw, scaled = view.spreads
        assert scaled == pytest.approx(1, abs=0.05)
        assert raw / scaled == pytest.approx(round(head_dim) ** 0.5)
        inside = np.diff(view.fine)[0] * view.scaled.get_data().values.sum()
        assert inside == pytest.approx(1, abs=0.01), "a density adds up to 1"
        assert view.scaled.get_data().values.max() < view.figure.axes[0].get_ylim()[1]


def test_largest_weight_is_a_softmax():
    view = figures.HeadDimSpread(_normal(128, 8))
    logits = _normal(128)
    wanted = logits.reshape(2, 64).softmax(-1).max(-1).values.mean()
    assert view._largest_weight(logits.numpy()) == pytest.approx(float(wanted))


def test_gradients_show_mean_and_median_and_who_carries_them():
    sizes = torch.tensor([1e-9, 1e-9, 1.0, 99.0], dtype=torch.float64)
    gaps = torch.tensor([1.0, 1.0, 0.1, 0.01], dtype=torch.float64)
    view = figures.SaturatedGradients(
        lambda c: c * torch.ones(4), {4: lambda c: c * sizes}, {4: gaps}
    )
    view.update(c=1.0, queries=4)
    assert view.now["mean"] == pytest.approx(25) and view.now["median"] == pytest.approx(0.5)
    assert view.carriers == 1
    drawn = view.points.get_ydata()
    assert drawn.min() == figures.LOWEST and drawn.max() == 99
    view.update(c=10.0, queries=4)
    assert view.now["mean"] == pytest.approx(250)
    assert view.dots["norm"].get_ydata()[0] == pytest.approx(10)


def test_gradients_below_the_axis_are_said_to_be():
    tiny = torch.full((4,), 1e-9, dtype=torch.float64)
    view = figures.SaturatedGradients(lambda c: tiny, {4: lambda c: tiny}, {4: tiny + 1})
    assert "below 10⁻⁶" in view.describe() and "1e-09, median" not in view.describe()


def test_every_place_of_the_slider_is_a_known_factor():
    for factor in figures.FACTORS:
        assert figures.FACTORS[figures._nearest(factor)] == factor


@pytest.mark.parametrize("norm", ["none", "pre-norm", "QK-norm"])
def test_diagram_draws_the_norm_where_it_is(norm):
    places = ("trunk", "read", "queries", "written", "after", "logits", "entropy")
    found = {name: number for number, name in enumerate(places, start=1)}
    asked = []

    def measure(c, norm):
        asked.append((c, norm))
        return found

    view = figures.BranchDiagram(measure)
    view.update(c=10.0, norm=norm)
    assert asked[-1] == (10.0, norm)
    for name, parts in view.boxes.items():
        assert all(part.get_visible() == (name == norm) for part in parts)
    for name, number in found.items():
        assert str(number) in view.texts[name].get_text()
        assert str(number) in view.describe() or name == "queries"


def test_large_numbers_are_written_out():
    assert [figures._short(v) for v in (20480.0, 999.4, 0.000205)] == ["20,500", "999", "0.000205"]


def test_placement_draws_what_attend_returns():
    def weights(c, norm, size, bias):
        return _attend(c, norm, size, bias).softmax(-1)

    view = figures.NormPlacement(weights, _entropy, torch.from_numpy)
    for c, norm, size, bias in ((1.0, "none", 1.0, 0.0), (0.1, "QK-norm", 10.0, 3.0)):
        view.update(c=c, norm=norm, size=size, bias=bias)
        wanted = weights(c, norm, size, bias)
        np.testing.assert_allclose(view.image.get_array(), wanted)
        assert view.mean_entropy == pytest.approx(float(_entropy(wanted).mean()))
        for name, curve in view.curves.items():
            assert view.dots[name].get_visible() == (name == norm)
            at = [float(_entropy(weights(f, name, size, bias)).mean()) for f in view.factors]
            np.testing.assert_allclose(curve.get_ydata(), at)


def test_placement_computes_the_curves_only_when_they_change():
    batches = []

    def weights(c, norm, size, bias):
        batches.append(isinstance(c, torch.Tensor))
        return _attend(c, norm, size, bias).softmax(-1)

    view = figures.NormPlacement(weights, _entropy, torch.from_numpy)
    view.update(c=1.0, norm="none", size=2.0, bias=0.0)
    before = sum(batches)
    view.update(c=5.0, norm="pre-norm", size=2.0, bias=0.0)
    assert sum(batches) == before
    view.update(c=5.0, norm="pre-norm", size=2.0, bias=1.0)
    assert sum(batches) == before + 3
