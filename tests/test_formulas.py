"""docs/formulas.md holds every symbol and every summary formula of the lessons, with names that exist."""

import functools
import re

import pytest

from tests.notebook_runs import SOURCES
from tools import notebooks

PAGE = notebooks.ROOT / "docs" / "formulas.md"
LESSONS = {source.name[:2]: source for source in SOURCES}


def _rows(text, head):
    """The cells of the rows of the table whose first line begins with `head`."""
    table = text[text.index(f"\n{head}") + 1 :].split("\n\n")[0]
    lines = table.strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


PAGE_TEXT = PAGE.read_text(encoding="utf-8")
SYMBOLS = _rows(PAGE_TEXT, "| symbol |")
PAIRS = [pair for row in _rows(PAGE_TEXT, "| formula |") for pair in (row[:2], row[2:])]
FORMULAS = [(tex, lessons) for tex, lessons in PAIRS if tex]


def _lessons(cell: str) -> list[str]:
    """The lessons of a row: "01-03, 07" are four."""
    found = []
    for part in cell.split(", "):
        first, _, last = part.partition("-")
        found += [f"{n:02}" for n in range(int(first), int(last or first) + 1)]
    return found


def _plain(tex: str) -> str:
    return re.sub(r"\s|\\,|\$", "", tex)


def _letters(symbol: str) -> list[str]:
    """The symbols in a table's cell: "$s_l, b_l$" gives s and b, for an index l only says which layer. Of
    a definition its left side."""
    found = []
    for tex in re.findall(r"\$([^$]+)\$", symbol):
        left = tex.split("=")[0]
        parts = [left] if "(" in left or "[" in left else left.split(",")
        found += [_plain(part).removesuffix("_l") for part in parts]
    return found


@functools.cache
def _named(lesson) -> set[str]:
    cells = notebooks.read_source(LESSONS[lesson]).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return set(re.findall(r"[A-Za-z_]\w*", code))


HELPERS = set(
    re.findall(
        r"[A-Za-z_]\w*",
        "\n".join(p.read_text(encoding="utf-8") for p in (notebooks.ROOT / "helpers").glob("*.py")),
    )
)


@pytest.mark.parametrize("row", SYMBOLS, ids=lambda row: row[0])
def test_names_in_code_exist(row):
    _, names, shape, lessons, meaning = row
    assert shape and meaning
    used = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"`([^`]+)`", names))))
    assert used or names == "all-ones"
    assert set(_lessons(lessons)) <= set(LESSONS)
    everywhere = set().union(*map(_named, _lessons(lessons)))
    assert used <= everywhere | HELPERS, used - everywhere - HELPERS


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lessons_notation_is_on_the_page(lesson):
    """Each symbol of its table stands here for this lesson, once, and with the same name in code."""
    cells = notebooks.read_source(LESSONS[lesson]).cells
    (table,) = [c.source for c in cells if c.source.startswith("| symbol |")]
    for symbol, names, *_ in _rows("\n" + table, "| symbol |"):
        letters, names = _letters(symbol), re.findall(r"`[^`]+`", names)
        for place, letter in enumerate(letters):
            here = [
                row for row in SYMBOLS if letter in _letters(row[0]) and lesson in _lessons(row[3])
            ]
            assert len(here) == 1, f"{letter} of lesson {lesson} is in {len(here)} rows"
            for name in names[place : place + 1] if len(names) == len(letters) else names:
                assert name in here[0][1], f"{letter}: {name} is missing in {here[0][1]}"


def test_a_symbol_means_two_things_only_where_the_page_says_so():
    rows = {}
    for row in SYMBOLS:
        for letter in set(_letters(row[0])):
            rows.setdefault(letter, []).append(set(_lessons(row[3])))
    twice = {letter: lessons for letter, lessons in rows.items() if len(lessons) > 1}
    owned_up = PAGE_TEXT.split("## Letters with two meanings")[1].split("\nAn index")[0]
    assert set(twice) == set(re.findall(r"\$(\w)\$ \(", owned_up))
    for letter, lessons in twice.items():
        assert len(set.union(*lessons)) == sum(map(len, lessons)), f"{letter}, in one lesson"


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_formula_of_a_summary_is_on_the_page(lesson):
    cells = notebooks.read_source(LESSONS[lesson]).cells
    (summary,) = [c.source for c in cells if c.source.startswith("## Summary")]
    here = {_plain(tex) for tex, lessons in FORMULAS if lesson in _lessons(lessons)}
    for block in re.findall(r"\$\$(.+?)\$\$", summary, re.DOTALL):
        for formula in re.split(r"\\,,\s*\\qquad", block):
            assert _plain(formula) in here, formula
