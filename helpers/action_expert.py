"""The action expert of pi0.5 and pi0, at any size, and the joint attention with its prefix.

From openpi, src/openpi/models/pi0.py and gemma.py (Physical Intelligence, 2025). Time 1 is noise.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import nn

from helpers.blocks import (
    AdaRMSBlock,
    Attention,
    GatedFeedForward,
    PreNormBlock,
    attention_mask,
    token_positions,
)
from helpers.embeddings import ActionTimeMLP, TimeMLP
from helpers.norms import AdaRMSNorm, RMSNorm
from helpers.validation import (
    require_bool,
    require_choice,
    require_count,
    require_even,
    require_heads,
    require_integers,
    require_kind,
    require_shape,
    require_tensor,
    require_time,
)

CONDITIONINGS = {
    "adarms": "pi0.5: every norm of every layer is told the time",
    "input": "pi0: the time is joined to each action token and goes through a small MLP, once",
    "added": "the time is added to each action token, once",
    "added_gated": "as added, and each branch has a constant gate that starts at zero",
    "none": "the network is never told the time",
}


@dataclass(frozen=True)
class ExpertConfig:
    """Sizes. A chunk is `horizon` actions of `action_dim` numbers; observation_dim 0 means none.

    With one_token=True the whole chunk and its observation are one token, and no layer has attention.
    """

    width: int
    depth: int
    mlp_width: int
    num_heads: int = 1  # with num_kv_heads and head_dim: for attention only
    num_kv_heads: int = 1
    head_dim: int = 2
    action_dim: int = 2
    horizon: int = 16
    observation_dim: int = 0
    one_token: bool = False

    # The reach task with attention (trains in half a minute on a CPU), the same as one token (in a
    # quarter of a minute), and pi0.5's own size.
    TINY: ClassVar["ExpertConfig"]
    REACH: ClassVar["ExpertConfig"]
    GEMMA_300M: ClassVar["ExpertConfig"]

    def __post_init__(self):
        require_even("width", self.width)  # half sines, half cosines
        for name in ("depth", "mlp_width", "action_dim", "horizon"):
            require_count(name, getattr(self, name))
        require_heads(self.num_heads, self.num_kv_heads, self.head_dim)
        require_count("observation_dim", self.observation_dim, least=0)
        require_bool("one_token", self.one_token)


ExpertConfig.TINY = ExpertConfig(
    width=32, depth=4, mlp_width=64, num_heads=2, head_dim=16, observation_dim=4
)
ExpertConfig.REACH = ExpertConfig(
    width=64, depth=4, mlp_width=128, observation_dim=4, one_token=True
)
ExpertConfig.GEMMA_300M = ExpertConfig(
    width=1024,
    depth=18,
    mlp_width=4096,
    num_heads=8,
    num_kv_heads=1,
    head_dim=256,
    action_dim=32,
    horizon=50,
)


class Transformer(nn.Module):
    """`depth` blocks and a final norm: adaRMS blocks for "adarms", plain Pre-Norm blocks otherwise."""

    def __init__(self, config, conditioning):
        super().__init__()
        require_kind("config", config, ExpertConfig)
        self.blocks = nn.ModuleList(make_block(config, conditioning) for _ in range(config.depth))
        if conditioning == "adarms":
            self.final_norm = AdaRMSNorm(config.width, config.width)
        else:
            self.final_norm = RMSNorm(config.width)

    def forward(self, tokens, cond=None, positions=None, mask=None, past=None):
        """tokens (batch, tokens, width) -> the same. past: for each layer, a prefix's keys and values."""
        require_tensor("tokens", tokens, ndim=3, width=self.final_norm.width)
        past = [None] * len(self.blocks) if past is None else past
        if not isinstance(past, (list, tuple)) or len(past) != len(self.blocks):
            raise ValueError(
                f"past must be a list with one entry for each of {len(self.blocks)} layers, "
                f"got {len(past) if hasattr(past, '__len__') else type(past).__name__}"
            )
        for block, layer_past in zip(self.blocks, past, strict=True):
            tokens = block(tokens, cond, positions, mask, layer_past)
        if isinstance(self.final_norm, AdaRMSNorm):
            # Nothing is left for the gate to open: a third of this Dense never gets a gradient.
            normed, _ = self.final_norm(tokens, cond)
            return normed
        return self.final_norm(tokens)


