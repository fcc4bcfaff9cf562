"""Lesson 06: its pictures show what they are given, also while a cell runs."""

import time

import numpy as np
import pytest
import torch

from helpers import data, flow
from helpers import live as live_module
from helpers.comparison import NAMES, paired_difference
from helpers.figures import training as figures
from helpers.live import Live

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


def test_one_row_of_a_batch_is_drawn_as_training_sees_it():
    scene = data.reach_scenes(3)
    actions = data.reach_demonstrations(scene)
    noise = torch.randn(actions.shape, generator=torch.Generator().manual_seed(0))
    ways = [data.to_waypoints(chunks) for chunks in (actions, noise)]
    view = figures.RowOfABatch(*ways, scene.goal, scene.obstacle, data.OBSTACLE_RADIUS)
    assert f"{view.STEP}" == "0.3", "the title says so"
    target = ways[1] - ways[0]  # noise - action, in the plane
    for t in (1.0, 0.35, 0.0):
        view.update(t=t, row=2)
        wanted = data.to_waypoints(flow.interpolate(actions, noise, torch.full((3,), t)))[1]
        for points in (view.chain.get_xydata(), view.feet.get_xydata(), view.arrows.get_offsets()):
            np.testing.assert_allclose(points, wanted, atol=1e-6)
        drawn = np.stack([view.arrows.U, view.arrows.V], axis=-1)
        np.testing.assert_allclose(drawn, -0.3 * target[1], atol=1e-6)
        away, length = t * target[1].norm(dim=-1).mean(), 0.3 * target[1].norm(dim=-1).mean()
        said = f"Row 2, t = {t:.2f}: on average an arrow is {length:.2f} long, a point {away:.2f}"
        assert said in view.describe() and text_fits(view.figure)
        shown = np.concatenate([view.chain.get_xydata(), view.feet.get_xydata() + drawn])
        for axes in view.figure.axes:
            (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
            assert ((shown > (left, low)) & (shown < (right, high))).all(), "nothing is cut off"
    demonstration = view.path.get_xydata()[1:-1]  # without the origin and the gap
    np.testing.assert_allclose(demonstration, ways[0][1], atol=1e-6)
    np.testing.assert_allclose(view.chain.get_xydata(), demonstration, atol=1e-6)
    assert all(disc.center == pytest.approx(scene.obstacle[1].tolist()) for disc in view.discs)
    for cross in view.crosses:
        np.testing.assert_allclose(np.ravel(cross.get_data()), scene.goal[1])


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
