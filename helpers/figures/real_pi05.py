"""Lesson 08's pictures: what the norms of pi0.5, or of a stand-in for it, are told at every time.

The views are given arrays and names; they never see weights. Each says in its title whose numbers it
shows. Time runs from 0, data, to 1, noise. Depth runs from the first layer, 0, to the last, 1, so that
networks of different depth fit into one picture.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb

from helpers.figures.given import Numbers
from helpers.figures.inside import BELOW_AND_ABOVE, PARTS
from helpers.figures.style import COLORS, View, new_figure

HALVES = ("attention", "feed-forward")
STYLES = {"attention": "-", "feed-forward": "--"}
# How curves are drawn where networks are compared: of files that were read, and of what ships.
FILE_LOOKS = ((COLORS["input"], "-"), (COLORS["rms_norm"], "-"))
OUR_LOOKS = ((COLORS["adarms"], "-"), (COLORS["muted"], "-"), (COLORS["adarms"], "--"))
EULER = np.linspace(1, 0.1, 10)  # the times at which pi0.5's sampler asks for a velocity


class Told(NamedTuple):
    """What all norms of one network are told at some times; (norms, times, width) each."""

    names: list  # of the norms: "layer 0 attention", "layer 0 feed-forward", ..., "final norm"
    scale: np.ndarray
    shift: np.ndarray
    gate: np.ndarray

    def rows(self, half: str) -> list[int]:
        """Which norms stand before attention, before the feed-forward, or last ("final norm")."""
        return [row for row, name in enumerate(self.names) if name.endswith(half)]

    def sizes(self, part: str) -> np.ndarray:
        """The root mean square over features: (norms, times)."""
        return np.sqrt(np.square(getattr(self, part)).mean(axis=-1))

    def varying(self, part: str) -> np.ndarray:
        """Which share of each norm's energy depends on time, (norms,); NaN where there is no energy."""
        values = getattr(self, part)
        energy = np.square(values).mean(axis=(1, 2))
        constant = np.square(values.mean(axis=1)).mean(axis=-1)
        with np.errstate(invalid="ignore"):
            return np.where(energy > 0, 1 - constant / energy, np.nan)

    def joined(self, part: str) -> np.ndarray:
        """One row a time, all norms side by side; "all": scale, shift and gate too. No unused gate."""
        parts = PARTS if part == "all" else (part,)
        last = len(self.names) - 1
        values = [getattr(self, p)[: last + (p != "gate")].swapaxes(0, 1) for p in parts]
        return np.concatenate([v.reshape(len(v), -1) for v in values], axis=1)


def _depths(count: int) -> np.ndarray:
    """From the first layer, 0, to the last, 1."""
    return np.linspace(0, 1, count)


