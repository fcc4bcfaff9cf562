"""Dragging: every picture of every lesson in random states, and one of each kind updated for long."""

import re
import subprocess
import sys

from tests.soak import Finding, check
from tests.test_notebook_sliders import drive
from tools import notebooks

LARGEST_GROWTH = 20  # MB


@check(
    "dragging: random states",
    did="states of all pictures with sliders, found by hypothesis, NaN among them",
    figure="exceptions, warnings, sliders left without a number, figures or widgets left",
    full={"states": 500},
    slice={"items": ["01_norm_geometry"], "states": 40},
)
def random_states(lesson, states) -> Finding:
    report = drive(notebooks.NOTEBOOKS / f"{lesson}.ipynb", states, timeout=7200)
    problems = report["problems"]
    if report["grown"] > LARGEST_GROWTH:
        problems.append(f"{report['grown']:.0f} MB more after all states than after the first 100")
    return Finding(report["states"], len(problems), problems)


@check(
    "dragging: memory",
    did="updates of one picture of each kind, after 200 reruns of its cell",
    figure="MB of growth",
    limit=LARGEST_GROWTH,
    items=lambda: ["Busy", "Line", "Space"],
    full={"soak": "1"},
    slice={"items": ["Line"], "soak": "0"},
    combine=max,
)
def memory(picture, soak) -> Finding:
    """The test of the same name, at the length that SOAK=1 gives it."""
    name = f"tests/test_controls.py::test_reruns_and_updates_leave_nothing_behind[{picture}]"
    done = subprocess.run(
        ["env", f"SOAK={soak}", sys.executable, "-m", "pytest", name, "-s", "--timeout=7200"],
        cwd=notebooks.ROOT,
        capture_output=True,
        text=True,
    )
    said = re.search(r"(-?[\d.]+) MB more after \d+ reruns and (\d+) updates", done.stdout)
    problems = [] if done.returncode == 0 else [done.stdout[-400:]]
    return Finding(int(said[2]), float(said[1]), problems) if said else Finding(0, 0.0, problems)
