"""Lesson 08: its pictures, its labels, and the whole notebook on files in pi0.5's layout."""

import asyncio
import json
import re

import nbformat
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from helpers import pretrained, probes
from helpers.figures import real_pi05 as figures
from tools import notebooks

(SOURCE,) = [s for s in notebooks.sources() if s.name.startswith("08_")]
NOT_REAL = "not the real weights"
TIMES = np.linspace(0, 1, 5)


def made(seed=0, width=8, depth=2):
    """`Told` of random weights whose last gate is zero."""
    weights = pretrained.stand_in(seed, width, depth)
    parts = [
        part.transpose(0, 1).numpy() for part in weights.modulation(torch.tensor(TIMES).float())
    ]
    parts[2] = parts[2].copy()
    parts[2][-1] = 0
    return figures.Told(weights.norm_names, *parts)


def test_told_splits_norms_and_measures_as_the_probes_do():
    told = made()
    assert told.rows("attention") == [0, 2] and told.rows("feed-forward") == [1, 3]
    assert told.rows("final norm") == [4]
    np.testing.assert_allclose(told.sizes("shift")[3, 1], np.sqrt((told.shift[3, 1] ** 2).mean()))
    shares = told.varying("scale")
    for norm, share in enumerate(shares):
        wanted = 1 - probes.constant_share(torch.tensor(told.scale[norm]))
        assert share == pytest.approx(wanted, abs=1e-5)
    assert np.isnan(told.varying("gate")[-1]), "no energy, no share"


def test_the_unused_gate_is_not_among_what_is_told():
    told = made(width=8, depth=2)
    assert told.joined("scale").shape == (5, 5 * 8) and told.joined("gate").shape == (5, 4 * 8)
    together = np.concatenate([told.joined(part) for part in probes.PARTS], axis=1)
    np.testing.assert_array_equal(told.joined("all"), together)
    np.testing.assert_array_equal(told.joined("shift")[3, 8:16], told.shift[1, 3])


