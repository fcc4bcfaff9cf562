"""Lesson 05's pictures: what flow matching asks of a network, computed exactly.

The views are given functions of (x_t, time) and tensors; they only draw what comes back. Time runs from
1, noise, to 0, data. Fields are drawn as -v_t, the way that a sampling step goes.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.patches import Circle

from helpers.figures.given import Numbers
from helpers.figures.style import COLORS, View, new_figure


def _numbers(x) -> np.ndarray:
    return np.asarray(x.detach().double())


def _plane(figure, box, limit: float = 3.0, title: str = ""):
    """Empty square axes from -limit to limit, no ticks: only where things lie to each other counts."""
    axes = figure.add_axes(box)
    axes.set_aspect("equal")
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), xticks=(), yticks=(), title=title)
    axes.spines[:].set_visible(False)
    return axes


def _dots(axes, points, color: str, size: float = 3.0, alpha: float = 1.0, **more):
    x, y = (points[:, 0], points[:, 1]) if len(points) else ([], [])
    return axes.plot(x, y, "o", ms=size, mew=0, color=color, alpha=alpha, **more)[0]


def _nearest(points: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Distance of each point (n, 2) to the nearest of the data (m, 2), shape (n,)."""
    gaps = points[:, None] - data[None]
    return np.sqrt((gaps**2).sum(axis=-1).min(axis=1))


class PairLines(View):
    """Pairs of noise and data, and the straight line of each, with the point that x_t is on it.

    Args:
        actions, noise: (n, 2) tensors, paired row by row.
        interpolate: function of actions, noise, time (n,) to x_t.
    """

    def __init__(self, actions: Numbers("n", 2), noise: Numbers("n", 2), interpolate: Callable):
        self.actions, self.noise, self.interpolate = actions, noise, interpolate
        self.starts, self.ends = _numbers(noise), _numbers(actions)
        self.figure = new_figure(9, 4.4)
        plane = _plane(self.figure, (0.02, 0.12, 0.42, 0.78), 2.7)
        _dots(plane, self.starts, COLORS["noise"], alpha=0.5)
        _dots(plane, self.ends, COLORS["input"], alpha=0.5)
        (self.others,) = plane.plot([], [], color=COLORS["x_t"], lw=0.7, alpha=0.5)
        self.other_points = _dots(plane, np.empty((0, 2)), COLORS["x_t"], 5, 0.8)
        pair = np.stack([self.starts[0], self.ends[0]])
        plane.plot(*pair.T, color=COLORS["x_t"], lw=2)
        _dots(plane, pair[:1], COLORS["noise"], 10)
        _dots(plane, pair[1:], COLORS["input"], 10)
        self.point = _dots(plane, pair[:1], COLORS["x_t"], 11)
        self.arrow = plane.quiver(
            *pair[0],
            *(pair[0] - pair[1]) * 0.4,
            color=COLORS["velocity"],
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.012,
            zorder=5,
        )
        keys = (("noise", "noise"), ("input", "actions"), ("x_t", "x_t"), ("velocity", "u_t"))
        for place, (color, word) in enumerate(keys):
            self.figure.text(0.02 + 0.12 * place, 0.93, f"● {word}", color=COLORS[color])

        beside = self.figure.add_axes((0.54, 0.2, 0.43, 0.62))
        beside.set(xlim=(1, 0), ylim=(-2.4, 2.4))
        beside.set_xlabel("t:  1 is noise, 0 is data")
        beside.set_title("the thick pair's two coordinates")
        for value, style in zip(pair.T, ("-", "--"), strict=True):
            beside.plot([1, 0], value, style, color=COLORS["x_t"])
        self.marks = _dots(beside, np.zeros((2, 2)), COLORS["x_t"], 9, clip_on=False)
        self.text = self.figure.text(0.02, 0.04, "")
        self.moving = [
            self.others,
            self.other_points,
            self.point,
            self.arrow,
            self.marks,
            self.text,
        ]
        self.allowed = {"pairs": range(1, len(self.starts) + 1)}
        self.update(t=0.5, pairs=1)

    def update(self, *, t: float, pairs: int):
        """Show the first so many pairs, and where each is at time t."""
        self.t, self.pairs = t, pairs
        x_t = _numbers(
            self.interpolate(self.actions, self.noise, self.noise.new_full((len(self.noise),), t))
        )
        gap = np.full((pairs - 1, 2), np.nan)
        lines = np.stack([self.starts[1:pairs], self.ends[1:pairs], gap], axis=1)
        self.others.set_data(*lines.reshape(-1, 2).T)
        self.other_points.set_data(*x_t[1:pairs].T)
        self.point.set_data(*x_t[:1].T)
        self.arrow.set_offsets(x_t[:1])
        self.marks.set_data([t, t], x_t[0])
        x, u = x_t[0], self.starts[0] - self.ends[0]
        self.text.set_text(
            f"t = {t:.2f}:  x_t = [{x[0]:.2f}, {x[1]:.2f}],  "
            f"u_t = noise - actions = [{u[0]:.2f}, {u[1]:.2f}] at every t"
        )

    def describe(self) -> str:
        return (
            f"Straight lines from noise points to data points, {self.pairs} in all, each with its point "
            f"at this time; beside them the first pair's two coordinates over t. {self.text.get_text()}."
        )


