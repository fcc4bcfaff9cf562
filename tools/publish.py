"""Write where the collection is published into README and notebooks: `make publish REPO=owner/name`.

    python -m tools.publish owner/name [--branch main]

README's table of lessons and the head of every notebook get badges that open the lesson on Colab and on
Binder. The setup cell gets the repository's name, where before it asks Colab. Nothing is run: only text
cells and the setup cell change. Doing it again, or with another name, replaces what was written.
"""

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import quote

import nbformat

from tools import notebooks

REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?/[A-Za-z0-9._-]{1,100}")
COLAB = "https://colab.research.google.com"
BINDER = "https://mybinder.org"
BADGES = re.compile(r"\[!\[Open in Colab\]\S+ \[!\[Open on Binder\]\S+")


def check_repository(name: str) -> str:
    """The name as given, where GitHub could have a repository called so; ValueError otherwise."""
    part = name.partition("/")[2]
    if not REPOSITORY.fullmatch(name) or part in (".", "..") or part.endswith(".git"):
        raise ValueError(f"REPO must be owner/name, as in github.com/owner/name, got {name!r}")
    return name


def badges(lesson: str, repository: str, branch: str) -> str:
    """Markdown of the two badges of a lesson, which is the stem of its file."""
    path = f"notebooks/{lesson}.ipynb"
    colab = f"{COLAB}/github/{repository}/blob/{branch}/{path}"
    binder = f"{BINDER}/v2/gh/{repository}/{quote(branch, '')}?labpath={quote(path, '')}"
    return (
        f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({colab}) "
        f"[![Open on Binder]({BINDER}/badge_logo.svg)]({binder})"
    )


def published_source(text: str, lesson: str, repository: str, branch: str) -> str:
    """A lesson's source with badges under its title and the repository in its setup cell."""
    text = re.sub(rf"^# {BADGES.pattern}\n#\n", "", text, flags=re.MULTILINE)
    line = badges(lesson, repository, branch).replace("\\", r"\\")
    text, titles = re.subn(r"^(# # \d\d .*\n#\n)", rf"\1# {line}\n#\n", text, flags=re.MULTILINE)
    begin, setup, rest = re.split(r'(# %% tags=\["setup"\]\n.*?(?=\n# %%))', text, flags=re.DOTALL)
    setup, urls = re.subn(
        r"^(?:    asked = .*\n)?    url = .*\n",
        f'    url = "github.com/{repository}"\n',
        setup,
        flags=re.MULTILINE,
    )
    if (titles, urls) != (1, 1):
        raise ValueError(f"{lesson}: found {titles} titles and {urls} setup cells, not one of each")
    return begin + setup.replace(", re, sys", ", sys") + rest


def published_readme(text: str, lessons: list[str], repository: str, branch: str) -> str:
    """README's text with the badges in its table of lessons."""
    text = re.sub(rf" {BADGES.pattern}", "", text)
    for lesson in lessons:
        row = re.compile(rf"^(\| \[[^\]]+\]\(notebooks/{lesson}\.ipynb\))", re.MULTILINE)
        text, rows = row.subn(rf"\1 {badges(lesson, repository, branch)}", text)
        if rows != 1:
            raise ValueError(f"README.md has {rows} rows for lesson {lesson} in its table, not one")
    return text


def take_over(source: Path) -> None:
    """Bring a built notebook's text and setup cell up to its source, which has the same other cells."""
    built = notebooks.built(source)
    notebook, wanted = nbformat.read(built, as_version=4), notebooks.read_source(source)
    for cell, other in zip(notebook.cells, wanted.cells, strict=True):
        may_change = other.cell_type == "markdown" or "setup" in other.metadata.get("tags", [])
        if cell.cell_type != other.cell_type or (cell.source != other.source and not may_change):
            raise ValueError(f"{built.name} is not what its source builds: run `make notebooks`")
        cell.source, cell.id, cell.metadata = other.source, other.id, other.metadata
    nbformat.validate(notebook)
    nbformat.write(notebook, built)


def publish(repository: str, branch: str = "main") -> None:
    """Write it everywhere; ValueError, with nothing written, if a name or a file is not as it should be."""
    check_repository(repository)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", branch):
        raise ValueError(f"BRANCH must be the name of a branch, got {branch!r}")
    sources, readme = notebooks.sources(), notebooks.ROOT / "README.md"
    texts = {
        source: published_source(
            source.read_text(encoding="utf-8"), source.stem, repository, branch
        )
        for source in sources
    }
    lessons = [source.stem for source in sources]
    texts[readme] = published_readme(
        readme.read_text(encoding="utf-8"), lessons, repository, branch
    )
    stale = [s.stem for s in sources if notebooks.differences(s)]
    if stale:
        raise ValueError(f"not what their sources build, run `make notebooks`: {', '.join(stale)}")
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    for source in sources:
        take_over(source)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("repository", metavar="owner/name")
    parser.add_argument("--branch", default="main")
    options = parser.parse_args()
    try:
        publish(options.repository, options.branch)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"README and notebooks name {options.repository}. Look at `git diff`, then commit.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
