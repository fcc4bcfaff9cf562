"""Two architecture diagrams: a block of pi0.5 with the time in it, and pi0 beside pi0.5.

Facts from openpi, src/openpi/models/gemma.py, pi0.py and tokenizer.py.
"""

from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from helpers.figures.style import COLORS, View, new_figure


def _canvas(figure, box, width: float, height: float):
    axes = figure.add_axes(box)
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def _box(axes, x, y, width, height, words, color, fill="white", **text):
    """A box with its centre at (x, y)."""
    patch = FancyBboxPatch(
        (x - width / 2, y - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.12",
        ec=color,
        fc=fill,
        lw=1.8,
        zorder=3,
    )
    axes.add_patch(patch)
    style = dict(ha="center", va="center", fontsize=12, zorder=4) | text
    return patch, axes.text(x, y, words, **style)


def _arrow(axes, start, end, color, lw=1.8):
    patch = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=13,
        color=color,
        lw=lw,
        shrinkA=0,
        shrinkB=0,
        zorder=2,
    )
    axes.add_patch(patch)
    return patch


STOPS = (
    (
        "The trunk. Along this line nothing happens but two additions.",
        "x_out = x + gate · attention(…) + gate' · feed_forward(…)     (batch, tokens, 1024)",
    ),
    (
        "The time, once for the whole network: embedding, then a small MLP.",
        "cond = silu(W2 silu(W1 time_emb))     (batch, 1024), for all 37 norms",
    ),
    (
        "Each norm has its own Dense, which reads cond.",
        "scale, shift, gate = Dense(cond).chunk(3)     (batch, 1, 1024) each",
    ),
    (
        "The branch takes a copy of the trunk and normalises the copy.",
        "normed = x / sqrt(mean(x²) + 1e-6)     statistics in float32",
    ),
    (
        "How to see it: the time stretches and moves the features.",
        "read = (1 + scale) · normed + shift",
    ),
    (
        "The branch itself knows nothing of the time.",
        "branch = attention(read)     tokens look at each other and at image and words",
    ),
    (
        "How much to write: the time opens or closes each feature.",
        "x = x + gate · branch     no tanh, no sigmoid: a gate may be negative",
    ),
    (
        "The same again, with a Dense of its own, round the feed-forward.",
        "x = x + gate' · feed_forward((1 + scale') · rms_norm(x) + shift')",
    ),
)


class BlockDiagram(View):
    """One block of pi0.5's action expert; a slider walks through its stops.

    update(stop=...): 0 shows everything alike, 1 to 8 light up one stop of the way.
    """

    def __init__(self):
        self.figure = new_figure(9, 5.0)
        axes = _canvas(self.figure, (0.0, 0.17, 1.0, 0.83), 18, 8.3)
        ink, time = COLORS["input"], COLORS["time"]
        self.parts = [[] for _ in STOPS]
        top, middle, low = 7.3, 4.4, 1.0

        trunk = [
            _arrow(axes, (0.5, top), (17.6, top), ink, lw=4),
            axes.text(0.5, top + 0.42, "trunk x", fontsize=13, color=ink),
            axes.text(17.6, top + 0.42, "to the next block", fontsize=12, ha="right", color=ink),
        ]
        self.parts[0] += trunk
        line = _arrow(axes, (3.55, low), (17.6, low), time, lw=3)
        self.parts[1] += [
            *_box(axes, 0.85, low, 0.9, 0.9, "t", time, fontsize=14),
            _arrow(axes, (1.3, low), (1.75, low), time),
            *_box(axes, 2.65, low, 1.8, 1.3, "sin, cos\nMLP", time),
            line,
            axes.text(
                17.6, low - 0.72, "cond, to every norm of every block", ha="right", color=time
            ),
        ]
        halves = ((1.5, "attention"), (9.7, "feed-\nforward"))
        for half, (left, branch) in enumerate(halves):
            norm, read, work, gate = left + 0.9, left + 2.75, left + 4.75, left + 6.65
            stops = (2, 3, 4, 5, 6) if half == 0 else (7,) * 5
            dense, normal, knobs, engine, write = (self.parts[stop] for stop in stops)
            normal += [
                _arrow(axes, (norm, top), (norm, middle + 0.65), ink),
                *_box(axes, norm, middle, 1.5, 1.3, "RMS\nNorm", COLORS["rms_norm"]),
                _arrow(axes, (norm + 0.75, middle), (read - 0.85, middle), ink),
            ]
            knobs += [
                *_box(axes, read, middle, 1.7, 1.3, "× (1 + s)\n+ b", COLORS["scale"]),
                _arrow(axes, (read + 0.85, middle), (work - 0.9, middle), ink),
            ]
            engine += [
                *_box(axes, work, middle, 1.8, 1.3, branch, ink),
                _arrow(axes, (work + 0.9, middle), (gate - 0.6, middle), ink),
            ]
            write += [
                *_box(axes, gate, middle, 1.2, 1.3, "× g", COLORS["gate"]),
                _arrow(axes, (gate, middle + 0.65), (gate, top - 0.32), ink),
                axes.add_patch(Circle((gate, top), 0.32, ec=ink, fc="white", lw=1.8, zorder=5)),
                axes.text(gate, top, "+", ha="center", va="center", fontsize=16, zorder=6),
            ]
            centre, spread = (read + gate) / 2, 2.6
            dense += [
                _arrow(axes, (centre, low), (centre, 2.0), time),
                *_box(axes, centre, 2.4, spread * 2.1, 0.8, "Dense → scale, shift, gate", time),
                _arrow(axes, (read - 0.3, 2.8), (read - 0.3, middle - 0.65), COLORS["scale"]),
                _arrow(axes, (read + 0.3, 2.8), (read + 0.3, middle - 0.65), COLORS["shift"]),
                _arrow(axes, (gate, 2.8), (gate, middle - 0.65), COLORS["gate"]),
                axes.text(read - 0.45, 3.25, "s", ha="right", va="center", color=COLORS["scale"]),
                axes.text(read + 0.45, 3.25, "b", ha="left", va="center", color=COLORS["shift"]),
                axes.text(gate + 0.2, 3.25, "g", ha="left", va="center", color=COLORS["gate"]),
            ]
        self.words = self.figure.text(0.03, 0.115, "", fontsize=14)
        self.formula = self.figure.text(0.03, 0.04, "", fontsize=12, family="DejaVu Sans Mono")
        self.moving = [part for parts in self.parts for part in parts] + [self.words, self.formula]
        self.allowed = {"stop": range(len(STOPS) + 1)}
        self.update(stop=0)

    def update(self, *, stop: int):
        """Light up one stop; all of them at 0."""
        self.stop = stop
        for number, parts in enumerate(self.parts, start=1):
            for part in parts:
                part.set_alpha(1.0 if stop in (0, number) else 0.22)
        words, formula = STOPS[max(stop - 1, 0)]
        self.words.set_text(words)
        self.formula.set_text(formula)

    def describe(self) -> str:
        return (
            "A block of pi0.5: a trunk with two additions; two branches that each take a copy of the trunk "
            "through RMSNorm, scale and shift, attention or feed-forward, and a gate; below them the time, "
            f"through sines and an MLP to cond, and from cond through a Dense to scale, shift and gate of "
            f"each branch. Stop {self.stop}: {self.words.get_text()} {self.formula.get_text()}"
        )


