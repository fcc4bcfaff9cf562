"""Build notebooks/NN_name.ipynb from notebooks/source/NN_name.py, and check that they still agree.

    python -m tools.notebooks              build all, then verdicts.json and the README's table of verdicts
    python -m tools.notebooks 01 03        build these
    python -m tools.notebooks --check      say where a notebook is not what its source builds; exit 1
    python -m tools.notebooks --metadata   write tags and slide types anew, run nothing

A build runs every cell in a fresh kernel. Built twice, a file is the same bytes, save the outputs of cells
tagged `measured`, which print times.
"""

import argparse
import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from helpers.claims import MIME as VERDICT_MIME
from helpers.claims import STATEMENTS
from tools.saved import findings
from tools.slideshow import slide_types

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SOURCE = NOTEBOOKS / "source"
VERDICTS = NOTEBOOKS / "verdicts.json"
LARGEST = 500_000  # bytes; GitHub shows larger notebooks slowly or not at all
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def sources() -> list[Path]:
    return sorted(SOURCE.glob("[0-9][0-9]_*.py"))


def built(source: Path) -> Path:
    return NOTEBOOKS / f"{source.stem}.ipynb"


def read_source(source: Path) -> nbformat.NotebookNode:
    """The notebook that a source file describes, without outputs, with ids that depend on it alone."""
    notebook = jupytext.read(source, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        cell.id = f"{number:03d}-{digest}"
    for cell, slide in zip(notebook.cells, slide_types(notebook.cells), strict=True):
        tags = cell.metadata.get("tags")
        kept = {"slideshow": {"slide_type": slide}, **({"tags": tags} if tags else {})}
        cell.metadata = nbformat.from_dict(kept)
    return notebook


def execute(notebook: nbformat.NotebookNode) -> None:
    """`execute_async`, for a caller that has nothing else to do."""
    asyncio.run(execute_async(notebook))


async def execute_async(
    notebook: nbformat.NotebookNode, folder: Path = NOTEBOOKS, environment: dict | None = None
) -> None:
    """Run all cells in a fresh kernel started in `folder`; raises where a cell does.

    `environment` is added to this process's own for the kernel.
    """
    fixed = {
        "HELPERS_STILL": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        # No folder: lesson 08 is built on its stand-ins, also where somebody has fetched the weights.
        "ADARMS_CACHE": str(ROOT / "build" / "no-weights"),
    }
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # how prints are cut into outputs depends on time
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    await client.async_execute(env={**os.environ, **fixed, **(environment or {})})
    notebook.metadata = nbformat.from_dict(METADATA)


def problems(notebook: nbformat.NotebookNode) -> list[str]:
    """What must not be committed in a notebook: one line for each finding."""
    found = findings(notebook)
    text = json.dumps(notebook)
    if len(text) > LARGEST:
        found.append(f"{len(text)} bytes, more than {LARGEST}")
    for number, cell in enumerate(notebook.cells):
        where = f"cell {number}"
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"{where}: an error, {output.ename}: {output.evalue}")
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                found.append(f"{where}: a widget view, which nobody can show without its kernel")
            if output.get("name") == "stderr":
                found.append(f"{where}: text on stderr: {output.text.strip().splitlines()[-1]}")
    return found


def differences(source: Path) -> list[str]:
    """Where a committed notebook is not what its source builds: one line for each finding."""
    if not built(source).is_file():
        return [f"{built(source).name} is missing: run `make notebooks`"]
    notebook = nbformat.read(built(source), as_version=4)
    wanted = read_source(source)
    if len(notebook.cells) != len(wanted.cells):
        return [f"{len(notebook.cells)} cells, but the source has {len(wanted.cells)}"]
    found = []
    for number, (cell, other) in enumerate(zip(notebook.cells, wanted.cells, strict=True)):
        same = (cell.cell_type, cell.source, cell.id, cell.metadata) == (
            other.cell_type,
            other.source,
            other.id,
            other.metadata,
        )
        if not same:
            found.append(f"cell {number} differs from the source")
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)):
        found.append("its cells were not run once each, in order, by the build")
    if not any(
        "image/png" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", [])
    ):
        found.append("it has no picture among its outputs")
    return found + problems(notebook)


