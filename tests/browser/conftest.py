"""One browser and one server a front end for all browser tests.

STACK names the front end: "lab" if unset, "notebook7" or "notebook6" (`make test-stacks`). STACK_PYTHON is
the Python that its server runs on.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.browser.harness import FLAGS, ROOT, NotebookPage, find_chromium, serve

STACK = os.environ.get("STACK", "lab")
PYTHON = os.environ.get("STACK_PYTHON", sys.executable)


def pytest_generate_tests(metafunc):
    if "app" in metafunc.fixturenames:
        metafunc.parametrize("app", [STACK], scope="session")


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser():
    # Not for the whole session: playwright's event loop runs in this thread until it is closed, and
    # tests that come later need one of their own.
    path = find_chromium()
    if path is None:
        message = "no Chromium found: install chromium, or name one by CHROMIUM=/path/to/it"
        if os.environ.get("CI") or os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(app, tmp_path_factory):
    """A server whose root holds copies of the lessons, so that nothing here is written over."""
    folder = tmp_path_factory.mktemp(app)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    with serve(app, folder, PYTHON) as server:
        server.folder = folder
        yield server


@pytest.fixture
def open_notebook(browser, server):
    """A function that opens a notebook, by its path under the server's root, in a tab of its own."""
    contexts = []

    def open(path, width=1280, height=900):
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        notebook = NotebookPage(context.new_page(), server)
        notebook.open(path)
        return notebook

    yield open
    for context in contexts:
        context.close()
    server.stop_kernels()