class CrossingLines(View):
    """One number instead of a plane, two data points: which lines pass through (t, x), and their average.

    Args:
        data: (2, 1) tensor, the two data points.
        noise: (n, 1) tensor, the starts of the lines drawn.
        posterior_mean, velocity: functions of x_t (batch, 1) and time (batch,).
    """

    def __init__(
        self,
        data: Numbers(2, 1),
        noise: Numbers("n", 1),
        posterior_mean: Callable,
        velocity: Callable,
    ):
        self.data, self.posterior_mean, self.velocity = data, posterior_mean, velocity
        self.ends = _numbers(data)[:, 0]
        starts = _numbers(noise)[:, 0]
        self.figure = new_figure(9, 4.4)
        axes = self.figure.add_axes((0.08, 0.27, 0.52, 0.6))
        axes.set(xlim=(1, 0), ylim=(-2.6, 2.6))
        axes.set_xlabel("t:  1 is noise, 0 is data")
        axes.set_ylabel("x_t")
        axes.set_title("lines of training pairs")
        for i, start in enumerate(starts):
            axes.plot([1, 0], [start, self.ends[i % 2]], color=COLORS["faint"], lw=1)
        axes.plot([0, 0], self.ends, "o", color=COLORS["input"], ms=11, clip_on=False)
        self.lines = [axes.plot([], [], style, color=COLORS["x_t"])[0] for style in ("--", "-")]
        (self.average,) = axes.plot([], [], color=COLORS["velocity"], lw=4)
        self.probe = _dots(axes, np.zeros((1, 2)), COLORS["x_t"], 12, zorder=6, clip_on=False)

        bars = self.figure.add_axes((0.7, 0.27, 0.28, 0.6))
        bars.set(xlim=(-0.6, 1.6), ylim=(0, 1), xticks=(0, 1))
        bars.set_xticklabels(
            [
                f"from {end:g}\n({line})"
                for end, line in zip(self.ends, ("dashed", "solid"), strict=True)
            ]
        )
        bars.set_title("share of the lines")
        self.bars = bars.bar([0, 1], [0.5, 0.5], 0.6, color=COLORS["x_t"])
        self.texts = [self.figure.text(0.08, 0.085, ""), self.figure.text(0.08, 0.02, "")]
        self.moving = [*self.lines, self.average, self.probe, *self.bars, *self.texts]
        self.update(t=0.5, x=0.2)

    def update(self, *, t: float, x: float):
        """Show the two lines through x at time t, how often each is met there, and their average."""
        place, time = self.data.new_tensor([[x]]), self.data.new_tensor([t])
        mean = float(self.posterior_mean(place, time)[0, 0])
        v = float(self.velocity(place, time)[0, 0])
        low, high = self.ends
        share = (mean - low) / (high - low)
        targets = (x - self.ends) / t
        for line, bar, end, u, weight in zip(
            self.lines, self.bars, self.ends, targets, (1 - share, share), strict=True
        ):
            line.set_data([0, 1], [end, end + u])
            line.set_linewidth(1 + 4 * weight)
            bar.set_height(weight)
        self.average.set_data([max(t - 0.35, 0), t], [x - v * min(0.35, t), x])
        self.probe.set_data([t], [x])
        self.texts[0].set_text(
            f"lines through x = {x:.2f} at t = {t:.2f} have u_t = {targets[0]:.2f} or {targets[1]:.2f}"
        )
        self.texts[1].set_text(
            f"their average is v_t = {v:.2f};  the average of their ends is {mean:.2f}"
        )

    def describe(self) -> str:
        low, high = (bar.get_height() for bar in self.bars)
        return (
            f"Straight lines over t from noise to {self.ends[0]:g} and {self.ends[1]:g}, two of them "
            f"through a chosen point, and bars: {low:.0%} of the lines there come from {self.ends[0]:g}, "
            f"{high:.0%} from {self.ends[1]:g}. The {self.texts[0].get_text()}; {self.texts[1].get_text()}."
        )


