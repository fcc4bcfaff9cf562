"""Draws a view quickly: what stands still is drawn once, what moves is drawn over a copy of it.

This is matplotlib's blitting, with two things that it leaves to its caller. The order is kept: what
stands still but lies above something that moves (a spine over a bar, a legend over a curve) is kept as a
transparent layer and laid over again, so the picture is the one that a full redraw gives. And what stands
still is drawn anew whenever it was touched: limits, a title, the size, the camera of a 3-D plot.
"""

import struct
import zlib

import numpy as np
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.spines import Spine


class Painter:
    """Turns a view into pictures. A view has `figure`, and may have `moving` (artists) and `describe()`."""

    def __init__(self, view):
        figure = getattr(view, "figure", None)
        if not isinstance(figure, Figure) or figure is view or not hasattr(view, "update"):
            raise TypeError(
                "a view has `figure`, a matplotlib Figure, and `update(**values)`; "
                f"{type(view).__name__} has not"
            )
        self.view = view
        self.figure = figure
        if not isinstance(figure.canvas, FigureCanvasAgg):
            FigureCanvasAgg(figure)
        self._touched = _Touched.of(figure)
        self._drawn_as = None
        self._background = None
        self._layers = None
        self._still_depths = []
        self._settled = True
        self._rows = None

    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.figure.canvas.get_width_height()

    def describe(self) -> str:
        """The view's words for its picture, or "" where it has none."""
        describe = getattr(self.view, "describe", None)
        return describe() if describe else ""

    def encoded(self) -> bytes:
        """The picture now as PNG. Quick to make, lossless, larger by a tenth than matplotlib's."""
        pixels = self.pixels()
        height, width, channels = pixels.shape
        if self._rows is None or self._rows.shape != (height, 1 + width * channels):
            self._rows = np.zeros((height, 1 + width * channels), np.uint8)
        self._rows[:, 1:] = pixels.reshape(height, -1)
        return png(self._rows, width)

    def still(self) -> bytes:
        """The picture now as PNG to keep in a notebook: same picture, same bytes."""
        return self.view.png() if hasattr(self.view, "png") else self.encoded()

    def pixels(self) -> np.ndarray:
        """The picture now, (height, width, 4) bytes; good until the next call."""
        canvas = self.figure.canvas
        moving = list(_flatten(getattr(self.view, "moving", None) or []))
        if not moving or not self._can_layer(moving):
            _animate(moving, False)
            self._layers = self._drawn_as = None
            canvas.draw()
            return np.asarray(canvas.buffer_rgba())

        known = self._drawn_as is not None and self._drawn_as == self._state(moving)
        if known and self._layers is not None:
            self._settled = True
        elif known or self._settled:
            self._draw_layers(moving)
            self._settled = False
        else:  # what stands still was touched twice in a row: layers are not worth their making
            _animate(moving, False)
            canvas.draw()
            _animate(moving, True)
            self._layers = None
            self._drawn_as = self._state(moving)
            return np.asarray(canvas.buffer_rgba())
        canvas.restore_region(self._background)
        pixels = np.asarray(canvas.buffer_rgba())
        renderer = canvas.get_renderer()
        for artists, above in self._layers:
            for artist in artists:
                if hasattr(artist, "do_3d_projection"):
                    artist.do_3d_projection()
                artist.draw(renderer)
            if above is not None:
                above.lay_over(pixels)
        self._drawn_as = self._state(moving)
        return pixels

    def _can_layer(self, moving) -> bool:
        """Whether the order of drawing is known: not for artists inside a legend, a table or an inset,
        nor where an axes lies over one in which something moves."""
        direct = set(map(id, self.figure.get_children()))
        for axes in self.figure.axes:
            direct.update(map(id, axes.get_children()))
        if not all(id(artist) in direct for artist in moving):
            return False
        stirred = {id(artist.axes) for artist in moving if artist.axes not in (None, artist)}
        axes = sorted((a for a in self.figure.axes if a.get_visible()), key=lambda a: a.zorder)
        return not any(
            id(lower) in stirred and lower.bbox.overlaps(upper.bbox)
            for i, lower in enumerate(axes)
            for upper in axes[i + 1 :]
        )

    def _state(self, moving):
        """What the layers depend on. Equal before and after `update`: they are still right."""
        cameras = []
        for axes in self.figure.axes:
            cameras.append(axes.viewLim.bounds)
            if hasattr(axes, "get_w_lims"):
                cameras.append((*axes.get_w_lims(), axes.elev, axes.azim, axes.roll))
        depths = [
            *self._still_depths,
            *((_depth(a), id(a)) for a in moving if _depth(a) is not None),
        ]
        return (
            self._touched.count,
            self.figure.dpi,
            tuple(self.figure.get_size_inches()),
            cameras,
            [(id(a), a.zorder, a.get_visible()) for a in moving],
            [name for _, name in sorted(depths)],
        )

    def _draw_layers(self, moving):
        """Draw all that stands still, split at each artist that moves."""
        figure, canvas = self.figure, self.figure.canvas
        _animate(moving, True)
        self._draw_still()  # settles layout, 3-D order and tick labels before they are looked at
        runs = self._runs(moving)
        self._still_depths = [
            (_depth(a), id(a))
            for axes in self.figure.axes
            for a in axes.get_children()
            if not a.get_animated() and _depth(a) is not None
        ]
        lifted = [artist for _, still in runs for artist in still]
        paper, engine = figure.patch, figure.get_layout_engine()
        paper_was = (paper.get_facecolor(), paper.get_alpha(), paper.get_visible())
        patches = [(axes.patch, axes.patch.get_visible()) for axes in figure.axes]
        boxes = [a for a in figure.axes if hasattr(a, "get_w_lims") and a._axis3don]
        others = [
            artist
            for parent in (figure, *figure.axes)
            for artist in parent.get_children()
            if not artist.get_animated() and artist not in figure.axes
        ]
        try:
            _animate(lifted, True)
            self._draw_still()
            self._background = canvas.copy_from_bbox(figure.bbox)
            layers = []
            figure.set_layout_engine("none")
            paper.set(alpha=None, visible=True)
            for patch, _ in patches:
                patch.set_visible(False)
            for axes in boxes:
                axes.set_axis_off()
            _animate(others, True)
            for artists, still in runs:
                above = None
                if still:
                    _animate(still, False)
                    on_black, on_white = (self._on(colour) for colour in ("black", "white"))
                    above = _Layer.of(on_black, on_white)
                    _animate(still, True)
                layers.append((artists, above))
        finally:
            _animate(others, False)
            for patch, visible in patches:
                patch.set_visible(visible)
            for axes in boxes:
                axes.set_axis_on()
            paper.set(**dict(zip(("facecolor", "alpha", "visible"), paper_was, strict=True)))
            figure.set_layout_engine(engine if engine is not None else "none")
        self._layers = layers

    def _draw_still(self):
        """Draw what is not animated. Before 3.11 matplotlib draws animated images all the same."""
        hidden = [
            image
            for axes in self.figure.axes
            for image in axes.images
            if image.get_animated() and image.get_visible()
        ]
        for image in hidden:
            image.set_visible(False)
        try:
            self.figure.canvas.draw()
        finally:
            for image in hidden:
                image.set_visible(True)

    def _on(self, colour):
        self.figure.patch.set_facecolor(colour)
        self._draw_still()
        return np.array(self.figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3).astype(np.float32)

    def _runs(self, moving):
        """[(artists that move, artists that stand still above them), ...] in the order of drawing."""
        wanted = set(map(id, moving))
        runs = []
        parents = [*sorted(self.figure.axes, key=lambda a: a.zorder), self.figure]
        for parent in parents:
            left_out = set(map(id, [parent.patch, *self.figure.axes]))
            if hasattr(parent, "get_w_lims"):  # a 3-D plot draws its box first, whatever its zorder
                left_out.update(
                    id(a) for a in parent.get_children() if isinstance(a, (Axis, Spine))
                )
            inside = False
            for artist in sorted(parent.get_children(), key=lambda a: a.zorder):
                if id(artist) in wanted:
                    if not inside or runs[-1][1]:
                        runs.append(([], []))
                    runs[-1][0].append(artist)
                    inside = True
                elif inside and id(artist) not in left_out and artist.get_visible():
                    runs[-1][1].append(artist)
        return runs


