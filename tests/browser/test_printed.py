"""docs/formulas.md as a page of the site: every formula is drawn, and on paper it fills one sheet of A4."""

import re
import shutil

import pytest

from tools import pages, site

FORMULAS = site.DOCS / "formulas.md"
SMALLEST = 7.5  # points, on paper


@pytest.fixture
def page_file(tmp_path):
    try:
        mathjax = pages.web_file("mathjax/es5/tex-svg-full.js")
    except pages.NoPackages as error:
        pytest.skip(str(error))
    text = FORMULAS.read_text(encoding="utf-8")
    page = tmp_path / "formulas.html"
    page.write_text(site.made_page(site.from_markdown(text), "Symbols and formulas"), "utf-8")
    shutil.copy(mathjax, tmp_path / "mathjax.js")
    shutil.copy(site.STYLE, tmp_path / "style.css")
    return page


def test_symbols_and_formulas_fit_on_one_sheet(browser, app, page_file):
    wanted = len(re.findall(r"\$[^$\n]+\$", FORMULAS.read_text(encoding="utf-8")))
    context = browser.new_context(offline=True, viewport={"width": 718, "height": 1054})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error.message))
    page.goto(page_file.as_uri())
    drawn = page.locator("mjx-container svg")
    drawn.nth(wanted - 1).wait_for(state="attached")
    assert drawn.count() == wanted and page.locator("[data-mjx-error]").count() == 0
    assert errors == []
    page.emulate_media(media="print")
    # Chromium would shrink what is too wide, so its width counts as well as the number of sheets.
    widths = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]
    size = page.locator("td").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size * 72 / 96 >= SMALLEST - 0.01
    paper = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    context.close()
