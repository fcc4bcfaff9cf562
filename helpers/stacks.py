"""Stacks of random layers that differ in one thing: where the norms are placed.

Two stacks of the same seed hold the same branches (attention and feed-forward, weights from
N(0, 1/inputs)), so a difference between them comes from the norms alone.
"""

import torch
from torch import nn

from helpers.blocks import (
    AdaRMSBlock,
    Attention,
    FeedForward,
    GatedFeedForward,
    PostNormBlock,
    PreNormBlock,
)
from helpers.norms import rms_norm
from helpers.validation import require_choice, require_count, require_number

PLACEMENTS = ("pre", "post", "none", "ada", "peri")
FEED_FORWARDS = {"GELU": FeedForward, "gated GELU": GatedFeedForward}


def random_stack(
    placement,
    depth,
    *,
    feed_forward="GELU",
    width=64,
    num_heads=4,
    mlp_width=256,
    strength=1.0,
    seed=0,
):
    """`depth` layers, each a function of hidden_states (batch, tokens, width) to the same shape.

    Args:
        placement: "pre" x + F(norm(x)), "post" norm(x + F(x)), "none" x + F(x), "ada" an adaRMS layer at
            its start (gates zero), "peri" x + norm(F(norm(x))), as Gemma 2 has it.
        feed_forward: "GELU" or "gated GELU".
        strength: what every branch is multiplied by; 0 switches all branches off.
        seed: of the weights; torch's own random numbers are left as they were.

    Returns:
        `nn.ModuleList` of float64 layers: the singular values of a deep stack span more than float32 holds.
    """
    require_choice("placement", placement, PLACEMENTS)
    require_choice("feed_forward", feed_forward, FEED_FORWARDS)
    require_count("depth", depth)
    require_number("strength", strength, least=0)
    require_count("seed", seed, least=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        branches = [
            (Attention(width, num_heads), FEED_FORWARDS[feed_forward](width, mlp_width))
            for _ in range(depth)
        ]
    for attention, mlp in branches:
        attention.output.weight.data.mul_(strength)
        mlp.down.weight.data.mul_(strength)
    stack = nn.ModuleList(_layer(placement, width, *branch) for branch in branches)
    return stack.double().requires_grad_(False)


def _layer(placement, width, attention, feed_forward):
    if placement == "post":
        return PostNormBlock(width, attention, feed_forward)
    if placement == "ada":
        return _WithCondition(AdaRMSBlock(width, width, attention, feed_forward), width)
    if placement == "peri":
        attention, feed_forward = _NormAfter(attention), _NormAfter(feed_forward)
    layer = PreNormBlock(width, attention, feed_forward)
    if placement == "none":
        layer.attention_norm = layer.feed_forward_norm = nn.Identity()
    return layer


class _NormAfter(nn.Module):
    """A branch whose result is normalised before it is added to the trunk."""

    def __init__(self, branch):
        super().__init__()
        self.branch = branch

    def forward(self, *inputs):
        return rms_norm(self.branch(*inputs))


class _WithCondition(nn.Module):
    """An adaRMS layer with one fixed condition, so that it is a function of hidden_states alone."""

    def __init__(self, layer, cond_dim):
        super().__init__()
        self.layer = layer
        self.register_buffer("cond", torch.linspace(-1, 1, cond_dim))

    def forward(self, hidden_states):
        return self.layer(hidden_states, self.cond.expand(hidden_states.shape[0], -1))
