"""A picture that follows a computation while its cell runs: `Live`.

It is a core `ipywidgets.Image`, updated in place; when the computation ends, the last picture stands in its
place as a plain PNG, so that the notebook keeps it.
"""

import base64
import time

import ipywidgets
from IPython.display import display

from helpers.drawing import Painter
from helpers.film import showing_stills
from helpers.validation import require_callable, require_number


class Live:
    """Show `view` while the block runs: `with Live(view, snapshot) as show: ... show(state)`.

    Each `show(state)` calls `view.update(**snapshot(state))` and shows the picture, but only when it is
    time for one: drawing, and what `snapshot` computes, take no more than `share` of the whole time. The
    last state is always shown, also when the block was left by an error or an interrupt.
    """

    def __init__(self, view, snapshot, share=0.08):
        require_callable("snapshot", snapshot)
        require_number("share", share, above=0)
        if share >= 1:
            raise ValueError(f"share must be less than 1, got {share}")
        self.view, self.snapshot, self.share = view, snapshot, share
        self._painter = Painter(view)
        self._still = showing_stills()
        self._image = self._last = None
        self._next_at = 0.0

    def __enter__(self):
        if not self._still:
            width, height = self._painter.size()
            self._image = ipywidgets.Image(
                value=self._painter.encoded(),
                format="png",
                width=str(width),
                height=str(height),
                layout={"max_width": "100%", "height": "auto"},
            )
            # By hand, as ipywidgets 7 shows itself without an id that could be updated.
            view_of = {"version_major": 2, "version_minor": 0, "model_id": self._image.model_id}
            data = {
                "application/vnd.jupyter.widget-view+json": view_of,
                "text/plain": self._painter.describe(),
            }
            self._place = display(data, raw=True, display_id=True)
        return self.show

    def show(self, state):
        """Show this state, if it is time for a picture. Cheap if it is not."""
        self._last = state
        began = time.perf_counter()
        if self._still or began < self._next_at:
            return
        self.view.update(**self.snapshot(state))
        self._image.value = self._painter.encoded()
        done = time.perf_counter()
        self._next_at = done + (done - began) * (1 / self.share - 1)

    def __exit__(self, *error):
        if self._last is not None:
            self.view.update(**self.snapshot(self._last))
        data = {
            "image/png": base64.b64encode(self._painter.still()).decode(),
            "text/plain": self._painter.describe(),
        }
        metadata = {"image/png": {"alt": self._painter.describe()}}
        if self._still:
            display(data, metadata=metadata, raw=True)
            return
        if self._place is not None:
            self._place.update(data, metadata=metadata, raw=True)
        for part in (self._image, self._image.layout):
            part.close()
