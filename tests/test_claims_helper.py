"""`helpers.claims`: four forms of verdict, and cells that carry the tags of what they decide."""

import json
import re

import nbformat
import pytest

from helpers.claims import MIME, STATEMENTS, verdict
from tools import notebooks


@pytest.mark.parametrize(
    "holds,words",
    [
        (True, "holds"),
        (False, "does not hold"),
        (None, "not resolved"),
        ("eps is small", "holds only when eps is small"),
    ],
)
def test_four_forms(holds, words):
    data = verdict(3, holds, "0.08 apart")._repr_mimebundle_()
    assert data[MIME] == {"row": 3, "verdict": words, "value": "0.08 apart"}
    assert words in data["text/plain"] and STATEMENTS[3] in data["text/plain"]


@pytest.mark.parametrize(
    "row,holds,value,error,says",
    [
        (0, True, "x", ValueError, "row"),
        (25, True, "x", ValueError, "row"),
        (1, 1.0, "x", TypeError, "holds"),
        (1, "  ", "x", ValueError, "holds"),
        (1, True, "", ValueError, "value"),
        (1, True, 3, TypeError, "value"),
    ],
)
def test_refuses(row, holds, value, error, says):
    with pytest.raises(error, match=says):
        verdict(row, holds, value)


def test_every_verdict_comes_from_a_cell_tagged_with_its_row():
    for source in notebooks.sources():
        notebook = nbformat.read(notebooks.built(source), as_version=4)
        for cell in notebook.cells:
            tagged = {
                int(m[1])
                for t in cell.metadata.get("tags", [])
                if (m := re.match(r"claim-(\d+)$", t))
            }
            said = {
                output.data[MIME]["row"]
                for output in cell.get("outputs", [])
                if MIME in output.get("data", {})
            }
            assert tagged == said, f"{source.stem}: tags {tagged}, verdicts {said}"


def test_verdicts_file_and_readme_are_made_from_the_notebooks():
    rows = notebooks.collect_verdicts()
    assert rows and rows == json.loads(notebooks.VERDICTS.read_text())
    readme = (notebooks.ROOT / "README.md").read_text()
    assert notebooks.with_table(readme, notebooks.verdict_table(rows)) == readme
