"""Lesson 03: its checks recognise right and wrong answers, and its pictures show what they were given."""

import math
import re

import numpy as np
import pytest
import torch

from helpers.checks import lesson_03
from helpers.figures import depth
from helpers.jacobians import token_jacobian
from helpers.norms import rms_norm
from helpers.race import VARIANTS

RIGHT = {
    "exercise_1": [
        [0.25, 0.25, 0.25, 0.25, 0.0],
        torch.tensor([0.25, 0.25, 0.25, 0.25, 0]),
        (1 / 4,) * 4 + (0,),
    ],
    "exercise_2": [lambda x, branch: x + rms_norm(branch(rms_norm(x)))],
    "exercise_3": [
        lambda layers, r: (1 + layers * r**2) ** 0.5,
        lambda layers, r: torch.tensor(1 + layers * r**2).sqrt(),
    ],
    "exercise_4": [0.24, 0.25, torch.tensor(0.24)],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ([0.25] * 4, "last direction"),
        ([0.25] * 5, "changes nothing"),
        ([0.0, 0.25, 0.25, 0.25, 0.25], "largest first"),
        ([1, 1, 1, 1, 0], "state of RMS 1"),
        ([4, 4, 4, 4, 0], "stretch"),
        ([0.25, 0.25, 0.25, 0, 0], "LayerNorm's"),
        ([0.25, 0.25, 0.25, 0.25, -0.25], "negative"),
        ([0.25], "five singular values"),
        ([0.5, 0.4, 0.3, 0.2, 0.1], "projection"),
        ("a quarter", "list of five"),
        (None, "list of five"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_2": [
        (lambda x, branch: x + branch(rms_norm(x)), "That is Pre-Norm"),
        (lambda x, branch: rms_norm(x + branch(x)), "That is Post-Norm"),
        (lambda x, branch: x + rms_norm(branch(x)), "OLMo 2"),
        (lambda x, branch: rms_norm(x + branch(rms_norm(x))), "second norm stands on the trunk"),
        (lambda x, branch: rms_norm(branch(rms_norm(x))), "trunk is missing"),
        (lambda x, branch: rms_norm(x) + rms_norm(branch(rms_norm(x))), "add to the normed x"),
        (lambda x, branch: x, "from the inside out"),
        (lambda x, branch: x[0], "shape"),
        (lambda x, branch: None, "returned nothing"),
        (lambda x: x, "TypeError"),
        (3, "function is asked for"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_3": [
        (lambda layers, r: 1 + layers * r, "adds lengths"),
        (lambda layers, r: 1 + layers * r**2, "mean square"),
        (lambda layers, r: (1 + layers * r) ** 0.5, "r squared"),
        (lambda layers, r: layers**0.5 * r, "not 0"),
        (lambda layers, r: (1 + (layers * r) ** 2) ** 0.5, "squared the sum"),
        (lambda layers, r: (1 + r**2) ** (layers / 2), "multiplies"),
        (lambda layers, r: 2.0, "Yours is 2"),
        (lambda layers, r: 1.0, "Squares add"),
        (lambda layers, r: "far", "One number"),
        (lambda layers, r: None, "returned nothing"),
        (1.0, "function is asked for"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_4": [
        (0, "switches the branches off"),
        (0.1, "a fifth more"),
        (0.5, "turn it down"),
        (2.0, "range is 0 to 1"),
        (-0.1, "0 or more"),
        (math.nan, "finite"),
        ("weak", "One number"),
        (True, "One number"),
        (..., r"Replace the \.\.\."),
    ],
}


@pytest.mark.parametrize("name,answer", [(n, a) for n, answers in RIGHT.items() for a in answers])
def test_right_answers(name, answer):
    feedback = getattr(lesson_03, name)(answer)
    assert feedback and repr(feedback).startswith("Right.")


@pytest.mark.parametrize(
    "name,answer,says", [(n, a, s) for n, answers in WRONG.items() for a, s in answers]
)
def test_wrong_answers_get_their_own_hint(name, answer, says):
    feedback = getattr(lesson_03, name)(answer)
    assert not feedback and re.search(says, feedback.message), feedback


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
