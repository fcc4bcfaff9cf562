"""Lesson 07's pictures: what a trained network was told, what it carries, and what it does when lied to.

The views are given arrays and plain numbers; they never see a model. Time runs from 1, noise, to 0, data.
"""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Circle

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure
from helpers.figures.training import MODEL_COLORS

PARTS = ("scale", "shift", "gate")
VERSIONS = {  # of `experiments.ablations`, in the order in which they are shown
    "scale_only": "scale only",
    "shift_only": "shift only",
    "gate_only": "gate only",
    "one_plus_gate": "gate 1 + g",
    "no_zero_init": "no zero init",
    "layer_norm": "LayerNorm",
}
BELOW_AND_ABOVE = LinearSegmentedColormap.from_list(
    "below and above", ["#0072B2", "#FFFFFF", "#D55E00"]
)


def layer_colors(count: int) -> list:
    """From the input, dark, to the last layer, light."""
    return [matplotlib.colormaps["viridis"](share) for share in np.linspace(0, 0.9, count)]


class ModulationMaps(View):
    """Scale, shift and gate of every norm as maps over time, and how large they are at one time.

    Args:
        times: (times,) in increasing order.
        told: {name: (scale, shift, gate)}, (times, width) each; the last is the final norm, which has no
            use for its gate.
    """

    def __init__(
        self,
        times: Numbers("times"),
        told: Mapping[
            str, tuple[Numbers("times", None), Numbers("times", None), Numbers("times", None)]
        ],
    ):
        self.times, self.names = np.asarray(times), list(told)
        self.values = {part: [np.asarray(told[n][i]) for n in told] for i, part in enumerate(PARTS)}
        self.values["gate"] = self.values["gate"][:-1]
        self.sizes = {
            part: [np.sqrt(np.mean(values**2, axis=1)) for values in by_norm]
            for part, by_norm in self.values.items()
        }
        self.figure = new_figure(9, 5.6)
        columns = len(self.names)
        width, height = 0.66 / columns, 0.235
        self.cursors, self.bars, self.moving = [], {}, []
        for row, part in enumerate(PARTS):
            bottom = 0.665 - 0.275 * row
            limit = max(np.quantile(np.abs(values), 0.98) for values in self.values[part])
            for column, values in enumerate(self.values[part]):
                box = (0.09 + width * column, bottom, 0.92 * width, height)
                axes = self.figure.add_axes(box)
                axes.set_yticks(())
                axes.spines[:].set_visible(True)
                # In the order of their average, so that what depends on time stands out.
                order = np.argsort(values.mean(axis=0))
                axes.imshow(
                    values[:, order].T,
                    aspect="auto",
                    origin="lower",
                    extent=(0, 1, 0, 1),
                    cmap=BELOW_AND_ABOVE,
                    vmin=-limit,
                    vmax=limit,
                    interpolation="nearest",
                )
                self.cursors.append(axes.axvline(0.5, color=COLORS["input"], lw=1.5))
                if row == 0:
                    axes.set_title(self.names[column], fontsize=13)
                if (row, column) in {(2, 0), (2, 1), (2, 2), (2, 3), (1, columns - 1)}:
                    left, right = axes.set_xticks((0, 1), ("0", "1"))
                    left.label1.set_ha("left")
                    right.label1.set_ha("right")
                else:
                    axes.set_xticks(())
            self.figure.text(0.012, bottom + height / 2, part, color=COLORS[part], va="center")
            self.figure.text(
                0.012, bottom + height / 2 - 0.05, f"±{limit:.1f}", fontsize=12, va="center"
            )
            right = self.figure.add_axes((0.79, bottom, 0.2, height))
            most = max(size.max() for size in self.sizes[part])
            right.set(xlim=(-0.6, columns - 0.4), ylim=(0, 1.05 * most), xticks=range(columns))
            right.set_xticklabels([*map(str, range(columns - 1)), "f"] if row == 2 else [])
            right.locator_params(axis="y", nbins=3)
            if row == 0:
                right.set_title("RMS at t", fontsize=13)
            if row == 2:
                right.set_xlabel("layer")
            self.bars[part] = right.bar(range(len(self.sizes[part])), 0.0, color=COLORS[part])
            self.moving.extend(self.bars[part])
        self.figure.text(0.09 + 0.66 - 0.06, 0.2, "no gate", ha="center", fontsize=12)
        self.figure.text(0.4, 0.035, "t", ha="center")
        self.text = self.figure.text(0.012, 0.035, "", fontsize=13)
        self.moving += [*self.cursors, self.text]
        self.update(t=1.0)

    def update(self, *, t: float):
        """Put the lines at t, and the bars at what is told there."""
        for cursor in self.cursors:
            cursor.set_xdata([t, t])
        self.now = {}
        for part, sizes in self.sizes.items():
            self.now[part] = [float(np.interp(t, self.times, size)) for size in sizes]
            for bar, height in zip(self.bars[part], self.now[part], strict=True):
                bar.set_height(height)
        self.t = t
        self.text.set_text(f"t = {t:.2f}")

    def describe(self) -> str:
        sizes = "; ".join(
            f"{part} {', '.join(f'{size:.2f}' for size in self.now[part])}" for part in PARTS
        )
        return (
            "Fourteen maps, scale, shift and gate of each norm: features from bottom to top, t from left "
            f"to right. Root mean square at t = {self.t:.2f}, layer by layer, the final norm last: {sizes}."
        )


