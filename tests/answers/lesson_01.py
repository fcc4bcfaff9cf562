"""Answers to lesson 01's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import torch

from helpers.norms import layer_norm, rms_norm

HALF = torch.float16


def _rms(x):
    return x.square().mean(-1, keepdim=True).sqrt()


def _projection(x):
    return torch.eye(len(x), dtype=x.dtype) - torch.outer(x, x) / x.square().sum()


RIGHT = {
    "exercise_1": [(-5,), (-5.0,), (torch.tensor(-5.0),)],
    "exercise_2": [
        (lambda x: rms_norm(x - x.mean(-1, keepdim=True)),),
        (lambda x: rms_norm((x - x.mean(-1, keepdim=True)).float()),),
    ],
    "exercise_3": [
        (lambda x: _projection(x) / _rms(x),),
        (lambda x: (_projection(x) / _rms(x)).float(),),
        (lambda x: torch.func.jacrev(lambda z: z / _rms(z))(x),),
    ],
    "exercise_4": [
        (torch.tensor([256.0, 1.0, -2.0], dtype=HALF),),
        (torch.full((3,), -300.0, dtype=HALF),),
    ],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((5,), "sign"),
        ((torch.tensor([0.0]),), "Without a shift"),
        ((0,), "Without a shift"),
        ((7,), "adds to the mean"),
        ((-3,), "is then above zero"),
        ((-10,), "is then below zero"),
        (("eleven",), "One number"),
        ((True,), "One number"),
        ((math.nan,), "finite"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((rms_norm,), "still has its mean"),
        ((lambda x: rms_norm(x) - rms_norm(x).mean(-1, keepdim=True),), "after the norm"),
        ((lambda x: rms_norm(x - x.mean()),), "one mean over all rows"),
        ((lambda x: 2 * x,), "Which one step"),
        ((layer_norm,), "only norm you call"),
        ((lambda x: rms_norm(x - x.mean(-1)),), "keepdim=True"),
        ((lambda x: x[0],), "shape"),
        ((lambda x: None,), "returned nothing"),
        ((lambda x: 1 / 0,), "ZeroDivisionError"),
        ((3,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((_projection,), "the size is not"),
        ((lambda x: torch.eye(len(x), dtype=x.dtype) / _rms(x),), "RMS.x. as a constant"),
        (
            (
                lambda x: (
                    torch.eye(len(x), dtype=x.dtype) / _rms(x) - torch.outer(x, x) / _rms(x) ** 3
                ),
            ),
            "factor 1/d",
        ),
        ((lambda x: torch.ones(len(x), len(x), dtype=x.dtype),), "should be zero"),
        ((lambda x: _projection(x) / x.norm(),), "the size is not"),
        ((lambda x: torch.zeros(len(x), len(x)),), "kills every direction"),
        ((lambda x: torch.diag(x).roll(1, 1) @ _projection(x),), "other directions"),
        ((lambda x: x,), "shape"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((torch.tensor([400.0, 1.0]),), "do not overflow"),
        ((torch.tensor([1000.0, 1.0], dtype=HALF),), "within 300"),
        ((torch.tensor([200.0, 1.0], dtype=HALF),), "survives"),
        ((torch.zeros(3, dtype=HALF),), "Zero stays zero"),
        ((torch.full((3,), 1e-4, dtype=HALF),), "squares vanish"),
        ((torch.tensor([math.inf, 1.0], dtype=HALF),), "finite"),
        ((torch.zeros(2, 2, dtype=HALF),), "one dimension"),
        (([256.0],), "one dimension"),
        ((...,), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"-5(?!\d)|minus 5|minus five",
    "exercise_2": r"rms_norm\(x - |x - x\.mean|centre (it|x) before|mean before the norm",
    "exercise_3": r"outer|x x\^?T|1/RMS.*I -|I - ",
    "exercise_4": r"256|25[6-9]|2[6-9]\d\b",
}
