"""`explore` without a browser: sliders, errors, bursts, what is left behind."""

import asyncio
import contextlib
import ctypes
import gc
import json
import math
import os
import threading
import time
import weakref
from pathlib import Path

import ipywidgets
import pytest
from ipywidgets.widgets import widget as widget_module
from jupyter_client.manager import run_kernel
from matplotlib import _pylab_helpers

from helpers import controls
from helpers.controls import checkbox, choice, explore, log_slider, slider
from helpers.sliders import control
from tests.pictures import Busy, Line, Space

ROOT = Path(__file__).resolve().parent.parent


def registered() -> int:
    """How many widgets ipywidgets holds."""
    held = getattr(widget_module, "_instances", None)
    return len(ipywidgets.Widget.widgets if held is None else held)


def megabytes() -> float:
    """Memory in use, once the C library has given back what was freed: how much it keeps varies."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.fixture
def from_the_page(monkeypatch):
    monkeypatch.setattr(controls, "_from_the_page", lambda: True)


def test_moving_a_slider_moves_the_picture():
    explorer = explore(Line(), a=slider(0.0, 1.0, 0.2))
    before = explorer.image.value
    explorer.controls["a"].value = 0.7
    assert explorer.image.value != before
    assert explorer.view.updates[-1] == {"a": 0.7}
    assert "ends at 0.70" in explorer._note.value
    assert repr(explorer) == "Explorer(a=0.7)"


def test_every_kind_of_control():
    explorer = explore(
        Line(),
        a=(0.0, 0.9),
        number=slider(1, 12, 3),
        factor=log_slider(0.01, 100, unit="times"),
        dtype=["float16", "float32"],
        norm={"none": 0, "RMSNorm": 1},
        on=True,
        off=checkbox(label="switched off"),
    )
    kinds = {name: type(widget).__name__ for name, widget in explorer.controls.items()}
    assert kinds == {
        "a": "FloatSlider",
        "number": "IntSlider",
        "factor": "FloatLogSlider",
        "dtype": "Dropdown",
        "norm": "Dropdown",
        "on": "Checkbox",
        "off": "Checkbox",
    }
    explorer.controls["factor"].value = 10.0  # the real value, not its exponent
    explorer.controls["norm"].value = 1
    assert explorer.view.updates[-1] == {
        "a": 0.45,
        "number": 3,
        "factor": 10.0,
        "dtype": "float16",
        "norm": 1,
        "on": True,
        "off": False,
    }
    assert explorer.controls["off"].description == "switched off"


def test_reset_puts_everything_back_with_one_drawing():
    explorer = explore(Line(), a=(0.0, 0.9), b=(1, 9))
    first = explorer.image.value
    explorer.controls["a"].value = 0.1
    explorer.controls["b"].value = 2
    drawn = len(explorer.view.updates)
    explorer.reset()
    assert explorer.values == {"a": 0.45, "b": 5}
    assert explorer.image.value == first
    assert len(explorer.view.updates) == drawn + 1


@pytest.mark.parametrize("make", [slider, log_slider])
def test_a_slider_given_nan_goes_back_to_its_last_number(make):
    explorer = explore(Line(), a=make(0.1, 0.9, 0.5), b=(1, 9))
    explorer.controls["a"].value = 0.25
    for _ in range(2):
        explorer.controls["a"].value = math.nan
        assert explorer.values == {"a": 0.25, "b": 5} and explorer.error == ""
    explorer.controls["a"].value = math.inf
    assert explorer.values["a"] == pytest.approx(0.9) and explorer.error == ""


def test_an_error_is_shown_with_its_values_and_cleared_by_the_next_good_one():
    explorer = explore(Line(), a=(0.0, 1.0))
    explorer.controls["a"].value = 0.3
    picture = explorer.image.value
    explorer.controls["a"].value = 0.99
    assert "ValueError" in explorer.error and "with a=0.99" in explorer.error
    assert "&lt;b&gt;0.99 is too high" in explorer._note.value
    assert "with a=0.99" in explorer._note.value
    assert explorer.image.value == picture
    explorer.controls["a"].value = 0.4
    assert explorer.error == "" and "alert" not in explorer._note.value
    assert explorer.image.value != picture


def test_an_error_in_the_words_or_the_drawing_is_shown_too():
    explorer = explore(Line(), a=(0.0, 0.9))
    explorer.view.line.draw = lambda renderer: 1 / 0
    explorer.controls["a"].value = 0.3
    assert "ZeroDivisionError" in explorer.error


def test_an_interrupt_is_shown_and_leaves_the_sliders_working():
    explorer = explore(Line(), a=(0.0, 0.9))
    update = explorer.view.update

    def interrupted(**values):
        raise KeyboardInterrupt

    explorer.view.update = interrupted
    explorer.controls["a"].value = 0.3
    assert "KeyboardInterrupt" in explorer.error
    explorer.view.update = update
    explorer.controls["a"].value = 0.4
    assert explorer.error == ""


def test_a_burst_draws_the_newest_state_only(from_the_page):
    async def burst():
        explorer = explore(Line(), a=slider(0.0, 0.9))
        explorer.view.updates.clear()
        for i in range(200):
            explorer.controls["a"].value = 0.9 * i / 199
            if i % 20 == 19:  # a kernel handles messages between turns of its loop
                await asyncio.sleep(0)
        await asyncio.sleep(10 * controls.SETTLE + 2 * controls.REST)
        return explorer

    explorer = asyncio.run(burst())
    assert explorer.view.updates[-1] == {"a": 0.9}
    assert len(explorer.view.updates) < 50
    assert "ends at 0.90" in explorer._note.value


FLOODED = """
from helpers.controls import explore, slider
from tests.pictures import Line
view = Line()
explorer = explore(view, a=slider(0.0, 0.9))
view.updates.clear()
print(explorer.controls["a"].comm.comm_id)
"""


def test_a_real_kernel_draws_few_of_200_changes_that_wait_at_once():
    """Some front ends do not hold changes back while the kernel draws; then they queue up in it."""
    with run_kernel(
        cwd=str(ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    ) as client:
        printed = []

        def run(code):
            printed.clear()
            client.execute_interactive(
                code,
                timeout=60,
                output_hook=lambda m: printed.append(m["content"].get("text", "")),
            )
            return "".join(printed).strip()

        comm = run(FLOODED)
        for i in range(200):
            data = {"method": "update", "state": {"value": 0.9 * i / 199}, "buffer_paths": []}
            content = {"comm_id": comm, "data": data}
            client.shell_channel.send(client.session.msg("comm_msg", content))
        time.sleep(0.1)
        assert run("print(explorer.controls['a'].value)") == "0.9"
        time.sleep(0.2)
        updates = json.loads(run("import json; print(json.dumps(view.updates))"))
    assert updates[-1] == {"a": 0.9}
    assert len(updates) < 50


def test_what_the_picture_shows_is_said_once_the_sliders_rest(from_the_page):
    async def press():
        explorer = explore(Line(), a=slider(0.0, 0.9))
        said = []
        explorer._note.observe(lambda change: said.append(change.new), "value")
        for value in (0.1, 0.2, 0.3):
            explorer.controls["a"].value = value
            await asyncio.sleep(3 * controls.SETTLE)
        assert said == []
        await asyncio.sleep(2 * controls.REST)
        return said

    [said] = asyncio.run(press())
    assert "ends at 0.30" in said


def test_a_change_after_a_pause_is_drawn_at_once(from_the_page):
    async def press():
        explorer = explore(Line(), a=slider(0.0, 0.9))
        explorer.view.updates.clear()
        explorer._drawn_at = time.monotonic() - 1
        explorer.controls["a"].value = 0.1
        return explorer.view.updates

    assert asyncio.run(press()) == [{"a": 0.1}]


def test_no_one_waits_long_while_changes_keep_coming(from_the_page):
    async def stream():
        explorer = explore(Line(), a=slider(0.0, 0.9))
        explorer.view.updates.clear()
        end = time.monotonic() + 4 * controls.LONGEST
        while time.monotonic() < end:
            explorer.controls["a"].value = (explorer.controls["a"].value + 0.01) % 0.9
            await asyncio.sleep(controls.SETTLE / 4)
        return len(explorer.view.updates)

    assert asyncio.run(stream()) >= 3


def test_sliders_moved_from_two_threads_at_once():
    """JupyterLab moves sliders from a thread of their own, while a cell may run."""
    explorer = explore(Line(), a=slider(0.0, 0.9, step=0.001), b=slider(0.0, 0.9, step=0.001))
    errors = []

    def move(name):
        for i in range(40):
            explorer.controls[name].value = i / 100
            errors.append(explorer.error)

    threads = [threading.Thread(target=move, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(errors) == {""}
    assert explorer.view.updates[-1] == {"a": 0.39, "b": 0.39}


def test_a_page_that_rounds_a_value_anew_draws_nothing():
    """ipywidgets 8 sends 0.45 back as 0.4500000000000001 when it shows the slider."""
    explorer = explore(
        Line(), a=slider(0.0, 0.9), factor=log_slider(1e-12, 1e-2, 1e-12), kind=["x"]
    )
    explorer.view.updates.clear()
    explorer.controls["a"].value = 0.4500000000000001
    explorer.controls["factor"].value = 1.0000000000000002e-12
    assert explorer.view.updates == []
    explorer.controls["factor"].value = 1.1e-12
    assert [update["factor"] for update in explorer.view.updates] == [1.1e-12]


def test_closed_between_a_change_and_its_drawing(from_the_page):
    async def close_early():
        explorer = explore(Line(), a=slider(0.0, 0.9))
        view = explorer.view
        for value in (0.1, 0.2):
            explorer.controls["a"].value = value
        drawn = len(view.updates)
        explorer.close()
        await asyncio.sleep(5 * controls.SETTLE)
        return len(view.updates) - drawn

    assert asyncio.run(close_early()) == 0


def test_the_bundle_has_the_widget_and_the_still():
    explorer = explore(Line(), still={"a": 0.8}, a=slider(0.0, 0.9, 0.1))
    data, metadata = explorer._repr_mimebundle_()
    assert set(data) == {
        "application/vnd.jupyter.widget-view+json",
        "image/png",
        "text/plain",
    }
    assert data["text/plain"] == "A line that ends at 0.80."
    assert metadata["image/png"]["alt"] == data["text/plain"]
    assert explorer.view.line.get_ydata()[1] == 0.1


def test_a_built_notebook_gets_the_still_and_one_line(monkeypatch):
    monkeypatch.setenv("HELPERS_STILL", "1")
    shown = []
    monkeypatch.setattr(controls, "display", lambda data, **rest: shown.append(data))
    monkeypatch.setattr("helpers.film.display", lambda data, **rest: shown.append(data))
    explore(Line(), a=slider(0.0, 0.9, label="height"), b=True)._ipython_display_()
    assert [set(data) for data in shown] == [
        {"image/png", "text/plain"},
        {"text/plain", "text/markdown"},
    ]
    assert shown[1]["text/plain"] == "Run this cell for the sliders: height, b."


def test_closing_and_collecting_leave_no_widget_and_no_observer():
    before = registered()
    explorer = explore(Line(), a=(0.0, 0.9), b=["x", "y"], c=True)
    assert registered() > before + 5
    view, slider_widget = weakref.ref(explorer.view), explorer.controls["a"]
    explorer.close()
    explorer.close()
    assert registered() == before
    assert not slider_widget._trait_notifiers.get("value", {}).get("change")
    gc.collect()
    assert view() is None

    explorer = explore(Line(), a=(0.0, 0.9))
    view = weakref.ref(explorer.view)
    del explorer
    gc.collect()
    assert registered() == before and view() is None


class Kernel:
    """Stands for the kernel's shell: which cell runs, and in which run."""

    def __init__(self, monkeypatch):
        self.kernel = self
        self.parent = {}
        monkeypatch.setattr(controls, "get_ipython", lambda: self)
        monkeypatch.setattr(controls, "display", lambda *data, **rest: None)

    def get_parent(self):
        return self.parent

    def run(self, code, message, cell_id=None):
        self.parent = {
            "msg_type": "execute_request",
            "header": {"msg_id": message},
            "metadata": {"cellId": cell_id} if cell_id else {},
            "content": {"code": code},
        }


