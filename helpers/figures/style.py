"""One look for the whole collection: colours, sizes, and the `View` that every picture is.

The palette began as Okabe and Ito's (2008, "Color Universal Design") and Paul Tol's; some colours were made
darker and moved apart, so that each has a contrast of 3 to 1 on white and those of one picture stay apart
with the three common kinds of colour blindness (tests/test_accessible.py). The same thing has the same
colour in every notebook.
"""

import io

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from helpers.figures.given import check, checked

COLORS = {
    "input": "#222222",  # a vector before any norm; the residual trunk; data
    "rms_norm": "#0072B2",
    "layer_norm": "#D55E00",
    "qk_norm": "#882255",  # RMSNorm on queries and keys
    "all_ones": "#CC79A7",  # the all-ones direction and the mean
    "scale": "#006E45",
    "shift": "#C48812",
    "gate": "#389DD1",
    "noise": "#848484",
    "time": "#5D2879",  # t, its embedding, the condition made of it
    "broken": "#CC3311",  # a check that fails
    "x_t": "#0072B2",  # between noise and data
    "posterior_mean": "#D55E00",  # the mean of what may be under x_t; a network's guess of it
    "velocity": "#CC79A7",
    "pre_norm": "#332288",  # these three, where norms are placed
    "post_norm": "#E36E93",
    "no_norm": "#999933",
    # Five networks that are compared.
    "adarms": "#332288",
    "added_gated": "#37A193",
    "added": "#999933",
    "input_mlp": "#E36E93",
    "never_told": "#661100",
    "muted": "#6C6C6C",  # axes of reference, circles, helper lines
    "faint": "#DDDDDD",
}

# Set once for the process, not in a context: ticks are made lazily, long after a figure is built, and
# would fall back to matplotlib's defaults. Sizes are for a 9-inch wide figure seen from the back row.
matplotlib.rcParams.update(
    {
        "figure.dpi": 100,
        "savefig.dpi": 100,
        "font.family": "DejaVu Sans",
        "font.size": 13,
        "axes.titlesize": 14,
        "axes.labelsize": 13,
        "xtick.labelsize": 12,
        "ytick.labelsize": 12,
        "legend.fontsize": 12,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "lines.linewidth": 2.0,
        "mathtext.fontset": "dejavusans",
    }
)


def new_figure(width: float = 9.0, height: float = 4.0) -> Figure:
    """A figure that pyplot does not know, so that nothing is left open. Sizes in inches, 100 dots each."""
    for name, value in (("width", width), ("height", height)):
        check(name, value, float, {})
        if not 0 < value <= 100:
            raise ValueError(f"{name} must lie above 0 and be at most 100 inches, got {value}")
    figure = Figure(figsize=(width, height), dpi=100)
    FigureCanvasAgg(figure)
    return figure


class View:
    """A picture that is built once and then only moved.

    A subclass builds `self.figure` and its artists in `__init__`, lists those that `update` changes in
    `self.moving`, moves them in `update(**values)`, and says in `describe()` what the picture shows now.
    `helpers.controls.explore` puts sliders under it; shown on its own, it is a still picture.
    """

    figure: Figure
    moving: list

    def __init_subclass__(cls, **named):
        """What the annotations of `__init__` and `update` do not allow is refused; see `given`."""
        super().__init_subclass__(**named)
        for method in ("__init__", "update"):
            if method in vars(cls):
                setattr(cls, method, checked(vars(cls)[method]))

    def update(self, **values):
        """Move the artists to these values. Draws nothing: whoever shows the picture draws."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the picture shows at this moment, in words, for readers who cannot see it."""
        raise NotImplementedError

    def png(self) -> bytes:
        """The whole picture as PNG bytes, with no date or version in them: same picture, same bytes.

        Kept in the notebooks, so it is kept small: 256 colours, which line drawings do not exceed visibly.
        """
        # A live explorer marks what moves as animated, and matplotlib leaves such texts out of a file.
        animated = self.figure.findobj(lambda artist: artist.get_animated())
        for artist in animated:
            artist.set_animated(False)
        drawn = io.BytesIO()
        self.figure.savefig(drawn, format="png", metadata={"Software": None})
        for artist in animated:
            artist.set_animated(True)
        small = io.BytesIO()
        picture = Image.open(drawn).convert("RGB")
        picture.quantize(256, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
        return small.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        alt = self.describe()
        return {"image/png": self.png(), "text/plain": alt}, {"image/png": {"alt": alt}}
