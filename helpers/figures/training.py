"""Lesson 06's pictures: what a network is asked, it while it learns and from noise to data, the comparison.

The views are given arrays in the plane's coordinates, and results as plain numbers; they never see a model.
Time runs from 1, noise, to 0, data.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure

MODEL_COLORS = {
    "adarms": COLORS["adarms"],
    "added_gated": COLORS["added_gated"],
    "added": COLORS["added"],
    "input": COLORS["input_mlp"],
    "none": COLORS["never_told"],
}


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double() if hasattr(x, "detach") else x, dtype=float)


def _scene_axes(figure, box, title=""):
    """The plane of the reach task: equal scales, no ticks."""
    axes = figure.add_axes(box)
    axes.set_aspect("equal")
    axes.set(xlim=(-0.15, 1.25), ylim=(-0.62, 0.62), xticks=(), yticks=(), title=title)
    axes.spines[:].set_visible(False)
    return axes


def _obstacle(axes, centre, radius):
    disc = Circle(centre, radius, color=COLORS["faint"], zorder=0)
    axes.add_patch(disc)
    return disc


def _ends(axes, goal):
    """Start (square) and goal (cross); returns the goal's artist, which may move."""
    axes.plot([0], [0], "s", color=COLORS["input"], ms=8)
    (cross,) = axes.plot(
        *np.asarray(goal).reshape(2, 1), "P", color=COLORS["input"], ms=12, zorder=5
    )
    return cross


def _joined(chunks) -> np.ndarray:
    """Chunks (n, horizon, 2) as one polyline from the origin each, parted by NaN: (2, points)."""
    chunks = _numbers(chunks)
    n = len(chunks)
    start, gap = np.zeros((n, 1, 2)), np.full((n, 1, 2), np.nan)
    return np.concatenate([start, chunks, gap], axis=1).reshape(-1, 2).T


def _mixed(color, share):
    """The colour with so much of itself, the rest white."""
    return tuple(1 - share * (1 - c) for c in to_rgb(color))


class RowOfABatch(View):
    """One row of a training batch: what the network is given, and what is asked of it.

    Args, all in the plane's coordinates:
        actions: (rows, horizon, 2), the demonstrations. noise: like actions.
        goals, obstacles: (rows, 2). radius: of the obstacles.
    """

    STEP = 0.3  # an arrow is so much of -u_t: from x_t to where it is at t - 0.3

    def __init__(
        self,
        actions: Numbers("rows", "horizon", 2),
        noise: Numbers("rows", "horizon", 2),
        goals: Numbers("rows", 2),
        obstacles: Numbers("rows", 2),
        radius: float,
    ):
        self.actions, self.noise = _numbers(actions), _numbers(noise)
        self.goals, self.obstacles = _numbers(goals), _numbers(obstacles)
        tips = self.actions - self.STEP * (self.noise - self.actions)
        seen = np.concatenate([self.actions, self.noise, tips]).reshape(-1, 2)
        (left, low), (right, high) = seen.min(axis=0) - 0.05, seen.max(axis=0) + 0.05
        self.figure = new_figure(9, 4.2)
        planes, self.discs, self.crosses = [], [], []
        titles = "given: x_t, t, goal, obstacle", "asked: u_t (arrows: -0.3 u_t; line: the data)"
        for place, title in enumerate(titles):
            plane = _scene_axes(self.figure, (0.01 + 0.5 * place, 0.13, 0.48, 0.77))
            self.figure.text(0.02 + 0.49 * place, 0.93, title, fontsize=14)
            plane.set(xlim=(left, right), ylim=(low, high))
            self.discs.append(_obstacle(plane, self.obstacles[0], radius))
            self.crosses.append(_ends(plane, self.goals[0]))
            planes.append(plane)
        given, asked = planes
        (self.chain,) = given.plot([], [], "o-", color=COLORS["x_t"], lw=0.7, ms=5)
        (self.path,) = asked.plot([], [], ".-", color=COLORS["input"], lw=1, ms=5)
        (self.feet,) = asked.plot([], [], "o", color=COLORS["x_t"], ms=4)
        start = np.zeros(self.actions.shape[1:])
        self.arrows = asked.quiver(
            *start.T,
            *start.T,
            color=COLORS["velocity"],
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.006,
            zorder=4,
        )
        self.text = self.figure.text(0.02, 0.04, "")
        self.moving = [
            *self.discs,
            *self.crosses,
            self.chain,
            self.path,
            self.feet,
            self.arrows,
            self.text,
        ]
        self.allowed = {"row": range(1, len(self.actions) + 1)}
        self.update(t=0.5, row=1)

    def update(self, *, t: float, row: int):
        """Show row number 1, 2, ... at time t."""
        action, noise = self.actions[row - 1], self.noise[row - 1]
        x_t, target = t * noise + (1 - t) * action, noise - action
        for disc, cross in zip(self.discs, self.crosses, strict=True):
            disc.center = tuple(self.obstacles[row - 1])
            cross.set_data(*self.goals[row - 1][:, None])
        self.chain.set_data(*x_t.T)
        self.feet.set_data(*x_t.T)
        self.path.set_data(*_joined(action[None]))
        self.arrows.set_offsets(x_t)
        self.arrows.set_UVC(*(-self.STEP * target).T)
        self.long = self.STEP * np.linalg.norm(target, axis=-1).mean()
        self.away = np.linalg.norm(x_t - action, axis=-1).mean()
        self.text.set_text(
            f"row {row}, t = {t:.2f}: on average an arrow is {self.long:.2f} long, "
            f"a point {self.away:.2f} from its waypoint"
        )

    def describe(self) -> str:
        return (
            f"Left, what the network is given: {len(self.chain.get_xdata())} points of x_t, goal and "
            f"obstacle. Right, what it is asked: at each point an arrow of {self.STEP} times -u_t, towards "
            f"its waypoint on the thin line, the demonstration. R{self.text.get_text()[1:]}."
        )


