"""Lesson 04's pictures: what scale, shift and gate do, how the time gets in, and what goes wrong.

The views are given functions and arrays; they only draw what comes back. The two architecture diagrams
are in `diagrams.py`.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure

CIRCLE = np.linspace(0, 2 * np.pi, 97)
FRAME = np.array([3.3, 2.6])  # a sample farther out is not drawn on the workbench


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double())


class _ReadAndWrite:
    """Two axes: what the branch reads, and what it writes onto the trunk.

    Args:
        figure, boxes: where the two axes go.
        reach: half the width shown on the left, half the height shown on the right.
        x: (tokens, 2) tensor, the trunk.
        norm: function of x to its normed version.
        modulate: function of normed, scale (2,), shift (2,).
        branch: function of what is read, to what would be written with gate 1.
    """

    def __init__(self, figure, boxes, reach, x, norm: Callable, modulate: Callable, branch):
        self.x, self.modulate, self.branch = x, modulate, branch
        self.normed = norm(x)
        # All points with RMS 1, to show what becomes of them together.
        self.circle = x.new_tensor(np.sqrt(2) * np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], axis=1))

        read = figure.add_axes(boxes[0])
        width, height = figure.get_size_inches() * boxes[0][2:]
        tall = reach[0] * height / width
        read.set(
            xlim=(-reach[0], reach[0]), ylim=(-tall, tall), xticks=(-3, 0, 3), yticks=(-3, 0, 3)
        )
        read.set_title("the branch reads")
        read.set_xlabel("feature 1")
        read.set_ylabel("feature 2", labelpad=-4)
        read.plot(*_numbers(self.circle).T, color=COLORS["rms_norm"], lw=1, ls=":")
        read.plot(*_numbers(self.normed).T, "o", color=COLORS["rms_norm"], ms=5, mfc="white")
        (self.ring,) = read.plot([], [], color=COLORS["scale"], lw=1.5)
        (self.read,) = read.plot([], [], "o", color=COLORS["scale"], ms=6)

        trunk = figure.add_axes(boxes[1])
        width, height = figure.get_size_inches() * boxes[1][2:]
        wide = reach[1] * width / height
        trunk.set(
            xlim=(-wide, wide), ylim=(-reach[1], reach[1]), xticks=(-3, 0, 3), yticks=(-3, 0, 3)
        )
        trunk.set_title("written to the trunk")
        trunk.set_xlabel("feature 1")
        numbers = _numbers(x)
        self.arrows = trunk.quiver(
            *numbers.T,
            np.zeros(len(x)),
            np.zeros(len(x)),
            angles="xy",
            scale_units="xy",
            scale=1,
            color=COLORS["gate"],
            width=0.011,
            headwidth=3.5,
        )
        trunk.plot(*numbers.T, "o", color=COLORS["input"], ms=6)
        self.moving = [self.ring, self.read, self.arrows]

    def update(self, scale, shift, gate):
        """Show the cloud and its arrows under these three, each (2,)."""
        self.reads = _numbers(self.modulate(self.normed, scale, shift))
        self.ring.set_data(*_numbers(self.modulate(self.circle, scale, shift)).T)
        self.read.set_data(*self.reads.T)
        self.written = _numbers(gate * self.branch(self.modulate(self.normed, scale, shift)))
        self.arrows.set_UVC(*self.written.T)

    def words(self) -> str:
        return (
            f"the branch reads points with RMS {np.sqrt(np.mean(self.reads**2)):.2f} and mean "
            f"({self.reads[:, 0].mean():.2f}, {self.reads[:, 1].mean():.2f}); the arrows it writes "
            f"are {np.linalg.norm(self.written, axis=1).mean():.2f} long on average"
        )


class ThreeKnobs(View):
    """Scale and shift of feature 1 and the gate, by hand, on a cloud of tokens with two features.

    Args: as for `_ReadAndWrite`.
    """

    def __init__(
        self, x: Numbers("tokens", 2), norm: Callable, modulate: Callable, branch: Callable
    ):
        self.figure = new_figure(9, 4.6)
        boxes = (0.07, 0.23, 0.49, 0.66), (0.63, 0.23, 0.35, 0.66)
        self.pair = _ReadAndWrite(self.figure, boxes, (5.6, 6.6), x, norm, modulate, branch)
        self.text = self.figure.text(0.07, 0.03, "", fontsize=13)
        self.moving = [*self.pair.moving, self.text]
        self.update(scale=0.0, shift=0.0, gate=1.0)

    def update(self, *, scale: float, shift: float, gate: float):
        """Scale and shift act on feature 1, the gate on both."""
        self.scale, self.shift, self.gate = scale, shift, gate
        x = self.pair.x
        self.pair.update(x.new_tensor([scale, 0.0]), x.new_tensor([shift, 0.0]), gate)
        length = np.linalg.norm(self.pair.written, axis=1).mean()
        self.text.set_text(
            f"feature 1 is read as {1 + scale:.2f} × normed {shift:+.2f};   mean arrow {length:.2f}"
        )

    def describe(self) -> str:
        return (
            "Left, tokens on the circle of RMS 1 and where scale and shift move them; right, the "
            f"tokens on the trunk with the arrows written to them. With scale {self.scale:.2f} and "
            f"shift {self.shift:.2f} of feature 1 and gate {self.gate:.2f}, {self.pair.words()}."
        )


class KnobsOverTime(View):
    """The same cloud, with scale, shift and gate all computed from one t by a small Dense.

    Args:
        modulation: function of t (n,) to three tensors (n, 2): scale, shift, gate.
        The rest as for `_ReadAndWrite`.
    """

    def __init__(
        self,
        modulation: Callable,
        x: Numbers("tokens", 2),
        norm: Callable,
        modulate: Callable,
        branch: Callable,
    ):
        self.modulation, self.x = modulation, x
        self.figure = new_figure(9, 4.2)
        boxes = (0.425, 0.3, 0.25, 0.56), (0.735, 0.3, 0.25, 0.56)
        self.pair = _ReadAndWrite(self.figure, boxes, (4.4, 5.2), x, norm, modulate, branch)
        times = np.linspace(0, 1, 101)
        curves = self.figure.add_axes((0.065, 0.3, 0.27, 0.56))
        curves.set(xlim=(0, 1), ylim=(-1.2, 1.9), xticks=(0, 0.5, 1))
        curves.set_xticklabels(["0\ndata", "0.5", "1\nnoise"])
        curves.set_title("the Dense says")
        curves.set_xlabel("– feature 1   - - feature 2", fontsize=12, labelpad=1)
        curves.axhline(0, color=COLORS["muted"], lw=1, ls=":")
        names = ("scale", "shift", "gate")
        for name, values in zip(names, modulation(x.new_tensor(times)), strict=True):
            for feature, style in enumerate(("-", "--")):
                curves.plot(times, _numbers(values)[:, feature], style, color=COLORS[name])
        (self.line,) = curves.plot([0, 0], [-1.2, 1.9], color=COLORS["time"], lw=2.5, clip_on=False)
        self.texts = [
            self.figure.text(place, 0.03, "", fontsize=13, color=COLORS[name])
            for place, name in zip((0.2, 0.47, 0.74), names, strict=True)
        ]
        self.text = self.figure.text(0.03, 0.03, "", fontsize=13, color=COLORS["time"])
        self.moving = [*self.pair.moving, self.line, self.text, *self.texts]
        self.update(t=1.0)

    def update(self, *, t: float):
        """Ask the Dense for this time's modulation and apply it."""
        self.now = [values[0] for values in self.modulation(self.x.new_tensor([t]))]
        self.pair.update(*self.now)
        self.line.set_xdata([t, t])
        self.text.set_text(f"t = {t:.2f}")
        for text, name, values in zip(
            self.texts, ("scale", "shift", "gate"), self.now, strict=True
        ):
            text.set_text(f"{name} ({float(values[0]):.2f}, {float(values[1]):.2f})")

    def describe(self) -> str:
        now = ", ".join(text.get_text() for text in self.texts)
        return (
            "Left, curves of scale, shift and gate over t; beside them the cloud that the branch reads "
            f"and the arrows it writes. At {self.text.get_text()}: {now}; {self.pair.words()}."
        )


