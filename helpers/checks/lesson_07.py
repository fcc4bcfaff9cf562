"""Checks of lesson 07's exercises."""

import math

import torch

from helpers.checks.feedback import Feedback, hint, number, right, run
from helpers.probes import fit_probe, r_squared


def exercise_1(answer) -> Feedback:
    """The share of energy of [2, 1], [2, -1] that does not depend on time."""
    answer, trouble = number(answer, "share")
    if trouble is not None:
        return trouble
    if abs(answer - 0.8) < 0.005:
        return right("The average [2, 0] has energy 4, each of the two vectors has 5.")
    if abs(answer - 0.2) < 0.005:
        return hint("That is the share that does depend on time.")
    if abs(answer - 0.4) < 0.005:
        return hint("Divide by the average energy at one time, not by the sum over both.")
    if abs(answer - math.sqrt(0.8)) < 0.005:
        return hint("That is a ratio of lengths. Energy is length squared.")
    if not 0 <= answer <= 1:
        return hint("A share lies between 0 and 1.")
    return hint("First the average of the two vectors, then its energy, over the average energy.")


def exercise_2(function) -> Feedback:
    """A function of features (n, width) and time (n,) that projects out the direction of covariance."""
    generator = torch.Generator().manual_seed(2)
    time = torch.rand(400, generator=generator, dtype=torch.float64)
    features = torch.randn(400, 5, generator=generator, dtype=torch.float64)
    # Unequal, correlated features: only then do the probe's weight and the covariance differ.
    features = features @ torch.randn(5, 5, generator=generator, dtype=torch.float64) + 1
    features = features + 2 * time[:, None] * torch.tensor([1.0, -0.5, 0.0, 0.3, 0.0])
    given = features.clone()
    result, trouble = run(function, features, time)
    if trouble is not None:
        return trouble
    if not torch.equal(features, given):
        return hint("Your function changed the features it was given: return new ones.")
    if not isinstance(result, torch.Tensor) or result.shape != features.shape:
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(f"A tensor of shape {tuple(features.shape)} is asked for, got {shape}.")
    if not result.isfinite().all():
        return hint("The result holds NaN or infinity. Is the direction divided by its length?")
    rank = int(torch.linalg.matrix_rank(result - features, rtol=1e-6))
    if torch.linalg.matrix_rank(result - result.mean(0), rtol=1e-6) < 3:
        return hint("Hardly anything is left of the features. Only one direction is to go.")
    if rank == 0:
        return hint("The features came back unchanged.")
    if _left(result, time) < 1e-6:
        if rank > 1:
            return hint("The time is gone, but you changed more than one direction.")
        if torch.linalg.matrix_rank(result - result.mean(0), rtol=1e-6) == features.shape[1]:
            return hint(
                "The time is gone, because you subtracted it. Take a whole direction of the features out, "
                "so that it also works on features whose time nobody tells you."
            )
        return right("One direction less, and no straight line reads the time any more.")
    weight, _ = fit_probe(features, time, ridge=0)
    unit = weight / weight.norm()
    if torch.allclose(result, features - (features @ unit)[:, None] * unit, atol=1e-6):
        return hint(
            "You removed the probe's weight, and another probe reads the time off what is left. In which "
            "direction do the features themselves move with time?"
        )
    if torch.allclose(result, features - features.mean(0)):
        return hint("You removed the mean; what moves with time is still there.")
    return hint(
        f"A probe still reads the time, R² {_left(result, time):.2f}. Is the direction of length 1?"
    )


def _left(features, time) -> float:
    """R² of the best line through all directions that the features still have."""
    centred = features - features.mean(0)
    keeps, sizes, _ = torch.linalg.svd(centred, full_matrices=False)
    keeps = keeps[:, sizes > 1e-8 * sizes.max()]
    target = time - time.mean()
    return float(r_squared(keeps @ (keeps.T @ target), target))


def exercise_3(answer) -> Feedback:
    """The error of the clean guess at t = 0.2 where the loss is 0.09: 0.2 * sqrt(0.09)."""
    answer, trouble = number(answer, "error")
    if trouble is not None:
        return trouble
    for value, words in (
        (0.3, "That is the error of v_t. How does it enter x_t - t v_t?"),
        (0.018, "The loss is a square: take its root before you multiply by t."),
        (0.24, "The factor is t, not 1 - t."),
        (0.0036, "That is the mean square of the guess's error. Its root is asked for."),
        (1.5, "The error is multiplied by t, not divided by it."),
    ):
        if abs(answer - value) < 0.005 * value:
            return hint(words)
    if abs(answer - 0.06) < 0.0005:
        return right(
            "The guess is off by t times the velocity's error: near data it is hard to spoil."
        )
    return hint("Write v_t = u_t + e and put it into x_t - t v_t. What stands beside the actions?")


def exercise_4(told, success, honest) -> Feedback:
    """A wrong time for all layers and steps, with which `success(told)` is at least `honest`."""
    told, trouble = number(told, "time")
    if trouble is not None:
        return trouble
    if not 0 <= told <= 1:
        return hint("A time lies between 0, data, and 1, noise.")
    share = float(success(float(told)))
    if share >= honest:
        return right(
            f"{share:.0%} of the scenes are solved, though every layer hears t = {told:g}."
        )
    if told > 0.35:
        return hint(
            f"{share:.0%} solved. Told that there is much noise, the network goes on guessing the middle "
            "of what may be, and leaves noise behind."
        )
    if told < 0.15:
        return hint(
            f"{share:.0%} solved. The paths are smooth, but more of them touch the obstacle or miss "
            "the goal."
        )
    return hint(f"{share:.0%} solved. Look where the curve for 'everywhere' has its top.")
