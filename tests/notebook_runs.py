"""Each notebook executed for the tests, once in a session: `executed` in `tests/conftest.py` keeps it.

It is run twice at the same time, in fresh kernels: once where it lies, once from an empty folder with the
network blocked, no leave to write into the project, and other hashes. In the first kernel follow a few of
its cells again, drawn at random. In the second follow the folded solutions of its exercises, then every
cell with a slider once more, as the lecturer's guide says to do when a picture has gone wrong.
"""

import asyncio
import random
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from tests import guide
from tests.walls import BLOCKER, walls
from tools import notebooks

SOURCES = notebooks.sources()
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
SLIDERS = re.compile(r"^(?:explore|film)\(", re.MULTILINE)


@dataclass(frozen=True)
class Executed:
    """What two runs of one notebook gave.

    Attributes:
        here, elsewhere: the two notebooks with their outputs.
        solutions: the cells of the folded solutions, run after `elsewhere`; where one failed, its error.
        again: by its place in `elsewhere`, each cell with a slider or film, run once more after those.
        resets: for each reset of the lecturer's guide three cells, run after those: what breaks something,
            the reset, and what needs it.
        rerun: pairs of a place in `here` and that cell run once more after all others, in this order.
        left: what the second run left in the folder it was run from.
        strayed: what the second run wrote elsewhere than it may, as `walls.Walls.strayed` says it.
    """

    here: nbformat.NotebookNode
    elsewhere: nbformat.NotebookNode
    solutions: list
    again: dict
    resets: list[tuple]
    rerun: list
    left: list[Path]
    strayed: list[str]


def said_otherwise(one: str, other: str, last_digit: bool = False) -> bool:
    """Whether two texts differ by more than rounding, as another machine rounds otherwise.

    Numbers may differ by a hundredth, or by 1e-6; with `last_digit` a number with a decimal point or an
    exponent also by one unit of its last digit. All else must be equal.
    """
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return True
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return any(
        abs(float(a) - float(b)) > max(1e-2 * abs(float(a)), 1e-6, last_digit * _unit(a))
        for a, b in pairs
    )


def _unit(number: str) -> float:
    """One unit of the last digit shown; 0 for a whole number."""
    digits, _, exponent = number.partition("e")
    if digits == number and "." not in number:
        return 0.0
    decimals = len(digits.partition(".")[2])
    return 1.000001 * 10.0 ** (int(exponent or 0) - decimals)


def solutions(notebook, whole=False) -> list[str]:
    """The code of the folded solutions, in order; with `whole`, their words too."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and "solution" in cell.metadata.get("tags", []):
            (code,) = re.findall(r"```python\n(.*?)```", cell.source, re.DOTALL)
            assert cell.source.startswith("<details>"), "a solution must be folded"
            found.append(cell.source if whole else code)
    return found


def offline(folder: Path) -> dict[str, str]:
    """Environment of a kernel that cannot reach the network; `folder` holds its startup file."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-block.py").write_text(BLOCKER)
    return {"IPYTHONDIR": str(folder)}


def run_twice(source: Path, folder: Path) -> Executed:
    """Run the notebook of `source` here and in `folder`, an empty one, and what follows in each kernel."""
    here, elsewhere = notebooks.read_source(source), notebooks.read_source(source)
    end = len(elsewhere.cells)
    solved = [_added(code) for code in solutions(elsewhere)]
    again = {
        index: _added(cell.source)
        for index, cell in enumerate(elsewhere.cells)
        if SLIDERS.search(cell.source) and cell.cell_type == "code" and not _trains(cell)
    }
    resets = [tuple(map(_added, codes)) for codes in guide.to_try(source)]
    elsewhere.cells += [*solved, *again.values(), *(cell for cells in resets for cell in cells)]
    rerun = [(index, _added(here.cells[index].source)) for index in _drawn(here, source.stem)]
    here.cells += [cell for _, cell in rerun]
    around, place = walls(_made(folder / "walls"), read_only=True), _made(folder / "place")

    async def both():
        await asyncio.gather(
            notebooks.execute_async(here),
            notebooks.execute_async(
                elsewhere, place, {**around.environment, "PYTHONHASHSEED": "12345"}
            ),
        )

    asyncio.run(both())
    del elsewhere.cells[end:], here.cells[end:]
    left = list(place.iterdir())
    return Executed(here, elsewhere, solved, again, resets, rerun, left, around.strayed())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _drawn(notebook, seed: str, count: int = 8) -> list[int]:
    """Places of `count` code cells, drawn with this seed; none that trains, which would take long."""
    places = [
        index
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and not {"trained", "measured"} & set(_tags(cell))
    ]
    return random.Random(seed).choices(places, k=count)


def _trains(cell) -> bool:
    return "trained" in _tags(cell)


def _tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def _added(code: str):
    # The tag lets a failing cell keep its error and the cells after it run.
    return nbformat.v4.new_code_cell(code, metadata={"tags": ["raises-exception"]})
