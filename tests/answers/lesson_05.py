"""Answers to lesson 05's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import torch

from helpers import flow

MEAN = math.tanh(1.0)


def _odds(q):
    return q / (1 - q)


RIGHT = {
    "exercise_1": [(-0.52,), ((0.5 - MEAN) / 0.5,), (torch.tensor(-0.523),)],
    "exercise_2": [(flow.flip_time,), (lambda velocity: lambda x, s: -velocity(x, 1 - s),)],
    "exercise_3": [(lambda sigma, q: sigma / (sigma + math.sqrt(_odds(q))),)],
    "exercise_4": [
        (lambda noise, actions: actions.sort().values[noise.argsort().argsort()],),
    ],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((0.52,), "size is right"),
        ((0.76,), "That is the posterior mean"),
        ((-0.26,), "divided by t"),
        ((-1.0,), "nearer data point"),
        ((1.0,), "same weight"),
        ((-0.93,), "too unequal"),
        ((0.51,), "too equal"),
        ((-0.5,), "two digits"),
        ((3.0,), "points at the noise"),
        ((-7.0,), "two noises"),
        ((math.nan,), "finite"),
        (("half",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda velocity: lambda x, s: velocity(x, 1 - s),), "sign is not"),
        ((lambda velocity: lambda x, s: -velocity(x, s),), "the time is not"),
        ((lambda velocity: velocity,), "Nothing has changed"),
        ((lambda velocity: lambda x, s: x,), "Neither of the two"),
        ((lambda velocity: lambda x, s: x[0],), "shape of x"),
        ((lambda velocity: lambda x, s: -velocity(x, s - 1),), "ValueError"),
        ((lambda velocity: 3,), "function of x and s"),
        ((lambda velocity: ...,), "returned nothing"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((lambda sigma, q: sigma / (1 + sigma),), "one half"),
        ((lambda sigma, q: sigma / (sigma + _odds(q)),), "square was lost"),
        ((lambda sigma, q: sigma**2 / (sigma**2 + _odds(q)),), "square was lost"),
        ((lambda sigma, q: sigma / (sigma + math.sqrt(1 / _odds(q))),), "larger t"),
        ((lambda sigma, q: 1 - sigma / (sigma + math.sqrt(_odds(q))),), "1 - t"),
        ((lambda sigma, q: 5.0,), "between 0 and 1"),
        ((lambda sigma, q: 0.4,), "give q back"),
        ((lambda sigma, q: "soon",), "One number"),
        ((lambda sigma, q: None,), "returned nothing"),
        ((0.5,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((lambda noise, actions: actions,), "drawn one"),
        ((lambda noise, actions: actions.sort().values,), "the noise is not"),
        (
            (lambda noise, actions: actions.sort().values.flip(0)[noise.argsort().argsort()],),
            "every pair",
        ),
        ((lambda noise, actions: actions.flip(0),), "still cross"),
        ((lambda noise, actions: noise,), "exactly once"),
        ((lambda noise, actions: actions[:3],), "shape"),
        ((lambda noise, actions: actions[99],), "IndexError"),
        ((...,), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"-?0\.52",
    "exercise_2": r"1 - s|-velocity",
    "exercise_3": r"sigma */|sqrt|odds",
    "exercise_4": r"sort\(|\.values",
}
