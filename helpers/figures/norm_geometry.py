"""Lesson 01's pictures: what LayerNorm and RMSNorm do to a vector.

The views are given the norms as functions and the vectors as tensors; they only draw what comes back.
"""

from collections.abc import Callable, Mapping

import numpy as np

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure

RADIUS = np.sqrt(3.0)  # a vector of three entries with RMS 1 has this length


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double())


def _entries(x: np.ndarray, form: str) -> str:
    return "[" + ", ".join(f"{value:{form}}" for value in x) + "]"


def _space(figure, box, limit: float, zoom: float = 1.5):
    """Empty 3-D axes, seen from the side of the all-ones direction so that it is not foreshortened."""
    axes = figure.add_axes(box, projection="3d")
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), zlim=(-limit, limit))
    axes.set_box_aspect((1, 1, 1), zoom=zoom)
    axes.view_init(elev=14, azim=-38)
    axes.set_axis_off()
    return axes


def _grid_on_sphere(meridians: int = 8, parallels: int = 5) -> np.ndarray:
    """Lines of a globe of radius sqrt(3), shape (points, 3), a row of NaN between two lines."""
    angle = np.linspace(0, 2 * np.pi, 49)
    lines = []
    for longitude in np.linspace(0, np.pi, meridians, endpoint=False):
        lines.append(
            np.stack(
                [
                    np.cos(angle) * np.cos(longitude),
                    np.cos(angle) * np.sin(longitude),
                    np.sin(angle),
                ],
                axis=1,
            )
        )
    for height in np.linspace(-1, 1, parallels + 2)[1:-1]:
        ring = np.sqrt(1 - height**2)
        lines.append(
            np.stack(
                [ring * np.cos(angle), ring * np.sin(angle), np.full_like(angle, height)], axis=1
            )
        )
    gap = np.full((1, 3), np.nan)
    return RADIUS * np.concatenate([part for line in lines for part in (line, gap)])


