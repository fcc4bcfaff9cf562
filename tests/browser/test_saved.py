"""What a saved notebook shows without a kernel: as HTML with the network off, and not yet trusted."""

import nbformat
import numpy as np
import pytest

from helpers.controls import film, slider
from tests.browser.harness import FilmOnPage, NotebookPage
from tests.pictures import Busy, Line


@pytest.fixture(scope="module")
def saved():
    """A notebook whose cells were run and saved with their films."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    for shown in (film(Busy(), t=np.linspace(1, 0, 5)), film(Line(), a=slider(0.0, 0.9), frames=4)):
        cell = nbformat.v4.new_code_cell("film(...)", execution_count=1)
        data, metadata = shown._repr_mimebundle_()
        cell.outputs = [nbformat.v4.new_output("display_data", data, metadata=metadata)]
        notebook.cells.append(cell)
    return notebook


def test_exported_html_needs_no_network(browser, app, saved, tmp_path):
    from nbconvert import HTMLExporter

    page_file = tmp_path / "saved.html"
    page_file.write_text(HTMLExporter().from_notebook_node(saved)[0], encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error.message))
    page.goto(page_file.as_uri())
    films = [FilmOnPage(page, root) for root in page.locator(".film").all()]
    assert len(films) == 2
    for shown in films:
        shown.slider.focus()
        page.keyboard.press("Home")
        page.wait_for_timeout(50)
        first = shown.pixels()
        page.keyboard.press("End")
        page.wait_for_timeout(50)
        last = shown.pixels()
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(50)
        assert len({first, last, shown.pixels()}) == 3
    assert not [error for error in errors if "require" not in error and "MathJax" not in error]
    context.close()


def test_a_notebook_that_is_not_trusted_shows_the_still(open_notebook, server, app, saved):
    nbformat.write(saved, server.folder / "saved.ipynb")
    notebook: NotebookPage = open_notebook("saved.ipynb")
    notebook.reveal_all()
    notebook.page.wait_for_timeout(500)
    widths = notebook.page.evaluate(
        "() => [...document.querySelectorAll('.film img, .film canvas, .output_png img, "
        ".jp-RenderedImage img')].filter(e => e.offsetWidth).map(e => e.naturalWidth || e.width)"
    )
    assert widths == [900, 400]
