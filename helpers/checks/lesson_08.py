"""Checks of lesson 08's exercises."""

import math

import torch

from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, right, run

WIDTH, NORMS, PERIOD = 1024, 37, 4e-3
DENSE = 3 * WIDTH * (WIDTH + 1)
TIME_MLP = 2 * WIDTH * (WIDTH + 1)
NUMBERS = NORMS * DENSE + TIME_MLP


def exercise_1(size) -> Feedback:
    """Bytes of pi0.5's 78 tensors in bfloat16."""
    size, trouble = number(size, "size")
    if trouble is not None:
        return trouble
    if size == 2 * NUMBERS:
        return right(f"{size / 1e6:.0f} MB, of a file of several gigabytes.")
    for wrong, words in (
        (NUMBERS, "That is how many numbers there are. A number of bfloat16 takes two bytes."),
        (4 * NUMBERS, "That is float32. A number of bfloat16 takes two bytes."),
        (
            2 * NORMS * DENSE,
            "These are the Denses of the norms. The time MLP has four tensors more.",
        ),
        (2 * (NUMBERS - DENSE), "One norm is missing: after the last layer comes another."),
        (2 * (NORMS * 3 * WIDTH**2 + 2 * WIDTH**2), "The kernels are right. Each has a bias too."),
        (2 * (NORMS * DENSE + TIME_MLP // 2), "The time MLP has two layers."),
        (
            2 * (NORMS * DENSE // 3 + TIME_MLP),
            "A Dense gives scale, shift and gate: 3 times the width.",
        ),
        (2 * 78, "78 is the number of tensors. How many numbers does each hold?"),
    ):
        if size == wrong:
            return hint(words)
    return hint(
        "Add up the numbers of the norms' Denses and of the time MLP, then count the bytes."
    )


def exercise_2(share) -> Feedback:
    """The share of the 37 Denses' parameters that never gets a gradient."""
    share, trouble = number(share, "share")
    if trouble is not None:
        return trouble
    for wrong, words in (
        (
            1 / 3,
            "That is the share of one Dense. Or did you take the gates of all norms? Most are used.",
        ),
        (1 / NORMS, "That is one whole Dense. Two of its three parts are used."),
        (1 / (3 * (NORMS - 1)), "The final norm itself is one of the Denses that you divide by."),
        (1 / 18 / 3, "There are two norms in each layer."),
        (
            DENSE / 3 / NUMBERS,
            "You divided by the time MLP's parameters too. Only Denses of norms count.",
        ),
        (100 / (3 * NORMS), "That is in percent. As a share it is a hundred times smaller."),
    ):
        if abs(share - wrong) < 2e-3 * wrong:
            return hint(words)
    if abs(share - 1 / (3 * NORMS)) < 2e-3 / (3 * NORMS):
        return right("1,049,600 numbers that only take up room.")
    if not 0 <= share <= 1:
        return hint("A share lies between 0 and 1.")
    return hint("Which part of which norm is used by nobody? All 37 Denses are of one size.")


def exercise_3(difference) -> Feedback:
    """The smallest difference of times at which a sine and cosine of period 0.004 are farthest apart."""
    difference, trouble = number(difference, "difference")
    if trouble is not None:
        return trouble
    for turns, words in (
        (1, "After a whole period both are back where they were: the distance is 0."),
        (1 / 4, "A quarter of a turn. They can get farther away from where they were."),
        (3 / 4, "Three quarters of a turn: that is on the way back already."),
        (3 / 2, "As far apart as it gets, but not for the first time."),
        (math.pi, "The period is given in t, not in radians: 2 pi t / period is the angle."),
        (500, "That belongs to the slowest pair, of period 4."),
        (1000, "That is the slowest period. The fastest is asked for."),
    ):
        if abs(difference - turns * PERIOD) < 0.01 * turns * PERIOD:
            return hint(words)
    if abs(difference - PERIOD / 2) < 0.01 * PERIOD:
        return right("Then the pair is at opposite ends of its circle, at distance 2.")
    if difference <= 0:
        return hint("A difference above 0 is asked for.")
    return hint(
        "The pair runs round a circle once in each period. Where on it is it farthest from its start?"
    )


def exercise_4(function) -> Feedback:
    """A function of weight (3w, w), bias (3w,), out (w, n): gates halved, what is written unchanged."""
    random = torch.Generator().manual_seed(4)
    width = 5
    weight, bias, out, cond, inner = (
        torch.randn(*shape, generator=random)
        for shape in ((3 * width, width), (3 * width,), (width, 7), (3, width), (3, 7))
    )
    given = [tensor.clone() for tensor in (weight, bias, out)]
    result, trouble = run(function, weight, bias, out)
    if trouble is not None:
        return trouble
    if not all(torch.equal(*pair) for pair in zip((weight, bias, out), given, strict=True)):
        return hint("Your function changed what it was given: return new tensors.")
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        return hint("Three tensors are to be returned: weight, bias and out.")
    shapes = [getattr(one, "shape", None) for one in result]
    if shapes != [one.shape for one in given]:
        return hint(
            "The three tensors keep their shapes, and come back in the order weight, bias, out."
        )
    was = (cond @ weight.T + bias).chunk(3, dim=-1)
    now = (cond @ result[0].T + result[1]).chunk(3, dim=-1)
    factor = [float((b / a).median()) for a, b in zip(was, now, strict=True)]
    untouched = [torch.allclose(a, b, atol=1e-5) for a, b in zip(was, now, strict=True)]
    halved = [torch.allclose(a / 2, b, atol=1e-5) for a, b in zip(was, now, strict=True)]
    if all(halved):
        return hint("Scale and shift are halved too: only the gate's rows are meant.")
    if untouched[2]:
        if any(halved):
            return hint("You halved another part. The order of the rows is scale, shift, gate.")
        return hint("The gates are what they were.")
    kernel, offset = result[0][2 * width :], result[1][2 * width :]
    if torch.allclose(kernel, weight[2 * width :] / 2) and torch.allclose(
        offset, bias[2 * width :]
    ):
        return hint("The kernel's rows are halved. A gate is kernel times condition plus bias.")
    if not halved[2]:
        return hint(
            f"The gates are not half of what they were (a typical one: {factor[2]:.2f} times)."
        )
    if not all(untouched[:2]):
        return hint("The gates are halved, but scale or shift changed: leave their rows alone.")
    wrote, writes = was[2] * (inner @ given[2].T), now[2] * (inner @ result[2].T)
    if torch.allclose(wrote, writes, atol=1e-5):
        return right("Another file, other gates, the same network.")
    if torch.equal(result[2], given[2]):
        return hint(
            "The gates are halved, and so is now what the branch writes. Make up for it in out."
        )
    if torch.allclose(writes, wrote / 4, atol=1e-5):
        return hint(
            "out is halved as well: the branch must become larger where the gate becomes smaller."
        )
    return hint(
        "The gates are right. What the branch writes, gate times out times anything, is not."
    )


def exercise_5(changes) -> Feedback:
    """{"scale", "shift", "gate"}: the largest change of v_t with random rows there in the final norm."""
    if not isinstance(changes, dict) or set(changes) != {"scale", "shift", "gate"}:
        return hint('A dict with the keys "scale", "shift" and "gate" is asked for.')
    if any(value is ... for value in changes.values()):
        return UNANSWERED
    found = {}
    for part, value in changes.items():
        found[part], trouble = number(value, f"change of {part}")
        if trouble is not None:
            return trouble
    scale, shift, gate = (abs(found[part]) for part in ("scale", "shift", "gate"))
    if scale == shift == gate == 0:
        return hint(
            "Nothing changed at all. Is it the copy that you filled and ran, and did you write into its "
            "own weight? A slice of a copy of the weight changes nothing."
        )
    if gate > 0 and (scale == 0 or shift == 0):
        return hint(
            "The order of the rows is scale, shift, gate: one of your slices took another part."
        )
    if gate > 0 and gate in (scale, shift):
        return hint("Gate changes as much as the part before: take a fresh copy for each part.")
    if gate > 0:
        return hint(
            "The gate changed v_t. Did you fill its rows only, and in the final norm? The gates of the "
            "layers are used."
        )
    if scale == 0 or shift == 0:
        return hint(
            "Scale and shift of the final norm are both used: one of yours changed nothing."
        )
    return right(
        "Whatever stands there, v_t is the same, so its gradient is exactly 0 and training leaves it alone."
    )
