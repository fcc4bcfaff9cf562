"""A few cases of the real pi0.5 code, run on small random inputs: what a notebook holds its layer against.

The numbers stand in openpi_numbers.json beside this file, so that a lesson needs nothing outside `helpers`.
They are a part of tests/data/openpi_golden.json, all of which the tests use.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch

from helpers.validation import (
    require_callable,
    require_choice,
    require_kind,
    require_list,
    require_shape,
    require_tensor,
)

FILE = Path(__file__).with_suffix(".json")

NORM_CASES = (
    "adarms_batch",
    "adarms_cond_zero",
    "adarms_zero_init",
    "adarms_bias_only",
    "adarms_other_cond_dim",
    "adarms_zero_vector",
    "adarms_per_token_cond_lerobot",
)


def load(name):
    """One case -> a namespace: its inputs and outputs by name, `params` (a dict), `source`, `atol`, `rtol`.

    All numbers are float32 tensors. A Dense kernel is (in, out), the transpose of an `nn.Linear`'s weight.
    """
    cases = {case["name"]: case for case in json.loads(FILE.read_text(encoding="utf-8"))["cases"]}
    require_choice("name", name, cases)
    case = cases[name]
    numbers = _tensors({**case["inputs"], **case["outputs"], "params": case["params"]})
    return SimpleNamespace(source=case["source"], **case["tolerance"], **numbers)


def largest_error(got, wanted, case):
    """The largest |got - wanted|, and whether all are within the case's atol + rtol * |wanted|."""
    if not (hasattr(case, "atol") and hasattr(case, "rtol")):
        raise TypeError(f"case must be one of openpi_numbers.load, got {type(case).__name__}")
    require_tensor("wanted", wanted)
    require_shape("got", got, wanted.shape)
    error = (got - wanted).abs()
    return float(error.max()), bool((error <= case.atol + case.rtol * wanted.abs()).all())


def load_dense(linear, kernel, bias):
    """Put a Dense of the file into an `nn.Linear` that needs no gradient."""
    require_kind("linear", linear, torch.nn.Linear)
    require_shape("kernel", kernel, (linear.in_features, linear.out_features))
    require_shape("bias", bias, (linear.out_features,))
    linear.weight.copy_(kernel.T)
    linear.bias.copy_(bias)


@dataclass(frozen=True)
class Row:
    """A case of a norm: its first two numbers as they are and as they were got."""

    name: str
    wanted: str
    got: str
    error: float
    close: bool


def compare_norm(name, make_norm):
    """Run one of `NORM_CASES` through make_norm(kernel, bias)(x, cond) -> `Row`."""
    require_callable("make_norm", make_norm)
    require_choice("name", name, NORM_CASES)
    case = load(name)
    pairs = list(
        zip(make_norm(**case.params)(case.x, case.cond), (case.normed, case.gate), strict=True)
    )
    errors = [largest_error(got, wanted, case) for got, wanted in pairs]
    got, wanted = (
        ", ".join(f"{value:.5f}" for value in part[0, 0, :2].tolist()) for part in pairs[0]
    )
    return Row(name, wanted, got, max(e for e, _ in errors), all(close for _, close in errors))


def table(rows):
    """Rows as a table in Markdown."""
    require_list("rows", rows, lambda at, row: require_kind(at, row, Row), least=0)
    lines = ["| case | pi0.5's first numbers | ours | largest error |", "|---|---|---|---|"]
    lines += [f"| `{r.name}` | {r.wanted} | {r.got} | {r.error:.0e} |" for r in rows]
    return "\n".join(lines)


def _tensors(tree):
    if isinstance(tree, dict):
        return {key: _tensors(value) for key, value in tree.items()}
    return torch.tensor(tree, dtype=torch.float32)
