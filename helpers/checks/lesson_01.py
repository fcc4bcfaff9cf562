"""Checks of lesson 01's exercises."""

import torch

from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, right, run


def _vector(width: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(width, generator=generator, dtype=torch.float64) + 0.5


def exercise_1(answer) -> Feedback:
    """The number s for which both norms send [2, 3, 10] + s to the same point."""
    answer, trouble = number(answer, "shift")
    if trouble is not None:
        return trouble
    if abs(answer + 5) < 1e-6:
        return right("The mean is then zero: there is nothing left for LayerNorm to drop.")
    if abs(answer - 5) < 1e-6:
        return hint("The size is right. Which sign removes the mean of [2, 3, 10]?")
    if abs(answer) < 1e-6:
        return hint("Without a shift they differ: the mean of [2, 3, 10] is not zero.")
    if answer > 0:
        return hint("A positive shift adds to the mean. Which mean should [2, 3, 10] + s have?")
    side = "above" if answer > -5 else "below"
    return hint(f"The mean is then {side} zero. What does LayerNorm remove that RMSNorm keeps?")


def _compared(result, shape, wanted) -> tuple[torch.Tensor | None, Feedback | None]:
    """(result in float64, None), or (None, a hint) where it is no tensor of this shape."""
    if not isinstance(result, torch.Tensor) or result.shape != shape:
        came = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return None, hint(f"{wanted} of shape {tuple(shape)} is asked for, got {came}.")
    return result.detach().double(), None


def _close(one, other) -> bool:
    """Equal as far as float32 and eps allow."""
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def exercise_2(function) -> Feedback:
    """A function of x (..., d) that computes LayerNorm by calling rms_norm."""
    x = torch.stack([_vector(), 3 * _vector() - 40])
    if getattr(function, "__name__", "") == "layer_norm":
        return hint("That is LayerNorm, but rms_norm must be the only norm you call.")
    result, trouble = run(function, x.clone())
    if trouble is not None:
        if "must match the size" in trouble.message:
            return hint(
                "A mean of shape (...,) does not line up with x of shape (..., d): keepdim=True."
            )
        return trouble
    result, trouble = _compared(result, x.shape, "A tensor")
    if trouble is not None:
        return trouble
    root_mean_square = x.square().mean(-1, keepdim=True).sqrt()
    normed = x / root_mean_square
    of_one_mean = (x - x.mean()) / (x - x.mean()).square().mean(-1, keepdim=True).sqrt()
    if _close(result, torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)):
        return right("LayerNorm is RMSNorm of the centred vector.")
    if _close(result, normed):
        return hint("That is RMSNorm itself: its input still has its mean.")
    if _close(result, normed - normed.mean(-1, keepdim=True)):
        return hint(
            "You removed the mean after the norm, so the length is not sqrt(d). Which step comes last?"
        )
    if _close(result, of_one_mean):
        return hint("You took one mean over all rows: use mean(-1, keepdim=True), one a vector.")
    return hint("The result is not LayerNorm's. Which one step is missing in RMSNorm?")


def exercise_3(function) -> Feedback:
    """A function of x (d,) that returns the Jacobian (d, d) of RMSNorm without eps."""
    x = _vector()
    result, trouble = run(function, x.clone())
    if trouble is not None:
        return trouble
    result, trouble = _compared(result, (len(x), len(x)), "A Jacobian")
    if trouble is not None:
        return trouble
    identity = torch.eye(len(x), dtype=x.dtype)
    root_mean_square = x.square().mean().sqrt()
    projection = identity - torch.outer(x, x) / x.square().sum()
    factor = result.trace() / projection.trace()
    if _close(result, projection / root_mean_square):
        size = float((result @ x).norm())
        return right(f"It kills the radial direction: the length of J x is {size:.0e}.")
    if not result.any():
        return hint("This J kills every direction, not only that of x.")
    if _close(result, factor * projection):
        return hint("The directions are right, the size is not: doubling x should halve J.")
    if _close(result, identity / root_mean_square):
        return hint("That treats RMS(x) as a constant. It depends on x too: use the product rule.")
    if _close(result, identity / root_mean_square - torch.outer(x, x) / root_mean_square**3):
        return hint("Nearly: the RMS is a mean, so its derivative carries a factor 1/d.")
    if not _close(result @ x, torch.zeros_like(x)):
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
            "That works with entries within 300 too. Which square is the first beyond 65504?"
        )
    if not vector.any():
        return hint("Zero stays zero in every format. Find a vector that float32 statistics save.")
    if vector.square().isinf().any():
        return right("A square is stored as infinity, and a number divided by infinity is 0.")
    if not vector.square().any():
        return hint(
            "Its squares vanish, but eps keeps the result from being zero. Try large entries."
        )
    return hint(
        f"The largest square is {float(vector.abs().max()) ** 2:.0f}. It survives: float16 reaches 65504."
    )