class FieldOverTime(View):
    """A cloud on its way from noise to a shape, the mean answer at each of its points, and the field.

    Args:
        shapes: name to data (n, 2).
        noise: (n, 2) tensor, paired with the data row by row.
        interpolate, posterior_mean, velocity: functions as in `helpers.flow`.
    """

    def __init__(
        self,
        shapes: Mapping[str, Numbers(None, 2)],
        noise: Numbers("n", 2),
        interpolate: Callable,
        posterior_mean: Callable,
        velocity: Callable,
    ):
        self.shapes, self.noise = shapes, noise
        self.interpolate, self.posterior_mean, self.velocity = interpolate, posterior_mean, velocity
        side = np.linspace(-2.6, 2.6, 14)
        self.grid = noise.new_tensor(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2))
        self.figure = new_figure(9, 3.9)
        titles = ("x_t", "posterior mean", "-v_t: where a step goes")
        self.panels = [
            _plane(self.figure, (0.01 + 0.33 * i, 0.12, 0.32, 0.76), 2.9, title)
            for i, title in enumerate(titles)
        ]
        empty = np.empty((0, 2))
        self.behind = [_dots(panel, empty, COLORS["faint"], 3) for panel in self.panels]
        self.cloud = _dots(self.panels[0], empty, COLORS["x_t"], 3.5, 0.8)
        self.means = _dots(self.panels[1], empty, COLORS["posterior_mean"], 4.5, 0.8)
        grid = _numbers(self.grid)
        self.arrows = self.panels[2].quiver(
            *grid.T,
            *np.zeros_like(grid).T,
            color=COLORS["velocity"],
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.007,
        )
        self.text = self.figure.text(0.01, 0.03, "")
        self.moving = [*self.behind, self.cloud, self.means, self.arrows, self.text]
        self.allowed = {"shape": list(shapes)}
        self.update(t=0.5, shape=next(iter(shapes)))

    def update(self, *, t: float, shape: str):
        """Show cloud, posterior means and field of this shape at time t, which must be above 0."""
        data = self.shapes[shape]
        points = _numbers(data)
        x_t = self.interpolate(data, self.noise, data.new_full((len(data),), t))
        means = _numbers(self.posterior_mean(x_t, data.new_full((len(data),), t), data))
        v = -_numbers(self.velocity(self.grid, data.new_full((len(self.grid),), t), data))
        for artist in self.behind:
            artist.set_data(*points.T)
        self.cloud.set_data(*_numbers(x_t).T)
        self.means.set_data(*means.T)
        length = np.linalg.norm(v, axis=1, keepdims=True)
        v = (
            0.42 * v / (0.8 + length)
        )  # long arrows are shortened: else they hide the picture near 0
        self.arrows.set_UVC(*v.T)
        self.t, self.shape = t, shape
        self.spread = means.std(axis=0).mean() / points.std(axis=0).mean()
        self.text.set_text(
            f"{shape}, t = {t:.2f}: the posterior means are spread {self.spread:.0%} as wide as the data"
        )

    def describe(self) -> str:
        return (
            "Three panels over faint data points: the noisy cloud, the posterior mean at each of its "
            f"points, and arrows of the exact field. Data: {self.text.get_text()}."
        )