class Learning(View):
    """A network in training: its samples for one scene, its loss, and how far each layer's gate is open.

    Args:
        goal, obstacle: (2,) each, the scene. radius: of the obstacle.
        steps: where the training ends. layers: how many gates there are.
    """

    def __init__(
        self, goal: Numbers(2), obstacle: Numbers(2), radius: float, steps: int, layers: int
    ):
        self.steps = steps
        self.figure = new_figure(9, 4.2)
        plane = _scene_axes(self.figure, (0.0, 0.08, 0.42, 0.78), "samples")
        _obstacle(plane, obstacle, radius)
        (self.paths,) = plane.plot([], [], color=COLORS["x_t"], lw=1, alpha=0.6)
        _ends(plane, goal)

        losses = self.figure.add_axes((0.5, 0.2, 0.19, 0.66))
        losses.set(xlim=(0, steps), ylim=(0.07, 3), yscale="log", title="loss", xlabel="step")
        (self.loss,) = losses.plot([], [], color=COLORS["input"], lw=1)
        gates = self.figure.add_axes((0.77, 0.2, 0.17, 0.66))
        gates.set(xlim=(0, steps), ylim=(0, 0.25), title="gate size by layer", xlabel="step")
        self.gate_lines, self.gate_names = [], []
        for layer in range(layers):
            color = _mixed(COLORS["gate"], 0.45 + 0.55 * (layer + 1) / layers)
            (line,) = gates.plot([], [], color=color)
            self.gate_lines.append(line)
            name = gates.text(0, 0, str(layer), va="center", fontsize=12, visible=False)
            self.gate_names.append(name)
        self.text = self.figure.text(0.02, 0.04, "")
        self.moving = [self.paths, self.loss, *self.gate_lines, *self.gate_names, self.text]
        self.update(losses=[], gates=[], paths=np.zeros((0, 1, 2)))

    def update(self, *, losses: Sequence, gates: Sequence, paths: Numbers(None, None, 2)):
        """losses: one a step. gates: (step, sizes by layer) pairs. paths (n, horizon, 2)."""
        self.done = len(losses)
        self.last_loss = float(np.mean(losses[-20:])) if self.done else float("nan")
        self.loss.set_data(np.arange(1, self.done + 1), losses)
        self.paths.set_data(*_joined(paths))
        self.sizes = list(gates[-1][1]) if gates else [0.0] * len(self.gate_lines)
        steps = [step for step, _ in gates]
        heights = _spread(self.sizes, 0.017)
        for layer, (line, name) in enumerate(zip(self.gate_lines, self.gate_names, strict=True)):
            line.set_data(steps, [sizes[layer] for _, sizes in gates])
            name.set_visible(bool(gates))
            if gates:
                name.set_position((steps[-1] + 0.03 * self.steps, heights[layer]))
        if self.done:
            self.text.set_text(f"after {self.done} steps: loss {self.last_loss:.3f}")
        else:
            self.text.set_text("before the first step")

    def describe(self) -> str:
        sizes = ", ".join(f"{size:.2f}" for size in self.sizes)
        return (
            "Left, sampled paths past an obstacle to a goal. Middle, the loss over training steps on a "
            f"logarithmic axis; right, the size of each layer's gate, from zero: now {sizes}. "
            f"{self.text.get_text()[0].upper()}{self.text.get_text()[1:]}."
        )