def test_main_directions_are_those_of_the_singular_values():
    curve = np.random.default_rng(0).normal(size=(6, 30))
    places, shares = figures._main_directions(curve, 4)
    sigma = np.linalg.svd(curve - curve.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(shares, (sigma**2 / (sigma**2).sum())[:4], rtol=1e-9)
    np.testing.assert_allclose((places**2).sum(axis=0), sigma[:4] ** 2, rtol=1e-9)
    assert (places[-1] >= 0).all()
    still, none = figures._main_directions(np.ones((3, 2)), 4)
    assert still.shape == (3, 4) and not still.any() and not none.any()
    _, line = figures._main_directions(np.outer(np.arange(5.0), [1, 2]), 3)
    np.testing.assert_allclose(line, [1, 0, 0], atol=1e-9)


def test_maps_show_sizes_by_half_and_layer():
    told = {"one": made(), "two": made(1, width=4, depth=3)}
    view = figures.TimeMaps(TIMES, told)
    view.update(t=0.3, weights="two")
    sizes = told["two"].sizes("gate")
    most = sizes[:-1].max()
    np.testing.assert_allclose(view.lines["gate", "attention"].get_ydata(), sizes[0:6:2, 1] / most)
    np.testing.assert_allclose(view.images["gate", "feed-forward"].get_array(), sizes[1:6:2])
    assert view.images["gate", "final norm"].get_array().shape == (1, 5)
    assert (
        view.title.get_text() == "two: RMS at t = 0.25"
        and "final ≤ 0" in view.heads["gate"].get_text()
    )
    with pytest.raises(ValueError, match="weights must be one of 'one', 'two', got 'three'"):
        view.update(t=0.3, weights="three")


def test_one_norm_feature_by_feature():
    told = made()
    view = figures.FeatureMap(TIMES, {"mine": told})
    view.update(t=1.0, norm=3, part="scale")
    order = np.argsort(told.scale[3].mean(axis=0))
    np.testing.assert_array_equal(view.image.get_array(), told.scale[3][:, order].T)
    np.testing.assert_allclose(view.now, np.quantile(told.scale[3, -1], view.LEVELS))
    view.update(t=1.0, norm=4, part="gate")
    assert "gate of final norm, zero everywhere" in view.title.get_text()
    assert not any(text.get_visible() for text in [*view.names, *view.ends])
    wide = figures.FeatureMap(TIMES, {"wide": made(width=1024, depth=1)})
    assert wide.image.get_array().shape == (256, 5)


def test_names_beside_curves_keep_apart():
    heights = figures._apart([0.1, 0.1, 0.1, 0.5], 0.05)
    assert (np.diff(heights) > 0.05 - 1e-9).all() and np.mean(heights) == pytest.approx(0.2)
    np.testing.assert_allclose(figures._apart([0.1, 0.4], 0.05), [0.1, 0.4])


def test_long_labels_keep_their_end():
    path = (
        "checkpoints/"
        + 20 * "folder/"
        + "model.safetensors (width 64, 18 layers: not pi0.5's size)"
    )
    assert len(figures._short(path)) <= 58 and figures._short(path).endswith("not pi0.5's size)")
    assert figures._short("lerobot/pi05_base") == "lerobot/pi05_base"


def test_shares_and_the_last_norm_switch_between_networks():
    told = {"one": made(), "two": made(1, width=4, depth=3)}
    view = figures.ShareByLayer(told)
    view.update(weights="two")
    np.testing.assert_allclose(
        view.lines["shift", "attention"].get_ydata(), told["two"].varying("shift")[0:6:2]
    )
    assert view.title.get_text().startswith("two:")
    last = figures.LastNorm(TIMES, told)
    last.update(t=0.0, weights="two")
    values = np.sort(told["two"].scale[-1, 0])
    most = np.abs(told["two"].scale[-1]).max()
    np.testing.assert_allclose(last.lines["scale"].get_ydata(), values / most)
    assert last.now["gate"] == 0 and last.ends["gate"].get_text() == "unused gate: up to ±0"


def test_the_path_and_its_directions():
    turn = 2 * np.pi * TIMES / 1.25
    circle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    view = figures.TimeCurve(TIMES, {"a": {"line": TIMES[:, None] * [1.0, 2.0], "circle": circle}})
    assert view.bars[0].get_height() == pytest.approx(1)
    view.update(t=0.5, weights="a", what="circle")
    assert [bar.get_height() for bar in view.bars[:2]] == pytest.approx([0.5, 1])
    at = view.found["a", "circle"][0] / np.abs(view.found["a", "circle"][0]).max()
    np.testing.assert_allclose(view.dots[1].get_data(), [[at[2, 0]], [at[2, 2]]], atol=1e-9)
    assert "circle, t = 0.50" in view.title.get_text()


def test_distances_are_in_units_of_the_largest():
    near = np.array([-0.1, 0, 0.1])
    far = np.abs(TIMES[:, None] - TIMES) * 4
    close = np.array([[np.nan, 0, 0.4], [0.4, 0, np.nan]])
    view = figures.TimeDistances(TIMES, [0.0, 1.0], near, {"a": {"x": far}}, {"a": {"x": close}})
    view.update(t=0.9, weights="a", what="x")
    np.testing.assert_allclose(view.row.get_ydata(), 1 - TIMES)
    np.testing.assert_allclose(view.window.get_ydata(), [0.1, 0, np.nan])
    np.testing.assert_allclose(view.steps.get_ydata(), 1 - figures.EULER, atol=1e-9)
    assert "to t' = 0 1.00" in view.describe() and "at most 0.10" in view.describe()


def test_networks_of_other_depth_are_matched_by_relative_depth():
    one, short = made(), made(1, width=4, depth=4)
    alone = figures.Told(
        [n for n in short.names if "attention" not in n], *(p[[1, 3, 5, 7, 8]] for p in short[1:])
    )
    looks = {"one": ("black", "-"), "alone": ("red", "--")}
    view = figures.SideBySide(TIMES, {"one": one, "alone": alone}, looks)
    view.update(depth=1.0)
    np.testing.assert_allclose(view.lines["one", "gate"].get_ydata(), one.sizes("gate")[3])
    np.testing.assert_allclose(view.lines["alone", "gate"].get_ydata(), short.sizes("gate")[7])
    assert [t.get_text() for t in view.names] == ["one, layer 1", "alone, layer 3 (dashed)"]


def _texts(notebook) -> str:
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def _pictures(notebook) -> list[str]:
    """What each picture says of itself."""
    return [
        o.metadata["image/png"]["alt"]
        for c in notebook.cells
        for o in c.get("outputs", [])
        if "image/png" in o.get("data", {})
    ]


def test_what_ships_says_in_every_picture_that_it_is_no_pi05():
    shipped = nbformat.read(notebooks.built(SOURCE), as_version=4)
    assert "These pages are about: our trained expert, not the real weights" in _texts(shipped)
    words = _pictures(shipped)
    assert len(words) == 7 and all(NOT_REAL in alt for alt in words)
    (parameters,) = [c.source for c in shipped.cells if "parameters" in c.metadata.get("tags", [])]
    assert "DOWNLOAD = False" in parameters and "MB" in parameters


@pytest.fixture(scope="module")
def on_files(tmp_path_factory):
    """The notebook run with modulations in the cache, and a second file in a checkpoint's layout."""
    folder = tmp_path_factory.mktemp("weights")
    cached = pretrained.cache_file(cache=folder / "cache")
    cached.parent.mkdir()
    weights = pretrained.stand_in(5, 16, 18)
    pretrained.Modulations(weights.tensors, "lerobot/pi05_base at main (made)", True).save(cached)
    second = {f"model.{name}": 1.5 * tensor for name, tensor in weights.tensors.items()}
    second["model.action_out_proj.bias"] = torch.zeros(32)
    save_file(second, folder / "finetuned.safetensors")

    notebook = notebooks.read_source(SOURCE)
    (cell,) = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    cell.source += f"\nSECOND = {json.dumps(str(folder / 'finetuned.safetensors'))}"
    environment = {"ADARMS_CACHE": str(folder / "cache"), "HF_ENDPOINT": "http://127.0.0.1:9"}
    asyncio.run(notebooks.execute_async(notebook, folder, environment))
    return notebook


def test_with_a_file_the_same_cells_are_about_the_file(on_files):
    printed, label = _texts(on_files), "lerobot/pi05_base at main (made)"
    assert f"These pages are about: {label}" in printed
    assert printed.count(f"\n{label}") >= 5, "what is found is printed with its label"
    words = _pictures(on_files)
    assert len(words) == 7 and all(label in alt for alt in words)
    assert [NOT_REAL in alt for alt in words] == [False] * 6 + [True], "the last compares"
    assert "N(0, 0.02): openpi's PyTorch init" in printed


def test_two_files_are_compared(on_files):
    printed = _texts(on_files)
    assert "from first to second:" in printed and "finetuned.safetensors" in printed
    changed = re.findall(r"^(\w+) changed by ([\d.]+)%, mean over layers", printed, re.MULTILINE)
    assert [part for part, _ in changed] == list(probes.PARTS)
    assert all(float(share) > 10 for _, share in changed)
