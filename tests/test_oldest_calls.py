"""Nothing is used that the oldest supported torch, numpy and Python lack.

Torch 2.6 is not installed for the tests. `tests/data/oldest_calls.json` says for each name of torch that is
used in which release it is first found, and of numpy that 2.1 has it. The table was made by looking the
names up in the released packages 1.8 to 1.11, 2.0 to 2.4 and 2.6; "1.8" stands for 1.8 or older.
"""

import ast
import functools
import json
import subprocess
import sys
import tomllib

import pytest
import torch
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.notebook_runs import solutions
from tools import notebooks

ROOT = notebooks.ROOT
TABLE = json.loads((ROOT / "tests" / "data" / "oldest_calls.json").read_text(encoding="utf-8"))
# A solution goes on from its lesson's imports.
KNOWN = {"torch": {"torch": "torch"}, "numpy": {"np": "numpy"}}
OLDEST = {"torch": Version("2.6"), "torch.Tensor": Version("2.6"), "numpy": Version("2.1")}


@functools.cache
def _codes() -> dict[str, str]:
    """Where to code, of all that a reader runs: helpers, lessons with their solutions, experiments."""
    found = {}
    for folder in ("helpers", "experiments", "notebooks/source"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if ".ipynb_checkpoints" not in path.parts:
                found[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    for source in notebooks.sources():
        for number, code in enumerate(solutions(notebooks.read_source(source)), start=1):
            found[f"{source.name}, solution {number}"] = code
    return found


def names(code: str, package: str, bound=()) -> set[str]:
    """The dotted names of a package that code uses, whatever it calls them.

    `bound` says what names stand for before the code begins, as {"np": "numpy"}.
    """
    tree, bound, found = ast.parse(code), dict(bound), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == package:
                    bound[alias.asname or package] = alias.name if alias.asname else package
                    found.add(alias.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                found.add(f"{node.module}.{alias.name}")
    for node in ast.walk(tree):
        chain, inner = [], node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if chain and isinstance(inner, ast.Name) and inner.id in bound:
            found.add(".".join([bound[inner.id], *reversed(chain)]))
    return found - {package}


def methods(code: str) -> set[str]:
    """Every attribute in code that a tensor has too; whether it is a tensor's is not known."""
    attributes = {n.attr for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Attribute)}
    return {name for name in attributes if hasattr(torch.Tensor, name) and name[:2] != "__"}


def _used(part: str, code: str) -> set[str]:
    if part == "torch.Tensor":
        return methods(code)
    return names(code, part, KNOWN[part])


def _too_new(part: str, code: str) -> list[str]:
    """What code uses that the table does not have, or has as newer than the oldest that is supported."""
    found = []
    for name in sorted(_used(part, code)):
        if name not in TABLE[part]:
            found.append(
                f"{name} is not in tests/data/oldest_calls.json: find out since when it is there"
            )
        elif Version(TABLE[part][name]) > OLDEST[part]:
            found.append(f"{name} came in {TABLE[part][name]}, {OLDEST[part]} is supported")
    return found


@pytest.mark.parametrize("part", OLDEST)
def test_what_is_used_is_old_enough(part):
    assert not {w: found for w, code in _codes().items() if (found := _too_new(part, code))}


def test_a_name_is_found_however_it_is_imported(monkeypatch):
    code = """
import torch, torch.nn.functional as F
from torch import nn
from torch.func import vmap as batched
def f(x): return F.silu(nn.Linear(2, 2).weight) + torch.linalg.svd(x)[0] + batched(x.nanmean)
"""
    found = {"nn", "func.vmap", "nn.functional", "nn.functional.silu", "nn.Linear", "linalg.svd"}
    assert names(code, "torch") == {f"torch.{name}" for name in (*found, "linalg")}
    assert "nanmean" in methods(code)
    monkeypatch.setitem(TABLE["torch"], "torch.func.vmap", "2.7")
    monkeypatch.delitem(TABLE["torch"], "torch.linalg.svd", raising=False)
    late, unknown = _too_new("torch", code)[0], _too_new("torch", code)[1]
    assert "torch.func.vmap came in 2.7" in late and "torch.linalg.svd is not in" in unknown


def test_the_versions_named_here_are_the_ones_that_are_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    allowed = SpecifierSet(project["project"]["requires-python"])
    assert all(allowed.contains(v) for v in ("3.11.0", "3.13.9"))
    assert not allowed.contains("3.10.14") and not allowed.contains("3.14.0")
    ranges = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert "pytorch-cpu>=2.6," in ranges and "numpy>=2.1," in ranges
    colab = (ROOT / "tools" / "requirements-colab.txt").read_text(encoding="utf-8")
    assert "numpy==2.1.3" in colab and "matplotlib==3.10.0" in colab


def test_syntax_newer_than_the_oldest_python_is_refused_by_the_linter(tmp_path):
    """Ruff is told the oldest Python; a type parameter came in 3.12, a quote inside an f-string too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["ruff"]["target-version"] == "py311"
    for code in ("def first[T](items: list[T]) -> T:\n    return items[0]\n", "f'{'a'}'\n"):
        path = tmp_path / "new.py"
        path.write_text(code)
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml", path],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1 and "on Python 3.11" in done.stdout, done.stdout
