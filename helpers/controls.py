"""Sliders under a picture: `explore` (live, needs a kernel) and `film` (drawn once, needs none).

Both take a view: an object with `figure`, `moving` (the artists that `update` moves), `update(**values)`
and `describe()`; `helpers.figures.style.View` is such a class, and this module knows no lesson.

Only what ipywidgets 7.7.1 and 8 both have is used, and of that only what works on Colab: plain sliders,
`observe`, and a core `Image`. No `Output` and no `interact` (they flicker and pile up copies), no `jslink`
and no `Play` (they differ between the two).
"""

import asyncio
import base64
import html
import math
import numbers
import signal
import sys
import threading
import time
import traceback
import weakref
from dataclasses import dataclass, field

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from helpers.drawing import Painter
from helpers.film import display_how_to_run, film, showing_stills

__all__ = ["Explorer", "checkbox", "choice", "explore", "film", "log_slider", "slider"]

# A change that comes this long after the last picture is drawn at once. Within a burst (seconds):
PAUSE = 0.1
SETTLE = (
    0.004  # wait for the next change that is already under way; a kernel takes 1 to 2 ms for each
)
LONGEST = 0.1  # but never keep the learner waiting longer than this for a picture


@dataclass
class Control:
    """What one slider, menu or checkbox is to be; `explore` makes the widget when it knows the name."""

    kind: type
    value: object
    label: str | None = None
    unit: str = ""
    traits: dict = field(default_factory=dict)


def slider(low, high, value=None, step=None, label=None, format=None, unit=""):
    """A linear slider from `low` to `high`; integers give an integer slider.

    Args:
        value: where it starts and what "reset" returns to; the middle if left out.
        step: one press of an arrow key; 1 for integers, a hundredth of the way otherwise.
        label: the name shown; the keyword's own name if left out.
        format: how the value is shown, as in d3-format (".2f", "d", ".0%").
        unit: a few letters after the value, such as "°" or "steps".
    """
    _check_range(low, high)
    whole = all(isinstance(v, numbers.Integral) for v in (low, high, step or 1))
    whole = whole and (value is None or isinstance(value, numbers.Integral))
    if value is None:
        value = (low + high) // 2 if whole else (low + high) / 2
    _check_inside("value", value, low, high)
    if step is None:
        step = 1 if whole else (high - low) / 100
    if not step > 0:
        raise ValueError(f"step must be above 0, got {step!r}")
    kind, cast = (ipywidgets.IntSlider, int) if whole else (ipywidgets.FloatSlider, float)
    traits = {
        "min": cast(low),
        "max": cast(high),
        "step": cast(step),
        "readout_format": format or ("d" if whole else ".2f"),
    }
    return Control(kind, cast(value), label, unit, traits)


def log_slider(low, high, value=1.0, label=None, format=".3g", unit=""):
    """A slider that moves by equal factors: `low`, `high` and `value` are the real values (0.01 to 100).

    An arrow key moves by a hundredth of the way. The rest is as for `slider`.
    """
    _check_range(low, high)
    if low <= 0:
        raise ValueError(f"low must be above 0 for a logarithmic slider, got {low!r}")
    _check_inside("value", value, low, high)
    lowest, highest = math.log10(low), math.log10(high)
    traits = {
        "base": 10,
        "min": lowest,
        "max": highest,
        "step": (highest - lowest) / 100,
        "readout_format": format,
    }
    return Control(ipywidgets.FloatLogSlider, float(value), label, unit, traits)


def choice(options, value=None, label=None):
    """A menu. `options` is a list of values, or a dict from what is shown to the value it stands for."""
    if isinstance(options, dict):
        pairs = list(options.items())
    elif isinstance(options, (list, tuple)):
        pairs = [(str(option), option) for option in options]
    else:
        raise TypeError(f"options must be a list or a dict, got {type(options).__name__}")
    if not pairs:
        raise ValueError("options is empty: a menu needs at least one")
    allowed = [option for _, option in pairs]
    if value is None:
        value = allowed[0]
    if value not in allowed:
        raise ValueError(f"value must be one of {allowed}, got {value!r}")
    return Control(ipywidgets.Dropdown, value, label, "", {"options": pairs})


