"""Made data: shapes in the plane, and action chunks that reach a goal past an obstacle.

Everything is drawn from a seed: the same seed gives the same numbers.
"""

import math
from dataclasses import dataclass

import torch

from helpers.validation import (
    require_count,
    require_finite,
    require_kind,
    require_shape,
    require_tensor,
)

HORIZON = 16  # waypoints in a chunk
OBSTACLE_RADIUS = 0.18
GOAL_TOLERANCE = 0.05

# Mean and deviation of a waypoint's two coordinates, and of an observation's four, over 200,000 draws.
WAYPOINT_MEAN, WAYPOINT_STD = (0.500, 0.0), (0.288, 0.272)
OBSERVATION_MEAN, OBSERVATION_STD = (0.942, 0.0, 0.0, 0.0), (0.121, 0.336, 0.084, 0.052)


def two_moons(n, seed=0):
    """Two interleaved half circles -> (n, 2)."""
    random = _generator(n, seed)
    angle = math.pi * torch.rand(n, generator=random)
    upper = torch.rand(n, generator=random) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return _normalise(_blur(torch.stack([x, y], dim=-1), 0.05, random))


def checkerboard(n, seed=0):
    """The dark squares of a 4 by 4 board -> (n, 2)."""
    random = _generator(n, seed)
    row = torch.randint(4, (n,), generator=random)
    column = 2 * torch.randint(2, (n,), generator=random) + row % 2
    corner = torch.stack([column, row], dim=-1)
    return _normalise(corner + torch.rand(n, 2, generator=random))


def spiral(n, seed=0):
    """One arm, one and a half turns, evenly dense along it -> (n, 2)."""
    random = _generator(n, seed)
    angle = 3 * math.pi * torch.rand(n, generator=random).sqrt()
    points = angle[:, None] * torch.stack([angle.cos(), angle.sin()], dim=-1)
    return _normalise(_blur(points, 0.2, random))


def rings(n, seed=0):
    """Two circles, one inside the other -> (n, 2)."""
    random = _generator(n, seed)
    angle = 2 * math.pi * torch.rand(n, generator=random)
    radius = 1 + torch.randint(2, (n,), generator=random)
    points = radius[:, None] * torch.stack([angle.cos(), angle.sin()], dim=-1)
    return _normalise(_blur(points, 0.08, random))


def blobs(n, seed=0):
    """Eight Gaussians on a circle -> (n, 2)."""
    random = _generator(n, seed)
    angle = math.pi / 4 * torch.randint(8, (n,), generator=random)
    return _normalise(_blur(torch.stack([angle.cos(), angle.sin()], dim=-1), 0.08, random))


SHAPES = {
    "two moons": two_moons,
    "checkerboard": checkerboard,
    "spiral": spiral,
    "rings": rings,
    "blobs": blobs,
}


@dataclass(frozen=True)
class Scene:
    """Where to go and what is in the way, for n tasks. All start at the origin."""

    goal: torch.Tensor  # (n, 2), 0.8 to 1.2 away, within 0.6 rad of straight ahead
    obstacle: torch.Tensor  # (n, 2), the centre of a disc of OBSTACLE_RADIUS

    def __post_init__(self):
        require_tensor("goal", self.goal, ndim=2, width=2)
        require_shape("obstacle", self.obstacle, self.goal.shape)

    @property
    def observation(self):
        """What the network sees: the goal, and the obstacle seen from halfway, normalised (n, 4)."""
        seen = torch.cat([self.goal, self.obstacle - self.goal / 2], dim=-1)
        return (seen - seen.new_tensor(OBSERVATION_MEAN)) / seen.new_tensor(OBSERVATION_STD)


def reach_scenes(n, seed=0):
    """n scenes: the obstacle lies 35 to 65% of the way, up to 0.08 off the straight line."""
    random = _generator(n, seed, least=1)
    distance = _uniform(0.8, 1.2, n, random)
    angle = _uniform(-0.6, 0.6, n, random)
    along, aside = _uniform(0.35, 0.65, n, random), _uniform(-0.08, 0.08, n, random)
    ahead = torch.stack([angle.cos(), angle.sin()], dim=-1)
    goal = distance[:, None] * ahead
    return Scene(goal, along[:, None] * goal + aside[:, None] * _left_of(ahead))