class _Plane:
    """The plane of the reach task with one scene; paths are drawn in it as one line."""

    def __init__(self, figure, box, goal, obstacle, radius, title=""):
        self.axes = figure.add_axes(box)
        self.axes.set_aspect("equal")
        self.axes.set(xlim=(-0.2, 1.3), ylim=(-0.72, 0.72), xticks=(), yticks=(), title=title)
        self.axes.spines[:].set_visible(False)
        self.axes.add_patch(Circle(obstacle, radius, color=COLORS["muted"], alpha=0.35, lw=0))
        self.axes.plot([0], [0], "s", color=COLORS["input"], ms=8)
        self.axes.plot(*np.asarray(goal).reshape(2, 1), "*", color=COLORS["input"], ms=15, zorder=5)

    def paths(self, color, **style):
        return self.axes.plot([], [], color=color, **style)[0]


def _joined(chunks) -> np.ndarray:
    """Chunks (n, horizon, 2) as paths from the origin, a gap behind each: (2, points)."""
    chunks = np.asarray(chunks)
    start, gap = np.zeros((len(chunks), 1, 2)), np.full((len(chunks), 1, 2), np.nan)
    return np.concatenate([start, chunks, gap], axis=1).reshape(-1, 2).T


class CoarseToFine(View):
    """The clean guess at one time, and how much of each band it has right, over time.

    Args:
        times: (times,) in increasing order.
        x_t, guess: (times, n, horizon, 2) in the plane: the noisy chunks, and the guesses made from them.
        known: (times, bands) R² of the model, drawn solid.
        others: {name: (times, bands)} R² of other models, one of them drawn dashed.
        bands: which bands are drawn.
        scene: goal (2,), obstacle (2,), radius.
    """

    def __init__(
        self,
        times: Numbers("times"),
        x_t: Numbers("times", "n", "horizon", 2),
        guess: Numbers("times", "n", "horizon", 2),
        known: Numbers("times", "bands"),
        others: Mapping[str, Numbers("times", "bands")],
        bands: Sequence,
        scene: tuple[Numbers(2), Numbers(2), float],
    ):
        self.times, self.x_t, self.guess = np.asarray(times), np.asarray(x_t), np.asarray(guess)
        self.bands = list(bands)
        self.known = np.asarray(known)[:, self.bands]
        self.others = {name: np.asarray(values)[:, self.bands] for name, values in others.items()}
        self.figure = new_figure(9, 4.2)
        plane = _Plane(self.figure, (0.0, 0.1, 0.48, 0.78), *scene)
        self.noisy = plane.paths(COLORS["noise"], lw=0.7, alpha=0.6)
        self.guesses = plane.paths(COLORS["posterior_mean"], lw=1.5)
        axes = self.figure.add_axes((0.55, 0.24, 0.34, 0.61))
        axes.set(xlim=(1, 0), ylim=(0, 1.02), yticks=(0, 0.5, 1), xlabel="t, from noise to data")
        axes.set_title("R² of the guess, band by band")
        axes.axhline(0.5, color=COLORS["muted"], lw=1, ls=":")
        self.dashed, self.dots = [], []
        rows = zip(self.bands, self.known.T, layer_colors(len(self.bands)), strict=True)
        for row, (band, values, color) in enumerate(rows):
            axes.plot(self.times, values, color=color)
            self.dashed += axes.plot([], [], color=color, lw=1.6, ls=(0, (2, 1.5)))
            self.dots += axes.plot([], [], "o", ms=8, color=color, clip_on=False)
            self.figure.text(0.905, 0.8 - 0.08 * row, f"band {band}", color=color)
        self.cursor = axes.axvline(1, color=COLORS["input"], lw=1.5)
        self.text = self.figure.text(0.02, 0.92, "")
        self.note = self.figure.text(0.55, 0.03, "", fontsize=12)
        self.moving = [self.noisy, self.guesses, self.cursor, *self.dashed, *self.dots]
        self.moving += [self.text, self.note]
        self.allowed = {"dashed": list(others)}
        self.update(t=1.0, dashed=next(iter(self.others)))

    def update(self, *, t: float, dashed: str):
        """Show the guesses made at the nearest of the times; draw the model `dashed` over the first."""
        index = int(np.abs(self.times - t).argmin())
        self.t, self.shown = float(self.times[index]), dashed
        self.noisy.set_data(*_joined(self.x_t[index]))
        self.guesses.set_data(*_joined(self.guess[index]))
        self.cursor.set_xdata([self.t, self.t])
        self.now = self.known[index]
        for dot, line, value, other in zip(
            self.dots, self.dashed, self.now, self.others[dashed].T, strict=True
        ):
            dot.set_data([self.t], [np.clip(value, 0, 1)])
            line.set_data(self.times, other)
        self.text.set_text(f"t = {self.t:.2f}:  x_t in grey, the guess in orange")
        self.note.set_text(f"solid: adaRMS;  dashed: {dashed}")

    def describe(self) -> str:
        shown = ", ".join(f"band {b} {v:.2f}" for b, v in zip(self.bands, self.now, strict=True))
        return (
            f"Noisy chunks and the clean guesses made from them at t = {self.t:.2f}, past an obstacle. "
            f"Beside them R² of the guess by band over t, for adaRMS and for {self.shown}; adaRMS now: "
            f"{shown}."
        )