def _spread(heights, least):
    """The heights, moved apart upwards where two labels would overlap."""
    placed, last = [0.0] * len(heights), -np.inf
    for index in np.argsort(heights, kind="stable"):
        last = max(heights[index], last + least)
        placed[index] = last
    return placed


class FromNoiseToData(View):
    """Two velocities for one scene, the network's and the exact one, from the same noise; and both by time.

    Args:
        goal, obstacle, radius: the scene.
        times: (steps + 1,) from 1 to 0.
        sides: {"network": Side, "exact": Side} in this order; a side is a dict with x_t and x0_hat,
            (steps + 1, samples, horizon, 2), and velocity, the same shape, all in the plane's coordinates.
        by_time: {"loss": {side: values}, "success": {side: values}}, values (curve_times,).
        curve_times: (curve_times,).
    """

    def __init__(
        self,
        goal: Numbers(2),
        obstacle: Numbers(2),
        radius: float,
        times: Numbers("steps"),
        sides: Mapping[str, Mapping],
        by_time: Mapping[str, Mapping[str, Numbers("curve_times")]],
        curve_times: Numbers("curve_times"),
    ):
        self.times = _numbers(times)
        self.sides = {
            name: {key: _numbers(value) for key, value in side.items()}
            for name, side in sides.items()
        }
        self.curve_times = _numbers(curve_times)
        self.by_time = {
            what: {name: _numbers(values) for name, values in curves.items()}
            for what, curves in by_time.items()
        }
        self.figure = new_figure(9, 6.6)
        self.chains, self.guesses, self.arrows = {}, {}, {}
        for place, name in enumerate(self.sides):
            plane = _scene_axes(self.figure, (0.01 + 0.5 * place, 0.46, 0.47, 0.44))
            plane.set(xlim=(-0.35, 1.35), ylim=(-0.62, 0.56))
            plane.set_title("the trained network" if name == "network" else "the exact velocity")
            _obstacle(plane, obstacle, radius)
            _ends(plane, goal)
            (self.chains[name],) = plane.plot([], [], "o-", color=COLORS["x_t"], lw=0.7, ms=5)
            (self.guesses[name],) = plane.plot([], [], color=COLORS["posterior_mean"], lw=2.5)
            zeros = np.zeros(self.sides[name]["x_t"].shape[2])
            self.arrows[name] = plane.quiver(
                zeros,
                zeros,
                zeros,
                zeros,
                color=COLORS["velocity"],
                angles="xy",
                scale_units="xy",
                scale=1,
                width=0.005,
                zorder=4,
            )
        for place, (color, word) in enumerate(
            (("x_t", "x_t"), ("posterior_mean", "guess of the path"), ("velocity", "a step of 0.2"))
        ):
            self.figure.text(0.03 + (0, 0.1, 0.33)[place], 0.955, f"● {word}", color=COLORS[color])
        self.curves, self.dots = {}, []
        styles = {"network": ("-", COLORS["adarms"]), "exact": ("--", COLORS["input"])}
        for place, (what, curves) in enumerate(self.by_time.items()):
            axes = self.figure.add_axes((0.09 + 0.5 * place, 0.15, 0.37, 0.22))
            highest = max(values.max() for values in curves.values())
            axes.set(xlim=(1, 0), ylim=(0, 1.05 if what == "success" else 1.1 * highest))
            axes.set_title("validation loss" if what == "loss" else "success of the guess")
            axes.set_xlabel("t:  1 is noise, 0 is data")
            for name, values in curves.items():
                style, color = styles[name]
                label = "network" if name == "network" else "exact"
                axes.plot(self.curve_times, values, style, color=color, label=label)
                (dot,) = axes.plot([1], [0], "o", color=color, ms=8, clip_on=False)
                self.dots.append((dot, values))
            if what == "loss":
                axes.legend(loc="upper right")
        self.text = self.figure.text(0.03, 0.025, "")
        self.moving = [
            *self.chains.values(),
            *self.guesses.values(),
            *self.arrows.values(),
            *(dot for dot, _ in self.dots),
            self.text,
        ]
        self.update(t=0.5, sample=1)

    def update(self, *, t: float, sample: int):
        """Show sample number 1, 2, ... at the time nearest to t."""
        at = int(np.abs(self.times - t).argmin())
        for name, side in self.sides.items():
            x_t, guess = side["x_t"][at, sample - 1], side["x0_hat"][at, sample - 1]
            step = -0.2 * side["velocity"][at, sample - 1]
            self.chains[name].set_data(*x_t.T)
            self.guesses[name].set_data(*_joined(guess[None]))
            self.arrows[name].set_offsets(x_t)
            self.arrows[name].set_UVC(*step.T)
        self.t = self.times[at]
        order = np.argsort(self.curve_times)
        for dot, values in self.dots:
            dot.set_data([self.t], [np.interp(self.t, self.curve_times[order], values[order])])
        gaps = self.sides["network"]["velocity"][at] - self.sides["exact"]["velocity"][at]
        exact = self.sides["exact"]["velocity"][at]
        self.gap = float(np.sqrt(np.mean(gaps**2) / np.mean(exact**2)))
        self.text.set_text(f"t = {self.t:.2f}, sample {sample}")

    def describe(self) -> str:
        now = {
            what: [float(dot.get_ydata()[0]) for dot, _ in self.dots[2 * i : 2 * i + 2]]
            for i, what in enumerate(self.by_time)
        }
        return (
            "Above, sixteen waypoints between noise and data with arrows for one step, and the guess of "
            "the finished path, by the trained network and by the exact velocity. Below, curves over t. "
            f"{self.text.get_text()}: loss {now['loss'][0]:.3f} (network), {now['loss'][1]:.3f} (exact); "
            f"success of the guess {now['success'][0]:.2f} and {now['success'][1]:.2f}."
        )