class _Layer:
    """What stands still above something that moves; most of its pixels are empty and are left out.

    How far a pixel covers what is under it follows from what it looks like on black and on white: on `x` it
    is `on_black + keep * x`.
    """

    def __init__(self, where, colour, keep):
        self.where, self.colour, self.keep = where, colour, keep

    @classmethod
    def of(cls, on_black, on_white):
        keep = (on_white - on_black) / 255
        where = np.flatnonzero((keep < 1).any(axis=1))
        return cls(where, on_black[where] + 0.5, keep[where]) if len(where) else None

    def lay_over(self, pixels):
        flat = pixels.reshape(-1, 4)
        mixed = flat[self.where, :3] * self.keep + self.colour
        flat[self.where, :3] = np.minimum(mixed, 255)


class _Touched:
    """Counts how often something that stands still in a figure was changed.

    matplotlib tells a figure when one of its artists goes stale, save artists that are `animated`, as all
    that move are.
    """

    def __init__(self, before):
        self.count = 0
        self.before = before

    @classmethod
    def of(cls, figure):
        if not isinstance(figure.stale_callback, cls):
            figure.stale_callback = cls(figure.stale_callback)
        return figure.stale_callback

    def __call__(self, figure, stale):
        self.count += 1
        if self.before is not None:
            self.before(figure, stale)


def _animate(artists, animated):
    for artist in artists:
        artist.set_animated(animated)


def _flatten(artists):
    """Artists out of lists and of matplotlib's containers (bars, error bars, stems)."""
    for artist in artists:
        if isinstance(artist, (list, tuple)):
            yield from _flatten(artist)
        elif artist is not None:
            yield artist


def _depth(artist):
    """How far behind a collection or patch of a 3-D plot lies (the farther is drawn first); else None."""
    if getattr(artist.axes, "computed_zorder", False) and hasattr(artist, "do_3d_projection"):
        return artist.do_3d_projection()
    return None


def png(rows: np.ndarray, width: int) -> bytes:
    """PNG of `rows`, (height, 1 + channels * width) bytes with a 0 ("no filter") before each row.

    Written here because it takes half the time of Pillow's, which tries five filters on every row.
    """
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.ndim != 2:
        raise TypeError("rows must be a two-dimensional array of np.uint8")
    height, length = rows.shape
    if isinstance(width, bool) or not isinstance(width, int):
        raise TypeError(f"width must be an integer, got {type(width).__name__}")
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if length not in (1 + 3 * width, 1 + 4 * width):
        raise ValueError(f"rows must be 1 + 3 or 4 times width {width} long, got {length}")
    colour_type = {3: 2, 4: 6}[(length - 1) // width]
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body
