"""The site and the slides, opened from disk with the network off: all fits, formulas are drawn, films run.

Both are built once, with the films of one lesson; the others show the pictures that ship. `make test-site`
builds and tests them with all films: PUBLISHED names the folder then.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.browser.harness import ROOT, FilmOnPage
from tools import notebooks, pages

FILMED = "04"  # has films of its own, and pictures with one slider and with several
STEMS = [source.stem for source in notebooks.sources()]
LARGEST = 6_000_000  # bytes of a page of the site

# Formulas that were not drawn: marks of TeX in what is read, errors of MathJax.
UNDRAWN = r"""() => {
  const found = [...document.querySelectorAll("merror, [data-mml-node=merror]")].map(e => e.textContent);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (text.parentElement.closest("code, pre, script, style, mjx-container")) continue;
    if (/\$[^$]+\$|\\(frac|mathrm|text|sqrt)/.test(text.data)) found.push(text.data);
  }
  for (const drawn of document.querySelectorAll("mjx-container"))
    if (!drawn.querySelector("svg path, svg use")) found.push("empty: " + drawn.outerHTML.slice(0, 80));
  return found; }"""

# What of the slide on show lies outside of the page, or is cut off or scrolls inside of it.
OUTSIDE = """() => {
  const found = [], slide = Reveal.getCurrentSlide();
  for (const part of slide.querySelectorAll("*")) {
    const box = part.getBoundingClientRect();
    if (!box.width || !box.height || part.closest("mjx-assistive-mml")) continue;
    if (box.left < -1 || box.top < -1 || box.right > 1281 || box.bottom > 721)
      found.push(`${part.tagName} ${part.className} ${Math.round(box.right)} ${Math.round(box.bottom)}`);
    if (part.clientWidth && !part.closest("svg, mjx-container")
        && (part.scrollWidth > part.clientWidth + 2 || part.scrollHeight > part.clientHeight + 2)
        && getComputedStyle(part).overflow !== "visible")
      found.push(`${part.tagName} ${part.className} scrolls`);
  }
  return found; }"""


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder that holds site/ and slides/."""
    if "PUBLISHED" in os.environ:
        return ROOT / os.environ["PUBLISHED"]
    try:
        pages.web_file("reveal.js/package.json")
    except pages.NoPackages as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("published")
    # In processes of their own: running a notebook needs an event loop, and playwright's is in this one.
    for name in ("site", "slides"):
        command = [
            sys.executable,
            "-m",
            f"tools.{name}",
            "--run",
            FILMED,
            "--folder",
            folder / name,
        ]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture
def open_page(browser):
    """A function that opens a file in a tab without a network; at the end nothing may have gone wrong."""
    contexts, wrong = [], []

    def open(path: Path, width: int, height: int, scripts: bool = True):
        context = browser.new_context(
            viewport={"width": width, "height": height}, offline=True, java_script_enabled=scripts
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{path.name}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"{path.name}: {error.message}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:", "blob:"))
                else wrong.append(f"{path.name} asks for {request.url}")
            ),
        )
        page.goto(path.as_uri())
        return page

    yield open
    for context in contexts:
        context.close()
    assert not wrong


def formulas(stem: str) -> int:
    """At least so many formulas are drawn on a lesson's page: those set on lines of their own."""
    source = (notebooks.SOURCE / f"{stem}.py").read_text(encoding="utf-8")
    return len(re.findall(r"^# \$\$", source, re.MULTILINE))


def site_pages(published) -> list[Path]:
    return sorted((published / "site").glob("*.html"))


def answers_open_and_close(page):
    assert page.locator("main details").count() >= 10  # the quiz, the beats, the exercises
    quiz = page.locator(".jp-MarkdownOutput", has=page.locator("h2#Quiz")).locator("details")
    assert quiz.count() >= 5
    stuck = quiz.evaluate_all(
        """all => all.filter(one => {
          const height = () => one.getBoundingClientRect().height, closed = height();
          one.querySelector("summary").click();
          const open = height();
          one.querySelector("summary").click();
          return open < closed + 15 || height() !== closed; }).map(one => one.innerText)"""
    )
    assert stuck == []
    quiz.first.locator("summary").click()  # with the mouse: nothing lies over it
    assert quiz.first.evaluate("one => one.open")


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_of_the_site_can_be_read(published, open_page, width):
    files = site_pages(published)
    assert {path.stem for path in files} >= {"index", *STEMS}
    for path in files:
        assert path.stat().st_size < LARGEST
        page = open_page(path, width, 844)
        page.evaluate("MathJax.startup.promise")
        assert page.evaluate(UNDRAWN) == [], path.name
        if path.stem in STEMS:
            drawn = page.locator("mjx-container[display=true] svg").count()
            assert drawn >= formulas(path.stem) > 0
            assert page.locator("main img, main canvas").count() >= 3
            answers_open_and_close(page)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path.name
        words_of = "all => all.map(one => one.alt || one.getAttribute('aria-label') || '')"
        for words in page.locator("img, canvas").evaluate_all(words_of):
            assert len(words.split()) >= 5 and "No description" not in words
        page.context.close()


