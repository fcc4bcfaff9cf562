"""The picture that sliders are tested and timed with: arrows, 500 points and 16 bars on 9 by 4 inches."""

import numpy as np
from matplotlib.text import Text

from helpers.figures.style import View, new_figure


class Busy(View):
    """Everything in it moves with `t`, from 0 to 1."""

    def __init__(self, seed=0):
        self.figure = new_figure(9, 4)
        field, cloud, bars = self.figure.subplots(1, 3)
        self.figure.subplots_adjust(left=0.05, right=0.98, wspace=0.3)
        grid = np.meshgrid(np.arange(10.0), np.arange(10.0))
        self.turn = np.linspace(0, 6, 100).reshape(10, 10)
        self.arrows = field.quiver(*grid, np.ones((10, 10)), np.zeros((10, 10)))
        self.noise = np.random.default_rng(seed).normal(size=(2, 500))
        (self.points,) = cloud.plot([], [], "o", ms=4, alpha=0.5)
        cloud.set(xlim=(-3, 3), ylim=(-3, 3))
        cloud.axhline(0, color="black", lw=1)
        self.bars = bars.bar(range(16), np.zeros(16))
        bars.set_ylim(-1.1, 1.1)
        self.title = bars.set_title("t = 0.00")
        self.moving = [self.arrows, self.points, self.bars, self.title]
        self.t = 0.0

    def update(self, t):
        self.t = t
        self.arrows.set_UVC(np.cos(self.turn + 6 * t), np.sin(self.turn + 6 * t))
        self.points.set_data(*(self.noise * (0.2 + t)))
        for i, bar in enumerate(self.bars):
            bar.set_height(np.sin(i / 3 + 6 * t))
        self.title.set_text(f"t = {t:.2f}")

    def describe(self):
        return f"Arrows, points and bars at t = {self.t:.2f}."


class Line(View):
    """One line whose end is at height `a`; above 0.95 it refuses."""

    def __init__(self):
        self.figure = new_figure(4, 2)
        axes = self.figure.add_subplot()
        axes.set(xlim=(0, 1), ylim=(-1, 1))
        (self.line,) = axes.plot([0, 1], [0, 0])
        self.moving = [self.line]
        self.updates = []

    def update(self, a, **others):
        self.updates.append({"a": a, **others})
        if a > 0.95:
            raise ValueError(f"<b>{a} is too high</b>")
        self.line.set_ydata([0, a])

    def describe(self):
        return f"A line that ends at {self.line.get_ydata()[1]:.2f}."


class Space(View):
    """A ball in three dimensions, a line through it, two points, and a label."""

    def __init__(self):
        self.figure = new_figure(5, 4)
        axes = self.figure.add_subplot(projection="3d")
        u, v = np.mgrid[0 : 2 * np.pi : 17j, 0 : np.pi : 9j]
        ball = (np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v))
        axes.plot_surface(*ball, alpha=0.25)
        (self.line,) = axes.plot([0, 1], [0, 1], [0, 1], lw=3)
        self.dots = axes.scatter([1, 0], [1, 1], [1, 1], s=80)
        self.label = axes.text(1, 1, 1, "here")
        self.axes = axes
        self.moving = [self.line, self.dots, self.label]
        self.t = 0.0

    def update(self, t, turn=-60):
        self.t = t
        self.axes.view_init(azim=turn)
        self.line.set_data_3d([0, 1.5 * t], [0, 1], [0, 1 - t])
        self.dots._offsets3d = (np.array([1 - t, t]), np.array([1, t]), np.array([1 - 2 * t, t]))
        self.label.set_position_3d((t, t, t))

    def describe(self):
        return f"A line through a ball, t = {self.t:.2f}."


def redrawn(view) -> np.ndarray:
    """What a full redraw gives, (height, width, 3) bytes."""
    artists = [
        artist for parent in [view.figure, *view.figure.axes] for artist in parent.get_children()
    ]
    animated = [artist for artist in artists if artist.get_animated()]
    for artist in animated:
        artist.set_animated(False)
    view.figure.canvas.draw()
    pixels = np.array(view.figure.canvas.buffer_rgba())[..., :3]
    for artist in animated:
        artist.set_animated(True)
    return pixels


def small_texts(figure) -> list[str]:
    """Texts below 12 points, were the figure 9 inches wide."""
    figure.canvas.draw()  # makes the tick labels
    return [
        f"{text.get_text()!r} at {text.get_fontsize() * 9 / figure.get_figwidth():.1f} points"
        for text in figure.findobj(Text)
        if text.get_text().strip()
        and text.get_visible()
        and text.get_fontsize() * 9 / figure.get_figwidth() < 11.99
    ]
