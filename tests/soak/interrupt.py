"""■ pressed in the middle of a cell, and a kernel killed while it writes a checkpoint."""

import os
import random
import subprocess
import sys
import tempfile

from tests.soak import Finding, check
from tests.soak._kernel import Lesson
from tests.soak.order import difference
from tools import notebooks

LONG = 0.7  # seconds: a cell that takes longer can be caught in the middle


@check(
    "interrupt: long cells",
    did="interrupts at random moments of cells of more than 0.7 s (training, spectra, films)",
    figure="interrupts after which the kernel, the next cell or a rerun fell",
    full={"moments": 2},
    slice={"moments": 1, "items": ["06_train_adarms_flow"]},
)
def long_cells(lesson, moments) -> Finding:
    """Interrupt each long cell of a lesson that has run; then the next cell, and the cell once more."""
    with Lesson(lesson) as kernel:
        first = kernel.run_all()
        long = [number for number, run in enumerate(first) if run.seconds > LONG]
        problems, count, bad = [], 0, 0
        for number in long:
            draw = random.Random(f"{lesson} {number}")
            for moment in range(moments):
                at = draw.random() * first[number].seconds
                twice = [at, at + 0.05] if moment % 2 else [at]  # an impatient hand presses again
                found = interrupted(kernel, number, twice, first)
                count += 1
                bad += bool(found)
                problems += [f"cell {number}, after {at:.2f} s: {line}" for line in found]
        return Finding(count, bad, problems)


def interrupted(kernel, number, moments, first) -> list[str]:
    """Interrupt a rerun of one cell at these moments; what was wrong then, afterwards, and with a rerun."""
    run = kernel.run(number, interrupts=moments)
    found = []
    if run.status != "ok" and not run.error.startswith("KeyboardInterrupt"):
        found.append(f"the interrupt became {run.error}")
    if kernel.value("6 * 7") != "42":
        found.append("the kernel does not answer")
    if number + 1 < len(kernel.cells):
        after = kernel.run(number + 1)
        found += [f"the next cell: {line}" for line in after.complaints]
        # What was stopped half-way must not have spoiled what was there; but a training that was stopped
        # is there with what it has.
        trains = "trained" in kernel.tags(number)
        kept = run.status != "ok" and not trains and not kernel.measured(number + 1)
        if kept and not found and after.printed != first[number + 1].printed:
            found.append(f"the next cell {difference(first[number + 1].printed, after.printed)}")
    again = kernel.run(number)
    found += [f"the rerun: {line}" for line in again.complaints]
    if not found and not kernel.measured(number) and again.printed != first[number].printed:
        found.append(f"the rerun {difference(first[number].printed, again.printed)}")
    return found


# A child writes checkpoints of two models in turn, as fast as it can, and is killed; the file must then be
# one of the two, whole.
KILLS = """
import os, random, signal, sys, time
from dataclasses import replace
from pathlib import Path
import torch
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.training import TrainSettings, load_checkpoint, save_checkpoint

torch.set_num_threads(1)
folder, seed, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
path, draw = folder / "model.safetensors", random.Random(seed)
models = []
for number in (0, 1):
    torch.manual_seed(number)
    models.append(ActionExpert(replace(ExpertConfig.REACH, mlp_width=4096)))  # 9 MB: long writes
save_checkpoint(path, models[0], TrainSettings(), step=0)
for turn in range(count):
    child = os.fork()
    if child == 0:
        while True:
            for number in (1, 0):
                save_checkpoint(path, models[number], TrainSettings(), step=number)
    time.sleep(0.01 + 0.1 * draw.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = load_checkpoint(path)
    weight = models[found.step].action_out.weight
    assert torch.equal(found.model.action_out.weight, weight), turn
left = list(folder.glob(".model.safetensors.*"))
for half in left:
    os.utime(half, (time.time() - 100,) * 2)
save_checkpoint(path, models[0], TrainSettings())
assert [found.name for found in folder.iterdir()] == [path.name], "leftovers stayed"
print(len(left))
"""


@check(
    "interrupt: kill in a checkpoint write",
    did="kills (SIGKILL) of a process that writes a checkpoint",
    figure="checkpoints that were not whole, or leftovers that stayed",
    items=lambda: ["save_checkpoint"],
    full={"kills": 500},
    slice={"kills": 50},
)
def kills(item, kills) -> Finding:
    """Kill a writer at random moments; of 50 kills at least one must come in the middle of a write."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", KILLS, folder, item, str(kills)],
            cwd=notebooks.ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        return Finding(kills, 1, [done.stderr.strip().splitlines()[-1]])
    in_the_middle = int(done.stdout)
    missed = kills >= 50 and not in_the_middle  # about one in eight comes there
    problems = ["no kill came in the middle of a write"] if missed else []
    return Finding(kills, 0, problems)
