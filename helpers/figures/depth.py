"""Lesson 03's pictures: what depth does to a stack whose norms are placed before, after, or nowhere.

The views are given arrays that the lesson computed; only `PushedThroughLayer` is given functions.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.lines import Line2D

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure

# One look for one placement in all pictures: label, colour, line.
LOOKS = {
    "pre": ("Pre-Norm", COLORS["pre_norm"], "-"),
    "post": ("Post-Norm", COLORS["post_norm"], "-"),
    "none": ("no norm", COLORS["no_norm"], "-."),
    "ada": ("adaRMS at its start", COLORS["gate"], "--"),
}
SWITCHED_OFF = {
    "pre": ("Pre-Norm", COLORS["pre_norm"], "-"),
    "post": ("Post-Norm with RMSNorm", COLORS["post_norm"], "-"),
    "post_layer_norm": ("Post-Norm with LayerNorm", COLORS["layer_norm"], "--"),
}
RACERS = {
    "pre": ("Pre-Norm", COLORS["pre_norm"], "-"),
    "gate": ("Pre-Norm, zero-init gates", COLORS["gate"], "-"),
    "post_small": ("Post-Norm, outputs / √(2L)", COLORS["post_norm"], "--"),
    "post_warm": ("Post-Norm, warm-up and clipping", COLORS["post_norm"], ":"),
    "post": ("Post-Norm", COLORS["post_norm"], "-"),
}
MONO = dict(family="DejaVu Sans Mono", fontsize=12)


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double() if hasattr(x, "detach") else x, dtype=float)


def _all_numbers(tables: Mapping) -> dict:
    """Nested mappings of tensors or lists as nested dicts of float arrays."""
    return {
        key: _all_numbers(value) if isinstance(value, Mapping) else _numbers(value)
        for key, value in tables.items()
    }


def _legend_above(figure, axes, ncol: int, left: float = 0.08):
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="upper left",
        bbox_to_anchor=(left, 1.0),
        ncol=ncol,
        columnspacing=1.6,
    )


def _rows(figure, looks: Mapping, left: float, top: float) -> dict:
    """A row for each name: a piece of its line and a text to be filled. It serves as the legend."""
    texts = {}
    for row, (name, (_, color, line)) in enumerate(looks.items()):
        height = top - 0.053 * row
        sample = Line2D(
            [left, left + 0.045],
            [height + 0.014] * 2,
            color=color,
            ls=line,
            lw=3,
            transform=figure.transFigure,
        )
        figure.add_artist(sample)
        texts[name] = figure.text(left + 0.06, height, "", color=COLORS["input"], **MONO)
    return texts


def _in_short(value: float) -> str:
    """A factor in few characters: 0.87, 12.3, 4e-05."""
    if 0.01 <= abs(value) < 100:
        return f"{value:.3g}"
    return f"{value:.0e}"


class PushedThroughLayer(View):
    """Small pushes round a state of two entries, and what one layer makes of them, under both placements.

    Args:
        branch: function of x (1, 2), to the same shape: F.
        layers: "pre" and "post", each a function of x and a branch.
        jacobian: function of a layer (a function of x) and x, to (2, 2).
        x: (1, 2) tensor; its length is kept, the slider gives its direction.
    """

    REACH = 0.7  # length of a push in the picture

    def __init__(
        self, branch: Callable, layers: Mapping[str, Callable], jacobian: Callable, x: Numbers(1, 2)
    ):
        self.branch, self.layers, self.jacobian = branch, layers, jacobian
        self.length = float(np.linalg.norm(_numbers(x)))
        self.x = x
        turn = np.linspace(0, 2 * np.pi, 73)
        self.ring = self.REACH * np.stack([np.cos(turn), np.sin(turn)])

        self.figure = new_figure(9, 5.0)
        self.moving, self.panels = [], {}
        for left, name in ((0.02, "pre"), (0.51, "post")):
            label, color, _ = LOOKS[name]
            axes = self.figure.add_axes((left, 0.18, 0.47, 0.74))
            axes.set(xlim=(-4.9, 4.9), ylim=(-4.0, 4.0))
            axes.set_axis_off()
            axes.set_aspect("equal")
            axes.set_title(label, color=color)
            axes.axhline(0, color=COLORS["faint"], lw=1, zorder=0)
            axes.axvline(0, color=COLORS["faint"], lw=1, zorder=0)
            axes.plot(*(np.sqrt(2) / self.REACH * self.ring), ":", color=COLORS["muted"], lw=1.5)
            (before,) = axes.plot([], [], color=COLORS["input"], lw=1.5)
            (start,) = axes.plot([], [], "o", color=COLORS["input"], ms=6)
            (after,) = axes.plot([], [], color=color, lw=3)
            (end,) = axes.plot([], [], "o", color=color, ms=5)
            text = self.figure.text(left + 0.015, 0.115, "", color=color, **MONO)
            self.panels[name] = (before, start, after, end, text)
            self.moving.extend(self.panels[name])
        self.figure.text(
            0.035,
            0.035,
            "thin: pushes before the layer    thick: after it    dotted: all states of RMS 1",
            fontsize=12,
            color=COLORS["muted"],
        )
        self.update(strength=0.0, angle=30)

    def update(self, *, strength: float, angle: float):
        """A state of the same length in this direction (degrees), the branch multiplied by strength."""
        direction = np.radians(angle)
        x = self.x.new_tensor([[np.cos(direction), np.sin(direction)]]) * self.length
        self.factors = {}
        for name, (before, start, after, end, text) in self.panels.items():

            def layer(state, name=name):
                return self.layers[name](state, lambda read: strength * self.branch(read))

            matrix = _numbers(self.jacobian(layer, x))
            centre, image = _numbers(x).T, _numbers(layer(x)).T
            before.set_data(*(centre + self.ring))
            start.set_data(*centre)
            after.set_data(*(image + matrix @ self.ring))
            end.set_data(*image)
            self.factors[name] = np.linalg.svd(matrix, compute_uv=False)
            large, small = self.factors[name]
            text.set_text(f"pushes × {large:.2f} at most, × {abs(small):.2f} at least")

    def describe(self) -> str:
        pre, post = self.factors["pre"], self.factors["post"]
        return (
            "Two planes, each with a ring of small pushes round a state and its image after one layer. "
            f"Pre-Norm: a ring or ellipse, factors {pre[0]:.2f} and {pre[1]:.2f}. Post-Norm: a straight "
            f"piece of the circle's tangent, factors {post[0]:.2f} and {abs(post[1]):.2f}."
        )


class SwitchedOff(View):
    """All branches zero: the size of the state after each layer, and the Jacobian's singular values.

    Args:
        rms: by name, (layers + 1,): RMS of the state before the first layer and after each.
        factors: by name, (layers + 1, d): singular values of the stack up to there.
            The names are "pre", "post" (with RMSNorm) and "post_layer_norm".
    """

    def __init__(
        self, rms: Mapping[str, Numbers("layers")], factors: Mapping[str, Numbers("layers", "d")]
    ):
        self.rms, self.factors = _all_numbers(rms), _all_numbers(factors)
        layers, width = len(self.rms["pre"]) - 1, self.factors["pre"].shape[1]
        self.figure = new_figure(9, 4.6)
        left = self.figure.add_axes((0.08, 0.16, 0.38, 0.58))
        left.set(xlim=(-2, layers + 2), ylim=(0, 1.15 * self.rms["pre"].max()))
        left.set_xlabel("layer")
        left.set_title("RMS of the state")
        right = self.figure.add_axes((0.55, 0.16, 0.43, 0.58))
        right.set(xlim=(0.4, width + 0.6), ylim=(-0.04, 1.25), xticks=range(1, width + 1))
        right.set_xlabel("direction, by size")
        right.set_title("factor on a push")
        self.dots, self.bars = {}, {}
        places = np.arange(1, width + 1)
        for shift, (name, (label, color, line)) in zip(
            (-0.27, 0, 0.27), SWITCHED_OFF.items(), strict=True
        ):
            # The two Post-Norms are one curve: the first is drawn wider, so that both are seen.
            broad = 5 if name == "post" else 2
            left.plot(self.rms[name], line, color=color, lw=broad, label=label)
            (self.dots[name],) = left.plot([0], [0], "o", color=color, ms=9, clip_on=False)
            self.bars[name] = right.bar(places + shift, np.ones(width), 0.25, color=color)
        _legend_above(self.figure, left, ncol=2)
        self.moving = [*self.dots.values(), *self.bars.values()]
        self.allowed = {"layer": range(layers + 1)}
        self.update(layer=0)

    def update(self, *, layer: int):
        """Show the state after this many layers."""
        self.layer = layer
        for name in SWITCHED_OFF:
            self.dots[name].set_data([layer], [self.rms[name][layer]])
            for bar, height in zip(self.bars[name], self.factors[name][layer], strict=True):
                bar.set_height(height)

    def describe(self) -> str:
        parts = []
        for name, (label, _, _) in SWITCHED_OFF.items():
            factors = self.factors[name][self.layer]
            dead = int((factors < 1e-6).sum())
            parts.append(
                f"{label}: RMS {self.rms[name][self.layer]:.2f}, largest factor {factors[0]:.2f}, "
                f"{dead} of {len(factors)} directions killed"
            )
        return f"After {self.layer} layers with branches switched off. {'; '.join(parts)}."


class BranchStrength(View):
    """A stack of fixed depth from the identity to a random one, as its branches are turned up.

    Args:
        strengths: (n,) rising from 0, the places of the slider.
        factors: "pre" and "post", each (n, width): singular values of the stack.
        distance: "pre" and "post", each (n,): norm of J - I over sqrt(width).
    """

    LOW = 1e-5

    def __init__(
        self,
        strengths: Numbers("n"),
        factors: Mapping[str, Numbers("n", "width")],
        distance: Mapping[str, Numbers("n")],
    ):
        self.strengths = _numbers(strengths)
        self.factors, self.distance = _all_numbers(factors), _all_numbers(distance)
        width = self.factors["pre"].shape[1]
        self.figure = new_figure(9, 4.6)
        left = self.figure.add_axes((0.1, 0.26, 0.37, 0.58))
        left.set(yscale="log", xlim=(1, width), ylim=(self.LOW, 50))
        left.set_xlabel("direction, by size")
        left.set_title("factor on a push")
        left.axhline(1, color=COLORS["muted"], lw=1, ls=":")
        right = self.figure.add_axes((0.57, 0.26, 0.41, 0.58))
        right.set(
            xlim=(0, self.strengths[-1]), ylim=(0, 1.08 * max(map(np.max, self.distance.values())))
        )
        right.set_xlabel("strength of the branches")
        right.set_title("distance of J from I")
        self.lines, self.dots = {}, {}
        for name in ("pre", "post"):
            label, color, line = LOOKS[name]
            (self.lines[name],) = left.plot(
                np.arange(1, width + 1), np.ones(width), color=color, lw=3, label=label
            )
            right.plot(self.strengths, self.distance[name], line, color=color)
            (self.dots[name],) = right.plot([0], [0], "o", color=color, ms=10, clip_on=False)
        _legend_above(self.figure, left, ncol=2, left=0.09)
        self.text = self.figure.text(0.1, 0.04, "", fontsize=13)
        self.moving = [*self.lines.values(), *self.dots.values(), self.text]
        self.update(strength=0.0)

    def update(self, *, strength: float):
        """Show the stack of the strength nearest to this one."""
        place = int(np.argmin(np.abs(self.strengths - strength)))
        self.at = {
            name: (self.factors[name][place], self.distance[name][place]) for name in self.lines
        }
        self.strength = self.strengths[place]
        for name, (factors, distance) in self.at.items():
            self.lines[name].set_ydata(np.maximum(factors, self.LOW))
            self.dots[name].set_data([self.strength], [distance])
        medians = {name: _in_short(np.median(factors)) for name, (factors, _) in self.at.items()}
        self.text.set_text(
            f"strength {self.strength:.1f}:  median factor {medians['pre']} (Pre-Norm), "
            f"{medians['post']} (Post-Norm)"
        )

    def describe(self) -> str:
        parts = [
            f"{LOOKS[name][0]}: factors from {_in_short(factors[-1])} to {_in_short(factors[0])}, "
            f"distance from I {distance:.2f}"
            for name, (factors, distance) in self.at.items()
        ]
        return f"A stack whose branches have strength {self.strength:.1f}. {'; '.join(parts)}."


class DepthSpectra(View):
    """Singular values of a stack's Jacobian at one depth, and their median over all depths.

    Args:
        factors: by feed-forward and placement, (depth, width), largest first; shorter where the stack
            overflowed.
        depth: the largest depth.
    """

    LIMITS = (1e-12, 1e14)

    def __init__(self, factors: Mapping[str, Mapping[str, Numbers(None, "width")]], depth: int):
        self.factors = _all_numbers(factors)
        some = next(iter(self.factors.values()))
        width = some["pre"].shape[1]
        self.figure = new_figure(9, 5.6)
        left = self.figure.add_axes((0.1, 0.41, 0.37, 0.52))
        right = self.figure.add_axes((0.58, 0.41, 0.39, 0.52))
        for axes in (left, right):
            axes.set(yscale="log", ylim=self.LIMITS)
            axes.set_yticks(10.0 ** np.arange(-12, 15, 4))
            axes.minorticks_off()
            axes.axhline(1, color=COLORS["muted"], lw=1, ls=":")
        left.set(xlim=(1, width))
        left.set_xlabel("direction, by size")
        left.set_title("factor on a push")
        right.set(xlim=(0, depth))
        right.set_xlabel("depth")
        right.set_title("median factor")
        self.lines, self.medians, self.dots = {}, {}, {}
        for name, (_, color, line) in LOOKS.items():
            (self.lines[name],) = left.plot([], [], line, color=color, lw=3)
            (self.medians[name],) = right.plot([], [], line, color=color)
            (self.dots[name],) = right.plot([], [], "o", color=color, ms=9, clip_on=False)
        self.texts = _rows(self.figure, LOOKS, 0.1, 0.2)
        self.moving = [
            artist
            for group in (self.lines, self.medians, self.dots, self.texts)
            for artist in group.values()
        ]
        self.allowed = {"depth": range(1, depth + 1), "feed_forward": list(factors)}
        self.update(depth=1, feed_forward=next(iter(self.factors)))

    def update(self, *, depth: int, feed_forward: str):
        """Show the spectra of the first `depth` layers with this feed-forward."""
        self.depth, self.feed_forward = depth, feed_forward
        for name, (label, _, _) in LOOKS.items():
            table = self.factors[feed_forward][name]
            depths = np.arange(1, len(table) + 1)
            self.medians[name].set_data(depths, np.median(table, axis=1))
            if depth > len(table):
                self.lines[name].set_data([], [])
                self.dots[name].set_data([], [])
                words = f"overflows float64 after layer {len(table)}"
            else:
                factors = table[depth - 1]
                self.lines[name].set_data(
                    np.arange(1, len(factors) + 1), np.maximum(factors, 1e-30)
                )
                median = np.median(factors)
                inside = self.LIMITS[0] < median < self.LIMITS[1]
                self.dots[name].set_data([depth], [median if inside else np.nan])
                words = (
                    f"median {_in_short(np.median(factors)):>6}   "
                    f"largest {_in_short(factors[0]):>6}"
                )
            self.texts[name].set_text(f"{label:20} {words}")

    def describe(self) -> str:
        rows = "; ".join(" ".join(text.get_text().split()) for text in self.texts.values())
        return (
            f"Singular values of the Jacobian of {self.depth} layers with a {self.feed_forward} "
            f"feed-forward, and their median over depth. {rows}."
        )


class StreamGrowth(View):
    """RMS of the stream over layers, and the share of it that each layer writes.

    Args:
        rms: by feed-forward and placement, (layers + 1,).
        share: by feed-forward and placement, (layers,): norm of a layer's change over the norm after it.
    """

    TOP = 60

    def __init__(
        self,
        rms: Mapping[str, Mapping[str, Numbers(None)]],
        share: Mapping[str, Mapping[str, Numbers(None)]],
    ):
        self.rms, self.share = _all_numbers(rms), _all_numbers(share)
        some = next(iter(self.rms.values()))
        layers = len(some["pre"]) - 1
        self.figure = new_figure(9, 5.0)
        left = self.figure.add_axes((0.09, 0.38, 0.39, 0.53))
        left.set(yscale="log", xlim=(0, layers), ylim=(0.7, self.TOP))
        left.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
        left.minorticks_off()
        left.set_xlabel("layer")
        left.set_title("RMS of the stream")
        places = np.arange(layers + 1)
        root = np.sqrt(1 + places)
        left.plot(places, root, ":", color=COLORS["muted"], lw=1.5)
        left.text(
            layers, 0.5 * root[-1], "√(1 + layer)", ha="right", fontsize=12, color=COLORS["muted"]
        )
        right = self.figure.add_axes((0.58, 0.38, 0.39, 0.53))
        right.set(xlim=(0, layers), ylim=(-0.03, 1.3))
        right.set_xlabel("layer")
        right.set_title("share written by the layer")
        self.curves, self.dots = {}, {}
        for name, (_, color, line) in LOOKS.items():
            self.curves[name] = [axes.plot([], [], line, color=color)[0] for axes in (left, right)]
            self.dots[name] = [
                axes.plot([], [], "o", color=color, ms=9, clip_on=False)[0]
                for axes in (left, right)
            ]
        self.texts = _rows(self.figure, LOOKS, 0.09, 0.18)
        self.moving = [
            *(line for pair in (*self.curves.values(), *self.dots.values()) for line in pair),
            *self.texts.values(),
        ]
        self.allowed = {"layer": range(1, layers + 1), "feed_forward": list(rms)}
        self.update(layer=1, feed_forward=next(iter(self.rms)))

    def update(self, *, layer: int, feed_forward: str):
        """Mark this layer, of stacks with this feed-forward."""
        self.layer, self.feed_forward = layer, feed_forward
        for name, (label, _, _) in LOOKS.items():
            rms, share = self.rms[feed_forward][name], self.share[feed_forward][name]
            self.curves[name][0].set_data(np.arange(len(rms)), rms)
            self.curves[name][1].set_data(np.arange(1, len(share) + 1), share)
            if layer > len(share):
                for dot in self.dots[name]:
                    dot.set_data([], [])
                words = f"overflows float64 after layer {len(share)}"
            else:
                inside = rms[layer] <= self.TOP
                self.dots[name][0].set_data([layer], [rms[layer] if inside else np.nan])
                self.dots[name][1].set_data([layer], [share[layer - 1]])
                outside = "" if inside else "   (above the picture)"
                words = f"RMS {_in_short(rms[layer]):>6}   share {share[layer - 1]:.2f}{outside}"
            self.texts[name].set_text(f"{label:20} {words}")

    def describe(self) -> str:
        rows = "; ".join(" ".join(text.get_text().split()) for text in self.texts.values())
        return (
            f"RMS of the stream over layers with a {self.feed_forward} feed-forward, and the share of the "
            f"stream that each layer writes. At layer {self.layer}: {rows}."
        )


class TokenCollapse(View):
    """Cosines between all pairs of tokens after one layer, and their mean over layers.

    Args:
        cosines: by feed-forward, then "pre" and "post": (layers + 1, tokens, tokens).
    """

    def __init__(self, cosines: Mapping[str, Mapping[str, Numbers("layers", "tokens", "tokens")]]):
        self.cosines = _all_numbers(cosines)
        some = next(iter(self.cosines.values()))
        layers, tokens = len(some["pre"]) - 1, some["pre"].shape[1]
        apart = ~np.eye(tokens, dtype=bool)
        self.means = {
            feed_forward: {name: table[:, apart].mean(axis=1) for name, table in tables.items()}
            for feed_forward, tables in self.cosines.items()
        }
        self.figure = new_figure(9, 3.9)
        self.images, self.curves, self.dots, self.titles = {}, {}, {}, {}
        curve = self.figure.add_axes((0.7, 0.19, 0.28, 0.62))
        curve.set(xlim=(0, layers), ylim=(-0.05, 1.08))
        curve.set_xlabel("layer")
        curve.set_title("mean cosine")
        for left, name in ((0.015, "pre"), (0.295, "post")):
            _, color, line = LOOKS[name]
            axes = self.figure.add_axes((left, 0.1, 0.26, 0.71))
            axes.set(xticks=[], yticks=[])
            axes.set_xlabel("token against token", fontsize=12)
            self.images[name] = axes.imshow(
                np.eye(tokens), vmin=-1, vmax=1, cmap="PuOr", interpolation="nearest"
            )
            self.titles[name] = axes.text(
                0, 1.03, "", transform=axes.transAxes, color=color, fontsize=14
            )
            (self.curves[name],) = curve.plot([], [], line, color=color)
            (self.dots[name],) = curve.plot([], [], "o", color=color, ms=9, clip_on=False)
        scale = self.figure.add_axes((0.575, 0.19, 0.018, 0.62))
        bar = self.figure.colorbar(self.images["pre"], cax=scale)
        bar.set_ticks([-1, 0, 1])
        self.figure.text(0.585, 0.85, "cosine", fontsize=12, ha="center")
        self.moving = [
            artist
            for group in (self.images, self.titles, self.curves, self.dots)
            for artist in group.values()
        ]
        self.allowed = {"layer": range(layers + 1), "feed_forward": list(cosines)}
        self.update(layer=0, feed_forward=next(iter(self.cosines)))

    def update(self, *, layer: int, feed_forward: str):
        """Show the cosines after this layer, of stacks with this feed-forward."""
        self.layer, self.feed_forward = layer, feed_forward
        for name in self.images:
            means = self.means[feed_forward][name]
            self.images[name].set_data(self.cosines[feed_forward][name][layer])
            self.titles[name].set_text(f"{LOOKS[name][0]}, mean {means[layer]:.3f}")
            self.curves[name].set_data(np.arange(len(means)), means)
            self.dots[name].set_data([layer], [means[layer]])

    def describe(self) -> str:
        means = self.means[self.feed_forward]
        return (
            f"Cosines between all pairs of tokens after layer {self.layer}, {self.feed_forward} "
            f"feed-forward: mean {means['pre'][self.layer]:.3f} under Pre-Norm, "
            f"{means['post'][self.layer]:.3f} under Post-Norm; a curve shows the means over layers."
        )


class Race(View):
    """Training curves: numbers put into the right place, and the gradient in the first layer.

    Args:
        results: by variant (a key of RACERS), a list with one dict a seed; "accuracy" and "gradient_first"
            are lists with an entry a step, which may still grow while the picture is shown.
        steps: how many steps a whole run has.
        chance: the accuracy of guessing without looking.
    """

    WINDOW = 10  # steps that a point of a curve averages

    def __init__(self, results: Mapping[str, Sequence], steps: int, chance: float):
        self.results, self.steps = results, steps
        self.figure = new_figure(9, 5.6)
        left = self.figure.add_axes((0.09, 0.45, 0.4, 0.48))
        left.set(xlim=(0, steps), ylim=(0, 1.03))
        left.set_xlabel("training step")
        left.set_title("share in the right place")
        left.axhline(chance, color=COLORS["muted"], lw=1, ls=":")
        left.text(steps, chance + 0.02, "guessing", ha="right", fontsize=12, color=COLORS["muted"])
        right = self.figure.add_axes((0.59, 0.45, 0.38, 0.48))
        right.set(yscale="log", xlim=(0, steps), ylim=(1e-4, 30))
        right.set_xlabel("training step")
        right.set_title("gradient in the first layer")
        right.minorticks_off()
        self.lines = {}
        for name, runs in results.items():
            _, color, line = RACERS[name]
            self.lines[name] = []
            for seed in range(len(runs)):
                style = dict(color=color, ls=line, lw=2.5 if seed == 0 else 1.2)
                pair = [axes.plot([], [], **style)[0] for axes in (left, right)]
                self.lines[name].append(pair)
        looks = {name: RACERS[name] for name in results}
        self.texts = _rows(self.figure, looks, 0.09, 0.255)
        self.moving = [
            *(line for lines in self.lines.values() for pair in lines for line in pair),
            *self.texts.values(),
        ]
        self.allowed = {"step": range(steps + 1)}
        self.update(step=0)

    def update(self, *, step: int):
        """Show the runs up to this step, as far as they have got."""
        self.step, self.reached = step, {}
        for name, runs in self.results.items():
            ends = []
            for run, (accuracy_line, gradient_line) in zip(runs, self.lines[name], strict=True):
                accuracy = self._smooth(np.array(run["accuracy"][:step], dtype=float))
                gradient = np.array(run["gradient_first"][:step], dtype=float)
                gradient = np.exp(self._smooth(np.log(np.maximum(gradient, 1e-12))))
                places = np.arange(1, len(accuracy) + 1)
                accuracy_line.set_data(places, accuracy)
                gradient_line.set_data(places, gradient)
                if len(accuracy):
                    ends.append(accuracy[-1])
            self.reached[name] = ends
            words = " ".join(f"{end:.2f}" for end in ends)
            self.texts[name].set_text(f"{RACERS[name][0]:32} {words}")

    def _smooth(self, values: np.ndarray) -> np.ndarray:
        """Each value replaced by the mean of the last WINDOW values up to it."""
        places = np.arange(1, len(values) + 1)
        since = np.maximum(places - self.WINDOW, 0)
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return (sums[places] - sums[since]) / (places - since)

    def describe(self) -> str:
        parts = [
            f"{RACERS[name][0]}: {', '.join(f'{end:.2f}' for end in ends) or 'not begun'}"
            for name, ends in self.reached.items()
        ]
        return (
            f"Training curves up to step {self.step} of {self.steps}. Share of numbers in the right "
            f"place, one number a seed: {'; '.join(parts)}. Beside it the gradient norm in the first layer."
        )
