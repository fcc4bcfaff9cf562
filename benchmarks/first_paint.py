"""How long from "Run all" until a lesson's first slider moves its picture; what `import helpers` costs.

    python -m benchmarks.first_paint            all lessons, in a real JupyterLab; rewrites the table
    python -m benchmarks.first_paint 01 05      these, prints only

A reader waits for torch's import, which is torch's own; from its end on the time is the collection's. The
slider is usable when a key pressed on it has changed its picture. Run all sends every cell to the kernel at
once; where the kernel has no second thread for sliders, it answers them after the last cell.
"""

import argparse
import datetime
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.sections import write_section
from benchmarks.sliders import machine
from tests.browser.harness import FLAGS, ROOT, NotebookPage, find_chromium, serve
from tools import notebooks

BEGIN, END = (
    "<!-- first paint: made by benchmarks/first_paint.py -->",
    "<!-- end of first paint -->",
)
LIMIT = 8  # seconds, from the end of torch's import to the first usable slider
TURNS = 3

# Notes in a file when the kernel's first `import torch` begins and ends. Torch's own files import it too,
# inside that.
NOTE = """
import builtins as _builtins, time as _time
_plain, _begun = _builtins.__import__, []
def _noting(name, *given, **named):
    if name != "torch" or _begun:
        return _plain(name, *given, **named)
    _begun.append(_time.time())
    found = _plain(name, *given, **named)
    with open("torch.times", "w") as file:
        print(*_begun, _time.time(), file=file)
    return found
_builtins.__import__ = _noting
"""
IMPORTS = """
import time
start = time.perf_counter()
import torch, matplotlib
first = time.perf_counter()
import helpers
print(first - start, time.perf_counter() - first)
"""


def time_lesson(page, server, path: Path) -> tuple[float, float, float, float]:
    """Seconds of torch's import; from its end until the first slider is there, is usable; of all that."""
    notebook = NotebookPage(page, server)
    notebook.open(path.name)
    notebook.ask_kernel(NOTE)
    start = time.time()
    page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    shown, usable = first_slider(page)
    begun, ended = map(float, path.with_name("torch.times").read_text().split())
    return ended - begun, shown - ended, usable - ended, usable - start


def first_slider(page) -> tuple[float, float]:
    """When the first slider, or film, was on the page, and when a key on it had changed its picture."""
    sliders = ".explore .noUi-handle, .film input[type=range]"
    page.wait_for_selector(sliders, timeout=300_000)
    shown = time.time()
    handle = page.locator(sliders).first
    picture = handle.evaluate_handle(
        "e => e.closest('.explore, .film').querySelector('img, canvas')"
    )
    look = "e => e.src || e.toDataURL()"
    before = picture.evaluate(look)
    while picture.evaluate(look) == before:
        if time.time() - shown > 120:
            raise RuntimeError(
                f"two minutes of keys on the first slider of {page.url} moved nothing"
            )
        handle.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        page.keyboard.press("ArrowLeft")  # a slider at its right end
        page.wait_for_timeout(50)
    return shown, time.time()


def time_lessons(names: list[str]) -> dict[str, list[tuple[float, ...]]]:
    """By lesson, what each turn took; every turn has a kernel and a page of its own."""
    found = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for name in names:
            shutil.copy(notebooks.NOTEBOOKS / f"{name}.ipynb", folder)
        with serve("lab", Path(folder)) as server:
            for _ in range(TURNS):
                for name in names:
                    # High enough that the first picture is in view: JupyterLab attaches what is.
                    context = browser.new_context(viewport={"width": 1280, "height": 9000})
                    path = Path(folder) / f"{name}.ipynb"
                    found[name].append(time_lesson(context.new_page(), server, path))
                    context.close()
                    server.stop_kernels()
        browser.close()
    return found


def time_imports() -> tuple[float, float]:
    """Medians of the seconds that `import torch, matplotlib` takes, and `import helpers` after it."""
    runs = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True
        )
        runs.append([float(word) for word in done.stdout.split()])
    theirs, ours = zip(*runs, strict=True)
    return statistics.median(theirs), statistics.median(ours)


def table(times: dict[str, list[tuple[float, ...]]]) -> str:
    lines = [
        "| lesson | torch's import, s | then until the first slider shows, s | is usable, s | in all, s |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, turns in times.items():
        medians = (statistics.median(column) for column in zip(*turns, strict=True))
        lines.append(
            f"| {name[:2]} | " + " | ".join(f"{seconds:.1f}" for seconds in medians) + " |"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="two digits each; all where none is given")
    chosen = parser.parse_args(arguments).lessons
    if find_chromium() is None:
        raise SystemExit("no Chromium found: install chromium, or name one by CHROMIUM=/path/to/it")
    names = [s.stem for s in notebooks.sources() if not chosen or s.stem[:2] in chosen]
    times, (theirs, ours) = time_lessons(names), time_imports()
    text = (
        f"`make bench-first-paint`, {datetime.date.today().isoformat()}: {machine()}. Median of {TURNS} "
        "turns, each with a new kernel. A slider is usable when a key on it has changed its picture. In "
        "JupyterLab with the ipykernel that is pinned, it need not wait for the cells below its own.\n\n"
        f"{table(times)}\n\n"
        f"`import torch, matplotlib` takes {theirs:.2f} s, `import helpers` after it {ours:.4f} s. "
        f"Aims: at most {LIMIT} s from the end of torch's import, and 0.3 s for `import helpers`."
    )
    print(text)
    if not chosen:
        write_section(BEGIN, END, f"## The first slider\n\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
