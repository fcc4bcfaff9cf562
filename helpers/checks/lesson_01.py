"""Checks of lesson 01's exercises."""

import math
import numbers

import torch

from helpers.checks.feedback import UNANSWERED, Feedback, hint, right, run


def _vector(width: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(width, generator=generator, dtype=torch.float64) + 0.5


def exercise_1(answer) -> Feedback:
    """The number s for which both norms send [10, 11, 12] + s to the same point."""
    if answer is ...:
        return UNANSWERED
    if not isinstance(answer, numbers.Real) or isinstance(answer, bool):
        return hint(f"One number is asked for, this is a {type(answer).__name__}.")
    if not math.isfinite(answer):
        return hint("The shift is a finite number.")
    if abs(answer + 11) < 1e-6:
        return right("The mean is then zero: there is nothing left for LayerNorm to drop.")
    if abs(answer - 11) < 1e-6:
        return hint("The size is right. Which sign removes the mean of [10, 11, 12]?")
    if abs(answer) < 1e-6:
        return hint("Without a shift they differ: compare the two outputs of the first beat.")
    if answer > 0:
        return hint("A positive shift adds to the mean. Which mean should [10, 11, 12] + s have?")
    return hint(f"The mean is then {11 + answer:g}. What does LayerNorm remove that RMSNorm keeps?")


def exercise_2(function) -> Feedback:
    """A function of x (..., d) that computes LayerNorm by calling rms_norm."""
    x = torch.stack([_vector(), 3 * _vector() - 40])
    result, trouble = run(function, x)
    if trouble is not None:
        return trouble
    if not isinstance(result, torch.Tensor) or result.shape != x.shape:
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(f"A tensor of the input's shape {tuple(x.shape)} is asked for, got {shape}.")
    if torch.allclose(result, torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)):
        return right("LayerNorm is RMSNorm of the centred vector.")
    root_mean_square = x.square().mean(-1, keepdim=True).sqrt()
    if torch.allclose(result, x / root_mean_square, atol=1e-4):
        return hint("That is RMSNorm itself: its input still has its mean.")
    normed = x / root_mean_square
    if torch.allclose(result, normed - normed.mean(-1, keepdim=True), atol=1e-4):
        return hint(
            "You removed the mean after the norm, so the length is no longer sqrt(d). Try before."
        )
    if torch.allclose(
        result, (x - x.mean()) / (x - x.mean()).square().mean(-1, keepdim=True).sqrt()
    ):
        return hint(
            "You took one mean over all rows: use mean(-1, keepdim=True), one for each vector."
        )
    return hint("The result is not LayerNorm's. Which one step is missing in RMSNorm?")


def exercise_3(function) -> Feedback:
    """A function of x (d,) that returns the Jacobian (d, d) of RMSNorm without eps."""
    x = _vector()
    result, trouble = run(function, x)
    if trouble is not None:
        return trouble
    width = len(x)
    if not isinstance(result, torch.Tensor) or result.shape != (width, width):
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(
            f"For x of {width} entries the Jacobian has shape ({width}, {width}), got {shape}."
        )
    identity = torch.eye(width, dtype=x.dtype)
    root_mean_square = x.square().mean().sqrt()
    projection = identity - torch.outer(x, x) / x.square().sum()
    if torch.allclose(result, projection / root_mean_square, atol=1e-5):
        size = float((result @ x).norm())
        return right(f"It kills the radial direction: the length of J x is {size:.0e}.")
    if torch.allclose(result, projection):
        return hint(
            "The directions are right, the size is not: doubling x should halve the Jacobian."
        )
    if torch.allclose(result, identity / root_mean_square):
        return hint("That treats RMS(x) as a constant. It depends on x too: use the product rule.")
    wrong = identity / root_mean_square - torch.outer(x, x) / root_mean_square**3
    if torch.allclose(result, wrong):
        return hint("Nearly: the RMS is a mean, so its derivative carries a factor 1/d.")
    if not torch.allclose(result @ x, torch.zeros_like(x), atol=1e-5):
        return hint("Scaling x changes nothing in RMSNorm(x), so J x should be zero. Yours is not.")
    return hint("J x is zero, as it should be, but the other directions are off.")


def exercise_4(vector) -> Feedback:
    """A float16 vector that the norm with float16 squares sends to zero, though it holds nothing large."""
    if vector is ...:
        return UNANSWERED
    if not isinstance(vector, torch.Tensor) or vector.ndim != 1 or len(vector) == 0:
        return hint("A tensor with one dimension is asked for, for example torch.tensor([...]).")
    if vector.dtype != torch.float16:
        return hint(
            f"This vector is {vector.dtype}: its squares do not overflow. Use torch.float16."
        )
    if not vector.isfinite().all():
        return hint("The vector itself must be finite: float16 holds numbers up to 65504.")
    if vector.abs().max() > 300:
        return hint(
            "That works with entries of at most 300 too. Which square is the first beyond 65504?"
        )
    if not vector.any():
        return hint("Zero stays zero in every format. Find a vector that float32 statistics save.")
    if vector.square().isinf().any():
        return right("A square is stored as infinity, and a number divided by infinity is 0.")
    return hint(
        f"The largest square is {float(vector.abs().max()) ** 2:.0f}. It survives: float16 reaches 65504."
    )
