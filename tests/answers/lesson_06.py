"""Answers to lesson 06's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

DENSE = 1024 * 3072 + 3072
RATES = {1: 0.0, 2: 0.6, 3: 0.8, 5: 0.91, 10: 0.96, 20: 0.98}


def rate(step, steps, peak, warm_up):
    warm = min(1, (step + 1) / (warm_up + 1))
    return peak * warm * (1 + math.cos(math.pi * step / steps)) / 2


RIGHT = {
    "exercise_1": [(37 * DENSE,), (float(37 * DENSE),)],
    "exercise_2": [(rate,)],
    "exercise_3": [(lambda s, e: math.ceil((1.96 * s / e) ** 2),)],
    "exercise_4": [(10, RATES), (2, {**RATES, 2: 0.95})],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((DENSE,), "one Dense"),
        ((36 * DENSE,), "one norm more"),
        ((19 * DENSE,), "two norms"),
        ((37 * 3 * 1024 * 1024,), "bias"),
        ((37 * 1024 * 1024,), "three times as wide"),
        ((12,), "Count the norms"),
        (("many",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda k, n, p, w: p * (1 + math.cos(math.pi * k / n)) / 2,), "first steps"),
        ((lambda k, n, p, w: p * min(1, (k + 1) / (w + 1)),), "should fall"),
        ((lambda k, n, p, w: 2 * rate(k, n, p, w),), "Twice too large"),
        (
            (lambda k, n, p, w: p * min(1, (k + 1) / (w + 1)) * math.cos(math.pi * k / n),),
            "negative",
        ),
        ((lambda k, n, p, w: rate(k, n, 1, w),), "peaks at 1"),
        ((lambda k, n, p, w: rate(k, n, p, w) * min(1, k / w),), "first step is lost"),
        ((lambda k, n, p, w: rate(k, 2 * n, p, w),), "should be 0"),
        ((lambda k, n, p, w: rate(k, n, p, w) * (1 - k / n),), "at step 50"),
        ((lambda k, n, p, w: "high",), "gave a str"),
        ((lambda k, n: 0.1,), "TypeError"),
        ((0.1,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((lambda s, e: (1.96 * s / e) ** 2,), "whole numbers"),
        ((lambda s, e: math.floor((1.96 * s / e) ** 2),), "Round up"),
        ((lambda s, e: math.ceil(1.96 * s / e),), "root of n"),
        ((lambda s, e: math.ceil((s / e) ** 2),), "1.96 standard errors"),
        ((lambda s, e: math.ceil((1.96 * e / s) ** 2),), "small effect needs more"),
        ((lambda s, e: 100,), "100 seeds.* fewer would do"),
        ((lambda s, e: 40,), "40 seeds.* not below the effect"),
        ((lambda s, e: math.ceil((1.96 * s / e) ** 2) - (s == 1),), "15 seeds.* not below"),
        ((lambda s, e: math.ceil((1.96 * s / e) ** 2) if s < 1 else math.nan,), "One is the least"),
        ((lambda s, e: None,), "returned nothing"),
        ((lambda s, e: "many",), "gave a str"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((5, RATES), "too far below"),
        ((20, RATES), "fewer are too"),
        ((4, RATES), "not among"),
        ((10, {n: 0.98 for n in RATES}), "pass num_steps on"),
        ((10, {n: 98 * value for n, value in RATES.items()}), "between 0 and 1"),
        ((10, {1: 0.0, 10: 0.9}), "Measure at least"),
        ((10, [0.1, 0.2]), "dict"),
        ((..., RATES), r"Replace the \.\.\."),
        ((10, ...), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"116,?467,?712|116\.\d|\b37\b|2 \* 18",
    "exercise_2": r"\(1 \+ cos\) ?/ ?2|1 \+ cos\(|math\.cos",
    "exercise_3": r"\b16 seeds|ceil|\(1\.96 .*\)(\*\*| squared)",
    "exercise_4": r"min\(",
}
