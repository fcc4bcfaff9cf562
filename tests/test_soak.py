"""The frame of `make soak`: what is run next, what its table says, and that it is honest about both."""

import sys

import pytest

import tests.soak.__main__ as soak
from benchmarks.sections import with_section
from tests.soak import CHECKS, Check, Finding, all_checks, check
from tests.soak.__main__ import (
    BEGIN,
    END,
    holds,
    load,
    run_item,
    run_slice,
    store,
    table,
    to_do,
)
from tests.soak.interrupt import long_cells
from tests.soak.order import reruns
from tools import notebooks


def made(run=lambda item: Finding(10, 0), limit=0, full=None, slice=None, combine=sum):
    return Check(
        "a: b", "turns", "failures", limit, run, lambda: ["x", "y"], full or {}, slice, combine
    )


def record(figure=0, code="now", at="1", problems=(), size=None):
    return {
        "count": 1000,
        "figure": figure,
        "problems": list(problems),
        "size": size or {},
        "code": code,
        "at": at,
        "seconds": 1,
    }


@pytest.fixture
def now(monkeypatch):
    monkeypatch.setattr(soak, "code_state", lambda item: "now")


def test_an_item_depends_on_the_helpers_and_on_its_own_lesson(tmp_path, monkeypatch):
    for path in ("helpers/a.py", "notebooks/source/01_a.py", "notebooks/source/02_b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    items = "01_a", "02_b", "Line"
    before = [soak.code_state(item) for item in items]
    (tmp_path / "notebooks/source/02_b.py").write_text("2")
    one, two, neither = map(soak.code_state, items)
    assert [one, neither] == [before[0], before[2]] and two != before[1] and len(set(before)) == 3
    (tmp_path / "helpers/a.py").write_text("2")
    assert all(soak.code_state(item) != state for item, state in zip(items, before, strict=True))


def test_what_is_missing_comes_first_then_what_ran_on_older_code_or_at_another_size(now):
    one = made()
    assert to_do([one], {}) == [(one, "x"), (one, "y")]
    old = {"a: b": {"x": record(code="then")}}
    assert to_do([one], old) == [(one, "y"), (one, "x")]
    both = {"a: b": {"x": record(code="then", at="2"), "y": record(size={"seeds": 1}, at="1")}}
    assert to_do([one], both) == [(one, "y"), (one, "x")]
    assert to_do([one], {"a: b": {"x": record(), "y": record()}}) == []
    assert to_do([one], {"a: b": {"x": record(), "y": record(problems=["fell"])}}) == [(one, "y")]


def test_the_table_says_what_did_not_hold_was_not_run_or_is_old(now):
    one = made()
    assert "not run" in table([one], {})
    half = table([one], {"a: b": {"x": record()}})
    assert "1,000 turns; 1 of 2 items" in half and "| held |" in half
    assert "**not held**" in table([one], {"a: b": {"x": record(), "y": record(1)}})
    assert "1 (y)" in table([one], {"a: b": {"x": record(), "y": record(1)}})
    assert "**not held**" in table([one], {"a: b": {"x": record(problems=["fell"])}})
    assert "1 before the last change" in table([one], {"a: b": {"x": record(code="then")}})
    # An item that is no longer there does not count.
    assert "0 of 2 items" in table([one], {"a: b": {"gone": record()}})


def test_figures_are_added_or_the_largest_is_taken():
    found = {"x": record(3), "y": record(4)}
    assert not holds(made(limit=6), found) and holds(made(limit=7), found)
    assert holds(made(limit=4, combine=max), found)


def test_a_check_that_breaks_does_not_hold(capsys):
    def breaks(item):
        raise RuntimeError("no kernel")

    found = run_item(made(breaks), "x", {})
    assert "no kernel" in found["problems"][0] and not holds(made(limit=1e9), {"x": found})


def test_the_slice_runs_its_items_at_its_size_and_fails_where_a_check_does(capsys):
    seen = []

    def run(item, seeds):
        seen.append((item, seeds))
        return Finding(seeds, 0)

    left_out = made(full={"seeds": 5})
    assert (
        run_slice([made(run, full={"seeds": 5}, slice={"seeds": 1, "items": ["y"]}), left_out]) == 0
    )
    assert seen == [("y", 1)]
    assert run_slice([made(lambda item: Finding(1, 1), slice={})]) == 1


def test_records_survive_and_the_section_is_replaced(tmp_path):
    path = tmp_path / "build" / "soak.json"
    assert load(path) == {}
    store(path, {"a: b": {"x": record()}})
    assert load(path) == {"a: b": {"x": record()}} and len(list(path.parent.iterdir())) == 1
    first = with_section("# Benchmarks\n", BEGIN, END, "one")
    second = with_section(first + "\nafter\n", BEGIN, END, "two")
    assert "two" in second and "one" not in second and second.endswith("after\n")


def test_names_are_unique_and_sizes_are_given():
    with pytest.raises(ValueError, match="two checks"):
        name = next(iter(all_checks()))
        check(name, did="", figure="")(lambda item: None)
    for found in CHECKS.values():
        assert found.items() and ": " in found.name


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Make a lesson of these cells; its name."""

    def make(*cells):
        (tmp_path / "99_made.py").write_text("".join(f"# %%\n{code}\n\n" for code in cells))
        return "99_made"

    monkeypatch.setattr(notebooks, "SOURCE", tmp_path)
    return make


def test_a_cell_that_changes_what_another_prints_is_found(lesson):
    name = lesson("import random\nx = [1]", "print(x)", "x.append(2)", "print(len('same'))")
    found = reruns(name, seeds=1, reruns=4)
    # All again, each twice in a row, and all before the random ones.
    assert found.count == 4 + 8 + 4 + 4 and found.figure >= 1
    assert all(line.startswith("cell 1 ") for line in found.problems)
    assert "printed ('stdout', '[1, 2]" in found.problems[0]


@pytest.mark.skipif(sys.platform == "win32", reason="kernels are interrupted otherwise there")
def test_a_cell_that_spoils_the_next_when_it_is_interrupted_is_found(lesson):
    slow = "import time\ntable = None\ntime.sleep(0.8)\ntable = [1, 2]"
    found = long_cells(lesson(slow, "print(len(table))"), moments=1)
    assert found.count == 1 and found.figure == 1
    assert "the next cell: TypeError" in found.problems[0]
    whole = "import time\ntime.sleep(0.8)\ntable = [1, 2]"
    assert long_cells(lesson(whole, "print(len(table))"), moments=1).figure == 0
