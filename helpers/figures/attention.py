"""Lesson 02's pictures: what attention does when its input is scaled.

The views are given functions that compute logits, weights and gradients; they only draw what comes back.
"""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.patches import Circle, FancyBboxPatch

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure

# The places of a logarithmic slider from 0.01 to 100, so that a curve is known at each of them.
FACTORS = np.logspace(-2, 2, 101)
PLACEMENT_COLORS = {
    "none": COLORS["no_norm"],
    "pre-norm": COLORS["pre_norm"],
    "QK-norm": COLORS["qk_norm"],
}
LOWEST = 1e-6  # what is smaller is drawn here, at the bottom of a logarithmic axis


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double())


def _short(value: float) -> str:
    """Three digits, and no exponent for large numbers."""
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _nearest(factor: float) -> int:
    return int(np.argmin(np.abs(np.log(FACTORS / factor))))


def _over_factors(axes, low: float = 0.01):
    """A logarithmic x axis for c, marked at powers of ten in plain numbers."""
    axes.set(xscale="log", xlim=(low, 100))
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if tick >= low]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(axis="y", pad=8)  # a dot at the left end must not lie on the numbers


class SpreadToOneHot(View):
    """Logits and weights of one query, and the entropy and largest weight of all, under a factor c.

    Args:
        attention: function of c that returns logits and weights, each (queries, keys).
        entropy: function of weights (queries, keys), to (queries,).
    """

    def __init__(self, attention: Callable, entropy: Callable):
        self.attention, self.entropy = attention, entropy
        logits, _ = attention(1.0)
        self.keys = logits.shape[-1]
        # Sorted once: a positive factor keeps the order of the logits.
        self.order = np.argsort(-_numbers(logits)[0])
        curves = np.array([self._of_all(factor) for factor in FACTORS])

        self.figure = new_figure(9, 5.4)
        boxes = ((0.1, 0.64), (0.1, 0.2), (0.6, 0.64), (0.6, 0.2))
        panels = [self.figure.add_axes((*corner, 0.37, 0.29)) for corner in boxes]
        top, bottom, spread, peak = panels
        place = np.arange(self.keys)
        top.set_title("logits of one query")
        top.set_yscale("symlog", linthresh=1, linscale=0.7)
        top.set(xlim=(-1, self.keys), ylim=(-1e5, 1e5), xticks=[])
        top.set_yticks([-1e4, -100, -1, 1, 100, 1e4], ["−10⁴", "−100", "−1", "1", "100", "10⁴"])
        top.minorticks_off()
        top.axhline(0, color=COLORS["muted"], lw=1)
        bottom.set_title("its weights")
        bottom.set(xlim=(-1, self.keys), ylim=(0, 1), xticks=[], yticks=(0, 0.5, 1))
        bottom.set_xlabel(f"the {self.keys} keys, largest logit first")
        self.bars = [
            axes.bar(place, np.zeros(self.keys), 0.8, color=COLORS["input"])
            for axes in (top, bottom)
        ]
        spread.set_title("entropy of the weights")
        spread.set(ylim=(0, 4.8), yticks=(0, 2, 4))
        spread.axhline(np.log(self.keys), color=COLORS["muted"], lw=1, ls=":")
        spread.text(
            90, np.log(self.keys) - 0.1, f"ln {self.keys}", ha="right", va="top", fontsize=12
        )
        peak.set_title("largest weight")
        peak.set(ylim=(0, 1), yticks=(0, 0.5, 1))
        peak.set_xlabel(f"c  (means over {len(logits)} queries)")
        self.dots = []
        for axes, curve in zip((spread, peak), curves.T, strict=True):
            _over_factors(axes)
            axes.plot(FACTORS, curve, color=COLORS["input"])
            (dot,) = axes.plot([1], [0], "o", color=COLORS["input"], ms=10, clip_on=False)
            self.dots.append(dot)
        self.text = self.figure.text(0.1, 0.025, "", fontsize=13)
        self.moving = [*self.bars[0], *self.bars[1], *self.dots, self.text]
        self.update(c=1.0)

    def _of_all(self, factor: float) -> tuple[float, float]:
        """Means over queries of the entropy and of the largest weight."""
        _, weights = self.attention(factor)
        return float(self.entropy(weights).mean()), float(_numbers(weights).max(axis=1).mean())

    def update(self, *, c: float):
        """Multiply the hidden states by c."""
        logits, weights = (_numbers(x)[0, self.order] for x in self.attention(c))
        for bars, heights in zip(self.bars, (logits, weights), strict=True):
            for bar, height in zip(bars, heights, strict=True):
                bar.set_height(height)
        self.mean_entropy, self.mean_peak = self._of_all(c)
        for dot, value in zip(self.dots, (self.mean_entropy, self.mean_peak), strict=True):
            dot.set_data([c], [value])
        self.text.set_text(
            f"c = {c:.3g}:  largest logit {_short(logits[0])},  its weight {weights[0]:.3f};  "
            f"mean entropy {self.mean_entropy:.2f}"
        )

    def describe(self) -> str:
        return (
            "Bars of one query's logits and weights, and curves of the entropy and the largest "
            f"weight over the factor c. {self.text.get_text()}, "
            f"mean largest weight {self.mean_peak:.2f}."
        )


