"""How an experiment keeps its runs: one JSON file a run, with its settings, versions and seconds."""

import json
import os
import platform
from pathlib import Path

import torch

RESULTS = Path(__file__).resolve().parent / "results"
DIGITS = 4  # significant digits kept of each number


def is_kept(path, settings):
    """Does the file hold a run with these settings?"""
    return path.is_file() and json.loads(path.read_text(encoding="utf-8"))["settings"] == settings


def keep(path, settings, seconds, **found):
    """Write a run. It is written aside and moved, so that an interrupted run leaves no half file."""
    run = {
        "settings": settings,
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "seconds": round(seconds, 1),
        **{name: _rounded(value) for name, value in found.items()},
    }
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in run.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}")
    aside.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    aside.replace(path)


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(entry) for entry in value]
    if isinstance(value, torch.Tensor):
        return _rounded(value.tolist())
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
