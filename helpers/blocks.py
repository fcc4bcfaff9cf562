"""One Transformer layer: attention, feed-forward, and three ways to place the norms round them.

Dense layers inside a block have no bias and start from N(0, 1/inputs), as in openpi,
src/openpi/models/gemma.py. Attention is written out: torch's fused attention cannot be differentiated
forward (`torch.func.jacfwd`), and these lines are meant to be read.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from helpers.norms import AdaRMSNorm, RMSNorm, gated_residual
from helpers.validation import (
    require_bool,
    require_callable,
    require_count,
    require_heads,
    require_integers,
    require_module,
    require_number,
    require_tensor,
)


def attention_mask(input_mask, block_starts):
    """Who may look at whom: mask[b, i, j] is true where token i sees token j.

    input_mask (batch, tokens), false for padding. block_starts (tokens,) or (batch, tokens): 1 where a
    new block begins, else 0. A token sees its own block and all earlier ones. Returns booleans,
    (batch, tokens, tokens). openpi, src/openpi/models/pi0.py, `make_attn_mask`.
    """
    require_integers("input_mask", input_mask, ndims=(2,))
    require_integers("block_starts", block_starts, ndims=(1, 2))
    if block_starts.shape not in (input_mask.shape, input_mask.shape[1:]):
        raise ValueError(
            f"block_starts must be (tokens,) or (batch, tokens) as input_mask {tuple(input_mask.shape)}, "
            f"got {tuple(block_starts.shape)}"
        )
    block = block_starts.long().cumsum(-1).expand(input_mask.shape)
    real = input_mask.bool()
    not_later = block[:, None, :] <= block[:, :, None]
    return not_later & real[:, None, :] & real[:, :, None]


def token_positions(input_mask):
    """Position of each token among the real ones, (batch, tokens) integers: padding does not count."""
    require_integers("input_mask", input_mask, ndims=(2,))
    return input_mask.long().cumsum(-1) - 1


def apply_rope(x, positions, max_wavelength=10_000):
    """Turn each pair (x[i], x[i + head_dim/2]) by the angle positions / max_wavelength**(2i/head_dim).

    x (batch, tokens, heads, head_dim), positions (tokens,) or (batch, tokens). Computed in float32,
    returned in x's dtype. Su et al. (2021), "RoFormer"; split in halves as in openpi's `_apply_rope`.
    """
    require_tensor("x", x, ndim=4)
    batch, tokens, _, head_dim = x.shape
    if head_dim % 2:
        raise ValueError(f"x must have an even head_dim (its last dimension), got {head_dim}")
    require_number("max_wavelength", max_wavelength, above=0)
    require_integers("positions", positions, ndims=(1, 2))
    if positions.shape not in ((tokens,), (1, tokens), (batch, tokens)):
        raise ValueError(
            f"positions must be ({tokens},) or ({batch}, {tokens}) as in x, got {tuple(positions.shape)}"
        )
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    exponents = torch.arange(0, head_dim, 2, device=x.device, dtype=wide.dtype) / head_dim
    angle = positions.to(wide.dtype)[..., None, None] / max_wavelength**exponents
    first, second = wide.chunk(2, dim=-1)
    turned = (
        first * angle.cos() - second * angle.sin(),
        second * angle.cos() + first * angle.sin(),
    )
    return torch.cat(turned, dim=-1).to(x.dtype)


def attention_weights(queries, keys, mask=None):
    """softmax(queries . keys / sqrt(head_dim)) over the keys, in float32: (batch, heads, queries, keys).

    queries (batch, tokens, heads, head_dim); keys may have fewer heads: each then serves a group of
    query heads. mask (batch, queries, keys), true where a query may look.
    """
    require_tensor("queries", queries, ndim=4)
    require_tensor("keys", keys, ndim=4, width=queries.shape[-1])
    batch, tokens, heads, head_dim = queries.shape
    if keys.shape[0] != batch or heads % keys.shape[2]:
        raise ValueError(
            f"keys of shape {tuple(keys.shape)} do not fit queries of shape {tuple(queries.shape)}: "
            "the same batch, and a number of heads that divides theirs"
        )
    keys = keys.repeat_interleave(heads // keys.shape[2], dim=2)
    logits = torch.einsum("bqhd,bkhd->bhqk", queries, keys) * head_dim**-0.5
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if mask is not None:
        require_integers("mask", mask, ndims=(3,))
        if mask.shape != (batch, tokens, keys.shape[1]):
            raise ValueError(
                f"mask must have shape {(batch, tokens, keys.shape[1])}, got {tuple(mask.shape)}"
            )
        # Not -inf: a query that may look at nothing (padding) would become NaN.
        logits = logits.masked_fill(~mask.bool()[:, None], torch.finfo(logits.dtype).min)
    return logits.softmax(dim=-1)


class Attention(nn.Module):
    """Multi-head attention with RoPE; `num_kv_heads` key and value heads shared by groups of heads."""

    def __init__(self, width, num_heads, num_kv_heads=None, head_dim=None):
        super().__init__()
        require_count("width", width)
        require_count("num_heads", num_heads)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        head_dim = width // num_heads if head_dim is None else head_dim
        require_heads(num_heads, num_kv_heads, head_dim)
        self.width, self.head_dim = width, head_dim
        self.query = _dense(width, num_heads * head_dim)
        self.key = _dense(width, num_kv_heads * head_dim)
        self.value = _dense(width, num_kv_heads * head_dim)
        self.output = _dense(num_heads * head_dim, width)

    def forward(self, hidden_states, positions=None, mask=None, past=None):
        """hidden_states (batch, tokens, width) -> the same shape.

        positions (tokens,) or (batch, tokens), by default 0, 1, 2, ...; mask (batch, tokens, keys), true
        where a token may look; past: (keys, values) of earlier tokens, put before those of these.
        """
        keys, values = self.keys_and_values(hidden_states, positions)
        if past is not None:
            _require_past(past, keys)
            keys = torch.cat([past[0], keys], dim=1)
            values = torch.cat([past[1], values], dim=1)
        weights = attention_weights(self.queries(hidden_states, positions), keys, mask)
        values = values.repeat_interleave(weights.shape[1] // values.shape[2], dim=2)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights.to(values.dtype), values)
        return self.output(mixed.flatten(2))

    def queries(self, hidden_states, positions=None):
        """(batch, tokens, heads, head_dim), turned by RoPE."""
        return self._rope(self._heads(self.query, hidden_states), positions)

    def keys_and_values(self, hidden_states, positions=None):
        """(batch, tokens, kv_heads, head_dim) each, the keys turned by RoPE."""
        keys = self._rope(self._heads(self.key, hidden_states), positions)
        return keys, self._heads(self.value, hidden_states)

    def _heads(self, dense, hidden_states):
        require_tensor("hidden_states", hidden_states, ndim=3, width=self.width)
        return dense(hidden_states).unflatten(-1, (-1, self.head_dim))

    def _rope(self, x, positions):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        return apply_rope(x, positions)


class FeedForward(nn.Module):
    """W2 gelu(W1 x)."""

    def __init__(self, width, mlp_width):
        super().__init__()
        require_count("width", width)
        require_count("mlp_width", mlp_width)
        self.up = _dense(width, mlp_width)
        self.down = _dense(mlp_width, width)

    def forward(self, hidden_states):
        """hidden_states (..., width) -> the same shape."""
        require_tensor("hidden_states", hidden_states, width=self.up.in_features)
        return self.down(F.gelu(self.up(hidden_states), approximate="tanh"))


class GatedFeedForward(nn.Module):
    """W2 (gelu(W_gate x) * W_up x): Gemma's. This gate is inside the branch, adaRMS's is after it.

    Shazeer (2020), "GLU Variants Improve Transformer"; openpi, gemma.py, `FeedForward`.
    """

    def __init__(self, width, mlp_width):
        super().__init__()
        require_count("width", width)
        require_count("mlp_width", mlp_width)
        self.gate = _dense(width, mlp_width)
        self.up = _dense(width, mlp_width)
        self.down = _dense(mlp_width, width)

    def forward(self, hidden_states):
        """hidden_states (..., width) -> the same shape."""
        require_tensor("hidden_states", hidden_states, width=self.up.in_features)
        return self.down(
            F.gelu(self.gate(hidden_states), approximate="tanh") * self.up(hidden_states)
        )


class PreNormBlock(nn.Module):
    """x + F(norm(x)), for attention and then for the feed-forward.

    attention may be None: the block is then its feed-forward half. With gated=True each branch is
    multiplied by a learned constant gate (width,) that starts at zero.
    """

    def __init__(self, width, attention, feed_forward, gated=False):
        super().__init__()
        _require_branches(attention, feed_forward)
        require_bool("gated", gated)
        self.attention, self.feed_forward = attention, feed_forward
        self.attention_norm = None if attention is None else RMSNorm(width)
        self.feed_forward_norm = RMSNorm(width)
        self.attention_gate = self.feed_forward_gate = None
        if gated:
            self.feed_forward_gate = nn.Parameter(torch.zeros(width))
            if attention is not None:
                self.attention_gate = nn.Parameter(torch.zeros(width))

    def forward(self, hidden_states, cond=None, positions=None, mask=None, past=None):
        """hidden_states (batch, tokens, width) -> the same shape. `cond` is not read."""
        if self.attention is not None:
            branch = self.attention(self.attention_norm(hidden_states), positions, mask, past)
            hidden_states = gated_residual(hidden_states, branch, self.attention_gate)
        branch = self.feed_forward(self.feed_forward_norm(hidden_states))
        return gated_residual(hidden_states, branch, self.feed_forward_gate)


class PostNormBlock(nn.Module):
    """norm(x + F(x)), for attention and then for the feed-forward. attention may be None."""

    def __init__(self, width, attention, feed_forward):
        super().__init__()
        _require_branches(attention, feed_forward)
        self.attention, self.feed_forward = attention, feed_forward
        self.attention_norm = None if attention is None else RMSNorm(width)
        self.feed_forward_norm = RMSNorm(width)

    def forward(self, hidden_states, cond=None, positions=None, mask=None, past=None):
        """hidden_states (batch, tokens, width) -> the same shape. `cond` is not read."""
        if self.attention is not None:
            branch = self.attention(hidden_states, positions, mask, past)
            hidden_states = self.attention_norm(hidden_states + branch)
        return self.feed_forward_norm(hidden_states + self.feed_forward(hidden_states))


class AdaRMSBlock(nn.Module):
    """x + gate * F((1 + scale) * rms_norm(x) + shift), for attention and then for the feed-forward.

    scale, shift and gate come from cond, apart for each half, and are zero at the start: the block then
    returns its input. openpi, gemma.py, `Block`. attention may be None.
    """

    def __init__(self, width, cond_dim, attention, feed_forward):
        super().__init__()
        _require_branches(attention, feed_forward)
        self.attention, self.feed_forward = attention, feed_forward
        self.attention_norm = None if attention is None else AdaRMSNorm(width, cond_dim)
        self.feed_forward_norm = AdaRMSNorm(width, cond_dim)

    def forward(self, hidden_states, cond, positions=None, mask=None, past=None):
        """hidden_states (batch, tokens, width) -> the same shape; cond as in `AdaRMSNorm`."""
        if self.attention is not None:
            normed, gate = self.attention_norm(hidden_states, cond)
            branch = self.attention(normed, positions, mask, past)
            hidden_states = gated_residual(hidden_states, branch, gate)
        normed, gate = self.feed_forward_norm(hidden_states, cond)
        return gated_residual(hidden_states, self.feed_forward(normed), gate)


@dataclass(frozen=True)
class ZeroInitReport:
    """What `check_zero_init` found: true when every block is the identity and every gate is zero."""

    blocks: int
    gates: int
    not_identity: tuple[str, ...]
    open_gates: tuple[str, ...]

    def __bool__(self):
        return not self.not_identity and not self.open_gates

    def __str__(self):
        if self:
            return (
                f"zero init holds: {self.blocks} blocks are the identity, {self.gates} gates are 0"
            )
        lines = [f"{name} does not return its input" for name in self.not_identity]
        return "\n".join(lines + [f"{name} has a gate that is not 0" for name in self.open_gates])


@torch.no_grad()
def check_zero_init(model):
    """Run every block and every AdaRMSNorm of `model` on random numbers -> `ZeroInitReport`.

    Bit for bit: a block passes when it returns its input unchanged.
    """
    require_module("model", model)
    blocks, gates, not_identity, open_gates = 0, 0, [], []
    for name, module in model.named_modules():
        if isinstance(module, AdaRMSNorm):
            gates += 1
            _, gate = module(*_random_input(module, module))
            if gate.any():
                open_gates.append(name)
        elif isinstance(module, (AdaRMSBlock, PreNormBlock, PostNormBlock)):
            blocks += 1
            hidden_states, cond = _random_input(module, module.feed_forward_norm)
            if not torch.equal(module(hidden_states, cond), hidden_states):
                not_identity.append(name)
            for gate_name in ("attention_gate", "feed_forward_gate"):
                gate = getattr(module, gate_name, None)
                if gate is not None:
                    gates += 1
                    open_gates += [f"{name}.{gate_name}"] if gate.any() else []
    if blocks + gates == 0:
        raise ValueError("model must have blocks or AdaRMSNorms to check, got none")
    return ZeroInitReport(blocks, gates, tuple(not_identity), tuple(open_gates))


def _require_branches(attention, feed_forward):
    if attention is not None:
        require_callable("attention", attention)
    require_callable("feed_forward", feed_forward)


def _require_past(past, keys):
    if not isinstance(past, (tuple, list)) or len(past) != 2:
        raise TypeError(f"past must be (keys, values) or None, got {type(past).__name__}")
    batch, _, heads, head_dim = keys.shape
    for part in past:
        require_tensor("past", part, ndim=4)
        if (part.shape[0], *part.shape[2:]) != (batch, heads, head_dim):
            raise ValueError(
                f"past must hold two tensors ({batch}, tokens, {heads}, {head_dim}), "
                f"got {tuple(part.shape)}"
            )


def _random_input(module, norm):
    weight = next(module.parameters())
    if weight.is_meta:
        raise ValueError("model must hold numbers, got parameters on the meta device")
    numbers = torch.Generator().manual_seed(0)
    hidden_states = torch.randn(2, 3, norm.width, generator=numbers).to(weight)
    if not isinstance(norm, AdaRMSNorm):
        return hidden_states, None
    return hidden_states, torch.randn(2, norm.cond_dim, generator=numbers).to(weight)


def _dense(inputs, outputs):
    dense = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(dense.weight, std=inputs**-0.5)
    return dense
