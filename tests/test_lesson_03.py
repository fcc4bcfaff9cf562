"""Lesson 03: its pictures show what they were given."""

import math

import numpy as np
import pytest
import torch

from helpers.figures import depth
from helpers.jacobians import token_jacobian
from helpers.norms import rms_norm
from helpers.race import VARIANTS


def test_pushes_are_drawn_through_the_jacobian():
    x = torch.tensor([3.0, 1.0], dtype=torch.float64)
    matrix = torch.tensor([[0.3, -0.8], [0.5, 0.6]], dtype=torch.float64)
    layers = {
        "pre": lambda x, branch: x + branch(rms_norm(x)),
        "post": lambda x, branch: rms_norm(x + branch(x)),
    }
    view = depth.PushedThroughLayer(
        lambda read: read @ matrix.T,
        layers,
        token_jacobian,
        x[None],
    )
    view.update(strength=0.0, angle=90)
    before, _, after, end, _ = view.panels["pre"]
    np.testing.assert_allclose(after.get_xydata(), before.get_xydata(), atol=1e-12)
    np.testing.assert_allclose(end.get_xydata()[0], [0, math.sqrt(10)], atol=1e-12)
    view.update(strength=1.0, angle=30)
    drawn = view.panels["post"][2].get_xydata()
    centred = drawn - view.panels["post"][3].get_xydata()
    assert np.linalg.svd(centred)[1][1] < 1e-5  # a line
    assert view.factors["post"][1] < 1e-5 and "factors" in view.describe()


def test_idle_layers_show_each_depth():
    rms = {name: [3.0, 1.0, 1.0] for name in depth.SWITCHED_OFF}
    factors = {name: np.array([[1.0, 1.0], [0.3, 0.0], [0.3, 0.0]]) for name in depth.SWITCHED_OFF}
    view = depth.SwitchedOff(rms, factors)
    view.update(layer=1)
    assert [bar.get_height() for bar in view.bars["post"]] == [0.3, 0.0]
    assert view.dots["pre"].get_xydata().tolist() == [[1.0, 1.0]]
    assert "1 of 2 directions killed" in view.describe()


def test_strength_takes_the_nearest_measured_place():
    factors = {name: np.array([[1.0, 1.0], [4.0, 0.5]]) for name in ("pre", "post")}
    distance = {name: [0.0, 2.0] for name in ("pre", "post")}
    view = depth.BranchStrength([0.0, 1.0], factors, distance)
    view.update(strength=0.9)
    assert view.lines["pre"].get_ydata().tolist() == [4.0, 0.5]
    assert view.dots["post"].get_xydata().tolist() == [[1.0, 2.0]]


def _profiles(overflow_after):
    width, layers = 4, 10
    lengths = {"pre": layers, "post": layers, "ada": layers, "none": overflow_after}
    return {
        "GELU": {
            name: np.tile(np.arange(1, length + 1.0)[:, None], (1, width))
            for name, length in lengths.items()
        }
    }


def test_spectra_end_where_a_stack_overflows_and_say_so():
    view = depth.DepthSpectra(_profiles(overflow_after=3), 10)
    view.update(depth=3, feed_forward="GELU")
    assert view.lines["none"].get_ydata().tolist() == [3.0] * 4
    view.update(depth=4, feed_forward="GELU")
    assert len(view.lines["none"].get_xdata()) == 0
    assert "overflows float64 after layer 3" in view.describe()
    assert view.dots["pre"].get_xydata().tolist() == [[4.0, 4.0]]


def test_growth_ends_where_a_stack_overflows_and_marks_what_is_above_the_picture():
    lengths = {"pre": 10, "post": 10, "ada": 10, "none": 3}
    rms = {"GELU": {name: np.arange(1.0, n + 2) for name, n in lengths.items()}}
    rms["GELU"]["post"] = np.full(11, 1e6)
    share = {"GELU": {name: np.full(n, 0.5) for name, n in lengths.items()}}
    view = depth.StreamGrowth(rms, share)
    view.update(layer=5, feed_forward="GELU")
    assert view.dots["pre"][0].get_xydata().tolist() == [[5.0, 6.0]]
    assert np.isnan(view.dots["post"][0].get_ydata()).all()
    words = view.describe()
    assert "overflows float64 after layer 3" in words and "above the picture" in words


def test_collapse_leaves_out_each_token_with_itself():
    table = np.full((3, 4, 4), 0.5)
    table[:, range(4), range(4)] = 1.0
    view = depth.TokenCollapse({"GELU": {"pre": table, "post": table}})
    view.update(layer=2, feed_forward="GELU")
    assert view.means["GELU"]["pre"].tolist() == [0.5] * 3 and "0.500" in view.describe()


def test_race_shows_what_there_is_so_far():
    run = {"accuracy": [], "gradient_first": []}
    view = depth.Race({"pre": [run]}, steps=20, chance=0.2)
    assert "not begun" in view.describe()
    run["accuracy"] += [0.0] * 5 + [1.0] * 10
    run["gradient_first"] += [1.0] * 15
    view.update(step=20)
    line = view.lines["pre"][0][0].get_ydata()
    assert len(line) == 15 and line[4] == 0 and line[5] == pytest.approx(1 / 6) and line[14] == 1
    view.update(step=3)
    assert len(view.lines["pre"][0][0].get_ydata()) == 3


def test_every_racer_has_its_look():
    assert set(depth.RACERS) == set(VARIANTS)