def make_block(config, conditioning):
    """One layer of the kind that `conditioning` asks for."""
    require_kind("config", config, ExpertConfig)
    require_choice("conditioning", conditioning, CONDITIONINGS)
    attention = None
    if not config.one_token:
        attention = Attention(config.width, config.num_heads, config.num_kv_heads, config.head_dim)
    feed_forward = GatedFeedForward(config.width, config.mlp_width)
    if conditioning == "adarms":
        return AdaRMSBlock(config.width, config.width, attention, feed_forward)
    return PreNormBlock(config.width, attention, feed_forward, gated=conditioning == "added_gated")


class Suffix(NamedTuple):
    """What enters the transformer: tokens, which of them are real, where attention blocks start, cond."""

    tokens: torch.Tensor  # (batch, tokens, width)
    input_mask: torch.Tensor  # (batch, tokens), booleans
    block_starts: torch.Tensor  # (tokens,), booleans
    cond: torch.Tensor | None  # (batch, width), for "adarms"


class ActionExpert(nn.Module):
    """A velocity network v_t(x_t, time, observation). `conditioning` is one of `CONDITIONINGS`."""

    def __init__(self, config, conditioning="adarms"):
        super().__init__()
        require_kind("config", config, ExpertConfig)
        require_choice("conditioning", conditioning, CONDITIONINGS)
        self.config, self.conditioning = config, conditioning
        width, per_token = config.width, config.action_dim
        if config.one_token:
            per_token = config.horizon * config.action_dim
            self.action_in = nn.Linear(per_token + config.observation_dim, width)
        else:
            self.action_in = nn.Linear(per_token, width)
            if config.observation_dim:
                self.observation_in = nn.Linear(config.observation_dim, width)
        if conditioning == "input":
            self.time_mlp = ActionTimeMLP(width)
        elif conditioning != "none":
            self.time_mlp = TimeMLP(width)
        self.transformer = Transformer(config, conditioning)
        self.action_out = nn.Linear(width, per_token)

    def forward(self, x_t, time, observation=None):
        """x_t (batch, horizon, action_dim), time (batch,) -> v_t like x_t.

        observation (batch, observation_dim), or None where the config has observation_dim 0.
        """
        suffix = self.embed_suffix(x_t, time, observation)
        mask = attention_mask(suffix.input_mask, suffix.block_starts)
        return self.read_actions(self.transformer(suffix.tokens, suffix.cond, mask=mask))

    def embed_suffix(self, x_t, time, observation=None):
        """The only place where the five conditionings differ, save the blocks they use -> `Suffix`."""
        self._check(x_t, time, observation)
        one_token = self.config.one_token
        if one_token:
            parts = [x_t.flatten(1)] if observation is None else [x_t.flatten(1), observation]
            tokens = self.action_in(torch.cat(parts, dim=-1))[:, None]
        else:
            tokens = self.action_in(x_t)

        cond = None
        if self.conditioning == "adarms":
            cond = self.time_mlp(time)
        elif self.conditioning == "input":
            tokens = self.time_mlp(tokens, time)
        elif self.conditioning in ("added", "added_gated"):
            tokens = tokens + self.time_mlp(time)[:, None]

        # The actions are one block; an observation token before them is a block of its own.
        starts = [True] + [False] * (tokens.shape[1] - 1)
        if observation is not None and not one_token:
            tokens = torch.cat([self.observation_in(observation)[:, None], tokens], dim=1)
            starts = [True, *starts]
        input_mask = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
        return Suffix(tokens, input_mask, torch.tensor(starts, device=tokens.device), cond)

    def read_actions(self, suffix_out):
        """The transformer's output (batch, tokens, width) -> v_t (batch, horizon, action_dim)."""
        config = self.config
        require_tensor("suffix_out", suffix_out, ndim=3, width=config.width)
        last = 1 if config.one_token else config.horizon
        v_t = self.action_out(suffix_out[:, -last:])
        return v_t.reshape(len(v_t), config.horizon, config.action_dim)

    def _check(self, x_t, time, observation):
        config = self.config
        require_tensor("x_t", x_t, ndim=3)
        require_shape("x_t", x_t, (len(x_t), config.horizon, config.action_dim))
        require_time("time", time, batch=len(x_t))
        if config.observation_dim == 0 and observation is not None:
            raise ValueError("observation must be None: this config has observation_dim 0")
        if config.observation_dim:
            require_shape("observation", observation, (len(x_t), config.observation_dim))


