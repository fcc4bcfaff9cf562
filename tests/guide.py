"""Reads docs/lecturing.md, the lecturer's guide, and what of a lesson it must agree with."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from tools import notebooks

GUIDE = notebooks.ROOT / "docs" / "lecturing.md"


# For each reset of a lesson, in the order of the guide: what happened, and what must go well after it:
# an assertion, or the cell that holds these words, whose picture must be as it was.
TRIED = {
    "01": [("x = torch.zeros(3, dtype=torch.float64)", "figures.NormSphere(")],
    "02": [("first = layers[1]", "figures.SpreadToOneHot(")],
    "03": [
        (
            "runs = [Run(v, RaceConfig(depth=2, batch=4, steps=6)) for v in ('pre', 'post')]\n"
            "[run.step() for run in runs]",
            "assert [len(run.result['loss']) for run in runs] == [6, 6]",
        )
    ],
    "04": [("training.step = STEPS - 5", "assert training.step == STEPS")],
    "05": [("TWO = TWO + 3", "figures.CrossingLines(")],
    "06": [
        ("run.step = STEPS - 5", "assert run.step == STEPS"),
        ("model = ActionExpert(ExpertConfig.REACH)", "rate = evaluation.success_rate("),
    ],
    "07": [("[weight.zero_() for weight in MODEL.parameters()]", "figures.ModulationMaps(")],
    "08": [("DOWNLOAD = True", "FILES = [")],
}


@dataclass(frozen=True)
class Beat:
    """One beat as the guide has it. `sliders`: of each picture the names of its sliders."""

    title: str
    minutes: int
    sliders: list[set[str]]
    questions: int


@dataclass(frozen=True)
class Section:
    """What the guide says of one lesson; `closing` in minutes, `resets` the code to run."""

    title: str
    minutes: int
    beats: list[Beat]
    closing: int
    text: str
    resets: list[str]


def sections() -> dict[str, Section]:
    """The guide's lessons by their numbers."""
    parts = GUIDE.read_text(encoding="utf-8").split("\n## ")
    return {part[:2]: _section(part) for part in parts if re.match(r"\d\d ", part)}


def _section(text) -> Section:
    title, minutes = re.match(r"(.+) \((\d+) minutes\)\n", text).groups()
    (closing,) = re.findall(r"^- \*\*Closing\*\* \((\d+) minutes\)$", text, re.MULTILINE)
    head = re.compile(r"^- \*\*(\d\. .+?)\*\* \((\d+) minutes\)$", re.MULTILINE)
    heads = list(head.finditer(text))
    ends = [match.start() for match in heads[1:]] + [text.index("- **Closing**")]
    beats = []
    for match, end in zip(heads, ends, strict=True):
        lines = re.findall(r"^  - (.+)$", text[match.end() : end], re.MULTILINE)
        sliders = [set(re.findall(r"`(\w+)`", line.split(":")[0])) for line in lines]
        asked = sum(bool(re.search(r'\*[^*]+\?\*.* "[^"]+"', line)) for line in lines)
        beats.append(Beat(match[1], int(match[2]), [s for s in sliders if s], asked))
    resets = re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
    return Section(title, int(minutes), beats, int(closing), text, resets)


def to_try(source: Path) -> list[tuple[str, str, str]]:
    """For each reset of a lesson: code that breaks something, the guide's reset, code that needs it."""
    lesson = source.name[:2]
    cells = [
        cell.source for cell in notebooks.read_source(source).cells if cell.cell_type == "code"
    ]
    found = []
    for (broken, words), reset in zip(TRIED[lesson], sections()[lesson].resets, strict=True):
        after = next((code for code in cells if words in code), words)
        found.append((broken, reset, after))
    return found


def beats_of(source: Path) -> dict[str, list[set[str]]]:
    """The beats of a lesson, each with the names of the sliders of each of its pictures."""
    found, beat = {}, None
    for cell in notebooks.read_source(source).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^## (.+)$", cell.source, re.MULTILINE):
                beat = heading if re.match(r"\d\. ", heading) else None
                if beat:
                    found[beat] = []
        elif beat:
            found[beat] += _sliders(ast.parse(cell.source))
    return found


def _sliders(tree) -> list[set[str]]:
    """Of each `explore` or `film` the names of its sliders, `**names` of a dict in the cell included."""
    dicts = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("explore", "film"):
            names = set()
            for keyword in node.keywords:
                names |= {keyword.arg} if keyword.arg else _keys(dicts[keyword.value.id])
            found.append(names - {"still", "frames", "seconds"})
    return found


def _keys(made) -> set[str]:
    if isinstance(made, ast.Dict):
        return {key.value for key in made.keys}
    return {keyword.arg for keyword in made.keywords}
