"""The files of `make colab` run with nothing beside them: an empty folder, no helpers, no network.

In `make test` lesson 01 is run so. `make test-stacks` runs all of them on the twin of Colab's stack: it
names their folder by SINGLE_FILES, since that Python lacks what builds them.
"""

import asyncio
import json
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
BUILT = (
    sorted(Path(os.environ["SINGLE_FILES"]).glob("*.ipynb")) if "SINGLE_FILES" in os.environ else []
)

# Runs in the kernel first. It must reach neither the network nor this repository; only the environment
# that it runs in may lie there.
ALONE = f"""
import os, sys
root, environments = {str(ROOT)!r} + os.sep, {str(ROOT)!r} + os.sep + ".venv"
sys.path[:] = [p for p in sys.path if not os.path.isfile(os.path.join(p, "helpers", "claims.py"))]
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        raise OSError(f"the network is blocked in this test: {{event}}")
    if event == "open" and isinstance(arguments[0], str):
        if arguments[0].startswith(root) and not arguments[0].startswith(environments):
            raise OSError(f"a single file reads {{arguments[0]}}")
sys.addaudithook(refuse)
"""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """An empty folder, and an environment whose kernels see neither the network nor the repository."""
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-alone.py").write_text(ALONE)
    for name, value in {
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "TMPDIR": str(tmp_path / "temporary"),
        "PYTHONPATH": "",
        "HELPERS_STILL": "1",
        "OMP_NUM_THREADS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "temporary").mkdir()
    folder = tmp_path / "content"
    folder.mkdir()
    return folder


def _execute(notebook, folder):
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    asyncio.run(client.async_execute())


def _check(path, folder):
    notebook = nbformat.read(path, as_version=4)
    asked = "import helpers.claims; print(helpers.__file__)"
    notebook.cells.append(nbformat.v4.new_code_cell(asked))
    _execute(notebook, folder)
    assert "adarms-notebooks-" in notebook.cells[-1].outputs[0].text
    assert any(
        "image/png" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", [])
    )
    assert not list(folder.iterdir()), "it left files in the folder it was run from"


@pytest.mark.skipif(bool(BUILT), reason="all of them are run instead")
def test_a_single_file_runs_alone(tmp_path, alone):
    from tools import colab, notebooks

    _check(colab.write(notebooks.sources()[0], tmp_path), alone)


@pytest.mark.skipif(not BUILT, reason="SINGLE_FILES names no folder: make test-stacks does")
@pytest.mark.parametrize("path", BUILT, ids=[path.stem for path in BUILT])
def test_each_single_file_runs_alone_on_this_stack(path, alone):
    _check(path, alone)


@pytest.mark.skipif(bool(BUILT), reason="needs what builds them")
def test_what_a_lesson_needs_is_carried_and_no_more(tmp_path):
    from tools import colab, notebooks

    carried = {}
    for source in notebooks.sources():
        notebook = nbformat.read(notebooks.built(source), as_version=4)
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        carried[source.stem[:2]] = {path.as_posix() for path in colab.needed(code)}
    assert all("helpers/__init__.py" in paths for paths in carried.values())
    assert not any(".safetensors" in path or "results" in path for path in carried["01"])
    assert "helpers/openpi_numbers.json" in carried["04"]
    assert "experiments/results/race/post_seed0.json" in carried["03"]
    assert "helpers/checkpoints/inside_none.safetensors" in carried["07"] - carried["06"]
    assert "notebooks/verdicts.json" in carried["07"]


@pytest.mark.skipif(bool(BUILT), reason="needs what builds them")
def test_a_single_file_is_small_folded_clean_and_the_same_when_made_again(tmp_path):
    from tools import colab, notebooks, saved

    source = notebooks.sources()[0]
    path = colab.write(source, tmp_path)
    first = path.read_bytes()
    assert colab.write(source, tmp_path).read_bytes() == first and len(first) < 1_000_000
    assert not saved.findings(json.loads(first))
    notebook = nbformat.read(path, as_version=4)
    packed = [cell for cell in notebook.cells if "packed" in cell.metadata.get("tags", [])]
    (cell,) = packed
    assert cell.metadata.cellView == "form" and cell.metadata.jupyter.source_hidden
    assert cell.source.startswith("# @title ")
    committed = nbformat.read(notebooks.built(source), as_version=4)
    assert [c for c in notebook.cells if c is not cell] == committed.cells
