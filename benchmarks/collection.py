"""Whether the collection runs on a small machine: time and memory of each lesson, run top to bottom.

    python -m benchmarks.collection            all lessons; rewrites the section of benchmarks/README.md
    python -m benchmarks.collection 01 06      these, and rewrites nothing

Each lesson runs once in a fresh kernel, with sliders and films as for a reader who runs the cells, with the
parameters and the trained models that ship. Exits 1 where a limit is not kept.
"""

import argparse
import os
import platform
import sys
import time
from importlib.metadata import version

from benchmarks.sections import write_section
from tests.soak import lessons
from tests.soak._kernel import Lesson

BEGIN, END = "<!-- collection: made by benchmarks/collection.py -->", "<!-- end of collection -->"
MOST_MEGABYTES = 1500  # of one lesson's kernel, at its largest
MOST_MINUTES = 6  # of all lessons together

# Runs in the kernel after the last cell. Linux knows the peak of this program alone; elsewhere the peak
# counts what was there before the kernel's program was loaded, too.
PEAK = """
import pathlib as _path, re as _re, resource as _resource, sys as _sys
_status = _path.Path("/proc/self/status")
_peak = (
    int(_re.search(r"VmHWM:\\s+(\\d+)", _status.read_text())[1]) * 1024
    if _status.exists()
    else _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss * (1 if _sys.platform == "darwin" else 1024)
)
"""


def measure(lesson):
    """Run one lesson -> (seconds from the start, processor seconds, peak in bytes, longest cell)."""
    began = time.monotonic()
    with Lesson(lesson) as kernel:
        runs = kernel.run_all()
        seconds = time.monotonic() - began
        wrong = [line for run in runs for line in run.complaints]
        if wrong:
            raise RuntimeError(f"{lesson}: {'; '.join(wrong)}")
        processor = float(kernel.value("__import__('time').process_time()"))
        kernel.execute(PEAK)
        peak = int(kernel.value("_peak"))
    return seconds, processor, peak, max(run.seconds for run in runs)


def table(found):
    lines = [
        "| lesson | seconds | of the processor | longest cell, s | peak memory, MB |",
        "|---|---:|---:|---:|---:|",
    ]
    for lesson, (seconds, processor, peak, longest) in found.items():
        lines.append(
            f"| {lesson} | {seconds:.0f} | {processor:.0f} | {longest:.1f} | {peak / 1e6:.0f} |"
        )
    seconds, processor = (sum(row[i] for row in found.values()) for i in (0, 1))
    peak, longest = (max(row[i] for row in found.values()) for i in (2, 3))
    lines.append(f"| all | {seconds:.0f} | {processor:.0f} | {longest:.1f} | {peak / 1e6:.0f} |")
    return "\n".join(lines)


def kept(found):
    """Whether both limits are kept."""
    minutes = sum(row[0] for row in found.values()) / 60
    return minutes < MOST_MINUTES and max(row[2] for row in found.values()) < 1e6 * MOST_MEGABYTES


def section(found):
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}"
    packages = f"Python {platform.python_version()}, torch {version('torch')}"
    words = "kept" if kept(found) else "**not kept**"
    return f"""## The collection on a small machine

Every lesson top to bottom in a fresh kernel, one after the other, one thread, with what ships (lesson 06
trains its first model, as its parameters say). {time.strftime("%Y-%m-%d")}, {machine} at the end;
{packages}. `make bench`

{table(found)}

Limits: {MOST_MEGABYTES} MB for each kernel, {MOST_MINUTES} minutes for all: {words}."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lessons", nargs="*", help="two digits each; all where none is given")
    chosen = parser.parse_args().lessons
    found = {}
    for lesson in lessons():
        if not chosen or lesson[:2] in chosen:
            found[lesson] = measure(lesson)
            print(
                f"{lesson}: {found[lesson][0]:.0f} s, {found[lesson][2] / 1e6:.0f} MB", flush=True
            )
    print(table(found))
    if not chosen:
        write_section(BEGIN, END, section(found))
    return int(not kept(found))


if __name__ == "__main__":
    sys.exit(main())
