"""A file of `make colab` in a real front end: run with nothing beside it, its sliders moved.

Lesson 01 everywhere; on the twin of Colab's stack also 07, which carries trained models and films.
"""

import pytest

from tests.browser.conftest import STACK
from tests.browser.test_lessons import drive
from tools import colab, notebooks

LESSONS = ("01", "07") if STACK == "notebook6" else ("01",)


@pytest.mark.parametrize("lesson", LESSONS)
def test_single_file(open_notebook, app, server, lesson):
    (source,) = [source for source in notebooks.sources() if source.stem.startswith(lesson)]
    path = colab.write(source, server.folder / "single")
    notebook = open_notebook(f"single/{path.name}")
    if app == "lab":
        assert notebook.page.locator(".jp-Cell .jp-InputPlaceholder").count() == 1, "not folded"
    notebook.run_all(timeout=500)
    # The server's kernels could import the repository's own helpers.
    assert "adarms-notebooks-" in notebook.ask_kernel("import helpers; print(helpers.__file__)")
    drive(notebook, f"{app}-single-{source.stem}")
