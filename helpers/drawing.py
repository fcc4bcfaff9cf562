"""Draws a view quickly: what stands still is drawn once, what moves is drawn over a copy of it."""

import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image


class Painter:
    """Turns a view (`figure`, `moving`, `update`, `describe`) into pictures. Sizes are in pixels."""

    def __init__(self, view):
        self.view = view
        self.figure = view.figure
        if not isinstance(self.figure.canvas, FigureCanvasAgg):
            FigureCanvasAgg(self.figure)

    def size(self):
        return self.figure.canvas.get_width_height()

    def pixels(self) -> np.ndarray:
        """The picture now: (height, width, 3) bytes, red, green, blue."""
        self.figure.canvas.draw()
        return np.asarray(self.figure.canvas.buffer_rgba())[..., :3]

    def encoded(self) -> bytes:
        """The picture now, as PNG that is quick to make."""
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(self.pixels())).save(buffer, "PNG", compress_level=1)
        return buffer.getvalue()

    def png(self) -> bytes:
        """The picture now, as PNG to keep: same picture, same bytes."""
        if hasattr(self.view, "png"):
            return self.view.png()
        return self.encoded()

    def describe(self) -> str:
        if hasattr(self.view, "describe"):
            return self.view.describe()
        return "A picture with sliders; its view has no description."
