"""The comparison of lesson 06: what ships is what the code would make, and a run is made once."""

import json
from dataclasses import replace

import pytest

from experiments import comparison
from experiments.records import is_kept
from experiments.run import EXPERIMENTS
from helpers.action_expert import ExpertConfig
from helpers.comparison import RESULTS, shipped_results
from helpers.training import TrainSettings

RUNS = comparison.runs()
SMALL = ExpertConfig(width=8, depth=1, mlp_width=8, observation_dim=4, one_token=True)


@pytest.fixture
def small(monkeypatch, tmp_path):
    for name, value in {
        "DEMONSTRATIONS": 50,
        "VALIDATION": 3,
        "TIMES": 2,
        "OF_ONE_SCENE": 5,
    }.items():
        monkeypatch.setattr(comparison, name, value)
    settings = TrainSettings(steps=20, batch=4)
    return {"folder": tmp_path, "chosen": {"one": ("adarms", SMALL, settings, 2)}}


def test_a_run_is_made_once_and_again_when_its_settings_change(small, capsys):
    assert comparison.main(**small) == 2  # the run, and the exact velocity's loss
    run = json.loads((small["folder"] / "one.json").read_text())
    assert len(run["validation_loss"]) == len(run["success"]) == 2
    assert len(run["loss_by_time"][1]) == len(run["times"]) == 2
    assert run["settings"]["seeds"] == [0, 1] and run["versions"]["torch"] and "seconds" in run
    assert comparison.main(**small) == 0 and "one.json is there" in capsys.readouterr().out
    assert comparison.main(**small, again=True) == 2
    kind, config, settings, seeds = small["chosen"]["one"]
    small["chosen"]["one"] = (kind, config, replace(settings, batch=5), seeds)
    assert comparison.main(**small) == 1
    assert sorted(path.name for path in small["folder"].iterdir()) == ["exact.json", "one.json"]


def test_an_interrupted_run_leaves_no_file(small, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "success_rate", stop)
    with pytest.raises(KeyboardInterrupt):
        comparison.main(**small)
    assert not list(small["folder"].iterdir())


@pytest.mark.parametrize("name", RUNS)
def test_what_ships_was_made_with_these_settings(name):
    settings = comparison.about(*RUNS[name])
    assert is_kept(RESULTS / f"{name}.json", settings), "run `make experiments`"
    run = shipped_results()[name]
    assert len(run["validation_loss"]) == len(settings["seeds"])


def test_the_comparison_is_fair():
    results = shipped_results()
    for group, base in (("depth4", "depth4"), ("depth8", "depth8"), ("attention", "attention")):
        wanted = results[f"{base}_adarms"]["parameters"]
        for name, run in results.items():
            if name.startswith(group):
                assert abs(run["parameters"] / wanted - 1) < 0.01, name
                assert run["times"] == results[f"{base}_adarms"]["times"]
    for group in ("depth4", "depth8"):
        assert all(len(results[f"{group}_{m}"]["success"]) == 10 for m in ("adarms", "added_gated"))
    assert all(len(run["success"]) >= 4 for name, run in results.items() if name != "exact")
    # No network beats what cannot be beaten.
    floor = results["exact"]["loss_by_time"]
    for name, run in results.items():
        if name != "exact":
            for by_time in run["loss_by_time"]:
                assert all(loss > 0.97 * least for loss, least in zip(by_time, floor, strict=True))


def test_make_experiments_runs_it():
    assert EXPERIMENTS["comparison"] is comparison.main


def test_without_results_it_says_what_to_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="make experiments"):
        shipped_results(tmp_path)