class NormSphere(View):
    """A vector of three entries is scaled and shifted; its two images move on the sphere.

    Args:
        x: (3,) tensor, the vector to start from; its mean must not be all there is to it.
        layer_norm, rms_norm: functions from (3,) to (3,).
    """

    def __init__(self, x: Numbers(3), layer_norm: Callable, rms_norm: Callable):
        self.x, self.norms = x, {"layer_norm": layer_norm, "rms_norm": rms_norm}
        start = _numbers(x)
        self.axis = np.ones(3) / RADIUS
        across = start - start.mean()
        self.across = across / np.linalg.norm(across)

        self.figure = new_figure(9, 5.2)
        space = _space(self.figure, (-0.03, 0.16, 0.52, 0.88), 1.9)
        space.plot(*_grid_on_sphere().T, color=COLORS["faint"], lw=0.8)
        turn = np.linspace(0, 2 * np.pi, 97)
        other = np.cross(self.axis, self.across)
        circle = RADIUS * (np.outer(np.cos(turn), self.across) + np.outer(np.sin(turn), other))
        space.plot_trisurf(*circle.T, color=COLORS["layer_norm"], alpha=0.12, lw=0)
        space.plot(*circle.T, color=COLORS["layer_norm"], lw=1.5, alpha=0.7)
        space.plot(*np.outer([-2.3, 2.3], self.axis).T, color=COLORS["all_ones"], lw=1.5)
        label = dict(fontsize=12, ha="center", va="center")
        corner = dict(fontsize=12, ha="left", va="top")
        space.text(*(-2.15 * self.axis), "  all-ones", color=COLORS["all_ones"], **corner)
        space.text(*(-2.05 * self.across), "mean 0", color=COLORS["layer_norm"], **label)

        flat = self.figure.add_axes((0.55, 0.33, 0.43, 0.57))
        flat.set_aspect("equal")
        flat.set(xlim=(-2.5, 2.5), ylim=(-0.35, 2.45))
        flat.set_title("the slice through the axis and x")
        flat.set_xlabel("along all-ones", color=COLORS["all_ones"])
        flat.set_ylabel("across it")
        half = np.linspace(0, np.pi, 97)
        flat.plot(RADIUS * np.cos(half), RADIUS * np.sin(half), color=COLORS["muted"], lw=1)
        flat.axhline(0, color=COLORS["all_ones"], lw=1.5)
        flat.text(-0.25, 2.15, "mean 0", color=COLORS["layer_norm"], fontsize=12, ha="right")

        # LayerNorm's points are the larger ones, and x's rings larger still: all stay in sight where
        # they coincide.
        self.moving = []
        self.lines = {}
        sizes = {"layer_norm": 15, "rms_norm": 9}
        for name, norm in self.norms.items():
            point = _numbers(norm(x))
            ring = dict(mfc="none", mew=1.5, ms=sizes[name] + 6, ls="", zorder=4)
            space.plot(*point[:, None], "o", color=COLORS[name], **ring)
            flat.plot(*self._in_slice(point)[:, None], "o", color=COLORS[name], **ring)
        flat.plot(*self._ray(start), ":", color=COLORS["muted"], lw=1.5)
        for name in ("ray", *self.norms):
            if name == "ray":
                color, style = COLORS["input"], dict(ls="--", lw=1.5)
            else:
                color, style = COLORS[name], dict(marker="o", ms=sizes[name], ls="", zorder=5)
            self.lines[name] = (
                space.plot([0], [0], [0], color=color, **style)[0],
                flat.plot([0], [0], color=color, **style)[0],
            )
            self.moving.extend(self.lines[name])
        self.texts = {
            name: self.figure.text(
                0.03, height, "", family="DejaVu Sans Mono", fontsize=12, color=COLORS[name]
            )
            for name, height in (("input", 0.125), ("layer_norm", 0.075), ("rms_norm", 0.025))
        }
        self.figure.text(0.97, 0.125, "rings: x,  solid: x'", fontsize=12, ha="right")
        self.moving.extend(self.texts.values())
        self.update(shift=0.0, scale=1.0)

    def _in_slice(self, point: np.ndarray) -> np.ndarray:
        return np.array([point @ self.axis, point @ self.across])

    def _ray(self, point: np.ndarray) -> np.ndarray:
        """From the origin towards the point, out of the picture's slice, shape (2, 2)."""
        flat = self._in_slice(point)
        length = np.linalg.norm(flat)
        return np.stack([np.zeros(2), 5 * flat / length if length else flat], axis=1)

    def update(self, *, shift: float, scale: float):
        """Show x' = scale * x + shift, and where both norms send it."""
        moved = scale * self.x + shift
        numbers = _numbers(moved)
        self.images = {name: _numbers(norm(moved)) for name, norm in self.norms.items()}
        direction = self._ray(numbers)[:, 1]
        tip = 0.44 * (direction[0] * self.axis + direction[1] * self.across)
        self.lines["ray"][0].set_data_3d(*np.stack([np.zeros(3), tip], axis=1))
        self.lines["ray"][1].set_data(*self._ray(numbers))
        for name, point in self.images.items():
            self.lines[name][0].set_data_3d(*point[:, None])
            self.lines[name][1].set_data(*self._in_slice(point)[:, None])
        self.texts["input"].set_text(f"x'            = {_entries(numbers, '9.3f')}")
        for name, label in (("layer_norm", "LayerNorm(x')"), ("rms_norm", "RMSNorm(x')  ")):
            point = self.images[name]
            self.texts[name].set_text(
                f"{label} = {_entries(point, '9.3f')}   length {np.linalg.norm(point):.3f}"
            )

    def describe(self) -> str:
        points = ", ".join(
            f"{label} {_entries(self.images[name], '.4f')}"
            for name, label in (("layer_norm", "LayerNorm"), ("rms_norm", "RMSNorm"))
        )
        return (
            "A sphere of radius sqrt(3) with the all-ones axis and the circle of mean zero, and the "
            f"slice through the axis and x. The images of the moved vector: {points}."
        )