class ChunkOverTime(View):
    """The same for an action chunk: 16 waypoints, two ways past an obstacle.

    Args:
        actions: (n, horizon, 2) tensor, all the chunks there are, in the network's units.
        noise: (k, horizon, 2) tensor, the noise of the first k chunks.
        goal, obstacle: (2,) tensors in the plane; radius of the obstacle.
        to_waypoints: from the network's units to the plane.
        interpolate, posterior_mean: functions as in `helpers.flow`.
    """

    def __init__(
        self,
        actions: Numbers("n", "horizon", 2),
        noise: Numbers("k", "horizon", 2),
        goal: Numbers(2),
        obstacle: Numbers(2),
        radius: float,
        to_waypoints: Callable,
        interpolate: Callable,
        posterior_mean: Callable,
    ):
        self.actions, self.noise, self.to_waypoints = actions, noise, to_waypoints
        self.interpolate, self.posterior_mean = interpolate, posterior_mean
        self.centre, self.radius = _numbers(obstacle), radius
        self.figure = new_figure(9, 3.5)
        ways = _numbers(to_waypoints(actions[:60]))
        ways = np.concatenate([np.zeros_like(ways[:, :1]), ways], axis=1)
        ways = np.concatenate([ways, np.full_like(ways[:, :1], np.nan)], axis=1).reshape(-1, 2)
        self.panels = []
        titles = ("x_t", "posterior mean", "-v_t: where a step goes")
        for i, title in enumerate(titles):
            panel = self.figure.add_axes((0.01 + 0.33 * i, 0.12, 0.32, 0.76))
            panel.set_aspect("equal")
            panel.set(xlim=(-0.4, 1.4), ylim=(-0.8, 0.8), xticks=(), yticks=(), title=title)
            panel.spines[:].set_visible(False)
            panel.plot(*ways.T, color=COLORS["faint"], lw=0.8)
            panel.add_patch(Circle(self.centre, radius, color=COLORS["muted"], alpha=0.35, lw=0))
            panel.plot(*_numbers(goal), "*", color=COLORS["input"], ms=14)
            self.panels.append(panel)
        line = dict(marker="o", ms=5, lw=1.5)
        (self.noisy,) = self.panels[0].plot([], [], color=COLORS["x_t"], **line)
        (self.mean,) = self.panels[1].plot([], [], color=COLORS["posterior_mean"], **line)
        start = np.zeros((actions.shape[1], 2))
        (self.feet,) = self.panels[2].plot([], [], "o", color=COLORS["x_t"], ms=4)
        self.arrows = self.panels[2].quiver(
            *start.T,
            *start.T,
            color=COLORS["velocity"],
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.009,
        )
        self.text = self.figure.text(0.01, 0.03, "")
        self.moving = [self.noisy, self.mean, self.feet, self.arrows, self.text]
        self.allowed = {"pair": range(1, len(noise) + 1)}
        self.update(t=0.9, pair=1)

    def update(self, *, t: float, pair: int):
        """Show this pair's noisy chunk, its posterior mean and its velocity at time t, above 0."""
        rows = slice(pair - 1, pair)
        time = self.noise.new_full((1,), t)
        x_t = self.interpolate(self.actions[rows], self.noise[rows], time)
        mean = self.posterior_mean(x_t, time, self.actions)
        noisy, path = (_numbers(self.to_waypoints(chunk))[0] for chunk in (x_t, mean))
        self.noisy.set_data(*noisy.T)
        self.mean.set_data(*path.T)
        self.feet.set_data(*noisy.T)
        self.arrows.set_offsets(noisy)
        self.arrows.set_UVC(*(0.3 * (path - noisy) / t).T)  # -0.3 v_t, in the plane's units
        corners = np.concatenate([np.zeros((1, 2)), path])
        shares = np.linspace(0, 1, 11)[:, None, None]
        along = corners[:-1] + shares * np.diff(corners, axis=0)
        self.clearance = np.linalg.norm(along - self.centre, axis=-1).min()
        judged = "hits it" if self.clearance < self.radius else "clears it"
        self.text.set_text(
            f"t = {t:.2f}: the posterior mean comes within {self.clearance:.2f} of the obstacle's centre "
            f"(radius {self.radius}): it {judged}"
        )

    def describe(self) -> str:
        return (
            "Three panels with the data's two bundles of paths round an obstacle: the noisy chunk, its "
            f"posterior mean as a path, and arrows at each waypoint. {self.text.get_text()}."
        )


