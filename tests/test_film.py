"""`film` without a browser: its pictures, its player's text, what a built notebook gets."""

import base64
import io
import json
import re
import time

import numpy as np
import pytest
from PIL import Image

from helpers import film as film_module
from helpers.controls import checkbox, choice, explore, film, log_slider, slider
from tests.pictures import Busy, Line, Space, redrawn


def data_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])


def test_a_film_has_every_frame_without_loss():
    view = Busy()
    shown = film(view, t=np.linspace(1, 0, 5))
    assert len(shown.frames) == 5 and len(set(shown.frames)) == 5
    view.update(0.25)
    decoded = np.asarray(Image.open(io.BytesIO(shown.frames[3])).convert("RGB")).astype(int)
    assert np.abs(decoded - redrawn(view)).max() <= 2
    assert shown.words[3] == "Arrows, points and bars at t = 0.25."


def test_41_frames_of_the_test_picture_are_light_and_quick():
    """The aim is 1.5 s on a quiet machine (`make bench-sliders`); here a tenfold slip would show."""
    shown = film(Busy(), t=slider(0.0, 1.0))
    start = time.process_time()
    html = shown.html()
    assert time.process_time() - start < 15
    assert len(shown.frames) == 41
    assert len(html) < 1_500_000


@pytest.mark.parametrize(
    "given,values,texts",
    [
        (slider(0, 4, unit="steps"), [0, 1, 2, 3, 4], ["0 steps", "1 steps"]),
        (slider(0.0, 1.0), [0.0, 0.5, 1.0], ["0.00", "0.50"]),
        (log_slider(0.01, 1.0), [0.01, 0.1, 1.0], ["0.01", "0.1"]),
        (choice({"low": 0.1, "high": 0.9}), [0.1, 0.9], ["low", "high"]),
        (checkbox(), [False, True], ["off", "on"]),
        ([0.3, 0.2], [0.3, 0.2], ["0.3", "0.2"]),
        (np.array([1.0, 0.5]), [1.0, 0.5], ["1.00", "0.50"]),
    ],
)
def test_which_frames_a_slider_gives(given, values, texts):
    class Any(Line):
        def update(self, a):
            self.line.set_ydata([0, float(a) / 10])

    shown = film(Any(), frames=3, a=given)
    assert shown.values == pytest.approx(values)
    assert shown.texts[:2] == texts


def test_it_starts_where_it_was_asked_to():
    view = Line()
    shown = film(view, a=slider(0.0, 0.9, 0.2), frames=10)
    assert data_of(shown.html())["start"] == 2
    assert view.line.get_ydata()[1] == pytest.approx(0.2)
    assert data_of(film(view, still=0.9, a=slider(0.0, 0.9), frames=10).html())["start"] == 9


def test_the_player_is_self_contained():
    html = film(Line(), frames=3, a=slider(0.0, 0.9, label="<height>")).html()
    assert "&lt;height&gt;" in html and "<height>" not in html
    outside = re.sub(r"data:image/\w+;base64,[\w+/=]+", "", html)
    assert not re.search(r"https?:|//\w|require|import ", outside)
    first = base64.b64decode(data_of(html)["urls"][0].split(",")[1])
    assert Image.open(io.BytesIO(first)).size == (400, 200)
    assert 'alt="A line that ends at 0.45."' in html


def test_words_cannot_end_the_script():
    class Words(Line):
        def describe(self):
            return "</script><b>"

    html = film(Words(), frames=2, a=slider(0.0, 0.9)).html()
    assert html.count("</script>") == 2
    assert data_of(html)["words"] == ["</script><b>"] * 2


def test_two_films_share_no_id():
    first, second = (film(Line(), frames=2, a=slider(0.0, 0.9)).html() for _ in range(2))
    [one] = re.findall(r'id="(film-\w+)"', first)
    assert one not in second


def test_the_bundle(monkeypatch):
    shown = film(Line(), frames=2, a=slider(0.0, 0.9))
    data, metadata = shown._repr_mimebundle_()
    assert set(data) == {"text/html", "image/png", "text/plain"}
    assert metadata["image/png"]["alt"] == data["text/plain"]
    monkeypatch.setenv("HELPERS_STILL", "1")
    published = []
    monkeypatch.setattr(film_module, "display", lambda data, **rest: published.append(data))
    still = film(Line(), frames=2, a=slider(0.0, 0.9))
    still._ipython_display_()
    assert [set(data) for data in published] == [
        {"image/png", "text/plain"},
        {"text/plain", "text/markdown"},
    ]
    assert published[1]["text/plain"] == "Run this cell for the slider: a."
    assert still._drawn is None, "a notebook that keeps only the still draws no frames"


