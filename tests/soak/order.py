"""Cells run again, in and out of order: they print what they printed, and nothing falls."""

import random

from tests.soak import Finding, check
from tests.soak._kernel import Lesson


@check(
    "order: all again, and random reruns",
    did="runs of single cells, after a run of all: all a second time, each twice in a row, random ones",
    figure="runs that fell or printed something else",
    full={"seeds": 5, "reruns": 30},
    slice={"seeds": 1, "reruns": 10, "items": ["04_ada_rms_norm"]},
)
def reruns(lesson, seeds, reruns) -> Finding:
    """Run all, all again, each cell twice in a row; then, for each seed, all and `reruns` cells drawn."""
    with Lesson(lesson) as kernel:
        first = kernel.run_all()
        numbers = range(len(kernel.cells))
        orders = {
            "all a second time": list(numbers),
            "each twice in a row": [number for number in numbers for _ in range(2)],
        }
        for seed in range(seeds):
            draw = random.Random(f"{lesson} {seed}")
            drawn = [draw.randrange(len(kernel.cells)) for _ in range(reruns)]
            orders[f"random, seed {seed}"] = [*numbers, *drawn]
        return compared(kernel, first, orders)


def compared(kernel, first, orders) -> Finding:
    """Run the cells in these orders, beside what each printed first."""
    problems = [
        f"cell {n}, first run: {line}" for n, r in enumerate(first) for line in r.complaints
    ]
    count = bad = 0
    for name, order in orders.items():
        for place, number in enumerate(order):
            run = kernel.run(number)
            count += 1
            lines = list(run.complaints)
            if not kernel.measured(number) and run.printed != first[number].printed:
                lines.append(difference(first[number].printed, run.printed))
            if lines:
                bad += 1
                before = order[max(0, place - 3) : place]
                where = f"cell {number} ({name}, after cells {before})"
                problems.append(f"{where}: {'; '.join(lines)}")
    return Finding(count, bad, problems)


def difference(one, other) -> str:
    """The first thing that is not alike, in words."""
    for before, after in zip(one, other, strict=False):
        if before != after:
            return f"printed {_short(after)}, at first {_short(before)}"
    return f"{len(other)} outputs, at first {len(one)}"


def _short(output) -> str:
    if isinstance(output[0], tuple):
        output = [
            (kind, data if kind == "text/plain" else f"{len(data)} bytes") for kind, data in output
        ]
    return repr(output)[:200]