class Samples(View):
    """Sampled paths of several models in one of several scenes, with a chosen number of Euler steps.

    Args:
        sample: function of model name, scene number (from 0) and number of steps, to paths (n, horizon, 2).
        succeeds: function of paths and scene number, to (n,) booleans.
        models: {name: title}. goals, obstacles: (scenes, 2). radius: of the obstacles.
    """

    def __init__(
        self,
        sample: Callable,
        succeeds: Callable,
        models: Mapping[str, str],
        goals: Numbers("scenes", 2),
        obstacles: Numbers("scenes", 2),
        radius: float,
    ):
        self.sample, self.succeeds, self.models = sample, succeeds, dict(models)
        self.goals, self.obstacles = _numbers(goals), _numbers(obstacles)
        self.figure = new_figure(9, 4.4)
        self.lines, self.texts, self.discs, self.crosses = {}, {}, [], []
        width = 1 / len(self.models)
        for place, (name, title) in enumerate(self.models.items()):
            box = (0.01 + width * place, 0.12, width - 0.02, 0.76)
            plane = _scene_axes(self.figure, box, title)
            self.discs.append(_obstacle(plane, self.obstacles[0], radius))
            colors = (COLORS["x_t"], COLORS["broken"])
            self.lines[name] = [plane.plot([], [], color=c, lw=1, alpha=0.6)[0] for c in colors]
            self.crosses.append(_ends(plane, self.goals[0]))
            self.texts[name] = self.figure.text(0.03 + width * place, 0.05, "")
        self.moving = [
            *self.discs,
            *(line for pair in self.lines.values() for line in pair),
            *self.crosses,
            *self.texts.values(),
        ]
        self._known = {}
        self.allowed = {"scene": range(1, len(self.goals) + 1)}
        self.update(scene=1, num_steps=10)

    def update(self, *, scene: int, num_steps: int):
        """Scene number 1, 2, ...; paths that fail are drawn in another colour."""
        self.shares = {}
        for disc, cross in zip(self.discs, self.crosses, strict=True):
            disc.center = tuple(self.obstacles[scene - 1])
            cross.set_data(*self.goals[scene - 1][:, None])
        for name, (good, bad) in self.lines.items():
            key = (name, scene, num_steps)
            if key not in self._known:
                paths = self.sample(name, scene - 1, num_steps)
                fine = np.asarray(self.succeeds(paths, scene - 1), dtype=bool)
                self._known[key] = (_numbers(paths), fine)
            paths, fine = self._known[key]
            good.set_data(*_joined(paths[fine]))
            bad.set_data(*_joined(paths[~fine]))
            self.shares[name] = float(fine.mean())
            self.texts[name].set_text(f"{fine.sum()} of {len(fine)} succeed")
        self.scene, self.num_steps = scene, num_steps

    def describe(self) -> str:
        shares = ", ".join(
            f"{self.models[name]}: {share:.0%}" for name, share in self.shares.items()
        )
        return (
            f"Sampled paths past the obstacle of scene {self.scene} to its goal, {self.num_steps} Euler "
            f"steps; those that hit or miss in red. Share that succeeds: {shares}."
        )