class Bands(View):
    """How much of each frequency band of a chunk the posterior mean knows at time t.

    Args:
        look: function of t and wiggle that returns a dict: `actions`, `x_t`, `mean`, each (horizon,),
            one coordinate of one chunk; `known` (horizon,) the share of each band's variance that the
            posterior mean explains; `alone` (horizon,) what it would be for a band on its own.
        wiggled: the band that the wiggle is in.
    """

    def __init__(self, look: Callable, wiggled: int):
        self.look, self.wiggled = look, wiggled
        horizon = len(look(0.5, 0.0)["known"])
        self.steps = np.arange(1, horizon + 1)
        self.figure = new_figure(9, 4.2)
        left = self.figure.add_axes((0.07, 0.24, 0.37, 0.54))
        left.set(xlim=(0.5, horizon + 0.5), ylim=(-3.6, 3.6))
        left.set_xlabel("waypoint")
        names = ("actions", "x_t", "mean")
        colors = ("input", "x_t", "posterior_mean")
        self.curves = {}
        for name, color in zip(names, colors, strict=True):
            thin = dict(lw=0.8, marker="o", ms=4) if name == "x_t" else dict(lw=2.5)
            (self.curves[name],) = left.plot([], [], color=COLORS[color], **thin)
        left.set_title("sideways coordinate of one chunk", pad=34)
        words = ("actions", "x_t", "posterior mean")
        for place, word, color in zip((0.07, 0.17, 0.24), words, colors, strict=True):
            self.figure.text(place, 0.81, word, color=COLORS[color])

        right = self.figure.add_axes((0.54, 0.24, 0.44, 0.54))
        right.set(xlim=(-0.7, horizon - 0.3), ylim=(0, 1), xticks=range(0, horizon, 2))
        right.set_yticks((0, 0.5, 1), ("0", "50%", "100%"))
        right.set_xlabel("band k: slow to fast")
        right.set_title("share of each band that is known", pad=34)
        self.bars = right.bar(np.arange(horizon), np.zeros(horizon), 0.7)
        for k, bar in enumerate(self.bars):
            bar.set(facecolor=COLORS["posterior_mean"], alpha=0.75)
            if k == wiggled:
                bar.set(edgecolor=COLORS["input"], linewidth=2.5, alpha=1)
        (self.alone,) = right.plot(
            np.arange(horizon), np.zeros(horizon), "_", color=COLORS["input"], ms=13, mew=2.5
        )
        self.alone.set_clip_on(False)
        self.figure.text(0.54, 0.81, "exact", color=COLORS["posterior_mean"])
        self.figure.text(0.61, 0.81, "framed: wiggled", color=COLORS["input"])
        self.figure.text(0.79, 0.81, "– if it stood alone", color=COLORS["input"])
        self.text = self.figure.text(0.07, 0.03, "")
        self.moving = [*self.curves.values(), *self.bars, self.alone, self.text]
        self.update(t=0.7, wiggle=0.0)

    def update(self, *, t: float, wiggle: float):
        """Show time t, with a wiggle of this deviation added to one band of every chunk."""
        seen = self.look(t, wiggle)
        for name, curve in self.curves.items():
            curve.set_data(self.steps, seen[name])
        self.known = np.maximum(seen["known"], 0)
        for bar, share in zip(self.bars, self.known, strict=True):
            bar.set_height(share)
        self.alone.set_ydata(seen["alone"])
        self.text.set_text(
            f"t = {t:.2f}, wiggle {wiggle:.1f}: known of band 0 {self.known[0]:.0%}, band 3 "
            f"{self.known[3]:.0%}, band {self.wiggled} {self.known[self.wiggled]:.0%}"
        )

    def describe(self) -> str:
        return (
            "Left, one coordinate of a chunk over its waypoints: the data, the noisy chunk and the "
            "posterior mean. Right, a bar for each DCT band: the share of its variance that the posterior "
            f"mean explains, with a mark for what a band alone would give. {self.text.get_text()}."
        )


