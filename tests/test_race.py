"""The training race: same data and branches for all, results that a notebook can read, and resuming."""

import json
import signal

import pytest
import torch

from experiments import race as experiment
from helpers.race import VARIANTS, RaceConfig, Run, Sorter, race, shipped_results

TINY = RaceConfig(depth=2, width=8, mlp_width=8, numbers=4, vocabulary=6, batch=4, steps=3)


def test_all_start_from_the_same_branches_and_see_the_same_numbers():
    runs = [Run(variant, TINY, seed=1) for variant in ("pre", "post", "gate")]
    weights = [run.model.layers[1].feed_forward.up.weight for run in runs]
    assert torch.equal(weights[0], weights[1]) and torch.equal(weights[0], weights[2])
    before = torch.random.get_rng_state()
    steps = []
    race(runs, on_step=steps.append)
    assert steps == [1, 2, 3] and torch.equal(before, torch.random.get_rng_state())
    states = [run.data.get_state() for run in runs]
    assert torch.equal(states[0], states[1])
    for run in runs:
        assert {len(values) for values in run.result.values()} == {3}
        assert 0 <= run.final_accuracy() <= 1


def test_zero_gates_start_as_the_identity_and_small_outputs_are_small():
    numbers = torch.tensor([[3, 1, 2, 0]])
    gate = Sorter("gate", TINY)
    wanted = gate.head(gate.norm(gate.embed(numbers) + gate.position))
    assert torch.equal(gate(numbers), wanted)
    post, small = (Run(v, TINY, seed=0).model for v in ("post", "post_small"))
    torch.testing.assert_close(
        small.layers[0].attention.output.weight, post.layers[0].attention.output.weight / 2
    )


def test_warm_up_and_clipping_hold_back_the_first_steps():
    config = RaceConfig(**{**TINY.__dict__, "steps": 10})
    run = Run("post_warm", config)
    rates = []
    for _ in range(5):
        run.step()
        rates.append(run.optimizer.param_groups[0]["lr"] / config.learning_rate)
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])


def test_it_learns():
    config = RaceConfig(depth=1, numbers=3, vocabulary=4, steps=60, learning_rate=1e-2)
    run = Run("pre", config)
    race([run])
    assert run.final_accuracy() > 0.9


def test_an_interrupt_waits_for_the_end_of_a_step_and_the_race_goes_on():
    runs, whole = ([Run(name, TINY) for name in ("pre", "post")] for _ in range(2))
    with pytest.raises(KeyboardInterrupt, match=f"after 1 of {TINY.steps} steps"):
        race(runs, on_step=lambda step: signal.raise_signal(signal.SIGINT))
    assert [len(run.result["gradient_last"]) for run in runs] == [1, 1]
    race(runs)
    race(runs)  # nothing is left to do
    race(whole)
    assert [run.result for run in runs] == [run.result for run in whole]


def test_the_command_resumes_and_repeats_what_has_other_settings(tmp_path, capsys):
    assert experiment.main(folder=tmp_path, config=TINY, seeds=(0,)) == len(VARIANTS)
    assert experiment.main(folder=tmp_path, config=TINY, seeds=(0,)) == 0
    (tmp_path / "pre_seed0.json").unlink()
    assert experiment.main(folder=tmp_path, config=TINY, seeds=(0,)) == 1
    other = RaceConfig(**{**TINY.__dict__, "steps": 2})
    assert experiment.main(folder=tmp_path, config=other, seeds=(0,)) == len(VARIANTS)
    assert "is there" in capsys.readouterr().out
    record = json.loads((tmp_path / "post_seed0.json").read_text())
    assert record["settings"]["steps"] == 2 and record["versions"]["torch"] == torch.__version__
    assert len(record["accuracy"]) == 2 and record["seconds"] >= 0


def test_shipped_results_are_whole():
    records = shipped_results()
    assert sorted((r["variant"], r["seed"]) for r in records) == sorted(
        (variant, seed) for variant in VARIANTS for seed in experiment.SEEDS
    )
    for record in records:
        assert record["settings"] == RaceConfig().__dict__
        assert len(record["accuracy"]) == len(record["gradient_first"]) == 250


def test_missing_results_and_unknown_variants_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="make experiments"):
        shipped_results(tmp_path)
    with pytest.raises(ValueError, match="variant must be one of 'pre', 'post'"):
        Run("sandwich", TINY)
    with pytest.raises(ValueError, match="seed"):
        Run("pre", TINY, seed=-1)
