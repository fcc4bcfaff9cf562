"""Sliders and the kernel behind them: while other cells run, and after a restart."""

import pytest

from tests.browser.test_sliders import CELLS, SETUP, write

DRAWS = """\
import os, time
from helpers.drawing import Painter
painter, pictures, end = Painter(Busy()), {}, time.monotonic() + 120
while time.monotonic() < end and not os.path.exists("enough"):
    for t in (0.1, 0.5, 0.9):
        painter.view.update(t=t)
        picture = painter.encoded()
        assert pictures.setdefault(t, picture) == picture
"""
LAST_CELL_RAN = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .findLast(cell => cell.model.type === 'code').model.executionCount !== null"""


def test_sliders_answer_while_later_cells_run(open_notebook, server, app):
    """Run all, then a slider: it need not wait for the cells below, and neither disturbs the other."""
    if app == "notebook6":
        pytest.skip("its kernels have one thread: sliders answer when all cells are done")
    write(server.folder / "busy.ipynb", [SETUP, CELLS[1], DRAWS, "print('all done')"])
    notebook = open_notebook("busy.ipynb")
    page = notebook.page
    page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.wait_for_selector(".explore .noUi-handle", timeout=60_000)
    [explorer] = notebook.explorers()
    [handle] = explorer.sliders()
    seen = {}
    for key in ["PageUp"] * 4 + ["ArrowRight"] * 4:
        before = explorer.source()
        explorer.press(handle, key)
        explorer.wait_for_change(before)
        assert not page.evaluate(LAST_CELL_RAN), (
            "the cells were done before the slider's picture came"
        )
        seen[explorer.readout(0)] = explorer.wait_until_still()
    (server.folder / "enough").touch()
    page.wait_for_function(LAST_CELL_RAN, timeout=60_000)
    assert notebook.failures() == [] and notebook.errors == []
    assert explorer.pixels() == seen[explorer.readout(0)]
    # What was drawn beside the cell is what is drawn alone.
    shown, before = explorer.readout(0), explorer.source()
    explorer.press(handle, "PageUp")
    explorer.wait_for_change(before)
    explorer.press(handle, "PageDown")
    assert explorer.wait_until_still() == seen[shown]


def test_sliders_work_after_a_restart(open_notebook, server, app):
    write(server.folder / "again.ipynb", CELLS[:2])
    notebook = open_notebook("again.ipynb")
    for _ in range(2):
        notebook.run_all()
        notebook.page.wait_for_selector(".explore img")
        [explorer] = notebook.explorers()
        before = explorer.source()
        explorer.press(explorer.sliders()[0], "PageUp")
        explorer.wait_for_change(before)
        notebook.restart()
    assert notebook.failures() == []