class Forest(View):
    """Each model against adaRMS: paired differences, seed by seed, with their mean and 95% interval.

    Args:
        settings: {title: {model: run}}; a run has validation_loss, success (one a seed) and parameters, and
            every setting has a run "adarms", which has at least the seeds of the others.
        difference: function of two lists, paired by seed, to an object with mean, low, high.
        names: {model: its name}.
    """

    FIRST = ("added_gated", "added")  # the others lie far out, for reasons of this small task

    def __init__(
        self, settings: Mapping[str, Mapping], difference: Callable, names: Mapping[str, str]
    ):
        self.settings, self.difference, self.names = settings, difference, names
        self.figure = new_figure(9, 4.2)
        bottom, height = 0.2, 0.6
        self.axes = self.figure.add_axes((0.56, bottom, 0.41, height))
        self.axes.set(ylim=(-0.6, 3.6), yticks=())
        self.axes.spines["left"].set_visible(False)
        self.axes.axvline(0, color=COLORS["adarms"], lw=2)
        self.rows = []
        for row, name in enumerate(name for name in names if name != "adarms"):
            y, color = 3 - row, MODEL_COLORS[name]
            (seeds,) = self.axes.plot([], [], "o", ms=5, color=color, alpha=0.45, mew=0)
            (bar,) = self.axes.plot([], [], color=color, lw=3)
            (mean,) = self.axes.plot([], [], "D", ms=8, color=color)
            at = bottom + height * (y + 0.6) / 4.2
            label = self.figure.text(0.02, at, names[name], color=color, va="center")
            value = self.figure.text(0.345, at, "", ha="right", va="center")
            gap = self.figure.text(0.545, at, "", ha="right", va="center", color=color)
            self.rows.append((name, y, seeds, bar, mean, value, gap, label))
        self.figure.text(0.345, 0.83, "mean", ha="right", color=COLORS["muted"])
        self.figure.text(0.545, 0.83, "minus adaRMS", ha="right", color=COLORS["muted"])
        self.head = self.figure.text(0.02, 0.92, "", color=COLORS["adarms"])
        self.text = self.figure.text(0.02, 0.035, "")
        self.moving = [artist for row in self.rows for artist in row[2:]] + [self.head, self.text]
        self.allowed = {"setting": list(settings), "measure": ["validation_loss", "success"]}
        self.update(setting=next(iter(settings)), measure="validation_loss", all_models=False)

    def update(self, *, setting: str, measure: str, all_models: bool):
        """Show one setting and one measure, of the two models closest to adaRMS or of all there are."""
        found = self.settings[setting]
        base = found["adarms"]
        largest = 0.0
        self.found = {}
        for name, y, seeds, bar, mean, value, gap, label in self.rows:
            shown = name in found and (all_models or name in self.FIRST)
            for artist in (seeds, bar, mean, value, gap, label):
                artist.set_visible(shown)
            if not shown:
                continue
            theirs, ours = found[name][measure], base[measure][: len(found[name][measure])]
            gaps = np.array(theirs) - np.array(ours)
            result = self.difference(theirs, ours)
            seeds.set_data(gaps, np.full(len(gaps), y - 0.3))
            bar.set_data([result.low, result.high], [y, y])
            mean.set_data([result.mean], [y])
            value.set_text(f"{np.mean(theirs):.4f}")
            gap.set_text(f"{result.mean:+.4f} ± {(result.high - result.low) / 2:.4f}")
            largest = max(largest, np.abs(gaps).max(), abs(result.low), abs(result.high))
            self.found[name] = result
        self.axes.set_xlim(-1.1 * largest, 1.1 * largest)
        better = "lower is better" if measure == "validation_loss" else "higher is better"
        words = measure.replace("_", " ")
        self.axes.set_xlabel(f"{words}, minus adaRMS's")
        self.head.set_text(
            f"{self.names['adarms']}: {words} {np.mean(base[measure]):.4f}  ({better})"
        )
        runs = [base, *(found[name] for name in self.found)]
        counts = sorted(run["parameters"] for run in runs)
        seeds = sorted({len(run[measure]) for run in runs[1:]})
        self.text.set_text(
            f"{counts[0]:,} to {counts[-1]:,} parameters, {' or '.join(map(str, seeds))} seeds"
        )
        self.setting = setting

    def describe(self) -> str:
        rows = "; ".join(
            f"{self.names[name]} {result.mean:+.4f}, from {result.low:+.4f} to {result.high:+.4f}"
            for name, result in self.found.items()
        )
        return (
            f"{self.setting}. {self.head.get_text()}. Differences to it with 95% intervals: {rows}. "
            f"{self.text.get_text()}."
        )


