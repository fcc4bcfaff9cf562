"""What saving a notebook by hand leaves in it and must not be committed: times, names, paths, widget state.

    python -m tools.saved FILE...      check these; exit 1 where something is found
    python -m tools.saved --staged     check every notebook that the next commit holds

Needs nothing but Python: the git hook in tools/hooks runs it. Notebooks that `make notebooks` builds pass.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

# Of a cell: who ran it, when, for how long. The first three are written by JupyterLab, an extension of the
# old Notebook, and Colab.
TIMES = {
    "execution": "execution times",
    "ExecuteTime": "execution times",
    "executionInfo": "execution times and the name of who ran it",
    "outputId": "Colab's number of its outputs",
}
# Of a notebook: where a front end keeps what concerns it alone.
FOREIGN = {
    "colab": "Colab's record of where the file lies and whose it is",
    "vscode": "VS Code's record of the interpreter",
}
# A folder that is one person's or one machine's. The lookbehind passes a web address over.
ONE_MACHINE = re.compile(
    r"(?<![\w.:/-])(?:/home/|/root/|/Users/|/tmp/|/content/|/mnt/|/var/folders/)"
    r"|file:///|site-packages|\b[A-Z]:\\\w+\\"
)


def findings(notebook: dict) -> list[str]:
    """One line for each thing in a notebook, given as its JSON, that must not be committed."""
    found = []
    metadata = notebook.get("metadata", {})
    for state in metadata.get("widgets", {}).values():
        if "state" not in state:
            found.append(
                "widget state without `state`, which GitHub refuses as an invalid notebook"
            )
    if "widgets" in metadata:
        found.append("widget state in the notebook's metadata")
    found += [words for key, words in FOREIGN.items() if key in metadata]
    for number, cell in enumerate(notebook.get("cells", [])):
        keys = cell.get("metadata", {}).keys() & TIMES.keys()
        found += [f"cell {number}: {TIMES[key]} in its metadata" for key in sorted(keys)]
        if match := ONE_MACHINE.search("\n".join(_texts(cell))):
            found.append(f"cell {number}: a path of one machine ({match[0]})")
    return found


def _texts(value):
    """Every string in a cell but pictures and what is attached to it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not name.startswith("image/") and name != "attachments":
                yield from _texts(item)


def staged() -> dict[str, str]:
    """Path to text of every notebook that the next commit adds or changes."""
    git = ["git", "diff", "--cached", "--name-only", "--diff-filter=ACMR", "-z", "--", "*.ipynb"]
    names = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\0")
    return {
        name: subprocess.run(
            ["git", "show", f":{name}"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        for name in names
        if name
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--staged", action="store_true", help="what the next commit holds")
    options = parser.parse_args()
    texts = {str(path): path.read_text(encoding="utf-8") for path in options.files}
    if options.staged:
        texts |= staged()
    bad = False
    for name, text in texts.items():
        try:
            lines = findings(json.loads(text))
        except ValueError as error:
            lines = [f"not a notebook: {error}"]
        for line in lines:
            bad = True
            print(f"{name}: {line}", file=sys.stderr)
    if bad:
        print(
            "Not committed. Edit notebooks/source/, and let `make notebooks` build.",
            file=sys.stderr,
        )
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
