"""A training race between placements of the norms: who learns to sort, 24 layers deep?

The task: eight numbers come in, the same numbers are to come out in rising order. All runs of one seed see
the same numbers and start from the same branches.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm

from helpers.blocks import Attention, FeedForward, PostNormBlock, PreNormBlock
from helpers.interrupts import Interrupt
from helpers.norms import RMSNorm
from helpers.validation import (
    require_callable,
    require_choice,
    require_count,
    require_integers,
    require_kind,
    require_list,
    require_number,
    require_path,
)

VARIANTS = {
    "pre": "Pre-Norm",
    "post": "Post-Norm",
    "gate": "Pre-Norm with zero-init gates",
    "post_small": "Post-Norm, outputs / sqrt(2L)",
    "post_warm": "Post-Norm, warm-up and clipping",
}
RESULTS = Path(__file__).resolve().parent.parent / "experiments" / "results" / "race"
WARM_UP = 0.4  # share of the steps in which `post_warm` raises its learning rate
CLIP = 1.0  # largest gradient norm of `post_warm`


@dataclass(frozen=True)
class RaceConfig:
    """What all runs of a race share."""

    depth: int = 24
    width: int = 32
    num_heads: int = 2
    mlp_width: int = 64
    numbers: int = 8  # to be sorted: one token each
    vocabulary: int = 16  # they lie between 0 and this, exclusive
    batch: int = 64
    steps: int = 250
    learning_rate: float = 1e-3

    def __post_init__(self):
        for name, value in asdict(self).items():
            if name != "learning_rate":
                require_count(name, value)
        require_number("learning_rate", self.learning_rate, above=0)


class Sorter(nn.Module):
    """Embeds numbers (batch, tokens), runs the layers, and gives logits (batch, tokens, vocabulary)."""

    def __init__(self, variant, config):
        super().__init__()
        require_choice("variant", variant, VARIANTS)
        require_kind("config", config, RaceConfig)
        self.numbers = config.numbers
        width = config.width
        self.embed = nn.Embedding(config.vocabulary, width)
        self.position = nn.Parameter(torch.randn(config.numbers, width))
        self.layers = nn.ModuleList()
        for _ in range(config.depth):
            branches = (Attention(width, config.num_heads), FeedForward(width, config.mlp_width))
            if variant in ("pre", "gate"):
                self.layers.append(PreNormBlock(width, *branches, gated=variant == "gate"))
            else:
                self.layers.append(PostNormBlock(width, *branches))
            if variant == "post_small":
                for weight in (branches[0].output.weight, branches[1].down.weight):
                    weight.data /= (2 * config.depth) ** 0.5
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, config.vocabulary)

    def forward(self, numbers):
        require_integers("numbers", numbers, ndims=(2,))
        if numbers.shape[1] != self.numbers:
            raise ValueError(f"numbers must be (batch, {self.numbers}), got {tuple(numbers.shape)}")
        hidden_states = self.embed(numbers) + self.position
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return self.head(self.norm(hidden_states))


class Run:
    """One sorter in training.

    Attributes:
        variant, config, seed: as given.
        result: dict of lists, one entry a step: loss, accuracy (share of numbers put into the right place,
            on a fresh batch, before it is learned from), gradient_first and gradient_last (gradient norm of
            all weights of the first and of the last layer).
    """

    def __init__(self, variant, config=None, seed=0):
        require_count("seed", seed, least=0)
        config = RaceConfig() if config is None else config
        self.variant, self.config, self.seed = variant, config, seed
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = Sorter(variant, self.config)
        self.data = torch.Generator().manual_seed(seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.config.learning_rate)
        self.result = {"loss": [], "accuracy": [], "gradient_first": [], "gradient_last": []}

    def step(self):
        """One step of Adam on a fresh batch."""
        numbers, wanted = _batch(self.config, self.config.batch, self.data)
        logits = self.model(numbers)
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        found = {
            "loss": loss.item(),
            "accuracy": _accuracy(logits, wanted),
            "gradient_first": _gradient_norm(self.model.layers[0]),
            "gradient_last": _gradient_norm(self.model.layers[-1]),
        }
        for name, value in found.items():  # together, so that a stop leaves lists of one length
            self.result[name].append(value)
        if self.variant == "post_warm":
            nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
            warm = min(1.0, len(self.result["loss"]) / (WARM_UP * self.config.steps))
            self.optimizer.param_groups[0]["lr"] = warm * self.config.learning_rate
        self.optimizer.step()

    @torch.no_grad()
    def final_accuracy(self):
        """Share of numbers put into the right place, on 1,024 fresh sequences."""
        numbers, wanted = _batch(self.config, 1024, self.data)
        return _accuracy(self.model(numbers), wanted)


def race(runs, on_step=None):
    """Train all runs side by side, step by step; on_step(step) is called after each step of all.

    Shows a progress bar. An interrupt (■ in a notebook, Ctrl-C elsewhere) is raised when the step that is
    under way is done, so that all runs have got equally far; called again, it goes on from there.
    """
    require_list("runs", runs, lambda name, run: require_kind(name, run, Run))
    if on_step is not None:
        require_callable("on_step", on_step)
    quiet = os.environ.get("HELPERS_STILL") == "1"
    steps = range(len(runs[0].result["loss"]), runs[0].config.steps)
    with Interrupt() as interrupt:
        for step in tqdm(steps, desc="race", leave=False, disable=quiet):
            for run in runs:
                run.step()
            if on_step is not None:
                on_step(step + 1)
            if interrupt.came:
                raise KeyboardInterrupt(f"after {step + 1} of {steps.stop} steps")


def shipped_results(folder=RESULTS):
    """The runs of `make experiments`, a dict each: variant, seed, settings, versions, seconds, results.

    Raises FileNotFoundError where there are none.
    """
    require_path("folder", folder)
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise FileNotFoundError(f"no results in {folder}: run `make experiments`")
    return [json.loads(path.read_text()) for path in paths]


def settings(run):
    """What identifies a run, for its file."""
    require_kind("run", run, Run)
    return {"variant": run.variant, "seed": run.seed, "settings": asdict(run.config)}


def _batch(config, size, generator):
    shape = (size, config.numbers)
    numbers = torch.randint(config.vocabulary, shape, generator=generator)
    return numbers, numbers.sort(dim=-1).values


def _accuracy(logits, wanted):
    return (logits.argmax(-1) == wanted).float().mean().item()


def _gradient_norm(module):
    squares = [p.grad.square().sum() for p in module.parameters() if p.grad is not None]
    return torch.stack(squares).sum().sqrt().item()
