"""The same numbers: in a second run, with other hashes, with two threads."""

import base64
import io

import numpy as np
from PIL import Image

from tests.notebook_runs import said_otherwise
from tests.soak import Finding, check
from tests.soak._kernel import Lesson
from tests.soak.order import difference

STILL = {"HELPERS_STILL": "1"}


@check(
    "same: a second run, other hashes",
    did="cells run twice in fresh kernels, PYTHONHASHSEED 0 and 12345",
    figure="cells that fell or printed something else (text equal, pictures equal bit for bit)",
)
def second_run(lesson) -> Finding:
    return compared(lesson, {"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "12345"}, exact)


@check(
    "same: one thread and two",
    did="cells run with one thread of torch and with two",
    figure="cells that fell or differ: a number by 1% (or 1e-6, or a unit of its last digit), "
    "a picture by 1 of 255 on average",
    slice={"items": ["04_ada_rms_norm"]},
)
def threads(lesson) -> Finding:
    return compared(lesson, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2"}, nearly)


def compared(lesson, one, other, differs) -> Finding:
    """Run a lesson in two environments; `differs(printed, printed)` -> words, or "" where they agree."""
    results = []
    for environment in (one, other):
        with Lesson(lesson, {**STILL, **environment}) as kernel:
            results.append(kernel.run_all())
            if threads := environment.get("OMP_NUM_THREADS"):
                found = kernel.value("__import__('torch').get_num_threads()")
                assert found == threads, f"torch runs {found} threads instead of {threads}"
            measured = [kernel.measured(number) for number in range(len(kernel.cells))]
    problems = []
    for number, (before, after) in enumerate(zip(*results, strict=True)):
        lines = before.complaints + after.complaints
        if not measured[number] and (words := differs(before.printed, after.printed)):
            lines.append(words)
        if lines:
            problems.append(f"cell {number}: {'; '.join(lines)}")
    return Finding(2 * len(measured), len(problems), problems)


def exact(one, other) -> str:
    return difference(one, other) if one != other else ""


def nearly(one, other) -> str:
    """Where two cells' outputs differ by more than rounding, in words."""
    if len(one) != len(other):
        return difference(one, other)
    for before, after in zip(one, other, strict=True):
        for (kind, was), (_, now) in zip(_parts(before), _parts(after), strict=True):
            if kind == "image/png":
                apart = np.abs(_pixels(was) - _pixels(now)).mean()
                if apart > 1:
                    return f"a picture differs by {apart:.1f} of 255 on average"
            elif said_otherwise(was, now, last_digit=True):
                return f"printed {now[:150]!r} instead of {was[:150]!r}"
    return ""


def _parts(output):
    return output if isinstance(output[0], tuple) else [output]


def _pixels(picture):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"), dtype=float)
