"""Answers to lesson 08's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import torch

NUMBERS = 118_604_800  # of the 78 tensors


def _halved(weight, bias, out, part=2, factor=0.5, gain=2.0, also_bias=True):
    rows = torch.ones(len(bias))
    rows[part * len(bias) // 3 : (part + 1) * len(bias) // 3] = factor
    return weight * rows[:, None], bias * rows if also_bias else bias, gain * out


def _in_place(weight, bias, out):
    weight[2 * len(bias) // 3 :] /= 2
    return weight, bias, out


def _other_scale(weight, bias, out):
    weight, bias, out = _halved(weight, bias, out)
    return torch.cat([2 * weight[: len(bias) // 3], weight[len(bias) // 3 :]]), bias, out


def _changes(scale=0.4, shift=0.2, gate=0.0):
    return ({"scale": scale, "shift": shift, "gate": gate},)


RIGHT = {
    "exercise_1": [(2 * NUMBERS,), (237_209_600.0,)],
    "exercise_2": [(1 / 111,), (1_049_600 / 116_505_600,), (0.009009,)],
    "exercise_3": [(0.002,), (torch.tensor(2e-3),)],
    "exercise_4": [(_halved,), (lambda w, b, o: list(_halved(w, b, o)),)],
    "exercise_5": [_changes(), _changes(torch.tensor(0.4), torch.tensor(0.2), torch.tensor(0.0))],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((NUMBERS,), "how many numbers"),
        ((4 * NUMBERS,), "float32"),
        ((2 * 116_505_600,), "time MLP has four tensors"),
        ((2 * (NUMBERS - 3_148_800),), "One norm is missing"),
        ((2 * (37 * 3 + 2) * 1024**2,), "a bias too"),
        ((2 * (116_505_600 + 1_049_600),), "two layers"),
        ((2 * (116_505_600 // 3 + 2_099_200),), "scale, shift and gate"),
        ((156,), "number of tensors"),
        ((240_000_000,), "Add up"),
        (("237 MB",), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((1 / 3,), "share of one Dense"),
        ((1 / 37,), "one whole Dense"),
        ((1 / 108,), "final norm itself"),
        ((1 / 54,), "two norms in each layer"),
        ((1_049_600 / NUMBERS,), "time MLP"),
        ((100 / 111,), "percent"),
        ((3,), "between 0 and 1"),
        ((0.5,), "Which part"),
        ((math.nan,), "finite"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((0.004,), "back where they were"),
        ((0.001,), "quarter of a turn"),
        ((0.003,), "way back"),
        ((0.006,), "first time"),
        ((0.004 * math.pi,), "radians"),
        ((2.0,), "slowest pair"),
        ((4.0,), "slowest period"),
        ((-0.002,), "above 0"),
        ((0.1,), "round a circle"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((lambda w, b, o: (w / 2, b / 2, 2 * o),), "Scale and shift are halved too"),
        ((lambda w, b, o: _halved(w, b, o, part=0),), "another part"),
        ((lambda w, b, o: (w, b, 2 * o),), "what they were"),
        ((lambda w, b, o: _halved(w, b, o, also_bias=False),), "plus bias"),
        ((lambda w, b, o: _halved(w, b, o, factor=0.25),), "not half"),
        ((_other_scale,), "scale or shift changed"),
        ((lambda w, b, o: _halved(w, b, o, gain=1.0),), "what the branch writes. Make up"),
        ((lambda w, b, o: _halved(w, b, o, gain=0.5),), "halved as well"),
        ((lambda w, b, o: _halved(w, b, o, gain=4.0),), "The gates are right"),
        ((_in_place,), "changed what it was given"),
        ((lambda w, b, o: w,), "Three tensors"),
        ((lambda w, b, o: (b, w, o),), "keep their shapes"),
        ((lambda w, b, o: None,), "returned nothing"),
        ((3,), "function is asked"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_5": [
        (_changes(0.0, 0.0, 0.0), "Nothing changed"),
        (_changes(0.4, 0.0, 0.2), "order of the rows"),
        (_changes(0.4, 0.2, 0.2), "fresh copy"),
        (_changes(0.4, 0.2, 0.1), "The gate changed"),
        (_changes(0.4, 0.0, 0.0), "both used"),
        (({"scale": 0.4, "shift": 0.2},), "with the keys"),
        (_changes(gate="none"), "One number"),
        (_changes(gate=math.nan), "finite"),
        (_changes(...), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"237|118[,.]?6|1025",
    "exercise_2": r"0\.009|1/111|third of one",
    "exercise_3": r"0\.002|[Hh]alf",
    "exercise_4": r"\[2 \*|/ 2|0\.5",
    "exercise_5": r"deepcopy|\[number",
}