class GammaEllipsoid(View):
    """The learned multipliers (1 + scale) stretch the sphere into an ellipsoid and turn directions.

    Args:
        x: (3,) tensor, the vector whose image is followed.
        rms_norm: function of (3,) x and (3,) scale, to (3,).
    """

    def __init__(self, x: Numbers(3), rms_norm: Callable):
        self.x, self.rms_norm = x, rms_norm
        self.plain = _numbers(rms_norm(x, x.new_zeros(3)))
        self.globe = _grid_on_sphere()

        self.figure = new_figure(9, 4.4)
        space = _space(self.figure, (-0.05, -0.12, 0.62, 1.24), 3.6, zoom=1.35)
        space.plot(*self.globe.T, color=COLORS["faint"], lw=0.8)
        for number, axis in enumerate(np.eye(3), start=1):
            space.plot(*np.outer([0, 2.3], axis), color=COLORS["muted"], lw=1)
            space.text(*(2.6 * axis), str(number), fontsize=12, color=COLORS["muted"], ha="center")
        space.plot(*np.stack([np.zeros(3), self.plain], axis=1), color=COLORS["rms_norm"], lw=4)
        space.plot(*self.plain[:, None], "o", color=COLORS["rms_norm"], ms=13)
        (self.stretched,) = space.plot(*self.globe.T, color=COLORS["scale"], lw=0.8, alpha=0.7)
        (self.arrow,) = space.plot([0, 0], [0, 0], [0, 0], color=COLORS["scale"])
        (self.tip,) = space.plot([0], [0], [0], "o", color=COLORS["scale"], ms=9)

        bars = self.figure.add_axes((0.6, 0.24, 0.38, 0.54))
        bars.set(xlim=(-0.6, 2.6), ylim=(-2.7, 2.7), xticks=range(3))
        bars.set_xticklabels(["entry 1", "entry 2", "entry 3"])
        bars.axhline(0, color=COLORS["muted"], lw=1)
        bars.bar(np.arange(3) - 0.2, self.plain, 0.36, color=COLORS["rms_norm"], label="RMSNorm(x)")
        self.bars = bars.bar(
            np.arange(3) + 0.2,
            np.zeros(3),
            0.36,
            color=COLORS["scale"],
            label="(1 + scale) RMSNorm(x)",
        )
        self.figure.legend(
            *bars.get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.57, 1.0)
        )
        self.text = self.figure.text(0.6, 0.04, "", fontsize=13)
        self.moving = [self.stretched, self.arrow, self.tip, *self.bars, self.text]
        self.update(scale_1=0.0, scale_2=0.0, scale_3=0.0)

    def update(self, *, scale_1: float, scale_2: float, scale_3: float):
        """Show the image of x, and of the whole sphere, under the three multipliers 1 + scale_i."""
        scale = np.array([scale_1, scale_2, scale_3])
        # Adding zero turns a negative zero, which would read as "-0.00", into a plain one.
        self.image = _numbers(self.rms_norm(self.x, self.x.new_tensor(scale))) + 0.0
        self.stretched.set_data_3d(*(self.globe * (1 + scale)).T)
        self.arrow.set_data_3d(*np.stack([np.zeros(3), self.image], axis=1))
        self.tip.set_data_3d(*self.image[:, None])
        for bar, height in zip(self.bars, self.image, strict=True):
            bar.set_height(height)
        length = np.linalg.norm(self.image) * np.linalg.norm(self.plain)
        cosine = self.image @ self.plain / length if length else np.nan
        self.angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
        turned = "no direction left" if np.isnan(self.angle) else f"turned by {self.angle:.1f}°"
        self.text.set_text(f"{turned},  RMS {np.sqrt(np.mean(self.image**2)):.3f}")

    def describe(self) -> str:
        return (
            "A sphere of radius sqrt(3) and the ellipsoid that (1 + scale) makes of it; bars compare "
            f"RMSNorm(x) {_entries(self.plain, '.2f')} with its stretched image "
            f"{_entries(self.image, '.2f')}; {self.text.get_text()}."
        )