class TwoModels(View):
    """Where the time and where the robot's state enter: pi0 and pi0.5 side by side. A still picture."""

    def __init__(self):
        self.figure = new_figure(9, 5.0)
        axes = _canvas(self.figure, (0, 0, 1, 1), 18, 10)
        self.moving = []
        axes.plot([9.0, 9.0], [0.3, 9.7], color=COLORS["faint"], lw=1.5)
        ink, time, state = COLORS["input"], COLORS["time"], COLORS["shift"]
        rows, floor = (4.2, 5.3, 6.4), 2.7

        for left, name in ((0.25, "pi0"), (9.3, "pi0.5")):
            adaptive = name == "pi0.5"
            words, actions = (
                left + 1.75,
                left + 5.8,
            )  # the two columns: both experts share attention
            axes.text(left, 9.35, name, fontsize=17, va="center")
            for row in rows:
                _box(axes, words, row, 3.5, 0.8, "plain norms", COLORS["muted"])
                _box(
                    axes, actions, row, 4.1, 0.8, f"{'adaRMS' if adaptive else 'plain'} norms", ink
                )
                axes.plot([words + 1.75, actions - 2.05], [row, row], color=COLORS["muted"], lw=1.8)
            axes.text(words, 7.15, "18 layers", ha="center", color=COLORS["muted"])
            _box(axes, actions, 7.55, 4.1, 0.8, "final norm", ink)
            _arrow(axes, (actions, 7.95), (actions, 8.6), ink)
            axes.text(actions, 8.95, "velocity v", ha="center", va="center")
            _arrow(axes, (words, floor + 0.4), (words, rows[0] - 0.4), ink)
            if adaptive:
                _box(axes, words, floor, 3.5, 0.8, "images, words", COLORS["muted"])
                _box(axes, words, floor - 0.95, 3.5, 0.8, "state, as words", state)
                _box(axes, actions, floor, 2.6, 0.8, "actions x_t", ink)
                _arrow(axes, (actions, floor + 0.4), (actions, rows[0] - 0.4), ink)
                _box(axes, actions, 0.75, 3.3, 0.8, "t → MLP → cond", time)
                rail = left + 8.35
                axes.plot([actions + 1.65, rail, rail], [0.75, 0.75, 7.55], color=time, lw=2.5)
                for row in (*rows, 7.55):
                    _arrow(axes, (rail, row), (actions + 2.05, row), time, lw=2.5)
            else:
                _box(axes, words, floor, 3.5, 0.8, "images, words", COLORS["muted"])
                _box(axes, actions - 1.3, floor, 1.4, 0.8, "state", state)
                _arrow(axes, (actions - 1.3, floor + 0.4), (actions - 1.3, rows[0] - 0.4), ink)
                _box(axes, actions + 0.9, floor, 2.2, 0.8, "MLP", time)
                _arrow(axes, (actions + 0.9, floor + 0.4), (actions + 0.9, rows[0] - 0.4), ink)
                _box(axes, actions - 0.3, 0.75, 2.3, 0.8, "actions x_t", ink)
                _box(axes, actions + 1.75, 0.75, 0.8, 0.8, "t", time, fontsize=14)
                _arrow(axes, (actions + 0.2, 1.15), (actions + 0.6, floor - 0.4), ink)
                _arrow(axes, (actions + 1.7, 1.15), (actions + 1.3, floor - 0.4), time, lw=2.5)

    def update(self):
        """Nothing moves here."""

    def describe(self) -> str:
        return (
            "pi0 and pi0.5, each as two columns of 18 layers that share attention: one for images and "
            "words, one for actions. In pi0 the time joins the action tokens once, through an MLP at "
            "the input, and the robot's state is a token beside the actions; all norms are plain. In "
            "pi0.5 the time goes through an MLP to cond and from there into every layer of the action "
            "column and its final norm; the state stands in words in the other column."
        )