class LossByTime(View):
    """By how much each model's loss lies above adaRMS's, at each t, with 95% intervals.

    Args:
        times: (times,). runs: {model: loss_by_time, (seeds, times)}, with "adarms", which has at least
            the seeds of the others.
        difference: as for `Forest`. names: {model: its name}.
    """

    def __init__(
        self,
        times: Numbers("times"),
        runs: Mapping[str, Numbers(None, "times")],
        difference: Callable,
        names: Mapping[str, str],
    ):
        self.times, self.names = _numbers(times), names
        runs = {name: _numbers(values) for name, values in runs.items()}
        base = runs.pop("adarms")
        self.found = {
            name: [
                difference(values[:, i].tolist(), base[: len(values), i].tolist())
                for i in range(len(self.times))
            ]
            for name, values in runs.items()
        }
        self.figure = new_figure(9, 4.0)
        axes = self.figure.add_axes((0.1, 0.2, 0.52, 0.64))
        axes.set(xlim=(1, 0))
        axes.set_xlabel("t:  1 is noise, 0 is data")
        axes.set_title("loss above adaRMS's")
        axes.axhline(0, color=COLORS["adarms"], lw=2)
        self.dots = {}
        for name, results in self.found.items():
            color = MODEL_COLORS[name]
            means = [result.mean for result in results]
            axes.fill_between(
                self.times,
                [result.low for result in results],
                [result.high for result in results],
                color=_mixed(color, 0.3),
                lw=0,
            )
            axes.plot(self.times, means, color=color)
            (self.dots[name],) = axes.plot([1], [0], "o", color=color, ms=10)
        self.texts = {
            name: self.figure.text(
                0.65, 0.66 - 0.22 * row, "", color=MODEL_COLORS[name], linespacing=1.4
            )
            for row, name in enumerate(self.found)
        }
        self.head = self.figure.text(0.65, 0.87, "")
        self.moving = [*self.dots.values(), *self.texts.values(), self.head]
        self.update(t=0.5)

    def update(self, *, t: float):
        """Mark the measured time nearest to t."""
        at = int(np.abs(self.times - t).argmin())
        self.t = self.times[at]
        self.head.set_text(f"at t = {self.t:.2f}")
        for name, results in self.found.items():
            result = results[at]
            self.dots[name].set_data([self.t], [result.mean])
            half = (result.high - result.low) / 2
            self.texts[name].set_text(f"{self.names[name]}\n{result.mean:+.4f} ± {half:.4f}")

    def describe(self) -> str:
        rows = "; ".join(text.get_text().replace("\n", ": ") for text in self.texts.values())
        return f"Curves over t of the loss above adaRMS's with 95% bands. {self.head.get_text()}: {rows}."