class GainPaths(View):
    """The gain of one feature over training steps, written as gamma and as 1 + scale.

    Args:
        train: function of weight_decay that returns two arrays (steps,): gamma, and 1 + scale.
        target: the gain that the loss alone would reach.
    """

    def __init__(self, train: Callable, target: float):
        self.train, self.target = train, target
        self.figure = new_figure(9, 3.8)
        axes = self.figure.add_axes((0.09, 0.18, 0.58, 0.7))
        steps = len(train(0.0)[0])
        axes.set(xlim=(0, steps - 1), ylim=(0, target + 0.25))
        axes.set_xlabel("training step")
        axes.set_title("gain of one feature")
        axes.axhline(target, color=COLORS["muted"], lw=1, ls=":")
        axes.text(
            steps * 1.02,
            target,
            "wanted by the loss",
            va="center",
            fontsize=12,
            color=COLORS["muted"],
        )
        axes.axhline(1, color=COLORS["muted"], lw=1, ls=":")
        (self.gamma,) = axes.plot([], [], color=COLORS["input"], label="gamma, from 1")
        (self.scale,) = axes.plot([], [], color=COLORS["scale"], ls="--", label="1 + scale, from 0")
        self.figure.legend(
            *axes.get_legend_handles_labels(),
            loc="upper left",
            bbox_to_anchor=(0.685, 0.72),
            borderaxespad=0,
        )
        self.text = self.figure.text(0.7, 0.18, "", fontsize=13, linespacing=1.5)
        self.moving = [self.gamma, self.scale, self.text]
        self.update(weight_decay=0.0)

    def update(self, *, weight_decay: float):
        """Train both with this decoupled weight decay and draw their paths."""
        self.paths = [np.asarray(path) for path in self.train(weight_decay)]
        for line, path in zip((self.gamma, self.scale), self.paths, strict=True):
            line.set_data(np.arange(len(path)), path)
        self.text.set_text(
            f"weight decay {weight_decay:.1f},\nat the end:\ngamma = {self.paths[0][-1]:.3f}\n"
            f"1 + scale = {self.paths[1][-1]:.3f}"
        )

    def describe(self) -> str:
        return (
            "Two curves of a feature's gain over training steps, both from 1. "
            f"The loss alone wants {self.target}. {self.text.get_text()}.".replace("\n", " ")
        )


class EpsCurve(View):
    """RMS of the output against RMS of the input, on logarithmic axes, for one eps.

    Args:
        x: (d,) tensor with RMS 1.
        rms_norm: function of x and eps, to the shape of x.
    """

    def __init__(self, x: Numbers("d"), rms_norm: Callable):
        self.x, self.rms_norm = x, rms_norm
        self.rms_in = np.logspace(-6, 6, 121)
        self.figure = new_figure(9, 4.0)
        axes = self.figure.add_axes((0.1, 0.17, 0.58, 0.72))
        axes.set(xscale="log", yscale="log", xlim=(1e-6, 1e6), ylim=(1e-6, 10))
        axes.set_xlabel("RMS of the input")
        axes.set_ylabel("RMS of the output")
        axes.axhline(1, color=COLORS["muted"], lw=1, ls=":")
        (self.curve,) = axes.plot(self.rms_in, self.rms_in, color=COLORS["rms_norm"])
        (self.knee,) = axes.plot([1], [1], "o", color=COLORS["input"], ms=10, clip_on=False)
        (self.drop,) = axes.plot([1, 1], [1e-6, 1], color=COLORS["muted"], lw=1, ls="--")
        self.text = self.figure.text(0.7, 0.4, "", fontsize=13, linespacing=1.5)
        self.moving = [self.curve, self.knee, self.drop, self.text]
        self.update(eps=1e-6)

    def update(self, *, eps: float):
        """Draw the curve for this eps and mark the input whose RMS is sqrt(eps)."""
        vectors = self.x * self.x.new_tensor(self.rms_in)[:, None]
        out = _numbers(self.rms_norm(vectors, eps))
        self.rms_out = np.sqrt(np.mean(out**2, axis=1))
        root = np.sqrt(eps)
        at_knee = np.sqrt(np.mean(_numbers(self.rms_norm(self.x * root, eps)) ** 2))
        self.curve.set_ydata(self.rms_out)
        self.knee.set_data([root], [at_knee])
        self.drop.set_xdata([root, root])
        # rms / sqrt(rms**2 + eps) = 0.99, solved for rms
        near = 0.99 / np.sqrt(1 - 0.99**2) * root
        self.text.set_text(
            f"eps = {eps:.1g}\nat RMS = sqrt(eps):\noutput RMS {at_knee:.3f}\n"
            f"within 1% of 1\nfrom RMS {near:.2g} on"
        )

    def describe(self) -> str:
        return (
            "A curve on logarithmic axes: the RMS of the output rises in proportion to the RMS of the "
            f"input, bends near sqrt(eps), then stays at 1. {self.text.get_text()}".replace(
                "\n", ", "
            )
        )