def test_all_links_of_the_site_lead_somewhere(published, open_page):
    for path in site_pages(published):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r'<a [^>]*href="([^"]+)"', text):
            if re.match(r"https?:", target):
                continue
            name, _, place = unquote(target).partition("#")
            there = path.parent / (name or path.name)
            assert there.is_file(), f"{path.name} links to {target}"
            if place:
                assert f'id="{place}"' in there.read_text(encoding="utf-8"), (
                    f"{path.name}: {target}"
                )
    page = open_page(published / "site" / "index.html", 390, 844, scripts=False)
    page.locator("main table a").first.click()
    visited = [Path(page.url).stem]
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").first.click()
        visited.append(Path(page.url).stem)
    assert visited == STEMS
    page.locator("a[rel=prev]").last.click()
    assert Path(page.url).stem == STEMS[-2]
    page.get_by_text("All lessons").first.click()
    assert Path(page.url).stem == "index"


def test_films_of_the_site_move(published, open_page):
    [path] = (published / "site").glob(f"{FILMED}_*.html")
    for width in (1280, 390):
        page = open_page(path, width, 844)
        page.wait_for_selector(".film canvas")
        films = page.locator(".film").all()
        source = (notebooks.SOURCE / f"{path.stem}.py").read_text(encoding="utf-8")
        assert len(films) == len(re.findall(r"^(?:explore|film)\(", source, re.MULTILINE)) >= 5
        for film in map(lambda root: FilmOnPage(page, root), films):
            film.root.scroll_into_view_if_needed()
            film.root.locator("canvas").wait_for()
            film.slider.focus()
            page.keyboard.press("Home")
            first = film.pixels()
            page.keyboard.press("End")
            assert film.pixels() != first
            right = film.slider.bounding_box()
            assert right["x"] >= 0 and right["x"] + right["width"] <= width and right["width"] > 80


@pytest.mark.parametrize("stem", STEMS)
def test_every_slide_fits(published, open_page, stem):
    page = open_page(published / "slides" / f"{stem}.html", 1280, 720)
    page.wait_for_function("document.documentElement.dataset.ready", timeout=60_000)
    assert page.evaluate(UNDRAWN) == []
    assert page.locator("mjx-container[display=true] svg").count() >= formulas(stem) * 0.6
    number = page.evaluate("Reveal.getTotalSlides()")
    assert number >= 20
    pictures = 0
    for at in range(number):
        assert page.evaluate(OUTSIDE) == [], f"slide {at + 1}"
        size, height, seen = page.evaluate(
            """() => { const slide = Reveal.getCurrentSlide(), page = slide.querySelector(".page");
              return [Number(page.style.zoom), page.getBoundingClientRect().height,
                      slide.querySelectorAll("img, canvas").length]; }"""
        )
        assert size >= 0.75, f"slide {at + 1} is small: its letters are {22 * size:.0f} pixels high"
        assert height > 20, f"slide {at + 1} is empty"
        pictures += seen
        page.evaluate("Reveal.next()")
    assert page.evaluate("Reveal.isLastSlide()")
    assert pictures >= 3


def test_films_play_in_the_slides(published, open_page):
    [path] = (published / "slides").glob(f"{FILMED}_*.html")
    page = open_page(path, 1280, 720)
    page.wait_for_function("document.documentElement.dataset.ready", timeout=60_000)
    films, where = 0, "Reveal.getIndices()"
    for _ in range(page.evaluate("Reveal.getTotalSlides()")):
        root = page.locator("section.present section.present .film")
        if root.count():
            films += 1
            film = FilmOnPage(page, root)
            film.canvas.wait_for()
            before, slide = film.pixels(), page.evaluate(where)
            film.button.click()
            started = time.monotonic()
            while film.pixels() == before:  # a menu of a few options plays slowly
                assert time.monotonic() - started < 10, f"film {films} stands still"
                page.wait_for_timeout(50)
            page.keyboard.press("ArrowLeft")  # moves the film, not the slides
            assert page.evaluate(where) == slide
            page.keyboard.press("PageDown")  # a presenter's remote moves the slides
            assert page.evaluate(where) != slide
        else:
            page.keyboard.press("PageDown")
    assert films >= 5