class LieSamples(View):
    """Samples of a network of which one layer, or all, is told the same wrong time at every step.

    Args:
        told: (told,) the wrong times, in increasing order.
        samples: {place: (told, n, horizon, 2)} in the plane, all from the same noise.
        success: {place: (told,)} share of many scenes; honest: that of the network told the truth.
        scene: goal (2,), obstacle (2,), radius.
    """

    def __init__(
        self,
        told: Numbers("told"),
        samples: Mapping[str, Numbers("told", "n", "horizon", 2)],
        success: Mapping[str, Numbers("told")],
        honest: float,
        scene: tuple[Numbers(2), Numbers(2), float],
    ):
        self.told = np.asarray(told)
        self.samples = {place: np.asarray(values) for place, values in samples.items()}
        self.success = {place: np.asarray(values) for place, values in success.items()}
        self.honest = honest
        self.figure = new_figure(9, 4.2)
        plane = _Plane(self.figure, (0.0, 0.08, 0.5, 0.8), *scene)
        self.paths = plane.paths(COLORS["adarms"], lw=1.0, alpha=0.75)
        axes = self.figure.add_axes((0.6, 0.17, 0.38, 0.66))
        axes.set(xlim=(0, 1), ylim=(0, 1.15), yticks=(0, 0.5, 1), xlabel="the time it is told")
        axes.set_title("share of scenes solved")
        axes.axhline(honest, color=COLORS["muted"], lw=1, ls=":")
        axes.text(1, 1.05, "dotted: told the truth", ha="right", fontsize=12, color="#555555")
        for values in self.success.values():
            axes.plot(self.told, values, color=COLORS["faint"], lw=1.5)
        (self.curve,) = axes.plot([], [], color=COLORS["time"], lw=2.5)
        (self.dot,) = axes.plot([], [], "o", color=COLORS["time"], ms=11, clip_on=False)
        self.text = self.figure.text(0.02, 0.92, "")
        self.moving = [self.paths, self.curve, self.dot, self.text]
        self.allowed = {"layer": list(samples)}
        self.update(told=0.5, layer=next(iter(self.samples)))

    def update(self, *, told: float, layer: str):
        """Tell `layer` the nearest of the wrong times."""
        index = int(np.abs(self.told - told).argmin())
        self.now = float(self.success[layer][index])
        self.paths.set_data(*_joined(self.samples[layer][index]))
        self.curve.set_data(self.told, self.success[layer])
        self.dot.set_data([self.told[index]], [self.now])
        self.text.set_text(
            f"{layer} told t = {self.told[index]:.2f} at every step: {self.now:.0%} solved"
        )

    def describe(self) -> str:
        return (
            f"Sampled paths past an obstacle. {self.text.get_text()}, against {self.honest:.0%} when told "
            "the truth. Beside them the share solved over the time that is told."
        )


