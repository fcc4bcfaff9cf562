"""How long from a key press to pixels: `explore` and `film` beside what people use today.

    python -m benchmarks.sliders            all, in a real JupyterLab; rewrites the table in README.md
    python -m benchmarks.sliders --quick    a few presses, prints only

One picture (tests/pictures.py: arrows, 500 points, 16 bars), one notebook, one run. Each way gets
its turn in every round, so that what else the machine does falls on all. A press is timed by the page's
own clock, from the event to the second animation frame after the picture's pixels are in the page.
"""

import argparse
import datetime
import hashlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

from benchmarks.sections import write_section
from tests.browser.harness import FLAGS, ROOT, NotebookPage, find_chromium, serve

BEGIN, END = "<!-- sliders: made by benchmarks/sliders.py -->", "<!-- end of sliders -->"
ENVIRONMENT = ROOT / ".venv-stacks" / "benchmark"
NEEDED = ("jupyterlab", "ipywidgets", "matplotlib", "numpy")
EXTRA = ("ipympl",)

SETUP = """\
import ipywidgets, numpy as np
from IPython.display import display
from helpers.controls import explore, film, slider
from tests.pictures import Busy
def a_slider():
    return ipywidgets.FloatSlider(min=0, max=1, step=1 / 40, value=0.5)
"""
WAYS = {
    "ready-made pictures swapped (the floor)": """\
view, ready = Busy(), []
for i in range(41):
    view.update(i / 40)
    ready.append(view.png())
floor_slider, floor_image = a_slider(), ipywidgets.Image(value=ready[20], width="900", height="400")
def swap(change):
    floor_image.value = ready[round(40 * change.new)]
floor_slider.observe(swap, "value")
ipywidgets.VBox([floor_slider, floor_image])""",
    "`explore`": "explore(Busy(), t=slider(0.0, 1.0, 0.5, step=1 / 40))",
    "`film`": "film(Busy(), t=slider(0.0, 1.0, 0.5))",
    "`interact`, figure made anew": """\
def draw(t):
    view = Busy()
    view.update(t)
    display(view)
ipywidgets.interact(draw, t=a_slider());""",
    "`interactive_output`, figure kept": """\
kept, kept_slider = Busy(), a_slider()
def redraw(t):
    kept.update(t)
    display(kept)
ipywidgets.VBox([kept_slider, ipywidgets.interactive_output(redraw, {"t": kept_slider})])""",
    "ipympl (`%matplotlib widget`)": """\
%matplotlib widget
import matplotlib.pyplot as plt
import tests.pictures
tests.pictures.new_figure = lambda width, height: plt.figure(figsize=(width, height))
live, live_slider = Busy(), a_slider()
def move(change):
    live.update(change.new)
    live.figure.canvas.draw_idle()
live_slider.observe(move, "value")
ipywidgets.VBox([live_slider, live.figure.canvas])""",
}
FILM = "`film`"

# A press is over two animation frames after a new image was loaded or drawn in the cell. Front ends
# show an output more than once; an image that was there before the press is not new.
CLOCK = """() => {
  window.bench = {cell: null, pressed: null, done: null, last: 0, before: new Set()};
  const arrived = node => {
    const b = window.bench;
    b.last = performance.now();
    if (node.src && b.before.has(node.src)) return;
    if (b.pressed === null || b.done !== null || b.waiting) return;
    if (node.isConnected && b.cell && !b.cell.contains(node)) return;
    b.waiting = true;
    requestAnimationFrame(() => requestAnimationFrame(now => {
      b.done = performance.now() - b.pressed; b.waiting = false;
    }));
  };
  window.addEventListener('keydown', e => {
    const b = window.bench;
    b.before = new Set([...b.cell.querySelectorAll('img')].map(image => image.src));
    b.pressed = e.timeStamp; b.done = null; b.waiting = false;
  }, true);
  document.addEventListener('load', e => { if (e.target.tagName === 'IMG') arrived(e.target); }, true);
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...given) {
    const done = draw.apply(this, given);
    arrived(this.canvas);
    return done;
  };
}"""


def environment() -> Path:
    """A Python with what the notebook needs and ipympl, in a virtual environment of its own."""
    pins = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [pin for pin in pins if pin.split("==")[0] in NEEDED] + list(EXTRA)
    digest = hashlib.sha256(" ".join(wanted).encode()).hexdigest()
    stamp, python = ENVIRONMENT / "made-from", ENVIRONMENT / "bin" / "python"
    if not (stamp.is_file() and stamp.read_text() == digest):
        print(f"building {ENVIRONMENT.relative_to(ROOT)}", flush=True)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([python, *install, *wanted], check=True)
        stamp.write_text(digest)
    return python


