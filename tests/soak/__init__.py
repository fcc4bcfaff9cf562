"""What a lecture does to the notebooks, at full length: `make soak`.

A check is a function in a module of this package. It is called with one item (a lesson, an explorer, a
helper) and the size of the run, and returns a `Finding`; `python -m tests.soak` runs them all and makes the
table in benchmarks/README.md. Its short pass belongs into the tests, which may call the same function.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from tools import notebooks

CHECKS: dict[str, "Check"] = {}


@dataclass(frozen=True)
class Finding:
    """What one item of a check gave.

    Attributes:
        count: how many times the thing was done: reruns, states, signals.
        figure: the number that must stay within the check's limit.
        problems: one line for each thing that fell, for whoever is to mend it.
    """

    count: int
    figure: float
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Check:
    """One row of the table.

    Attributes:
        name: "part: what", by which it can be asked for on the command line.
        did: what is counted, in words: "reruns of single cells in random order".
        figure: what is measured, in words, with its unit: "cells that printed other numbers".
        limit: the largest figure that is right.
        run: run(item, **size) -> Finding.
        items: gives the names of the items; each is recorded as soon as it is done.
        full: the size of `make soak`.
        slice: the size of CI's slice and its items under "items", or None where CI leaves the check out.
        combine: makes one figure of those of the items: max or sum.
    """

    name: str
    did: str
    figure: str
    limit: float
    run: Callable[..., Finding]
    items: Callable[[], Sequence[str]]
    full: dict
    slice: dict | None
    combine: Callable = sum


def check(name, *, did, figure, limit=0, items=None, full=None, slice=None, combine=sum):
    """Register the decorated function as a `Check`; `items` is every lesson where left out."""

    def register(run):
        if name in CHECKS:
            raise ValueError(f"two checks are called {name!r}")
        CHECKS[name] = Check(
            name, did, figure, limit, run, items or lessons, full or {}, slice, combine
        )
        return run

    return register


def lessons() -> list[str]:
    """The names of all lessons, in order."""
    return [source.stem for source in notebooks.sources()]


def all_checks() -> dict[str, Check]:
    """Every check of every module of this package, by name."""
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        if not module.startswith("_"):
            importlib.import_module(f"{__name__}.{module}")
    return CHECKS


def as_record(finding: Finding) -> dict:
    return asdict(finding)
