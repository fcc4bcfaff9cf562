"""The norms, from LayerNorm to pi0.5's adaptive RMSNorm.

Statistics are taken in float32 (float64 for float64), results come in the input's dtype. No function
here looks at the values of a tensor, so all work under `torch.func` and on the meta device.
"""

import torch
import torch.nn.functional as F
from torch import nn

from helpers.validation import (
    require_count,
    require_factor,
    require_module,
    require_number,
    require_shape,
    require_tensor,
)


def rms_norm(x, scale=None, eps=1e-6):
    """x / sqrt(mean(x**2) + eps) * (1 + scale), the mean over the last dimension.

    x (..., width), scale (width,) or None for no scale. Returns x's shape and dtype.
    Zhang and Sennrich (2019), "Root Mean Square Layer Normalization"; with 1 + scale as in openpi,
    src/openpi/models/gemma.py, so that scale = 0 is the plain norm.
    """
    require_tensor("x", x)
    require_number("eps", eps, least=0)
    width = x.shape[-1]
    wide = _widen(x)
    if scale is not None:
        require_shape("scale", scale, (width,))
        scale = 1 + scale.to(wide.dtype)
    # One kernel on a GPU, and the same numbers as the formula above; it would round to half
    # precision before it multiplies by scale, so it is given the wide numbers.
    return F.rms_norm(wide, (width,), scale, eps).to(x.dtype)


def layer_norm(x, eps=1e-6):
    """(x - mean(x)) / sqrt(variance(x) + eps) over the last dimension, no learned parameters.

    x (..., width). Returns x's shape and dtype. Ba, Kiros and Hinton (2016), "Layer Normalization".
    """
    require_tensor("x", x)
    require_number("eps", eps, least=0)
    # Widened although torch's kernel does that too: given half numbers with a large mean, on a CPU, it
    # returns 0.39 for a constant vector, whose image is 0.
    return F.layer_norm(_widen(x), (x.shape[-1],), eps=eps).to(x.dtype)


def modulate(normed, scale, shift):
    """normed * (1 + scale) + shift. Scale and shift: numbers, (width,), or normed's rank."""
    require_tensor("normed", normed)
    require_factor("scale", scale, "normed", normed)
    require_factor("shift", shift, "normed", normed)
    return normed * (1 + scale) + shift


def gated_residual(x, y, gate):
    """x + gate * y: what the branch y writes onto the trunk x. Without a gate (None), x + y."""
    require_tensor("x", x)
    require_shape("y", y, x.shape)
    if gate is None:
        return x + y
    require_factor("gate", gate, "y", y)
    return x + gate * y


class RMSNorm(nn.Module):
    """RMSNorm with a learned `scale` (width,), used as 1 + scale and zero at the start."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        require_count("width", width)
        require_number("eps", eps, least=0)
        self.width, self.eps = width, eps
        self.scale = nn.Parameter(torch.zeros(width))

    def reset_parameters(self):
        nn.init.zeros_(self.scale)

    def forward(self, hidden_states):
        """hidden_states (..., width) -> the same shape."""
        require_tensor("hidden_states", hidden_states, width=self.width)
        return rms_norm(hidden_states, self.scale, self.eps)

    def extra_repr(self):
        return f"{self.width}, eps={self.eps}"


class AdaRMSNorm(nn.Module):
    """RMSNorm whose scale and shift, and a gate for the branch it feeds, are computed from `cond`.

    One Dense layer gives all three, in this order. Its kernel and its bias start at zero: the norm is
    then the plain one and the gate is exactly zero. openpi, src/openpi/models/gemma.py, `RMSNorm`.
    """

    def __init__(self, width, cond_dim, eps=1e-6):
        super().__init__()
        require_count("width", width)
        require_count("cond_dim", cond_dim)
        require_number("eps", eps, least=0)
        self.width, self.cond_dim, self.eps = width, cond_dim, eps
        self.modulation = nn.Linear(cond_dim, 3 * width)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def forward(self, hidden_states, cond):
        """hidden_states (batch, tokens, width) -> (normed, gate), in hidden_states' dtype.

        cond (batch, cond_dim), one modulation for all tokens: gate (batch, 1, width); or
        cond (batch, tokens, cond_dim), one for each token: gate (batch, tokens, width).
        """
        scale, shift, gate = self.scale_shift_gate(hidden_states, cond)
        normed = modulate(rms_norm(_widen(hidden_states), eps=self.eps), scale, shift)
        return normed.to(hidden_states.dtype), gate.to(hidden_states.dtype)

    def scale_shift_gate(self, hidden_states, cond):
        """The three parts of the modulation, (batch, 1 or tokens, width) each."""
        require_tensor("hidden_states", hidden_states, ndim=3, width=self.width)
        require_tensor("cond", cond, width=self.cond_dim)
        batch, tokens, _ = hidden_states.shape
        if cond.shape[:-1] not in ((batch,), (batch, tokens)):
            raise ValueError(
                f"cond must be (batch, cond_dim) or (batch, tokens, cond_dim) with batch {batch} and "
                f"tokens {tokens} as in hidden_states, got {tuple(cond.shape)}"
            )
        if cond.ndim == 2:
            cond = cond.unsqueeze(1)
        return self.modulation(cond.to(self.modulation.weight.dtype)).chunk(3, dim=-1)

    def extra_repr(self):
        return f"{self.width}, eps={self.eps}"


def zero_init_modulations(model):
    """Set kernel and bias of every AdaRMSNorm in `model` to zero; call it after any other init.

    A parent's init (`model.apply(init_fn)`, `post_init`) that touches every nn.Linear overwrites these
    zeros, as happens in openpi's PyTorch port. Returns how many norms it found.
    """
    require_module("model", model)
    norms = [module for module in model.modules() if isinstance(module, AdaRMSNorm)]
    for norm in norms:
        norm.reset_parameters()
    return len(norms)


def _widen(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))
