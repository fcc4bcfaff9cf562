"""Answers to lesson 04's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math
import re

import torch

from helpers.checks.lesson_04 import DIAGNOSES


def chunk(times):
    """A learner's function that gives these times to time_mlp, given t, clean and tokens."""
    return lambda time_mlp, t, clean, tokens: time_mlp(torch.tensor(times(t, clean, tokens)))[None]


def fill(first, second):
    """A learner's function that sets two matrices to these numbers (None: random)."""

    def start_gate(one, other):
        for matrix, value in ((one, first), (other, second)):
            torch.nn.init.normal_(matrix) if value is None else matrix.fill_(value)

    return start_gate


RIGHT = {
    "exercise_1": [(6336,), (6336.0,)],
    "exercise_2": [
        (chunk(lambda t, clean, tokens: [0.0] * clean + [t] * (tokens - clean)),),
        (
            lambda mlp, t, clean, tokens: torch.stack(
                [mlp(torch.tensor([t if i >= clean else 0.0]))[0] for i in range(tokens)]
            )[None],
        ),
    ],
    "exercise_3": [(dict(DIAGNOSES),)],
    "exercise_4": [(fill(None, 0.0),), (fill(0.5, 0.0),)],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((6144,), "a bias too"),
        ((2048,), "for one of the three, without"),
        ((2112,), "one of the three: scale"),
        ((4224,), "Two of the three"),
        ((12480,), "32 numbers, not 64"),
        ((3168,), "each of the 64 features"),
        ((6400,), "no learned gamma"),
        ((64,), "plain RMSNorm"),
        ((7,), "how many rows"),
        (("6336",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        (
            (chunk(lambda t, clean, tokens: [1.0] * clean + [t] * (tokens - clean)),),
            "Which time is",
        ),
        ((chunk(lambda t, clean, tokens: [t] * tokens),), "All tokens have the time t"),
        ((chunk(lambda t, clean, tokens: [t] * (tokens - clean) + [0.0] * clean),), "not last"),
        ((chunk(lambda t, clean, tokens: [t] * clean + [0.0] * (tokens - clean)),), "other way"),
        ((chunk(lambda t, clean, tokens: [0.5] * tokens),), "the times are not"),
        ((lambda mlp, t, clean, tokens: mlp(torch.tensor([t])),), "whole chunk"),
        ((lambda mlp, t, clean, tokens: mlp(torch.tensor([t] * tokens)),), "batch axis"),
        (
            (lambda mlp, t, clean, tokens: mlp(torch.tensor([t] * 3))[None],),
            r"\(1, tokens, width\)",
        ),
        ((lambda mlp, t, clean, tokens: [t] * tokens,), "A tensor is asked for"),
        ((lambda mlp, t, clean, tokens: mlp(torch.tensor([[t] * tokens])),), r"shape \(n,\)"),
        ((lambda mlp, t, clean, tokens: mlp(t),), r"shape \(n,\), got float"),
        ((lambda mlp, t, clean, tokens: None,), "returned nothing"),
        ((lambda: None,), "TypeError"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((DIAGNOSES | {"A": "order swapped"},), "A: plain breaks here, and holds"),
        ((DIAGNOSES | {"A": "gate left out"},), "A: birth holds here, and breaks"),
        ((DIAGNOSES | {"B": "zeros overwritten"},), "B: hearing holds here, and breaks"),
        ((DIAGNOSES | {"C": "order swapped"},), "same checks break .* wrong first"),
        ((DIAGNOSES | {"C": "none"},), "C: numbers breaks here"),
        ((DIAGNOSES | {"B": ...},), "Right so far. Port B"),
        ((DIAGNOSES | {"A": "plus one"},), "not on the menu of beat 6"),
        (({"A": "+1 forgotten"},), "keys"),
        (("+1 forgotten",), "keys"),
        (({"A": ..., "B": ..., "C": ...},), r"Replace the \.\.\."),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((fill(0.0, 0.0),), "Both are zero"),
        ((fill(0.0, None),), "neither value nor slope"),
        ((fill(None, None),), "not the identity"),
        ((fill(-1.0, 0.0),), "some of its entries be positive"),
        ((fill(math.nan, 0.0),), "not finite"),
        ((lambda first: None,), "TypeError"),
        ((lambda first, second: None,), "Both are zero"),
        ((3,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"6,?336|\b192\b|3 \* 64 \* 32",
    "exercise_2": r"time\[:clean\]|= 0\b|0 for|0\.0",
    "exercise_3": "|".join(re.escape(name) for name in DIAGNOSES.values()),
    "exercise_4": r"zeros_\(|last factor|second.* (to|is) zero|normal_\(",
}
