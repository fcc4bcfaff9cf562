"""The loop trains, can be stopped and goes on; checkpoints keep what they should and refuse the rest."""

import ast
import errno
import json
import math
import os
import pickle
import queue
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save
from torch import nn

from helpers import training
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import (
    matched_config,
    paired_difference,
    reach_data,
    trained_parameters,
)
from helpers.evaluation import (
    exact_reach_velocity,
    loss_by_time,
    measure_by_time,
    quantile_times,
    sample_actions,
    success_rate,
    validation_loss,
)
from helpers.flow import sample_time
from helpers.training import (
    Training,
    TrainSettings,
    load_checkpoint,
    save_checkpoint,
    train_seeds,
)
from tests.soak.interrupt import kills

ROOT = Path(__file__).resolve().parent.parent
SMALL = ExpertConfig(width=8, depth=2, mlp_width=8, observation_dim=4, one_token=True)
SETTINGS = TrainSettings(steps=12, batch=8, warm_up=3)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("HELPERS_STILL", "1")


@pytest.fixture(scope="module")
def reach():
    scene, actions = reach_data(200, seed=0)
    return actions, scene.observation


def model(seed=0, config=SMALL, conditioning="adarms"):
    torch.manual_seed(seed)
    return ActionExpert(config, conditioning)


def weights(module):
    return torch.cat([parameter.detach().flatten() for parameter in module.parameters()])


def test_learns_what_it_is_shown():
    # One chunk only: the best answer needs nothing but the time and x_t.
    actions = torch.ones(64, 2, 2)
    config = replace(SMALL, width=16, horizon=2, observation_dim=0)
    settings = TrainSettings(steps=150, batch=64, learning_rate=1e-2)
    run = Training(model(config=config), actions, settings=settings).run()
    assert run.losses[0] > 1 and sum(run.losses[-20:]) / 20 < 0.2 * run.losses[0]


def test_the_same_seed_gives_the_same_run_and_another_seed_another(reach):
    first = Training(model(), *reach, SETTINGS).run()
    again = Training(model(), *reach, SETTINGS).run()
    other = Training(model(), *reach, replace(SETTINGS, seed=1)).run()
    assert first.losses == again.losses != other.losses
    assert torch.equal(weights(first.model), weights(again.model))


def test_leaves_torchs_own_random_numbers_alone(reach):
    torch.manual_seed(5)
    wanted = torch.rand(3)
    run = Training(model(), *reach, SETTINGS)
    torch.manual_seed(5)
    run.run()
    train_seeds(lambda: ActionExpert(SMALL), [0, 1], *reach, SETTINGS)
    assert torch.equal(torch.rand(3), wanted)


def test_in_pieces_it_is_the_same_run(reach):
    whole = Training(model(), *reach, SETTINGS).run()
    pieces = Training(model(), *reach, SETTINGS)
    assert pieces.run(steps=5).step == 5
    assert pieces.run(steps=100).step == 12 and pieces.run().step == 12
    assert pieces.losses == whole.losses
    assert torch.equal(weights(pieces.model), weights(whole.model))


def test_on_step_sees_every_step_after_it_was_made(reach):
    seen = []
    Training(model(), *reach, SETTINGS).run(
        on_step=lambda run: seen.append((run.step, len(run.losses)))
    )
    assert seen == [(n, n) for n in range(1, 13)]


def test_an_error_in_on_step_keeps_the_model(reach):
    def fail(run):
        if run.step == 4:
            raise RuntimeError("no picture")

    run = Training(model(), *reach, SETTINGS)
    with pytest.raises(RuntimeError, match="no picture"):
        run.run(on_step=fail)
    assert run.step == 4
    whole = Training(model(), *reach, SETTINGS).run()
    assert run.run().losses == whole.losses


