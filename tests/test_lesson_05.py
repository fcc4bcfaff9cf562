"""Lesson 05: its pictures show what the flow computes."""

import numpy as np
import pytest
import torch

from helpers import data, flow
from helpers.figures import flow as figures

TWO = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
MOONS = data.two_moons(120).double()
NOISE = torch.randn(120, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def _path(points, noise, steps):
    return flow.euler_path(lambda x, t: flow.exact_velocity(x, t, points), noise, steps)[1]


def test_pair_lines_end_at_noise_and_data():
    view = figures.PairLines(MOONS[:10], NOISE[:10], flow.interpolate)
    for t, ends in ((0.0, MOONS), (1.0, NOISE)):
        view.update(t=t, pairs=10)
        np.testing.assert_allclose(np.transpose(view.other_points.get_data()), ends[1:10])
        np.testing.assert_allclose(np.transpose(view.point.get_data()), ends[:1])
    view.update(t=0.5, pairs=1)
    assert not len(view.other_points.get_xdata()) and "data points, 1 in all" in view.describe()


def test_crossing_lines_average_with_the_weights_that_they_show():
    view = figures.CrossingLines(
        TWO,
        NOISE[:10, :1],
        lambda x, t: flow.posterior_mean(x, t, TWO),
        lambda x, t: flow.exact_velocity(x, t, TWO),
    )
    for t, x in ((1.0, 2.0), (0.5, 0.2), (0.02, -0.1)):
        view.update(t=t, x=x)
        shares = np.array([bar.get_height() for bar in view.bars])
        assert shares.sum() == pytest.approx(1)
        times, values = view.average.get_data()
        average = (values[1] - values[0]) / (times[1] - times[0])
        assert average == pytest.approx(shares @ (x - np.array([-1.0, 1.0])) / t)


def test_posterior_means_spread_from_a_point_to_the_data():
    functions = (flow.interpolate, flow.posterior_mean, flow.exact_velocity)
    view = figures.FieldOverTime({"two moons": MOONS}, NOISE, *functions)
    view.update(t=1.0, shape="two moons")
    means = np.transpose(view.means.get_data())
    np.testing.assert_allclose(means, np.broadcast_to(MOONS.mean(0), means.shape), atol=1e-9)
    assert view.spread < 1e-9
    view.update(t=0.02, shape="two moons")
    assert view.spread == pytest.approx(1, abs=0.01) and "t = 0.02" in view.describe()


def test_the_mean_chunk_hits_what_every_chunk_clears():
    scene = data.reach_scenes(1)
    scene = data.Scene(scene.goal.expand(60, 2), scene.obstacle.expand(60, 2))
    actions = data.reach_demonstrations(scene)
    noise = torch.randn(2, *actions.shape[1:], generator=torch.Generator().manual_seed(0))
    place = (scene.goal[0], scene.obstacle[0], data.OBSTACLE_RADIUS, data.to_waypoints)
    functions = (flow.interpolate, flow.posterior_mean)
    view = figures.ChunkOverTime(actions, noise, *place, *functions)
    view.update(t=1.0, pair=2)
    assert view.clearance < data.OBSTACLE_RADIUS and "it hits it" in view.describe()
    view.update(t=0.02, pair=2)
    assert view.clearance > data.OBSTACLE_RADIUS and "it clears it" in view.describe()
    # Near t = 0 the velocity is noise - actions: arrows of 0.3 times its negative, in the plane.
    drawn = np.stack([view.arrows.U, view.arrows.V], axis=-1)
    wanted = 0.3 * (data.to_waypoints(actions[1:2]) - data.to_waypoints(noise[1:2]))[0]
    np.testing.assert_allclose(drawn, wanted, atol=0.02)


def test_bands_draws_what_it_is_given_and_no_negative_bar():
    def look(t, wiggle):
        known = np.linspace(-0.1, 0.9, 8)
        curve = np.full(8, t)
        return {
            "actions": curve,
            "x_t": curve,
            "mean": curve,
            "known": known,
            "alone": known + wiggle,
        }

    view = figures.Bands(look, wiggled=5)
    view.update(t=0.25, wiggle=0.05)
    heights = [bar.get_height() for bar in view.bars]
    np.testing.assert_allclose(heights, np.maximum(np.linspace(-0.1, 0.9, 8), 0))
    np.testing.assert_allclose(view.alone.get_ydata(), np.linspace(-0.05, 0.95, 8))
    assert f"band 5 {heights[5]:.0%}" in view.describe()


def test_euler_paths_start_on_the_mean_and_end_nearer_than_new_data():
    fresh = {"two moons": data.two_moons(120, seed=1).double()}
    view = figures.EulerPaths({"two moons": MOONS}, fresh, NOISE[:30], _path, most=40, drawn=10)
    view.update(steps=1, shape="two moons")
    ends = np.transpose(view.ends.get_data())
    np.testing.assert_allclose(ends, np.broadcast_to(MOONS.mean(0), (10, 2)), atol=1e-6)
    assert view.longer["two moons", 1] == pytest.approx(0) and "1 step:" in view.describe()
    near = view.distances
    assert near["two moons", 40] < view.usual["two moons"] < near["two moons", 2]
    assert view.longer["two moons", 40] > 0.1


def test_pairs_cross_and_the_flow_does_not():
    view = figures.BentPaths(TWO, NOISE[:20, :1], _path, most=30)
    starts, ends = NOISE[:20, 0], torch.tensor([-1.0, 1.0]).repeat(10)
    crossings = sum(
        bool((starts[i] - starts[j]) * (ends[i] - ends[j]) < 0) for i in range(20) for j in range(i)
    )
    assert view.crossings == crossings > 0 == view.flow_crossings
    assert view.change > 0.5
    view.update(steps=1)
    assert view.change == 0 and len(view.lines[0].get_xdata()) == 2


def test_conventions_agree_and_a_mistake_shows():
    def run(convention, mistake):
        sign = -1 if mistake == "sign" else 1
        path = _path(MOONS, NOISE[:20], 10)
        return path[0] + sign * (path - path[0])

    view = figures.Conventions(run, ["none", "sign"], MOONS)
    right = view.distance
    assert "are the same" in view.describe()
    view.update(convention="papers", mistake="sign", step=10)
    assert view.distance > 5 * right and "s = 1.00" in view.describe()
    view.update(convention="openpi", mistake="sign", step=10)
    assert "t = 0.00" in view.describe()


def test_conventions_say_so_where_the_samples_differ():
    def run(convention, mistake):
        return _path(MOONS, NOISE[:20], 10) + (0.3 if convention == "papers" else 0)

    assert "differ by 3e-01" in figures.Conventions(run, ["none"], MOONS).describe()


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 3.0])
def test_time_sampling_counts_the_draws_above_one_half(alpha):
    def draw(alpha):
        return flow.sample_time(20_000, alpha, torch.Generator().manual_seed(0))

    view = figures.TimeSampling(draw, lambda t: 1.0, torch.linspace(0.0005, 0.9995, 1000))
    view.update(alpha=alpha)
    wanted = 1 - 0.5**alpha
    assert view.late == pytest.approx(wanted, abs=0.01)
    assert view.loss_late == pytest.approx(wanted, abs=0.01)  # with the same loss at every time