def time_presses(rounds: int, presses: int) -> dict[str, list[float]]:
    """Milliseconds of every press, by way."""
    times = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write(Path(folder) / "sliders.ipynb")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        with serve("lab", Path(folder), str(environment())) as server:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            notebook = NotebookPage(page, server)
            notebook.open("sliders.ipynb")
            notebook.run_all(200)
            if notebook.failures():
                raise RuntimeError("\n".join(notebook.failures()))
            notebook.reveal_all()
            page.wait_for_timeout(1000)
            page.evaluate(CLOCK)
            for round_number in range(-1, rounds):  # the first round warms up and is not counted
                for number, way in enumerate(WAYS):
                    found = press(page, number + 1, way, presses, round_number % 2 == 0)
                    if round_number >= 0:
                        times[way] += found
        browser.close()
    return times


def press(page, number: int, way: str, presses: int, up: bool) -> list[float]:
    cell = page.locator(".jp-Cell").nth(number)
    cell.scroll_into_view_if_needed()
    handle = cell.locator("input[type=range]" if way == FILM else ".noUi-handle")
    handle.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    cell.evaluate("cell => { window.bench.cell = cell; }")
    handle.focus()
    times = []
    for _ in range(presses):
        page.evaluate("() => { window.bench.pressed = null; window.bench.done = null; }")
        page.keyboard.press("ArrowRight" if up else "ArrowLeft")
        page.wait_for_function("() => window.bench.done !== null", polling=20, timeout=20_000)
        times.append(page.evaluate("window.bench.done"))
        page.wait_for_function("() => performance.now() - window.bench.last > 400", polling=50)
    return times


def write(path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *WAYS.values())]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, path)


def time_films() -> list[tuple[str, float, float]]:
    """(way, seconds, megabytes) for 41 frames: ours, best of three, and matplotlib's own."""
    from matplotlib.animation import FuncAnimation

    from helpers.controls import film, slider
    from tests.pictures import Busy

    ours = []
    for _ in range(3):
        start = time.perf_counter()
        html = film(Busy(), t=slider(0.0, 1.0)).html()
        ours.append(time.perf_counter() - start)
    view = Busy()
    start = time.perf_counter()
    theirs = FuncAnimation(view.figure, lambda i: view.update(i / 40), frames=41).to_jshtml()
    taken = time.perf_counter() - start
    return [
        ("`film`", min(ours), len(html) / 1e6),
        ("matplotlib's `to_jshtml`", taken, len(theirs) / 1e6),
    ]


def table(times: dict[str, list[float]], films) -> str:
    floor = statistics.median(next(iter(times.values())))
    lines = [
        "| a slider's picture by | p50, ms | p95, ms | p50 of the floor |",
        "|---|---:|---:|---:|",
    ]
    for way, found in times.items():
        middle, late = statistics.median(found), statistics.quantiles(found, n=20)[-1]
        lines.append(f"| {way} | {middle:.0f} | {late:.0f} | {middle / floor:.2f} |")
    lines += ["", "| 41 frames by | ready in, s | size, MB |", "|---|---:|---:|"]
    lines += [f"| {way} | {seconds:.1f} | {size:.2f} |" for way, seconds, size in films]
    lines += [
        "",
        "Aims: `explore` at 1.25 times the floor (at most 1.4) and at most a quarter of `interact`; "
        "`film` at most 34 ms (p95), its frames ready in 1.5 s and 1.5 MB.",
    ]
    return "\n".join(lines)


def machine() -> str:
    cpu = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = re.findall(r"model name\s*: (.*)", info.read_text())
        if models:
            cpu = f"{len(models)} cores, {models[0].strip()}"
    return f"{cpu}; {platform.system()}, Python {platform.python_version()}; headless Chromium, JupyterLab"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few presses, print only")
    quick = parser.parse_args(arguments).quick
    if find_chromium() is None:
        raise SystemExit("no Chromium found: install chromium, or name one by CHROMIUM=/path/to/it")
    times = time_presses(*((1, 5) if quick else (6, 10)))
    presses = len(next(iter(times.values())))
    text = (
        "One picture (arrows, 500 points, 16 bars; 9 by 4 inches), one notebook, `make bench-sliders`. "
        f"Measured {datetime.date.today().isoformat()}: {machine()}. {presses} key presses each, from the "
        f"event to the second animation frame after the picture came.\n\n{table(times, time_films())}"
    )
    print(text)
    if not quick:
        write_section(BEGIN, END, f"## Sliders\n\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
