"""Run the soak, or parts of it, and make its table.

    python -m tests.soak                     everything; hours
    python -m tests.soak order "same: hash"  the checks whose names begin so
    python -m tests.soak --slice             the fixed short slice that CI runs; writes no file
    python -m tests.soak --list              the checks, with what was already run

Each item is recorded in build/soak.json when it is done, so a stopped soak keeps what it has: the next one
runs first what is missing, then what fell or was run on older code. The table in benchmarks/README.md is
made from all records and says what is missing.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path

from benchmarks.sections import write_section
from tests.soak import Check, Finding, all_checks, as_record
from tools import notebooks

RECORDS = notebooks.ROOT / "build" / "soak.json"
BEGIN, END = "<!-- soak: made by `make soak` -->", "<!-- end of soak -->"


def code_state(item: str) -> str:
    """A digest of the code that an item tests: where it differs, an older result may no longer hold.

    That is the helpers' and, for an item named for a lesson, the lesson's.
    """
    digest = hashlib.sha256()
    lesson = (notebooks.ROOT / "notebooks" / "source").glob(f"{item}.py")
    for path in sorted([*(notebooks.ROOT / "helpers").glob("**/*.py"), *lesson]):
        digest.update(path.relative_to(notebooks.ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def run_item(check: Check, item: str, size: dict) -> dict:
    """A record of one item: its finding, when, how long, on which code. An error is a problem."""
    began, state = time.time(), code_state(item)
    try:
        finding = check.run(item, **size)
    except Exception as error:
        traceback.print_exc()
        finding = Finding(0, float("inf"), [f"the check itself broke: {error!r}"[:400]])
    return {
        **as_record(finding),
        "size": size,
        "code": state,
        "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime(began)),
        "seconds": round(time.time() - began),
    }


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def store(path: Path, records: dict) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def to_do(checks: list[Check], records: dict) -> list[tuple[Check, str]]:
    """What is missing, then what fell or was run on other code or at another size, oldest first."""
    missing, old = [], []
    for check in checks:
        for item in check.items():
            record = records.get(check.name, {}).get(item)
            if record is None:
                missing.append((check, item))
            elif (
                record["code"] != code_state(item)
                or record["size"] != check.full
                or record["problems"]
            ):
                old.append((record["at"], check, item))
    old.sort(key=lambda entry: entry[0])
    return missing + [(check, item) for _, check, item in old]


def holds(check: Check, found: dict) -> bool:
    """Whether these records keep the check's limit."""
    figures = [record["figure"] for record in found.values()]
    return check.combine(figures) <= check.limit and not any(r["problems"] for r in found.values())


def table(checks: list[Check], records: dict) -> str:
    """One row a check; says what was not run, and what was run on other code."""
    lines = ["| check | done | figure | limit | |", "|---|---|---|---|---|"]
    for check in checks:
        found = {i: r for i, r in records.get(check.name, {}).items() if i in check.items()}
        whole = f"{len(found)} of {len(check.items())} items"
        if not found:
            lines.append(f"| {check.name} | {whole} | | {check.limit:g} {check.figure} | not run |")
            continue
        count = sum(record["count"] for record in found.values())
        figure = check.combine([record["figure"] for record in found.values()])
        worst = max(found, key=lambda item: found[item]["figure"])
        where = f" ({worst})" if figure and len(found) > 1 else ""
        said = "held" if holds(check, found) else "**not held**"
        if stale := sum(record["code"] != code_state(item) for item, record in found.items()):
            said += f"; {stale} before the last change to the helpers or the lesson"
        lines.append(
            f"| {check.name} | {count:,} {check.did}; {whole} | {figure:.4g}{where} "
            f"| {check.limit:g} {check.figure} | {said} |"
        )
    return "\n".join(lines)


def machine() -> str:
    names = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    name = names[0].split(":")[1].strip() if names else platform.processor()
    return f"{os.cpu_count()} cores, {name}; {platform.system()}"


def _lines(path):
    return Path(path).read_text().splitlines() if Path(path).is_file() else []


def section(checks: list[Check], records: dict) -> str:
    """The part of benchmarks/README.md between the two marks."""
    kept = [record for found in records.values() for record in found.values()]
    times = sorted(record["at"] for record in kept) or ["never"]
    minutes = sum(record["seconds"] for record in kept) / 60
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("torch", "numpy", "matplotlib", "ipywidgets")
    )
    return f"""## What a lecture does to the notebooks

`make soak`, from {times[0]} to {times[-1]} UTC, {minutes:.0f} minutes in all. {machine()}; Python
{platform.python_version()}, {packages}. The checks are in [tests/soak](../tests/soak); a row that was
not run in full says so.

{table(checks, records)}"""


def run_slice(checks: list[Check]) -> int:
    checks, records = [check for check in checks if check.slice is not None], {}
    for check in checks:
        size = {name: value for name, value in check.slice.items() if name != "items"}
        for item in check.slice.get("items") or check.items():
            records.setdefault(check.name, {})[item] = say(check, item, run_item(check, item, size))
    print(table(checks, records))
    return int(not all(holds(check, records[check.name]) for check in checks))


def say(check: Check, item: str, record: dict) -> dict:
    words = f"{check.name}, {item}: {record['count']} {check.did}"
    print(f"{words}, figure {record['figure']:.4g}, {record['seconds']} s", flush=True)
    for problem in record["problems"]:
        print(f"    {problem}", flush=True)
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="how the wanted checks' names begin")
    parser.add_argument("--slice", action="store_true", help="CI's short slice")
    parser.add_argument("--list", action="store_true", help="name the checks, run nothing")
    parser.add_argument("--items", nargs="*", help="only these items, such as 06_train_adarms_flow")
    parser.add_argument("--minutes", type=float, default=120, help="begin nothing after this long")
    options = parser.parse_args()
    checks = list(all_checks().values())
    chosen = [c for c in checks if not options.names or c.name.startswith(tuple(options.names))]
    if not chosen:
        parser.error(f"the checks are {', '.join(check.name for check in checks)}")
    if options.slice:
        return run_slice(chosen)
    records = load(RECORDS)
    if options.list:
        print(table(chosen, records))
        return 0
    stop_at = time.monotonic() + 60 * options.minutes
    for check, item in to_do(chosen, records):
        if options.items and item not in options.items:
            continue
        if time.monotonic() > stop_at:
            print("stopped: the time is over; the next `make soak` goes on from here")
            break
        record = say(check, item, run_item(check, item, check.full))
        records = load(RECORDS)  # another part may have been run meanwhile
        records.setdefault(check.name, {})[item] = record
        store(RECORDS, records)
    print(table(chosen, records))
    write_section(BEGIN, END, section(checks, records))
    found = [(check, records.get(check.name, {})) for check in chosen]
    return int(any(not holds(check, done) for check, done in found if done))


if __name__ == "__main__":
    sys.exit(main())
