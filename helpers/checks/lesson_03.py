"""Checks of lesson 03's exercises."""

import math

import torch

from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, numbers_at, right, run
from helpers.jacobians import along_depth, singular_values
from helpers.norms import rms_norm
from helpers.stacks import random_stack


def _numbers(answer):
    """The answer as a float64 tensor, or None where it is not a row of numbers."""
    try:
        return torch.as_tensor(answer, dtype=torch.float64).flatten()
    except (TypeError, ValueError, RuntimeError):
        return None


def exercise_1(answer) -> Feedback:
    """The singular values of an idle Post-Norm layer at a state of 5 entries with RMS 4."""
    if answer is ...:
        return UNANSWERED
    values = _numbers(answer)
    if values is None:
        return hint("A list of five numbers is asked for.")
    wanted = torch.tensor([0.25, 0.25, 0.25, 0.25, 0.0], dtype=torch.float64)
    if len(values) == 4 and torch.allclose(values, wanted[:4]):
        return hint(
            "These four are right. A state of 5 entries has five: what of the last direction?"
        )
    if len(values) != 5:
        return hint(f"A state of 5 entries has five singular values, these are {len(values)}.")
    if torch.allclose(values, wanted, atol=1e-6):
        return right("Four directions are divided by the RMS, the radial one is killed.")
    if torch.allclose(values.sort(descending=True).values, wanted, atol=1e-6):
        return hint("The right five. Put the largest first.")
    if bool((values < 0).any()):
        return hint("Singular values are lengths, so none is negative.")
    if torch.allclose(values, torch.full_like(values, 0.25)):
        return hint("One push changes nothing in the result. Along which direction?")
    if torch.allclose(values[:4], torch.ones(4, dtype=torch.float64)):
        return hint("That is a state of RMS 1. This one is divided by 4, and its pushes with it.")
    if torch.allclose(values[:4], torch.full((4,), 4.0, dtype=torch.float64)):
        return hint("The norm brings RMS 4 down to 1: does it stretch pushes or shrink them?")
    if int((values.abs() < 1e-9).sum()) == 2:
        return hint("Two dead directions are LayerNorm's. RMSNorm keeps all-ones.")
    return hint(
        "J is a projection that removes one direction, divided by the RMS. Which five factors?"
    )


def exercise_2(function) -> Feedback:
    """A function of x and branch that returns x + norm(F(norm(x)))."""
    generator = torch.Generator().manual_seed(1)
    x = 3 * torch.randn(2, 6, generator=generator, dtype=torch.float64)
    matrix = torch.randn(6, 6, generator=generator, dtype=torch.float64)

    def branch(read):
        return (read @ matrix).tanh() * 2

    result, trouble = run(function, x, branch)
    if trouble is not None:
        return trouble
    if not isinstance(result, torch.Tensor) or result.shape != x.shape:
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(f"A tensor of the input's shape {tuple(x.shape)} is asked for, got {shape}.")
    if torch.allclose(result, x + rms_norm(branch(rms_norm(x)))):
        return right("Whatever the branch's weights, it now writes a vector of RMS 1.")
    near_misses = (
        (
            x + branch(rms_norm(x)),
            "That is Pre-Norm: what the branch writes is not normalised yet.",
        ),
        (rms_norm(x + branch(x)), "That is Post-Norm: its norm stands on the trunk."),
        (
            x + rms_norm(branch(x)),
            "Nearly: that norms after the branch only, as OLMo 2 does. Norm what it reads, too.",
        ),
        (
            rms_norm(x + branch(rms_norm(x))),
            "Your second norm stands on the trunk. It belongs on the branch, before the sum.",
        ),
        (rms_norm(branch(rms_norm(x))), "The trunk is missing: add x."),
        (
            rms_norm(x) + rms_norm(branch(rms_norm(x))),
            "You add to the normed x. The trunk itself stays as it is.",
        ),
    )
    for wrong, words in near_misses:
        if torch.allclose(result, wrong):
            return hint(words)
    return hint("The result is not Peri-LN's. Compare it with pre_norm, from the inside out.")


def exercise_3(function) -> Feedback:
    """A function of layers and r: the RMS of a stream of RMS 1 after so many independent additions."""
    cases = ((0, 0.5), (1, 0.5), (24, 0.6), (100, 1.0))
    results, trouble = numbers_at(function, cases)
    if trouble is not None:
        return trouble

    def matches(formula):
        return all(
            math.isclose(result, formula(layers, r), rel_tol=1e-4, abs_tol=1e-6)
            for result, (layers, r) in zip(results, cases, strict=True)
        )

    if matches(lambda layers, r: math.sqrt(1 + layers * r**2)):
        return right("For many layers that is about r times the root of their number.")
    near_misses = (
        (
            lambda layers, r: 1 + layers * r,
            "That adds lengths: it holds if all layers write in one direction. Add squares.",
        ),
        (lambda layers, r: 1 + layers * r**2, "That is the mean square. Take its root."),
        (
            lambda layers, r: math.sqrt(1 + layers * r),
            "Nearly: r is a layer's RMS. How much does it add to the mean square?",
        ),
        (lambda layers, r: math.sqrt(layers) * r, "With no layers the stream has RMS 1, not 0."),
        (
            lambda layers, r: math.sqrt(1 + (layers * r) ** 2),
            "You squared the sum of all layers. In independent directions each is squared alone.",
        ),
        (
            lambda layers, r: (1 + r**2) ** (layers / 2),
            "That multiplies: each layer would write in proportion to the stream, as without a norm.",
        ),
    )
    for formula, words in near_misses:
        if matches(formula):
            return hint(words)
    if abs(results[0] - 1) > 1e-6:
        return hint(f"With no layers the RMS is 1. Yours is {results[0]:g}.")
    return hint(
        "Mean squares add. Which one does the stream start with, and what does a layer add?"
    )


def exercise_4(answer, depth=24, wanted=0.5) -> Feedback:
    """A strength at which a Post-Norm stack of 24 layers keeps a median factor of 0.5, and barely."""
    answer, trouble = number(answer, "strength")
    if trouble is not None:
        return trouble
    if answer < 0:
        return hint("A strength is 0 or more.")
    if answer == 0:
        return hint("Strength 0 switches the branches off. How far can you turn them up?")
    if answer > 1:
        return hint("The range is 0 to 1, and 1 already loses nearly all pushes: go down.")
    median = _median_factor(float(answer), depth)
    if median < wanted:
        return hint(f"At strength {answer:g} the median factor is {median:.2g}: turn it down.")
    if _median_factor(1.2 * float(answer), depth) >= wanted:
        return hint(f"The median factor is {median:.2f} there; a fifth more still keeps {wanted}.")
    return right(
        f"The median factor is {median:.2f}; 1/sqrt(2L) is {1 / math.sqrt(2 * depth):.2f} and keeps "
        f"{_median_factor(1 / math.sqrt(2 * depth), depth):.2f}."
    )


def _median_factor(strength, depth):
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randn(8, 64, dtype=torch.float64, generator=generator)
    _, jacobians = along_depth(random_stack("post", depth, strength=strength), tokens)
    return float(singular_values(jacobians[-1]).median())
