"""Every slider of every notebook driven without a browser: ends, middle, random states; films too.

And of every picture: it says in words what it shows, and its letters are large enough.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))

# Runs in a process of its own, with IPython's shell, so that nothing of one notebook reaches the next.
DRIVE = """
import gc, importlib.util, json, random, sys, warnings
import numpy as np
from IPython.core.interactiveshell import InteractiveShell

from tests.warned import STARTUP
shell = InteractiveShell.instance()
exec(STARTUP)
made = {"Explorer": [], "Film": []}
shown = []

import helpers.controls, helpers.figures.style, helpers.film
for kind in (helpers.controls.Explorer, helpers.film.Film):
    def noted(self, *given, _start=kind.__init__, _kind=kind.__name__):
        _start(self, *given)
        made[_kind].append(self)
        shown.append(self.view)
    kind.__init__ = noted
    kind._ipython_display_ = lambda self: None

def still_shown(self, _bundle=helpers.figures.style.View._repr_mimebundle_, **asked):
    shown.append(self)
    return _bundle(self, **asked)
helpers.figures.style.View._repr_mimebundle_ = still_shown

for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code" and "long" not in cell["metadata"].get("tags", []):
        result = shell.run_cell("".join(cell["source"]), store_history=False)
        result.raise_error()

warnings.simplefilter("error")
from tests.pictures import redrawn, small_texts

def settings(widget):
    if hasattr(widget, "options"):
        return [value for _, value in widget.options]
    if isinstance(widget.value, bool):
        return [False, True]
    low, high = widget.min, widget.max
    if hasattr(widget, "base"):
        return [widget.base**low, widget.base**((low + high) / 2), widget.base**high]
    middle = (low + high) / 2
    return [low, int(middle) if isinstance(widget.value, int) else middle, high]

def anything(widget, rng):
    values = settings(widget)
    if len(values) != 3 or hasattr(widget, "options"):
        return rng.choice(values)
    if hasattr(widget, "base"):
        return widget.base ** rng.uniform(widget.min, widget.max)
    if isinstance(widget.value, int):
        return rng.randint(widget.min, widget.max)
    return rng.uniform(widget.min, widget.max)

report = {"explorers": len(made["Explorer"]), "films": len(made["Film"]), "problems": []}
report.update(states=0, grown=0.0)
for view in {id(view): view for view in shown if view is not None}.values():
    name = type(view).__name__
    if len(view.describe().split()) < 5:
        report["problems"].append(f"{name}: describe() says {view.describe()!r}")
    report["problems"] += [f"{name}: {text}" for text in small_texts(view.figure)]
for number, explorer in enumerate(made["Explorer"]):
    if explorer.view is None:
        continue
    def check(what):
        if explorer.error:
            report["problems"].append(f"explorer {number}, {what}: {explorer.error[-600:]}")
    pictures = set()
    for name, widget in explorer.controls.items():
        explorer.reset()
        seen = set()
        for value in settings(widget):
            widget.value = value
            check(f"{name}={value}")
            seen.add(bytes(explorer.image.value))
        if len(seen) < 2:
            report["problems"].append(f"explorer {number}: {name} changes nothing in the picture")
    rng = random.Random(0)
    words = set()
    for i in range(50):
        for widget in explorer.controls.values():
            widget.value = anything(widget, rng)
        check(str(explorer.values))
        pictures.add(bytes(explorer.image.value))
        words.add(explorer._words)
        if i < 3 and not explorer.error:
            quick = np.array(explorer._painter.pixels())[..., :3].astype(int)
            off = np.abs(quick - redrawn(explorer.view)).max()
            if off > 8:
                report["problems"].append(
                    f"explorer {number}: {explorer.values} differs by {off} from a full redraw"
                )
    if len(pictures) < 5:
        report["problems"].append(f"explorer {number}: 50 settings gave {len(pictures)} pictures")
    if "" in words:
        report["problems"].append(f"explorer {number}: describe() says nothing")
for number, film in enumerate(made["Film"]):
    size = len(film.html())
    if len(set(film.frames)) < 0.5 * len(film.frames):
        report["problems"].append(f"film {number}: most frames are alike")
    if size > 2_500_000:
        report["problems"].append(f"film {number}: {size} bytes")
# Not on the twin of Colab's stack, which has no hypothesis; `make test-oldest` has the same ipywidgets.
if importlib.util.find_spec("hypothesis"):
    from tests.dragging import drag
    for number, explorer in enumerate(made["Explorer"]):
        if explorer.view is not None:
            found = drag(explorer, int(sys.argv[2]))
            report["states"] += found.states
            report["grown"] += found.grown
            report["problems"] += [f"explorer {number}, {line}" for line in found.problems]
from matplotlib import _pylab_helpers
if _pylab_helpers.Gcf.figs:
    report["problems"].append("pyplot holds figures")
print("REPORT" + json.dumps(report))
"""


def test_there_are_notebooks():
    assert NOTEBOOKS


def drive(notebook, states=15, timeout=500):
    """Run a notebook, move its sliders, and put each picture into so many random states -> the report."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    environment.pop("HELPERS_STILL", None)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "drive.py"
        script.write_text(DRIVE)
        done = subprocess.run(
            [sys.executable, str(script), str(notebook), str(states)],
            cwd=notebook.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    reports = [line for line in done.stdout.splitlines() if line.startswith("REPORT")]
    assert done.returncode == 0 and reports, (done.stdout + done.stderr)[-3000:]
    return json.loads(reports[0].removeprefix("REPORT"))


@pytest.fixture(scope="module")
def driven(request):
    """For each notebook that is asked for, its report to come; two run at a time, each on a core."""
    asked = {
        item.callspec.params["notebook"]: None
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield {notebook: pool.submit(drive, notebook) for notebook in asked}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_sliders(notebook, driven):
    report = driven[notebook].result()
    print(f"{notebook.name}: {report['explorers']} with sliders, {report['films']} films")
    assert report["explorers"] + report["films"] > 0
    assert report["problems"] == []
