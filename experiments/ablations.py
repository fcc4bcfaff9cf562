"""What adaRMS loses without each of its parts: seven versions, four seeds each, trained alike.

    python -m experiments.ablations            runs what is missing, one file a run
    python -m experiments.ablations --again    runs all

A version starts from the full model's weights of the same seed and sees the same batches, noise and times.
A part left out stays at its neutral value (scale 0, shift 0, gate 1); nothing is put in its place, so the
versions have fewer weights in use. The four seeds are trained side by side.
"""

import argparse
import time
from dataclasses import asdict, replace

import torch

from experiments.records import RESULTS, is_kept, keep
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import reach_data
from helpers.data import reach_scenes
from helpers.evaluation import success_rate, validation_loss
from helpers.norms import AdaRMSNorm, layer_norm, modulate
from helpers.training import TrainSettings, train_seeds

SEEDS = (0, 1, 2, 3)
STEPS = 1000
DEMONSTRATIONS = 20_000


class PartialNorm(AdaRMSNorm):
    """An AdaRMSNorm that uses only some of its three parts."""

    def __init__(self, width, cond_dim, parts, one_plus_gate=False):
        super().__init__(width, cond_dim)
        self.parts, self.one_plus_gate = parts, one_plus_gate

    def scale_shift_gate(self, hidden_states, cond):
        scale, shift, gate = super().scale_shift_gate(hidden_states, cond)
        scale = scale if "scale" in self.parts else torch.zeros_like(scale)
        shift = shift if "shift" in self.parts else torch.zeros_like(shift)
        gate = gate if "gate" in self.parts else torch.ones_like(gate)
        return scale, shift, 1 + gate if self.one_plus_gate else gate


class AdaLayerNorm(AdaRMSNorm):
    """AdaRMSNorm with LayerNorm's statistics."""

    def forward(self, hidden_states, cond):
        scale, shift, gate = self.scale_shift_gate(hidden_states, cond)
        return modulate(layer_norm(hidden_states, self.eps), scale, shift), gate


class RandomStart(AdaRMSNorm):
    """AdaRMSNorm whose Dense starts like any other, not from zero."""

    def reset_parameters(self):
        self.modulation.reset_parameters()


# From (width, cond_dim) to a norm, in the order of the table.
VERSIONS = {
    "full": AdaRMSNorm,
    "scale_only": lambda *sizes: PartialNorm(*sizes, ("scale",)),
    "shift_only": lambda *sizes: PartialNorm(*sizes, ("shift",)),
    "gate_only": lambda *sizes: PartialNorm(*sizes, ("gate",)),
    "one_plus_gate": lambda *sizes: PartialNorm(*sizes, ("scale", "shift", "gate"), True),
    "no_zero_init": RandomStart,
    "layer_norm": AdaLayerNorm,
}


def make_model(version, config=ExpertConfig.REACH):
    """An adaRMS model whose norms are of this version; all other weights are the full model's."""
    model = ActionExpert(config, "adarms")
    make_norm = VERSIONS[version]
    for block in model.transformer.blocks:
        block.feed_forward_norm = make_norm(config.width, config.width)
    model.transformer.final_norm = make_norm(config.width, config.width)
    return model


def main(again=False, folder=RESULTS / "ablations", seeds=SEEDS, steps=STEPS):
    """Run what is missing in `folder`. Returns the number of runs made."""
    torch.set_num_threads(1)
    scenes, actions = reach_data(DEMONSTRATIONS, seed=0)
    held_out, held_out_actions = reach_data(2048, seed=1)
    sampled = reach_scenes(1000, seed=2)
    settings, made = TrainSettings(steps=steps), 0
    for version in VERSIONS:
        wanted = {
            seed: {
                "version": version,
                "config": asdict(ExpertConfig.REACH),
                "train": asdict(replace(settings, seed=seed)),
                "demonstrations": DEMONSTRATIONS,
            }
            for seed in seeds
        }
        paths = {seed: folder / f"{version}_seed{seed}.json" for seed in seeds}
        missing = [s for s in seeds if again or not is_kept(paths[s], wanted[s])]
        print(f"ablations: {version}, {len(missing)} of {len(seeds)} seeds to run", flush=True)
        if not missing:
            continue
        start = time.monotonic()
        models, _ = train_seeds(
            lambda v=version: make_model(v), missing, actions, scenes.observation, settings
        )
        seconds = (time.monotonic() - start) / len(missing)
        for seed, model in zip(missing, models, strict=True):
            loss = validation_loss(model, held_out_actions, held_out.observation)
            success = success_rate(model, sampled)
            keep(paths[seed], wanted[seed], seconds, loss=loss, success=success)
            made += 1
            print(f"    seed {seed}: loss {loss:.4f}, success {success:.3f}", flush=True)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--again", action="store_true", help="run also what has results")
    main(again=parser.parse_args().again)
