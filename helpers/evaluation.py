"""How good a velocity network is: its loss by time, its samples, its success on the reach task."""

import torch

from helpers.data import Scene, reach_demonstrations, success, to_waypoints
from helpers.flow import euler_path, exact_velocity, interpolate, target_velocity
from helpers.validation import (
    require_callable,
    require_count,
    require_kind,
    require_number,
    require_tensor,
    require_times,
)


@torch.no_grad()
def sample_path(model, observation, num_steps=10, seed=0):
    """Follow the model from noise to actions -> (times, path) as `helpers.flow.euler_path` gives them.

    observation (n, observation_dim): one sample for each row.
    """
    _require_model(model)
    require_tensor("observation", observation, ndim=2)
    require_count("seed", seed, least=0)
    config = model.config
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn(len(observation), config.horizon, config.action_dim, generator=random)
    return euler_path(lambda x_t, time: model(x_t, time, observation), noise, num_steps)


def sample_actions(model, observation, num_steps=10, seed=0):
    """The end of `sample_path`: normalised actions (n, horizon, action_dim)."""
    return sample_path(model, observation, num_steps, seed)[1][-1]


def success_rate(model, scene, num_steps=10, seed=0):
    """Share of `helpers.data.Scene`s whose sampled chunk passes the obstacle and ends at the goal."""
    require_kind("scene", scene, Scene)
    actions = sample_actions(model, scene.observation, num_steps, seed)
    return success(to_waypoints(actions), scene).float().mean().item()


@torch.no_grad()
def loss_by_time(model, actions, observation, times, seed=0):
    """Mean squared error of v_t at each of `times`, same noise at all of them -> (times,)."""
    require_callable("model", model)
    require_tensor("actions", actions, ndim=3)
    require_times("times", times)
    require_count("seed", seed, least=0)
    noise = torch.randn(actions.shape, generator=torch.Generator().manual_seed(seed))
    losses = []
    for t in times:
        time = torch.full((len(actions),), float(t))
        v_t = model(interpolate(actions, noise, time), time, observation)
        losses.append((v_t - target_velocity(actions, noise)).square().mean())
    return torch.stack(losses)


def quantile_times(count=16, alpha=1.5):
    """`count` times that stand for Beta(alpha, 1), training's: the middles of shares of equal weight."""
    require_count("count", count)
    require_number("alpha", alpha, above=0)
    share = (torch.arange(count) + 0.5) / count
    return share ** (1 / alpha) * 0.999 + 0.001


def validation_loss(model, actions, observation, count=16, seed=0):
    """The training loss on other data, with the times laid out evenly instead of drawn."""
    times = quantile_times(count)
    return loss_by_time(model, actions, observation, times, seed).mean().item()


@torch.no_grad()
def measure_by_time(velocity, scene, actions, times, seed=0):
    """Loss of v_t, success of the guess x_t - t v_t, at each of `times` -> (loss, success), (times,) each.

    velocity(x_t, time) answers for the scenes' rows; actions: one chunk for each scene.
    """
    require_callable("velocity", velocity)
    require_kind("scene", scene, Scene)
    require_tensor("actions", actions, ndim=3)
    if len(actions) != len(scene.goal):
        raise ValueError(
            f"actions must hold one chunk for each of {len(scene.goal)} scenes, got {len(actions)}"
        )
    require_times("times", times)
    require_count("seed", seed, least=0)
    noise = torch.randn(actions.shape, generator=torch.Generator().manual_seed(seed))
    losses, successes = [], []
    for t in times:
        time = torch.full((len(actions),), float(t))
        x_t = interpolate(actions, noise, time)
        v_t = velocity(x_t, time)
        losses.append((v_t - target_velocity(actions, noise)).square().mean())
        guess = to_waypoints(x_t - float(t) * v_t)
        successes.append(success(guess, scene).float().mean())
    return torch.stack(losses), torch.stack(successes)


def exact_reach_velocity(scene, count=1000, seed=0):
    """The velocity of a perfect network: a row answers from `count` demonstrations of its own scene.

    Returns a function of x_t (scenes, horizon, 2) and time (scenes,), all above 0.
    """
    require_kind("scene", scene, Scene)
    require_count("count", count)
    require_count("seed", seed, least=0)
    possible = []
    for i in range(len(scene.goal)):
        place = (x[i : i + 1].expand(count, 2) for x in (scene.goal, scene.obstacle))
        possible.append(reach_demonstrations(Scene(*place), seed + i))

    def velocity(x_t, time):
        rows = zip(x_t.split(1), time.split(1), possible, strict=True)
        return torch.cat([exact_velocity(*row) for row in rows])

    return velocity


def _require_model(model):
    require_callable("model", model)
    if not hasattr(model, "config"):
        raise TypeError(
            f"model must have a config (horizon and action_dim), as an ActionExpert has, "
            f"got {type(model).__name__}"
        )
