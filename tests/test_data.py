"""Made data: normalised, drawn from its seed, and what counts as success."""

import pytest
import torch

from helpers import data
from helpers.data import Scene


@pytest.mark.parametrize("name", data.SHAPES)
def test_shapes_are_normalised_and_repeatable(name):
    points = data.SHAPES[name](1000, seed=3)
    assert points.shape == (1000, 2) and points.dtype == torch.float32
    torch.testing.assert_close(points.mean(0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(points.square().mean(), torch.tensor(1.0))
    assert torch.equal(points, data.SHAPES[name](1000, seed=3))
    assert not torch.equal(points, data.SHAPES[name](1000, seed=4))


def test_shapes_are_what_they_are_called():
    # Rings: two radii, one twice the other. Blobs: eight directions.
    radius = data.rings(2000).norm(dim=-1)
    inner, outer = radius[radius < 1.34], radius[radius > 1.34]
    assert 900 < len(inner) < 1100 and inner.std() < 0.1 and outer.std() < 0.1
    assert abs(outer.mean() / inner.mean() - 2) < 0.03
    angle = torch.atan2(*data.blobs(2000).unbind(-1))
    assert (angle / (torch.pi / 4)).round().remainder(8).unique().numel() == 8
    # Checkerboard: 8 of 16 squares, all of one colour. Points on a border are left out.
    board = data.checkerboard(4000)
    place = (board - board.min(0).values) / (board.max(0).values - board.min(0).values) * 4
    inside = place[((place - place.round()).abs() > 0.02).all(dim=-1)].floor()
    assert inside.unique(dim=0).shape == (8, 2) and (inside.sum(-1) % 2).unique().numel() == 1
    # Moons: the upper one opens downwards. Spiral: the radius grows with the angle.
    moons = data.two_moons(2000)
    assert moons[moons[:, 0] < -1][:, 1].mean() > 0.2 and moons[moons[:, 0] > 1][:, 1].mean() < -0.2


def demonstrations(n=5000):
    scene = data.reach_scenes(n, seed=1)
    return scene, data.reach_demonstrations(scene, seed=2)


def test_every_demonstration_succeeds_and_both_ways_are_taken():
    scene, actions = demonstrations()
    waypoints = data.to_waypoints(actions)
    assert actions.shape == (5000, data.HORIZON, 2)
    assert data.success(waypoints, scene).all()
    left = data.passes_left(waypoints, scene)
    assert 0.47 < left.float().mean() < 0.53
    # The same scene, other seeds: both ways past the same obstacle.
    ways = {
        data.passes_left(data.to_waypoints(data.reach_demonstrations(scene, seed=s)), scene)[
            0
        ].item()
        for s in range(8)
    }
    assert ways == {True, False}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_way_taken_cannot_be_told_from_the_scene(seed):
    """Also when scenes and demonstrations are drawn from one seed: else a network could cheat."""
    scene = data.reach_scenes(4000, seed)
    left = data.passes_left(data.to_waypoints(data.reach_demonstrations(scene, seed)), scene)
    known = torch.cat([scene.observation, scene.goal.norm(dim=-1, keepdim=True)], dim=-1)
    correlation = torch.corrcoef(torch.cat([known, left.float()[:, None]], dim=-1).T)[-1, :-1]
    assert correlation.abs().max() < 0.06


def test_actions_and_observations_are_normalised():
    scene, actions = demonstrations()
    for numbers in (actions.flatten(0, 1), scene.observation):
        assert numbers.mean(0).abs().max() < 0.05
        assert (numbers.std(0) - 1).abs().max() < 0.05
    torch.testing.assert_close(data.to_actions(data.to_waypoints(actions)), actions)


def test_scenes_are_as_described():
    scene = data.reach_scenes(5000)
    distance = scene.goal.norm(dim=-1)
    assert distance.min() >= 0.8 and distance.max() <= 1.2
    assert torch.atan2(scene.goal[:, 1], scene.goal[:, 0]).abs().max() <= 0.6
    ahead = scene.goal / distance[:, None]
    along = (scene.obstacle * ahead).sum(-1) / distance
    assert along.min() > 0.349 and along.max() < 0.651
    off = (scene.obstacle - (along * distance)[:, None] * ahead).norm(dim=-1)
    assert off.max() < 0.0801
    again = data.reach_scenes(5000)
    assert torch.equal(scene.goal, again.goal) and torch.equal(scene.obstacle, again.obstacle)


def scene_ahead():
    return Scene(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.0]]))


def chunk(*points):
    return torch.tensor([points], dtype=torch.float32)


@pytest.mark.parametrize(
    ("points", "clears", "reaches"),
    [
        ([(0.5, 0.3), (1.0, 0.0)], True, True),
        ([(0.5, -0.3), (1.0, 0.049)], True, True),
        ([(0.5, 0.3), (1.0, 0.051)], True, False),
        ([(0.5, 0.0), (1.0, 0.0)], False, True),  # through the middle
        ([(1.0, 0.0)], False, True),  # over it in one segment that starts and ends outside
        ([(0.0, 0.4), (1.0, 0.4), (1.0, 0.0)], True, True),
        ([(0.5, 0.181), (0.5, 0.3), (1.0, 0.0)], False, True),  # the way there cuts the disc
        ([(0.0, 0.0), (0.0, 0.0)], True, False),  # stays at the origin
    ],
)
def test_success_is_judged_on_segments(points, clears, reaches):
    waypoints, scene = chunk(*points), scene_ahead()
    assert data.clears_obstacle(waypoints, scene).item() == clears
    assert data.reaches_goal(waypoints, scene).item() == reaches
    assert data.success(waypoints, scene).item() == (clears and reaches)


def test_left_is_left():
    scene = scene_ahead()
    assert data.passes_left(chunk((0.5, 0.3), (1.0, 0.0)), scene).item()
    assert not data.passes_left(chunk((0.5, -0.3), (1.0, 0.0)), scene).item()
