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
    print(f"== {name}", flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run([python, "-m", "pytest", *arguments], cwd=ROOT, env=environment)
    return done.returncode == 0


def run_single_files(twin: Path) -> bool:
    """Execute every file of `make colab` on the twin, which lacks what builds them, without a network."""
    from tools import colab, notebooks

    with tempfile.TemporaryDirectory() as folder:
        for source in notebooks.sources():
            colab.write(source, Path(folder))
        tests = ["tests/test_single_files.py"]
        return run("Colab's stack, single files alone", twin, tests, SINGLE_FILES=folder)


def main(chosen: list[str]) -> int:
    unknown = set(chosen) - {"notebook7", "colab"}
    if unknown:
        raise SystemExit(f"unknown stack {', '.join(unknown)}: notebook7 and colab are known")
    passed = []
    if not chosen or "notebook7" in chosen:
        passed.append(
            run("Notebook 7, in the browser", sys.executable, IN_BROWSER, STACK="notebook7")
        )
    if not chosen or "colab" in chosen:
        twin = build_twin()
        passed.append(run("Colab's stack, without a browser", twin, WITHOUT_BROWSER))
        passed.append(run_single_files(twin))
        passed.append(
            run(
                "Colab's stack (Notebook 6), in the browser",
                sys.executable,
                IN_BROWSER,
                STACK="notebook6",
                STACK_PYTHON=str(twin),
            )
        )
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