def test_learning_rate_warms_up_and_falls_to_zero():
    settings = TrainSettings(steps=100, learning_rate=1.0, warm_up=9)
    rates = [settings.rate(step) for step in range(101)]
    assert rates[0] == pytest.approx(0.1) and max(rates) > 0.97
    assert rates[50] == pytest.approx(0.5) and rates[100] == pytest.approx(0, abs=1e-12)
    assert rates[9:] == sorted(rates[9:], reverse=True)


def test_gradients_are_clipped(reach):
    run = Training(model(), *reach, replace(SETTINGS, clip=1e-3))
    run.run(steps=1)
    norms = [p.grad.square().sum() for p in run.model.parameters() if p.grad is not None]
    assert torch.stack(norms).sum().sqrt() <= 1.001e-3


def test_a_loss_that_is_no_number_stops_with_words(reach):
    broken = model()
    with torch.no_grad():
        broken.action_out.bias[0] = math.nan
    run = Training(broken, *reach, SETTINGS)
    with pytest.raises(FloatingPointError, match=r"step 0.*learning_rate"):
        run.run()
    assert run.step == 0


# -- several seeds at once -------------------------------------------------------------------------


@pytest.mark.parametrize("conditioning", ["adarms", "added_gated", "input"])
def test_seeds_side_by_side_are_the_seeds_one_by_one(reach, conditioning):
    settings = replace(SETTINGS, clip=0.5)
    models, losses = train_seeds(
        lambda: ActionExpert(SMALL, conditioning), [0, 3], *reach, settings
    )
    for seed, trained, its_losses in zip([0, 3], models, losses, strict=True):
        alone = Training(
            model(seed, conditioning=conditioning), *reach, replace(settings, seed=seed)
        )
        alone.run()
        torch.testing.assert_close(its_losses, torch.tensor(alone.losses), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(weights(trained), weights(alone.model), atol=2e-4, rtol=1e-3)


def test_seeds_side_by_side_with_attention():
    config = replace(SMALL, one_token=False, num_heads=2, head_dim=4)
    scene, actions = reach_data(50, seed=0)
    settings = replace(SETTINGS, steps=3)
    models, losses = train_seeds(
        lambda: ActionExpert(config), [0, 1], actions, scene.observation, settings
    )
    alone = Training(model(1, config), actions, scene.observation, replace(settings, seed=1)).run()
    torch.testing.assert_close(losses[1], torch.tensor(alone.losses), atol=1e-5, rtol=1e-4)
    assert not torch.equal(weights(models[0]), weights(models[1]))


# -- interrupts ------------------------------------------------------------------------------------

SCRIPT = """
import torch
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import reach_data
from helpers.training import Training, TrainSettings

torch.set_num_threads(1)
config = ExpertConfig(width=8, depth=2, mlp_width=8, observation_dim=4, one_token=True)
scene, actions = reach_data(200, seed=0)
def make():
    torch.manual_seed(0)
    settings = TrainSettings(steps=STEPS, batch=8)
    return Training(ActionExpert(config), actions, scene.observation, settings)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child there")
def test_ctrl_c_in_a_script_stops_between_steps_and_the_run_goes_on():
    code = (
        SCRIPT.replace("STEPS", "3000")
        + """
run = make()
run.run(on_step=lambda run: print("going", flush=True) if run.step == 20 else None)
print("step", run.step, flush=True)
run.run(steps=10)
whole = make().run(steps=run.step)
print("same", run.losses == whole.losses)
"""
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline().strip() == "going"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "stopped after" in out and "same True" in out
    step = int(out.split("step ")[1].split()[0])
    assert 20 <= step < 3000


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child there")
def test_a_second_ctrl_c_stops_at_once():
    code = (
        SCRIPT.replace("STEPS", "3000")
        + """
import time
def dawdle(run):
    print("dawdling", flush=True)
    time.sleep(60)
make().run(on_step=dawdle)
"""
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline().strip() == "dawdling"
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "KeyboardInterrupt" in err


def test_an_interrupt_afterwards_acts_as_before(reach):
    before = signal.getsignal(signal.SIGINT)
    Training(model(), *reach, SETTINGS).run()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="kernels are interrupted otherwise there")
def test_interrupting_a_kernel_keeps_the_model():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        client.execute_interactive(SCRIPT.replace("STEPS", "3000"), timeout=120)
        said = []
        began = "print('going', flush=True) if run.step == 20 else None"
        request = client.execute(f"run = make()\n_ = run.run(on_step=lambda run: {began})")
        interrupted = False
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                message = client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])
                if "going" in said[-1] and not interrupted:
                    manager.interrupt_kernel()
                    interrupted = True
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        reply = client.get_shell_msg(timeout=10)
        assert reply["content"]["status"] == "ok", reply["content"]
        assert interrupted and "stopped after" in "".join(said)
        check = (
            "stopped = run.step\nrun.run(steps=10)\n"
            "same = make().run(steps=run.step).losses == run.losses"
        )
        client.execute_interactive(check, timeout=120)
        reply = client.execute_interactive(
            "pass", user_expressions={"found": "(20 <= stopped < 3000, same)"}, timeout=30
        )
        assert reply["content"]["user_expressions"]["found"]["data"]["text/plain"] == "(True, True)"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# -- checkpoints -----------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, model(), SETTINGS, step=7, success=0.5)
    return path


def test_a_checkpoint_brings_back_all_of_it(saved):
    found = load_checkpoint(saved, config=SMALL, conditioning="adarms")
    assert torch.equal(weights(found.model), weights(model()))
    assert found.settings == SETTINGS and found.step == 7 and found.notes == {"success": 0.5}
    assert found.model.config == SMALL and found.model.conditioning == "adarms"


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(type(saved), "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(saved, model(1), SETTINGS)
    monkeypatch.undo()
    assert saved.read_bytes() == before and [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_what_a_killed_writer_left_is_removed_once_it_is_old(saved):
    old, new = (saved.with_name(f".{saved.name}.{process}") for process in (11, 12))
    for path in (old, new):
        path.write_bytes(b"half a file")
    os.utime(old, (time.time() - 100,) * 2)
    save_checkpoint(saved, model(1), SETTINGS)
    assert not old.exists() and new.exists()  # a writer of this minute may still be at work


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_where_the_folder_may_not_be_written_the_temporary_folder_serves(
    saved, tmp_path, monkeypatch, capsys, number
):
    before, write = saved.read_bytes(), type(saved).write_bytes

    def refuse(path, data):
        if path.parent == saved.parent:
            raise OSError(number, os.strerror(number), str(path))
        return write(path, data)

    monkeypatch.setattr(type(saved), "write_bytes", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    found = save_checkpoint(saved, model(1), SETTINGS)
    assert (tmp_path / "elsewhere") in found.parents and found.name == saved.name
    said = capsys.readouterr().out
    assert str(found) in said and "may not be written" in said
    assert torch.equal(weights(load_checkpoint(found).model), weights(model(1)))
    assert saved.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 there")
def test_a_kill_in_the_middle_of_a_write_leaves_a_whole_file():
    finding = kills("train", kills=10)
    assert finding.count == 10 and not finding.problems


def rewritten(path, change=None, metadata=None):
    """The checkpoint with its tensors or its metadata changed."""
    tensors = load_file(path)
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        kept = file.metadata()
    if change:
        change(tensors)
    path.write_bytes(save(tensors, {**kept, **(metadata or {})}))


CONFIG = {"width": 8, "depth": 2, "mlp_width": 8, "observation_dim": 4, "one_token": True}
OPENS_PICKLES = re.compile(
    r"(?<!safetensors\.)\btorch\.(load|save)\b|pickle|\b(joblib|dill|shelve)\b"
)


def about(**changes):
    wanted = {
        "config": CONFIG,
        "conditioning": "adarms",
        "settings": {},
        "step": 1,
        "notes": {},
        **changes,
    }
    return {"about": json.dumps(wanted)}


@pytest.mark.parametrize(
    "spoil,says",
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "cut off or damaged"),
        (lambda p: p.write_bytes(p.read_bytes()[:20]), "cut off or damaged"),
        (lambda p: p.write_bytes(b""), "cut off or damaged"),
        (lambda p: p.write_bytes(pickle.dumps({"a": 1})), "is a pickle"),
        (lambda p: torch.save({"a": torch.zeros(2)}, p), "is a pickle"),
        (lambda p: p.write_bytes(save({"a": torch.zeros(2)})), "no checkpoint of this collection"),
        (lambda p: rewritten(p, metadata={"format": "other 3"}), "'other 3'"),
        (lambda p: rewritten(p, metadata={"about": "{"}), "metadata"),
        (lambda p: rewritten(p, metadata=about(conditioning="sung")), "metadata"),
        (lambda p: rewritten(p, metadata=about(config={"width": 8})), "metadata"),
        (
            lambda p: rewritten(p, metadata=about(config={**CONFIG, "width": 2.5})),
            "metadata.*width",
        ),
        (lambda p: rewritten(p, metadata=about(settings={"speed": 1})), "metadata.*speed"),
        (lambda p: rewritten(p, metadata=about(step=-1)), "metadata.*step"),
        (lambda p: rewritten(p, metadata=about(notes=[])), "metadata.*notes"),
        (lambda p: rewritten(p, metadata={"about": "[]"}), "metadata"),
        (
            lambda p: rewritten(p, metadata=about(config={**CONFIG, "depth": 3})),
            "transformer.blocks.2.*is missing",
        ),
        (lambda p: p.write_bytes(pickle.dumps({"a": 1}, protocol=0)), "cut off or damaged"),
        (lambda p: p.write_bytes(bytes(100)), "cut off or damaged"),
        (lambda p: p.write_bytes(b"\xff" * 100), "cut off or damaged"),
        (lambda p: p.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"), "cut off"),
        (lambda p: rewritten(p, lambda t: t.clear()), "action_in.bias is missing"),
        (
            lambda p: rewritten(p, lambda t: t.update({"action_in.bias": torch.ones(8).int()})),
            "action_in.bias is torch.int32",
        ),
        (
            lambda p: rewritten(p, lambda t: t["action_in.bias"].fill_(math.nan)),
            "action_in.bias holds NaN",
        ),
        (lambda p: rewritten(p, lambda t: t.pop("action_in.bias")), "action_in.bias is missing"),
        (lambda p: rewritten(p, lambda t: t.update(extra=torch.zeros(1))), "extra is unknown"),
        (
            lambda p: rewritten(p, lambda t: t.update({"action_in.bias": torch.zeros(3)})),
            r"action_in.bias is \(3,\) instead of \(8,\)",
        ),
    ],
)
def test_a_file_that_is_no_whole_checkpoint_is_refused(saved, spoil, says):
    spoil(saved)
    with pytest.raises(ValueError, match=says) as caught:
        load_checkpoint(saved)
    message = str(caught.value)
    assert message.startswith("model.safetensors ") and message.endswith(training.MAKE_ANEW)


def test_a_model_kept_in_half_precision_is_widened(saved):
    rewritten(saved, lambda t: t.update({key: value.half() for key, value in t.items()}))
    found = load_checkpoint(saved).model
    assert all(value.dtype == torch.float32 for value in found.state_dict().values())
    assert all(torch.equal(value, value.half().float()) for value in found.state_dict().values())


@pytest.mark.parametrize("share", range(0, 100, 3))
def test_a_file_cut_off_anywhere_is_refused(saved, share):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) * share // 100])
    with pytest.raises(ValueError, match=r"^model.safetensors is cut off or damaged"):
        load_checkpoint(saved)


def test_a_path_that_is_no_readable_file_is_named(saved):
    with pytest.raises(FileNotFoundError, match=r"^none.safetensors is missing in .*make check"):
        load_checkpoint(saved.with_name("none.safetensors"))
    with pytest.raises(IsADirectoryError, match=r"is a folder: name the .safetensors file in it"):
        load_checkpoint(saved.parent)
    with pytest.raises(TypeError, match=r"path must be a path .* got int"):
        load_checkpoint(3)


def test_a_file_that_may_not_be_read_is_named(saved, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # chmod would not stop root
    with pytest.raises(PermissionError, match=r"^model.safetensors may not be read"):
        load_checkpoint(saved)


def test_no_length_of_a_header_makes_a_checkpoint_look_like_a_pickle(saved):
    first = set()
    for length in range(0, 256, 8):  # the header is padded to a multiple of 8
        save_checkpoint(saved, model(), SETTINGS, words="x" * length)
        first.add(saved.read_bytes()[0])
        assert load_checkpoint(saved).notes == {"words": "x" * length}
    assert 0x80 in first  # as a pickle starts


def test_nothing_reads_or_writes_a_pickle():
    """No torch.load, torch.save, pickle, joblib, or numpy's pickles, in any file that learners run."""
    found = []
    folders = ("helpers", "notebooks/source", "experiments", "tools", "benchmarks")
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name.name}" for name in node.names]
            elif isinstance(node, ast.Attribute):
                names = [ast.unparse(node)]
            elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                names = ["allow_pickle"]
            found += [f"{path.name}:{name}" for name in names if OPENS_PICKLES.search(name)]
    assert not found
    assert OPENS_PICKLES.search("torch.load") and not OPENS_PICKLES.search("json.load")


