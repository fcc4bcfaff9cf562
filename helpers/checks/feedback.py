"""What a check says about an answer."""

import math
import numbers
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Feedback:
    """Right or not, and why. Ends a cell as its message; in a test it is true or false."""

    right: bool
    message: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"Right. {self.message}" if self.right else f"Not yet. {self.message}"


def right(message: str) -> Feedback:
    return Feedback(True, message)


def hint(message: str) -> Feedback:
    return Feedback(False, message)


UNANSWERED = hint("Replace the ... by your answer and run the cell again.")


def run(function, *arguments):
    """Call a learner's function: (result, None), or (None, a hint) where it raises or returns nothing."""
    if function is ...:
        return None, UNANSWERED
    if not callable(function):
        return None, hint(f"A function is asked for, this is a {type(function).__name__}.")
    try:
        result = function(*arguments)
    except Exception as error:  # whatever a learner's function raises belongs into the hint
        return None, hint(f"Your function raised {type(error).__name__}: {error}")
    if result is None or result is ...:
        return None, hint("Your function returned nothing yet: fill it in, and end it with return.")
    return result, None


def number(answer, name: str):
    """A learner's number, also as a tensor of one entry: (the number, None), or (None, a hint)."""
    if answer is ...:
        return None, UNANSWERED
    answer = _plain(answer)
    if not _is_number(answer):
        return None, hint(f"One number is asked for, this is a {type(answer).__name__}.")
    if not math.isfinite(answer):
        return None, hint(f"The {name} is a finite number.")
    return answer, None


def numbers_at(function, cases):
    """A learner's function called with each case's arguments: (list of floats, None), or (None, a hint)."""
    found = []
    for case in cases:
        result, trouble = run(function, *case)
        if trouble is not None:
            return None, trouble
        result = _plain(result)
        if not _is_number(result):
            gave = type(result).__name__
            return None, hint(f"One number is asked for, your function gave a {gave}.")
        found.append(float(result))
    return found, None


def _plain(answer):
    """The number in a tensor or an array of one entry; anything else as it came."""
    one = isinstance(answer, (torch.Tensor, np.ndarray)) and math.prod(answer.shape) == 1
    return answer.item() if one else answer


def _is_number(answer) -> bool:
    return isinstance(answer, numbers.Real) and not isinstance(answer, bool)