@pytest.mark.parametrize("cell_id", [None, "a1"])
def test_a_second_run_of_a_cell_closes_the_first_ones_sliders(monkeypatch, cell_id):
    kernel = Kernel(monkeypatch)
    before = registered()
    kernel.run("explore(...)", "1", cell_id)
    two = [explore(Line(), a=(0.0, 0.9)) for _ in range(2)]
    for explorer in two:
        explorer._ipython_display_()
    kernel.run("something else", "2", cell_id and "b2")
    other = explore(Line(), a=(0.0, 0.9))
    assert all(explorer.view is not None for explorer in two)
    kernel.run("explore(...)", "3", cell_id)
    again = explore(Line(), a=(0.0, 0.9))
    assert all(explorer.view is None for explorer in two) and other.view is not None
    for explorer in (other, again):
        explorer.close()
    assert registered() == before


def test_one_on_show_lives_though_nobody_holds_it(monkeypatch):
    kernel = Kernel(monkeypatch)
    kernel.run("display(explore(...))", "1")
    explore(Line(), a=(0.0, 0.9))._ipython_display_()
    gc.collect()
    [shown] = list(controls._displayed)
    shown.controls["a"].value = 0.2
    assert shown.error == "" and "0.20" in shown._note.value
    kernel.run("display(explore(...))", "2")
    explore(Line(), a=(0.0, 0.9))
    assert not controls._displayed


