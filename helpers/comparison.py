"""Does telling every layer the time help? The models that are compared, and what the seeds allow to say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch

from helpers.action_expert import CONDITIONINGS, ActionExpert, ExpertConfig
from helpers.data import reach_demonstrations, reach_scenes
from helpers.training import count_parameters
from helpers.validation import (
    require_choice,
    require_kind,
    require_list,
    require_number,
    require_path,
)

RESULTS = Path(__file__).resolve().parent.parent / "experiments" / "results" / "comparison"
NAMES = {
    "adarms": "adaRMS: time in every layer",
    "added_gated": "added once, with gates",
    "added": "added once",
    "input": "pi0's input MLP",
    "none": "never told the time",
}

# Student's t: 95% of its mass lies within this of 0, by the number of seeds.
STUDENT_T = {
    2: 12.706,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}


def trained_parameters(model):
    """How many parameters training can move: all but the gate that adaRMS's final norm does not use."""
    require_kind("model", model, ActionExpert)
    unused = 0
    if model.conditioning == "adarms":
        norm = model.transformer.final_norm
        unused = norm.width * (norm.cond_dim + 1)
    return count_parameters(model) - unused


def matched_config(config, conditioning):
    """`config` with the feed-forward width that gives as many trained parameters as adaRMS has in it."""
    require_kind("config", config, ExpertConfig)
    require_choice("conditioning", conditioning, CONDITIONINGS)
    wanted = _parameters(config, "adarms")
    least = _parameters(replace(config, mlp_width=1), conditioning)
    per_unit = _parameters(replace(config, mlp_width=2), conditioning) - least
    return replace(config, mlp_width=1 + max(0, round((wanted - least) / per_unit)))


def _parameters(config, conditioning):
    with torch.device("meta"):
        return trained_parameters(ActionExpert(config, conditioning))


def reach_data(n, seed):
    """(scene, actions): n scenes of "reach" and a demonstration for each."""
    scene = reach_scenes(n, seed)
    return scene, reach_demonstrations(scene, seed)


class Difference(NamedTuple):
    """Mean of paired differences, and its 95% interval."""

    mean: float
    half_width: float

    @property
    def low(self):
        return self.mean - self.half_width

    @property
    def high(self):
        return self.mean + self.half_width

    @property
    def resolved(self):
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0

    @property
    def at_most(self):
        """How large the effect may still be, in size: the end of the interval that is farther from zero."""
        return max(abs(self.low), abs(self.high))

    def __str__(self):
        return f"{self.mean:+.4f} ± {self.half_width:.4f}"


def paired_difference(ours, theirs):
    """ours - theirs, seed by seed: its mean with a 95% t-interval -> `Difference`.

    Pairing takes out what both share: the same seed draws the same batches, noise and times for both.
    """
    require_list("ours", ours, require_number, least=0)
    require_list("theirs", theirs, require_number, least=0)
    if len(ours) != len(theirs):
        raise ValueError(
            f"ours and theirs must be paired by seed, got {len(ours)} and {len(theirs)}"
        )
    if len(ours) not in STUDENT_T:
        raise ValueError(
            f"ours and theirs must hold 2 to {max(STUDENT_T)} seeds each, got {len(ours)}"
        )
    difference = torch.tensor(ours, dtype=torch.float64) - torch.tensor(theirs, dtype=torch.float64)
    error = difference.std().item() / len(ours) ** 0.5
    return Difference(difference.mean().item(), STUDENT_T[len(ours)] * error)


def shipped_results(folder=RESULTS):
    """The runs of `make experiments`: {name: run}, the name as in `experiments.comparison`.

    A run is a dict with seeds, parameters, validation_loss, loss_by_time, success, settings, versions and
    seconds.

    Raises:
        FileNotFoundError: there are none.
    """
    require_path("folder", folder)
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise FileNotFoundError(f"no results in {folder}: run `make experiments`")
    return {path.stem: json.loads(path.read_text()) for path in paths}