def test_an_interrupted_film_leaves_its_still_and_can_be_drawn_afterwards(monkeypatch):
    view, published = Line(), []
    monkeypatch.setattr(film_module, "display", lambda data, **rest: published.append(data))
    shown = film(view, frames=5, a=slider(0.0, 0.9))
    draw, calls = view.update, []

    def stopped(**values):
        calls.append(values)
        if len(calls) == 3:
            raise KeyboardInterrupt
        draw(**values)

    monkeypatch.setattr(view, "update", stopped)
    with pytest.raises(KeyboardInterrupt):
        shown._ipython_display_()
    assert [set(data) for data in published] == [{"image/png", "text/plain"}]
    shown._ipython_display_()
    assert "text/html" in published[1] and len(shown.frames) == 5


def test_a_page_gets_a_film_in_place_of_live_sliders(monkeypatch):
    monkeypatch.setenv("HELPERS_STILL", "1")
    monkeypatch.setenv("HELPERS_FILMS", "1")
    published = []

    def display(shown, **rest):
        published.append(shown._repr_mimebundle_()[0] if hasattr(shown, "frames") else shown)

    monkeypatch.setattr(film_module, "display", display)
    view = Line()
    menu = choice(["x", "y"], "y", label="letter")
    explore(
        view, b=menu, a=slider(0.0, 0.9, 0.1), n=slider(1, 99), still={"a": 0.33}
    )._ipython_display_()
    film_shown, line = published
    data = data_of(film_shown["text/html"])
    assert film_shown["text/plain"] == data["words"][data["start"]] == "A line that ends at 0.33."
    assert data["texts"][0] == "0.00" and data["texts"][-1] == "0.90" and len(data["texts"]) == 20
    assert line["text/plain"] == "Here a moves; letter (y), n (50) can be moved in the notebook."
    assert view.updates[-1] == {"a": 0.33, "b": "y", "n": 50}
    published.clear()
    explore(Line(), a=slider(0.0, 0.9))._ipython_display_()
    assert len(published) == 1, "one slider: nothing rests"


def test_the_positions_of_a_film_that_stands_for_sliders():
    assert [v for v, _ in slider(-200, 200, 91).few_positions(5, 91)] == [
        -200,
        -100,
        0,
        91,
        100,
        200,
    ]
    assert [t for _, t in slider(0, 3, 2).few_positions(25, 2)] == ["0", "1", "2", "3"]
    assert log_slider(4, 1024, 64, format="d").few_positions(3, 64) == [
        (pytest.approx(4), "4"),
        (64.0, "64"),
        (pytest.approx(1024), "1024"),
    ]
    assert [t for _, t in checkbox(True).few_positions(25, True)] == ["off", "on"]
    assert checkbox(True).text(False) == "off" and choice({"two": 2}).text(2) == "two"


def test_progress_is_shown_where_the_film_will_stand(monkeypatch):
    published = []

    class Place:
        def update(self, data, **rest):
            published.append(data)

    def display(data, **rest):
        published.append(data)
        return Place()

    monkeypatch.setattr(film_module, "display", display)
    clock = iter(np.arange(0, 100, 0.2))
    monkeypatch.setattr(film_module.time, "monotonic", lambda: next(clock))
    film(Space(), t=slider(0.0, 1.0), frames=10)._ipython_display_()
    lines = [data["text/plain"] for data in published[:-1]]
    assert lines[0].startswith("drawing picture 3 of 10")
    assert "text/html" in published[-1]


def test_without_webp_it_falls_back_to_png(monkeypatch):
    monkeypatch.setattr(film_module.features, "check", lambda name: False)
    html = film(Line(), frames=2, a=slider(0.0, 0.9)).html()
    assert data_of(html)["urls"][0].startswith("data:image/png")


def test_an_error_in_a_frame_is_the_cells_error():
    shown = film(Line(), a=slider(0.0, 1.0))
    with pytest.raises(ValueError, match="too high"):
        shown.html()


@pytest.mark.parametrize(
    "make,words",
    [
        (lambda: film(Line()), "exactly one slider, got 0"),
        (lambda: film(Line(), a=(0, 1), b=(0, 1)), "got 2"),
        (lambda: film(Line(), frames=1, a=(0.0, 0.9)), "frames must be at least 2"),
        (lambda: film(Line(), seconds=0, a=(0.0, 0.9)), "seconds must be more than 0"),
        (lambda: film(Line(), a=slider(0, 1000)), "at most 400 frames"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