@pytest.mark.parametrize("kind", [Busy, Line, Space])
def test_reruns_and_updates_leave_nothing_behind(kind, monkeypatch):
    """`make soak` sets SOAK=1: 200 reruns and 10,000 updates in place of 10 and 330."""
    soak = os.environ.get("SOAK") == "1"
    reruns, updates = (200, 10_000) if soak else (10, 330)
    kernel = Kernel(monkeypatch)
    widgets, figures = registered(), len(_pylab_helpers.Gcf.figs)

    def rerun(i):
        kernel.run("explore(...)", f"{kind.__name__} {i}")
        argument = "a" if kind is Line else "t"
        explorer = explore(kind(), **{argument: slider(0.0, 0.9, step=0.001)})
        explorer._ipython_display_()
        return explorer.controls[argument]

    def move(widget, i):
        widget.value = 0.9 * (i * 0.381966 % 1)

    for i in range(5):
        move(rerun(i), 1)
    gc.collect()
    before = megabytes()
    outputs = []  # a notebook's Out holds what every run returned
    for i in range(reruns):
        outputs.append(rerun(i + 5))
    for i in range(updates):
        move(outputs[-1], i)
    gc.collect()
    grown = megabytes() - before
    for explorer in list(controls._displayed):
        explorer.close()
    print(f"{kind.__name__}: {grown:.1f} MB more after {reruns} reruns and {updates} updates")
    assert grown < 20, f"{grown:.1f} MB more after {reruns} reruns and {updates} updates"
    assert registered() == widgets
    assert len(_pylab_helpers.Gcf.figs) == figures


