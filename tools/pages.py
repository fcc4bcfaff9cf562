"""What the site and the slides share: lessons run with films, what comes from npm, the converter."""

import argparse
import asyncio
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from traitlets.config import Config

from tools import notebooks

ROOT = notebooks.ROOT
WEB = ROOT / "tools" / "web"
TEMPLATES = ROOT / "tools" / "templates"
DIST = ROOT / "dist"


class NoPackages(Exception):
    """MathJax and reveal.js cannot be had; the message says why."""


NEEDED = ("mathjax/es5/tex-svg-full.js", "reveal.js/dist/reveal.js", "reveal.js/dist/reveal.css")


def web_file(name: str) -> Path:
    """A file of an npm package that package.json names; the packages are fetched where they are missing.

    Raises:
        NoPackages: there is no npm, or it could not fetch them; with npm's own words.
    """
    modules, done = WEB / "node_modules", WEB / "node_modules" / ".fetched"
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    if not done.is_file() or done.read_text(encoding="utf-8") != lock:
        npm = shutil.which("npm")
        if npm is None:
            raise NoPackages(
                "npm is missing, from which site and slides take MathJax and reveal.js: "
                "install Node.js 18 or newer"
            )
        ran = subprocess.run(
            [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=WEB,
            capture_output=True,
            text=True,
        )
        missing = [part for part in NEEDED if not (modules / part).is_file()]
        if ran.returncode or missing:
            raise NoPackages(f"npm ci failed in {WEB}: {(ran.stderr or ran.stdout).strip()}")
        done.write_text(lock, encoding="utf-8")
    return modules / name


def committed(source: Path) -> nbformat.NotebookNode:
    """The built lesson as it ships: a still stands for every picture with sliders."""
    return nbformat.read(notebooks.built(source), as_version=4)


def with_films(source: Path) -> nbformat.NotebookNode:
    """The lesson run anew with films in place of sliders; kept in dist/films until something changes."""
    kept = DIST / "films" / f"{source.stem}.ipynb"
    state = _state(source)
    if kept.is_file():
        notebook = nbformat.read(kept, as_version=4)
        if notebook.metadata.get("made_from") == state:
            return notebook
    print(f"running {source.stem} with films", flush=True)
    notebook = notebooks.read_source(source)
    asyncio.run(notebooks.execute_async(notebook, environment={"HELPERS_FILMS": "1"}))
    notebook.metadata["made_from"] = state
    kept.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, kept)
    return notebook


def add_options(parser: argparse.ArgumentParser, folder: Path) -> None:
    parser.add_argument(
        "--run", nargs="*", metavar="NN", help="run these lessons only; all if left out"
    )
    parser.add_argument("--folder", type=Path, default=folder, help="where the pages go")


def reader(run: list[str] | None):
    """A function that gives a lesson: with films, or, where it is not to run, as it ships."""
    return lambda source: (
        with_films(source) if run is None or source.name[:2] in run else committed(source)
    )


def _state(source: Path) -> str:
    """Changes when anything changes that the lesson's outputs are made from."""
    digest = hashlib.sha256(source.read_bytes())
    for folder in ("helpers", "experiments"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def title_and_question(notebook: nbformat.NotebookNode) -> tuple[str, str]:
    """What a lesson's first cell says: its title, and the question it answers."""
    title, question = re.match(r"# (.+)\n\n\*\*(.+?)\*\*", notebook.cells[0].source).groups()
    return title, question


def without_web_images(text: str) -> str:
    """Markdown in which the words of a picture that lies on the web stand for it."""
    return re.sub(r"!\[([^\]]*)\]\(https?://[^)]*\)", r"\1", text)


def exporter(template: str, kind=HTMLExporter, **settings) -> HTMLExporter:
    """nbconvert's exporter with one of the templates beside this file."""
    return kind(
        config=Config(
            {
                "TagRemovePreprocessor": {"enabled": True, "remove_input_tags": {"hide-code"}},
                "CSSHTMLHeaderPreprocessor": {"style": "default"},
            }
        ),
        extra_template_basedirs=[str(TEMPLATES)],
        template_name=template,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        **settings,
    )


def marked(page: str) -> str:
    """The page with its questions to the reader marked as such."""
    return page.replace(
        "<p><strong>Predict.</strong>", '<p class="predict"><strong>Predict.</strong>'
    )


def inlined(page: str, files: dict[str, str]) -> str:
    """The page with the named scripts and style sheets inside it."""
    for name, text in files.items():
        if name.endswith(".js"):
            link, whole = f'<script src="{name}"></script>', f"<script>{text}</script>"
            assert "</script" not in text, f"{name} would end its own element"
        else:
            link, whole = f'<link href="{name}" rel="stylesheet"/>', f"<style>{text}</style>"
        assert page.count(link) == 1, f"{link} is not in the page"
        page = page.replace(link, whole)
    return page