def checkbox(value=False, label=None):
    """A box to tick: True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"value must be True or False, got {value!r}")
    return Control(ipywidgets.Checkbox, value, label, "", {"indent": False})


def explore(view, *, still=None, **controls):
    """Show `view` with sliders under it; moving one calls `view.update(**values)` and shows the picture.

    Args:
        view: has `figure` and `update(**values)`. Artists listed in `moving` are redrawn alone, which is
            several times faster than the whole figure; without that list everything is redrawn.
        still: the values of the picture kept for readers without a kernel; the sliders' first values if
            left out.
        controls: by the name that `update` takes: `slider(...)`, `log_slider(...)`, `choice(...)`,
            `checkbox(...)`, or for short a pair `(low, high)`, a list of choices, or True or False.

    Returns:
        An `Explorer`. End a cell with it, or pass it to `display`.
    """
    if not controls:
        raise ValueError("explore needs at least one slider, such as shift=(-200, 200)")
    controls = {name: _control(name, given) for name, given in controls.items()}
    return Explorer(view, controls, still or {})


def _control(name, given):
    if isinstance(given, Control):
        return given
    if isinstance(given, bool):
        return checkbox(given)
    if isinstance(given, tuple) and len(given) in (2, 3) and _all_numbers(given):
        low, high, *step = given
        return slider(low, high, step=step[0] if step else None)
    if isinstance(given, (list, dict)):
        return choice(given)
    raise TypeError(
        f"{name} must be slider(...), log_slider(...), choice(...), checkbox(...), a pair of numbers, "
        f"a list or a bool; got {given!r}"
    )


def _all_numbers(values):
    return all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values)


def _check_range(low, high):
    if not _all_numbers((low, high)):
        raise TypeError(f"low and high must be numbers, got {low!r} and {high!r}")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"low must be below high, both finite, got {low!r} and {high!r}")


def _check_inside(name, value, low, high):
    if not _all_numbers((value,)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, got {value!r}")


class Explorer:
    """A view with its sliders; made by `explore`.

    Attributes:
        controls: dict from name to widget.
        image: the `ipywidgets.Image` that shows the picture.
        view: what was passed in; None once closed.
        error: the traceback of the last update and the values that caused it, or "" if it went well.
    """

    def __init__(self, view, controls, still):
        self.view = view
        self.error = ""
        self.controls = {}
        self._made = []
        self._defaults = {name: control.value for name, control in controls.items()}
        self._labels = [control.label or name for name, control in controls.items()]
        self._painter = Painter(view)
        self._quiet = False
        self._waiting = None
        self._waiting_since = self._drawn_at = -math.inf

        view.update(**{**self._defaults, **still})
        self._still = (self._painter.still(), self._painter.describe())
        if still:
            view.update(**self._defaults)

        self._words = self._painter.describe()
        width, height = self._painter.size()
        self.image = self._make(
            ipywidgets.Image,
            value=self._painter.encoded(),
            format="png",
            width=str(width),
            height=str(height),
            layout={"max_width": "100%", "height": "auto", "align_self": "flex-start"},
        )
        self._note = self._make(
            ipywidgets.HTML,
            value=_note(self._words),
            layout={"flex": "1 1 auto", "min_width": "0", "height": "36px", "margin": "0 0 0 12px"},
        )
        reset = self._make(ipywidgets.Button, description="reset", layout={"width": "72px"})
        grid = self._make(
            ipywidgets.GridBox,
            children=[self._row(name, control) for name, control in controls.items()],
            layout={
                "grid_template_columns": "repeat(auto-fit, minmax(min(100%, 400px), 1fr))",
                "grid_gap": "0 24px",
                "overflow": "hidden",
            },
        )
        last_row = self._make(
            ipywidgets.HBox, children=[reset, self._note], layout={"overflow": "hidden"}
        )
        self._box = self._make(
            ipywidgets.VBox,
            children=[grid, last_row, self.image],
            layout={"width": "100%", "max_width": f"{width}px", "overflow": "hidden"},
        )

        reset_soon, changed = _weakly(self.reset), _weakly(self._changed)
        reset.on_click(lambda _: reset_soon())
        for widget in self.controls.values():
            widget.observe(lambda _: changed(), "value")
        self._finalizer = weakref.finalize(self, _close, self._made)
        self._finalizer.atexit = False
        _replace_those_of_the_last_run(self)

    def _make(self, kind, **traits):
        widget = kind(**traits)
        self._made.append(widget)
        return widget

    def _row(self, name, control):
        label = control.label or name
        widget = self._make(
            control.kind,
            value=control.value,
            description=label,
            layout={"width": "auto", "flex": "1 1 auto", "min_width": "0"},
            style={"description_width": f"{max(6, 0.6 * len(label) + 0.6):.1f}em"},
            **control.traits,
        )
        self.controls[name] = widget
        if not control.unit:
            return widget
        unit = self._make(ipywidgets.Label, value=control.unit, layout={"flex": "0 0 auto"})
        return self._make(ipywidgets.HBox, children=[widget, unit], layout={"overflow": "hidden"})

    def __repr__(self):
        return f"Explorer({_listed(self.values)})"

    @property
    def values(self) -> dict:
        """The sliders' values by name."""
        return {name: widget.value for name, widget in self.controls.items()}

    def reset(self):
        """Put every slider back where it started."""
        self._quiet = True
        try:
            for name, value in self._defaults.items():
                self.controls[name].value = value
        finally:
            self._quiet = False
        self._changed()

    def close(self):
        """Remove the sliders and let go of the view. Safe to call twice."""
        self._finalizer()
        self.view = self._painter = None
        self.image.value = b""
        self._still = (b"", "closed")
        _displayed.discard(self)

    def _changed(self):
        """Draw now, or, in a burst of changes from the page, once those under way are in.

        Drawing at every change would replay a fast drag after the mouse has stopped.
        """
        if self._quiet or self.view is None:
            return
        now = time.monotonic()
        if not _from_the_page() or (self._waiting is None and now - self._drawn_at > PAUSE):
            self._draw()
            return
        if self._waiting is None:
            self._waiting_since = now
        else:
            self._waiting.cancel()
        wait = min(SETTLE, max(0.0, self._waiting_since + LONGEST - now))
        draw = _weakly(self._draw)
        self._waiting = asyncio.get_running_loop().call_later(wait, _interruptible, draw)

    def _draw(self):
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self.view is None:
            return
        values = self.values
        try:
            self.view.update(**values)
            picture = self._painter.encoded()
            words = self._painter.describe()
        except (Exception, KeyboardInterrupt) as error:
            last_line = traceback.format_exception_only(error)[-1].strip()
            self.error = f"{traceback.format_exc()}with {_listed(values)}"
            self._note.value = _note(self._words, f"{last_line}\nwith {_listed(values)}")
        else:
            self.error, self._words = "", words
            self.image.value = picture
            self._note.value = _note(words)
        self._drawn_at = time.monotonic()

    def _repr_mimebundle_(self, include=None, exclude=None):
        picture, words = self._still
        data = {"image/png": base64.b64encode(picture).decode(), "text/plain": words}
        if not showing_stills() and self.view is not None:
            data["application/vnd.jupyter.widget-view+json"] = {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self._box.model_id,
            }
        return data, {"image/png": {"alt": words}}

    def _ipython_display_(self):
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        if showing_stills():
            display_how_to_run(self._labels)
        elif self.view is not None:
            _displayed.add(self)


