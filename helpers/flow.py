"""Flow matching in openpi's convention: time 1 is noise, time 0 is data.

Lipman et al. (2023), "Flow Matching for Generative Modeling"; Liu et al. (2023), "Flow Straight and Fast";
as in openpi, src/openpi/models/pi0.py. Most papers count time the other way round: see `flip_time`.
A velocity is any callable (x_t, time) -> v_t, x_t (batch, ...), time (batch,), v_t like x_t.
"""

import torch

from helpers.validation import (
    require_callable,
    require_count,
    require_finite,
    require_generator,
    require_number,
    require_shape,
    require_tensor,
    require_time,
    require_time_values,
)


def sample_time(batch, alpha=1.5, generator=None):
    """Times for training, Beta(alpha, 1) * 0.999 + 0.001, (batch,) float32: more of them near noise.

    If U is uniform, U**(1/alpha) is Beta(alpha, 1). openpi uses alpha = 1.5, whose mean is 0.6.
    """
    require_count("batch", batch)
    require_number("alpha", alpha, above=0)
    require_generator("generator", generator)
    return torch.rand(batch, generator=generator) ** (1 / alpha) * 0.999 + 0.001


def interpolate(actions, noise, time):
    """x_t = time * noise + (1 - time) * actions. actions, noise (batch, ...), time (batch,)."""
    require_tensor("actions", actions)
    require_shape("noise", noise, actions.shape)
    t = _beside(time, actions)
    return t * noise + (1 - t) * actions


def target_velocity(actions, noise):
    """u_t = noise - actions = d x_t / d time: the same all along the straight path."""
    require_tensor("actions", actions)
    require_shape("noise", noise, actions.shape)
    return noise - actions


def flow_loss(velocity, actions, noise=None, time=None, generator=None):
    """(v_t - u_t)**2, averaged over the last dimension only: (batch, horizon) for a chunk of actions.

    actions (batch, ..., action_dim). Noise and time are drawn where not given. For training take
    `.mean()`; for an observation, `lambda x_t, time: model(x_t, time, observation)`.
    """
    require_callable("velocity", velocity)
    require_generator("generator", generator)
    require_tensor("actions", actions)
    if actions.ndim < 2 or actions.numel() == 0:
        raise ValueError(
            f"actions must be (batch, ..., dim), not empty, got {tuple(actions.shape)}"
        )
    require_finite("actions", actions)
    if noise is None:
        noise = torch.randn(actions.shape, generator=generator).to(actions)
    if time is None:
        time = sample_time(len(actions), generator=generator).to(actions)
    x_t = interpolate(actions, noise, time)
    require_finite("noise", noise)
    require_time_values("time", time)
    v_t = velocity(x_t, time)
    require_shape("what velocity returns", v_t, x_t.shape)
    return (v_t - target_velocity(actions, noise)).square().mean(dim=-1)


def euler_path(velocity, noise, num_steps=10):
    """Follow the velocity from time 1 to 0 in equal steps -> (times, path).

    noise (batch, ...). times (num_steps + 1,) from 1 to 0; path (num_steps + 1, batch, ...), its first
    the noise, its last the sample. A step uses the velocity at its start.
    """
    require_callable("velocity", velocity)
    require_tensor("noise", noise)
    require_count("num_steps", num_steps)
    require_finite("noise", noise)
    # At least float32: linspace itself is coarse in half precision.
    dtype = torch.promote_types(noise.dtype, torch.float32)
    times = torch.linspace(1, 0, num_steps + 1, dtype=dtype, device=noise.device).to(noise.dtype)
    dt = -1 / num_steps
    path = [noise]
    for t in times[:-1]:
        x_t = path[-1]
        v_t = velocity(x_t, t.expand(len(noise)))
        require_shape("what velocity returns", v_t, x_t.shape)
        path.append(x_t + dt * v_t)
    return times, torch.stack(path)


def euler_sample(velocity, noise, num_steps=10):
    """The end of `euler_path`: samples, like `noise`. Under `torch.no_grad()` it needs less memory."""
    _, path = euler_path(velocity, noise, num_steps)
    return path[-1]


def flip_time(velocity):
    """The same flow told in the papers' convention (noise at time 0, data at 1), and back.

    There a sample follows dx/ds = flipped(x, s) from s = 0 to 1, with s = 1 - t and flipped = -velocity.
    """
    require_callable("velocity", velocity)
    return lambda x, s: -velocity(x, 1 - s)


def posterior_mean(x_t, time, data):
    """E[actions | x_t] where `data` (n, ...) are all the actions there are: (batch, ...) like x_t.

    Each data point weighs exp(-|x_t - (1-t) a|**2 / (2 t**2)). What all points share is left out, and the
    softmax takes the largest off before exp, in float64: times as small as 1e-4 stay exact.
    """
    require_tensor("x_t", x_t)
    require_tensor("data", data)
    if x_t.ndim < 2:
        raise ValueError(f"x_t must have shape (batch, ...), got {tuple(x_t.shape)}")
    if len(data) == 0:
        raise ValueError("data must hold at least one point, got none")
    require_shape("data", data, (len(data), *x_t.shape[1:]))
    require_finite("x_t", x_t)
    require_finite("data", data)
    t = _beside(time, x_t.flatten(1)).double()
    require_time_values("time", time)
    if not (time > 0).all():
        raise ValueError("time must be above 0: at 0 no noise is left to average over, got 0")
    x, points = x_t.flatten(1).double(), data.flatten(1).double()
    logits = (1 - t) * (x @ points.T) - (1 - t) ** 2 * points.square().sum(dim=-1) / 2
    weights = (logits / t**2).softmax(dim=-1)
    return (weights @ points).reshape(x_t.shape).to(x_t.dtype)


def exact_velocity(x_t, time, data):
    """E[noise - actions | x_t], the velocity that a perfect network learns: (x_t - posterior mean) / time.

    x_t (batch, ...), time (batch,) in (0, 1], data (n, ...). Returns x_t's shape and dtype.
    """
    require_tensor("x_t", x_t)
    # In float64 throughout: for a small time a small difference is divided by it.
    mean = posterior_mean(x_t.double(), time, data)
    return ((x_t.double() - mean) / _beside(time, x_t).double()).to(x_t.dtype)


def _beside(time, x):
    require_time("time", time, batch=len(x))
    return time.reshape(-1, *[1] * (x.ndim - 1))
