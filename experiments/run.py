"""Run all experiments whose results ship with the collection, in order: `make experiments`.

    python -m experiments.run             runs what is missing
    python -m experiments.run --again     runs all
    python -m experiments.run race        runs these

Each keeps its results in experiments/results/<name>/ and takes up where it was interrupted.
"""

import argparse
import sys

from experiments import ablations, comparison, inside, race

# In the order of the lessons. Each is a function of `again`.
EXPERIMENTS = {
    "race": race.main,
    "comparison": comparison.main,
    "inside": inside.main,
    "ablations": ablations.main,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(EXPERIMENTS)}; all if left out")
    parser.add_argument("--again", action="store_true", help="run also what has results")
    options = parser.parse_args()
    unknown = set(options.names) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"there are {', '.join(EXPERIMENTS)}, not {', '.join(sorted(unknown))}")
    for name in options.names or EXPERIMENTS:
        EXPERIMENTS[name](again=options.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())
