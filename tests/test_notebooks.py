"""Every notebook: it is what its source builds, keeps the collection's shape, and runs anywhere, offline.

Each is executed twice in fresh kernels (`tests/notebook_runs.py`), once where it lies and once from an
empty folder with the network blocked; both runs must print the same, save in cells tagged `measured`. After
the second run the folded solutions of its exercises are run and must be right, and each cell with a slider
is run again.
"""

import asyncio
import base64
import io
import re
import statistics

import matplotlib
import nbformat
import numpy as np
import pytest
from nbclient.exceptions import CellExecutionError
from PIL import Image

from tests.notebook_runs import SOURCES, said_otherwise, solutions
from tests.walls import walls
from tools import notebooks

NAMES = [source.stem for source in SOURCES]
PINS = (notebooks.ROOT / "requirements.txt").read_text(encoding="utf-8").split()
DRAWN_ALIKE = f"matplotlib=={matplotlib.__version__}" in PINS


def _printed(notebook) -> list:
    """What the cells printed, without the cells that measure times."""
    kept = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and "measured" not in cell.metadata.get("tags", []):
            kept.append(cell.outputs)
    return kept


def _pixels(picture: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"), dtype=float)


def _exact(notebook) -> int:
    """How many of the cells that `_printed` gives come before the first that depends on a training."""
    number = 0
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "trained" in tags:
            return number
        number += cell.cell_type == "code" and "measured" not in tags
    return number


def _kinds(outputs) -> list:
    return [(o.output_type, sorted(o.get("data", {}))) for o in outputs]


def _stale(committed, fresh, exact: int, pictures: bool = True) -> list[str]:
    """Where outputs that are committed are not what the cells print now, but for rounding.

    Another machine rounds otherwise in the last digits, so numbers are compared to a hundredth, and
    pictures by their average difference. Training carries such roundings into every digit, so from a
    cell tagged `trained` on only the kinds of output are compared. Without `pictures`, which each release
    of matplotlib draws a little otherwise, text alone is.
    """
    found = []
    for where, (old, new) in enumerate(zip(committed, fresh, strict=True)):
        if _kinds(old) != _kinds(new):
            found.append(f"code cell {where} gives {_kinds(new)}, committed is {_kinds(old)}")
        for one, other in zip(old, new, strict=False) if where < exact else ():
            texts = [
                str(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in (one, other)
            ]
            if said_otherwise(*texts):
                found.append(f"code cell {where} prints {texts[1]!r}, committed is {texts[0]!r}")
            if pictures and (picture := one.get("data", {}).get("image/png")):
                before, after = _pixels(picture), _pixels(other["data"]["image/png"])
                if before.shape != after.shape or np.abs(before - after).mean() > 1:
                    found.append(f"code cell {where} draws another picture")
    return found


def test_every_source_has_a_notebook_and_every_notebook_a_source():
    assert sorted(path.stem for path in notebooks.NOTEBOOKS.glob("*.ipynb")) == NAMES
    assert NAMES, "no lesson at all"


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_is_what_its_source_builds(source):
    assert not notebooks.differences(source)


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_runs_twice_alike(source, executed):
    run = executed(source)
    pairs = zip(_printed(run.here), _printed(run.elsewhere), strict=True)
    for number, (one, other) in enumerate(pairs):
        assert one == other, f"code cell {number} printed something else in the second run"
    committed = nbformat.read(notebooks.built(source), as_version=4)
    fresh = run.here
    stale = _stale(_printed(committed), _printed(fresh), _exact(fresh), DRAWN_ALIKE)
    assert not stale, "run `make notebooks`"
    assert not run.left, "the notebook left files in the folder it was run from"


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_its_folded_solutions_are_right(source, executed):
    cells = executed(source).solutions
    assert 3 <= len(cells) == len(solutions(notebooks.read_source(source))) <= 5
    for number, cell in enumerate(cells, start=1):
        words = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        assert words.startswith("Right."), f"solution {number}: {words or cell.outputs}"


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_a_slider_comes_back_when_its_cell_is_run_again(source, executed):
    """At the end of the lesson, when other cells have used the same names for other things."""
    run = executed(source)
    assert run.again
    for index, cell in run.again.items():
        before = _showing(run.elsewhere.cells[index])
        assert _showing(cell) == before, f"cell {index}: {cell.outputs[-1:]}"


def _showing(cell) -> list:
    return [o.data for o in cell.outputs if "image/png" in o.get("data", {})]


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_says_nothing_on_stderr(source, executed):
    """No warning either: those of our own calls are errors in the second run, see `tests/warned.py`."""
    run = executed(source)
    cells = [*run.here.cells, *run.elsewhere.cells, *run.solutions, *run.again.values()]
    said = [
        output.text
        for cell in cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr"
    ]
    assert not said


@pytest.mark.parametrize(
    "code, complains",
    [
        ("import warnings; warnings.warn('old', DeprecationWarning)", "DeprecationWarning.*old"),
        ("import numpy as np; np.log(np.zeros(1))", "RuntimeWarning.*divide by zero"),
        (
            "import warnings; warnings.warn_explicit('x', UserWarning, 'f', 1, 'zmq.eventloop')",
            None,
        ),
    ],
)
def test_a_warning_of_our_own_calls_is_an_error(code, complains, tmp_path):
    around = walls(tmp_path, read_only=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    running = notebooks.execute_async(notebook, tmp_path, around.environment)
    if complains is None:
        asyncio.run(running)
    else:
        with pytest.raises(CellExecutionError, match=complains):
            asyncio.run(running)


def test_the_network_is_really_blocked(tmp_path, offline):
    code = "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    with pytest.raises(CellExecutionError, match="the network is blocked"):
        asyncio.run(notebooks.execute_async(notebook, tmp_path, offline))


def test_stale_outputs_are_seen():
    committed = nbformat.read(notebooks.built(SOURCES[0]), as_version=4)
    fresh = nbformat.read(notebooks.built(SOURCES[0]), as_version=4)
    assert not _stale(_printed(committed), _printed(fresh), 99)
    outputs = [o for c in fresh.cells for o in c.get("outputs", [])]
    text = next(o for o in outputs if o.output_type == "stream")
    text.text = text.text.replace("1.2247", "1.3347")
    picture = next(o for o in outputs if "image/png" in o.get("data", {}))
    flipped = io.BytesIO()
    Image.fromarray(_pixels(picture.data["image/png"]).astype(np.uint8)[::-1]).save(flipped, "png")
    picture.data["image/png"] = base64.b64encode(flipped.getvalue()).decode()
    assert not _stale(_printed(committed), _printed(fresh), 0)
    found = _stale(_printed(committed), _printed(fresh), 99)
    assert len(found) == 2 and "prints" in found[0] and "another picture" in found[1]


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_keeps_the_shape_of_a_lesson(source):
    notebook = notebooks.read_source(source)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    text = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    lines = [sum(bool(line.strip()) for line in cell.source.splitlines()) for cell in code]
    words = sum(len(re.findall(r"[\w$\\]+", cell)) for cell in text)
    assert len(code) <= 40 and max(lines) <= 20 and statistics.median(lines) <= 5
    assert 1500 <= words <= 3200
    longest = max((line for cell in code for line in cell.source.splitlines()), key=len)
    assert len(longest) <= 100, f"too long for a narrow page: {longest}"
    assert text[0].startswith(f"# {source.stem[:2]} ")
    whole = "\n".join(text)
    beats = re.findall(r"^## \d\. ", whole, re.MULTILINE)
    assert 3 <= len(beats) <= 8
    assert len(re.findall(r"\*\*Predict\.?\*\*", whole)) >= len(beats)
    for heading in (
        "## Where the story is only partly true",
        "## Exercises",
        "## Quiz",
        "## Summary",
    ):
        assert heading in whole, f"{heading} is missing"
    assert "References" in whole and "<details>" in whole
    assert whole.count("<details>") == whole.count("</details>")


@pytest.mark.parametrize(
    "spoil,says",
    [
        (lambda nb: nb.metadata.update(widgets={}), "widget state"),
        (lambda nb: nb.cells[1].metadata.update(execution={"iopub": 1}), "execution times"),
        (lambda nb: nb.cells[0].update(source="# other"), "differs from the source"),
        (lambda nb: nb.cells.pop(), "cells, but the source has"),
        (lambda nb: [c.update(outputs=[]) for c in nb.cells if "outputs" in c], "no picture"),
        (lambda nb: nb.cells[1].update(execution_count=7), "run once each, in order"),
        (
            lambda nb: nb.cells[1].outputs.append(
                nbformat.v4.new_output("stream", text="see /home/somebody/x")
            ),
            "a path of one machine",
        ),
        (
            lambda nb: nb.cells[1].outputs.append(
                nbformat.v4.new_output(
                    "display_data", data={"application/vnd.jupyter.widget-view+json": {}}
                )
            ),
            "a widget view",
        ),
    ],
)
def test_the_check_sees_what_must_not_be_committed(spoil, says, tmp_path, monkeypatch):
    notebook = nbformat.read(notebooks.built(SOURCES[0]), as_version=4)
    spoil(notebook)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    nbformat.write(notebook, notebooks.built(SOURCES[0]))
    assert any(says in line for line in notebooks.differences(SOURCES[0]))


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_every_picture_shows_without_a_kernel(source):
    """As GitHub would: converted to HTML from what is committed, nothing run."""
    from nbconvert import HTMLExporter

    notebook = nbformat.read(notebooks.built(source), as_version=4)
    pictures = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert len(re.findall(r"<img[^>]*data:image/png;base64,", page)) == len(pictures) >= 1
    assert "interactive(children" not in page and "Error displaying widget" not in page
    for picture in pictures:
        assert picture.metadata["image/png"]["alt"].strip(), "a picture without words for it"
    explored = len(
        re.findall(r"^(?:explore|film)\(", source.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert page.count("Run this cell for the slider") >= explored