def _main_directions(values, most: int = 12):
    """A curve (times, width) seen along the directions in which it moves most.

    Returns:
        places (times, most): along each of these directions, from the middle of the curve.
        shares (most,): of all movement, each direction's: its places' squares, over those of all.
    """
    centred = np.asarray(values, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    # By the small matrix of products between times, as there are far fewer times than numbers a time.
    energy, vectors = np.linalg.eigh(centred @ centred.T)
    energy, vectors = energy[::-1].clip(0), vectors[:, ::-1]
    places = vectors * np.sqrt(energy)
    places *= np.where(places[-1] < 0, -1, 1)  # t = 1 on the positive side, whatever eigh chose
    total = energy.sum()
    shares = energy / total if total > 0 else energy
    fill = max(0, most - len(shares))
    return np.pad(places, ((0, 0), (0, fill)))[:, :most], np.pad(shares, (0, fill))[:most]


def _from_white(color) -> LinearSegmentedColormap:
    dark = tuple(0.35 * part for part in to_rgb(color))
    return LinearSegmentedColormap.from_list("from white", ["#FFFFFF", color, dark])


def _ends_of_depth(axes):
    first, last = axes.set_xticks((0, 1), ("first", "last"))
    first.label1.set_ha("left")
    last.label1.set_ha("right")


def _title(figure, height: float):
    return figure.text(0.012, 1 - 0.22 / height, "", fontsize=12, va="center")


def _short(label: str, most: int = 58) -> str:
    """A label that fits into a title: a long one loses its middle, as what it is stands at its end."""
    return label if len(label) <= most else f"{label[:12]}…{label[13 - most :]}"


class TimeMaps(View):
    """How large scale, shift and gate are, in every norm at every time; and by layer at one time.

    Args:
        times: (times,) in increasing order.
        told: {label: Told} of networks that have both kinds of norm in each layer.
    """

    def __init__(self, times: Numbers("times"), told: Mapping):
        self.times, self.told = np.asarray(times), dict(told)
        self.sizes = {
            label: {part: one.sizes(part) for part in PARTS} for label, one in self.told.items()
        }
        self.figure = new_figure(9, 6.4)
        self.title = _title(self.figure, 6.4)
        self.images, self.lines, self.heads, self.cursors = {}, {}, {}, []
        rows = {"final norm": (0.838, 0.03), HALVES[0]: (0.61, 0.2), HALVES[1]: (0.375, 0.2)}
        for column, part in enumerate(PARTS):
            left = 0.115 + 0.3 * column
            self.heads[part] = self.figure.text(left, 0.89, "", color=COLORS[part], fontsize=12)
            for half, (bottom, height) in rows.items():
                axes = self.figure.add_axes((left, bottom, 0.265, height))
                axes.spines[:].set_visible(True)
                axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=())
                self.images[part, half] = axes.imshow(
                    np.zeros((2, 2)),
                    aspect="auto",
                    origin="lower",
                    extent=(0, 1, 0, 1),
                    cmap=_from_white(COLORS[part]),
                    interpolation="nearest",
                )
                self.cursors.append(axes.axvline(1, color=COLORS["broken"], lw=2, clip_on=False))
                if half == HALVES[1]:
                    noise, data = axes.set_xticks((1, 0), ("1", "0"))
                    noise.label1.set_ha("right")
                    data.label1.set_ha("left")
                    axes.set_xlabel("t", labelpad=-10)
                if column == 0 and half != "final norm":
                    axes.set_yticks((0.04, 0.96), ("first", "last"))
                    axes.tick_params(axis="y", length=0, pad=3)
            axes = self.figure.add_axes((left, 0.085, 0.265, 0.2))
            axes.set(xlim=(-0.03, 1.03), ylim=(0, 1.05), yticks=(0, 1))
            axes.set_yticklabels(("0", "most") if column == 0 else ())
            _ends_of_depth(axes)
            axes.set_xlabel("layer", labelpad=-10)
            for half in HALVES:
                (line,) = axes.plot([], [], STYLES[half], color=COLORS[part], clip_on=False)
                self.lines[part, half] = line
        for half, (bottom, height) in rows.items():
            name, turned = ("final", 0) if half == "final norm" else (half, 90)
            where = dict(va="center", ha="center" if turned else "left", rotation=turned)
            self.figure.text(
                0.022 if turned else 0.012, bottom + height / 2, name, fontsize=12, **where
            )
        self.figure.text(
            0.022, 0.185, "size at t", fontsize=12, rotation=90, va="center", ha="center"
        )
        self.key = self.figure.text(
            0.98, 0.302, "solid: attention, dashed: feed-forward", fontsize=12, ha="right"
        )
        self.moving = [*self.images.values(), *self.lines.values(), *self.cursors]
        self.moving += [*self.heads.values(), self.title]
        self.shown, self.allowed = None, {"weights": list(self.told)}
        self.update(t=1.0, weights=next(iter(self.told)))

    def update(self, *, t: float, weights: str):
        """Show these weights, and their sizes at the nearest of the times."""
        index = int(np.abs(self.times - t).argmin())
        self.t, one, sizes = float(self.times[index]), self.told[weights], self.sizes[weights]
        self.most = {}
        for part in PARTS:
            of_layers = [row for half in HALVES for row in one.rows(half)]
            self.most[part] = most = float(sizes[part][of_layers].max())
            for half in HALVES:
                found = sizes[part][one.rows(half)]
                level = found[:, index] / most if most > 0 else found[:, index]
                self.lines[part, half].set_data(_depths(len(found)), level)
            if weights == self.shown:
                continue
            for half in (*HALVES, "final norm"):
                found, image = sizes[part][one.rows(half)], self.images[part, half]
                limit = most if half in HALVES else float(found.max())
                image.set_data(found)
                image.set_clim(0, limit or 1)
            final = float(sizes[part][one.rows("final norm")].max())
            self.heads[part].set_text(f"{part} ≤ {most:.2g}, final ≤ {final:.2g}")
        for cursor in self.cursors:
            cursor.set_xdata([self.t, self.t])
        self.shown = weights
        self.title.set_text(f"{_short(weights)}: RMS at t = {self.t:.2f}")

    def describe(self) -> str:
        index = int(np.abs(self.times - self.t).argmin())
        one, found = self.told[self.shown], []
        for part in PARTS:
            by_half = ", ".join(
                f"{half} {self.sizes[self.shown][part][one.rows(half), index].mean():.3f}"
                for half in HALVES
            )
            found.append(f"{part}: {by_half}")
        return (
            f"{self.shown}. Maps of the size of scale, shift and gate: layers from bottom to top, t from "
            "left to right, attention norms above feed-forward norms, the final norm on top; below them "
            f"the sizes by layer. RMS at t = {self.t:.2f}, mean over layers: {'; '.join(found)}."
        )