class Precision(View):
    """What a number format does to RMSNorm: statistics in that format, and in float32.

    Args:
        x: (d,) float64 tensor whose largest entry is 1.
        dtypes: name to torch dtype.
        naive, careful: functions from (d,) to (d,), the first computing in x's own dtype throughout.
            In float64 `careful` is the truth that both are compared with.
    """

    def __init__(self, x: Numbers("d"), dtypes: Mapping, naive: Callable, careful: Callable):
        self.x, self.dtypes = x, dtypes
        self.ways = {"naive": naive, "careful": careful}
        self.magnitudes = np.logspace(-4, 4, 161)
        self.curves = {
            name: {way: self._errors(dtype, norm) for way, norm in self.ways.items()}
            for name, dtype in dtypes.items()
        }
        self.figure = new_figure(9, 4.4)
        axes = self.figure.add_axes((0.11, 0.3, 0.86, 0.56))
        axes.set(xscale="log", yscale="log", xlim=(1e-4, 1e4), ylim=(1e-9, 30))
        axes.set_xlabel("magnitude: the largest entry of x")
        axes.set_ylabel("largest error")
        self.limit = [
            axes.axvline(256, color=COLORS["muted"], lw=1, ls=":"),
            axes.text(230, 5, "float16: from 256", fontsize=12, color=COLORS["muted"], ha="right"),
        ]
        colors = {"naive": COLORS["broken"], "careful": COLORS["rms_norm"]}
        labels = {"naive": "squares in this format", "careful": "squares in float32"}
        self.lines, self.dots = {}, {}
        for way in self.ways:
            # In float32 both curves are one: the first is drawn wider, so that both are seen.
            (self.lines[way],) = axes.plot(
                self.magnitudes,
                self.magnitudes,
                color=colors[way],
                label=labels[way],
                lw=4 if way == "naive" else 2,
            )
            (self.dots[way],) = axes.plot([1], [1], "o", color=colors[way], ms=10, clip_on=False)
        self.figure.legend(
            *axes.get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.1, 1.0), ncol=2
        )
        self.text = self.figure.text(0.11, 0.035, "", fontsize=13)
        self.moving = [*self.limit, *self.lines.values(), *self.dots.values(), self.text]
        self.allowed = {"dtype": list(dtypes)}
        self.update(magnitude=1.0, dtype=next(iter(dtypes)))

    def _error(self, magnitude: float, dtype, norm: Callable) -> float:
        rounded = (self.x * magnitude).to(dtype)
        wanted = _numbers(self.ways["careful"](rounded.double()))
        return float(np.max(np.abs(_numbers(norm(rounded)) - wanted)))

    def _errors(self, dtype, norm: Callable) -> np.ndarray:
        return np.array([self._error(magnitude, dtype, norm) for magnitude in self.magnitudes])

    def update(self, *, magnitude: float, dtype: str):
        """Show the errors in this number format, and mark this magnitude."""
        self.errors = {}
        for artist in self.limit:
            artist.set_visible(dtype == "float16")
        for way, norm in self.ways.items():
            # Where nothing is lost at all, a logarithmic axis has no place for it: draw it at the bottom.
            self.errors[way] = self._error(magnitude, self.dtypes[dtype], norm)
            self.lines[way].set_ydata(np.maximum(self.curves[dtype][way], 1.5e-9))
            self.dots[way].set_data([magnitude], [max(self.errors[way], 1.5e-9)])
        square = float(self.x.new_tensor([magnitude]).to(self.dtypes[dtype]).square()[0])
        self.text.set_text(
            f"{dtype}:  {magnitude:.3g}² is stored as {square:.5g};  error {self.errors['naive']:.1e} "
            f"with it, {self.errors['careful']:.1e} in float32"
        )

    def describe(self) -> str:
        return (
            "Two curves of the largest error of RMSNorm's output over the magnitude of its input, "
            f"squares kept in the number format and in float32. {self.text.get_text()}."
        )


