"""Instant feedback on the exercises: `checks.lesson_01.exercise_2(answer)`.

Each says whether an answer is right, or gives a hint about this wrong answer; none shows the solution.
"""

from helpers.checks import (
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
)

__all__ = [
    "lesson_01",
    "lesson_02",
    "lesson_03",
    "lesson_04",
    "lesson_05",
    "lesson_06",
    "lesson_07",
    "lesson_08",
]
