"""What lesson 07 shows over seeds: five models, four seeds each, trained alike and then looked into.

    python -m experiments.inside            runs what is missing, one file a run
    python -m experiments.inside --again    runs all

The four seeds of a model are trained side by side; each file says how long its share of that took.
"""

import argparse
import copy
import time
from dataclasses import asdict, replace

import torch

from experiments.records import RESULTS, is_kept, keep
from helpers.action_expert import CONDITIONINGS, ActionExpert, ExpertConfig
from helpers.comparison import matched_config, reach_data, trained_parameters
from helpers.data import reach_scenes
from helpers.evaluation import success_rate, validation_loss
from helpers.flow import flow_loss, interpolate, sample_time
from helpers.probes import (
    FINAL,
    PARTS,
    constant_share,
    fit_probe,
    hold,
    in_bands,
    lie,
    modulations,
    r_squared,
    residual_stream,
    shares,
    told_places,
)
from helpers.training import (
    CHECKPOINTS,
    TrainSettings,
    save_checkpoint,
    train_seeds,
)

SEEDS = (0, 1, 2, 3)
STEPS = 1000
DEMONSTRATIONS = 20_000
LOOKED_AT = 2048  # chunks that a measurement averages over
TIMES = [round(0.05 * k, 2) for k in range(1, 21)]
BANDS = 12
STOPPED = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0]  # times told everywhere, at every Euler step
# What the notebook looks into itself, apart from the model of lesson 06: seed 0, in half precision.
SHIPPED = ("added", "input", "none")


def main(again=False, folder=RESULTS / "inside", seeds=SEEDS, steps=STEPS):
    """Run what is missing in `folder`. Returns the number of runs made."""
    torch.set_num_threads(1)
    scenes, actions = reach_data(DEMONSTRATIONS, seed=0)
    made = 0
    for conditioning in CONDITIONINGS:
        config = matched_config(ExpertConfig.REACH, conditioning)
        settings = TrainSettings(steps=steps)
        wanted = {
            seed: {
                "conditioning": conditioning,
                "config": asdict(config),
                "train": asdict(replace(settings, seed=seed)),
                "demonstrations": DEMONSTRATIONS,
            }
            for seed in seeds
        }
        paths = {seed: folder / f"{conditioning}_seed{seed}.json" for seed in seeds}
        missing = [s for s in seeds if again or not is_kept(paths[s], wanted[s])]
        print(f"inside: {conditioning}, {len(missing)} of {len(seeds)} seeds to run", flush=True)
        if not missing:
            continue
        start = time.monotonic()
        make = lambda config=config, kind=conditioning: ActionExpert(config, kind)  # noqa: E731
        models, _ = train_seeds(make, missing, actions, scenes.observation, settings)
        seconds = (time.monotonic() - start) / len(missing)
        for seed, model in zip(missing, models, strict=True):
            found = look_inside(model.eval())
            keep(paths[seed], wanted[seed], seconds, **found)
            made += 1
            print(f"    seed {seed}: loss {found['loss']:.4f}, success {found['success']:.3f}")
            if seed == 0 and conditioning in SHIPPED and folder == RESULTS / "inside":
                save_checkpoint(
                    CHECKPOINTS / f"inside_{conditioning}.safetensors",
                    copy.deepcopy(model).half(),
                    settings,
                    loss=found["loss"],
                    success=found["success"],
                )
    return made


@torch.no_grad()
def look_inside(model):
    """Everything that is kept about one trained model, as numbers and lists."""
    scenes, actions = reach_data(2 * LOOKED_AT, seed=1)
    observation = scenes.observation
    random = torch.Generator().manual_seed(0)
    noise = torch.randn(actions.shape, generator=random)
    fit, test = slice(0, LOOKED_AT), slice(LOOKED_AT, None)
    found = {
        "parameters": trained_parameters(model),
        "loss": validation_loss(model, actions[test], observation[test]),
        "success": success_rate(model, reach_scenes(1000, seed=2)),
        "times": TIMES,
    }

    # Can a straight line read the time off the stream?
    even = torch.rand(len(actions), generator=random) * 0.999 + 0.001
    states = residual_stream(model, interpolate(actions, noise, even), even, observation).states
    found["probe"] = []
    for features in states.mean(dim=2):
        weight, bias = fit_probe(features[fit], even[fit])
        guess = features[test].double() @ weight + bias
        found["probe"].append(r_squared(guess, even[test].double()).item())

    # How much of each band of the sideways coordinate the clean guess has right, as in lesson 05, and
    # what the stream is made of.
    truth, by_time, made_of = in_bands(actions[test])[:, :BANDS, 1], [], []
    for t in TIMES:
        time = torch.full((LOOKED_AT,), t)
        x_t = interpolate(actions[test], noise[test], time)
        guess = x_t - t * model(x_t, time, observation[test])
        by_time.append(r_squared(in_bands(guess)[:, :BANDS, 1], truth))
        some = slice(0, 512)
        stream = residual_stream(model, x_t[some], time[some], observation[test][some])
        parts = torch.cat([stream.states[:1], stream.writes])
        made_of.append(shares(parts, stream.states[-1]))
    found["bands"] = torch.stack(by_time, dim=1)  # (bands, times)
    found["band_deviation"] = truth.std(dim=0)
    found["shares"] = torch.stack(made_of, dim=1)  # (1 + layers, times)

    if model.conditioning == "none":
        return found
    # What it costs to be told another time, drawn like the real one; or the average of one part.
    drawn, wrong = (sample_time(LOOKED_AT, generator=random) for _ in range(2))

    def loss():
        velocity = lambda x_t, time: model(x_t, time, observation[test])  # noqa: E731
        return flow_loss(velocity, actions[test], noise[test], drawn).mean().item()

    found["honest"] = loss()
    places = [*told_places(model), None] if model.conditioning == "adarms" else [None]
    found["lies"] = {}
    for place in places:
        with lie(model, wrong, place):
            found["lies"][place or "everywhere"] = loss()
    if model.conditioning != "adarms":
        return found
    found["held"] = {}
    for part in PARTS:
        with hold(model, part, drawn):
            found["held"][part] = loss()
    found["stopped"], scenes = {}, reach_scenes(1000, seed=2)
    for told in STOPPED:
        with lie(model, told):
            found["stopped"][str(told)] = success_rate(model, scenes)
    told = modulations(model, torch.tensor(TIMES))
    parts = {
        part: {name: getattr(told[name], part) for name in told if part != "gate" or name != FINAL}
        for part in PARTS  # the final norm's gate opens nothing and stays zero
    }
    found["constant_share"] = {
        part: {name: constant_share(values) for name, values in by_name.items()}
        for part, by_name in parts.items()
    }
    found["rms"] = {
        part: {name: values.square().mean(dim=1).sqrt() for name, values in by_name.items()}
        for part, by_name in parts.items()
    }
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--again", action="store_true", help="run also what has results")
    main(again=parser.parse_args().again)
