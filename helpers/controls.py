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
import signal
import sys
import threading
import time
import traceback
import weakref

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from helpers.drawing import Painter
from helpers.film import (
    KEEP_KEYS,
    display_as_film,
    display_how_to_run,
    film,
    showing_films,
    showing_stills,
)
from helpers.sliders import checkbox, choice, control, log_slider, slider

__all__ = ["Explorer", "checkbox", "choice", "explore", "film", "log_slider", "slider"]

# In a burst of changes a picture waits this long for the next change (seconds), which may be under way:
# a kernel takes 1 to 2 ms for each. But no one waits for a picture longer than LONGEST.
SETTLE = 0.004
LONGEST = 0.1
# What the picture shows is said to screen readers once the sliders have rested for this long.
REST = 0.2


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
    controls = {name: control(name, given) for name, given in controls.items()}
    if not isinstance(still, (dict, type(None))):
        raise TypeError(f"still must be a dict of values by name, got {type(still).__name__}")
    unknown = [name for name in still or () if name not in controls]
    if unknown:
        raise ValueError(
            f"still must have the sliders' names, {', '.join(map(repr, controls))}, got {unknown[0]!r}"
        )
    return Explorer(view, controls, still or {})


class Explorer:
    """A view with its sliders; made by `explore`.

    Attributes:
        controls: dict from name to widget; empty once closed.
        image: the `ipywidgets.Image` that shows the picture; None once closed.
        view: what was passed in; None once closed.
        error: the traceback of the last update and the values that caused it, or "" if it went well.
    """

    def __init__(self, view, controls, still):
        self.view = view
        self.error = ""
        self.controls = {}
        self._made = []
        self._defaults = {name: control.value for name, control in controls.items()}
        self._asked = controls
        self._labels = [control.label or name for name, control in controls.items()]
        self._painter = Painter(view)
        # JupyterLab moves sliders from a thread of their own, so that they answer while a cell runs. It
        # makes that thread when it hears of a kernel's first widget, and a slider that says something
        # earlier waits for all cells: so a widget comes first, the picture after it.
        self._lock = threading.RLock()
        self._finalizer = weakref.finalize(self, _close, self._made)
        self._finalizer.atexit = False
        reset = self._make(ipywidgets.Button, description="reset", layout={"width": "72px"})
        self._quiet = False
        self._last = self._defaults
        self._waiting = self._speaking = None
        self._waiting_since = self._drawn_at = -math.inf

        view.update(**{**self._defaults, **still})
        self._still = (self._painter.still(), self._painter.describe())
        self._still_values = {**self._defaults, **still}
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
        grid = self._make(
            ipywidgets.GridBox,
            children=[self._row(name, control) for name, control in controls.items()],
            layout={
                "grid_template_columns": "repeat(auto-fit, minmax(min(100%, 400px), 1fr))",
                "grid_gap": "0 24px",
                "overflow": "hidden",
            },
        )
        # A widget's HTML may hold no script, but a style sheet says when it is loaded.
        script = f'<style onload="{html.escape(KEEP_KEYS)}"></style>'
        keys = self._make(ipywidgets.HTML, value=script, layout={"display": "none"})
        last_row = self._make(
            ipywidgets.HBox, children=[reset, self._note, keys], layout={"overflow": "hidden"}
        )
        self._box = self._make(
            ipywidgets.VBox,
            children=[grid, last_row, self.image],
            layout={"width": "100%", "max_width": f"{width}px", "overflow": "hidden"},
        )

        self._box.add_class("explore")
        reset_soon, changed = _weakly(self.reset), _weakly(self._changed)
        reset.on_click(lambda _: reset_soon())
        for widget in self.controls.values():
            widget.observe(lambda _: changed(), "value")
        _replace_those_of_the_last_run(self)
        _answer_where_the_page_says(self._made)

    def _make(self, kind, **traits):
        widget = kind(**traits)
        self._made.append(widget)
        return widget

    def _row(self, name, control):
        label = control.label or name
        widget = self._make(
            getattr(ipywidgets, control.kind),
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
        return f"Explorer({_listed(self.values) if self.view is not None else 'closed'})"

    @property
    def values(self) -> dict:
        """The sliders' values by name."""
        return {name: widget.value for name, widget in self.controls.items()}

    def reset(self):
        """Put every slider back where it started."""
        with self._lock:
            self._quiet = True
            try:
                for name, value in self._defaults.items():
                    self.controls[name].value = value
            finally:
                self._quiet = False
            self._changed()

    def close(self):
        """Remove the sliders and let go of the view. Safe to call twice."""
        with self._lock:
            self._finalizer()
            # A notebook's Out holds what each run of a cell returned: let go of all that is large.
            self.view = self._painter = self.image = self._note = self._box = None
            self.controls = {}
            self._still = (b"", "closed")
        _displayed.discard(self)

    def _changed(self):
        """Draw now, or, in a burst of changes from the page, once those under way are in.

        Drawing at every change would replay a fast drag after the mouse has stopped.
        """
        with self._lock:
            if self._quiet or self.view is None or _same(self.values, self._last):
                return
            now = time.monotonic()
            first = self._waiting is None
            if first:
                self._waiting_since = now
            late = now - (self._drawn_at if first else self._waiting_since) > LONGEST
            if late or not _from_the_page():
                self._draw()
                return
            if not first:
                self._waiting.cancel()
            draw = _weakly(self._draw)
            self._waiting = asyncio.get_running_loop().call_later(SETTLE, _interruptible, draw)

    def _draw(self):
        with self._lock:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
            if self.view is not None:
                self._put_back_what_is_no_number()
                self._show(self.values)
                if not _from_the_page():
                    _answer_where_the_page_says(self._made)

    def _put_back_what_is_no_number(self):
        """A slider that was given NaN, which none of its limits stops, goes back to its last number."""
        was_quiet, self._quiet = self._quiet, True
        for name, widget in self.controls.items():
            if isinstance(widget.value, float) and math.isnan(widget.value):
                widget.value = self._last[name]
        self._last = self.values
        self._quiet = was_quiet

    def _show(self, values):
        try:
            self.view.update(**values)
            picture = self._painter.encoded()
            words = self._painter.describe()
        except (Exception, KeyboardInterrupt) as error:
            last_line = traceback.format_exception_only(error)[-1].strip()
            self.error = f"{traceback.format_exc()}with {_listed(values)}"
            self._note.value = _note(self._words, f"{last_line}\nwith {_listed(values)}")
        else:
            self.image.value = picture
            cleared, self.error, self._words = self.error != "", "", words
            if self._speaking is not None:
                self._speaking.cancel()
                self._speaking = None
            if cleared or not _from_the_page():
                self._speak()
            else:
                speak = _weakly(self._speak)
                self._speaking = asyncio.get_running_loop().call_later(REST, speak)
        self._drawn_at = time.monotonic()

    def _speak(self):
        with self._lock:
            if self.view is not None and not self.error:
                self._note.value = _note(self._words)

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
        if showing_films():
            display_as_film(self.view, self._asked, self._still_values)
            return
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


def _answer_where_the_page_says(widgets):
    """Let what these widgets' page sends go to the thread that it names.

    ipykernel 7.4 sends it to the thread that spoke to the page last, which for widgets that a cell made is
    the cells' own: they would answer when all cells are done.
    """
    for widget in widgets:
        if widget.comm is not None:
            vars(widget.comm).pop("_reply_subshell_id", None)


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


def _same(values, others) -> bool:
    """Whether they would give the same picture: a page that shows a slider rounds its value anew."""
    return all(
        math.isclose(value, others[name], abs_tol=1e-15)
        if isinstance(value, float)
        else value == others[name]
        for name, value in values.items()
    )


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