def verdicts_of(notebook: nbformat.NotebookNode, lesson: str) -> dict[str, dict]:
    """The verdicts among a notebook's outputs, by row."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if entry := output.get("data", {}).get(VERDICT_MIME):
                row = str(entry["row"])
                found.setdefault(row, []).append(
                    {"lesson": lesson, "verdict": entry["verdict"], "value": entry["value"]}
                )
    return found


def collect_verdicts() -> dict[str, list[dict]]:
    """All verdicts of all built notebooks: row to the lessons' findings, in order."""
    rows: dict[str, list[dict]] = {}
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")):
        for row, found in verdicts_of(nbformat.read(path, as_version=4), path.stem).items():
            rows.setdefault(row, []).extend(found)
    return {row: rows[row] for row in sorted(rows, key=int)}


def verdict_table(rows: dict[str, list[dict]]) -> str:
    """The README's table of statements and verdicts."""
    lines = ["| # | the article says | this collection finds | decided in |", "|---|---|---|---|"]
    for row, found in rows.items():
        for entry in found:
            lesson = f"[{entry['lesson'][:2]}](notebooks/{entry['lesson']}.ipynb)"
            words = f"**{entry['verdict']}**: {entry['value']}".replace("|", "\\|")
            lines.append(f"| {row} | {STATEMENTS[int(row)]} | {words} | {lesson} |")
    return "\n".join(lines)


def with_table(readme: str, table: str) -> str:
    """README's text with the part between the two verdict marks replaced by the table."""
    begin, end = "<!-- verdicts: made by `make notebooks` -->", "<!-- end of verdicts -->"
    head, rest = readme.split(begin)
    return f"{head}{begin}\n{table}\n{end}{rest.split(end)[1]}"


def write_metadata(source: Path) -> None:
    """Bring the metadata of a built notebook up to date; its cells must be the source's."""
    notebook, wanted = nbformat.read(built(source), as_version=4), read_source(source)
    if [cell.source for cell in notebook.cells] != [cell.source for cell in wanted.cells]:
        raise SystemExit(f"{source.name} has other cells than its notebook: build it")
    for cell, other in zip(notebook.cells, wanted.cells, strict=True):
        cell.metadata = other.metadata
    nbformat.write(notebook, built(source))


def build(source: Path) -> None:
    notebook = read_source(source)
    execute(notebook)
    found = problems(notebook)
    if found:
        raise SystemExit(f"{source.name} was not written:\n  " + "\n  ".join(found))
    temporary = built(source).with_suffix(".tmp")
    nbformat.validate(notebook)
    nbformat.write(notebook, temporary)
    temporary.replace(built(source))
    print(f"built {built(source).name}, {built(source).stat().st_size // 1000} kB", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lessons", nargs="*", help="two digits each; all where none is given")
    parser.add_argument("--check", action="store_true", help="compare, build nothing")
    parser.add_argument("--metadata", action="store_true", help="write it anew, run nothing")
    options = parser.parse_args()
    chosen = [s for s in sources() if not options.lessons or s.name[:2] in options.lessons]
    if len(chosen) < len(options.lessons):
        parser.error(f"there are lessons {', '.join(s.name[:2] for s in sources())}")
    if options.check:
        bad = {source.stem: differences(source) for source in chosen}
        for name, lines in bad.items():
            for line in lines:
                print(f"{name}: {line}")
        return int(any(bad.values()))
    if options.metadata:
        for source in chosen:
            write_metadata(source)
        return 0
    for source in chosen:
        build(source)
        # After each: a later lesson reads what the earlier ones found.
        rows = collect_verdicts()
        VERDICTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(
        with_table(readme.read_text(encoding="utf-8"), verdict_table(rows)), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