class FeatureMap(View):
    """Every feature of one norm over time, and how its values spread.

    Args:
        times: (times,) in increasing order.
        told: {label: Told}, of one network.
    """

    LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)

    def __init__(self, times: Numbers("times"), told: Mapping):
        self.times = np.asarray(times)
        ((self.label, self.told),) = told.items()
        told = self.told
        # The most that the picture has room for; of a wide norm every few features are drawn.
        step = max(1, told.scale.shape[-1] // 256)
        self.drawn, self.spread = {}, {}
        for part in PARTS:
            for norm, values in enumerate(getattr(told, part)):
                order = np.argsort(values.mean(axis=0))[::step]
                self.drawn[part, norm] = np.ascontiguousarray(values[:, order].T)
                self.spread[part, norm] = np.quantile(values, self.LEVELS, axis=1)
        self.figure = new_figure(9, 4.2)
        self.title = _title(self.figure, 4.2)
        left = self.figure.add_axes((0.07, 0.15, 0.4, 0.68))
        left.spines[:].set_visible(True)
        left.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(), xlabel="t")
        left.set_ylabel("feature, by its average")
        self.image = left.imshow(
            np.zeros((2, 2)),
            aspect="auto",
            origin="lower",
            extent=(0, 1, 0, 1),
            cmap=BELOW_AND_ABOVE,
            interpolation="nearest",
        )
        right = self.figure.add_axes((0.58, 0.15, 0.34, 0.68))
        right.set(
            xlim=(0, 1), ylim=(-1.05, 1.05), xticks=(0, 0.5, 1), yticks=(-1, 0, 1), xlabel="t"
        )
        self.ends = [
            self.figure.text(0.572, y, "", fontsize=12, ha="right", va="center")
            for y in (0.15 + 0.68 * 0.05 / 2.1, 0.15 + 0.68 * 2.05 / 2.1)
        ]
        right.set_yticklabels(("", "0", ""))
        right.set_title("this share of features lies below", fontsize=13)
        right.axhline(0, color=COLORS["muted"], lw=1)
        color = COLORS["muted"]
        self.curves = [
            right.plot([], [], color=color, lw=width)[0] for width in (1, 1.6, 2.6, 1.6, 1)
        ]
        self.names = [
            self.figure.text(0.93, 0.5, f"{level:.0%}", fontsize=12, va="center")
            for level in self.LEVELS
        ]
        self.cursors = [a.axvline(1, color=COLORS["broken"], lw=1.5) for a in (left, right)]
        self.moving = [self.image, *self.curves, *self.cursors, *self.names, *self.ends, self.title]
        self.allowed = {"norm": range(len(told.names)), "part": list(PARTS)}
        self.update(t=1.0, norm=0, part="gate")

    def update(self, *, t: float, norm: int, part: str):
        """Show one part of one norm, with the lines at the nearest of the times."""
        index = int(np.abs(self.times - t).argmin())
        self.t, self.name, self.part = float(self.times[index]), self.told.names[norm], part
        drawn, spread = self.drawn[part, norm], self.spread[part, norm]
        limit = float(np.quantile(np.abs(drawn), 0.98)) or 1.0
        self.image.set_data(drawn)
        self.image.set_clim(-limit, limit)
        most = float(np.abs(spread).max()) or 1.0
        for curve, values in zip(self.curves, spread, strict=True):
            curve.set_data(self.times, values / most)
            curve.set_color(COLORS[part])
        # Names beside the right ends of the curves, pushed apart where these are close.
        heights = 0.15 + 0.68 * (spread[:, -1] / most + 1.05) / 2.1
        for name, height in zip(self.names, _apart(heights, 0.055), strict=True):
            name.set(y=height, visible=spread.any())
        for end, value in zip(self.ends, (-most, most), strict=True):
            end.set(text=f"{value:.2g}", visible=spread.any())
        for cursor in self.cursors:
            cursor.set_xdata([self.t, self.t])
        self.now = spread[:, index]
        nothing = "" if spread.any() else ", zero everywhere"
        self.title.set_text(f"{_short(self.label)}: {part} of {self.name}{nothing}")

    def describe(self) -> str:
        spread = ", ".join(
            f"{level:.0%} {value:.3f}" for level, value in zip(self.LEVELS, self.now, strict=True)
        )
        return (
            f"{self.label}. Left a map of the {self.part} of {self.name}: features from bottom to top, "
            f"t from left to right. Right its quantiles over t; at t = {self.t:.2f}: {spread}."
        )


