"""One test for each of the article's 24 statements: the cells that decide it are run, and what they find is
what `notebooks/verdicts.json` and README's table say.

A deciding cell is found by its tag, `claim-<row>`, in the sources. Verdicts must be the same word for word,
and so must the sentences round the numbers; numbers may differ as far as `notebook_runs.said_otherwise`
allows.
"""

import copy
import json
import re

import nbformat
import pytest

from helpers.claims import MIME, STATEMENTS
from tests.notebook_runs import SOURCES, said_otherwise
from tools import notebooks

ROWS = range(1, 25)
LINE = re.compile(
    r"\| (\d+) \| (.*?) \| \*\*(.*?)\*\*: (.*) \| \[(\d\d)\]\(notebooks/(.*)\.ipynb\) \|"
)


def deciding(row, notebook) -> list[int]:
    """Where the cells that decide a statement are in a notebook."""
    tag = f"claim-{row}"
    return [i for i, c in enumerate(notebook.cells) if tag in c.metadata.get("tags", [])]


def found_by(row, notebook) -> dict | None:
    """What the notebook's deciding cell found, None where it has none; `trained`: after a training."""
    cells = deciding(row, notebook)
    if not cells:
        return None
    assert len(cells) == 1, f"{len(cells)} cells are tagged claim-{row}"
    outputs = notebook.cells[cells[0]].outputs
    (entry,) = [o.data[MIME] for o in outputs if MIME in o.get("data", {})]
    before = [tag for c in notebook.cells[: cells[0]] for tag in c.metadata.get("tags", [])]
    return {**entry, "trained": "trained" in before}


def read_table(readme: str) -> dict[int, list[dict]]:
    """README's table of verdicts: row to its entries."""
    rows = {}
    for line in readme.splitlines():
        if match := LINE.fullmatch(line):
            row, statement, verdict, value, number, lesson = match.groups()
            assert lesson.startswith(number), line
            assert statement == STATEMENTS[int(row)], line
            entry = {"lesson": lesson, "verdict": verdict, "value": value.replace("\\|", "|")}
            rows.setdefault(int(row), []).append(entry)
    return rows


def problems(row, found, verdicts, readme) -> list[str]:
    """Where verdicts.json or README disagree with what the cells found now.

    found: lesson to what its deciding cell found, None where it has none. verdicts: as in verdicts.json.
    readme: as `read_table` gives it.
    """
    now = {lesson: entry for lesson, entry in found.items() if entry is not None}
    if not now:
        return [f"no cell decides statement {row}: tag one claim-{row}"]
    bad = []
    for place, entries in (
        ("verdicts.json", verdicts.get(str(row), [])),
        ("README", readme.get(row, [])),
    ):
        lessons = [entry["lesson"] for entry in entries]
        if lessons != sorted(now):
            bad.append(
                f"{place}: statement {row} is decided in {lessons}, its cells are in {sorted(now)}"
            )
        for entry in entries:
            fresh = now.get(entry["lesson"])
            if fresh is None:
                continue
            if entry["verdict"] != fresh["verdict"]:
                bad.append(f"{place}: {entry['verdict']!r}, the cell finds {fresh['verdict']!r}")
            if said_otherwise(entry["value"], fresh["value"], last_digit=fresh["trained"]):
                bad.append(f"{place}: {entry['value']!r}, the cell finds {fresh['value']!r}")
    return bad


def test_there_are_24_statements():
    assert list(STATEMENTS) == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_statement(row, executed):
    verdicts = json.loads(notebooks.VERDICTS.read_text(encoding="utf-8"))
    readme = read_table((notebooks.ROOT / "README.md").read_text(encoding="utf-8"))
    with_cell = [s for s in SOURCES if deciding(row, notebooks.read_source(s))]
    found = {source.stem: found_by(row, executed(source).here) for source in with_cell}
    assert not problems(row, found, verdicts, readme)


def _as_built(row):
    """What test_statement compares, taken from the built notebooks."""
    built = {s.stem: nbformat.read(notebooks.built(s), as_version=4) for s in SOURCES}
    readme = (notebooks.ROOT / "README.md").read_text(encoding="utf-8")
    found = {lesson: found_by(row, notebook) for lesson, notebook in built.items()}
    return found, json.loads(notebooks.VERDICTS.read_text(encoding="utf-8")), read_table(readme)


@pytest.mark.parametrize(
    "spoil,says",
    [
        (lambda f, v, r: f.update(dict.fromkeys(f)), "no cell decides statement 15"),
        (lambda f, v, r: f.update({"04_ada_rms_norm": None}), "its cells are in ['07"),
        (lambda f, v, r: v.pop("15"), "verdicts.json: statement 15 is decided in []"),
        (lambda f, v, r: r.pop(15), "README: statement 15 is decided in []"),
        (lambda f, v, r: r[15].reverse(), "README: statement 15 is decided in ['07"),
        (
            lambda f, v, r: v["15"][0].update(verdict="does not hold"),
            "verdicts.json: 'does not hold'",
        ),
        (lambda f, v, r: r[15][1].update(verdict="holds"), "README: 'holds'"),
        (lambda f, v, r: _put(v["15"][1], "2.6 times", "3.6 times"), "verdicts.json: 'trained"),
        (lambda f, v, r: _put(r[15][1], "of gates are", "of all gates are"), "README: 'trained"),
        (lambda f, v, r: _put(r[15][0], "0.5 half", "0.25 half"), "README: 'by hand"),
    ],
)
def test_a_spoiled_record_is_seen(spoil, says):
    found, verdicts, readme = copy.deepcopy(_as_built(15))
    assert not problems(15, found, verdicts, readme)
    spoil(found, verdicts, readme)
    assert any(says in line for line in problems(15, found, verdicts, readme))


def _put(entry, old, new):
    assert old in entry["value"]
    entry["value"] = entry["value"].replace(old, new)


def test_every_line_of_readmes_table_is_read():
    readme = (notebooks.ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("<!-- verdicts:")[1].split("<!-- end of verdicts -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    assert sum(map(len, read_table(readme).values())) == len(lines) >= 24


@pytest.mark.parametrize(
    "one,other,last_digit,differs",
    [
        ("0.0229 ± 0.0091", "0.0229 ± 0.0091", False, False),
        ("loss 100 or more", "loss 100.5 or more", False, False),
        ("loss 0.08", "loss 0.09", False, True),
        ("loss 0.08", "loss 0.09", True, False),
        ("loss 0.08", "loss 0.10", True, True),
        ("5 norms", "6 norms", True, True),
        ("largest error 5e-07", "largest error 7e-07", False, False),
        ("2e+05 or more", "3e+05 or more", False, True),
        ("about 5", "nearly 5", True, True),
    ],
)
def test_what_counts_as_saying_otherwise(one, other, last_digit, differs):
    assert said_otherwise(one, other, last_digit) == differs
