"""Looking inside a trained `ActionExpert`: what it was told, what it carries, what it would do otherwise.

Everything here reads or overrules a model for the length of a `with`; none of it changes a weight.
"""

from contextlib import contextmanager
from typing import NamedTuple

import torch

from helpers.action_expert import ActionExpert
from helpers.blocks import attention_mask
from helpers.norms import AdaRMSNorm, gated_residual
from helpers.validation import (
    require_choice,
    require_count,
    require_finite,
    require_kind,
    require_list,
    require_number,
    require_shape,
    require_tensor,
    require_time,
    require_time_values,
    require_times,
)

PARTS = ("scale", "shift", "gate")
FINAL = "final norm"


class Modulation(NamedTuple):
    """What one norm is told at some times: (times, width) each, numbers or arrays alike."""

    scale: torch.Tensor
    shift: torch.Tensor
    gate: torch.Tensor


def told_places(model):
    """Where an adaRMS model is told the time: "layer 0", ..., "final norm" -> the norms there."""
    _require_adarms(model)
    places = {
        f"layer {number}": [norm for norm in block.modules() if isinstance(norm, AdaRMSNorm)]
        for number, block in enumerate(model.transformer.blocks)
    }
    return {**places, FINAL: [model.transformer.final_norm]}


@torch.no_grad()
def modulations(model, time):
    """Scale, shift and gate of every norm at these times (times,) -> {name: `Modulation`}.

    The names are those of `told_places`, with "attention" or "feed-forward" behind where a layer has both.
    """
    places = told_places(model)
    require_time("time", time)
    require_time_values("time", time)
    cond, found = model.time_mlp(time), {}
    for place, norms in places.items():
        halves = ("",) if len(norms) == 1 else (" attention", " feed-forward")
        for half, norm in zip(halves, norms, strict=True):
            found[place + half] = Modulation(*norm.modulation(cond).chunk(3, dim=-1))
    return found


def constant_share(values):
    """Which share of the energy of values (times, width) does not depend on time: 0 to 1.

    The energy of the average over time, over the average of the energy.
    """
    require_tensor("values", values, ndim=2)
    energy = values.square().sum(dim=-1).mean()
    if not energy > 0:
        raise ValueError("values must not be all zero: they have no energy to divide")
    return float(values.mean(dim=0).square().sum() / energy)


@contextmanager
def lie(model, told, place=None):
    """While it lasts, `place` is told the time `told` instead of the real one; None: told everywhere.

    told: a number, or (batch,) numbers, one for each member of the batch. A model that is told the time
    once can only be lied to there: place None.
    """
    require_kind("model", model, ActionExpert)
    if isinstance(told, torch.Tensor) and told.ndim:
        require_time("told", told)
    elif not isinstance(told, torch.Tensor):
        require_number("told", told)
    told = torch.as_tensor(told, dtype=torch.float32)
    require_time_values("told", told)
    if model.conditioning in ("input", "added", "added_gated") and place is None:
        which = -1  # the time is the last thing its time MLP is given
        hooks = [
            model.time_mlp.register_forward_pre_hook(
                lambda _, given: (*given[:which], told.expand(given[which].shape))
            )
        ]
    else:
        places = told_places(model)
        require_choice("place", place, (None, *places))
        chosen = [n for name, norms in places.items() if place in (None, name) for n in norms]
        hooks = [
            norm.register_forward_pre_hook(
                lambda _, given: (given[0], model.time_mlp(told.expand(len(given[0]))))
            )
            for norm in chosen
        ]
    try:
        yield model
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def hold(model, part, time):
    """While it lasts, one part ("scale", "shift" or "gate") of every norm keeps its average over `time`.

    time (times,): the times to average over. The norms go on hearing the time through the other parts.
    """
    _require_adarms(model)
    require_choice("part", part, PARTS)
    require_time("time", time)
    require_time_values("time", time)
    number = PARTS.index(part)

    def held(norm):
        with torch.no_grad():
            average = norm.modulation(model.time_mlp(time)).mean(dim=0).chunk(3)[number]

        def replace(_, __, modulation):
            parts = list(modulation.chunk(3, dim=-1))
            parts[number] = average.expand(parts[number].shape)
            return torch.cat(parts, dim=-1)

        return norm.modulation.register_forward_hook(replace)

    hooks = [held(norm) for norms in told_places(model).values() for norm in norms]
    try:
        yield model
    finally:
        for hook in hooks:
            hook.remove()


class Stream(NamedTuple):
    """The residual stream of one forward pass: (layers + 1, batch, tokens, width), and what was written."""

    states: torch.Tensor  # before the first block, and after each
    writes: torch.Tensor  # (layers, batch, tokens, width), computed from the blocks' own parts


