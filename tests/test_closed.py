"""Lessons write nothing outside the temporary folder, not even into the project; the walls see what does.

The notebooks run within `tests/walls.py` in `tests/notebook_runs.py`, where the network is blocked too.
"""

import asyncio

import nbformat
import pytest

from tests.walls import walls
from tools import notebooks


@pytest.mark.parametrize("source", notebooks.sources(), ids=lambda source: source.stem)
def test_a_lesson_runs_from_a_checkout_that_may_not_be_written(source, executed):
    """Its cells ran: `executed` raises where one fails."""
    assert not executed(source).strayed


WRITES = """
import os, pathlib, tempfile
root = pathlib.Path({root!r})
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "a").write_text("allowed")
found = []
for write in (
    lambda: (root / "stray.txt").write_text("refused"),
    lambda: (root / "helpers" / "stray").mkdir(),
    lambda: os.rename(root / "README.md", root / "READYOU.md"),
    lambda: os.remove(root / "stray.txt"),
    lambda: open(root / "README.md", "a"),
):
    try:
        write()
    except OSError as error:
        found.append(error.errno)
assert found == [30] * 5, found
(root / "README.md").read_bytes()
(pathlib.Path.home() / "stray.txt").write_text("seen")
"""


def test_the_walls_refuse_and_tell(tmp_path):
    around = walls(tmp_path, read_only=True)
    code = WRITES.format(root=str(notebooks.ROOT))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    asyncio.run(notebooks.execute_async(notebook, tmp_path, around.environment))
    stray = around.home / "stray.txt"
    assert around.strayed() == [f"open {stray}", "left in the home folder: stray.txt"]
    assert not (notebooks.ROOT / "stray.txt").exists()