def _apart(heights, least: float) -> np.ndarray:
    """Increasing heights moved as little as leaves `least` between neighbours, their middle kept."""
    moved = np.array(heights, dtype=float)
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + least)
    return moved - (moved.mean() - np.mean(heights))


class ShareByLayer(View):
    """Which share of the energy depends on time, by layer, for scale, shift and gate.

    Args:
        told: {label: Told} of networks that have both kinds of norm in each layer.
    """

    def __init__(self, told: Mapping):
        self.told = dict(told)
        self.shares = {
            label: {part: one.varying(part) for part in PARTS} for label, one in self.told.items()
        }
        self.figure = new_figure(9, 3.7)
        self.title = _title(self.figure, 3.7)
        self.lines, self.finals = {}, {}
        for column, part in enumerate(PARTS):
            axes = self.figure.add_axes((0.09 + 0.315 * column, 0.17, 0.25, 0.6))
            axes.set(xlim=(-0.03, 1.16), ylim=(0, 1), yticks=(0, 0.5, 1))
            axes.set_yticklabels(("0", "50%", "100%") if column == 0 else ())
            axes.set_title(part, color=COLORS[part], fontsize=13)
            first, last, _ = axes.set_xticks((0, 1, 1.13), ("first", "last", "f"))
            first.label1.set_ha("left")
            last.label1.set_ha("right")
            axes.set_xlabel("layer", labelpad=-10)
            for half in HALVES:
                (line,) = axes.plot([], [], STYLES[half], color=COLORS[part], clip_on=False)
                self.lines[part, half] = line
            (dot,) = axes.plot([], [], "D", ms=7, color=COLORS[part], clip_on=False)
            self.finals[part] = dot
        self.figure.text(
            0.99,
            0.015,
            "solid: attention, dashed: feed-forward, f: final norm",
            fontsize=12,
            ha="right",
        )
        self.moving = [*self.lines.values(), *self.finals.values(), self.title]
        self.allowed = {"weights": list(self.told)}
        self.update(weights=next(iter(self.told)))

    def update(self, *, weights: str):
        """Show these weights."""
        self.shown, one = weights, self.told[weights]
        for (part, half), line in self.lines.items():
            shares = self.shares[weights][part][one.rows(half)]
            line.set_data(_depths(len(shares)), shares)
        for part, dot in self.finals.items():
            dot.set_data([1.13], self.shares[weights][part][one.rows("final norm")])
        self.title.set_text(f"{_short(weights)}: energy that depends on t")

    def describe(self) -> str:
        one, found = self.told[self.shown], []
        for part in PARTS:
            shares = self.shares[self.shown][part]
            by_half = ", ".join(f"{half} {shares[one.rows(half)].mean():.0%}" for half in HALVES)
            found.append(f"{part}: {by_half}")
        return f"{self.shown}. Share of the energy that depends on t, mean over layers: {'; '.join(found)}."


