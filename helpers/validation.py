"""Checks on arguments that say what came and what is allowed.

Shape and type checks stand everywhere. Value checks (NaN, ranges) only stand at entry points: on a
tensor they read its numbers, which `torch.func.vmap` and the meta device cannot give.
"""

import math
import os
from collections.abc import Sequence

import torch


def require_tensor(name, value, *, ndim=None, width=None):
    """A floating-point tensor with at least one dimension; `ndim` dimensions; last one `width` wide."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if not value.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {value.dtype}")
    if value.ndim == 0:
        raise ValueError(f"{name} must have at least one dimension, got a single number")
    if ndim is not None and value.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions, got shape {tuple(value.shape)}")
    if width is not None and value.shape[-1] != width:
        raise ValueError(f"{name} must be {width} wide (last dimension), got {tuple(value.shape)}")


def require_shape(name, value, shape):
    """A floating-point tensor of exactly this shape."""
    require_tensor(name, value)
    if tuple(value.shape) != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}, got {tuple(value.shape)}")


def require_integers(name, value, *, ndims):
    """A tensor of integers or booleans with one of these numbers of dimensions."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if value.is_floating_point() or value.is_complex():
        raise TypeError(f"{name} must hold integers or booleans, got {value.dtype}")
    if value.ndim not in ndims:
        raise ValueError(
            f"{name} must have {' or '.join(map(str, ndims))} dimensions, got shape {tuple(value.shape)}"
        )


def require_factor(name, value, target_name, target):
    """A number, or a tensor that broadcasts to `target` without any doubt about which axis it means.

    (batch, width) against (batch, tokens, width) is refused: with as many tokens as rows torch would
    line the rows up with the tokens and say nothing.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, torch.Tensor)):
        raise TypeError(f"{name} must be a number or a torch.Tensor, got {type(value).__name__}")
    if not isinstance(value, torch.Tensor) or value.ndim == 0:
        return
    require_tensor(name, value)
    sizes = zip(reversed(value.shape), reversed(target.shape), strict=False)
    if value.ndim not in (1, target.ndim) or any(v not in (1, t) for v, t in sizes):
        raise ValueError(
            f"{name} of shape {tuple(value.shape)} does not fit {target_name} of shape "
            f"{tuple(target.shape)}: it may be (width,) or have {target.ndim} dimensions, each of size 1 "
            f"or the size in {target_name}"
        )


def require_number(name, value, *, least=None, above=None, most=None):
    """A finite Python number, at least `least`, more than `above`, at most `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    if above is not None and value <= above:
        raise ValueError(f"{name} must be more than {above}, got {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, got {value}")


def require_count(name, value, *, least=1):
    """A Python integer, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def require_even(name, value):
    """An even Python integer, at least 2."""
    require_count(name, value, least=2)
    if value % 2:
        raise ValueError(f"{name} must be even, got {value}")


def require_heads(num_heads, num_kv_heads, head_dim):
    """Heads that share keys and values in equal groups, and pairs of numbers for RoPE to turn."""
    require_count("num_heads", num_heads)
    require_count("num_kv_heads", num_kv_heads)
    require_even("head_dim", head_dim)
    if num_heads % num_kv_heads:
        raise ValueError(f"num_kv_heads must divide num_heads, got {num_kv_heads} for {num_heads}")


def require_callable(name, value):
    if not callable(value):
        raise TypeError(f"{name} must be callable, got {type(value).__name__}")


def require_bool(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {type(value).__name__}")


def require_choice(name, value, allowed):
    """One of `allowed`, in kind too: True is not 1."""
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def require_kind(name, value, kind, called=None):
    """An instance of this class, which the error calls `called` (or by its own name)."""
    if not isinstance(value, kind):
        called = called or kind.__name__
        article = "an" if called[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {called}, got {type(value).__name__}")


def require_module(name, value):
    require_kind(name, value, torch.nn.Module, "torch.nn.Module")


def require_generator(name, value):
    """A torch.Generator, or None for torch's own random numbers."""
    if value is not None:
        require_kind(name, value, torch.Generator, "torch.Generator")


def require_path(name, value):
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a path (str or pathlib.Path), got {type(value).__name__}")


def require_list(name, value, check=None, *, least=1):
    """A list, tuple or range of at least `least` members; check(name, member) is called on each."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list, got {type(value).__name__}")
    if len(value) < least:
        raise ValueError(f"{name} must hold at least {least}, got {len(value)}")
    for place, member in enumerate(value if check else ()):
        check(f"{name}[{place}]", member)


def require_times(name, value):
    """Times as a tensor (n,) or a list of numbers: at least one, each in [0, 1]."""
    if isinstance(value, (list, tuple)):
        require_list(name, value, lambda at, one: require_number(at, one, least=0, most=1))
        return
    require_time(name, value)
    if len(value) == 0:
        raise ValueError(f"{name} must hold at least one time, got none")
    require_time_values(name, value)


def require_time(name, value, *, batch=None):
    """A floating-point tensor (batch,): one time for each row."""
    require_tensor(name, value, ndim=1)
    if batch is not None and len(value) != batch:
        raise ValueError(f"{name} must have shape ({batch},), one for each row, got {len(value)}")


def require_finite(name, value):
    """No NaN and no infinity. For entry points only."""
    if not torch.isfinite(value).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in it")


def require_time_values(name, value):
    """Every time in [0, 1], which NaN is not. For entry points only."""
    if value.numel() == 0:
        return
    if not ((value >= 0) & (value <= 1)).all():
        least, most = value.min().item(), value.max().item()
        raise ValueError(f"{name} must lie in [0, 1] (1 noise, 0 data), got {least:g} to {most:g}")
