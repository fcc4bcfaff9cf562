"""Lesson 06: five ways to tell a network the time, with equal parameters and with equal width.

    python -m experiments.comparison            runs what is missing, one file a run
    python -m experiments.comparison --again    runs all

A run trains one kind of model with several seeds side by side. Interrupted, it takes up where it stopped:
a run whose file holds the same settings is not repeated.
"""

import argparse
import time
from dataclasses import asdict, replace

import torch
from tqdm.auto import tqdm

from experiments.records import RESULTS, is_kept, keep
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import matched_config, reach_data, trained_parameters
from helpers.data import Scene, reach_demonstrations
from helpers.evaluation import loss_by_time, quantile_times, success_rate
from helpers.flow import exact_velocity, interpolate, target_velocity
from helpers.training import TrainSettings, train_seeds

FLAT = TrainSettings(steps=1000)
ATTENTION = TrainSettings(steps=1000, batch=64)
DEMONSTRATIONS = 20_000  # from seed 0
VALIDATION = 1000  # scenes, from seed 1
TIMES = 16
OF_ONE_SCENE = 1000  # demonstrations of each validation scene, for the exact velocity


def runs():
    """{name: (conditioning, config, settings, number of seeds)}, in the order in which they are made."""
    found = {}
    deep = replace(ExpertConfig.REACH, depth=8)
    main, others = ("adarms", "added_gated"), ("added", "input", "none")
    for name in (*main, *others):
        seeds = 10 if name in main else 4
        found[f"depth4_{name}"] = (name, matched_config(ExpertConfig.REACH, name), FLAT, seeds)
    for name in main:
        found[f"depth8_{name}"] = (name, matched_config(deep, name), FLAT, 10)
    for name in ("added_gated", *others):
        found[f"width_{name}"] = (name, ExpertConfig.REACH, FLAT, 4)
    for name in (*main, *others):
        seeds = 10 if name in main else 4
        config = matched_config(ExpertConfig.TINY, name)
        found[f"attention_{name}"] = (name, config, ATTENTION, seeds)
    return found


def main(again=False, folder=RESULTS / "comparison", chosen=None):
    """Make what is missing in `folder`. Returns the number of runs made."""
    torch.set_num_threads(1)
    chosen = runs() if chosen is None else chosen
    made = 0
    for number, (name, run) in enumerate(chosen.items(), 1):
        path, settings = folder / f"{name}.json", about(*run)
        if not again and is_kept(path, settings):
            print(f"comparison {number}/{len(chosen)}: {path.name} is there")
            continue
        print(f"comparison {number}/{len(chosen)}: {name}, {run[3]} seeds", flush=True)
        wall, processor = time.monotonic(), time.process_time()
        found = make(*run)
        seconds = time.monotonic() - wall
        keep(path, settings, seconds, processor_seconds=time.process_time() - processor, **found)
        made += 1
        loss, success = (
            sum(found[what]) / len(found[what]) for what in ("validation_loss", "success")
        )
        print(f"    loss {loss:.4f}, success {success:.3f} after {seconds:.0f} s", flush=True)
    path, settings = folder / "exact.json", {"scenes": VALIDATION, "demonstrations": OF_ONE_SCENE}
    if again or not is_kept(path, settings):
        began = time.monotonic()
        found = exact_loss()
        keep(path, settings, time.monotonic() - began, **found)
        print(f"the exact velocity: loss {found['validation_loss']:.4f}")
        made += 1
    return made


def about(conditioning, config, settings, seeds):
    """What identifies a run."""
    train = {key: value for key, value in asdict(settings).items() if key != "seed"}
    return {
        "conditioning": conditioning,
        "config": asdict(config),
        "train": train,
        "seeds": list(range(seeds)),
        "demonstrations": DEMONSTRATIONS,
        "validation": VALIDATION,
        "times": TIMES,
    }


def make(conditioning, config, settings, seeds):
    """Train and measure -> results by seed, plain numbers and lists."""
    scene, actions = reach_data(DEMONSTRATIONS, seed=0)
    with tqdm(total=settings.steps, unit=" steps", leave=False, mininterval=2) as bar:
        models, losses = train_seeds(
            lambda: ActionExpert(config, conditioning),
            range(seeds),
            actions,
            scene.observation,
            settings,
            on_step=lambda step, losses: bar.update(),
        )
    scene, actions = reach_data(VALIDATION, seed=1)
    times = quantile_times(TIMES)
    by_time = torch.stack([loss_by_time(m, actions, scene.observation, times) for m in models])
    return {
        "parameters": trained_parameters(models[0]),
        "validation_loss": by_time.mean(dim=1).tolist(),
        "success": [success_rate(model, scene) for model in models],
        "times": times.tolist(),
        "loss_by_time": by_time.tolist(),
        "training_loss": losses.unflatten(1, (-1, 20)).mean(dim=2).tolist(),  # of each 20 steps
    }


def exact_loss():
    """What the best possible network would reach on the validation set: the noise in the target itself."""
    scene, actions = reach_data(VALIDATION, seed=1)
    noise = torch.randn(actions.shape, generator=torch.Generator().manual_seed(0))
    times, losses = quantile_times(TIMES), torch.zeros(TIMES)
    for i in range(VALIDATION):
        place = (x[i : i + 1].expand(OF_ONE_SCENE, 2) for x in (scene.goal, scene.obstacle))
        possible = reach_demonstrations(Scene(*place), seed=i)
        a, z = (x[i : i + 1].expand(TIMES, -1, -1) for x in (actions, noise))
        v_t = exact_velocity(interpolate(a, z, times), times, possible)
        losses += (v_t - target_velocity(a, z)).square().mean(dim=(1, 2)) / VALIDATION
    return {
        "validation_loss": losses.mean().item(),
        "times": times.tolist(),
        "loss_by_time": losses.tolist(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--again", action="store_true", help="run also what has results")
    main(again=parser.parse_args().again)
