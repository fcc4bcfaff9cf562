"""Checks of the exercises: right answers are right, typical wrong ones get a hint, never the solution.

The answers are tables, one module a lesson, in `tests/answers/`. The folded solutions are run by
`tests/test_notebooks.py`, after their notebooks.
"""

import ast
import functools
import importlib
import inspect
import pkgutil
import re

import pytest

from helpers import checks
from tests import answers
from tests.notebook_runs import SOURCES, solutions
from tools import notebooks

TABLES = {
    module.name: importlib.import_module(f"tests.answers.{module.name}")
    for module in pkgutil.iter_modules(answers.__path__)
}
EXERCISES = [(lesson, name) for lesson, table in TABLES.items() for name in table.RIGHT]
# Hints about the form of an answer, not about a mistake in it.
FORM = (
    r"Replace the|One number|this is a |A function is asked|raised|returned nothing|finite number"
)


def _entries(which, lesson, exercise) -> range:
    return range(len(getattr(TABLES[lesson], which)[exercise]))


def _cases(which):
    return [
        (lesson, exercise, number)
        for lesson, exercise in EXERCISES
        for number in _entries(which, lesson, exercise)
    ]


@functools.cache
def _feedback(which, lesson, exercise, number):
    entry = getattr(TABLES[lesson], which)[exercise][number]
    answer = entry if which == "RIGHT" else entry[0]
    return getattr(getattr(checks, lesson), exercise)(*answer)


def _messages(which, lesson, exercise) -> list[str]:
    return [
        _feedback(which, lesson, exercise, number).message
        for number in _entries(which, lesson, exercise)
    ]


def test_every_lesson_has_a_table_of_answers():
    assert list(TABLES) == checks.__all__ == [f"lesson_{source.name[:2]}" for source in SOURCES]


@pytest.mark.parametrize("lesson,exercise,number", _cases("RIGHT"))
def test_right_answers(lesson, exercise, number):
    found = _feedback("RIGHT", lesson, exercise, number)
    assert found and repr(found).startswith("Right."), found


@pytest.mark.parametrize("lesson,exercise,number", _cases("WRONG"))
def test_wrong_answers_get_their_own_hint_and_never_the_solution(lesson, exercise, number):
    found = _feedback("WRONG", lesson, exercise, number)
    assert not found and repr(found).startswith("Not yet."), found
    says = TABLES[lesson].WRONG[exercise][number][1]
    assert re.search(says, found.message), found
    assert not re.search(TABLES[lesson].NEVER[exercise], found.message), found


@pytest.mark.parametrize("lesson,exercise", EXERCISES)
def test_at_least_two_typical_mistakes_are_recognised(lesson, exercise):
    hints = set(_messages("WRONG", lesson, exercise))
    assert len([words for words in hints if not re.search(FORM, words)]) >= 2, hints


@pytest.mark.parametrize("lesson,exercise", EXERCISES)
def test_mistakes_that_differ_get_hints_that_differ(lesson, exercise):
    wanted = {says for _, says in TABLES[lesson].WRONG[exercise]}
    assert len(set(_messages("WRONG", lesson, exercise))) >= len(wanted)


@pytest.mark.parametrize("lesson,exercise", EXERCISES)
def test_what_no_hint_may_say_is_what_the_solution_says(lesson, exercise):
    """Else `NEVER` could be a typing error that no hint could ever meet."""
    (source,) = (source for source in SOURCES if source.name.startswith(lesson[-2:]))
    folded = solutions(notebooks.read_source(source), whole=True)
    solution = folded[int(exercise.removeprefix("exercise_")) - 1]
    told = _messages("RIGHT", lesson, exercise)
    assert re.search(TABLES[lesson].NEVER[exercise], "\n".join([solution, *told])), solution


@pytest.mark.parametrize("lesson", TABLES)
def test_every_hint_is_met_by_some_answer(lesson):
    said = "\n".join(
        message
        for which in ("RIGHT", "WRONG")
        for exercise in TABLES[lesson].RIGHT
        for message in _messages(which, lesson, exercise)
    )
    nodes = list(ast.walk(ast.parse(inspect.getsource(getattr(checks, lesson)))))
    documented = [n for n in nodes if isinstance(n, (ast.Module, ast.FunctionDef, ast.ClassDef))]
    documentation = {ast.get_docstring(node, clean=False) for node in documented}
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    unheard = [t for t in texts - documentation if len(t) > 20 and t not in said]
    assert not unheard, unheard


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_exercises_are_three_to_five_graded_and_checked(source):
    lesson = f"lesson_{source.name[:2]}"
    whole = source.read_text(encoding="utf-8")
    grades = re.findall(r"^# \*\*Exercise (\d) \((.+?)\)\.\*\*", whole, re.MULTILINE)
    assert [int(number) for number, _ in grades] == list(range(1, len(grades) + 1))
    assert 3 <= len(grades) <= 5
    assert grades[0][1] == "compute" and grades[-1][1] == "explain with an experiment"
    table = TABLES[lesson]
    offered = {name for name in vars(getattr(checks, lesson)) if name.startswith("exercise_")}
    wanted = {f"exercise_{number}" for number, _ in grades}
    assert wanted == offered == set(table.RIGHT) == set(table.WRONG) == set(table.NEVER)
    for name in wanted:  # once for the learner's cell, once in the folded solution
        assert whole.count(f"checks.{lesson}.{name}(") == 2
