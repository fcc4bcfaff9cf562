"""Checks of lesson 04's exercises."""

import torch

from helpers import mistakes
from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, right, run


def exercise_1(answer) -> Feedback:
    """The number of parameters of an adaRMS norm of width 64 with a condition of 32 numbers."""
    answer, trouble = number(answer, "count")
    if trouble is not None:
        return trouble
    hints = {
        3 * 64 * 32: "That is the matrix. The Dense has a bias too.",
        64 * 32: "That is the matrix for one of the three, without its bias.",
        64 * 32 + 64: "That is one of the three: scale, shift and gate each need as much.",
        2 * (64 * 32 + 64): "Two of the three. The gate needs its share too.",
        3 * 64 * 64 + 3 * 64: "The matrix reads the condition, which has 32 numbers, not 64.",
        3 * 32 * 32 + 3 * 32: "There is one scale, shift and gate for each of the 64 features.",
        3 * 64 * 32 + 3 * 64 + 64: "There is no learned gamma besides: the scale takes its place.",
        64: "That is a plain RMSNorm. Where do scale, shift and gate come from?",
    }
    if answer == 3 * 64 * 32 + 3 * 64:
        return right("192 rows, one for each scale, shift and gate, of 32 weights and a bias.")
    return hint(
        hints.get(answer, "The Dense has one row for each scale, shift and gate: how many rows?")
    )


class _TimeMLP:
    """Stands in for the time MLP; remembers what it was asked."""

    def __init__(self):
        self.weight = torch.linspace(-1, 1, 6, dtype=torch.float64)

    def __call__(self, time):
        if not isinstance(time, torch.Tensor) or time.ndim != 1:
            shape = tuple(time.shape) if isinstance(time, torch.Tensor) else type(time).__name__
            raise ValueError(f"time must have shape (n,), got {shape}")
        return torch.sin(3 * time.double()[:, None] + self.weight)


def exercise_2(function) -> Feedback:
    """A function of time_mlp, t, clean, tokens that gives one condition for each token."""
    time_mlp, t, clean, tokens = _TimeMLP(), 0.7, 2, 5
    result, trouble = run(function, time_mlp, t, clean, tokens)
    if trouble is not None:
        return trouble
    if not isinstance(result, torch.Tensor):
        return hint(f"A tensor is asked for, got {type(result).__name__}.")
    if result.shape == (tokens, 6):
        return hint("One condition for each token, but the batch axis in front is missing.")
    if result.shape in ((1, 6), (1, 1, 6)):
        return hint("That is one condition for the whole chunk. Which axis do the tokens need?")
    if result.shape != (1, tokens, 6):
        return hint(f"The shape should be (1, tokens, width), got {tuple(result.shape)}.")

    def wanted(times):
        return time_mlp(torch.tensor(times))[None]

    answers = {
        "right": wanted([0.0, 0.0, t, t, t]),
        "reversed": wanted([1.0, 1.0, t, t, t]),
        "same": wanted([t] * tokens),
        "end": wanted([t, t, t, 0.0, 0.0]),
        "swapped": wanted([t, t, 0.0, 0.0, 0.0]),
    }
    hints = {
        "reversed": "The decided actions are data. Which time is data in openpi's convention?",
        "same": "All tokens have the time t. The decided ones are clean.",
        "end": "The decided actions come first in the chunk, not last.",
        "swapped": "The other way round: the first ones are clean, the rest are at time t.",
    }
    for name, answer in answers.items():
        if torch.allclose(result.double(), answer, atol=1e-5):
            if name == "right":
                return right("Each token is told its own time; the norm needs no other change.")
            return hint(hints[name])
    return hint(
        "The shape is right, the times are not. Which time has a decided action, and which the others?"
    )


DIAGNOSES = {"A": "+1 forgotten", "B": "bias left random", "C": "time reversed"}


def exercise_3(answers) -> Feedback:
    """Names of the mistakes in the three ports of `mistakes.MYSTERIES`."""
    if answers is ... or (isinstance(answers, dict) and all(v is ... for v in answers.values())):
        return UNANSWERED
    if not isinstance(answers, dict) or set(answers) != set(DIAGNOSES):
        return hint('A dict with the keys "A", "B" and "C" is asked for.')
    for letter, wanted in DIAGNOSES.items():
        named = answers[letter]
        if named == wanted:
            continue
        if named is ...:
            return hint(f"Right so far. Port {letter} is still open.")
        if named not in mistakes.PORTS:
            return hint(f"{named!r} is not on the menu of beat 6.")
        return hint(_difference(letter, named))
    return right("You read it off five checks that need no data and no training.")


def _difference(letter, named) -> str:
    """Where the findings of the port and of the named mistake part."""
    found, expected = (
        mistakes.check(mistakes.MYSTERIES[letter]),
        mistakes.check(mistakes.PORTS[named]),
    )
    for name, finding in found.items():
        if finding.holds != expected[name].holds:
            verbs = ("holds", "breaks") if finding.holds else ("breaks", "holds")
            return f"Port {letter}: {name} {verbs[0]} here, and {verbs[1]} with {named!r}."
    return f"Port {letter}: the same checks break as with {named!r}. Which number is wrong first?"


def exercise_4(function) -> Feedback:
    """A function that sets first (8, 4), second (3, 8): second @ relu(first @ c) starts at 0 and learns."""
    if function is ...:
        return UNANSWERED
    if not callable(function):
        return hint(f"A function is asked for, this is a {type(function).__name__}.")
    cond = torch.tensor([0.5, -1.0, 2.0, 1.0])
    first, second = torch.zeros(8, 4), torch.zeros(3, 8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            function(first, second)
        except Exception as error:  # whatever a learner's function raises belongs into the hint
            return hint(f"Your function raised {type(error).__name__}: {error}")
    start = second @ torch.relu(first @ cond)
    if not start.isfinite().all():
        return hint("The gate is not finite: start from ordinary numbers.")
    if start.any():
        return hint(
            f"The gate starts at {float(start.abs().max()):.2g}, so the block is not the identity. "
            "Which factor alone makes the product zero?"
        )
    before = first.clone(), second.clone()
    for _ in range(2):
        first.requires_grad_(True), second.requires_grad_(True)
        loss = (second @ torch.relu(first @ cond) - 1).square().sum()
        slopes = torch.autograd.grad(loss, (first, second))
        first, second = (
            (w - 0.05 * s).detach() for w, s in zip((first, second), slopes, strict=True)
        )
    moved = [not torch.equal(a, b) for a, b in zip(before, (first, second), strict=True)]
    if all(moved):
        return right(
            "One zero, in the last factor: it learns at step 0, the first matrix at step 1."
        )
    if not before[0].any() and not before[1].any():
        return hint(
            "Both are zero, in place or untouched: that is the stuck gate. One zero is enough."
        )
    if not before[0].any():
        return hint("With the first one zero, relu(0) has neither value nor slope: nothing moves.")
    return hint("relu(first @ c) is zero for this c: let some of its entries be positive.")
