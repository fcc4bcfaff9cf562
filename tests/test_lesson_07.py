"""Lesson 07: its pictures, its table of findings, and the runs that it reads."""

import json

import numpy as np
import pytest
import torch

from experiments import ablations, inside
from helpers import findings
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.claims import STATEMENTS, verdict
from helpers.comparison import NAMES, paired_difference
from helpers.figures import inside as figures


def test_maps_show_the_size_of_what_is_told():
    times = np.linspace(0, 1, 5)
    grows = times[:, None] * np.ones((5, 3))
    told = {name: (grows, 2 * grows, 0 * grows + 0.5) for name in ("layer 0", "final norm")}
    view = figures.ModulationMaps(times, told)
    view.update(t=0.5)
    assert [bar.get_height() for bar in view.bars["shift"]] == [1.0, 1.0]
    assert len(view.bars["gate"]) == 1, "the final norm has no gate"
    assert len(view.cursors) == 5 and all(c.get_xdata()[0] == 0.5 for c in view.cursors)


def test_guesses_follow_the_slider_and_the_choice():
    times, shape = [0.1, 0.5, 1.0], (3, 2, 4, 2)
    x_t = np.arange(48.0).reshape(shape)
    known, other = np.full((3, 6), 0.5), np.arange(18).reshape(3, 6) / 18
    others = {"one": other, "two": 1 - other}
    scene = ((1, 0), (0.5, 0), 0.18)
    view = figures.CoarseToFine(times, x_t, -x_t, known, others, (1, 4), scene)
    view.update(t=0.45, dashed="two")
    drawn = np.array(view.noisy.get_data())
    np.testing.assert_array_equal(drawn[:, 1:5].T, x_t[1, 0])
    assert np.isnan(drawn[:, 5]).all() and (drawn[:, 0] == 0).all()
    np.testing.assert_allclose(view.dashed[1].get_ydata(), 1 - other[:, 4])
    assert "two" in view.describe() and "t = 0.50" in view.describe()


def test_a_lie_is_shown_with_its_layer():
    told = np.linspace(0, 1, 3)
    samples = {name: np.full((3, 2, 4, 2), k) for k, name in enumerate(("layer 0", "everywhere"))}
    success = {"layer 0": [0.9, 0.8, 0.1], "everywhere": [0.5, 0.2, 0.0]}
    view = figures.LieSamples(told, samples, success, 0.95, ((1, 0), (0.5, 0), 0.18))
    view.update(told=1.0, layer="everywhere")
    assert view.now == 0.0 and "everywhere told t = 1.00" in view.describe()
    assert np.nanmax(view.paths.get_xdata()) == 1
    view.update(told=0.4, layer="layer 0")
    assert view.now == 0.8 and view.dot.get_xdata()[0] == 0.5


def test_the_probe_picture_judges_its_own_points():
    time = np.linspace(0, 1, 11)
    found = {model: np.full((4, 2), 0.9) for model in NAMES}
    view = figures.ProbeByDepth(time, [0 * time + 0.5, time], "untold", found, NAMES)
    assert view.now == pytest.approx(0)
    view.update(depth=1)
    assert view.now == pytest.approx(1) and "1 blocks" in view.describe()


def test_what_is_not_resolved_says_so():
    gaps = {"better": [-0.1, -0.11, -0.1, -0.09], "either": [-0.1, 0.1, 0.05, -0.03]}
    found = {name: (gap, paired_difference(gap, [0] * 4)) for name, gap in gaps.items()}
    words = figures.Ablations(found, "loss").describe()
    assert words.count("not resolved") == 1 and "either +0.0050" in words


def test_the_highway_shows_shares_and_sizes():
    view = figures.Highway([0.5, 1.0], [[1.5, 0.4], [-0.5, 0.6]], [[1.0, 2.0], [3.0, 4.0]])
    view.update(t=0.6)
    assert view.describe().startswith("What the final stream is made of at t = 0.50: input 150%")
    assert [bar.get_width() for bar in view.bars] == [1.0, 3.0]