class MeanShare(View):
    """How much of a vector's energy lies along all-ones, and how far apart the two norms then are.

    Args:
        x: (n, d) tensor of vectors without a common mean.
        layer_norm, rms_norm: functions from (n, d) to (n, d).
        largest_mean: where the slider's range ends.
    """

    def __init__(
        self,
        x: Numbers("n", "d"),
        layer_norm: Callable,
        rms_norm: Callable,
        largest_mean: float = 3.0,
    ):
        self.x, self.layer_norm, self.rms_norm = x, layer_norm, rms_norm
        self.edges = np.logspace(-6, 0, 25)
        means = np.linspace(0, largest_mean, 31)
        angles = [np.median(self._measure(mean)[1]) for mean in means]

        self.figure = new_figure(9, 4.0)
        left = self.figure.add_axes((0.09, 0.2, 0.4, 0.68))
        left.set(xscale="log", xlim=(1e-6, 1), ylim=(0, len(x)))
        left.set_xlabel("share of energy along all-ones")
        left.set_ylabel("vectors")
        self.histogram = left.stairs(np.zeros(24), self.edges, fill=True, color=COLORS["all_ones"])
        right = self.figure.add_axes((0.6, 0.2, 0.38, 0.68))
        right.set(xlim=(0, largest_mean), ylim=(0, 90), yticks=(0, 30, 60, 90))
        right.set_xlabel("mean of the entries")
        right.set_title("angle between the two norms, °")
        right.plot(means, angles, color=COLORS["input"])
        (self.dot,) = right.plot([0], [0], "o", color=COLORS["all_ones"], ms=11, clip_on=False)
        self.text = left.set_title("")
        self.moving = [self.histogram, self.dot, self.text]
        self.update(mean=0.0)

    def _measure(self, mean: float) -> tuple[np.ndarray, np.ndarray]:
        """Share of energy along all-ones, and angle between the two outputs in degrees, each (n,)."""
        moved = self.x + mean
        numbers = _numbers(moved)
        share = numbers.mean(axis=1) ** 2 / np.mean(numbers**2, axis=1)
        one, other = _numbers(self.layer_norm(moved)), _numbers(self.rms_norm(moved))
        cosine = (one * other).sum(axis=1)
        cosine /= np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        return share, np.degrees(np.arccos(np.clip(cosine, -1, 1)))

    def update(self, *, mean: float):
        """Give all vectors this mean and measure again."""
        self.share, self.angle = self._measure(mean)
        self.histogram.set_data(np.histogram(np.maximum(self.share, 1e-6), self.edges)[0])
        self.dot.set_data([mean], [np.median(self.angle)])
        self.text.set_text(f"average share {np.mean(self.share):.4f}")

    def describe(self) -> str:
        return (
            "Left, a histogram of the share of energy along all-ones, on average "
            f"{np.mean(self.share):.4f}. Right, the angle between LayerNorm's and RMSNorm's output "
            f"over the mean of the entries, now {np.median(self.angle):.1f} degrees."
        )