class PrefixCache(NamedTuple):
    """What the actions need to know of the prefix, computed once for all Euler steps."""

    keys_and_values: list  # a pair of (batch, tokens, kv_heads, head_dim) for each layer
    input_mask: torch.Tensor  # (batch, tokens)


class TwoExpertTransformer(nn.Module):
    """pi0.5's joint attention: prefix tokens (image, words) and action tokens of another width.

    Both experts have their own weights; in each layer the action tokens also attend to the prefix's
    keys and values. The prefix never looks at the actions, so one joint pass and "prefix first, then
    actions" are the same computation, and the prefix is done once for all Euler steps.
    """

    def __init__(self, prefix_config, action_config, conditioning="adarms"):
        super().__init__()
        require_kind("prefix_config", prefix_config, ExpertConfig)
        require_kind("action_config", action_config, ExpertConfig)
        if prefix_config.one_token or action_config.one_token:
            raise ValueError("one_token must be False for both experts: they meet in attention")
        for name in ("depth", "num_heads", "num_kv_heads", "head_dim"):
            ours, theirs = getattr(prefix_config, name), getattr(action_config, name)
            if ours != theirs:
                raise ValueError(
                    f"{name} must be the same for both experts, got prefix {ours} and action {theirs}"
                )
        self.prefix = Transformer(prefix_config, "none")
        self.action_expert = ActionExpert(action_config, conditioning)

    def forward(self, prefix_tokens, prefix_mask, x_t, time, observation=None):
        """prefix_tokens (batch, tokens, prefix width), prefix_mask (batch, tokens) -> v_t like x_t."""
        cache = self.encode_prefix(prefix_tokens, prefix_mask)
        return self.velocity(cache, x_t, time, observation)

    def velocity(self, cache, x_t, time, observation=None):
        """v_t with the prefix already encoded."""
        require_kind("cache", cache, PrefixCache)
        suffix = self.action_expert.embed_suffix(x_t, time, observation)
        if len(x_t) != len(cache.input_mask):
            raise ValueError(
                f"x_t must have the prefix's batch {len(cache.input_mask)}, got {len(x_t)}"
            )
        return self.action_expert.read_actions(self.attend_to_prefix(cache, suffix))

    def encode_prefix(self, prefix_tokens, prefix_mask):
        """Keys and values of every layer, for tokens that all see each other -> `PrefixCache`."""
        require_tensor("prefix_tokens", prefix_tokens, ndim=3, width=self.prefix.final_norm.width)
        require_integers("prefix_mask", prefix_mask, ndims=(2,))
        if prefix_mask.shape != prefix_tokens.shape[:2]:
            raise ValueError(
                f"prefix_mask must have shape {tuple(prefix_tokens.shape[:2])}, "
                f"got {tuple(prefix_mask.shape)}"
            )
        mask = attention_mask(prefix_mask, prefix_mask.new_zeros(prefix_mask.shape[1]))
        positions = token_positions(prefix_mask)
        keys_and_values = []
        for block in self.prefix.blocks:
            normed = block.attention_norm(prefix_tokens)
            keys_and_values.append(block.attention.keys_and_values(normed, positions))
            prefix_tokens = block(prefix_tokens, positions=positions, mask=mask)
        return PrefixCache(keys_and_values, prefix_mask)

    def attend_to_prefix(self, cache, suffix):
        """The action expert's transformer with the prefix in view -> (batch, suffix tokens, width)."""
        require_kind("cache", cache, PrefixCache)
        mask, positions = joint_mask_and_positions(cache.input_mask, suffix)
        first = cache.input_mask.shape[1]
        return self.action_expert.transformer(
            suffix.tokens,
            suffix.cond,
            positions[:, first:],
            mask[:, first:],
            cache.keys_and_values,
        )


def joint_mask_and_positions(prefix_mask, suffix):
    """Mask (batch, all, all) and positions (batch, all) of prefix and suffix together."""
    require_integers("prefix_mask", prefix_mask, ndims=(2,))
    require_kind("suffix", suffix, Suffix)
    if len(prefix_mask) != len(suffix.input_mask):
        raise ValueError(
            f"prefix_mask must have the suffix's batch {len(suffix.input_mask)}, got {len(prefix_mask)}"
        )
    input_mask = torch.cat([prefix_mask.bool(), suffix.input_mask], dim=1)
    prefix_starts = suffix.block_starts.new_zeros(prefix_mask.shape[1])
    block_starts = torch.cat([prefix_starts, suffix.block_starts])
    return attention_mask(input_mask, block_starts), token_positions(input_mask)