class TimeCurve(View):
    """The curve that the modulations run through as t goes from 1 to 0, seen where it moves most.

    Args:
        times: (times,) in increasing order.
        curves: {label: {what: (times, anything)}}; each label has the same names of `what`.
    """

    def __init__(self, times: Numbers("times"), curves: Mapping):
        self.times = np.asarray(times)
        self.names = list(next(iter(curves.values())))
        self.found = {
            (label, what): _main_directions(values)
            for label, by_what in curves.items()
            for what, values in by_what.items()
        }
        self.figure = new_figure(9, 4.2)
        self.title = _title(self.figure, 4.2)
        self.paths, self.dots, self.ends = [], [], []
        for column, (across, up) in enumerate(((0, 1), (0, 2))):
            axes = self.figure.add_axes((0.045 + 0.315 * column, 0.13, 0.27, 0.66))
            axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=(), yticks=())
            axes.set(xlabel=f"direction {across + 1}", ylabel=f"direction {up + 1}")
            axes.spines[:].set_visible(True)
            axes.axhline(0, color=COLORS["faint"], lw=1)
            self.paths.append(axes.plot([], [], ".-", ms=4, lw=1.2, color=COLORS["time"])[0])
            for text, color in (("0", COLORS["input"]), ("1", COLORS["noise"])):
                self.ends.append(axes.plot([], [], "o", ms=12, color=color, mec="white")[0])
                self.ends.append(axes.text(0, 0, text, color="white", fontsize=12, ha="center"))
                self.ends[-1].set(va="center_baseline", fontweight="bold")
            self.dots.append(axes.plot([], [], "o", ms=10, color=COLORS["broken"])[0])
        right = self.figure.add_axes((0.75, 0.13, 0.235, 0.66))
        right.set(xlim=(0.4, 12.6), ylim=(0, 1.02), xticks=(1, 4, 8, 12), yticks=(0, 0.5, 0.9, 1))
        right.set_yticklabels(("0", "50%", "90%", ""))
        right.set_xlabel("directions")
        right.set_title("share of the movement", fontsize=13)
        right.axhline(0.9, color=COLORS["faint"], lw=1)
        self.bars = right.bar(range(1, 13), 0.0, color=COLORS["time"])
        self.moving = [*self.paths, *self.ends, *self.dots, *self.bars, self.title]
        self.allowed = {"weights": list(curves), "what": self.names}
        label, what = next(iter(self.found))
        self.update(t=1.0, weights=label, what=what)

    def update(self, *, t: float, weights: str, what: str):
        """Show this curve of these weights, with a dot at the nearest of the times."""
        index = int(np.abs(self.times - t).argmin())
        self.t, self.shown, self.what = float(self.times[index]), weights, what
        places, self.shares = self.found[weights, what]
        places = places / (np.abs(places).max() or 1)
        for number, up in enumerate((1, 2)):
            self.paths[number].set_data(places[:, 0], places[:, up])
            for end, at in zip((0, 2), (0, -1), strict=True):
                self.ends[4 * number + end].set_data([places[at, 0]], [places[at, up]])
                self.ends[4 * number + end + 1].set_position((places[at, 0], places[at, up]))
            self.dots[number].set_data([places[index, 0]], [places[index, up]])
        for bar, height in zip(self.bars, np.cumsum(self.shares), strict=True):
            bar.set_height(height)
        self.title.set_text(f"{_short(weights)}: {what}, t = {self.t:.2f}")

    def describe(self) -> str:
        total = np.cumsum(self.shares)
        return (
            f"{self.shown}. The path of {self.what} from t = 0 to 1 along its first three directions, a "
            f"dot at t = {self.t:.2f}. Share of its movement along the first direction {total[0]:.0%}, two "
            f"{total[1]:.0%}, three {total[2]:.0%}, twelve {total[11]:.0%}."
        )


