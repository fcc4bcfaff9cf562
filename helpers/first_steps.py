"""Which parameters get a gradient in the first steps of training, sorted by what they are for."""

import numpy as np
import torch
from torch import nn

from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.flow import flow_loss
from helpers.norms import AdaRMSNorm
from helpers.validation import require_choice, require_count, require_kind, require_module

PARTS = (
    "block gate",
    "block scale",
    "block shift",
    "attention",
    "feed forward",
    "time MLP",
    "final scale",
    "final shift",
    "final gate",
    "action in",
    "action out",
)


def wake(model):
    """Start every modulation as torch starts a Dense, not at zero; returns the model."""
    require_module("model", model)
    for norm in model.modules():
        if isinstance(norm, AdaRMSNorm):
            norm.modulation.reset_parameters()
    return model


def _zero_head(model):
    nn.init.zeros_(model.action_out.weight)
    nn.init.zeros_(model.action_out.bias)


STARTS = {"pi0.5": lambda model: None, "zero head too": _zero_head, "nothing zero": wake}


def gradients_by_part(model):
    """Root mean square of the gradients of an `ActionExpert` with adaRMS -> dict from `PARTS` to float.

    A modulation is split into its thirds; those of all blocks are taken together.
    """
    require_kind("model", model, ActionExpert)
    if model.conditioning != "adarms":
        raise ValueError(f'model must have conditioning "adarms", got {model.conditioning!r}')
    if any(parameter.grad is None for parameter in model.parameters()):
        raise ValueError("model must hold gradients: call backward() on a loss first, got None")
    found = {part: [] for part in PARTS}
    for name, parameter in model.named_parameters():
        if "modulation" in name:
            where = "final" if "final_norm" in name else "block"
            for third, part in zip(
                ("scale", "shift", "gate"), parameter.grad.chunk(3), strict=True
            ):
                found[f"{where} {third}"].append(part.flatten())
        else:
            plain = name.replace("_", " ").replace("time mlp", "time MLP")
            (part,) = (part for part in PARTS if part in plain)
            found[part].append(parameter.grad.flatten())
    return {part: float(torch.cat(some).square().mean().sqrt()) for part, some in found.items()}


def gradients(start, config, steps=4, seed=0):
    """Train from one of `STARTS` on made-up actions -> (parts, steps) array of gradient sizes."""
    require_choice("start", start, STARTS)
    require_kind("config", config, ExpertConfig)
    require_count("steps", steps)
    require_count("seed", seed, least=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ActionExpert(config, "adarms")
        STARTS[start](model)
    random = torch.Generator().manual_seed(seed)
    optimizer, columns = torch.optim.Adam(model.parameters(), lr=1e-3), []
    for _ in range(steps):
        actions = torch.randn(64, config.horizon, config.action_dim, generator=random) + 1
        optimizer.zero_grad()
        flow_loss(model, actions, generator=random).mean().backward()
        columns.append(list(gradients_by_part(model).values()))
        optimizer.step()
    return np.array(columns).T
