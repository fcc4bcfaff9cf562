"""Run the tests of sliders and notebooks on the other front ends: Notebook 7, and a twin of Colab's stack.

    python -m tools.stacks              build what is missing in .venv-stacks/, then run all
    python -m tools.stacks notebook7    one of them: notebook7, colab

Without a browser the tests run in the twin's own Python; in a browser, its server is driven from here.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = ROOT / "tools" / "requirements-colab.txt"
COLAB = ROOT / ".venv-stacks" / "colab"
WITHOUT_BROWSER = [
    "tests/test_controls.py",
    "tests/test_drawing.py",
    "tests/test_film.py",
    "tests/test_notebook_sliders.py",
]
IN_BROWSER = [
    "tests/browser",
    # Pages of the site and decks, which know no front end: `make test` has opened them.
    "--ignore=tests/browser/test_published.py",
    "--ignore=tests/browser/test_printed.py",
]


def build_twin() -> Path:
    """The Python of the twin of Colab's stack, built where it is missing or its packages changed."""
    python = COLAB / "bin" / "python"
    stamp = COLAB / "made-from"
    digest = hashlib.sha256(WANTED.read_bytes()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == digest):
        print(f"building {COLAB.relative_to(ROOT)}", flush=True)
        venv.create(COLAB, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([python, *install, "-r", WANTED], check=True)
        stamp.write_text(digest)
    return python


def run(name: str, python, arguments: list, **environment) -> bool:
    """Run these tests on that Python; what they print comes in one piece, as two may run at a time."""
    print(f"== {name}: begins", flush=True)
    done = subprocess.run(
        [python, "-m", "pytest", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(f"== {name}\n{done.stdout}", flush=True)
    return done.returncode == 0


def run_single_files(twin: Path) -> bool:
    """Execute every file of `make colab` on the twin, which lacks what builds them, without a network."""
    from tools import colab, notebooks

    with tempfile.TemporaryDirectory() as folder:
        for source in notebooks.sources():
            colab.write(source, Path(folder))
        tests = ["tests/test_single_files.py"]
        return run("Colab's stack, single files alone", twin, tests, SINGLE_FILES=folder)


def run_without_browser(twin: Path) -> bool:
    passed = run("Colab's stack, without a browser", twin, WITHOUT_BROWSER)
    return run_single_files(twin) and passed


def main(chosen: list[str]) -> int:
    unknown = set(chosen) - {"notebook7", "colab"}
    if unknown:
        raise SystemExit(f"unknown stack {', '.join(unknown)}: notebook7 and colab are known")
    chosen = chosen or ["notebook7", "colab"]
    twin = build_twin() if "colab" in chosen else None
    # A browser waits more than it works, so what needs none runs beside it.
    with ThreadPoolExecutor() as pool:
        beside = []
        if "notebook7" in chosen:
            name = "Notebook 7, in the browser"
            beside.append(pool.submit(run, name, sys.executable, IN_BROWSER, STACK="notebook7"))
        if twin:
            beside.append(pool.submit(run_without_browser, twin))
        passed = [one.result() for one in beside]
    if twin:
        name = "Colab's stack (Notebook 6), in the browser"
        stack = {"STACK": "notebook6", "STACK_PYTHON": str(twin)}
        passed.append(run(name, sys.executable, IN_BROWSER, **stack))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