class ProbeByDepth(View):
    """What a straight line reads of the time, in one model at one depth, and in all models by depth.

    Args:
        time: (n,) the real times.
        guesses: (depths, n) the probe's, for one model.
        shown: the name of that model.
        found: {model: (seeds, depths)} R² of each seed.
        names: {model: its name}.
    """

    def __init__(
        self,
        time: Numbers("n"),
        guesses: Numbers("depths", "n"),
        shown: str,
        found: Mapping[str, Numbers(None, "depths")],
        names: Mapping[str, str],
    ):
        self.time, self.guesses, self.shown = np.asarray(time), np.asarray(guesses), shown
        self.found = {model: np.asarray(values) for model, values in found.items()}
        self.names = names
        depths = len(self.guesses)
        self.figure = new_figure(9, 4.4)
        left = self.figure.add_axes((0.075, 0.16, 0.29, 0.66))
        left.set(xlim=(0, 1), ylim=(-0.2, 1.2), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        left.set(xlabel="t", ylabel="t read from the stream")
        left.plot([0, 1], [0, 1], color=COLORS["muted"], lw=1)
        (self.points,) = left.plot([], [], ".", ms=4, color=MODEL_COLORS["none"], alpha=0.5)
        self.title = left.set_title("", fontsize=13)
        right = self.figure.add_axes((0.44, 0.16, 0.24, 0.66))
        right.set(xlim=(-0.2, depths - 0.8), xticks=range(depths), ylim=(0.6, 1.01))
        right.set(xlabel="blocks passed")
        right.set_title("R² by depth", fontsize=13)
        for row, (model, values) in enumerate(self.found.items()):
            color = MODEL_COLORS[model]
            right.plot(range(depths), values.T, color=color, lw=0.8, alpha=0.6)
            right.plot(range(depths), values.mean(axis=0), color=color, lw=2.5, marker="o", ms=5)
            self.figure.text(0.7, 0.76 - 0.085 * row, names[model], color=color, fontsize=12)
        self.cursor = right.axvline(0, color=COLORS["input"], lw=1, ls="--")
        self.moving = [self.points, self.cursor, self.title]
        self.allowed = {"depth": range(depths)}
        self.update(depth=0)

    def update(self, *, depth: int):
        """Read the stream of the one model behind this many blocks."""
        guess = self.guesses[depth]
        spread = np.square(self.time - self.time.mean()).sum()
        self.depth, self.now = depth, 1 - np.square(self.time - guess).sum() / spread
        self.points.set_data(self.time, guess)
        self.cursor.set_xdata([depth, depth])
        self.title.set_text(f"{self.shown},\nafter {depth} blocks: R² {self.now:.3f}")

    def describe(self) -> str:
        rows = "; ".join(
            f"{self.names[model]} {values.mean(axis=0)[0]:.2f} to {values.mean(axis=0)[-1]:.2f}"
            for model, values in self.found.items()
        )
        return (
            f"Time read from the stream of one model, {self.shown}, against the real time, after "
            f"{self.depth} blocks: R² {self.now:.3f}. Beside it R² from the first depth to the last, "
            f"mean over seeds: {rows}."
        )


class Ablations(View):
    """Versions of a model against the full one: paired differences, their mean and 95% interval.

    Args:
        found: {name: (gaps by seed, difference)}; a difference has mean, low, high and resolved.
        label: what the difference is of.
    """

    def __init__(self, found: Mapping, label: str):
        self.found, self.label, self.moving = found, label, []
        self.figure = new_figure(9, 0.9 + 0.46 * len(found))
        axes = self.figure.add_axes((0.17, 0.2, 0.44, 0.76))
        axes.set(ylim=(-0.6, len(found) - 0.4), yticks=(), xlabel=label)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=4)
        axes.axvline(0, color=COLORS["muted"], lw=1.5)
        for row, (name, (gaps, difference)) in enumerate(found.items()):
            y = len(found) - 1 - row
            color = COLORS["adarms"] if difference.resolved else COLORS["muted"]
            axes.plot(gaps, np.full(len(gaps), y - 0.25), "o", ms=4, mew=0, color=color, alpha=0.5)
            axes.plot([difference.low, difference.high], [y, y], color=color, lw=3)
            axes.plot([difference.mean], [y], "D", ms=8, color=color)
            words = "" if difference.resolved else ", not resolved"
            beside = dict(va="center", transform=axes.get_yaxis_transform())
            axes.text(-0.03, y, name, ha="right", **beside)
            axes.text(1.03, y, f"{difference}{words}", fontsize=12, color=color, **beside)

    def update(self):
        """Nothing moves: it is a still picture."""

    def describe(self) -> str:
        rows = "; ".join(
            f"{name} {difference}{'' if difference.resolved else ' (not resolved)'}"
            for name, (_, difference) in self.found.items()
        )
        return f"{self.label}, mean over seeds with 95% intervals: {rows}."


