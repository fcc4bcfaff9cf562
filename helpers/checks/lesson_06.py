"""Feedback on the exercises of lesson 06."""

import math

from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, numbers_at, right

WIDTH, DEPTH = 1024, 18
PEAK = 0.3


def exercise_1(count) -> Feedback:
    """Parameters in the Denses of all adaRMS norms of pi0.5's action expert."""
    count, trouble = number(count, "count")
    if trouble is not None:
        return trouble
    dense = WIDTH * 3 * WIDTH + 3 * WIDTH
    norms = 2 * DEPTH + 1
    if count == norms * dense:
        return right(f"{norms} Denses with {dense:,} parameters each: {count / 1e6:.1f} million.")
    if count == dense:
        return hint("That is one Dense. How many norms has the expert?")
    if count == 2 * DEPTH * dense:
        return hint("The layers are right. After the last layer comes one norm more.")
    if count in ((DEPTH + 1) * dense, DEPTH * dense):
        return hint("A layer with attention has two norms: one before each half.")
    if count == norms * 3 * WIDTH * WIDTH:
        return hint("The kernels are right. A Dense has a bias too.")
    if count in (norms * WIDTH * WIDTH, norms * (WIDTH * WIDTH + WIDTH)):
        return hint("Each Dense gives scale, shift and gate: its output is three times as wide.")
    return hint("Count the norms, then the parameters of one Dense from width to 3 width.")


def exercise_2(rate) -> Feedback:
    """The learning rate: warm-up, then half a cosine. rate(step, steps, peak, warm_up)."""
    steps = (0, 4, 9, 50, 100)
    found, trouble = numbers_at(rate, [(step, 100, PEAK, 9) for step in steps])
    if trouble is not None:
        return trouble
    results = dict(zip(steps, found, strict=True))

    def wanted(step, cosine=True, warm=True):
        factor = (1 + math.cos(math.pi * step / 100)) / 2 if cosine else 1.0
        return PEAK * factor * (min(1.0, (step + 1) / 10) if warm else 1.0)

    def is_like(other):
        return all(math.isclose(results[s], other(s), abs_tol=1e-9) for s in results)

    if is_like(wanted):
        return right("Nothing at the very start but a tenth, and zero at the end.")
    if is_like(lambda step: wanted(step, warm=False)):
        return hint(
            "The cosine is right. Now the first steps: multiply by (step + 1) / (warm_up + 1)."
        )
    if is_like(lambda step: wanted(step, cosine=False)):
        return hint("The warm-up is right. After it the rate should fall: multiply by the cosine.")
    if is_like(lambda step: 2 * wanted(step)):
        return hint("Twice too large: 1 + cos starts at 2.")
    if is_like(lambda step: PEAK * min(1.0, (step + 1) / 10) * math.cos(math.pi * step / 100)):
        return hint(
            "Your rate becomes negative: a cosine ends at -1. Lift it, so that it ends at 0."
        )
    if is_like(lambda step: wanted(step) / PEAK):
        return hint("Your rate peaks at 1. Multiply by peak.")
    if results[0] == 0:
        return hint("At step 0 your rate is 0, so the first step is lost: start with step + 1.")
    if not math.isclose(results[100], 0, abs_tol=1e-9):
        return hint(f"After the last step the rate should be 0, yours is {results[100]:.3g}.")
    return hint(
        "Halfway the cosine is at half its height, and halfway through the warm-up the rate at half the "
        f"cosine. With peak {PEAK}, 100 steps and warm_up 9 yours is {results[50]:.3g} at step 50, and "
        f"{results[4]:.3g} at step 4."
    )


def exercise_3(seeds_needed) -> Feedback:
    """The smallest n with 1.96 * spread / sqrt(n) < effect."""
    cases = ((0.004, 0.001), (0.002, 0.004), (1.0, 0.5))
    answers, trouble = numbers_at(seeds_needed, cases)
    if trouble is not None:
        return trouble
    exact = [(1.96 * spread / effect) ** 2 for spread, effect in cases]
    if answers == [math.ceil(n) for n in exact]:
        return right("Half the effect needs four times the seeds.")
    if all(math.isclose(a, n) for a, n in zip(answers, exact, strict=True)):
        return hint("That is the exact solution. Seeds come in whole numbers: round up.")
    if answers in ([math.floor(n) for n in exact], [round(n) for n in exact]):
        return hint("Round up: with fewer seeds the interval still holds zero.")
    if answers == [math.ceil(n**0.5) for n in exact]:
        return hint("The interval shrinks with the root of n: square it.")
    if answers == [math.ceil((spread / effect) ** 2) for spread, effect in cases]:
        return hint("The interval's half width is 1.96 standard errors, not one.")
    if answers[0] < answers[1]:
        return hint("A small effect needs more seeds than a large one; yours needs fewer.")
    (spread, effect), seeds = next(
        (case, answer)
        for case, answer, n in zip(cases, answers, exact, strict=True)
        if answer != math.ceil(n)
    )
    said = f"For spread {spread:g} and effect {effect:g} you say {seeds:g} seeds"
    if not seeds >= 1:
        return hint(f"{said}. One is the least.")
    half_width = 1.96 * spread / seeds**0.5
    judged = "fewer would do" if half_width < effect else "that is not below the effect"
    return hint(f"{said}: the half width is then {half_width:.2g}, {judged}.")


def exercise_4(num_steps, rates) -> Feedback:
    """The fewest Euler steps within 0.05 of the success at most steps. rates: {steps: success}."""
    if num_steps is ... or rates is ...:
        return UNANSWERED
    if not isinstance(rates, dict) or not all(isinstance(key, int) for key in rates):
        return hint("rates should be a dict from number of steps to success rate.")
    if not {1, 2, 5, 10, 20} <= set(rates):
        return hint("Measure at least 1, 2, 5, 10 and 20 steps.")
    if not all(0 <= value <= 1 for value in rates.values()):
        return hint("A success rate lies between 0 and 1.")
    if rates[1] > 0.5:
        return hint("One step lands on the mean of left and right. Did you pass num_steps on?")
    enough = min(n for n in rates if rates[n] >= rates[max(rates)] - 0.05)
    if num_steps == enough:
        return right(
            f"One step: {rates[1]:.2f}, it lands on the mean path, in the obstacle. {enough} steps: "
            f"{rates[enough]:.2f}. The side is chosen between t = 0.9 and 0.6: a few steps must lie there."
        )
    if num_steps not in rates:
        return hint(f"{num_steps!r} is not among the numbers you measured.")
    if rates[num_steps] < rates[max(rates)] - 0.05:
        return hint(f"{num_steps} steps reach {rates[num_steps]:.2f}, which is too far below.")
    return hint(f"{num_steps} steps are enough, but fewer are too.")