class EulerPaths(View):
    """Paths of Euler's method through the exact field, and how far from the data they end.

    Args:
        shapes: name to data (m, 2); every path is computed once, at the start.
        fresh: name to more points of the shape, which are not in the data.
        noise: (n, 2) tensor, where the paths start.
        path: function of data, noise and num_steps to a path (num_steps + 1, n, 2).
        most: the largest number of steps.
        drawn: how many of the paths are drawn.
    """

    def __init__(
        self,
        shapes: Mapping[str, Numbers(None, 2)],
        fresh: Mapping[str, Numbers(None, 2)],
        noise: Numbers("n", 2),
        path: Callable,
        most: int = 50,
        drawn: int = 60,
    ):
        self.counts = np.arange(1, most + 1)
        self.data = {name: _numbers(points) for name, points in shapes.items()}
        self.paths, self.distances, self.usual, self.longer = {}, {}, {}, {}
        for name, points in self.data.items():
            for count in self.counts:
                way = _numbers(path(shapes[name], noise, int(count)))
                legs = np.linalg.norm(np.diff(way, axis=0), axis=-1).sum(axis=0)
                chord = np.linalg.norm(way[-1] - way[0], axis=-1)
                self.paths[name, count] = way[:, :drawn]
                self.distances[name, count] = _nearest(way[-1], points).mean()
                self.longer[name, count] = legs.sum() / chord.sum() - 1
            self.usual[name] = _nearest(_numbers(fresh[name]), points).mean()
        self.figure = new_figure(9, 4.4)
        plane = _plane(self.figure, (0.02, 0.12, 0.42, 0.8), 2.7, "paths from noise to data")
        self.behind = _dots(plane, np.empty((0, 2)), COLORS["faint"], 3)
        (self.lines,) = plane.plot([], [], color=COLORS["velocity"], lw=0.8, alpha=0.8)
        self.starts = _dots(plane, np.empty((0, 2)), COLORS["noise"], 4)
        self.ends = _dots(plane, np.empty((0, 2)), COLORS["input"], 5)
        right = self.figure.add_axes((0.56, 0.24, 0.41, 0.62))
        right.set(xscale="log", yscale="log", xlim=(0.9, most * 1.1), ylim=(1e-3, 2))
        right.set_xticks((1, 2, 5, 10, 20, 50), ("1", "2", "5", "10", "20", "50"))
        right.minorticks_off()
        right.set_xlabel("Euler steps")
        right.set_title("mean distance to the nearest data")
        (self.curve,) = right.plot([], [], color=COLORS["input"])
        (self.level,) = right.plot([], [], ":", color=COLORS["muted"])
        self.word = right.text(55, 1, "new data", color=COLORS["muted"], ha="right", va="bottom")
        (self.mark,) = right.plot([], [], "o", color=COLORS["input"], ms=10)
        self.text = self.figure.text(0.02, 0.03, "")
        self.moving = [
            self.behind,
            self.lines,
            self.starts,
            self.ends,
            self.curve,
            self.level,
            self.word,
            self.mark,
            self.text,
        ]
        self.allowed = {"shape": list(shapes), "steps": range(1, most + 1)}
        self.update(steps=10, shape=next(iter(shapes)))

    def update(self, *, steps: int, shape: str):
        """Show the paths with so many steps, and mark their distance on the curve."""
        path = self.paths[shape, steps]
        self.behind.set_data(*self.data[shape].T)
        lines = np.concatenate([path, np.full_like(path[:1], np.nan)]).swapaxes(0, 1)
        self.lines.set_data(*lines.reshape(-1, 2).T)
        self.starts.set_data(*path[0].T)
        self.ends.set_data(*path[-1].T)
        self.curve.set_data(self.counts, [self.distances[shape, count] for count in self.counts])
        level = self.usual[shape]
        self.level.set_data([0.9, 60], [level, level])
        self.word.set_y(level * 1.05)
        self.mark.set_data([steps], [self.distances[shape, steps]])
        self.text.set_text(
            f"{shape}, {steps} step{'s' * (steps > 1)}: {self.distances[shape, steps]:.3f} from the data; "
            f"new data {level:.3f}; paths {self.longer[shape, steps]:.0%} longer than straight"
        )

    def describe(self) -> str:
        return (
            "Left, paths from noise points to samples over the data. Right, the samples' mean distance "
            f"to the nearest data point over the number of Euler steps. Data: {self.text.get_text()}."
        )


