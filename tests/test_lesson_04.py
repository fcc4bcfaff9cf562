"""Lesson 04: its pictures show what they are given, and its mysteries are the mistakes they should be."""

import numpy as np
import pytest
import torch

from helpers import mistakes
from helpers.checks.lesson_04 import DIAGNOSES
from helpers.embeddings import time_embedding
from helpers.figures import ada_rms_norm, diagrams
from helpers.norms import modulate, rms_norm


def test_the_diagnoses_are_what_the_mysteries_are():
    for letter, name in DIAGNOSES.items():
        mystery, port = mistakes.MYSTERIES[letter], mistakes.PORTS[name]
        assert (mystery.norm, mystery.final_norm, mystery.time_mlp) == (
            port.norm,
            port.final_norm,
            port.time_mlp,
        )


def turn(z):
    return torch.stack([-z[..., 1], z[..., 0]], dim=-1)


X = torch.tensor([[3.0, 1.0], [-1.0, 2.0], [0.5, -2.0]], dtype=torch.float64)


def test_knobs_draw_what_is_read_and_written():
    view = ada_rms_norm.ThreeKnobs(X, rms_norm, modulate, turn)
    view.update(scale=-1.0, shift=0.5, gate=-1.0)
    read = np.array(view.pair.read.get_data()).T
    np.testing.assert_allclose(read[:, 0], 0.5)
    np.testing.assert_allclose(read[:, 1], rms_norm(X)[:, 1])
    arrows = np.stack([view.pair.arrows.U, view.pair.arrows.V], axis=1)
    np.testing.assert_allclose(arrows, np.stack([read[:, 1], -read[:, 0]], axis=1))
    view.update(scale=0.3, shift=0.0, gate=0.0)
    assert not np.any(view.pair.arrows.U) and "arrows it writes are 0.00 long" in view.describe()


def test_knobs_over_time_ask_for_the_time_that_is_shown():
    def modulation(time):
        return tuple(torch.stack([time + i, -time], dim=1) for i in range(3))

    view = ada_rms_norm.KnobsOverTime(modulation, X, rms_norm, modulate, turn)
    view.update(t=0.25)
    assert (
        "t = 0.25: scale (0.25, -0.25), shift (1.25, -0.25), gate (2.25, -0.25)" in view.describe()
    )


def test_stripes_measure_the_distance():
    embed = lambda t: time_embedding(torch.tensor(t), 16)  # noqa: E731
    periods = 4e-3 * 1000 ** np.linspace(0, 1, 8)
    view = ada_rms_norm.TimeStripes(embed, lambda t: 2 * embed(t), periods)
    for t, gap in ((0.0, 0.1), (1.0, 0.1), (0.5, 0.004), (0.6, 0.4)):
        view.update(t=t, gap=gap)
        # |e^ia - e^ib|^2 = 2 - 2 cos(a - b), summed over the pairs, whatever t is.
        wanted = np.sqrt((2 - 2 * np.cos(2 * np.pi * gap / periods)).sum())
        assert view.apart["time_emb"] * view.typical["time_emb"] == pytest.approx(wanted)
        assert view.apart["cond"] == pytest.approx(view.apart["time_emb"])
        (other,) = set(view.second[0].get_xdata())
        assert 0 <= other <= 1 and abs(other - t) == pytest.approx(gap)


def test_first_steps_mark_exact_zeros():
    view = ada_rms_norm.FirstSteps(
        {"a": [[0.0, 1e-3], [1.0, 1.0]], "b": [[1e-2] * 2] * 2}, list("pq")
    )
    assert [[t.get_text() for t in row] for row in view.texts] == [["0", "1e-03"], ["1e+00"] * 2]
    assert "zero at step 0: p; step 1: none" in view.describe()
    view.update(start="b")
    assert "step 0: none" in view.describe()


def test_workbench_shows_the_findings():
    findings = {name: mistakes.check(port) for name, port in mistakes.PORTS.items()}
    cloud = np.array([[0.0, 0.0], [50.0, 0.0]])
    view = ada_rms_norm.Workbench(
        mistakes.PORTS,
        findings,
        dict.fromkeys(findings, cloud),
        cloud,
        {name: 0.5 for name in findings},
    )
    view.update(mistake="gate left out")
    marks = {name: mark.get_text() for name, mark in view.marks.items()}
    assert marks == {"birth": "✗", "plain": "✓", "size": "✓", "numbers": "✗", "hearing": "✓"}
    assert len(view.cloud.get_xdata()) == 1, "a sample outside the frame is drawn"
    assert "tether#156" in view.describe() and "50%" in view.describe()
    view.update(mistake="none")
    assert set(mark.get_text() for mark in view.marks.values()) == {"✓"}


def test_the_diagram_lights_up_one_stop():
    view = diagrams.BlockDiagram()
    assert all(part.get_alpha() == 1 for parts in view.parts for part in parts)
    for stop in range(1, 9):
        view.update(stop=stop)
        lit = [i for i, parts in enumerate(view.parts, 1) if parts[0].get_alpha() == 1]
        assert lit == [stop] and f"Stop {stop}" in view.describe()
    assert len(diagrams.STOPS) == 8 and all(view.parts)
