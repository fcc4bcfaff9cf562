"""The numbers and pictures of one or two `Modulations`, as text and as one HTML page.

The page is a file by itself: pictures and style are in it, it loads nothing and runs nothing.
"""

import base64
import html
from typing import NamedTuple

import numpy as np
import torch

from helpers import pretrained

TIME = torch.linspace(0, 1, 41)
STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222;
       font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
figure { margin: 1.5rem 0; } figcaption { color: #444; }
img { max-width: 100%; height: auto; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { padding: .15rem .45rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child { text-align: left; font-weight: normal; white-space: nowrap; }
thead th { font-weight: bold; border-bottom-color: #888; }
.stand-in { border-left: 4px solid #cc3311; padding: .4rem .8rem; }
"""


class Row(NamedTuple):
    """One norm. Sizes are root mean squares over times and features, shares are of energy, 0 to 1."""

    norm: str
    scale: float
    shift: float
    gate: float
    mean_gate: float  # of the absolute value
    scale_varying: float  # share of the energy that depends on t; NaN where there is no energy
    shift_varying: float
    gate_varying: float


def rows(modulations, time=TIME):
    """One `Row` for each norm, in their order."""
    parts = modulations.modulation(time)  # (times, norms, width) each
    energies = [part.square().mean(dim=(0, 2)) for part in parts]
    varying = [
        1 - part.mean(dim=0).square().mean(dim=-1) / energy
        for part, energy in zip(parts, energies, strict=True)
    ]
    numbers = [*(energy.sqrt() for energy in energies), parts.gate.abs().mean(dim=(0, 2)), *varying]
    table = torch.stack(numbers, dim=1).tolist()
    return [Row(name, *line) for name, line in zip(modulations.norm_names, table, strict=True)]


def as_text(modulations, other=None):
    """The tables for a terminal."""
    return "\n\n".join(
        f"{heading}\n{legend}\n\n{_aligned(titles, lines)}"
        for heading, legend, titles, lines in _tables(_by_label(modulations, other))
    )


def as_html(modulations, other=None):
    """One page with pictures and tables."""
    weights = _by_label(modulations, other)
    title = "The modulations of " + " and ".join(weights)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><main>",
        f"<h1>{html.escape(title)}</h1>",
        *(_facts(label, one) for label, one in weights.items()),
        "<p>Time runs from 1, noise, to 0, data. Each norm of the action expert turns x into "
        "(1 + scale) · rms_norm(x) + shift, and the branch behind it is multiplied by gate.</p>",
    ]
    for pictures, table in zip(_pictures(weights), _tables(weights), strict=True):
        heading, legend, titles, lines = table
        parts.append(f"<h2>{html.escape(heading)}</h2>")
        parts += [_figure(view, caption) for view, caption in pictures]
        parts += [f"<p>{html.escape(legend)}</p>", _html_table(heading, titles, lines)]
    return "\n".join([*parts, "</main></body></html>\n"])


def _by_label(modulations, other):
    """{label: Modulations} of the one or two; two files of one name are still two."""
    found = {modulations.label: modulations}
    if other is not None:
        label = other.label if other.label not in found else f"{other.label}, second"
        found[label] = other
    return found


def _tables(weights):
    """(heading, legend, titles, lines of text) of what changed, if there are two, and of each."""
    found = []
    if len(weights) == 2:
        first, second = weights
        apart = pretrained.difference(*weights.values(), TIME)
        lines = [
            [name, *(_percent(float(values[k])) for values in apart[1:5])]
            for k, name in enumerate(apart.norm_names)
        ]
        legend = (
            f"From {first} to {second}: root mean square of the change over that of the first, in the "
            "weights of each Dense and in what it computes, over 41 times from 0 to 1. "
            f"The condition, which all norms read, changed by {_percent(apart.cond)}."
        )
        found.append(("What changed", legend, ["norm", "weights", "scale", "shift", "gate"], lines))
    legend = (
        "scale, shift, gate: root mean square over 41 times from 0 to 1 and all features. By t: the share "
        "of the energy (mean square) that depends on t."
    )
    titles = ["norm", "scale", "shift", "gate", "mean |gate|"]
    titles += [f"{part} by t" for part in ("scale", "shift", "gate")]
    for label, one in weights.items():
        lines = [
            [row.norm, *(f"{x:.4f}" for x in row[1:5]), *(_percent(x) for x in row[5:])]
            for row in rows(one)
        ]
        found.append((label, legend, titles, lines))
    return found


def _percent(share):
    return f"{share:.1%}" if np.isfinite(share) else "-"


def _aligned(titles, lines):
    widths = [max(len(line[k]) for line in (titles, *lines)) for k in range(len(titles))]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in (titles, *lines)
    )


def _html_table(name, titles, lines):
    head = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in titles)
    body = "\n".join(
        f'<tr><th scope="row">{line[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="table" tabindex="0"><table aria-label="{html.escape(name)}">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _facts(label, one):
    tensors = one.tensors.values()
    formats = " and ".join(sorted({str(t.dtype).removeprefix("torch.") for t in tensors}))
    words = (
        f"{label}: {len(tensors)} tensors with {sum(t.numel() for t in tensors):,} numbers in "
        f"{formats}; {one.depth} layers, {len(one.norm_names)} norms, width {one.width}."
    )
    if one.real:
        return f"<p>{html.escape(words)}</p>"
    return f'<p class="stand-in">{html.escape(words)} These are not the weights of pi0.5.</p>'


def _pictures(weights):
    """For each of `_tables` the pictures that go with it, as [(view, caption)]."""
    # Not at the top: text alone needs no matplotlib.
    from helpers.figures import changes, real_pi05

    times, told = TIME.numpy(), {}
    for label, one in weights.items():
        parts = (part.transpose(0, 1).numpy() for part in one.modulation(TIME))
        told[label] = real_pi05.Told(list(one.norm_names), *parts)
    if len(weights) == 2:
        apart = pretrained.difference(*weights.values(), TIME)
        by_part = {part: getattr(apart, part).numpy() for part in ("scale", "shift", "gate")}
        looks = dict(zip(told, real_pi05.FILE_LOOKS, strict=True))
        beside = real_pi05.SideBySide(times, told, looks)
        beside.update(depth=0.5)
        yield [
            (changes.Changes(list(apart.norm_names), by_part, *told), "The change, by layer."),
            (beside, "Both over time, in the middle layer."),
        ]
    for label, one in told.items():
        mine, everything = {label: one}, {"scale, shift and gate": one.joined("all")}
        yield [
            (
                real_pi05.TimeMaps(times, mine),
                "How large scale, shift and gate are: every norm at every time, and by layer at t = 1.",
            ),
            (
                real_pi05.ShareByLayer(mine),
                "Which share of the energy depends on t, by layer.",
            ),
            (
                real_pi05.TimeCurve(times, {label: everything}),
                "The curve that all modulations together run through as t goes from 1 to 0, along the "
                "directions in which it moves most.",
            ),
            (
                real_pi05.LastNorm(times, mine),
                "The final norm. Its gate is used by nothing and never gets a gradient.",
            ),
        ]


def _figure(view, caption):
    picture = base64.b64encode(view.png()).decode()
    return (
        f'<figure><img src="data:image/png;base64,{picture}" alt="{html.escape(view.describe())}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )
