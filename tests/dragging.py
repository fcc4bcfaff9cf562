"""Every slider of a picture dragged about at random, as hypothesis finds states; run in a lesson's process.

A state sets every widget: to its ends, to anything between, to what lies outside, to NaN. In some one
widget is then thrown to and fro, as fast as it goes.
"""

import gc
import math
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from matplotlib import _pylab_helpers

from tests.test_controls import megabytes, registered

OUTSIDE = [math.nan, math.inf, -math.inf, 1e300, -1.0]
SETTLED = 100  # states after which memory is measured for the first time


@dataclass
class Dragged:
    """What a picture did: how many states it was in, what fell, by how many MB the process grew."""

    states: int = 0
    problems: list[str] = field(default_factory=list)
    grown: float = 0.0


def values(widget):
    """A strategy for what may be set: from the page, by code, or by a mistake."""
    if hasattr(widget, "options"):
        return st.sampled_from([value for _, value in widget.options])
    if isinstance(widget.value, bool):
        return st.booleans()
    if isinstance(widget.value, int):
        return st.integers(widget.min - 1, widget.max + 1)
    inside = st.floats(widget.min, widget.max)
    if hasattr(widget, "base"):
        return st.one_of(inside.map(lambda power: widget.base**power), st.sampled_from(OUTSIDE[:3]))
    return st.one_of(inside, st.sampled_from([widget.min, widget.max, *OUTSIDE]))


def drag(explorer, states: int) -> Dragged:
    """Put `explorer` into so many states, always the same ones; warnings must be errors by now."""
    found, widgets = Dragged(), explorer.controls
    before = registered(), len(_pylab_helpers.Gcf.figs)
    moves = st.fixed_dictionaries({name: values(widget) for name, widget in widgets.items()})
    thrown = st.one_of(st.none(), st.none(), st.sampled_from(sorted(widgets)))

    @seed(0)
    @settings(
        max_examples=states,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(moves, thrown, st.data())
    def into(state, thrown, data):
        # As in a fast drag, one picture is drawn of all that was moved.
        explorer._quiet = True
        for name, value in state.items():
            widgets[name].value = value
        explorer._quiet = False
        explorer._changed()
        if thrown:
            ends = data.draw(values(widgets[thrown])), data.draw(values(widgets[thrown]))
            for value in (*ends, *ends):
                widgets[thrown].value = value
        if explorer.error:
            found.problems.append(f"{state}, then {thrown}: {explorer.error[-400:]}")
        if any(
            isinstance(value, float) and not math.isfinite(value)
            for value in explorer.values.values()
        ):
            found.problems.append(f"{state}: a slider rests at {explorer.values}")
        found.states += 1
        if found.states in (SETTLED, states):
            gc.collect()
            found.grown = megabytes() - (found.grown if found.states > SETTLED else 0.0)

    into()
    if states <= SETTLED:
        found.grown = 0.0
    if (registered(), len(_pylab_helpers.Gcf.figs)) != before:
        found.problems.append("widgets or figures are left")
    return found
