"""Make dist/site/: the lessons as pages that can be read anywhere, without a kernel and without a network.

    python -m tools.site            with films in place of live sliders: runs every lesson (minutes)
    python -m tools.site --run 04   runs this one alone; the others keep the pictures that ship

Open dist/site/index.html, or put the folder on any web server. nbconvert makes the pages.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import nbformat

from tools import notebooks, pages

SITE = pages.DIST / "site"
STYLE = pages.TEMPLATES / "site" / "style.css"
DOCS = pages.ROOT / "docs"
# A cell of a table with 120 letters or more is kept wide on a phone, where the table scrolls.
LONG_CELL = re.compile(r"<td([^>]*)>(?=(?:(?!</td>).){120})", re.DOTALL)


def documents() -> list[Path]:
    return sorted(DOCS.glob("*.md"))


def with_links_of_the_site(text: str) -> str:
    """Markdown whose links lead to the site's pages; of what is not on the site the words stay."""
    there = {f"{path.stem}.ipynb" for path in notebooks.sources()}
    there |= {path.name for path in documents()}

    def link(match):
        words, target, place = match["words"], match["target"], match["place"] or ""
        if re.match(r"[a-z]+:|$", target):
            return match[0]
        name = target.rsplit("/", 1)[-1]
        return f"[{words}]({Path(name).stem}.html{place})" if name in there else words

    text = pages.without_web_images(text)
    return re.sub(
        r"(?<!!)\[(?P<words>[^\]\n]+)\]\((?P<target>[^)#\s]*)(?P<place>#[^)\s]*)?\)", link, text
    )


def made_page(notebook: nbformat.NotebookNode, title: str, **around) -> str:
    """One page. `around` has the neighbours: `previous` and `next`, each with `file` and `title`."""
    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        if "setup" in cell.metadata.get("tags", []):
            cell.metadata.tags.append("hide-code")
        if cell.cell_type == "markdown":
            cell.source = with_links_of_the_site(cell.source)
    page, _ = pages.exporter("site").from_notebook_node(
        notebook, resources={"page": {"title": title, **around}}
    )
    parts = re.findall(r'<h2 id="([^"]+)">(.*?)<a class="anchor-link"', page)
    contents = "\n".join(f'<li><a href="#{anchor}">{words}</a></li>' for anchor, words in parts)
    if contents:
        contents = f"<summary>On this page</summary>\n<ul>{contents}</ul>"
        contents = f'<details class="contents">{contents}</details>'
    page = LONG_CELL.sub(r'<td class="long"\1>', page)
    return pages.marked(page.replace("<!--contents-->", contents))


def from_markdown(*texts: str) -> nbformat.NotebookNode:
    notebook = nbformat.v4.new_notebook(metadata=notebooks.METADATA)
    notebook.cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    return notebook


def index(lessons: dict[str, tuple[str, str]]) -> nbformat.NotebookNode:
    """README's opening, the lessons with their questions, the other pages, what was found."""
    readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
    opening = re.sub(r"^!\[.*\n", "", readme.split("\n## ")[0], flags=re.MULTILINE)
    rows = [f"| [{title}]({stem}.ipynb) | {asks} |" for stem, (title, asks) in lessons.items()]
    table = "\n".join(["| lesson | the question it answers |", "|---|---|", *rows])
    more = [f"- [{_title_of(path)}]({path.name})" for path in documents()]
    found = next(part for part in readme.split("\n## ") if part.startswith("What was found"))
    return from_markdown(
        opening,
        f"## Lessons\n\n{table}",
        "\n".join(["## More", "", *more]) if more else "",
        f"## {found}",
    )


def _title_of(document: Path) -> str:
    return re.match(r"# (.+)", document.read_text(encoding="utf-8"))[1]


def build(folder: Path, read) -> None:
    """Write the whole site into `folder`; `read(source)` gives a lesson with its outputs."""
    mathjax = pages.web_file("mathjax/es5/tex-svg-full.js")
    lessons = {source.stem: read(source) for source in notebooks.sources()}
    about = {stem: pages.title_and_question(lesson) for stem, lesson in lessons.items()}
    written = {
        "index": made_page(index(about), _title_of(pages.ROOT / "README.md"), file="index.html")
    }
    for path in documents():
        text = path.read_text(encoding="utf-8")
        written[path.stem] = made_page(from_markdown(text), _title_of(path))
    stems = list(lessons)
    for number, (stem, lesson) in enumerate(lessons.items()):
        around = {}
        for name, at in (("previous", number - 1), ("next", number + 1)):
            if 0 <= at < len(stems):
                around[name] = {"file": f"{stems[at]}.html", "title": about[stems[at]][0]}
        written[stem] = made_page(lesson, about[stem][0], **around)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    shutil.copy(mathjax, folder / "mathjax.js")
    shutil.copy(STYLE, folder / "style.css")
    for stem, page in written.items():
        path = folder / f"{stem}.html"
        path.write_text(page, encoding="utf-8")
        print(f"made {path.name}, {path.stat().st_size / 1e6:.1f} MB", flush=True)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    pages.add_options(parser, SITE)
    options = parser.parse_args(arguments)
    try:
        build(options.folder, pages.reader(options.run))
    except pages.NoPackages as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