def reach_demonstrations(scene, seed=0):
    """One good chunk for each scene, past the obstacle on the left or right with equal chance.

    Returns normalised actions (n, HORIZON, 2); `to_waypoints` gives the plane's coordinates.
    """
    require_kind("scene", scene, Scene)
    n = len(scene.goal)
    # Another stream than the scenes': with the same seed, the side would follow from the goal's distance.
    random = _generator(n, seed, least=1, stream=1)
    left = torch.where(torch.rand(n, generator=random) < 0.5, 1.0, -1.0)
    distance = scene.goal.norm(dim=-1)
    ahead = scene.goal / distance[:, None]
    aside = (scene.obstacle * _left_of(ahead)).sum(dim=-1)
    along = (scene.obstacle * ahead).sum(dim=-1) / distance
    margin = _uniform(0.06, 0.12, n, random)
    height = left * (OBSTACLE_RADIUS + margin) + aside

    # sin(pi s**p) rises from 0 to its peak beside the obstacle (s = along) and falls back to 0.
    s = torch.linspace(0, 1, HORIZON + 1)[1:]
    bump = (math.pi * s ** (math.log(0.5) / along.log())[:, None]).sin()
    waypoints = s[:, None] * scene.goal[:, None]
    waypoints = waypoints + (height[:, None] * bump)[..., None] * _left_of(ahead)[:, None]
    return to_actions(waypoints)


def to_actions(waypoints):
    """Waypoints in the plane (n, HORIZON, 2) -> normalised to mean about 0 and deviation about 1."""
    _require_chunk("waypoints", waypoints)
    mean, std = waypoints.new_tensor(WAYPOINT_MEAN), waypoints.new_tensor(WAYPOINT_STD)
    return (waypoints - mean) / std


def to_waypoints(actions):
    """The inverse of `to_actions`."""
    _require_chunk("actions", actions)
    return actions * actions.new_tensor(WAYPOINT_STD) + actions.new_tensor(WAYPOINT_MEAN)


def clears_obstacle(waypoints, scene):
    """Does every segment, from the origin on, stay outside the obstacle? -> (n,) booleans."""
    ends = _on_scene(waypoints, scene)
    starts = torch.cat([torch.zeros_like(ends[:, :1]), ends[:, :-1]], dim=1)
    step, to_centre = ends - starts, scene.obstacle[:, None] - starts
    # The point of a segment nearest to the centre; a segment of no length is its start.
    length = step.square().sum(dim=-1).clamp_min(1e-12)
    share = ((to_centre * step).sum(dim=-1) / length).clamp(0, 1)
    distance = (to_centre - share[..., None] * step).norm(dim=-1)
    return (distance >= OBSTACLE_RADIUS).all(dim=-1)


def reaches_goal(waypoints, scene):
    """Is the last waypoint within GOAL_TOLERANCE of the goal? -> (n,) booleans."""
    return (_on_scene(waypoints, scene)[:, -1] - scene.goal).norm(dim=-1) <= GOAL_TOLERANCE


def success(waypoints, scene):
    """Past the obstacle and at the goal -> (n,) booleans; their mean is the success rate."""
    return clears_obstacle(waypoints, scene) & reaches_goal(waypoints, scene)


def passes_left(waypoints, scene):
    """On which side the chunk passes: true where it is left of the obstacle when beside it."""
    beside = _on_scene(waypoints, scene) - scene.obstacle[:, None]
    ahead = scene.goal / scene.goal.norm(dim=-1, keepdim=True)
    nearest = (beside * ahead[:, None]).sum(dim=-1).abs().argmin(dim=-1)
    return ((beside * _left_of(ahead)[:, None]).sum(dim=-1)).gather(1, nearest[:, None])[:, 0] > 0


def _on_scene(waypoints, scene):
    require_kind("scene", scene, Scene)
    _require_chunk("waypoints", waypoints)
    require_shape("waypoints", waypoints, (len(scene.goal), *waypoints.shape[1:]))
    return waypoints


def _require_chunk(name, value):
    require_tensor(name, value, ndim=3, width=2)
    if value.shape[1] == 0:
        raise ValueError(f"{name} must hold at least one waypoint, got {tuple(value.shape)}")
    require_finite(name, value)


def _generator(n, seed, least=2, stream=0):
    require_count("n", n, least=least)
    require_count("seed", seed, least=0)
    return torch.Generator().manual_seed(seed + stream * 1_000_003)


def _uniform(low, high, n, random):
    return low + (high - low) * torch.rand(n, generator=random)


def _left_of(ahead):
    """A quarter turn to the left."""
    return torch.stack([-ahead[..., 1], ahead[..., 0]], dim=-1)


def _blur(points, deviation, random):
    return points + deviation * torch.randn(points.shape, generator=random)


def _normalise(points):
    """Mean 0, and one common scale so that the shape keeps its proportions: mean square 1."""
    centred = points - points.mean(dim=0)
    return centred / centred.square().mean().sqrt()