class TimeStripes(View):
    """The time embedding as stripes over t, and how far apart two times are in it.

    Args:
        embed: function of an array of times (n,) to (n, dim), all sines first.
        cond: function of the same to (n, width): what the time MLP makes of the embedding.
        periods: (dim / 2,) array.
    """

    def __init__(self, embed: Callable, cond: Callable, periods: Numbers("half_dim")):
        self.maps = {"time_emb": embed, "cond": cond}
        self.periods = np.asarray(periods)
        times = np.linspace(0, 1, 401)
        stripes = _numbers(embed(times))
        # What two times that have nothing to do with each other are apart, on average.
        far = np.linspace(0.013, 0.977, 61)
        self.typical = {}
        for name, function in self.maps.items():
            vectors = _numbers(function(far))
            apart = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
            self.typical[name] = apart[np.triu_indices(len(far), 10)].mean()
        self.gaps = np.logspace(-5, -0.35, 60)

        self.figure = new_figure(9, 4.4)
        half = len(stripes.T) // 2
        self.first, self.second = [], []
        for part, low, name in (
            (stripes[:, :half], 0.58, "sines"),
            (stripes[:, half:], 0.18, "cosines"),
        ):
            axes = self.figure.add_axes((0.1, low, 0.4, 0.31))
            axes.imshow(
                part.T, extent=(0, 1, half, 0), aspect="auto", cmap="Greys", interpolation="none"
            )
            axes.set_yticks([0.5, half - 0.5], ["0.004", "4"])
            axes.set_xticks([])
            axes.set_title(f"{name}, by period", pad=4)
            style = dict(color=COLORS["time"], lw=2.5, clip_on=False)
            self.first += axes.plot([0, 0], [0, half], **style)
            self.second += axes.plot([0, 0], [0, half], ls="--", **style)
        axes.set_xticks([0, 0.5, 1], ["0 data", "0.5", "1 noise"])

        right = self.figure.add_axes((0.6, 0.2, 0.38, 0.69))
        right.set(xscale="log", yscale="log", xlim=(1e-5, 0.45), ylim=(1e-3, 40))
        right.set_xlabel("gap between two times")
        right.set_title("distance (1 = unrelated times)")
        right.axhline(1, color=COLORS["muted"], lw=1, ls=":")
        right.axvline(0.004, color=COLORS["muted"], lw=1, ls=":")
        right.text(
            0.0036, 1.4e-3, "shortest period", fontsize=12, ha="right", color=COLORS["muted"]
        )
        colors = {"time_emb": COLORS["time"], "cond": COLORS["input"]}
        labels = {"time_emb": "time_emb", "cond": "cond, untrained MLP"}
        self.curves, self.dots = {}, {}
        for name, color in colors.items():
            (self.curves[name],) = right.plot(
                self.gaps,
                self.gaps,
                color=color,
                label=labels[name],
                ls="-" if name == "cond" else "--",
            )
            (self.dots[name],) = right.plot([1], [1], "o", color=color, ms=9, clip_on=False)
        self.figure.legend(
            *right.get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.6, 0.9)
        )
        self.text = self.figure.text(0.03, 0.03, "", fontsize=13)
        self.moving = [
            *self.first,
            *self.second,
            *self.curves.values(),
            *self.dots.values(),
            self.text,
        ]
        self.update(t=0.5, gap=0.1)

    def update(self, *, t: float, gap: float):
        """Compare t with t + gap, or with t - gap where that would leave [0, 1]."""
        sign = 1 if t + self.gaps[-1] <= 1 else -1
        other = t + sign * gap
        self.apart = {}
        for name, function in self.maps.items():
            vectors = _numbers(function(np.array([t, other, *(t + sign * self.gaps)])))
            distance = np.linalg.norm(vectors[1:] - vectors[0], axis=1) / self.typical[name]
            self.apart[name] = distance[0]
            self.curves[name].set_ydata(np.maximum(distance[1:], 1e-3))
            self.dots[name].set_data([gap], [max(distance[0], 1e-3)])
        for lines, time in ((self.first, t), (self.second, other)):
            for line in lines:
                line.set_xdata([time, time])
        self.moved = int((2 * np.pi * gap / self.periods > 0.1).sum())
        self.text.set_text(
            f"t = {t:.3f} and {other:.5g}:  {self.moved} of {len(self.periods)} periods turn by 0.1 rad or "
            f"more;  distance {self.apart['time_emb']:.2g}"
        )

    def describe(self) -> str:
        return (
            "Left, stripes of sines and cosines over t, from fast to slow, with two marked times; right, "
            f"the distance of their embeddings over their gap. {self.text.get_text()}, of cond "
            f"{self.apart['cond']:.2g}."
        )


