"""How the time enters a network: sines and cosines, then a small MLP.

Time is openpi's: 1 is noise, 0 is data.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from helpers.validation import (
    require_even,
    require_number,
    require_tensor,
    require_time,
    require_time_values,
)


def time_embedding(time, dim, min_period=4e-3, max_period=4.0):
    """[sin(2 pi time / period), cos(2 pi time / period)]: all sines first, then all cosines.

    time (batch,) in [0, 1] -> (batch, dim). The dim/2 periods grow geometrically from min_period to
    max_period, both included. openpi, src/openpi/models/pi0.py, `posemb_sincos`.
    """
    require_time("time", time)
    require_time_values("time", time)
    return sinusoidal_embedding(time, dim, min_period, max_period)


def sinusoidal_embedding(time, dim, min_period=4e-3, max_period=4.0):
    """`time_embedding` without its look at the values of `time`: what a model calls."""
    require_time("time", time)
    require_even("dim", dim)
    require_number("min_period", min_period, above=0)
    require_number("max_period", max_period, least=min_period)
    # float64, as the shortest period turns time into a phase of 1,571 radians.
    fraction = torch.linspace(0, 1, dim // 2, dtype=torch.float64, device=time.device)
    period = min_period * (max_period / min_period) ** fraction
    phase = 2 * math.pi * time.to(torch.float64)[:, None] / period
    return torch.cat([phase.sin(), phase.cos()], dim=-1).to(time.dtype)


class TimeMLP(nn.Module):
    """cond = silu(W2 silu(W1 time_emb)): the condition that every adaRMS norm of pi0.5 reads."""

    def __init__(self, width):
        super().__init__()
        require_even("width", width)
        self.width = width
        self.time_in = nn.Linear(width, width)
        self.time_out = nn.Linear(width, width)

    def forward(self, time):
        """time (batch,) -> cond (batch, width)."""
        time_emb = sinusoidal_embedding(time, self.width).to(self.time_in.weight.dtype)
        return F.silu(self.time_out(F.silu(self.time_in(time_emb))))


class ActionTimeMLP(nn.Module):
    """W2 silu(W1 [action token, time_emb]): how pi0 tells its network the time, once, at the input."""

    def __init__(self, width):
        super().__init__()
        require_even("width", width)
        self.width = width
        self.action_time_in = nn.Linear(2 * width, width)
        self.action_time_out = nn.Linear(width, width)

    def forward(self, tokens, time):
        """tokens (batch, tokens, width), time (batch,) -> (batch, tokens, width)."""
        require_tensor("tokens", tokens, ndim=3, width=self.width)
        require_time("time", time, batch=len(tokens))
        time_emb = sinusoidal_embedding(time, self.width).to(tokens.dtype)
        time_emb = time_emb[:, None].expand_as(tokens)
        return self.action_time_out(
            F.silu(self.action_time_in(torch.cat([tokens, time_emb], dim=-1)))
        )