@pytest.mark.parametrize(
    "make,error,words",
    [
        (lambda: explore(Line()), ValueError, "at least one slider"),
        (lambda: explore(Line(), a="x"), TypeError, "a must be slider"),
        (lambda: explore(object(), a=(0, 1)), TypeError, "a view has `figure`"),
        (lambda: slider(1, 0), ValueError, "low must be below high"),
        (lambda: slider(0, float("nan")), ValueError, "both finite"),
        (lambda: slider(-1e308, 1e308), ValueError, "and their distance"),
        (lambda: slider("0", 1), TypeError, "low and high must be numbers"),
        (lambda: slider(0, 1, 2), ValueError, "value must lie between 0 and 1, got 2"),
        (lambda: slider(0, 1, True), TypeError, "value must be a number"),
        (lambda: slider(0.0, 1.0, step=0), ValueError, "step must be above 0"),
        (lambda: slider(0.0, 1.0, 0.33, 0.05), ValueError, "value must be low and whole steps"),
        (lambda: slider(0, 10, 3, 2), ValueError, "value must be low and whole steps"),
        (lambda: slider(0, 1, format="%d"), ValueError, "format must be like"),
        (lambda: log_slider(0, 1), ValueError, "low must be above 0"),
        (lambda: log_slider(0.1, 10, 100), ValueError, "value must lie between"),
        (lambda: choice([]), ValueError, "options is empty"),
        (lambda: choice("ab"), TypeError, "options must be a list or a dict"),
        (lambda: choice(["a"], "b"), ValueError, "value must be one of"),
        (lambda: checkbox(1), TypeError, "value must be True or False"),
    ],
)
def test_bad_input_is_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_an_error_of_the_first_picture_is_the_cells_error():
    before = registered()
    with pytest.raises(ValueError, match="too high"):
        explore(Line(), a=slider(0.0, 1.0, 1.0))
    gc.collect()
    assert registered() == before


@pytest.mark.parametrize(
    "low,high,value",
    [(-1.5, 1.5, 0.5), (0, 1.0, 0.33), (0.0, 1.0, 0.004), (2.0, 3.0, 3.0), (0.0, 7.0, None)],
)
def test_a_slider_starts_on_one_of_its_steps(low, high, value):
    """ipywidgets 8 moves one that does not."""
    traits, start = (given := slider(low, high, value)).traits, given.value
    steps = (start - low) / traits["step"]
    assert abs(steps - round(steps)) < 0.01
    assert 0.001 <= traits["step"] / (high - low) <= 0.05
    assert slider(-1.0, 1.0).traits["step"] == 0.02


def test_a_logarithmic_slider_starts_on_one_of_its_steps():
    traits = log_slider(1e-5, 0.4, 0.1).traits
    steps = (-1 - traits["min"]) / traits["step"]
    assert abs(steps - round(steps)) < 0.01


@pytest.mark.parametrize(
    "given,value",
    [((0, 7), 3), ((0, 100, None, 7), 49), ((0, 9, None, 2), 4), ((0.0, 1.0, None, 0.3), 0.6)],
)
def test_the_middle_is_one_of_the_steps(given, value):
    assert slider(*given).value == value


def test_readouts_show_real_values():
    assert control("a", slider(0.0, 1.0, unit="s")).text(0.5) == "0.50 s"
    assert control("a", log_slider(0.01, 100)).text(0.01) == "0.01"
    assert control("a", (0, 200, 10)).traits["step"] == 10
