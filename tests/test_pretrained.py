"""pi0.5's modulations: out of files of its layout, on disk and from a stand-in of the hub. No network."""

import json
import math
import os
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from helpers import modulation_report, pretrained
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.embeddings import TimeMLP
from helpers.figures import changes
from helpers.norms import AdaRMSNorm
from helpers.pretrained import EXPERT, Modulations
from helpers.tensor_files import Place, in_runs
from tests import golden, pi05_files
from tests.hub import Hub

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "someone/pi05_base"
TIME = torch.linspace(0, 1, 5)


def weights(width=16, depth=3, seed=0, dtype=torch.bfloat16):
    """Every number of its own, so that no two tensors can be taken for each other."""
    random = torch.Generator().manual_seed(seed)
    shapes = {n: t.shape for n, t in pretrained.stand_in(0, width, depth).tensors.items()}
    return {n: torch.randn(s, generator=random).to(dtype) for n, s in shapes.items()}


def same(found, tensors):
    assert found.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found.tensors[name].dtype == tensor.dtype
        assert torch.equal(found.tensors[name], tensor), name
    return True


def files_in(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


# What is computed.


def test_cond_and_modulation_are_those_of_the_real_code():
    with open(ROOT / "tests" / "data" / "openpi_golden.json", encoding="utf-8") as file:
        cases = {case["name"]: case for case in json.load(file)["cases"]}
    case = cases["tiny_pi05_joint_forward"]
    params, layers = case["params"], case["params"]["llm"]["layers"]
    modules = {name: params[name] for name in ("time_mlp_in", "time_mlp_out")}
    modules[f"{EXPERT}norm.dense"] = params["llm"]["final_norm_1"]["Dense_0"]
    for layer in range(2):
        for here, there in (
            ("input_layernorm", "pre_attention_norm_1"),
            ("post_attention_layernorm", "pre_ffw_norm_1"),
        ):
            stacked = layers[there]["Dense_0"]
            modules[f"{EXPERT}layers.{layer}.{here}.dense"] = {
                part: stacked[part][layer] for part in ("kernel", "bias")
            }
    tensors = {}
    for name, dense in modules.items():
        tensors[f"{name}.weight"] = torch.tensor(dense["kernel"]).T.contiguous()
        tensors[f"{name}.bias"] = torch.tensor(dense["bias"])
    found = Modulations(tensors, "golden", False)

    time = torch.tensor(case["inputs"]["timestep"])
    expected = torch.tensor(case["outputs"]["adarms_cond"])
    torch.testing.assert_close(found.cond(time), expected, **case["tolerance"])
    with torch.no_grad():
        model, _ = golden.make_joint(case["inputs"], params, case)
    assert_as_in(model.action_expert, found, time)


@torch.no_grad()
def assert_as_in(expert, found, time):
    """Each norm of the expert, asked itself, is told what `found` says."""
    told, cond = found.modulation(time), expert.time_mlp(time)
    assert torch.equal(found.cond(time), cond)
    norms = [norm for norm in expert.modules() if isinstance(norm, AdaRMSNorm)]
    assert len(norms) == len(found.norm_names) == told.gate.shape[1]
    hidden = torch.randn(len(time), 1, found.width, generator=torch.Generator().manual_seed(0))
    for k, norm in enumerate(norms):
        parts = norm.scale_shift_gate(hidden, cond)
        for mine, theirs in zip(told, parts, strict=True):
            torch.testing.assert_close(mine[:, k], theirs[:, 0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("one_token", [False, True])
def test_of_our_own_expert(one_token, tmp_path):
    config = ExpertConfig(width=8, depth=2, mlp_width=8, one_token=one_token)
    expert = ActionExpert(config).requires_grad_(False)
    for parameter in expert.parameters():
        parameter.normal_(generator=torch.Generator().manual_seed(parameter.numel()))
    found = pretrained.from_expert(expert, "ours, lesson 07")
    halves = ("feed-forward",) if one_token else ("attention", "feed-forward")
    assert found.norm_names == (
        *(f"layer {k} {half}" for k in range(2) for half in halves),
        "final norm",
    )
    assert (found.depth, found.width, found.real) == (2, 8, False)
    assert_as_in(expert, found, TIME)
    found.save(tmp_path / "ours.safetensors")
    again = pretrained.read(tmp_path / "ours.safetensors")
    assert same(again, found.tensors) and again.label == "ours, lesson 07" and not again.real
    assert again.norm_names == found.norm_names
    expert.time_mlp.time_in.weight.zero_()  # a copy: a model that trains on does not change it
    assert same(found, again.tensors)


def test_of_our_own_expert_refuses_what_has_no_modulations():
    with pytest.raises(ValueError, match="conditioning"):
        pretrained.from_expert(ActionExpert(ExpertConfig.REACH, "added"), "added")
    with pytest.raises(TypeError, match="ActionExpert"):
        pretrained.from_expert(TimeMLP(8), "no expert")


def test_time_is_looked_at():
    found = pretrained.stand_in(width=8, depth=1)
    for wrong in (torch.tensor([1.5]), torch.tensor([float("nan")])):
        with pytest.raises(ValueError, match="time"):
            found.modulation(wrong)
    with pytest.raises(ValueError, match="norm_name must be one of"):
        found.dense("layer 7 attention")


def test_stand_in_has_the_shape_of_pi05_and_says_what_it_is():
    names = pretrained.tensor_names()
    assert len(names) == len(set(names)) == 78
    small = pretrained.stand_in(3, width=32, depth=2)
    assert "random weights" in small.label and "not the real weights" in small.label
    assert not small.real
    assert same(pretrained.stand_in(3, width=32, depth=2), small.tensors)
    assert not torch.equal(pretrained.stand_in(4, 32, 2).cond(TIME), small.cond(TIME))
    weight, bias = small.dense("layer 1 feed-forward")
    assert weight.shape == (96, 32) and not bias.any()
    assert 0.018 < weight.std() < 0.022  # openpi's PyTorch: N(0, 0.02)


# Files on this machine.


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("prefix", ["", "model.", "_orig_mod.model."])
def test_reads_any_prefix_and_dtype(prefix, dtype, tmp_path):
    tensors = weights(dtype=dtype)
    path = tmp_path / "run" / "model.safetensors"
    pi05_files.write(path, tensors, pi05_files.ballast(16, 3), dtype, prefix)
    with safe_open(path, "pt") as file:  # the library takes it for a file of its own
        assert len(file.keys()) == len(tensors) + len(pi05_files.ballast(16, 3))
    found = pretrained.read(path)
    assert same(found, tensors)
    assert (found.width, found.depth, found.real) == (16, 3, False)
    assert found.label == f"{path.as_posix()}; width 16, 3 layers, not pi0.5's size"
    assert same(pretrained.read(str(path.parent)), tensors)


def test_reads_what_the_library_writes_and_the_older_name_of_the_time_mlp(tmp_path):
    tensors = weights()
    older = {
        f"model.action_{name}" if name.startswith("time_mlp") else f"model.{name}": tensor
        for name, tensor in tensors.items()
    }
    # openpi keeps norms in float32 beside a bfloat16 rest.
    mixed = {n: t.float() if ".dense." in n else t for n, t in older.items()}
    mixed["model.action_in_proj.weight"] = torch.zeros(16, 32)
    save_file(mixed, tmp_path / "model.safetensors")
    found = pretrained.read(tmp_path)
    assert found.tensors[f"{EXPERT}norm.dense.weight"].dtype == torch.float32
    assert found.tensors["time_mlp_in.weight"].dtype == torch.bfloat16
    for name, tensor in tensors.items():
        assert torch.equal(found.tensors[name].bfloat16(), tensor)


def test_reads_shards(tmp_path):
    tensors = weights()
    pi05_files.write_shards(tmp_path / "sharded", tensors, pi05_files.ballast(16, 3))
    assert same(pretrained.read(tmp_path / "sharded"), tensors)
    assert same(pretrained.read(tmp_path / "sharded" / "model.safetensors.index.json"), tensors)
    index = tmp_path / "sharded" / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    name = "model.time_mlp_in.bias"
    for wrong, message in (
        ("../secret.safetensors", "no file beside it"),
        ("/etc/passwd", "no file beside it"),
        ("model-00009-of-00003.safetensors", "model-00009"),
        (
            next(f for f in content["weight_map"].values() if f != content["weight_map"][name]),
            "do not belong together",
        ),
    ):
        index.write_text(json.dumps({"weight_map": {**content["weight_map"], name: wrong}}))
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            pretrained.read(tmp_path / "sharded")
    for wrong in ("[]", "{}", '{"weight_map": 3}', "{", '{"weight_map": ["a"]}'):
        index.write_text(wrong)
        with pytest.raises(ValueError, match="no index of shards"):
            pretrained.read(tmp_path / "sharded")


def test_says_what_a_file_is_instead(tmp_path):
    tensors, rest = weights(), pi05_files.ballast(16, 3)
    vlm = {"paligemma_with_expert.paligemma.lm_head.weight": (4, 4)}
    plain = {
        f"{EXPERT}layers.{k}.{half}.weight": (16,) for k in range(3) for half in pretrained.HALVES
    }
    pi0 = {"action_time_mlp_in.weight": torch.zeros(16, 32), "state_proj.bias": torch.zeros(16)}
    missing = {k: v for k, v in tensors.items() if "layers.1.input" not in k}
    named_as_pi0 = {**tensors, "time_mlp_in.weight": torch.zeros(16, 32)}
    adapter = {f"{EXPERT}layers.0.self_attn.q_proj.lora_A.weight": torch.zeros(4, 16)}
    for held, also, message in (
        (pi0, rest | plain, "is pi0, not pi0.5: .* plain"),
        ({}, vlm, "no pi0.5: it has no action expert .*such as .*lm_head"),
        ({}, {}, "no action expert"),
        (missing, rest, r"lacks .*layers\.1\.input_layernorm\.dense\.weight"),
        (
            {k: v for k, v in tensors.items() if "time_mlp" not in k},
            rest,
            "lacks model.time_mlp_in.weight, .* and 1 more",
        ),
        ({}, rest, "no dense layer"),
        (named_as_pi0, rest, r"time_mlp_in.weight has shape \(16, 32\), wanted \(16, 16\)"),
        (adapter, {}, "an adapter"),
        ({**tensors, "time_mlp_out.bias": torch.full((16,), torch.nan)}, rest, "NaN"),
    ):
        pi05_files.write(tmp_path / "model.safetensors", held, also)
        with pytest.raises(ValueError, match=message):
            pretrained.read(tmp_path)


def test_says_what_a_folder_lacks(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no model.safetensors and no .*index"):
        pretrained.read(tmp_path)
    (tmp_path / "params").mkdir()
    with pytest.raises(ValueError, match="JAX checkpoint"):
        pretrained.read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file or folder here, nor a repository"):
        pretrained.read(tmp_path / "nothing")


def test_a_pickle_is_never_opened(tmp_path):
    bomb = tmp_path / "model.safetensors"
    for zipped in (True, False):
        torch.save(weights(), bomb, _use_new_zipfile_serialization=zipped)
        with pytest.raises(ValueError, match="pickle"):
            pretrained.read(bomb)
    bomb.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(ValueError, match="git lfs pull"):
        pretrained.read(bomb)
    for junk in (b"", b"\x07", b"<html><body>", b"\xff" * 64, b"\x10" + bytes(7) + b"[" * 16):
        bomb.write_bytes(junk)
        with pytest.raises(ValueError, match="no safetensors file"):
            pretrained.read(bomb)


def test_a_header_of_640_bytes_is_no_pickle(tmp_path):
    """Its length, 0x280, begins like a pickle of protocol 2."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}).encode()
    content = (640).to_bytes(8, "little") + header.ljust(640)
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="no action expert"):
        pretrained.read(tmp_path)


def crafted(tmp_path, change):
    """A right file whose header was changed by hand."""
    path = tmp_path / "model.safetensors"
    pi05_files.write(path, weights(8, 1), prefix="")
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    entry = header["time_mlp_in.bias"]
    text = json.dumps(change(header, entry) or header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    return path


@pytest.mark.parametrize(
    "change,message",
    [
        (lambda h, e: e.update(data_offsets=[10**12, 10**12 + 16]), "cut off"),
        (lambda h, e: e.update(data_offsets=[-16, 0]), "no count"),
        (lambda h, e: e.update(data_offsets=[16, 0]), "does not fit"),
        (lambda h, e: e.update(data_offsets=[0.0, 16.0]), "no count"),
        (lambda h, e: e.update(data_offsets=[0]), "no dtype, shape and place"),
        (lambda h, e: e.pop("data_offsets") and None, "no dtype, shape and place"),
        (lambda h, e: e.update(shape=[True] * 3 + [8]), "no count"),
        (lambda h, e: e.update(shape=[2**70]), "does not fit"),
        (lambda h, e: e.update(shape=7), "no dtype, shape and place"),
        (lambda h, e: e.update(dtype="F8_E4M3"), "quantised"),
        (lambda h, e: e.update(dtype=["F32"]), "dtype"),
        (lambda h, e: e.update(h["time_mlp_out.bias"]), "overlap"),
        (lambda h, e: h.update({"time_mlp_in.bias": 5}), "no dtype, shape and place"),
        (lambda h, e: h.update(__metadata__=5, **{f"{EXPERT}layers.999.x": e}), "lacks"),
        (lambda h, e: [h], "no safetensors file"),
    ],
)
def test_headers_are_not_believed(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        pretrained.read(crafted(tmp_path, change))


def test_a_name_twice_or_nested_without_end(tmp_path):
    path = tmp_path / "model.safetensors"
    for text in (b'{"a": 1, "a": 2}', b'{"a": ' + b"[" * 100_000, b"{" + b"\xff" * 9):
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        with pytest.raises(ValueError, match="header is no JSON"):
            pretrained.read(path)


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    pi05_files.write(path, weights(8, 1), prefix="")
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    for length in (9, header - 10, header - 1, header, header + 1, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="cut off"):
            pretrained.read(path)


def test_a_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "kept.safetensors"
    found = pretrained.stand_in(0, 8, 1)
    found.save(path)
    before = path.read_bytes()

    def full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise pretrained.SafetensorError("No space left on device")

    monkeypatch.setattr(pretrained, "save_file", full)
    with pytest.raises(OSError, match=r"kept.safetensors could not be written.*No space"):
        found.save(path)
    assert path.read_bytes() == before and files_in(tmp_path) == ["kept.safetensors"]


# The hub.


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A repository of a small pi0.5, served: (hub, tensors, header's bytes, tensors' bytes, cache)."""
    pytest.importorskip("huggingface_hub")
    tensors, path = weights(), tmp_path / "repository" / "model.safetensors"
    size = pi05_files.write(path, tensors, pi05_files.ballast(16, 3))
    with open(path, "rb") as file:
        header = 8 + int.from_bytes(file.read(8), "little")
    with Hub({REPOSITORY: path.parent}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr("time.sleep", lambda seconds: None)  # the client waits between tries
        yield hub, tensors, header, size, tmp_path / "cache"


def fetch(cache, **arguments):
    return pretrained.read(REPOSITORY, cache=cache, **{"download": True, **arguments})


def test_without_download_only_the_header_is_fetched(served):
    hub, _, header, size, cache = served
    with pytest.raises(pretrained.NotDownloaded) as raised:
        fetch(cache, download=False)
    message = str(raised.value)
    assert f"{size / 1e3:.1f} kB of" in message and "download=True" in message
    assert "DOWNLOAD = True" in message and REPOSITORY in message
    assert hub.given <= header + 16
    assert not cache.exists()
    assert pretrained.available(REPOSITORY, cache=cache) is None


def test_fetches_these_tensors_and_hardly_a_byte_more(served, capsys):
    hub, tensors, header, size, cache = served
    found = fetch(cache)
    assert same(found, tensors)
    assert hub.ranges[0] == ("model.safetensors", 0, 9)  # the header first
    assert size + header <= hub.given <= 1.02 * (size + header)
    assert len(hub.ranges) <= 2 + 2 * 3 + 2  # two norms a layer, the last norm, the time MLP
    commit = hub.commits[REPOSITORY]
    assert found.label.startswith(f"{REPOSITORY} (main, {commit[:8]})")
    out, err = capsys.readouterr()
    assert f"fetching the modulations of model.safetensors of {REPOSITORY}" in out
    assert f"{size / 1e3:.1f} kB of" in out and "100%" in err

    (kept,) = files_in(cache)
    assert pretrained.available(REPOSITORY, cache=cache) == cache / kept
    assert load_file(cache / kept).keys() == tensors.keys()
    asked, hub.gated = len(hub.ranges), {REPOSITORY}
    again = fetch(cache, download=False)  # from the cache, without the hub
    assert same(again, tensors) and (again.label, again.real) == (found.label, found.real)
    assert len(hub.ranges) == asked
    assert pretrained.available(REPOSITORY, revision="other", cache=cache) is None
    assert same(pretrained.read(cache / kept), tensors)
    assert capsys.readouterr() == ("", "")


def test_quiet(served, capsys):
    fetch(served[-1], progress=False)
    assert capsys.readouterr() == ("", "")


def test_fetches_shards(served):
    hub, tensors, _, size, cache = served
    folder = hub.folders[REPOSITORY]
    (folder / "model.safetensors").unlink()
    pi05_files.write_shards(folder, tensors, pi05_files.ballast(16, 3))
    assert same(fetch(cache), tensors)
    headers = sum(
        8 + int.from_bytes((folder / file).read_bytes()[:8], "little")
        for file in files_in(folder)
        if file.endswith(".safetensors")
    )
    index = (folder / "model.safetensors.index.json").stat().st_size
    assert hub.given <= 1.02 * (size + headers + index)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_goes_on_where_the_connection_broke(served, share):
    hub, tensors, header, size, cache = served
    hub.drop_after = int(header + 9 + share * size)
    with pytest.raises(ConnectionError, match="Run it again: what was fetched so far is kept"):
        fetch(cache)
    assert pretrained.available(REPOSITORY, cache=cache) is None
    kept = files_in(cache)
    assert all(".partial/" in name for name in kept) and bool(kept) == (share > 0)
    for name in kept:
        for tensor, value in load_file(cache / name).items():  # whole tensors, nothing half-written
            assert torch.equal(value, tensors[tensor.removeprefix("model.")])
    done = sum((cache / name).stat().st_size for name in kept)
    hub.drop_after, hub.given, hub.ranges = None, 0, []
    assert same(fetch(cache), tensors)
    assert len(files_in(cache)) == 1 and not list(cache.glob("*.partial"))
    assert hub.given <= header + 9 + size - 0.5 * done


def test_what_is_kept_is_used_for_the_same_commit_only_and_only_if_whole(served):
    hub, tensors, header, size, cache = served
    hub.drop_after = header + 9 + size // 2
    with pytest.raises(ConnectionError):
        fetch(cache)
    kept = [cache / name for name in files_in(cache)]
    assert len(kept) > 2
    kept[0].write_bytes(kept[0].read_bytes()[:-3])
    save_file({name: tensor[:1].clone() for name, tensor in load_file(kept[1]).items()}, kept[1])
    save_file({name: tensor.float() for name, tensor in load_file(kept[2]).items()}, kept[2])
    hub.drop_after = None
    assert same(fetch(cache), tensors)

    other = {name: tensor + 1 for name, tensor in tensors.items()}
    hub.drop_after = hub.given + header + 9 + size // 2
    with pytest.raises(ConnectionError):
        fetch(cache.with_name("second"))
    pi05_files.write(
        hub.folders[REPOSITORY] / "model.safetensors", other, pi05_files.ballast(16, 3)
    )
    hub.drop_after, hub.commits[REPOSITORY] = None, "ab" * 20
    assert same(fetch(cache.with_name("second")), other)


def test_stopped_by_the_user_goes_on_later(served, monkeypatch):
    hub, tensors, _, _, cache = served
    read = pretrained.Checkpoint.read

    def stop(self, names, places):
        if len(list(cache.rglob("*.safetensors"))) == 3:
            raise KeyboardInterrupt
        return read(self, names, places)

    with monkeypatch.context() as patch:
        patch.setattr(pretrained.Checkpoint, "read", stop)
        with pytest.raises(KeyboardInterrupt):
            fetch(cache)
    hub.ranges = []
    assert same(fetch(cache), tensors)
    assert len(hub.ranges) <= 2 + 8 - 3


def test_two_at_once_do_not_disturb_each_other(served):
    _, tensors, _, _, cache = served
    found, threads = [], []
    for _ in range(3):
        threads.append(threading.Thread(target=lambda: found.append(fetch(cache, progress=False))))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and all(same(one, tensors) for one in found)
    assert len(files_in(cache)) == 1


def test_what_another_has_swept_up_is_not_missed(served, monkeypatch):
    _, tensors, _, _, cache = served
    write = pretrained._write

    def swept(path, *given):
        if path.parent.parent.suffix == ".partial":
            raise OSError("no such folder")
        write(path, *given)

    monkeypatch.setattr(pretrained, "_write", swept)
    assert same(fetch(cache), tensors)


def test_a_stand_in_on_the_hub_stays_one(served):
    hub, _, _, _, cache = served
    pretrained.stand_in(0, 8, 1).save(hub.folders[REPOSITORY] / "model.safetensors")
    for _ in range(2):
        found = fetch(cache)
        assert not found.real and found.label.startswith(REPOSITORY)
    Modulations(weights(8, 1), "ours", True).save(hub.folders[REPOSITORY] / "other.safetensors")
    assert fetch(cache, file="other.safetensors").real


def test_the_hubs_refusals_say_what_to_do(served, monkeypatch):
    hub, _, _, _, cache = served
    for arguments, kind, message in (
        ({"revision": "nope"}, FileNotFoundError, "no such revision"),
        ({"file": "x.safetensors"}, FileNotFoundError, "no x.safetensors and no x.safetensors.ind"),
        ({"file": "x.json"}, FileNotFoundError, "x.json of .* no such file"),
    ):
        with pytest.raises(kind, match=message):
            fetch(cache, **arguments)
    with pytest.raises(FileNotFoundError, match=r"no/body at main: there is no such repository"):
        pretrained.read("no/body", cache=cache, download=True)
    hub.gated = {REPOSITORY}
    with pytest.raises(PermissionError, match="gated: accept its terms"):
        fetch(cache)
    hub.gated, hub.deaf = set(), True
    with pytest.raises(ConnectionError, match="whole file where a part was asked for"):
        fetch(cache)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ConnectionError, match="could not be read"):
        fetch(cache)
    assert not cache.exists()


def test_a_file_that_is_no_pi05_on_the_hub_costs_its_header_only(served):
    hub, _, _, _, cache = served
    path = hub.folders[REPOSITORY] / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=f"model.safetensors of {REPOSITORY}.* cut off"):
        fetch(cache)
    pi05_files.write(path, {}, pi05_files.ballast(16, 3))
    with pytest.raises(ValueError, match="no dense layer"):
        fetch(cache)
    torch.save({}, path)
    with pytest.raises(ValueError, match="pickle"):
        fetch(cache)
    assert not cache.exists()


def test_without_huggingface_hub(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match="pip install huggingface_hub"):
        pretrained.read(REPOSITORY, cache=tmp_path, download=True)
    pi05_files.write(tmp_path / "model.safetensors", weights(8, 1))
    assert pretrained.read(tmp_path).width == 8


def test_a_cache_that_cannot_be_written_moves_and_says_so(served, monkeypatch, tmp_path, capsys):
    hub, tensors, _, _, _ = served
    (tmp_path / "taken").write_text("a file where the folder should be")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    assert same(fetch(tmp_path / "taken" / "cache"), tensors)
    out = capsys.readouterr().out
    assert "cannot be written" in out and str(tmp_path / "temporary") in out
    asked = len(hub.ranges)
    assert same(fetch(tmp_path / "taken" / "cache", download=False), tensors)
    assert len(hub.ranges) == asked


def test_a_damaged_cache_says_what_to_delete(served):
    cache = served[-1]
    fetch(cache)
    kept = pretrained.available(REPOSITORY, cache=cache)
    kept.write_bytes(kept.read_bytes()[:-7])
    with pytest.raises(ValueError, match=r"is damaged: delete it and fetch it again"):
        fetch(cache)


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("ADARMS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    default = pretrained.cache_file()
    assert default.parent == tmp_path / "adarms-notebooks"
    monkeypatch.setenv("ADARMS_CACHE", str(tmp_path / "elsewhere"))
    assert pretrained.cache_file().parent == tmp_path / "elsewhere"
    triples = [("a/b--c",), ("a--b/c",), ("a/b", "x.safetensors"), ("a/b", "x", "refs/pr/1")]
    assert len({pretrained.cache_file(*triple) for triple in triples}) == len(triples)


@pytest.mark.skipif(sys.platform == "win32", reason="holes in files would take their room")
def test_at_the_real_width(tmp_path, monkeypatch):
    """78 tensors of the published size among 4 GB of holes: 237 MB come over, and are pi0.5's in shape."""
    pytest.importorskip("huggingface_hub")
    made = pretrained.stand_in()
    path = tmp_path / "repository" / "model.safetensors"
    size = pi05_files.write(path, made.tensors, pi05_files.ballast())
    assert size == 2 * (116_505_600 + 2_099_200)  # the golden numbers' counts
    with Hub({REPOSITORY: path.parent}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        found = fetch(tmp_path / "cache")
        with open(path, "rb") as file:
            header = 8 + int.from_bytes(file.read(8), "little")
        assert size + header <= hub.given <= 1.02 * (size + header)
        assert len(hub.ranges) <= 2 + 37 + 2
    assert (found.width, found.depth, found.real) == (1024, 18, True)
    assert found.label == f"{REPOSITORY} (main, {hub.commits[REPOSITORY][:8]})"
    assert same(found, made.tensors)
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.stat().st_size < 1.001 * size


# Parts.


def test_runs_join_neighbours_only_where_it_costs_little():
    def place(start, end, file="a"):
        return Place(file, "F32", (1,), start, end)

    places = {"a": place(0, 1000), "b": place(1000, 2000), "c": place(2010, 3010)}
    places |= {"d": place(3500, 4500), "e": place(4500, 4600, "b")}
    assert in_runs(places) == [["a", "b", "c"], ["d"], ["e"]]
    assert in_runs(places, waste=0) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert in_runs(places, largest=2000) == [["a", "b"], ["c"], ["d"], ["e"]]


def test_difference_of_two():
    tensors = weights(dtype=torch.float32)
    a = Modulations(tensors, "a", False)
    changed = dict(tensors)
    for name in (
        f"{EXPERT}layers.1.input_layernorm.dense.weight",
        f"{EXPERT}layers.1.input_layernorm.dense.bias",
    ):
        value = tensors[name].clone()
        value[32:] *= 1.5  # the last third: the gate
        changed[name] = value
    apart = pretrained.difference(a, Modulations(changed, "b", False))
    assert apart.norm_names == a.norm_names and apart.cond == 0
    which = a.norm_names.index("layer 1 attention")
    only = torch.zeros(len(a.norm_names))
    only[which] = 0.5
    torch.testing.assert_close(apart.gate, only)
    assert not apart.scale.any() and not apart.shift.any()
    assert apart.weights[which] > 0.2 and apart.weights.count_nonzero() == 1
    with pytest.raises(ValueError, match="same width and norms"):
        pretrained.difference(a, pretrained.stand_in(0, 8, 3))
    zero = Modulations({n: torch.zeros_like(t) for n, t in tensors.items()}, "zero", False)
    assert pretrained.difference(zero, a).gate.isinf().all()


@pytest.mark.parametrize(
    "change,message",
    [
        ({"time_mlp_in.bias": torch.zeros(3)}, "even width"),
        ({"time_mlp_in.bias": torch.zeros(2, 8)}, "even width"),
        ({"time_mlp_in.weight": torch.zeros(8, 4)}, "time_mlp_in.weight has shape"),
        ({f"{EXPERT}norm.dense.bias": torch.zeros(16)}, "norm.dense.bias has shape"),
        ({"other": torch.zeros(1)}, "other"),
        ({f"{EXPERT}norm.dense.bias": torch.full((24,), torch.inf)}, "finite"),
    ],
)
def test_modulations_are_looked_at(change, message):
    with pytest.raises(ValueError, match=message):
        Modulations({**weights(8, 1), **change}, "wrong", False)


# The command and its report.


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "helpers.pretrained", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


class Page(HTMLParser):
    """What a report has: its pictures, its tables as lists of rows, and everything it would load."""

    def __init__(self, text):
        super().__init__()
        self.pictures, self.tables, self.loads, self.headings = [], [], [], []
        self.text = self.within = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.loads += [v for k, v in attributes if k in ("src", "href", "srcset", "data")]
        if tag == "img":
            self.pictures.append(found)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        assert tag not in ("script", "link", "iframe")
        self.within = tag

    def handle_data(self, data):
        self.text += data
        if self.within in ("td", "th"):
            self.tables[-1][-1][-1] += data
        if self.within in ("h1", "h2"):
            self.headings.append(data)

    def handle_endtag(self, tag):
        self.within = ""


def test_report_of_one(tmp_path, capsys):
    tensors = weights()
    pi05_files.write(tmp_path / "run" / "model.safetensors", tensors)
    report = tmp_path / "report.html"
    assert pretrained.main([str(tmp_path / "run"), "--report", str(report)]) == 0
    out, err = capsys.readouterr()
    assert "layer 2 feed-forward" in out and f"wrote {report}" in out and err == ""
    page = Page(report.read_text(encoding="utf-8"))
    assert len(page.pictures) == 4 and len(page.tables) == 1
    assert all(len(picture["alt"]) > 60 for picture in page.pictures)
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert "These are not the weights of pi0.5." in page.text  # width 16
    assert "run/model.safetensors; width 16, 3 layers" in page.headings[0]
    found = pretrained.read(tmp_path / "run")
    told = found.modulation(modulation_report.TIME)
    (table,) = page.tables
    assert [line[0] for line in table[1:]] == list(found.norm_names)
    for k, line in enumerate(table[1:]):
        for number, part in zip(line[1:4], told, strict=True):
            assert float(number) == pytest.approx(
                float(part[:, k].square().mean().sqrt()), abs=6e-5
            )
        assert float(line[4]) == pytest.approx(float(told.gate[:, k].abs().mean()), abs=6e-5)
        for number, part in zip(line[5:], told, strict=True):
            values = part[:, k]
            constant = values.mean(dim=0).square().sum() / values.square().sum(dim=1).mean()
            assert float(number.rstrip("%")) == pytest.approx(100 * (1 - float(constant)), abs=0.06)


def test_report_of_two(tmp_path, monkeypatch, capsys):
    first = weights()
    second = {n: t * 1.25 if n == f"{EXPERT}norm.dense.weight" else t for n, t in first.items()}
    for name, tensors in (("base", first), ("tuned", second)):
        Modulations(tensors, "two of one name", True).save(tmp_path / f"{name}.safetensors")
    monkeypatch.chdir(tmp_path)
    given = ["base.safetensors", "tuned.safetensors", "--report", "report.html", "--quiet"]
    assert pretrained.main(given) == 0
    assert capsys.readouterr() == ("", "")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(page.pictures) == 2 + 4 + 4 and len(page.tables) == 3
    assert page.headings[1:] == ["What changed", "two of one name", "two of one name, second"]
    changed = page.tables[0]
    assert changed[0] == ["norm", "weights", "scale", "shift", "gate"]
    assert all(cell == "0.0%" for line in changed[1:-1] for cell in line[1:])
    assert 20 < float(changed[-1][1].rstrip("%")) <= 25
    assert page.tables[1][-1] != page.tables[2][-1] and page.tables[1][1] == page.tables[2][1]


def test_picture_of_changes_draws_them_all():
    names = ["layer 0 attention", "layer 0 feed-forward", "layer 1 attention"]
    names += ["layer 1 feed-forward", "final norm"]
    by_part = {part: np.arange(5) + k for k, part in enumerate(("scale", "shift", "gate"))}
    by_part["gate"] = by_part["gate"] * np.array([1, 1, 1, 1, np.inf])  # nothing before
    view = changes.Changes(names, by_part, "base", "tuned, " * 40)
    for axes, values in zip(view.figure.axes, by_part.values(), strict=True):
        drawn = [line.get_ydata().tolist() for line in axes.lines]
        assert drawn == [[values[0], values[2]], [values[1], values[3]], [values[4]]]
        assert axes.get_ylim() == (0, 1.05 * 5)
    assert view.png()[:4] == b"\x89PNG"
    assert "scale: attention 100%, feed-forward 200%" in view.describe()


def test_rows_of_what_has_no_energy():
    zero = {n: torch.zeros_like(t) for n, t in weights(8, 1).items()}
    row = modulation_report.rows(Modulations(zero, "zero", False))[0]
    assert row.gate == row.mean_gate == 0 and math.isnan(row.gate_varying)
    assert modulation_report.as_text(Modulations(zero, "zero", False)).split()[-1] == "-"


def test_labels_are_escaped():
    found = Modulations(weights(8, 1), "<script>alert(1)</script>", False)
    Page(modulation_report.as_html(found))  # which has no script


def test_a_real_one_is_not_called_a_stand_in():
    found = Modulations(weights(8, 1), "real", True)
    assert "not the weights" not in modulation_report.as_html(found)


def test_command_line(served, tmp_path):
    """As a user starts it: exit status, standard output and error, against the stand-in of the hub."""
    hub, _, _, _, cache = served
    report = tmp_path / "report.html"
    done = command(
        f"{REPOSITORY}@{hub.commits[REPOSITORY]}",
        "--download",
        "--report",
        report,
        HF_ENDPOINT=hub.url,
        ADARMS_CACHE=str(cache),
    )
    assert done.returncode == 0, done.stderr
    assert "fetching the modulations" in done.stdout and "final norm" in done.stdout
    assert "100%" in done.stderr and len(Page(report.read_text(encoding="utf-8")).pictures) == 4
    assert len(files_in(cache)) == 1


def test_command_line_fetches_nothing_unasked(served, capsys):
    hub, _, header, _, cache = served
    assert pretrained.main([REPOSITORY, "--cache", str(cache)]) == 1
    out, err = capsys.readouterr()
    assert not out and "--download" in err and hub.given <= header + 9 and not cache.exists()


def test_help_has_examples(capsys):
    with pytest.raises(SystemExit) as stopped:
        pretrained.main(["--help"])
    out, err = capsys.readouterr()
    assert stopped.value.code == 0 and not err
    assert "--download --report report.html" in out and "exit status" in out


@pytest.mark.parametrize(
    "arguments,status,message",
    [
        (["no/such folder"], 1, "no file or folder here"),
        (["stand-in", "stand-in", "third"], 2, "unrecognized arguments: third"),
        ([], 2, "FILE_OR_REPO"),
        (["stand-in", "--report", "nowhere/report.html"], 2, "no folder nowhere"),
    ],
)
def test_command_line_says_what_is_wrong(arguments, status, message, capsys):
    try:
        found = pretrained.main(arguments)
    except SystemExit as error:
        found = error.code
    out, err = capsys.readouterr()
    assert found == status and message in err and out == ""


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, capsys):
    report = tmp_path / "report.html"
    report.write_text("old")
    pi05_files.write(tmp_path / "model.safetensors", weights(8, 1))

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert pretrained.main([str(tmp_path), "--report", str(report), "--quiet"]) == 1
    assert "No space left" in capsys.readouterr().err
    assert report.read_text() == "old" and files_in(tmp_path) == [
        "model.safetensors",
        "report.html",
    ]


def test_interrupted_by_the_user(monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pretrained, "stand_in", stop)
    assert pretrained.main(["stand-in"]) == 1
    assert "Run it again" in capsys.readouterr().err