@torch.no_grad()
def residual_stream(model, x_t, time, observation=None):
    """Follow the stream through a model of any conditioning -> `Stream`.

    The writes are gate * F(norm(x)), computed by themselves: that they add up to the stream is a finding.
    """
    suffix = _suffix(model, x_t, time, observation)
    mask = attention_mask(suffix.input_mask, suffix.block_starts)
    states, writes = [suffix.tokens], []
    for block in model.transformer.blocks:
        x, written = states[-1], torch.zeros_like(suffix.tokens)
        for half in ("attention", "feed_forward"):
            branch = getattr(block, half)
            if branch is None:
                continue
            norm, gate = getattr(block, f"{half}_norm"), getattr(block, f"{half}_gate", None)
            normed = norm(x + written, suffix.cond) if _is_told(norm) else norm(x + written)
            normed, gate = normed if _is_told(norm) else (normed, gate)
            y = branch(normed, mask=mask) if half == "attention" else branch(normed)
            written = gated_residual(written, y, gate)
        writes.append(written)
        states.append(block(x, suffix.cond, mask=mask))
    return Stream(torch.stack(states), torch.stack(writes))


def shares(parts, total):
    """How much of `total` each part is: <part, total> / <total, total>, over everything but the first axis.

    parts (n, ...) that add up to total (...) -> (n,), which then add up to 1. A part that points against
    the total counts below zero.
    """
    require_tensor("parts", parts)
    require_shape("total", total, parts.shape[1:])
    return (parts * total).flatten(1).sum(dim=1) / total.square().sum()


def fit_probe(features, time, ridge=1e-3):
    """The straight-line guess of time from features: least squares with a small ridge -> (weight, bias).

    features (n, width), time (n,). The guess is `features @ weight + bias`; ridge is relative to the
    features' average variance, so that the result does not depend on their scale.
    """
    require_tensor("features", features, ndim=2)
    require_finite("features", features)
    require_time("time", time, batch=len(features))
    require_number("ridge", ridge, least=0)
    x, t = features.double(), time.double()
    centred = x - x.mean(dim=0)
    covariance = centred.T @ centred / len(x)
    covariance += ridge * covariance.trace() / len(covariance) * torch.eye(len(covariance)).to(x)
    weight = torch.linalg.solve(covariance, centred.T @ (t - t.mean()) / len(x))
    return weight, t.mean() - x.mean(dim=0) @ weight


def r_squared(guess, truth):
    """1 - (squared error) / (squared distance from the mean), along the first axis: 1 is perfect.

    guess and truth (n, ...) -> (...). 0 is as good as always saying the mean; worse is below 0.
    """
    require_tensor("guess", guess)
    require_shape("truth", truth, guess.shape)
    spread = (truth - truth.mean(dim=0)).square().sum(dim=0)
    return 1 - (guess - truth).square().sum(dim=0) / spread


def cosine_waves(length):
    """The orthonormal cosine waves (DCT-II) of a chunk: row k has k half waves, (length, length)."""
    require_count("length", length)
    k = torch.arange(length)[:, None]
    waves = (torch.pi * k * (torch.arange(length) + 0.5) / length).cos() * (2 / length) ** 0.5
    waves[0] /= 2**0.5
    return waves


def in_bands(chunk):
    """A chunk (batch, horizon, dim) as amounts of cosine waves along it: [:, k] is band k, same shape."""
    require_tensor("chunk", chunk, ndim=3)
    return torch.einsum("kh,bhd->bkd", cosine_waves(chunk.shape[1]).to(chunk), chunk)


def half_known(known, times):
    """The largest time at which `known` (times,) reaches one half, read between its points.

    times in increasing order. The last of them where it is still above a half there.

    Raises:
        ValueError: it never is.
    """
    require_times("times", times)
    if not isinstance(known, torch.Tensor):
        require_list("known", known, require_number)
    else:
        require_tensor("known", known, ndim=1)
    if len(known) != len(times):
        raise ValueError(
            f"known must have one value for each of {len(times)} times, got {len(known)}"
        )
    above = [k for k, value in enumerate(known) if value > 0.5]
    if not above:
        raise ValueError(f"known must be above one half somewhere, its largest is {max(known):.2f}")
    k = above[-1]
    if k == len(times) - 1:
        return float(times[k])
    share = (known[k] - 0.5) / (known[k] - known[k + 1])
    return float(times[k] + share * (times[k + 1] - times[k]))


def _suffix(model, x_t, time, observation):
    require_kind("model", model, ActionExpert)
    return model.embed_suffix(x_t, time, observation)


def _is_told(norm):
    return isinstance(norm, AdaRMSNorm)


def _require_adarms(model):
    require_kind("model", model, ActionExpert)
    if model.conditioning != "adarms":
        raise ValueError(
            'model must have conditioning "adarms": only its norms are told the time, '
            f"got {model.conditioning!r}"
        )