class TimeDistances(View):
    """How far apart two times are, to the norms: all pairs, one time against all, and close by.

    Args:
        times: (times,) in increasing order.
        bases: (bases,) some of the times.
        near: (near,) small differences of time, in increasing order.
        far: {label: {what: (times, times)}} distances.
        close: {label: {what: (bases, near)}} distances from t to t + near; NaN where there is no such time.
    """

    def __init__(
        self,
        times: Numbers("times"),
        bases: Numbers("bases"),
        near: Numbers("near"),
        far: Mapping,
        close: Mapping,
    ):
        self.times, self.bases, self.near = np.asarray(times), np.asarray(bases), np.asarray(near)
        self.far, self.close = {}, {}
        for label, by_what in far.items():
            for what, values in by_what.items():
                values = np.asarray(values)
                most = float(values.max()) or 1.0
                self.far[label, what] = values / most
                self.close[label, what] = np.asarray(close[label][what]) / most
        self.figure = new_figure(9, 4.0)
        self.title = _title(self.figure, 4.0)
        left = self.figure.add_axes((0.05, 0.16, 0.285, 0.64))
        left.spines[:].set_visible(True)
        left.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 1), xlabel="t'")
        left.set_ylabel("t", labelpad=-6)
        left.set_title("white near, dark far", fontsize=13)
        self.image = left.imshow(
            np.zeros((2, 2)),
            aspect="auto",
            origin="lower",
            extent=(0, 1, 0, 1),
            cmap=_from_white(COLORS["time"]),
            vmin=0,
            vmax=1,
            interpolation="nearest",
        )
        self.cursor = left.axhline(1, color=COLORS["broken"], lw=2, clip_on=False)
        middle = self.figure.add_axes((0.415, 0.16, 0.26, 0.64))
        middle.set(xlim=(0, 1), ylim=(0, 1.02), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), xlabel="t'")
        middle.set_title("from t to all times", fontsize=13)
        (self.row,) = middle.plot([], [], color=COLORS["time"])
        (self.steps,) = middle.plot([], [], "o", ms=6, color=COLORS["velocity"], clip_on=False)
        right = self.figure.add_axes((0.725, 0.16, 0.25, 0.64))
        edge = float(self.near[-1])
        right.set(xlim=(-edge, edge), ylim=(0, 1.02), yticks=(0, 0.5, 1))
        right.set_yticklabels(())
        before, _, after = right.set_xticks((-edge, 0, edge), (f"{-edge:g}", "0", f"{edge:g}"))
        before.label1.set_ha("left")
        after.label1.set_ha("right")
        right.set_xlabel("t' - t")
        right.set_title("and close by", fontsize=13)
        (self.window,) = right.plot([], [], color=COLORS["time"])
        self.moving = [self.image, self.cursor, self.row, self.steps, self.window, self.title]
        label, what = next(iter(self.far))
        self.allowed = {"weights": list(far), "what": list(far[label])}
        self.update(t=0.5, weights=label, what=what)

    def update(self, *, t: float, weights: str, what: str):
        """Show the distances from the nearest of the bases."""
        base = int(np.abs(self.bases - t).argmin())
        self.t, self.shown, self.what = float(self.bases[base]), weights, what
        far = self.far[weights, what]
        self.now = far[int(np.abs(self.times - self.t).argmin())]
        self.nearby = self.close[weights, what][base]
        self.image.set_data(far)
        self.cursor.set_ydata([self.t, self.t])
        self.row.set_data(self.times, self.now)
        self.steps.set_data(EULER, np.interp(EULER, self.times, self.now))
        self.window.set_data(self.near, self.nearby)
        self.title.set_text(f"{_short(weights)}: {what}, t = {self.t:.2f}")

    def describe(self) -> str:
        return (
            f"{self.shown}. Distances between two times in {self.what}, in units of the largest. From "
            f"t = {self.t:.2f}: to t' = 0 {self.now[0]:.2f}, to t' = 0.5 "
            f"{np.interp(0.5, self.times, self.now):.2f}, to t' = 1 {self.now[-1]:.2f}; within "
            f"{self.near[-1]:g} at most {np.nanmax(self.nearby):.2f}. Dots are the sampler's ten times."
        )


class LastNorm(View):
    """Scale, shift and gate of the final norm, each sorted by size: is its gate anything at all?

    Args:
        times: (times,) in increasing order.
        told: {label: Told}.
    """

    def __init__(self, times: Numbers("times"), told: Mapping):
        self.times = np.asarray(times)
        self.sorted, self.largest = {}, {}
        for label, one in told.items():
            (row,) = one.rows("final norm")
            self.sorted[label] = {p: np.sort(getattr(one, p)[row], axis=-1) for p in PARTS}
            self.largest[label] = {p: float(np.abs(v).max()) for p, v in self.sorted[label].items()}
        self.figure = new_figure(9, 3.7)
        self.title = _title(self.figure, 3.7)
        self.lines, self.ends = {}, {}
        for column, part in enumerate(PARTS):
            axes = self.figure.add_axes((0.03 + 0.335 * column, 0.17, 0.29, 0.58))
            axes.set(xlim=(0, 1), ylim=(-1.05, 1.05), xticks=(0, 1), yticks=())
            low, high = axes.set_xticks((0, 1), ("least", "most"))
            low.label1.set_ha("left")
            high.label1.set_ha("right")
            axes.set_xlabel("features, sorted", labelpad=-10)
            axes.axhline(0, color=COLORS["muted"], lw=1)
            (self.lines[part],) = axes.plot([], [], color=COLORS[part], lw=3)
            self.ends[part] = self.figure.text(
                0.03 + 0.335 * column, 0.8, "", color=COLORS[part], fontsize=13
            )
        self.moving = [*self.lines.values(), *self.ends.values(), self.title]
        self.allowed = {"weights": list(self.sorted)}
        self.update(t=1.0, weights=next(iter(self.sorted)))

    def update(self, *, t: float, weights: str):
        """Show these weights' final norm at the nearest of the times."""
        index = int(np.abs(self.times - t).argmin())
        self.t, self.shown, self.now = float(self.times[index]), weights, {}
        for part, line in self.lines.items():
            values, most = self.sorted[weights][part][index], self.largest[weights][part]
            self.now[part] = float(np.sqrt(np.square(values).mean()))
            line.set_data(_depths(len(values)), values / (most or 1))
            name = "unused gate" if part == "gate" else part
            self.ends[part].set_text(f"{name}: up to ±{most:.2g}")
        self.title.set_text(f"{_short(weights)}: final norm, t = {self.t:.2f}")

    def describe(self) -> str:
        sizes = ", ".join(f"{part} {size:.3f}" for part, size in self.now.items())
        return (
            f"{self.shown}. The final norm's features, sorted, at t = {self.t:.2f}. RMS: {sizes}."
        )