class HeadDimSpread(View):
    """How far the logits of random queries and keys spread, with and without the root of head_dim.

    Args:
        products: (pairs, largest head_dim) tensor, the products q_i * k_i entry by entry; head_dim from 4.
        keys: how many pairs make up one query's logits in the text below the picture.
    """

    def __init__(self, products: Numbers("pairs", "head_dim"), keys: int = 64):
        self.sums = np.cumsum(_numbers(products), axis=1)
        self.keys = keys
        largest = self.sums.shape[1]
        self.dims = np.unique(np.logspace(np.log10(4), np.log10(largest), 60).round().astype(int))
        self.fine, self.coarse = np.linspace(-30, 30, 121), np.linspace(-30, 30, 61)
        spread = self.sums.std(axis=0)

        self.figure = new_figure(9, 4.6)
        left = self.figure.add_axes((0.09, 0.27, 0.4, 0.57))
        left.set(xlim=(-30, 30), ylim=(0, 0.6), yticks=(0, 0.2, 0.4))
        left.set_title("how often a logit occurs")
        left.set_xlabel("logit")
        style = dict(color=COLORS["input"])
        self.scaled = left.stairs(
            np.zeros(120), self.fine, fill=True, alpha=0.35, **style, label="divided by √head_dim"
        )
        centres = (self.coarse[1:] + self.coarse[:-1]) / 2
        (self.raw,) = left.plot(centres, np.zeros(60), **style, ls="--", label="not divided")
        right = self.figure.add_axes((0.6, 0.27, 0.36, 0.57))
        right.set(xscale="log", yscale="log", xlim=(self.dims[0], largest), ylim=(0.5, 60))
        right.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1024"])
        right.set_yticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
        right.minorticks_off()
        right.tick_params(axis="y", pad=8)
        right.set_title("their standard deviation")
        right.set_xlabel("head_dim")
        right.plot(self.dims, spread[self.dims - 1], **style, ls="--")
        right.plot(self.dims, spread[self.dims - 1] / self.dims**0.5, **style)
        (self.raw_dot,) = right.plot(
            [4], [1], "o", **style, mfc="white", mew=2, ms=10, clip_on=False
        )
        (self.scaled_dot,) = right.plot([4], [1], "o", **style, ms=10, clip_on=False)
        self.figure.legend(
            *left.get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.08, 1), ncol=2
        )
        self.text = self.figure.text(0.09, 0.035, "", fontsize=13, linespacing=1.4)
        self.moving = [self.raw, self.scaled, self.raw_dot, self.scaled_dot, self.text]
        self.update(head_dim=4)

    def _largest_weight(self, logits: np.ndarray) -> float:
        """Mean over groups of `keys` logits of the largest softmax weight."""
        groups = logits[: len(logits) // self.keys * self.keys].reshape(-1, self.keys)
        return float(np.mean(1 / np.exp(groups - groups.max(axis=1, keepdims=True)).sum(axis=1)))

    def update(self, *, head_dim: float):
        """Take the first head_dim entries of every query and key (rounded to a whole number)."""
        dim = round(head_dim)
        raw = self.sums[:, dim - 1]
        scaled = raw / dim**0.5
        self.spreads = raw.std(), scaled.std()
        self.raw.set_ydata(np.histogram(raw, self.coarse)[0] / len(raw))
        self.scaled.set_data(np.histogram(scaled, self.fine)[0] / len(raw) * 2)
        self.raw_dot.set_data([dim], [self.spreads[0]])
        self.scaled_dot.set_data([dim], [self.spreads[1]])
        self.text.set_text(
            f"head_dim {dim}, standard deviation and the largest of {self.keys} weights:\n"
            f"not divided {self.spreads[0]:.2f} and {self._largest_weight(raw):.2f},  "
            f"divided {self.spreads[1]:.2f} and {self._largest_weight(scaled):.2f}"
        )

    def describe(self) -> str:
        words = self.text.get_text().replace("\n", " ")
        return (
            "Histograms of random logits, divided by the root of head_dim and not divided, and "
            f"curves of their standard deviation over head_dim. {words}."
        )


class SaturatedGradients(View):
    """What is left of the gradient of W_q when the softmax saturates: each query, their mean and median.

    Args:
        jacobian_norms: function of c, to (queries,): norms of the softmax Jacobians.
        gradients: number of queries to a function of c, to (queries,): norms of each query's gradient.
        gaps: number of queries to (queries,): the largest logit less the second, at c = 1.
    """

    def __init__(
        self,
        jacobian_norms: Callable,
        gradients: Mapping[int, Callable],
        gaps: Mapping[int, Numbers(None)],
    ):
        self.gaps = {count: _numbers(gap) for count, gap in gaps.items()}
        self.norms = np.array([_numbers(jacobian_norms(factor)).mean() for factor in FACTORS])
        medians = [np.median(_numbers(jacobian_norms(factor))) for factor in FACTORS]
        self.sizes = {
            count: np.array([_numbers(function(factor)) for factor in FACTORS])
            for count, function in gradients.items()
        }
        self.averages = {
            count: {"mean": sizes.mean(axis=1), "median": np.median(sizes, axis=1)}
            for count, sizes in self.sizes.items()
        }
        self.figure = new_figure(9, 5.4)
        decades = [1e-6, 1e-4, 1e-2, 1, 100, 1e4]
        names = ["10⁻⁶", "10⁻⁴", "10⁻²", "1", "100", "10⁴"]
        left = self.figure.add_axes((0.09, 0.25, 0.4, 0.62))
        left.set(xscale="log", yscale="log", xlim=(1e-4, 10), ylim=(5e-7, 1e5))
        left.set_xticks([1e-4, 0.01, 1], ["10⁻⁴", "0.01", "1"])
        left.set_title("gradient of W_q, query by query")
        left.set_xlabel("gap of the two largest logits at c = 1")
        (self.points,) = left.plot([], [], "o", color=COLORS["input"], mew=0)
        top = self.figure.add_axes((0.6, 0.68, 0.37, 0.19))
        top.set(ylim=(0, 0.4), yticks=(0, 0.2, 0.4))
        top.set_title("softmax Jacobian, norm")
        bottom = self.figure.add_axes((0.6, 0.25, 0.37, 0.27))
        bottom.set(yscale="log", ylim=(5e-7, 1e5))
        bottom.set_title("gradient of W_q, norm")
        bottom.set_xlabel("c")
        for axes in (left, bottom):
            axes.set_yticks(decades, names)
        bottom.set_yticks(decades[::2], names[::2])
        for axes in (top, bottom):
            _over_factors(axes)
        left.minorticks_off()
        dashed = dict(color=COLORS["input"], ls="--", lw=2)
        top.plot(FACTORS, self.norms, color=COLORS["input"])
        top.plot(FACTORS, medians, **dashed)
        (mean,) = bottom.plot(FACTORS, FACTORS, color=COLORS["input"], label="mean")
        (median,) = bottom.plot(FACTORS, FACTORS, **dashed, label="median")
        self.curves = {"mean": mean, "median": median}
        self.dots = {
            "norm": top.plot([1], [0], "o", color=COLORS["input"], ms=10, clip_on=False)[0]
        }
        for name, fill in (("mean", COLORS["input"]), ("median", "white")):
            (self.dots[name],) = bottom.plot(
                [1], [1], "o", color=COLORS["input"], mfc=fill, mew=2, ms=9, clip_on=False, zorder=4
            )
        self.figure.legend(
            *bottom.get_legend_handles_labels(), loc="upper right", bbox_to_anchor=(0.99, 1), ncol=2
        )
        self.text = self.figure.text(0.09, 0.035, "", fontsize=13, linespacing=1.4)
        self.moving = [self.points, *self.curves.values(), *self.dots.values(), self.text]
        self.allowed = {"queries": list(gradients)}
        self.update(c=1.0, queries=next(iter(gradients)))

    def update(self, *, c: float, queries: int):
        """Multiply the hidden states by c (the nearest of FACTORS), for this many queries."""
        place = _nearest(c)
        sizes = self.sizes[queries][place]
        self.points.set_data(self.gaps[queries], np.maximum(sizes, LOWEST))
        self.points.set(markersize=6 if queries < 1000 else 2.5, alpha=0.7)
        self.dots["norm"].set_data([c], [self.norms[place]])
        self.now = {}
        for name, values in self.averages[queries].items():
            self.curves[name].set_ydata(np.maximum(values, LOWEST))
            self.dots[name].set_data([c], [max(values[place], LOWEST)])
            self.now[name] = values[place]
        total = sizes.sum()
        most = np.cumsum(np.sort(sizes)[::-1])
        self.carriers = int(np.searchsorted(most, 0.9 * total) + 1)
        said = {
            name: f"{value:.2g}" if value >= LOWEST else "below 10⁻⁶"
            for name, value in {**self.now, "Jacobian": self.norms[place]}.items()
        }
        self.words = (
            f"c = {c:.3g}:  gradient mean {said['mean']}, median {said['median']};  "
            f"Jacobian, mean {said['Jacobian']}",
            f"90% of all gradients come from {self.carriers} of {queries} queries",
        )
        self.text.set_text("\n".join(self.words) + "   (below 10⁻⁶: drawn there)")

    def describe(self) -> str:
        return (
            "Points: each query's gradient over the gap of its two largest logits. "
            "Curves over c: the softmax Jacobian's norm, the mean and the median gradient. "
            f"{'; '.join(self.words)}."
        )


class BranchDiagram(View):
    """A layer's trunk and its attention branch, with what was measured at each place.

    Args:
        measure: function of c and norm ("none", "pre-norm", "QK-norm") to a mapping: the RMS at "trunk",
            "read", "queries", "written" and "after", the standard deviation of the "logits", the mean
            "entropy" of the weights.
    """

    def __init__(self, measure: Callable):
        self.measure = measure
        self.figure = new_figure(9, 4.5)
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 9), ylim=(0, 4.5))
        axes.set_axis_off()
        self.axes = axes
        trunk, upper, lower, middle = 0.85, 3.1, 1.9, 2.5
        ink = COLORS["input"]
        axes.annotate(
            "",
            (8.9, trunk),
            (0.15, trunk),
            arrowprops=dict(arrowstyle="-|>,head_width=0.5,head_length=0.8", lw=5, color=ink),
        )
        axes.text(4.4, trunk - 0.3, "the trunk: only ever added to", ha="center", color=ink)
        # The branch: up from the trunk, through the norm, apart into q, k and v, together, and down.
        for path in (
            [(0.7, trunk), (0.7, middle), (2.3, middle)],
            [(2.3, middle), (2.3, upper), (6.7, upper)],
            [(2.3, middle), (2.3, lower), (6.7, lower)],
        ):
            axes.plot(*zip(*path, strict=True), color=ink, lw=2, zorder=1)
        axes.plot([6.7, 6.7], [lower, upper], color=ink, lw=2, zorder=1)
        axes.annotate(
            "",
            (8.1, trunk + 0.17),
            (8.1, middle),
            arrowprops=dict(arrowstyle="-|>,head_width=0.35,head_length=0.6", lw=2, color=ink),
        )
        axes.plot([6.7, 8.1], [middle, middle], color=ink, lw=2, zorder=1)
        axes.plot([0.7], [trunk], "o", color=ink, ms=9)
        axes.add_patch(Circle((8.1, trunk), 0.17, fc="white", ec=ink, lw=2, zorder=5))
        axes.text(8.1, trunk - 0.01, "+", ha="center", va="center", fontsize=16, zorder=6)
        self.boxes = {
            "pre-norm": self._box(1.5, middle, "RMSNorm", PLACEMENT_COLORS["pre-norm"]),
            "QK-norm": self._box(4.35, upper, "RMSNorm", PLACEMENT_COLORS["QK-norm"]),
        }
        for x, y, words in (
            (3.0, upper, "W_q, W_k"),
            (5.65, upper, "softmax"),
            (4.35, lower, "W_v"),
            (7.05, middle, "mix, W_o"),
        ):
            self._box(x, y, words, ink)
        number = dict(fontsize=12, ha="center", va="center")
        self.texts = {
            name: axes.text(x, y, "", **number)
            for name, x, y in (
                ("trunk", 0.75, trunk - 0.3),
                ("read", 1.5, middle - 0.42),
                ("queries", 3.0, upper - 0.46),
                ("logits", 5.65, upper + 0.48),
                ("entropy", 5.65, upper - 0.46),
                ("written", 7.4, middle - 0.75),
                ("after", 8.25, trunk - 0.5),
            )
        }
        self.title = axes.text(0.2, 4.2, "", fontsize=14, va="center")
        parts = [part for box in self.boxes.values() for part in box]
        self.moving = [*parts, *self.texts.values(), self.title]
        self.allowed = {"norm": list(PLACEMENT_COLORS)}
        self.update(c=1.0, norm="pre-norm")

    def _box(self, x: float, y: float, words: str, color: str) -> tuple:
        """A box with words in it, centred at x, y."""
        frame = FancyBboxPatch(
            (x - 0.52, y - 0.24), 1.04, 0.48, boxstyle="round,pad=0,rounding_size=0.1"
        )
        frame.set(fc="white", ec=color, lw=2, zorder=3)
        self.axes.add_patch(frame)
        text = self.axes.text(x, y, words, color=color, ha="center", va="center", zorder=4)
        text.set_fontsize(12)
        return frame, text

    def update(self, *, c: float, norm: str):
        """Multiply the trunk by c, put the norm there, and write what was measured at each place."""
        found = self.found = self.measure(c, norm)
        self.norm, self.c = norm, c
        for name, (frame, text) in self.boxes.items():
            here = name == norm
            frame.set_visible(here)
            text.set_visible(here)
        for name in ("trunk", "read", "queries", "written", "after"):
            self.texts[name].set_text(f"RMS {found[name]:.3g}")
        self.texts["written"].set_text(f"writes\nRMS {found['written']:.3g}")
        self.texts["logits"].set_text(f"logits ± {_short(found['logits'])}")
        self.texts["entropy"].set_text(f"entropy {found['entropy']:.2f}")
        formulas = {
            "none": "no norm:  x + Attention(x)",
            "pre-norm": "pre-norm:  x + Attention(RMSNorm(x))",
            "QK-norm": "QK-norm:  x + Attention(x), queries and keys normalised",
        }
        self.title.set_text(f"{formulas[norm]},   c = {c:.3g}")

    def describe(self) -> str:
        place = {
            "none": "no norm",
            "pre-norm": "RMSNorm at the start of the branch",
            "QK-norm": "RMSNorm on queries and keys",
        }[self.norm]
        found = self.found
        return (
            "A diagram: a trunk runs from left to right; a branch leaves it, passes through "
            f"attention and is added back to the trunk; {place}. At c = {self.c:.3g}: "
            f"trunk RMS {found['trunk']:.3g}, attention reads RMS {found['read']:.3g}, "
            f"logits of standard deviation {_short(found['logits'])}, "
            f"entropy {found['entropy']:.2f}, the branch writes RMS {found['written']:.3g}, "
            f"trunk after it RMS {found['after']:.3g}."
        )


