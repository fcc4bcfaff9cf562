"""Train the models that ship with the collection: `make checkpoints`, a minute on one thread.

python -m tools.checkpoints            both
python -m tools.checkpoints reach      the one-token model of lessons 06 and 07
python -m tools.checkpoints chunk      the action-chunk transformer of lesson 06
"""

import argparse
import time

import torch

from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import reach_data
from helpers.evaluation import success_rate, validation_loss
from helpers.training import CHECKPOINTS, Training, TrainSettings, save_checkpoint

# What lesson 06 trains too, with the same seeds.
RECIPES = {
    "reach": (ExpertConfig.REACH, TrainSettings(steps=1200, batch=128)),
    "chunk": (ExpertConfig.TINY, TrainSettings(steps=1000, batch=64)),
}


def train(name, folder=CHECKPOINTS):
    config, settings = RECIPES[name]
    scene, actions = reach_data(20_000, seed=0)
    torch.manual_seed(settings.seed)
    model = ActionExpert(config, "adarms")
    began = time.perf_counter()
    run = Training(model, actions, scene.observation, settings).run()
    if run.step < settings.steps:
        raise SystemExit(f"{name}: the checkpoint that was there stays")
    seconds = time.perf_counter() - began
    scene, actions = reach_data(1000, seed=1)
    found = {
        "success": round(success_rate(model, scene), 4),
        "validation_loss": round(validation_loss(model, actions, scene.observation), 5),
    }
    save_checkpoint(folder / f"{name}.safetensors", model, settings, **found)
    print(f"{name}: {found} after {seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(RECIPES)}; all if left out")
    names = parser.parse_args().names
    torch.set_num_threads(1)
    for name in names or RECIPES:
        if name not in RECIPES:
            parser.error(f"there are {', '.join(RECIPES)}, not {name}")
        train(name)
