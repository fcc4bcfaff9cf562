"""The random states of `tests/dragging.py` find what falls, and are as many as asked for."""

import warnings

from helpers.controls import explore, slider
from tests.dragging import drag
from tests.pictures import Line


class Warns(Line):
    """A line that warns in its upper half."""

    def update(self, a, **others):
        if a > 0.5:
            warnings.warn("old", DeprecationWarning, stacklevel=2)
        super().update(a, **others)


def test_a_picture_that_holds_is_in_as_many_states_as_asked_for():
    explorer = explore(Line(), a=slider(0.0, 0.9), b=(1, 5), c=["x", "y"], d=True)
    found = drag(explorer, 30)
    assert found.states == 30 and found.problems == []
    seen = [state for state in explorer.view.updates if "c" in state]
    assert {state["c"] for state in seen} == {"x", "y"}
    assert {state["a"] for state in seen} >= {0.0, 0.9}
    again = explore(Line(), a=slider(0.0, 0.9), b=(1, 5), c=["x", "y"], d=True)
    drag(again, 30)
    assert again.view.updates == explorer.view.updates


def test_an_exception_and_a_warning_are_found():
    found = drag(explore(Line(), a=slider(0.0, 1.0)), 30)  # above 0.95 the line refuses
    assert "too high" in found.problems[0]
    found = drag(explore(Warns(), a=slider(0.0, 0.9)), 30)
    assert "DeprecationWarning: old" in found.problems[0]


def test_widgets_that_are_left_are_found():
    class Litters(Line):
        def update(self, a, **others):
            super().update(a, **others)
            self.left = [*getattr(self, "left", []), explore(Line(), a=(0.0, 0.9))]

    assert "left" in drag(explore(Litters(), a=slider(0.0, 0.9)), 3).problems[-1]
