"""Layers give the picture that a full redraw gives, and are drawn anew when they must be."""

import io
import time

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from helpers.drawing import Painter
from helpers.figures.style import View, new_figure
from tests.pictures import Busy, Line, Space, redrawn


def furthest(painter) -> int:
    """The largest difference of a colour from a full redraw, of 255."""
    quick = np.array(painter.pixels())[..., :3].astype(int)
    return int(np.abs(quick - redrawn(painter.view)).max())


# Blending rounds to 1/255, and does so several times where a 3-D surface laps over itself.
@pytest.mark.parametrize("kind,allowed", [(Busy, 2), (Line, 2), (Space, 4)])
def test_layers_give_what_a_full_redraw_gives(kind, allowed):
    view = kind()
    painter = Painter(view)
    for value in (0.0, 0.3, 0.9, 0.5):
        view.update(value)
        assert furthest(painter) <= allowed


def test_what_stands_still_above_what_moves_stays_above():
    view = Line()
    axes = view.figure.axes[0]
    view.line.set(linewidth=30, zorder=1)
    axes.axhline(0, color="red", lw=6, zorder=2)
    axes.text(0.1, 0.2, "words", zorder=9)
    view.update(0.2)
    assert furthest(Painter(view)) <= 2


def test_only_what_moves_is_drawn_again():
    view = Busy()
    painter = Painter(view)
    painter.pixels()
    drawn = []
    view.figure.axes[0].xaxis.draw = lambda renderer: drawn.append("axis")
    for value in np.linspace(0, 1, 20):
        view.update(value)
        painter.pixels()
    assert drawn == []


@pytest.mark.parametrize(
    "touch",
    [
        lambda view: view.figure.axes[0].set_xlim(-1, 2),
        lambda view: view.figure.axes[0].set_title("new"),
        lambda view: view.figure.set_size_inches(5, 3),
        lambda view: view.figure.set_dpi(80),
        lambda view: view.figure.set_facecolor("pink"),
        lambda view: view.figure.axes[0].plot([0, 1], [1, 0], color="red"),
        lambda view: view.figure.axes[0].set_position((0.3, 0.3, 0.4, 0.4)),
        lambda view: view.moving.append(view.figure.text(0.5, 0.5, "added")),
        lambda view: view.line.set_zorder(9),
        lambda view: view.line.set_visible(False),
    ],
)
def test_what_stands_still_is_drawn_again_once_touched(touch):
    view = Line()
    painter = Painter(view)
    before = painter.encoded()
    touch(view)
    view.png()  # a still in between must not hide that something was touched
    painter.pixels()
    assert furthest(painter) <= 2
    if view.line.get_zorder() != 9:
        assert painter.encoded() != before


def test_a_view_that_touches_all_at_every_update_is_redrawn_once_each():
    class Zoom(Line):
        def update(self, a):
            super().update(a)
            self.figure.axes[0].set_xlim(0, 1 + a)

    view = Zoom()
    painter = Painter(view)
    painter.pixels()
    draws = []
    view.figure.canvas.mpl_connect("draw_event", lambda event: draws.append(event))
    for value in (0.1, 0.2, 0.3, 0.4, 0.5):
        view.update(value)
        painter.pixels()
    assert len(draws) < 15
    painter.pixels()  # nothing was touched since: layers, this once
    draws.clear()
    painter.pixels()
    assert not draws


def test_turning_a_3d_plot_draws_its_box_again():
    view = Space()
    painter = Painter(view)
    for turn in (-60, -20, 40):
        view.update(0.4, turn=turn)
        assert furthest(painter) <= 4


def test_artists_whose_order_is_not_known_are_redrawn_in_full():
    class Legend(Line):
        def __init__(self):
            super().__init__()
            legend = self.figure.axes[0].legend([self.line], ["start"])
            self.text = legend.get_texts()[0]
            self.moving = [self.line, self.text]

        def update(self, a):
            super().update(a)
            self.text.set_text(f"{a:.2f}")

    view = Legend()
    painter = Painter(view)
    for value in (0.1, 0.7):
        view.update(value)
        assert furthest(painter) == 0


def test_axes_over_axes_are_redrawn_in_full():
    view = Line()
    view.figure.add_axes((0.3, 0.3, 0.5, 0.5)).plot([0, 1], color="red")
    painter = Painter(view)
    view.update(0.5)
    assert furthest(painter) == 0


def test_a_view_needs_only_a_figure_and_update():
    class Bare:
        def __init__(self):
            self.figure = Figure(figsize=(2, 1))
            (self.line,) = self.figure.add_subplot().plot([0, 1])

        def update(self, a):
            self.line.set_ydata([0, a])

    view = Bare()
    painter = Painter(view)
    before = painter.encoded()
    view.update(0.5)
    assert painter.encoded() != before
    assert painter.describe() == ""


def test_something_else_than_a_view_is_refused():
    with pytest.raises(TypeError, match="a view has `figure`"):
        Painter(Figure())


def test_png_holds_the_pixels():
    painter = Painter(Busy())
    decoded = np.asarray(Image.open(io.BytesIO(painter.encoded())).convert("RGB"))
    assert np.array_equal(decoded, np.array(painter.pixels())[..., :3])


def test_the_still_is_the_same_after_layers_were_drawn():
    view = Busy()
    view.update(0.3)
    before = view.png()
    painter = Painter(view)
    painter.pixels()
    assert view.png() == before


def test_layers_keep_an_automatic_layout():
    class Laid(View):
        def __init__(self):
            self.figure = new_figure(5, 3)
            self.figure.set_layout_engine("constrained")
            axes = self.figure.add_subplot(xlabel="a\nlabel", ylim=(0, 1))
            (self.line,) = axes.plot([0, 1])
            self.moving = [self.line]

        def update(self, a):
            self.line.set_ydata([0, a])

    view = Laid()
    painter = Painter(view)
    view.update(0.4)
    assert furthest(painter) <= 2
    assert view.figure.get_layout_engine() is not None


def test_an_update_is_several_times_faster_than_a_full_redraw():
    view = Busy()
    painter = Painter(view)
    painter.pixels()

    def fastest(draw):
        times = []
        for value in np.linspace(0, 1, 12):
            view.update(value)
            start = time.perf_counter()
            draw()
            times.append(time.perf_counter() - start)
        return min(times)

    quick = fastest(painter.pixels)
    assert quick < 0.5 * fastest(lambda: redrawn(view))
