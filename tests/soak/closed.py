"""Lessons closed in: no network, nothing written outside the project and the temporary folder, a checkout
that may not be written at all."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.soak import Finding, check
from tests.soak._kernel import Lesson
from tests.walls import walls
from tools import notebooks

# The project mounted read-only for this kernel alone. It needs root and the right to mount.
MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


def can_mount() -> bool:
    """Whether a kernel can be given a read-only mount of the project."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    attempt = ["unshare", "-m", "sh", "-c", MOUNTED, str(notebooks.ROOT), "true"]
    return subprocess.run(attempt, capture_output=True).returncode == 0


@check(
    "closed: no network, no file elsewhere",
    did="cells run with the network blocked, in a home folder of their own",
    figure="cells that fell, and files written outside the project and the temporary folder",
)
def nothing_elsewhere(lesson) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        return closed_in(lesson, Path(folder), read_only=False)


@check(
    "closed: read-only checkout",
    did="cells run with a project folder that may not be written",
    figure="cells that fell, and files written elsewhere than in the temporary folder",
    slice={"items": ["05_flow_matching"]},
)
def read_only(lesson) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        return closed_in(lesson, Path(folder), read_only=True)


def closed_in(lesson, folder, read_only) -> Finding:
    """Run a lesson with walls round its kernel, and see what it left."""
    around = walls(folder, read_only)
    mounted = ("unshare", "-m", "sh", "-c", MOUNTED, str(notebooks.ROOT))
    wrap = mounted if read_only and can_mount() else ()
    with Lesson(lesson, around.environment, wrap=wrap) as kernel:
        runs = kernel.run_all()
        problems = saved_elsewhere(kernel) if read_only else []
    problems += [f"cell {n}: {line}" for n, run in enumerate(runs) for line in run.complaints]
    problems += around.strayed()
    return Finding(len(runs), len(problems), problems)


SAVE = """
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.training import CHECKPOINTS, TrainSettings, load_checkpoint, save_checkpoint
kept = save_checkpoint(CHECKPOINTS / "mine.safetensors", ActionExpert(ExpertConfig.REACH), TrainSettings())
assert load_checkpoint(kept).step == TrainSettings().steps
"""


def saved_elsewhere(kernel) -> list[str]:
    """A learner saves a model beside the shipped ones, where nothing may be written."""
    run = kernel.execute(SAVE)
    said = "".join(output.get("text", "") for output in run.outputs)
    problems = [f"a checkpoint: {line}" for line in run.complaints]
    if not problems and "the checkpoint is" not in said:
        problems.append("a checkpoint went elsewhere, and nothing said so")
    if (notebooks.ROOT / "helpers" / "checkpoints" / "mine.safetensors").exists():
        problems.append("the project folder was written")
    return problems
