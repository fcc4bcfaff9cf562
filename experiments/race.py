"""The training race of lesson 03: five ways to place the norms, three seeds, 24 layers.

    python -m experiments.race            runs what is missing, one file a run
    python -m experiments.race --again    runs all

Interrupted, it takes up where it stopped: a run whose file holds the same settings is not repeated.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import torch

from helpers.race import RESULTS, VARIANTS, RaceConfig, Run, race, settings

SEEDS = (0, 1, 2)
DIGITS = 5  # significant digits kept of each number


def main(again=False, folder=RESULTS, config=None, seeds=SEEDS):
    """Run what is missing in `folder`. Returns the number of runs made."""
    config = config or RaceConfig()
    torch.set_num_threads(1)
    runs = [(variant, seed) for seed in seeds for variant in VARIANTS]
    made = 0
    for number, (variant, seed) in enumerate(runs, 1):
        path = Path(folder) / f"{variant}_seed{seed}.json"
        run = Run(variant, config, seed)
        wanted = settings(run)
        if not again and _holds(path, wanted):
            print(f"race {number}/{len(runs)}: {path.name} is there")
            continue
        print(f"race {number}/{len(runs)}: {VARIANTS[variant]}, seed {seed}", flush=True)
        wall, processor = time.monotonic(), time.process_time()
        race([run])
        accuracy = run.final_accuracy()
        record = {
            **wanted,
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "threads": 1,
            "seconds": round(time.monotonic() - wall, 1),
            "processor_seconds": round(time.process_time() - processor, 1),
            **{key: _rounded(value) for key, value in run.result.items()},
            "final_accuracy": _rounded(accuracy),
        }
        _write(path, record)
        made += 1
        print(f"    {accuracy:.3f} right after {record['seconds']} s", flush=True)
    return made


def _holds(path, wanted):
    if not path.is_file():
        return False
    record = json.loads(path.read_text())
    return all(record.get(key) == value for key, value in wanted.items())


def _rounded(value):
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.{DIGITS}g}")


def _write(path, record):
    """One line a key. Written aside and moved, so that an interrupted run leaves no half file."""
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}")
    aside.write_text(f"{{\n{lines}\n}}\n")
    aside.replace(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--again", action="store_true", help="run also what has results")
    main(again=parser.parse_args().again)
