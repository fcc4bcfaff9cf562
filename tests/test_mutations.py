"""Plausible mistakes in the helpers do not go unseen."""

import subprocess
import sys
from pathlib import Path

from tools.mutations import MUTATIONS


def test_every_mistake_is_caught():
    # In a process of its own: it imports changed helpers again and again.
    command = [sys.executable, "-m", "tools.mutations"]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == f"{len(MUTATIONS)} of {len(MUTATIONS)} mistakes caught"
    assert len(lines) - 1 == len(MUTATIONS) == len({m.mistake for m in MUTATIONS}) >= 25
    assert all("caught by" in line for line in lines[:-1])
