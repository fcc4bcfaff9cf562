"""Checks of lesson 05's exercises."""

import math

import torch

from helpers.checks.feedback import Feedback, hint, number, numbers_at, right, run


def exercise_1(answer) -> Feedback:
    """v_t at x_t = 0.5, t = 0.5, where the data are -1 and 1."""
    answer, trouble = number(answer, "velocity")
    if trouble is not None:
        return trouble
    mean = math.tanh(1.0)
    v = (0.5 - mean) / 0.5
    if abs(answer - v) < 0.01:
        return right("The posterior mean is 0.76, so a step goes up, towards 1.")
    known_mistakes = (
        (-v, "The size is right. Is v_t = (x_t - mean)/t or (mean - x_t)/t?"),
        (mean, "That is the posterior mean. What is the velocity that goes with it?"),
        (v * 0.5, "Nearly: x_t minus the posterior mean is still to be divided by t."),
        (
            -1.0,
            "That is the way to the nearer data point. The other one is possible too: weigh both.",
        ),
        (1.0, "That gives both data points the same weight. Which noise would each have needed?"),
        (
            (0.5 - math.tanh(2.0)) / 0.5,
            "The weights are too unequal: each noise is (0.5 - 0.5 a)/0.5, its weight exp(-noise**2 / 2).",
        ),
        (
            (0.5 - math.tanh(0.25)) / 0.5,
            "The weights are too equal: x_t - (1 - t) a is still to be divided by t to give the noise.",
        ),
        (-0.5, "Very near: two digits are asked for."),
    )
    for wrong, words in known_mistakes:
        if abs(answer - wrong) < 0.01:
            return hint(words)
    if answer > 0:
        return hint(
            "v_t points at the noise, and x_t = 0.5 is nearer to the data point 1 than to -1."
        )
    return hint(
        "First the two noises, (0.5 - 0.5 a)/0.5. Each weighs exp(-noise**2 / 2); then the mean of a."
    )


def _openpi_velocity(x, time):
    if ((time < 0) | (time > 1)).any():
        raise ValueError("time must lie in [0, 1]")
    return x * (1 + 3 * time[:, None]) + time[:, None] ** 2


def exercise_2(function) -> Feedback:
    """A function that turns an openpi velocity into one for s = 1 - t."""
    flipped, trouble = run(function, _openpi_velocity)
    if trouble is not None:
        return trouble
    if not callable(flipped):
        return hint(f"It should return a function of x and s, got a {type(flipped).__name__}.")
    x = torch.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=torch.float64)
    s = torch.tensor([0.2, 0.9], dtype=torch.float64)
    result, trouble = run(flipped, x, s)
    if trouble is not None:
        return trouble
    if not isinstance(result, torch.Tensor) or result.shape != x.shape:
        return hint(f"The velocity must have the shape of x, {tuple(x.shape)}.")
    wanted = -_openpi_velocity(x, 1 - s)
    if torch.allclose(result, wanted):
        return right("Argument and sign: both turn.")
    if torch.allclose(result, -wanted):
        return hint("The time is turned, the sign is not: these samples run away from the data.")
    if torch.allclose(result, -_openpi_velocity(x, s)):
        return hint(
            "The sign is turned, the time is not: at s = 0 it is asked about t = 0, the data."
        )
    if torch.allclose(result, _openpi_velocity(x, s)):
        return hint("Nothing has changed yet. What is t at s? And which way does the library step?")
    return hint("Neither of the two changes alone, nor both: ask the velocity at one time only.")


def exercise_3(function) -> Feedback:
    """A function of sigma and q: the t at which a share q of a lone band's variance is known."""
    cases = ((0.3, 0.9), (2.0, 0.2), (1.0, 0.5))
    results, trouble = numbers_at(function, cases)
    if trouble is not None:
        return trouble

    def agree(formula) -> bool:
        return all(abs(r - formula(s, q)) < 1e-6 for r, (s, q) in zip(results, cases, strict=True))

    def odds(q):
        return q / (1 - q)

    if agree(lambda s, q: s / (s + math.sqrt(odds(q)))):
        return right("At q = 1/2 it is sigma/(1 + sigma) again; to know more takes a smaller t.")
    if agree(lambda s, q: s / (1 + s)):
        return hint("That is the time for one half, whatever q is.")
    if agree(lambda s, q: s / (s + odds(q))) or agree(lambda s, q: s * s / (s * s + odds(q))):
        return hint("A square was lost: sigma, t and 1 - t all stand squared in the share.")
    if agree(lambda s, q: s / (s + math.sqrt(1 / odds(q)))):
        return hint("Then more would be known at a larger t. Which of q and 1 - q goes with t**2?")
    if agree(lambda s, q: math.sqrt(odds(q)) / (s + math.sqrt(odds(q)))):
        return hint("That is 1 - t. Near t = 1 there is noise, and little is known.")
    if any(not 0 <= r <= 1 for r in results):
        return hint("A time lies between 0 and 1. Set the share to q and solve for t.")
    return hint("Put your t into the formula for the share: it should give q back.")


def exercise_4(function) -> Feedback:
    """A function of noise (n,) and actions (n,) that reorders the actions so that no lines cross."""
    generator = torch.Generator().manual_seed(4)
    noise = torch.randn(9, generator=generator, dtype=torch.float64)
    actions = torch.randn(9, generator=generator, dtype=torch.float64)
    result, trouble = run(function, noise.clone(), actions.clone())
    if trouble is not None:
        return trouble
    if not isinstance(result, torch.Tensor) or result.shape != actions.shape:
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(
            f"A tensor of the actions' shape {tuple(actions.shape)} is asked for, got {shape}."
        )
    if not torch.equal(result.double().sort().values, actions.sort().values):
        return hint("Every action must be used exactly once: only their order may change.")
    gaps = (noise[:, None] - noise) * (result[:, None] - result)
    crossings = int((gaps < 0).sum()) // 2
    if crossings == 0:
        return right(
            "One line through each point: its average has one member, so the flow is straight."
        )
    if torch.equal(result, actions):
        return hint(f"The order is still the drawn one: {crossings} pairs of lines cross.")
    if torch.equal(result, actions.sort().values):
        return hint(
            "Sorted, but the noise is not: action i must go to the noise of the same rank, not to place i."
        )
    if crossings == len(noise) * (len(noise) - 1) // 2:
        return hint("Now every pair of lines crosses. Which action should the smallest noise get?")
    return hint(f"{crossings} pairs of lines still cross. Compare the ranks of noise and actions.")
