"""One file for each lesson that runs alone: `make colab` writes them to dist/colab/.

    python -m tools.colab           all lessons
    python -m tools.colab 01 07     these

Such a file is the built notebook and, in a folded cell at its top, the helpers and what else the lesson
reads: checkpoints, results of long runs, verdicts. It is for a course page, or to be uploaded to Colab.
"""

import argparse
import ast
import base64
import io
import lzma
import re
import sys
import zipfile
from pathlib import Path

import nbformat

from tools import notebooks
from tools.notebooks import ROOT

# Letters a line: few lines where a front end does not fold the cell, and none too long to be drawn.
LINE = 20_000
OUT = ROOT / "dist" / "colab"
# What a module reads beside its own folder, if a lesson's cells import it.
READ_BY = {
    "race": ("experiments/results/race/*.json",),
    "comparison": tuple(
        f"experiments/results/{n}/*.json" for n in ("comparison", "inside", "ablations")
    ),
    "findings": ("notebooks/verdicts.json",),
}

UNPACK = '''\
# @title What this notebook needs beside itself, packed: run this cell first
import base64, io, lzma, sys, tempfile, zipfile

PACKED = """
{packed}
"""
folder = tempfile.mkdtemp(prefix="adarms-notebooks-")
files = io.BytesIO(lzma.decompress(base64.b64decode(PACKED)))
zipfile.ZipFile(files).extractall(folder)
sys.path.insert(0, folder)
del PACKED, files'''
# Colab folds a cell by the first, JupyterLab and Notebook 7 by the second.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["packed"]}


def imported(code: str) -> set[str]:
    """The modules of `helpers` that a lesson's code imports, by their names in that folder."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module == "helpers":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("helpers."):
            found.add(node.module.split(".")[1])
    return found


def needed(code: str) -> list[Path]:
    """Every file that a lesson with this code needs, relative to the repository.

    All of the helpers' code is among them, whose size is that of one picture; of the checkpoints
    only those that the code names, in quotes or up to a `{`.
    """
    paths = [p for p in (ROOT / "helpers").rglob("*") if p.suffix in {".py", ".json"}]
    paths = [p for p in paths if ".ipynb_checkpoints" not in p.parts]
    for module in imported(code) & READ_BY.keys():
        for pattern in READ_BY[module]:
            paths += ROOT.glob(pattern)
    for path in (ROOT / "helpers" / "checkpoints").glob("*.safetensors"):
        family = path.stem.split("_")[0] + "_{"
        if re.search(rf'"{path.stem}[".]', code) or ("_" in path.stem and family in code):
            paths.append(path)
    return sorted(path.relative_to(ROOT) for path in paths)


def pack(paths: list[Path]) -> str:
    """The files as text: a zip archive, compressed as a whole. The same files give the same text."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in paths:
            entry = zipfile.ZipInfo(path.as_posix())  # dated 1980, whenever the file was written
            entry.external_attr = 0o644 << 16
            file.writestr(entry, (ROOT / path).read_bytes())
    packed = base64.b64encode(lzma.compress(archive.getvalue(), preset=9)).decode()
    return "\n".join(packed[i : i + LINE] for i in range(0, len(packed), LINE))


def single_file(source: Path) -> nbformat.NotebookNode:
    """The built notebook of a lesson with the cell that carries what it needs."""
    notebook = nbformat.read(notebooks.built(source), as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    cell = nbformat.v4.new_code_cell(UNPACK.format(packed=pack(needed(code))))
    cell.id, cell.metadata = "packed", nbformat.from_dict(FOLDED)
    notebook.cells.insert(1, cell)
    return notebook


def write(source: Path, folder: Path = OUT) -> Path:
    """Write the single file of one lesson; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{source.stem}.ipynb"
    notebook = single_file(source)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lessons", nargs="*", help="two digits each; all where none is given")
    options = parser.parse_args()
    chosen = [
        s for s in notebooks.sources() if s.name[:2] in options.lessons or not options.lessons
    ]
    if len(chosen) < len(options.lessons):
        parser.error(f"there are lessons {', '.join(s.name[:2] for s in notebooks.sources())}")
    for source in chosen:
        path = write(source)
        print(f"{path.relative_to(ROOT)}, {path.stat().st_size // 1000} kB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