class Highway(View):
    """What the final stream is made of, over time: the input, and what each block wrote.

    Args:
        times: (times,) in increasing order.
        shares: (1 + layers, times): of the input first, then of each block's write; they add up to 1.
        sizes: (1 + layers, times): the RMS of each.
    """

    def __init__(
        self,
        times: Numbers("times"),
        shares: Numbers("parts", "times"),
        sizes: Numbers("parts", "times"),
    ):
        self.times, self.shares = np.asarray(times), np.asarray(shares)
        self.sizes = np.asarray(sizes)
        count = len(self.shares)
        self.names = ["input", *(f"block {number}" for number in range(count - 1))]
        self.figure = new_figure(9, 4.2)
        colors = [COLORS["input"], *layer_colors(count)[1:]]
        left = self.figure.add_axes((0.08, 0.17, 0.38, 0.68))
        low, high = min(0, self.shares.min()), self.shares.max()
        left.set(xlim=(1, 0), ylim=(low - 0.05, high + 0.05), xlabel="t, from noise to data")
        left.set_title("share of the final stream")
        left.axhline(0, color=COLORS["muted"], lw=1)
        for share, color in zip(self.shares, colors, strict=True):
            left.plot(self.times, share, color=color)
        self.cursor = left.axvline(1, color=COLORS["input"], lw=1.5)
        self.dots = [left.plot([], [], "o", ms=8, color=c, clip_on=False)[0] for c in colors]
        right = self.figure.add_axes((0.62, 0.17, 0.36, 0.68))
        right.set(xlim=(0, 1.05 * self.sizes.max()), ylim=(count - 0.4, -0.6), yticks=range(count))
        right.set_yticklabels(self.names)
        right.set_title("RMS, alone")
        self.bars = right.barh(range(count), 0.0, color=colors)
        self.text = self.figure.text(0.02, 0.94, "")
        self.moving = [self.cursor, *self.dots, *self.bars, self.text]
        self.update(t=1.0)

    def update(self, *, t: float):
        """Show the parts at the nearest of the times."""
        index = int(np.abs(self.times - t).argmin())
        self.t, self.now = float(self.times[index]), self.shares[:, index]
        self.cursor.set_xdata([self.t, self.t])
        for dot, share in zip(self.dots, self.now, strict=True):
            dot.set_data([self.t], [share])
        for bar, size in zip(self.bars, self.sizes[:, index], strict=True):
            bar.set_width(size)
        self.text.set_text(f"t = {self.t:.2f}: the input is {self.now[0]:.0%} of the final stream")

    def describe(self) -> str:
        parts = ", ".join(
            f"{name} {share:.0%}" for name, share in zip(self.names, self.now, strict=True)
        )
        return f"What the final stream is made of at t = {self.t:.2f}: {parts}; curves over all t beside."
