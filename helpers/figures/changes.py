"""What lies between two checkpoints, norm by norm: for a fine-tuned pi0.5 beside the one it came from."""

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.figures.given import Numbers
from helpers.figures.inside import PARTS
from helpers.figures.real_pi05 import HALVES, STYLES
from helpers.figures.style import COLORS, View, new_figure


class Changes(View):
    """How much each norm's scale, shift and gate changed, by layer.

    Args:
        names: of the norms, "layer 0 attention", ..., "final norm".
        changes: {part: (norms,)} relative changes, 0.1 for 10%; infinity, where nothing was before, is
            left out.
        first, second: what is compared.
    """

    def __init__(
        self,
        names: Sequence,
        changes: Mapping[str, Numbers("norms")],
        first: str,
        second: str,
    ):
        self.names, self.first, self.second = list(names), first, second
        self.changes = {part: np.asarray(changes[part], dtype=float) for part in PARTS}
        shown = np.concatenate(list(self.changes.values()))
        self.most = float(max(shown[np.isfinite(shown)], default=0)) or 1.0
        self.figure = new_figure(9, 4.0)
        for line, text in enumerate((f"from {first}", f"to {second}")):
            text = text if len(text) <= 95 else f"{text[:94]}…"
            self.figure.text(0.012, 0.95 - 0.065 * line, text, fontsize=12, va="center")
        for column, part in enumerate(PARTS):
            axes = self.figure.add_axes((0.09 + 0.315 * column, 0.16, 0.25, 0.56))
            axes.set(xlim=(-0.03, 1.16), ylim=(0, 1.05 * self.most))
            axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
            axes.locator_params(axis="y", nbins=4)
            if column:
                axes.set_yticklabels(())
            axes.set_title(f"change of {part}", color=COLORS[part], fontsize=13)
            first_layer, last_layer, _ = axes.set_xticks((0, 1, 1.13), ("first", "last", "f"))
            first_layer.label1.set_ha("left")
            last_layer.label1.set_ha("right")
            axes.set_xlabel("layer", labelpad=-10)
            for half in HALVES:
                values = self.changes[part][self._rows(half)]
                axes.plot(np.linspace(0, 1, len(values)), values, STYLES[half], color=COLORS[part])
            values = self.changes[part][self._rows("final norm")]
            axes.plot([1.13], values, "D", ms=7, color=COLORS[part], clip_on=False)
        self.figure.text(
            0.99,
            0.015,
            "solid: attention, dashed: feed-forward, f: final norm",
            fontsize=12,
            ha="right",
        )
        self.moving = []

    def update(self):
        """All of it is shown at once: there is nothing to move."""

    def _rows(self, half):
        return [row for row, name in enumerate(self.names) if name.endswith(half)]

    def describe(self) -> str:
        found = []
        for part in PARTS:
            by_half = ", ".join(
                f"{half} {100 * self.changes[part][self._rows(half)].mean():.3g}%"
                for half in HALVES
            )
            found.append(f"{part}: {by_half}")
        return (
            f"From {self.first} to {self.second}: RMS of the change over RMS before, mean over layers: "
            f"{'; '.join(found)}."
        )
