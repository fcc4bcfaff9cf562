"""Which slide each cell of a lesson belongs to, by rule: the `slideshow` metadata of built notebooks.

A beat's heading begins a slide; its pictures, numbers and answers are slides under it. A deck leaves out
what only a reader needs: setup, assertions, solutions. Where the rule is wrong a source says otherwise:
`# %% slideshow={"slide_type": "skip"}`.
"""

import ast
import re

# So many lines of code fit on a slide beside what they print, large enough to be read from the back row.
MOST_LINES = 14
MOST_CONSTANTS = 2  # statements beside the functions of a cell that only defines
SHORT_TEXT = 400  # letters of a text cell that shares its slide with the numbers that follow


def slide_types(cells) -> list[str]:
    """One type for each cell, as Jupyter names them: slide, subslide, fragment, skip, or - (goes on)."""
    found = []
    kinds = [kind_of(cell) for cell in cells]
    heading, before, room = "", None, 0
    for number, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
        after = next((k for k in kinds[number + 1 :] if k != "unseen"), None)
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            heading = cell.source.splitlines()[0]
        lines = len(cell.source.splitlines())
        given = cell.metadata.get("slideshow", {}).get("slide_type")
        if given is not None:
            slide = given
        elif kind == "unseen" or (heading == "## Exercises" and cell.cell_type == "code"):
            slide = "skip"
        elif kind == "heading":
            slide = "slide"
        elif (
            kind == "exercise"
            or (kind == "answer" and before == "claim")
            or (kind in ("code", "claim") and before == "short text")
            or (kind == "code" and before == "code" and lines <= room)
            or (kind == "short text" and before == "code" and after not in ("code", "claim"))
        ):
            slide = "-"
        else:
            slide = "subslide"
        found.append(slide)
        if slide != "skip":
            room = (room if slide == "-" else MOST_LINES) - lines
            before = kind
    return found


def kind_of(cell) -> str:
    """What a cell is to a lecture: heading, exercise, answer, text, short text, picture, claim, code, or
    unseen."""
    tags = cell.metadata.get("tags", [])
    if {"setup", "parameters", "solution"} & set(tags):
        return "unseen"
    if cell.cell_type != "code":
        if re.match(r"##? ", cell.source):
            return "heading"
        if cell.source.startswith("**Exercise"):
            return "exercise"
        if cell.source.startswith("<details>"):
            return "answer"
        is_short = len(cell.source) <= SHORT_TEXT and not re.match(r"\||- ", cell.source)
        is_short = is_short and "**Predict" not in cell.source
        return "short text" if is_short else "text"
    if any(tag.startswith("claim-") for tag in tags):
        return "claim"
    statements = ast.parse(cell.source).body
    last = statements[-1]
    shows = re.search(r"\b(print|display)\(", cell.source) or (
        isinstance(last, ast.Expr) and "assert_close" not in ast.unparse(last)
    )
    if re.search(r"\b(explore|film|Live)\(", cell.source):
        return "picture"
    if shows and re.match(r"\w*(figures|diagrams)\.", ast.unparse(last)):
        return "picture"
    if shows:
        return "code"
    others = [s for s in statements if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    is_definition = len(others) < len(statements) and len(others) <= MOST_CONSTANTS
    asserts = any(isinstance(node, ast.Assert) for s in others for node in ast.walk(s))
    is_short = len(cell.source.splitlines()) <= MOST_LINES
    return "code" if is_definition and is_short and not asserts else "unseen"
