"""Cells may be rerun in any order: a few drawn at random say again what they said; no two bind one name.

`make soak` reruns all of them, in many orders.
"""

import pytest

from tests.notebook_runs import solutions
from tests.soak._names import leaks, shared_generators
from tools import notebooks


@pytest.mark.parametrize("source", notebooks.sources(), ids=lambda source: source.stem)
def test_cells_run_again_after_all_others_say_what_they_said(source, executed):
    run = executed(source)
    for place, (index, cell) in enumerate(run.rerun):
        before = [number for number, _ in run.rerun[:place]]
        assert said(cell) == said(run.here.cells[index]), f"cell {index}, rerun after {before}"


def said(cell) -> list:
    """A cell's outputs without their counts, which grow."""
    return [
        {key: value for key, value in output.items() if key != "execution_count"}
        for output in cell.outputs
    ]


@pytest.mark.parametrize("source", notebooks.sources(), ids=lambda source: source.stem)
def test_a_name_that_cells_share_is_bound_in_one_of_them(source):
    """The folded solutions count as cells: a learner runs them, and then another cell again."""
    notebook = notebooks.read_source(source)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert not leaks(code + solutions(notebook))
    assert not shared_generators(code + solutions(notebook))


@pytest.mark.parametrize(
    "cells",
    [
        ["x = 1", "print(x)", "x = 2"],
        ["x = 1", "x = 2", "print(x)"],
        ["count = 0", "count += 1", "count = 5"],
        ["x = 1", "def f(): return x", "x = 2"],
        ["m = 1", "explore(lambda t: m * t)", "for m in range(3): pass"],
        ["x = 1", "print([x for y in range(3)])", "x = 2"],
        ["x = 1", "x = x + 1"],
        ["import a as x", "print(x)", "import b as x"],
        ["x = 1", "def f(y=x): pass", "x = 2"],
        ["x = 1", "class A(x): pass", "with open('f') as x: pass"],
        ["x = 1", "max('ab', key=lambda y: x)", "x = 2"],
        ["x = 1", "x = 3\ndef f(): return x", "pass"],  # f reads what is there when it is called
    ],
)
def test_a_shared_name_is_found(cells):
    assert leaks(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["x = 1", "print(x)"],
        ["x = 1; print(x)", "x = 2; print(x)"],  # each reads its own
        ["for name in 'ab': print(name)", "for name in 'cd': print(name)"],
        ["x = 1", "def f(x): return x", "x = 2"],
        ["x = 1", "def f():\n x = 3\n return x", "x = 2"],
        ["y = 1", "[y for y in range(3)]", "y = 2"],
        ["import torch", "torch.zeros(1)", "import torch"],
        ["x = 1", "class A:\n x = 2\n y = x"],
        ["x = 1", "f = lambda x: x", "x = 2"],
        ["x = 1; max('ab', key=lambda y: x)", "x = 2"],
    ],
)
def test_a_name_of_ones_own_is_not(cells):
    assert not leaks(cells)


def test_a_generator_that_two_cells_draw_from_is_found():
    made = "x, random = 1, torch.Generator().manual_seed(0)"
    draws = "y = torch.randn(3, generator=random)"
    assert shared_generators([made, draws]) and not shared_generators([f"{made}\n{draws}", "x, y"])
    own = "y = torch.randn(3, generator=torch.Generator().manual_seed(0))"
    assert not shared_generators([own, "print(y)"])
