"""Answers to lesson 07's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import torch

from helpers import probes


def _direction(features, time):
    return (features - features.mean(0)).T @ (time - time.mean())


def _without(features, direction):
    unit = direction / direction.norm()
    return features - (features @ unit)[:, None] * unit


def _all_that_moves(features, time):
    slope = _direction(features, time) / (time - time.mean()).square().sum()
    return features - (time - time.mean())[:, None] * slope


def _two_directions(features, time):
    other = torch.eye(features.shape[1], dtype=features.dtype)[4]
    rest = _without(features, other)
    return _without(rest, _direction(rest, time))


def _in_place(features, time):
    features -= features.mean(0)
    return features


def _solved(tau):
    return 0.95 if abs(tau - 0.3) < 0.04 else 0.1


RIGHT = {
    "exercise_1": [(0.8,), (4 / 5,)],
    "exercise_2": [
        (lambda f, t: _without(f, _direction(f, t)),),
    ],
    "exercise_3": [(0.06,), (0.2 * 0.09**0.5,)],
    "exercise_4": [(0.3, _solved, 0.95)],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((0.2,), "does depend"),
        ((0.4,), "sum over both"),
        ((0.8**0.5,), "lengths"),
        ((4,), "between 0 and 1"),
        ((0.5,), "First the average"),
        (("4/5",), "One number"),
        ((math.nan,), "finite"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda f, t: _without(f, probes.fit_probe(f, t, ridge=0)[0]),), "probe's weight"),
        ((lambda f, t: f - f.mean(0),), "removed the mean"),
        ((lambda f, t: f,), "unchanged"),
        ((lambda f, t: 0 * f,), "Hardly anything"),
        ((_two_directions,), "more than one direction"),
        ((_all_that_moves,), "you subtracted it"),
        ((lambda f, t: f - (f @ _direction(f, t))[:, None] * _direction(f, t),), "length 1"),
        ((_in_place,), "changed the features"),
        ((lambda f, t: f / 0,), "NaN"),
        ((lambda f, t: f[:, :2],), "shape"),
        ((lambda f, t: None,), "returned nothing"),
        ((3,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((0.3,), "error of v_t"),
        ((0.018,), "take its root"),
        ((0.24,), "not 1 - t"),
        ((0.0036,), "mean square"),
        ((1.5,), "multiplied by t"),
        ((7,), "v_t = u_t"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((0.9, _solved, 0.95), "leaves noise behind"),
        ((0.05, _solved, 0.95), "touch the obstacle"),
        ((0.2, _solved, 0.95), "has its top"),
        ((1.5, _solved, 0.95), "between 0, data"),
        (("all", _solved, 0.95), "One number"),
        ((..., _solved, 0.95), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"0\.8|4/5|80%",
    "exercise_2": r"\.T @|mean\(0\)|covariance",
    "exercise_3": r"0\.06(?!\d)|0\.2 \* 0\.09",
    "exercise_4": r"0\.3(?!\d)|0\.2[5-9]",
}