def test_a_pickle_is_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "opened"),))

    path = tmp_path / "model.safetensors"
    for protocol in (2, 4):
        path.write_bytes(pickle.dumps(Trap(), protocol=protocol))
        with pytest.raises(ValueError, match="pickle"):
            load_checkpoint(path)
    assert not (tmp_path / "opened").exists()


def test_another_config_or_conditioning_is_named(saved):
    with pytest.raises(ValueError, match="depth 2 instead of 3"):
        load_checkpoint(saved, config=replace(SMALL, depth=3))
    with pytest.raises(ValueError, match="'adarms' instead of 'added'"):
        load_checkpoint(saved, conditioning="added")


@pytest.mark.parametrize(
    "call,error,says",
    [
        (lambda: save_checkpoint("a.pt", model(), SETTINGS), ValueError, "safetensors"),
        (lambda: save_checkpoint("a.safetensors", nn.Linear(1, 1), SETTINGS), TypeError, "Linear"),
        (lambda: save_checkpoint("a.safetensors", model(), {}), TypeError, "TrainSettings.*dict"),
        (
            lambda: save_checkpoint("a.safetensors", model().double(), SETTINGS),
            ValueError,
            r"model.*float32.*got torch.float64",
        ),
        (lambda: TrainSettings(steps=0), ValueError, "steps"),
        (lambda: TrainSettings(batch=1.5), TypeError, "batch"),
        (lambda: TrainSettings(learning_rate=-1.0), ValueError, "learning_rate"),
        (lambda: TrainSettings(seed=-1), ValueError, "seed"),
        (lambda: Training("model", torch.zeros(2, 16, 2)), TypeError, "model.*str"),
        (lambda: Training(model(), torch.zeros(0, 16, 2)), ValueError, "actions"),
        (lambda: Training(model(), torch.full((2, 16, 2), math.nan)), ValueError, "actions.*NaN"),
        (
            lambda: Training(model(), torch.zeros(3, 16, 2), torch.zeros(2, 4)),
            ValueError,
            "observation.*3 actions, got 2",
        ),
        (lambda: train_seeds(lambda: 3, [], torch.zeros(2, 16, 2)), ValueError, "seeds"),
        (lambda: paired_difference([1.0, 2.0], [1.0]), ValueError, "paired"),
        (lambda: paired_difference([1.0], [1.0]), ValueError, "2 to 10 seeds"),
        (lambda: matched_config(SMALL, "sung"), ValueError, "conditioning"),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(
    "name,config,least", [("reach", ExpertConfig.REACH, 0.85), ("chunk", ExpertConfig.TINY, 0.6)]
)
def test_the_shipped_models_are_small_and_good(name, config, least):
    path = training.CHECKPOINTS / f"{name}.safetensors"
    assert path.stat().st_size < 2_000_000
    found = load_checkpoint(path, config, "adarms")
    scene, _ = reach_data(300, seed=7)
    rate = success_rate(found.model, scene)
    assert rate >= least and abs(rate - found.notes["success"]) < 0.06


# -- measures --------------------------------------------------------------------------------------


def test_quantile_times_stand_for_the_training_times():
    drawn = sample_time(200_000, generator=torch.Generator().manual_seed(0))
    laid = quantile_times(64)
    assert laid.mean() == pytest.approx(drawn.mean().item(), abs=2e-3)
    assert laid.square().mean() == pytest.approx(drawn.square().mean().item(), abs=2e-3)
    assert (laid > 0).all() and (laid < 1).all()


def test_validation_loss_is_the_training_loss(reach):
    actions, observation = reach
    network = model()
    run = Training(network, *reach, TrainSettings(steps=10**6, batch=4000, learning_rate=1e-30))
    run.run(steps=3)
    wanted = sum(run.losses) / 3
    assert validation_loss(network, actions, observation) == pytest.approx(wanted, rel=0.03)
    by_time = loss_by_time(network, actions, observation, [0.5, 1.0])
    assert by_time.shape == (2,) and (by_time > 0).all()


def test_the_exact_velocity_is_better_than_any_shift_of_it_and_samples_succeed():
    scene, actions = reach_data(30, seed=1)
    exact = exact_reach_velocity(scene, count=400)
    times = [1.0, 0.7, 0.3]
    loss, success = measure_by_time(exact, scene, actions, times)
    worse, _ = measure_by_time(lambda x, t: exact(x, t) + 0.3, scene, actions, times)
    assert (loss < worse).all() and success[0] < 0.1 and success[-1] == 1
    # At t = 1 the best answer is the mean of the data: what is left is their spread round it.
    assert 0.15 < loss[0] < 0.35

    class Exact:
        config = ExpertConfig.REACH

        def __call__(self, x_t, time, observation):
            return exact(x_t, time)

    assert success_rate(Exact(), scene) > 0.9
    assert sample_actions(Exact(), scene.observation).shape == (30, 16, 2)


@pytest.mark.parametrize("conditioning", ["added", "added_gated", "input", "none"])
@pytest.mark.parametrize(
    "config",
    [ExpertConfig.REACH, replace(ExpertConfig.REACH, depth=8), ExpertConfig.TINY],
    ids=["depth 4", "depth 8", "attention"],
)
def test_parameters_match_within_one_percent(config, conditioning):
    wanted = trained_parameters(ActionExpert(config, "adarms"))
    found = trained_parameters(ActionExpert(matched_config(config, conditioning), conditioning))
    assert abs(found / wanted - 1) < 0.01
    assert matched_config(config, "adarms") == config


def test_trained_parameters_are_those_that_get_a_gradient(reach):
    network = model()
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.3)
    actions, observation = reach
    network(actions, torch.rand(len(actions)), observation).square().sum().backward()
    moved = sum((p.grad != 0).sum().item() for p in network.parameters())
    assert moved == trained_parameters(network)


def test_paired_difference_is_a_t_interval():
    # Worked by hand: differences 1, 2, 3 have mean 2 and standard error 1/sqrt(3).
    found = paired_difference([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.mean == pytest.approx(2) and found.half_width == pytest.approx(4.303 / 3**0.5)
    assert not found.resolved and found.at_most == pytest.approx(found.high)
    assert paired_difference([1.0, 1.1, 1.2], [0.0, 0.0, 0.1]).resolved
