"""Answers to lesson 03's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import torch

from helpers.norms import rms_norm

RIGHT = {
    "exercise_1": [
        ([0.25, 0.25, 0.25, 0.25, 0.0],),
        (torch.tensor([0.25, 0.25, 0.25, 0.25, 0]),),
        ((1 / 4,) * 4 + (0,),),
    ],
    "exercise_2": [(lambda x, branch: x + rms_norm(branch(rms_norm(x))),)],
    "exercise_3": [
        (lambda layers, r: (1 + layers * r**2) ** 0.5,),
        (lambda layers, r: torch.tensor(1 + layers * r**2).sqrt(),),
    ],
    "exercise_4": [(0.24,), (0.25,), (torch.tensor(0.24),)],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        (([0.25] * 4,), "last direction"),
        (([0.25] * 5,), "changes nothing"),
        (([0.0, 0.25, 0.25, 0.25, 0.25],), "largest first"),
        (([1, 1, 1, 1, 0],), "state of RMS 1"),
        (([4, 4, 4, 4, 0],), "stretch"),
        (([0.25, 0.25, 0.25, 0, 0],), "LayerNorm's"),
        (([0.25, 0.25, 0.25, 0.25, -0.25],), "negative"),
        (([0.25],), "five singular values"),
        (([0.5, 0.4, 0.3, 0.2, 0.1],), "projection"),
        (("a quarter",), "list of five"),
        ((None,), "list of five"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda x, branch: x + branch(rms_norm(x)),), "That is Pre-Norm"),
        ((lambda x, branch: rms_norm(x + branch(x)),), "That is Post-Norm"),
        ((lambda x, branch: x + rms_norm(branch(x)),), "OLMo 2"),
        ((lambda x, branch: rms_norm(x + branch(rms_norm(x))),), "second norm stands on the trunk"),
        ((lambda x, branch: rms_norm(branch(rms_norm(x))),), "trunk is missing"),
        ((lambda x, branch: rms_norm(x) + rms_norm(branch(rms_norm(x))),), "add to the normed x"),
        ((lambda x, branch: x,), "from the inside out"),
        ((lambda x, branch: x[0],), "shape"),
        ((lambda x, branch: None,), "returned nothing"),
        ((lambda x: x,), "TypeError"),
        ((3,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((lambda layers, r: 1 + layers * r,), "adds lengths"),
        ((lambda layers, r: 1 + layers * r**2,), "mean square"),
        ((lambda layers, r: (1 + layers * r) ** 0.5,), "r is a layer's RMS"),
        ((lambda layers, r: layers**0.5 * r,), "not 0"),
        ((lambda layers, r: (1 + (layers * r) ** 2) ** 0.5,), "squared the sum"),
        ((lambda layers, r: (1 + r**2) ** (layers / 2),), "multiplies"),
        ((lambda layers, r: 2.0,), "Yours is 2"),
        ((lambda layers, r: 1.0,), "Mean squares add"),
        ((lambda layers, r: "far",), "One number"),
        ((lambda layers, r: None,), "returned nothing"),
        ((1.0,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((0,), "switches the branches off"),
        ((0.1,), "a fifth more"),
        ((0.5,), "turn it down"),
        ((2.0,), "range is 0 to 1"),
        ((-0.1,), "0 or more"),
        ((math.nan,), "finite"),
        (("weak",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"0\.25|1/4|quarter",
    "exercise_2": r"N\(F\(N|norm\(branch\(|norm\(F\(",
    "exercise_3": r"1 \+ |r\*\*2|r \^ ?2|r squared|L r",
    "exercise_4": r"0\.2[3-9]",
}