# An Explorer lives as long as someone holds it. One that is on show and held by nobody (`display(explore(
# ...))`) is held here, until its cell makes a new one: ipywidgets itself would keep its widgets for ever.
_displayed = set()
_made_by_cell = {}


def _replace_those_of_the_last_run(explorer):
    """Close what an earlier run of the same cell made."""
    request = _request()
    if request.get("msg_type") != "execute_request":
        return
    run = request["header"]["msg_id"]
    cell = request.get("metadata", {}).get("cellId") or hash(request["content"].get("code"))
    last_run, made = _made_by_cell.get(cell, (None, ()))
    if last_run != run:
        for old in list(made):
            old.close()
        made = weakref.WeakSet()
        _made_by_cell[cell] = (run, made)
    made.add(explorer)


def _request() -> dict:
    """The message that the kernel is working on; empty where there is no kernel."""
    kernel = getattr(get_ipython(), "kernel", None)
    return (kernel.get_parent() or {}) if kernel is not None else {}


def _from_the_page() -> bool:
    """Whether a slider was moved in the page, and not by code in a cell, which expects its picture now."""
    return _request().get("msg_type") == "comm_msg"


def _interruptible(draw):
    """Call `draw` from the kernel's loop, where it would ignore Ctrl-C, as though from a cell."""
    if threading.current_thread() is not threading.main_thread():
        draw()
        return
    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            draw()
        finally:
            signal.signal(signal.SIGINT, before)
    except KeyboardInterrupt:  # came between the lines above; past here it would end the kernel
        pass


def _weakly(method):
    """The method, called only while its object lives: widgets must not keep their Explorer alive."""
    reference = weakref.WeakMethod(method)

    def call():
        target = reference()
        if target is not None:
            target()

    return call


def _close(widgets):
    """Close widgets with their layouts and styles, which ipywidgets' registry else keeps for ever."""
    if sys.is_finalizing():
        return
    for widget in widgets:
        for part in (widget, widget.layout, getattr(widget, "style", None)):
            if part is not None:
                part.unobserve_all()
                part.close()
    widgets.clear()


def _listed(values):
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _note(words, error=""):
    """HTML: the error where there is one, and `words` for screen readers, which take no room."""
    shown = (
        "<div role='alert' style='color:#b00020;font-size:12px;line-height:17px;max-height:35px;"
        f"overflow:auto;white-space:pre-wrap'>{html.escape(error)}</div>"
        if error
        else ""
    )
    return shown + (
        "<div role='status' style='position:absolute;width:1px;height:1px;overflow:hidden;"
        f"clip-path:inset(50%);white-space:nowrap'>{html.escape(words)}</div>"
    )
