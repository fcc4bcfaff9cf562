"""How long the Jacobian of a stack takes: `helpers.jacobians` beside torch's own.

    python -m benchmarks.jacobians

One thread, 24 layers of width 64, the Jacobian of one token, alone and among 16. Prints a table and writes
it into its section of benchmarks/README.md. The ways take turns, so that a busy machine slows all alike.
"""

import platform
import statistics
import time
import warnings

import torch
from torch.autograd.functional import jacobian
from torch.func import jacrev

from benchmarks.sections import write_section
from helpers.jacobians import along_depth, token_jacobian
from helpers.stacks import random_stack

BEGIN, END = "<!-- jacobians: made by benchmarks/jacobians.py -->", "<!-- end of jacobians -->"
DEPTH, WIDTH, ROUNDS = 24, 64, 7


def through(stack):
    def function(hidden_states):
        for layer in stack:
            hidden_states = layer(hidden_states)
        return hidden_states

    return function


def of_first_token(function, hidden_states):
    """The same map as a function of one vector, as torch's own functions want it."""
    others = hidden_states[1:]

    def output_of(pushed):
        return function(torch.cat([pushed[None], others])[None])[0, 0]

    return output_of


def seconds(ways):
    """Median seconds of each way; they take turns. The first turn warms up."""
    times = {name: [] for name in ways}
    for turn in range(ROUNDS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def measure(tokens):
    stack = random_stack("pre", DEPTH, width=WIDTH).float()
    function = through(stack)
    generator = torch.Generator().manual_seed(0)
    hidden_states = torch.randn(tokens, WIDTH, generator=generator)
    output_of, first = of_first_token(function, hidden_states), hidden_states[0]
    ways = {
        "`torch.autograd.functional.jacobian`": lambda: jacobian(output_of, first),
        "the same, `vectorize=True`": lambda: jacobian(output_of, first, vectorize=True),
        "`torch.func.jacrev`": lambda: jacrev(output_of)(first),
        "`helpers.jacobians.token_jacobian`": lambda: token_jacobian(function, hidden_states),
        "`helpers.jacobians.along_depth`, all 24 depths": lambda: along_depth(stack, hidden_states)[
            1
        ][-1],
    }
    results = [way() for way in ways.values()]
    for result in results[1:]:
        torch.testing.assert_close(result, results[0], atol=1e-3, rtol=1e-3)
    return seconds(ways)


def table():
    alone, among = measure(1), measure(16)
    base = "`helpers.jacobians.token_jacobian`"
    lines = [
        "| way | 1 token | 16 tokens | times `token_jacobian` (1 / 16 tokens) |",
        "|---|---|---|---|",
    ]
    for name in alone:
        ratios = f"{alone[name] / alone[base]:.1f} / {among[name] / among[base]:.1f}"
        lines.append(
            f"| {name} | {1e3 * alone[name]:.0f} ms | {1e3 * among[name]:.0f} ms | {ratios} |"
        )
    return "\n".join(lines)


def section(rows):
    return f"""
## Jacobians of a stack

{DEPTH} Pre-Norm layers, width {WIDTH}, float32, the Jacobian of one token; median of {ROUNDS} turns,
one thread, Python {platform.python_version()}, torch {torch.__version__}.
All ways give the same matrix (asserted). `python -m benchmarks.jacobians`

{rows}

`token_jacobian` aims at 5 times the speed of the default form and at level with `vectorize=True`. It runs
torch's fused attention in its plain form, without which `torch.func` falls back to a slow loop on a CPU.
`along_depth` gives the Jacobians of all depths in one pass."""


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
    rows = table()
    print(rows)
    write_section(BEGIN, END, section(rows))


if __name__ == "__main__":
    main()
