"""Make dist/slides/NN_name.html, one self-contained reveal.js deck for each lesson.

    python -m tools.slides          with films in place of live sliders: runs every lesson (minutes)
    python -m tools.slides --run 04 runs this one alone; the others keep the pictures that ship

nbconvert makes the deck from the `slideshow` metadata; `tools.slideshow` says how cells get it.
"""

import argparse
import re
import sys

import nbformat
from nbconvert import SlidesExporter

from tools import notebooks, pages
from tools.slideshow import MOST_LINES, kind_of

SLIDES = pages.DIST / "slides"
MOST_ROWS = 5  # of a table that is dealt onto several slides
DECK = pages.TEMPLATES / "deck"


def for_a_deck(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The lesson without the code that a lecture does not need (of pictures, of verdicts, long code), long
    tables dealt onto several slides."""
    kept = nbformat.from_dict(notebook)
    cells = []
    for cell in kept.cells:
        if cell.cell_type == "markdown":
            cell.source = pages.without_web_images(cell.source)
            cells += _questions(cell)
            continue
        cell.outputs = [o for o in cell.outputs if not _how_to_run(o)]
        lines = len(cell.source.splitlines())
        printed = sum(o.get("text", "").count("\n") for o in cell.outputs)
        long = lines > MOST_LINES or lines + printed > 2 * MOST_LINES - 4
        if cell.outputs and (kind_of(cell) in ("picture", "claim") or long):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-code"]
        cells += _dealt(cell)
    kept.cells = cells
    return kept


def _how_to_run(output) -> bool:
    return output.get("data", {}).get("text/plain", "").startswith("Run this cell for the slider")


def _questions(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The cell, or, where it is a quiz, one cell a question: they begin with **1.**, **2.**"""
    first, *others = re.split(r"^(?=\*\*\d\.\*\*)", cell.source, flags=re.MULTILINE)
    if not others:
        return [cell]
    parts = [first + others[0], *others[1:]]
    made = [nbformat.from_dict(cell) for _ in parts]
    for number, (part, text) in enumerate(zip(made, parts, strict=True)):
        part.source = text
        if number:
            part.id = f"{cell.id}-{number}"
            part.metadata["slideshow"] = {"slide_type": "subslide"}
    return made


def _dealt(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The cell, or, where its result is a long table, one cell for every few rows of it."""
    if len(cell.outputs) != 1:
        return [cell]
    head, *rows = cell.outputs[0].get("data", {}).get("text/markdown", "").strip().split("\n")
    if not head.startswith("|") or len(rows) <= 2 * MOST_ROWS:
        return [cell]
    parts = []
    for first in range(1, len(rows), MOST_ROWS):
        part = nbformat.from_dict(cell)
        part.id = f"{cell.id}-{first}"
        part.metadata = {"slideshow": {"slide_type": "subslide"}, "tags": ["hide-code"]}
        shown = [head, rows[0], *rows[first : first + MOST_ROWS]]
        part.outputs[0].data["text/markdown"] = "\n".join(shown)
        parts.append(part)
    return parts


def deck(notebook: nbformat.NotebookNode) -> str:
    """The deck of one lesson as a page that needs no other file."""
    title, _ = pages.title_and_question(notebook)
    page, _ = pages.exporter("deck", SlidesExporter).from_notebook_node(
        for_a_deck(notebook), resources={"page": {"title": title}}
    )
    texts = {
        "reveal.css": pages.web_file("reveal.js/dist/reveal.css"),
        "style.css": DECK / "style.css",
        "mathjax.js": pages.web_file("mathjax/es5/tex-svg-full.js"),
        "reveal.js": pages.web_file("reveal.js/dist/reveal.js"),
        "deck.js": DECK / "deck.js",
    }
    return pages.inlined(
        pages.marked(page), {name: path.read_text("utf-8") for name, path in texts.items()}
    )


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    pages.add_options(parser, SLIDES)
    options = parser.parse_args(arguments)
    try:
        pages.web_file("reveal.js/package.json")
    except pages.NoPackages as error:
        print(error, file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    read = pages.reader(options.run)
    for source in notebooks.sources():
        path = options.folder / f"{source.stem}.html"
        path.write_text(deck(read(source)), encoding="utf-8")
        print(f"made {path.name}, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
