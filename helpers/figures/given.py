"""What a view may be given, checked against the annotations of its `__init__` and its `update`.

`View` does this for every view, so a wrong argument is refused by name before anything is drawn. Checked
are `Callable`, `Mapping` (and what it holds), `Sequence`, `float`, `int`, `str`, `bool`, `tuple[...]`, and
for arrays and tensors `Numbers`. What has no annotation, or another one, is not looked at.
"""

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import get_args, get_origin

import numpy as np

REAL = ("float", "bfloat", "int", "uint")  # number formats, of numpy or torch, without their sizes


class Numbers:
    """An array, tensor or list of numbers with these sizes, such as `Numbers("n", 2)`.

    A name stands for any size from 1 on, and for the same size wherever it stands in one signature; None
    for any size at all.
    """

    def __init__(self, *sizes):
        self.sizes = sizes

    def __repr__(self):
        sizes = ["any" if size is None else str(size) for size in self.sizes]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def checked(method):
    """The method, with its arguments checked first.

    A view's `allowed`, {argument: list or range}, says which values its `update` may be given.
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(*given, **named):
        bound, sizes = signature.bind(*given, **named), {}
        for name, value in bound.arguments.items():
            check(name, value, signature.parameters[name].annotation, sizes)
            allowed = getattr(given[0], "allowed", {}).get(name)
            if allowed is not None and value not in allowed:
                words = "one of " + ", ".join(map(repr, allowed))
                if isinstance(allowed, range):
                    words = f"{allowed[0]} to {allowed[-1]}"
                raise ValueError(f"{name} must be {words}, got {value!r}")
        return method(*given, **named)

    return call


def check(name, value, wanted, sizes):
    """Raise where `value` is not `wanted`; sizes: {name of a size: (size, where it was met first)}."""
    kind, members = get_origin(wanted) or wanted, get_args(wanted)
    if isinstance(wanted, Numbers):
        _check_numbers(name, value, wanted, sizes)
    elif kind is Callable:
        _must(callable(value), name, "callable", value)
    elif kind is Mapping:
        _must(isinstance(value, Mapping), name, "a mapping", value)
        if not value:
            raise ValueError(f"{name} must hold at least one entry, got none")
        for key, member in value.items() if members else ():
            check(f"{name}[{key!r}]", member, members[1], sizes)
    elif kind is Sequence:
        is_list = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
        _must(is_list, name, "a list", value)
    elif kind is tuple:
        _must(isinstance(value, (tuple, list)), name, f"a tuple of {len(members)}", value)
        if len(value) != len(members):
            raise ValueError(f"{name} must be a tuple of {len(members)}, got {len(value)}")
        for place, (member, its) in enumerate(zip(value, members, strict=True)):
            check(f"{name}[{place}]", member, its, sizes)
    elif kind is bool:
        _must(isinstance(value, (bool, np.bool_)), name, "True or False", value)
    elif kind in (int, float):
        whole = kind is int
        right = isinstance(value, numbers.Integral if whole else numbers.Real)
        right = right and not isinstance(value, bool)
        _must(right, name, "an integer" if whole else "a number", value)
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value}")
    elif kind is str:
        _must(isinstance(value, str), name, "a string", value)


def _must(right, name, wanted, value):
    if not right:
        raise TypeError(f"{name} must be {wanted}, got {type(value).__name__}")


def _check_numbers(name, value, wanted, sizes):
    if not hasattr(value, "shape"):
        _must(isinstance(value, (list, tuple, range)), name, "an array or tensor of numbers", value)
        value = np.array(
            value, dtype=object
        )  # ragged lists become an array of lists, and are refused below
        for entry in value.ravel():
            _must(isinstance(entry, numbers.Real), name, "an array or tensor of numbers", entry)
    elif str(value.dtype).removeprefix("torch.").rstrip("0123456789") not in REAL:
        raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
    shape = tuple(value.shape)
    if len(shape) != len(wanted.sizes):
        raise ValueError(f"{name} must have shape {wanted}, got {shape}")
    for size, came in zip(wanted.sizes, shape, strict=True):
        if isinstance(size, str):
            known, where = sizes.setdefault(size, (came, name))
            if came == 0:
                raise ValueError(f"{name} must not be empty, got shape {shape}")
            if came != known:
                raise ValueError(
                    f"{name} must have shape {wanted} with {size} = {known} as in {where}, got {shape}"
                )
        elif size is not None and size != came:
            raise ValueError(f"{name} must have shape {wanted}, got {shape}")
