"""What the article says beside what this collection found, as one table."""

import json
from dataclasses import dataclass
from pathlib import Path

from helpers.claims import STATEMENTS, Verdict
from helpers.validation import require_kind, require_list, require_path

VERDICTS = Path(__file__).resolve().parent.parent / "notebooks" / "verdicts.json"


@dataclass(frozen=True)
class Table:
    """Rows (number, statement, verdict, value, lesson); shown as a table, or as lines of text."""

    rows: tuple

    @property
    def as_they_stand(self) -> list[int]:
        """The statements that hold without a condition, in every lesson that looked at them."""
        doubted = {number for number, _, verdict, *_ in self.rows if verdict != "holds"}
        return [n for n in dict.fromkeys(row[0] for row in self.rows) if n not in doubted]

    def _repr_markdown_(self):
        lines = ["| # | what we believed | what we found | lesson |", "|:-:|:---|:---|:-:|"]
        for number, statement, verdict, value, lesson in self.rows:
            found = f"**{verdict}**: {value}" if value else f"**{verdict}**"
            cells = [cell.replace("|", "\\|") for cell in (statement, found)]
            lines.append(f"| {number} | {cells[0]} | {cells[1]} | {lesson} |")
        return "\n".join(lines)

    def __repr__(self):
        return "\n".join(f"{number}. {words} -> {found}" for number, words, found, *_ in self.rows)


def believed_and_found(here=(), lesson="", path=VERDICTS):
    """Every statement with its verdicts: the earlier lessons' as built, this lesson's as just computed.

    Args:
        here: the `helpers.claims.Verdict`s of the running notebook, which is lesson `lesson` ("07").
        path: the file that building the notebooks writes. Lessons from `lesson` on are not read from it, so
            that the table does not depend on an earlier build of itself.

    Raises:
        FileNotFoundError: no such file.
    """
    require_list("here", here, lambda at, one: require_kind(at, one, Verdict), least=0)
    if not isinstance(lesson, str):
        raise TypeError(f'lesson must be a string such as "07", got {type(lesson).__name__}')
    require_path("path", path)
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is missing in {path.parent.name}/: run `make notebooks`"
        )
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for number, statement in STATEMENTS.items():
        found = [
            (entry["verdict"], entry["value"], entry["lesson"][:2])
            for entry in kept.get(str(number), [])
            if not lesson or entry["lesson"][:2] < lesson
        ]
        found += [(v.verdict, v.value, lesson) for v in here if v.row == number]
        for entry in found or [("not decided", "", "")]:
            rows.append((number, statement, *entry))
    return Table(tuple(rows))
