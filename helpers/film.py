"""Films: every picture of one slider drawn once, then flipped through in the page without a kernel."""

import os

from IPython.display import display


def film(view, **controls):
    raise NotImplementedError("film follows; use explore")


def showing_stills() -> bool:
    """Whether notebooks are being built for readers without a kernel, so that only stills are published.

    `tools/` sets the environment variable HELPERS_STILL=1 for the kernel it builds a notebook with.
    """
    return os.environ.get("HELPERS_STILL") == "1"


def display_how_to_run(labels):
    """One line under a still, for who reads the notebook without running it."""
    noun = "slider" if len(labels) == 1 else "sliders"
    line = f"Run this cell for the {noun}: {', '.join(labels)}."
    display({"text/plain": line, "text/markdown": f"*{line}*"}, raw=True)