class NormPlacement(View):
    """The weights under none, pre-norm and QK-norm, and each one's entropy over c.

    Args:
        attend: function of c (a number), norm, size and bias, to weights (queries, keys); and of c as an
            array of shape (n, 1, 1), to (n, queries, keys).
        entropy: function of weights (..., queries, keys), to (..., queries).
        as_tensor: makes what `attend` takes from an array.
    """

    def __init__(self, attend: Callable, entropy: Callable, as_tensor: Callable):
        self.attend, self.entropy = attend, entropy
        self.factors = np.logspace(-2, 2, 33)
        self.batch = as_tensor(self.factors[:, None, None])
        self.drawn_for = None
        weights = _numbers(attend(1.0, "none", 1.0, 0.0))
        keys = weights.shape[-1]

        self.figure = new_figure(9, 4.8)
        left = self.figure.add_axes((0.06, 0.22, 0.36, 0.66))
        self.image = left.imshow(weights, cmap="Greys", norm=PowerNorm(0.5, 0, 1), aspect="auto")
        left.set(xticks=[], yticks=[], xlabel=f"{keys} keys", ylabel=f"{len(weights)} queries")
        left.spines[["top", "right"]].set_visible(True)
        left.set_title("weights: white 0, black 1")
        right = self.figure.add_axes((0.52, 0.22, 0.46, 0.56))
        _over_factors(right)
        right.set(ylim=(0, 5.2), yticks=(0, 2, 4))
        right.set_xlabel("c")
        right.set_title("entropy, mean over queries", y=1.18)
        right.axhline(np.log(keys), color=COLORS["muted"], lw=1, ls=":")
        right.text(90, np.log(keys) + 0.18, f"ln {keys}", ha="right", va="bottom", fontsize=12)
        styles = {"none": "-", "pre-norm": "--", "QK-norm": "-."}
        self.curves, self.dots = {}, {}
        for name, color in PLACEMENT_COLORS.items():
            (self.curves[name],) = right.plot(
                self.factors, self.factors, color=color, ls=styles[name], label=name
            )
            (self.dots[name],) = right.plot([1], [1], "o", color=color, ms=10, clip_on=False)
        self.figure.legend(
            *right.get_legend_handles_labels(),
            loc="upper left",
            bbox_to_anchor=(0.5, 0.885),
            ncol=3,
            columnspacing=1.2,
            handlelength=2.2,
        )
        self.text = self.figure.text(0.06, 0.04, "", fontsize=13)
        self.moving = [self.image, *self.curves.values(), *self.dots.values(), self.text]
        self.allowed = {"norm": list(PLACEMENT_COLORS)}
        self.update(c=1.0, norm="none", size=1.0, bias=0.0)

    def update(self, *, c: float, norm: str, size: float, bias: float):
        """Scale the hidden states by c, W_q and W_k by size, and add biases of this size."""
        if self.drawn_for != (size, bias):
            for name, curve in self.curves.items():
                spread = self.entropy(self.attend(self.batch, name, size, bias))
                curve.set_ydata(_numbers(spread).mean(axis=-1))
            self.drawn_for = (size, bias)
        weights = self.attend(c, norm, size, bias)
        self.image.set_data(_numbers(weights))
        for name, dot in self.dots.items():
            dot.set_visible(name == norm)
            self.curves[name].set_linewidth(3.5 if name == norm else 1.8)
        self.mean_entropy = float(_numbers(self.entropy(weights)).mean())
        self.mean_peak = float(_numbers(weights).max(axis=-1).mean())
        self.dots[norm].set_data([c], [self.mean_entropy])
        self.text.set_text(
            f"{norm},  c = {c:.3g},  W × {size:.3g},  bias {bias:.3g}:   entropy "
            f"{self.mean_entropy:.2f},  largest weight {self.mean_peak:.2f} (means)"
        )

    def describe(self) -> str:
        return (
            "Left, the attention weights, queries by keys. Right, their entropy over c "
            f"without a norm, with pre-norm and with QK-norm. Chosen: {self.text.get_text()}."
        )
