"""Lesson 06: its checks recognise right and wrong answers; its pictures show what they are given."""

import math
import re
import time

import numpy as np
import pytest

from helpers import live as live_module
from helpers.checks import lesson_06
from helpers.comparison import NAMES, paired_difference
from helpers.figures import training as figures
from helpers.live import Live

DENSE = 1024 * 3072 + 3072
RATES = {1: 0.0, 2: 0.6, 3: 0.8, 5: 0.91, 10: 0.96, 20: 0.98}


def rate(step, steps, peak, warm_up):
    warm = min(1, (step + 1) / (warm_up + 1))
    return peak * warm * (1 + math.cos(math.pi * step / steps)) / 2


RIGHT = {
    "exercise_1": [(37 * DENSE,), (float(37 * DENSE),)],
    "exercise_2": [(rate,)],
    "exercise_3": [(lambda s, e: math.ceil((1.96 * s / e) ** 2),)],
    "exercise_4": [(10, RATES), (2, {**RATES, 2: 0.95})],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((DENSE,), "one Dense"),
        ((36 * DENSE,), "one norm more"),
        ((19 * DENSE,), "two norms"),
        ((37 * 3 * 1024 * 1024,), "bias"),
        ((37 * 1024 * 1024,), "three times as wide"),
        ((12,), "Count the norms"),
        (("many",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda k, n, p, w: p * (1 + math.cos(math.pi * k / n)) / 2,), "first steps"),
        ((lambda k, n, p, w: p * min(1, (k + 1) / (w + 1)),), "should fall"),
        ((lambda k, n, p, w: 2 * rate(k, n, p, w),), "Twice too large"),
        (
            (lambda k, n, p, w: p * min(1, (k + 1) / (w + 1)) * math.cos(math.pi * k / n),),
            "negative",
        ),
        ((lambda k, n, p, w: rate(k, n, 1, w),), "peaks at 1"),
        ((lambda k, n, p, w: rate(k, n, p, w) * min(1, k / w),), "first step is lost"),
        ((lambda k, n, p, w: rate(k, 2 * n, p, w),), "should be 0"),
        ((lambda k, n, p, w: rate(k, n, p, w) * (1 - k / n),), "At step 50"),
        ((lambda k, n, p, w: "high",), "returned a str"),
        ((lambda k, n: 0.1,), "TypeError"),
        ((0.1,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((lambda s, e: (1.96 * s / e) ** 2,), "whole numbers"),
        ((lambda s, e: math.floor((1.96 * s / e) ** 2),), "Round up"),
        ((lambda s, e: math.ceil(1.96 * s / e),), "root of n"),
        ((lambda s, e: math.ceil((s / e) ** 2),), "1.96 standard errors"),
        ((lambda s, e: math.ceil((1.96 * e / s) ** 2),), "small effect needs more"),
        ((lambda s, e: 100,), "just below 0.5"),
        ((lambda s, e: None,), "returned nothing"),
        ((lambda s, e: "many",), "returned a str"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((5, RATES), "too far below"),
        ((20, RATES), "fewer are too"),
        ((4, RATES), "not among"),
        ((10, {n: 0.98 for n in RATES}), "pass num_steps on"),
        ((10, {n: 98 * value for n, value in RATES.items()}), "between 0 and 1"),
        ((10, {1: 0.0, 10: 0.9}), "Measure at least"),
        ((10, [0.1, 0.2]), "dict"),
        ((..., RATES), r"Replace the \.\.\."),
        ((10, ...), r"Replace the \.\.\."),
    ],
}


@pytest.mark.parametrize(
    "name,answer", [(name, answer) for name, answers in RIGHT.items() for answer in answers]
)
def test_right_answers_are_right(name, answer):
    found = getattr(lesson_06, name)(*answer)
    assert found and repr(found).startswith("Right."), found


@pytest.mark.parametrize(
    "name,answer,words",
    [(name, *entry) for name, entries in WRONG.items() for entry in entries],
)
def test_wrong_answers_get_their_own_hint(name, answer, words):
    found = getattr(lesson_06, name)(*answer)
    assert not found
    assert re.search(words, repr(found)), found


# -- pictures --------------------------------------------------------------------------------------


def text_fits(figure):
    """No text reaches over the edge of the figure."""
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    texts = list(figure.texts)
    for axes in figure.axes:
        texts += [*axes.texts, axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
    for text in texts:
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert inside, text.get_text()
            assert text.get_fontsize() >= 12
    return True


@pytest.fixture
def learning():
    return figures.Learning((1.0, 0.1), (0.5, 0.0), 0.18, steps=100, layers=4)


def learned(steps):
    losses = list(np.geomspace(2, 0.1, steps))
    gates = [
        (step, [0.002 * step + 0.005 * i for i in range(4)]) for step in range(20, steps + 1, 20)
    ]
    return {"losses": losses, "gates": gates, "paths": np.full((3, 16, 2), 0.5)}


def test_learning_shows_losses_gates_and_paths(learning):
    assert "before the first step" in learning.describe().lower()
    learning.update(**learned(100))
    np.testing.assert_allclose(learning.loss.get_ydata()[-1], 0.1)
    assert [len(line.get_xdata()) for line in learning.gate_lines] == [5] * 4
    assert learning.gate_lines[3].get_ydata()[-1] == pytest.approx(0.215)
    x = learning.paths.get_xdata()
    assert np.isnan(x).sum() == 3 and x[0] == 0, "paths are parted, and begin at the origin"
    heights = sorted(name.get_position()[1] for name in learning.gate_names)
    assert np.diff(heights).min() > 0.016, "labels of gates that lie close are moved apart"
    assert "after 100 steps" in learning.describe().lower() and text_fits(learning.figure)


@pytest.fixture
def flow_view():
    times = np.linspace(1, 0, 5)
    shape = (5, 2, 16, 2)
    side = {"x_t": np.zeros(shape), "x0_hat": np.ones(shape), "velocity": np.full(shape, 0.5)}
    other = {**side, "x_t": np.full(shape, 0.1)}
    curve_times = np.array([1.0, 0.5, 0.1])
    by_time = {
        "loss": {"network": np.array([0.3, 0.2, 0.1]), "exact": np.array([0.3, 0.1, 0.0])},
        "success": {"network": np.array([0.0, 0.5, 1.0]), "exact": np.array([0.0, 0.7, 1.0])},
    }
    return figures.FromNoiseToData(
        (1.0, 0.1), (0.5, 0), 0.18, times, {"network": side, "exact": other}, by_time, curve_times
    )


def test_from_noise_to_data_follows_t(flow_view):
    flow_view.update(t=0.74, sample=2)
    assert flow_view.t == 0.75
    assert flow_view.chains["exact"].get_ydata()[0] == 0.1
    assert flow_view.arrows["network"].U[0] == pytest.approx(-0.1), (
        "a step goes against the velocity"
    )
    words = flow_view.describe()
    assert "loss 0.250 (network), 0.200 (exact)" in words and "0.25 and 0.35" in words
    for t in (0.0, 1.0):
        flow_view.update(t=t, sample=1)
        assert text_fits(flow_view.figure)


def test_samples_are_drawn_by_their_success():
    asked = []

    def sample(name, scene, num_steps):
        asked.append((name, scene, num_steps))
        return np.full((4, 16, 2), 0.2 if name == "one" else 0.4)

    view = figures.Samples(
        sample,
        lambda paths, scene: np.array([True, True, False, scene == 1]),
        {"one": "first", "two": "second"},
        [[1, 0.1], [0.9, -0.2]],
        [[0.5, 0], [0.4, 0]],
        0.18,
    )
    view.update(scene=2, num_steps=3)
    assert view.shares == {"one": 0.75, "two": 0.75}
    good, bad = view.lines["two"]
    assert np.isnan(good.get_xdata()).sum() == 3 and np.isnan(bad.get_xdata()).sum() == 1
    assert tuple(view.discs[0].center) == (0.4, 0)
    before = len(asked)
    view.update(scene=2, num_steps=3)
    assert len(asked) == before, "what is known is not sampled again"
    assert "75%" in view.describe() and text_fits(view.figure)


def run(losses, success, parameters=1000):
    return {"validation_loss": losses, "success": success, "parameters": parameters}


def test_forest_pairs_by_seed_and_says_what_is_resolved():
    base = run([0.1, 0.2, 0.3, 0.4], [0.9, 0.9, 0.9, 0.9])
    worse = run([0.2, 0.31, 0.4, 0.5], [0.8, 0.8, 0.8, 0.8], 1005)
    few = run([0.1, 0.2], [0.9, 0.8])
    settings = {
        "deep": {"adarms": base, "added": worse, "none": few},
        "flat": {"adarms": base, "added_gated": worse},
    }
    view = figures.Forest(settings, paired_difference, NAMES)
    assert set(view.found) == {"added"} and view.found["added"].resolved
    assert view.found["added"].mean == pytest.approx(0.1025)
    assert "1,000 to 1,005 parameters, 4 seeds" in view.describe() and text_fits(view.figure)
    view.update(setting="deep", measure="validation_loss", all_models=True)
    assert set(view.found) == {"added", "none"} and "2 or 4 seeds" in view.describe()
    assert text_fits(view.figure)
    view.update(setting="flat", measure="success", all_models=False)
    assert set(view.found) == {"added_gated"}
    assert view.found["added_gated"].mean == pytest.approx(-0.1)
    hidden = next(row for row in view.rows if row[0] == "added")
    assert not any(artist.get_visible() for artist in hidden[2:])
    assert text_fits(view.figure)


def test_loss_by_time_takes_the_seeds_both_have():
    times = [0.1, 0.5, 0.9]
    base = [[0.1, 0.1, 0.1], [0.1, 0.2, 0.1], [9.0, 9.0, 9.0]]
    other = [[0.2, 0.1, 0.1], [0.2, 0.2, 0.1]]
    view = figures.LossByTime(times, {"adarms": base, "added": other}, paired_difference, NAMES)
    view.update(t=0.2)
    assert view.t == 0.1 and "+0.1000" in view.describe() and text_fits(view.figure)


# -- the picture while it trains -------------------------------------------------------------------


class Place:
    """Stands for a cell's output."""

    def __init__(self):
        self.shown = []

    def show(self, data, **more):
        self.shown.append(data)
        return self

    def update(self, data, **more):
        self.shown.append(data)


@pytest.fixture
def place(monkeypatch):
    place = Place()
    monkeypatch.setattr(live_module, "display", place.show)
    return place


def test_live_shows_a_widget_and_leaves_a_picture(place, learning, monkeypatch):
    monkeypatch.delenv("HELPERS_STILL", raising=False)
    pictures = []
    with Live(learning, learned, share=0.99) as show:
        image = show.__self__._image
        for steps in (20, 40, 60):
            show(steps)
            pictures.append(bytes(image.value))
            time.sleep(0.02)
    assert len(set(pictures)) == 3, "each is a new picture in the same widget"
    first, last = place.shown
    assert "application/vnd.jupyter.widget-view+json" in first and "image/png" not in first
    assert "image/png" in last and "After 60 steps" in last["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" not in last
    assert image.comm is None, "the widget is closed"


def test_live_keeps_its_share_of_the_time(place, learning, monkeypatch):
    monkeypatch.delenv("HELPERS_STILL", raising=False)
    clock = [100.0]
    monkeypatch.setattr(live_module.time, "perf_counter", lambda: clock[0])
    drawn = []

    def snapshot(steps):
        clock[0] += 0.06  # what a picture costs
        drawn.append(steps)
        return learned(steps)

    with Live(learning, snapshot, share=0.1) as show:
        for step in range(20, 1020):
            clock[0] += 0.01
            show(20 + step % 80)
    spent = 0.06 * len(drawn)
    assert 0.07 < spent / (clock[0] - 100) < 0.11


def test_live_in_a_built_notebook_shows_the_last_picture_only(place, learning, monkeypatch):
    monkeypatch.setenv("HELPERS_STILL", "1")
    with Live(learning, learned) as show:
        for steps in (20, 40):
            show(steps)
    (only,) = place.shown
    assert set(only) == {"image/png", "text/plain"} and "After 40 steps" in only["text/plain"]


def test_live_shows_the_last_state_also_after_an_error(place, learning, monkeypatch):
    monkeypatch.delenv("HELPERS_STILL", raising=False)
    with pytest.raises(KeyboardInterrupt), Live(learning, learned) as show:
        show(20)
        show(40)
        raise KeyboardInterrupt
    assert "After 40 steps" in place.shown[-1]["text/plain"]


def test_live_refuses_what_it_cannot_show(learning):
    with pytest.raises(TypeError, match="snapshot"):
        Live(learning, None)
    with pytest.raises(ValueError, match="share"):
        Live(learning, learned, share=1.0)