class BentPaths(View):
    """Straight training lines beside the paths of the flow that they teach, for one number.

    Args:
        data: (m, 1) tensor, the data points; the pairs take them in turn.
        noise: (n, 1) tensor, where the lines and the paths start.
        path: function of data, noise and num_steps to a path (num_steps + 1, n, 1).
        most: the largest number of steps.
    """

    def __init__(
        self, data: Numbers("m", 1), noise: Numbers("n", 1), path: Callable, most: int = 50
    ):
        self.paths = {
            steps: _numbers(path(data, noise, steps))[..., 0] for steps in range(1, most + 1)
        }
        starts = _numbers(noise)[:, 0]
        ends = np.resize(_numbers(data)[:, 0], len(starts))
        self.crossings = self._crossings(np.stack([starts, ends]))
        self.figure = new_figure(9, 4.0)
        titles = ("what training shows: pairs", "where the average leads: the flow")
        left, right = (self.figure.add_axes((0.08 + 0.49 * i, 0.28, 0.41, 0.58)) for i in range(2))
        for axes, title in zip((left, right), titles, strict=True):
            axes.set(xlim=(1, 0), ylim=(-2.6, 2.6), xlabel="t", title=title)
            axes.plot(np.zeros(len(ends)), ends, "o", color=COLORS["input"], ms=9, clip_on=False)
        left.set_ylabel("x_t")
        left.plot([1, 0], np.stack([starts, ends]), color=COLORS["x_t"], lw=0.9)
        self.lines = [right.plot([], [], color=COLORS["velocity"], lw=0.9)[0] for _ in starts]
        self.text = self.figure.text(0.08, 0.03, "")
        self.moving = [*self.lines, self.text]
        self.allowed = {"steps": range(1, most + 1)}
        self.update(steps=most)

    @staticmethod
    def _crossings(path: np.ndarray) -> int:
        """How many pairs of lines end in the other order than they started in. path (times, n)."""
        gaps = (p[:, None] - p[None] for p in (path[0], path[-1]))
        before, after = (np.sign(gap) * (np.abs(gap) > 1e-3) for gap in gaps)
        return int((before * after < 0).sum() // 2)

    def update(self, *, steps: int):
        """Show the flow's paths with so many Euler steps."""
        path = self.paths[steps]
        times = np.linspace(1, 0, steps + 1)
        for line, values in zip(self.lines, path.T, strict=True):
            line.set_data(times, values)
        slopes = np.diff(path, axis=0) * -steps
        self.change = np.abs(slopes[-1] - slopes[0]).mean()
        self.flow_crossings = self._crossings(path)
        self.text.set_text(
            f"crossings: {self.crossings} among the pairs, {self.flow_crossings} in the flow;  "
            f"v_t changes by {self.change:.2f} from first to last step"
        )

    def describe(self) -> str:
        return (
            "Left, straight lines over t from noise to two data points, crossing each other. Right, the "
            f"paths of the exact flow from the same noise. C{self.text.get_text()[1:]}."
        )


CONVENTIONS = {
    "openpi": (
        "t = 1 noise, t = 0 data",
        "x_t = t noise + (1 - t) actions",
        "u_t = noise - actions",
        "step:  x - v / N,  then  t - 1 / N",
    ),
    "papers": (
        "s = 0 noise, s = 1 data",
        "x_s = (1 - s) noise + s actions",
        "u_s = actions - noise",
        "step:  x + v / N,  then  s + 1 / N",
    ),
}


class Conventions(View):
    """The same flow counted in openpi's time and in the papers', and what a wrong sign does.

    Args:
        run: function of a convention, a key of `CONVENTIONS`, and a mistake to a path
            (num_steps + 1, n, 2).
        mistakes: their names; the first is none.
        data: (m, 2) tensor.
    """

    def __init__(self, run: Callable, mistakes: Sequence, data: Numbers("m", 2)):
        self.data = _numbers(data)
        self.paths = {(c, m): _numbers(run(c, m)) for c in CONVENTIONS for m in mistakes}
        first = mistakes[0]
        ends = [self.paths[convention, first][-1] for convention in CONVENTIONS]
        apart = max(np.abs(end - ends[0]).max() for end in ends)
        self.agree = "are the same (to 1e-6)" if apart < 1e-6 else f"differ by {apart:.0e}"
        self.figure = new_figure(9, 4.2)
        plane = _plane(self.figure, (0.02, 0.12, 0.42, 0.78), 3.2)
        _dots(plane, self.data, COLORS["faint"], 3)
        (self.lines,) = plane.plot([], [], color=COLORS["velocity"], lw=0.7, alpha=0.7)
        self.cloud = _dots(plane, np.empty((0, 2)), COLORS["x_t"], 5)
        self.clock = self.figure.text(0.02, 0.92, "", fontsize=14)
        self.formulas = [self.figure.text(0.48, 0.8 - 0.1 * i, "") for i in range(4)]
        self.text = self.figure.text(0.48, 0.12, "", color=COLORS["input"], linespacing=1.6)
        self.moving = [self.lines, self.cloud, self.clock, *self.formulas, self.text]
        self.allowed = {"convention": list(CONVENTIONS), "mistake": list(mistakes)}
        self.allowed["step"] = range(min(map(len, self.paths.values())))
        self.update(convention="openpi", mistake=first, step=0)

    def update(self, *, convention: str, mistake: str, step: int):
        """Show the cloud after so many steps, counted in this convention, with this mistake made."""
        path = self.paths[convention, mistake]
        last = len(path) - 1
        now = path[: step + 1]
        lines = np.concatenate([now, np.full_like(now[:1], np.nan)]).swapaxes(0, 1)
        self.lines.set_data(*lines.reshape(-1, 2).T)
        self.cloud.set_data(*now[-1].T)
        share = step / last
        clock = f"s = {share:.2f}" if convention == "papers" else f"t = {1 - share:.2f}"
        self.clock.set_text(f"step {step} of {last}:  {clock}")
        for line, words in zip(self.formulas, CONVENTIONS[convention], strict=True):
            line.set_text(words)
        self.distance = _nearest(path[-1], self.data).mean()
        self.text.set_text(
            f"after {last} steps: {self.distance:.2f} from the data.\n"
            f"Without a mistake, the two conventions'\nsamples {self.agree}."
        )

    def describe(self) -> str:
        return (
            "A cloud on its way from noise to data with its paths, beside the formulas of the convention: "
            + "; ".join(line.get_text() for line in self.formulas)
            + f". S{self.clock.get_text()[1:]}; {self.text.get_text()}".replace("\n", " ")
        )


class TimeSampling(View):
    """Where training draws its times, and where the loss that no network can avoid lies.

    Args:
        draw: function of alpha to times (n,), the first of which stay the same draws.
        least_loss: function of a time (a tensor without dimensions) to a number.
        times: (k,) tensor, where least_loss is drawn.
    """

    def __init__(self, draw: Callable, least_loss: Callable, times: Numbers("k")):
        self.draw, self.times = draw, _numbers(times)
        self.floor = np.array([least_loss(t) for t in times])
        self.edges = np.linspace(0, 1, 26)
        self.figure = new_figure(9, 4.0)
        left = self.figure.add_axes((0.07, 0.28, 0.4, 0.58))
        left.set(xlim=(1, 0), ylim=(0, 3.1), xlabel="t", title="density of the times drawn")
        self.histogram = left.stairs(np.zeros(25), self.edges, fill=True, color=COLORS["x_t"])
        self.histogram.set_alpha(0.5)
        (self.curve,) = left.plot([], [], color=COLORS["x_t"])
        left.axhline(1, color=COLORS["muted"], ls=":", lw=1.5)
        left.text(-0.02, 1, "uniform", va="center", color=COLORS["muted"])
        right = self.figure.add_axes((0.63, 0.28, 0.35, 0.58))
        right.set(xlim=(1, 0), xlabel="t", title="least possible loss at t")
        right.set_ylim(0, 1.15 * self.floor.max())
        right.plot(self.times, self.floor, color=COLORS["input"])
        self.texts = [self.figure.text(0.07, 0.09, ""), self.figure.text(0.07, 0.02, "")]
        self.moving = [self.histogram, self.curve, *self.texts]
        self.update(alpha=1.5)

    def update(self, *, alpha: float):
        """Show Beta(alpha, 1): the draws, the density, and the shares above one half."""
        drawn = _numbers(self.draw(alpha))
        self.histogram.set_data(np.histogram(drawn, self.edges, density=True)[0])
        t = np.linspace(0.004, 1, 200)
        self.curve.set_data(t, alpha * t ** (alpha - 1))
        self.late = float((drawn > 0.5).mean())
        weight = alpha * self.times ** (alpha - 1) * self.floor
        self.loss_late = weight[self.times > 0.5].sum() / weight.sum()
        name = "uniform" if alpha == 1 else f"Beta({alpha:g}, 1)"
        self.texts[0].set_text(
            f"{name}: {self.late:.0%} of the draws are above t = 0.5, mean {drawn.mean():.2f}"
        )
        self.texts[1].set_text(
            f"{self.loss_late:.0%} of the loss that no network avoids comes from there"
        )

    def describe(self) -> str:
        return (
            "Left, a histogram of training times with its density beside the uniform one. Right, the "
            f"least possible loss over t. {self.texts[0].get_text()}; {self.texts[1].get_text()}."
        )