class SideBySide(View):
    """Networks of different depth and width on one page: sizes over time, at the same relative depth.

    Args:
        times: (times,) in increasing order.
        told: {label: Told}; norms before the feed-forward are shown, which all have.
        looks: {label: (colour, line style)}.
    """

    def __init__(self, times: Numbers("times"), told: Mapping, looks: Mapping):
        self.times, self.told = np.asarray(times), dict(told)
        self.sizes = {}
        for label, one in self.told.items():
            for part in PARTS:
                self.sizes[label, part] = one.sizes(part)[self.layers(one)]
        self.figure = new_figure(9, 3.9 + 0.3 * len(self.told))
        height = 3.9 + 0.3 * len(self.told)
        self.title = _title(self.figure, height)
        self.lines = {}
        for column, part in enumerate(PARTS):
            axes = self.figure.add_axes((0.075 + 0.32 * column, 0.65 / height, 0.26, 2.4 / height))
            most = max(self.sizes[label, part].max() for label in self.told)
            axes.set(xlim=(0, 1), ylim=(0, 1.05 * most or 1), xticks=(0, 0.5, 1), xlabel="t")
            axes.locator_params(axis="y", nbins=4)
            axes.set_title(part, fontsize=13)
            for label in self.told:
                color, line = looks[label]
                (self.lines[label, part],) = axes.plot([], [], line, color=color)
        self.names = [
            self.figure.text(0.075, 1 - (0.5 + 0.27 * (n + 0.5)) / height, "", fontsize=12)
            for n in range(len(self.told))
        ]
        for text, label in zip(self.names, self.told, strict=True):
            text.set_color(looks[label][0])
        self.dashed = {label for label in self.told if looks[label][1] == "--"}
        self.moving = [*self.lines.values(), *self.names, self.title]
        self.update(depth=0.0)

    @staticmethod
    def layers(one: Told) -> list[int]:
        return one.rows("feed-forward") or [r for r, n in enumerate(one.names) if n != "final norm"]

    def update(self, *, depth: float):
        """Show the layer nearest to this share of the depth in each network."""
        self.depth, self.now = depth, {}
        for (label, part), line in self.lines.items():
            sizes = self.sizes[label, part]
            layer = round(depth * (len(sizes) - 1))
            line.set_data(self.times, sizes[layer])
            self.now.setdefault(label, [layer]).append(sizes[layer])
        for text, label in zip(self.names, self.told, strict=True):
            drawn = " (dashed)" if label in self.dashed else ""
            text.set_text(f"{_short(label, 70)}, layer {self.now[label][0]}{drawn}")
        self.title.set_text(f"RMS over features, feed-forward norm, {depth:.0%} of the way down")

    def describe(self) -> str:
        found = []
        for label, (layer, *sizes) in self.now.items():
            ends = ", ".join(
                f"{part} {size[-1]:.2f} to {size[0]:.2f}"
                for part, size in zip(PARTS, sizes, strict=True)
            )
            found.append(f"{label}, layer {layer}: {ends}")
        return f"Sizes from t = 1 to t = 0 at {self.depth:.0%} of the depth. {'; '.join(found)}."
