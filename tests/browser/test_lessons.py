"""Every lesson in a real front end: run, each slider dragged and pressed, each film stepped."""

import pytest

from tests.browser.harness import ROOT

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson(open_notebook, app, lesson):
    notebook = open_notebook(f"notebooks/{lesson}")
    notebook.run_all(timeout=500)
    drive(notebook, f"{app}-{lesson.removesuffix('.ipynb')}")


def drive(notebook, name):
    """Move every slider of a notebook that was run, by mouse and keys; step every film."""
    assert notebook.failures() == []
    notebook.reveal_all()
    assert notebook.page.get_by_text("Error displaying widget").count() == 0

    for i, explorer in enumerate(notebook.explorers()):
        explorer.box.scroll_into_view_if_needed()
        for handle in explorer.sliders():
            first = explorer.wait_until_still(0.3)
            explorer.drag(handle, 60)
            dragged = explorer.wait_for_another(first, timeout=3)
            if dragged == first:  # it began at its right end
                explorer.drag(handle, -60)
                dragged = explorer.wait_for_another(first)
            assert dragged != first, f"explorer {i}: the mouse changes nothing"
            for _ in range(5):
                explorer.press(handle, "PageDown")
            assert explorer.wait_for_another(dragged) != dragged, (
                f"explorer {i}: the keys change nothing"
            )
        assert explorer.alert() == ""
        notebook.screenshot(f"{name}-explore-{i}", explorer.box)

    for i, film in enumerate(notebook.films()):
        film.root.scroll_into_view_if_needed()
        film.slider.focus()
        seen = set()
        for key in ("Home", "PageUp", "End"):
            notebook.page.keyboard.press(key)
            notebook.page.wait_for_timeout(50)
            seen.add(film.pixels())
        assert len(seen) >= 2, f"film {i}: the keys change nothing"
        notebook.screenshot(f"{name}-film-{i}", film.root)

    assert notebook.errors == []