def test_every_statement_stands_in_the_table(tmp_path):
    path = tmp_path / "verdicts.json"
    kept = {
        "1": [{"lesson": "01_x", "verdict": "holds", "value": "a | b"}],
        "15": [
            {"lesson": "04_y", "verdict": "holds", "value": "by hand"},
            {"lesson": "07_z", "verdict": "holds", "value": "of an earlier build"},
            {"lesson": "08_w", "verdict": "holds", "value": "of a later lesson"},
        ],
    }
    path.write_text(json.dumps(kept))
    here = [verdict(15, False, "just now"), verdict(24, None, "open")]
    table = findings.believed_and_found(here, "07", path)
    assert {row[0] for row in table.rows} == set(STATEMENTS)
    fifteen = [row[3:] for row in table.rows if row[0] == 15]
    assert fifteen == [("by hand", "04"), ("just now", "07")]
    assert table.as_they_stand == [1]
    text = table._repr_markdown_()
    assert "a \\| b" in text and "not decided" in text and "24. This is why" in repr(table)
    assert len(findings.believed_and_found(path=path).rows) == 26, "three for statement 15"
    with pytest.raises(FileNotFoundError, match="make notebooks"):
        findings.believed_and_found(path=tmp_path / "none.json")


def test_the_table_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(findings.believed_and_found().rows) >= len(STATEMENTS)


def test_ablations_differ_from_the_full_model_where_they_say():
    config = ExpertConfig(width=8, depth=2, mlp_width=8, observation_dim=4, one_token=True)
    models = {}
    for version in ablations.VERSIONS:
        torch.manual_seed(0)
        models[version] = ablations.make_model(version, config)
    cond, hidden = torch.randn(3, 8), torch.randn(3, 1, 8)
    for version, model in models.items():
        norm = model.transformer.blocks[0].feed_forward_norm
        _, gate = norm(hidden, cond)
        open_at_start = version in ("scale_only", "shift_only", "one_plus_gate")
        if version != "no_zero_init":
            assert torch.equal(gate, torch.full_like(gate, float(open_at_start))), version
        else:
            assert norm.modulation.weight.any()
        # All else starts from the full model's weights.
        same = models["full"].transformer.blocks[1].feed_forward.up.weight
        assert torch.equal(model.transformer.blocks[1].feed_forward.up.weight, same)
        torch.nn.init.normal_(norm.modulation.weight)
        scale, shift, gate = norm.scale_shift_gate(hidden, cond)
        assert scale.any() == (version not in ("shift_only", "gate_only"))
        assert shift.any() == (version not in ("scale_only", "gate_only"))
        assert (gate.std() > 0) == (version not in ("scale_only", "shift_only"))
    norm = models["layer_norm"].transformer.final_norm
    assert norm(hidden + 5, 0 * cond)[0].mean().abs() < 1e-5


def test_experiments_keep_one_file_a_run_and_take_up_where_they_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(inside, "CONDITIONINGS", ("adarms", "none"))
    monkeypatch.setattr(inside, "LOOKED_AT", 128)
    monkeypatch.setattr(ablations, "VERSIONS", {"full": ablations.AdaRMSNorm})
    for module in (inside, ablations):
        monkeypatch.setattr(module, "DEMONSTRATIONS", 200)
        folder = tmp_path / module.__name__
        made = module.main(folder=folder, seeds=(0, 1), steps=2)
        paths = sorted(folder.glob("*.json"))
        assert made == len(paths) > 0
        runs = [json.loads(path.read_text()) for path in paths]
        assert {run["settings"]["train"]["seed"] for run in runs} == {0, 1}
        assert all({"settings", "versions", "seconds", "loss"} <= set(run) for run in runs)
        assert module.main(folder=folder, seeds=(0, 1), steps=2) == 0
        paths[0].unlink()
        assert module.main(folder=folder, seeds=(0, 1), steps=2) == 1
        assert json.loads(paths[0].read_text())["loss"] == pytest.approx(runs[0]["loss"], abs=2e-3)


def test_the_shipped_runs_are_those_that_the_experiments_would_make():
    for module, names in ((inside, inside.CONDITIONINGS), (ablations, ablations.VERSIONS)):
        folder = inside.RESULTS / module.__name__.split(".")[-1]
        stems = {path.stem for path in folder.glob("*.json")}
        assert stems == {f"{name}_seed{seed}" for name in names for seed in module.SEEDS}
        for path in folder.glob("*.json"):
            train = json.loads(path.read_text())["settings"]["train"]
            assert train["steps"] == module.STEPS and path.stem.endswith(f"_seed{train['seed']}")


def test_the_shipped_models_are_small_and_whole():
    from helpers.training import CHECKPOINTS, load_checkpoint

    paths = [CHECKPOINTS / f"inside_{name}.safetensors" for name in inside.SHIPPED]
    assert sum(path.stat().st_size for path in paths) < 1_200_000
    for path, name in zip(paths, inside.SHIPPED, strict=True):
        kept = load_checkpoint(path, conditioning=name)
        assert isinstance(kept.model, ActionExpert)
        assert next(kept.model.parameters()).dtype == torch.float32