class FirstSteps(View):
    """Which parameters get a gradient at the first steps of training: a map, parameters by steps.

    Args:
        gradients: by the name of a start, an array (groups, steps): the RMS of the gradient.
        groups: the rows' labels.
    """

    def __init__(self, gradients: Mapping[str, Numbers("groups", "steps")], groups: Sequence[str]):
        self.gradients = {name: np.asarray(values) for name, values in gradients.items()}
        self.groups = list(groups)
        rows, steps = next(iter(self.gradients.values())).shape
        self.figure = new_figure(9, 5.2)
        axes = self.figure.add_axes((0.24, 0.03, 0.6, 0.86))
        axes.set(xlim=(-0.5, steps - 0.5), ylim=(rows - 0.5, -0.5))
        axes.set_yticks(range(rows), self.groups)
        axes.xaxis.tick_top()
        axes.set_xticks(range(steps), [f"step {step}" for step in range(steps)])
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        positive = np.concatenate([v[v > 0] for v in self.gradients.values()])
        colors = LogNorm(positive.min(), positive.max())
        blues = colormaps["Blues"].with_extremes(bad="white")
        self.picture = axes.imshow(
            np.ones((rows, steps)), norm=colors, cmap=blues, aspect="auto", interpolation="none"
        )
        axes.set_xticks(np.arange(steps + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", lw=3)
        axes.tick_params(which="minor", length=0)
        self.texts = [
            [axes.text(s, r, "", ha="center", va="center", fontsize=12) for s in range(steps)]
            for r in range(rows)
        ]
        self.dark = colors.inverse(0.7)
        bar = self.figure.colorbar(
            self.picture, cax=self.figure.add_axes((0.9, 0.12, 0.02, 0.68)), extend="neither"
        )
        bar.ax.set_title("gradient", fontsize=12, loc="center")
        bar.outline.set_visible(False)
        self.moving = [self.picture, *(text for row in self.texts for text in row)]
        self.allowed = {"start": list(gradients)}
        self.update(start=next(iter(self.gradients)))

    def update(self, *, start: str):
        """Show the gradients of a training that begins like this."""
        self.start = start
        values = self.gradients[start]
        self.picture.set_data(np.ma.masked_equal(values, 0))
        for row, numbers in zip(self.texts, values, strict=True):
            for text, number in zip(row, numbers, strict=True):
                text.set_text("0" if number == 0 else f"{number:.0e}")
                text.set_color(
                    COLORS["broken"] if number == 0 else "white" if number > self.dark else "black"
                )
                text.set_fontweight("bold" if number == 0 else "normal")

    def describe(self) -> str:
        values = self.gradients[self.start]
        steps = []
        for step, column in enumerate(values.T):
            zero = [group for group, value in zip(self.groups, column, strict=True) if value == 0]
            steps.append(f"step {step}: {', '.join(zero) or 'none'}")
        return (
            f"A table of gradient sizes, parameters by training steps, start: {self.start}. "
            f"Exactly zero at {'; '.join(steps)}."
        )


class Workbench(View):
    """One mistake at a time: which invariants break, and what good weights do in the broken code.

    Args:
        ports: by name, objects with `right`, `wrong` and `source`.
        findings: by name, a dict from invariant to an object with `holds` and `words`.
        samples: by name, (n, 2) array drawn with the same trained weights.
        data: (m, 2) array.
        near: by name, the share of samples close to the data.
    """

    def __init__(
        self,
        ports: Mapping,
        findings: Mapping[str, Mapping],
        samples: Mapping[str, Numbers(None, 2)],
        data: Numbers("m", 2),
        near: Mapping[str, float],
    ):
        self.ports, self.findings = ports, findings
        self.samples, self.near = samples, near
        self.figure = new_figure(9, 5.2)
        invariants = list(next(iter(findings.values())))
        heights = [0.83 - 0.1 * i for i in range(len(invariants))]
        self.figure.text(0.03, 0.925, "the five invariants", fontsize=14)
        self.marks, self.words = {}, {}
        for name, height in zip(invariants, heights, strict=True):
            self.marks[name] = self.figure.text(0.03, height, "", fontsize=17, fontweight="bold")
            self.figure.text(0.075, height, name, fontsize=14)
            self.words[name] = self.figure.text(0.195, height, "", fontsize=13)

        axes = self.figure.add_axes((0.595, 0.36, 0.39, 0.53))
        axes.set_aspect("equal")
        axes.set(xlim=(-FRAME[0], FRAME[0]), ylim=(-FRAME[1], FRAME[1]), xticks=(), yticks=())
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.plot(*np.asarray(data).T, ".", color=COLORS["faint"], ms=5, zorder=1)
        (self.cloud,) = axes.plot([], [], ".", color=COLORS["rms_norm"], ms=4, zorder=2)
        self.title = axes.set_title("")
        label = dict(fontsize=13)
        code = dict(fontsize=12, family="DejaVu Sans Mono")
        self.figure.text(0.03, 0.24, "right", **label)
        self.figure.text(0.03, 0.15, "written", **label)
        self.figure.text(0.03, 0.06, "source", **label)
        self.right = self.figure.text(0.13, 0.24, "", **code)
        self.wrong = self.figure.text(0.13, 0.15, "", **code)
        self.source = self.figure.text(0.13, 0.06, "", **label)
        self.moving = [
            *self.marks.values(),
            *self.words.values(),
            self.cloud,
            self.title,
            self.right,
            self.wrong,
            self.source,
        ]
        self.allowed = {"mistake": list(ports)}
        self.update(mistake=next(iter(ports)))

    def update(self, *, mistake: str):
        """Put this port on the bench."""
        self.mistake = mistake
        for name, finding in self.findings[mistake].items():
            self.marks[name].set_text("✓" if finding.holds else "✗")
            self.marks[name].set_color(COLORS["muted"] if finding.holds else COLORS["broken"])
            self.words[name].set_text(finding.words)
            self.words[name].set_color(COLORS["muted"] if finding.holds else COLORS["broken"])
        port = self.ports[mistake]
        points = np.asarray(self.samples[mistake])
        self.cloud.set_data(*points[(np.abs(points) < FRAME).all(axis=1)].T)
        self.title.set_text(f"good weights, {self.near[mistake]:.0%} near the data")
        self.right.set_text(port.right)
        self.wrong.set_text(port.wrong)
        self.wrong.set_color(COLORS["broken" if mistake != "none" else "muted"])
        self.source.set_text(port.source)

    def describe(self) -> str:
        broken = [
            name for name, finding in self.findings[self.mistake].items() if not finding.holds
        ]
        return (
            f"Mistake on the bench: {self.mistake}. Broken invariants: {', '.join(broken) or 'none'}. "
            f"Samples with trained weights: {self.near[self.mistake]:.0%} near the two moons. "
            f"Right: {self.right.get_text()}. Written: {self.wrong.get_text()}. "
            f"Source: {self.source.get_text()}."
        )
