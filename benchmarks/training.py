"""Steps per second of the same training, written in five ways, in one run.

    make bench-training          in a virtual environment of its own
    python -m benchmarks.training --write      also puts the table into benchmarks/README.md

The model, data, batch size, optimiser, clipping and schedule are the same throughout; the ways take turns,
100 steps at a time. What is counted is processor time, of all threads, so that other work on the machine
disturbs little. It runs in a Jupyter kernel, since there the progress bar and the picture cost what they
cost a reader.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.sections import write_section

STEPS = 100  # a turn
TURNS = 13  # the first does not count
ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- training: made by benchmarks/training.py -->", "<!-- end of training -->"


def measure():
    """Run all ways in turns and print the table. Called inside a kernel."""
    import torch

    from helpers.action_expert import ActionExpert, ExpertConfig
    from helpers.comparison import reach_data
    from helpers.data import OBSTACLE_RADIUS, Scene, to_waypoints
    from helpers.evaluation import sample_actions
    from helpers.figures.training import Learning
    from helpers.flow import interpolate, sample_time, target_velocity
    from helpers.live import Live
    from helpers.training import Training, TrainSettings

    torch.set_num_threads(1)
    scene, actions = reach_data(20_000, seed=0)
    observation = scene.observation
    settings = TrainSettings(steps=STEPS * TURNS)

    class Bare:
        """The lines that every way needs, and nothing else; a subclass says how a loss is made."""

        def __init__(self):
            torch.manual_seed(0)
            self.model = ActionExpert(ExpertConfig.REACH, "adarms")
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.learning_rate)
            self.step = 0

        def loss(self, actions, observation):
            noise, time = torch.randn(actions.shape), sample_time(len(actions))
            x_t = interpolate(actions, noise, time)
            v_t = self.model(x_t, time, observation)
            return (v_t - target_velocity(actions, noise)).square().mean()

        def run(self, steps):
            for _ in range(steps):
                rows = torch.randint(len(actions), (settings.batch,))
                loss = self.loss(actions[rows], observation[rows])
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
                self.optimizer.param_groups[0]["lr"] = settings.rate(self.step)
                self.optimizer.step()
                self.step += 1

    class FlowMatching(Bare):
        """facebookresearch's package: its paths run from noise at 0 to data at 1."""

        def __init__(self):
            super().__init__()
            from flow_matching.path import CondOTProbPath

            self.path = CondOTProbPath()

        def loss(self, actions, observation):
            time = 1 - sample_time(len(actions))
            drawn = self.path.sample(t=time, x_0=torch.randn_like(actions), x_1=actions)
            v_t = self.model(drawn.x_t, 1 - drawn.t, observation)
            return (v_t + drawn.dx_t).square().mean()

    class TorchCFM(Bare):
        def __init__(self):
            super().__init__()
            from torchcfm.conditional_flow_matching import ConditionalFlowMatcher

            self.matcher = ConditionalFlowMatcher(sigma=0.0)

        def loss(self, actions, observation):
            time, x_t, u_t = self.matcher.sample_location_and_conditional_flow(
                torch.randn_like(actions), actions, t=1 - sample_time(len(actions))
            )
            v_t = self.model(x_t, 1 - time, observation)
            return (v_t + u_t).square().mean()

    class Ours:
        def __init__(self):
            torch.manual_seed(0)
            self.training = Training(
                ActionExpert(ExpertConfig.REACH, "adarms"), actions, observation, settings
            )

        def run(self, steps):
            self.training.run(steps=steps)

    class OursWithPicture(Ours):
        """As lesson 06 shows it: forty samples, the loss and the gates."""

        def __init__(self):
            super().__init__()
            goal, obstacle = scene.goal[0], scene.obstacle[0]
            self.picture = Learning(goal, obstacle, OBSTACLE_RADIUS, settings.steps, layers=4)
            self.seen = Scene(goal.expand(40, 2), obstacle.expand(40, 2)).observation

        def snapshot(self, training):
            paths = to_waypoints(sample_actions(training.model, self.seen))
            return {"losses": training.losses, "gates": [], "paths": paths}

        def run(self, steps):
            self.training.run(steps=steps, on_step=self.show)

    ways = {
        "the bare lines": Bare,
        "`helpers.training`": Ours,
        "`helpers.training`, with the live picture": OursWithPicture,
        "`flow_matching`, its path in the bare lines": FlowMatching,
        "`torchcfm`, its matcher in the bare lines": TorchCFM,
    }
    made = {}
    for name, way in ways.items():
        try:
            made[name] = way()
        except ImportError as error:
            print(f"left out: {name} ({error})", flush=True)
    pictured = made["`helpers.training`, with the live picture"]
    seconds = {name: [] for name in made}
    with Live(pictured.picture, pictured.snapshot) as pictured.show:
        for turn in range(TURNS):
            for name, way in made.items():
                began = time.process_time()
                way.run(STEPS)
                if turn:
                    seconds[name].append(time.process_time() - began)
    bare = seconds["the bare lines"]
    rows = ["| way | steps a processor second | time, the bare lines = 1 |", "|---|---|---|"]
    for name, its_seconds in seconds.items():
        ratios = [ours / theirs for ours, theirs in zip(its_seconds, bare, strict=True)]
        rate = STEPS / statistics.median(its_seconds)
        low, middle, high = statistics.quantiles(ratios, n=4)
        rows.append(f"| {name} | {rate:.0f} | {middle:.2f} ({low:.2f} to {high:.2f}) |")
    print("TABLE\n" + "\n".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    from jupyter_client.manager import start_new_kernel

    root = str(ROOT)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root}
    environment.pop("HELPERS_STILL", None)
    manager, client = start_new_kernel(
        env=environment, extra_arguments=["--IPKernelApp.log_level=ERROR"]
    )
    said = []

    def hear(message):
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            said.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            said.append("\n".join(message["content"]["traceback"]))

    try:
        reply = client.execute_interactive(
            "from benchmarks.training import measure\nmeasure()", output_hook=hear, timeout=1800
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    words = "".join(said)
    if reply["content"]["status"] != "ok":
        print(words, file=sys.stderr)
        return 1
    before, table = words.split("TABLE\n")
    found = {}
    for package in ("torch", "flow_matching", "torchcfm"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    versions = ", ".join(f"{name} {number}" for name, number in found.items())
    text = (
        "## The training loop\n\n"
        "The reach model, batch 128, trained in five ways that share data, optimiser, clipping and "
        f"schedule; one thread, in a Jupyter kernel.\nMedian of {TURNS - 1} turns of {STEPS} steps; "
        "in brackets the middle half of the ratios. "
        f"Python {platform.python_version()}, {versions}.\n"
        f"`make bench-training`\n\n{table.strip()}\n\n"
        "`helpers.training` aims at 1.05 at most, and at 1.20 with the picture. The two packages are "
        "timed with\nwhat they do themselves, drawing x_t and its velocity; the rest is the network."
    )
    print(before + text)
    if options.write:
        write_section(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
