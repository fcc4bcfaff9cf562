"""The modulations of the published pi0.5: 78 tensors of its checkpoint, read without the rest.

All that pi0.5 does with time is in its time MLP (4 tensors) and in the Denses of its 37 adaRMS norms (74).
From them scale, shift and gate follow for every time, without a robot, an image or a GPU. The names are
those of the PyTorch checkpoints of openpi and of lerobot (src/lerobot/policies/pi05/modeling_pi05.py).
Time is openpi's: 1 is noise, 0 is data.

`python -m helpers.pretrained --help` says how to get a table and a report without a line of code.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tqdm.auto import tqdm

from helpers.action_expert import ActionExpert
from helpers.embeddings import sinusoidal_embedding
from helpers.probes import Modulation
from helpers.tensor_files import DTYPES, Checkpoint, HubFolder, LocalFolder, in_runs
from helpers.validation import (
    require_bool,
    require_choice,
    require_count,
    require_even,
    require_finite,
    require_kind,
    require_path,
    require_tensor,
    require_time,
    require_time_values,
)

REPOSITORY, FILE, REVISION = "lerobot/pi05_base", "model.safetensors", "main"
WIDTH, DEPTH = 1024, 18  # of pi0.5's action expert
FORMAT = "adarms-notebooks modulations 1"
EXPERT = "paligemma_with_expert.gemma_expert.model."
HALVES = {"input_layernorm": "attention", "post_attention_layernorm": "feed-forward"}


class NotDownloaded(RuntimeError):
    """The weights are on the hub, not on this machine, and nobody said that they may be fetched."""


class Modulations:
    """The time MLP and the modulation Denses of one action expert.

    Attributes:
        label: what it is, for titles.
        real: True for pi0.5's weights or a fine-tuned version of them, False for every stand-in.
        width, depth: of the expert; 1024 and 18 in pi0.5.
        tensors: {name: tensor}, the names of the checkpoint without `model.`, dtypes as stored.
        norm_names: "layer 0 attention", "layer 0 feed-forward", ..., "final norm".
    """

    def __init__(self, tensors, label, real):
        """tensors as in `Modulations.tensors`.

        Raises:
            ValueError: one is missing, has a wrong shape, or holds NaN or infinity.
        """
        require_kind("tensors", tensors, dict)
        for name, tensor in tensors.items():
            require_tensor(f"tensors[{name!r}]", tensor)
        require_kind("label", label, str, "string")
        require_bool("real", real)
        self.label, self.real, self.tensors = label, real, dict(tensors)
        self._denses = _denses(self.tensors)
        try:
            self.width = _width({name: tuple(t.shape) for name, t in self.tensors.items()})
        except ValueError as error:
            raise ValueError(f"tensors must be those of one expert: {error}") from None
        for name, tensor in self.tensors.items():
            require_finite(f"tensors[{name!r}]", tensor)
        self.norm_names = tuple(self._denses)
        self.depth = len({name.rpartition(" ")[0] for name in self.norm_names[:-1]})

    def __repr__(self):
        return f"Modulations({self.label!r}, width={self.width}, depth={self.depth})"

    @torch.no_grad()
    def cond(self, time):
        """silu(W2 silu(W1 time_emb)): time (times,) in [0, 1] -> (times, width), float32.

        The embedding's periods are pi0.5's, 0.004 to 4: they are in its code, not in its weights.
        """
        require_time("time", time)
        require_time_values("time", time)
        hidden = sinusoidal_embedding(time.float(), self.width)
        for layer in ("time_mlp_in", "time_mlp_out"):
            hidden = F.silu(self._linear(layer, hidden))
        return hidden

    @torch.no_grad()
    def modulation(self, time):
        """What every norm is told: time (times,) -> scale, shift, gate, (times, norms, width) each."""
        cond = self.cond(time)
        told = torch.stack([self._linear(dense, cond) for dense in self._denses.values()], dim=1)
        return Modulation(*told.chunk(3, dim=-1))

    def dense(self, norm_name):
        """One norm's weight (3 width, width) and bias (3 width,), float32: rows of scale, shift, gate."""
        require_choice("norm_name", norm_name, self.norm_names)
        return self._parameters(self._denses[norm_name])

    def save(self, path):
        """Write these tensors, the label and whether they are real to `path`, a safetensors file."""
        require_path("path", path)
        about = {"format": FORMAT, "label": self.label, "real": json.dumps(self.real)}
        _write(Path(path), self.tensors, about)

    def _linear(self, name, x):
        return F.linear(x, *self._parameters(name))

    def _parameters(self, name):
        return self.tensors[f"{name}.weight"].float(), self.tensors[f"{name}.bias"].float()


def tensor_names(depth=DEPTH):
    """The names of the time MLP and of all modulations, 6 + 4 depth of them."""
    require_count("depth", depth)
    layers = [f"{EXPERT}layers.{k}.{half}.dense" for k in range(depth) for half in HALVES]
    modules = ["time_mlp_in", "time_mlp_out", *layers, f"{EXPERT}norm.dense"]
    return [f"{module}.{part}" for module in modules for part in ("weight", "bias")]


def stand_in(seed=0, width=WIDTH, depth=DEPTH):
    """Random weights in pi0.5's shape, for pictures without the real ones.

    Drawn as openpi's PyTorch model draws them: Denses N(0, 0.02) without bias, the time MLP torch's own.
    """
    require_count("seed", seed, least=0)
    require_even("width", width)
    random, bound = torch.Generator().manual_seed(seed), width**-0.5
    tensors = {}
    for name in tensor_names(depth):
        rows = width if name.startswith("time_mlp") else 3 * width
        shape = (rows,) if name.endswith("bias") else (rows, width)
        tensor = torch.zeros(shape)
        if rows == width:
            tensor.uniform_(-bound, bound, generator=random)
        elif name.endswith("weight"):
            tensor.normal_(0, 0.02, generator=random)
        tensors[name] = tensor.bfloat16()  # as published, and half the memory
    return Modulations(tensors, "random weights in pi0.5's shape, not the real weights", False)


def from_expert(model, label):
    """The modulations of one of our own `ActionExpert`s, for comparison."""
    require_kind("model", model, ActionExpert)
    if model.conditioning != "adarms":
        raise ValueError(f'model must have conditioning "adarms", got {model.conditioning!r}')
    modules = {"time_mlp_in": model.time_mlp.time_in, "time_mlp_out": model.time_mlp.time_out}
    for k, block in enumerate(model.transformer.blocks):
        for half, branch in HALVES.items():
            norm = getattr(block, f"{branch.replace('-', '_')}_norm", None)
            if norm is not None:
                modules[f"{EXPERT}layers.{k}.{half}.dense"] = norm.modulation
    modules[f"{EXPERT}norm.dense"] = model.transformer.final_norm.modulation
    tensors = {
        f"{name}.{part}": getattr(module, part).detach().clone()
        for name, module in modules.items()
        for part in ("weight", "bias")
    }
    return Modulations(tensors, label, False)


def read(
    source=REPOSITORY, file=FILE, revision=REVISION, *, download=False, cache=None, progress=True
):
    """Read the modulations out of a pi0.5 checkpoint -> `Modulations`.

    Args:
        source: a safetensors file, a folder, or a hub repository "owner/name" (a folder of that name on
            this machine comes first).
        file: which file of the folder or repository; one with ".index.json" where there are shards.
        revision: branch, tag or commit of the repository.
        download: whether the numbers may be fetched. Without it, what is on the hub only is described.
        cache: folder for what was fetched; None for this user's (see `cache_file`).
        progress: whether to say what is fetched and show a bar.

    Raises:
        NotDownloaded: `download` is False and there is no cache; the message says how much it would be.
        FileNotFoundError: no such file, folder, repository or revision.
        ValueError: what is there is no pi0.5 checkpoint, or damaged; the message says what it lacks.
        ConnectionError, PermissionError: from the hub. What was fetched so far is kept.
        ImportError: huggingface_hub is needed and not installed.
    """
    _require_place(source, file, revision, cache)
    require_bool("download", download)
    require_bool("progress", progress)
    path = Path(source).expanduser()
    if path.is_file():
        return _read_local(path.parent, path.name)
    if path.is_dir():
        if (path / "params").is_dir() and not (path / file).exists():
            raise ValueError(
                f"{source} holds openpi's own JAX checkpoint: make a PyTorch one of it with openpi's "
                "examples/convert_jax_model_to_pytorch.py, then read that"
            )
        return _read_local(path, file)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(source)):
        raise FileNotFoundError(
            f"{source} is no file or folder here, nor a repository of the hub (owner/name)"
        )
    source = Path(source).as_posix()
    cached = available(source, file, revision, cache=cache)
    if cached is not None:
        try:
            return _read_local(cached.parent, cached.name)
        except ValueError as error:
            raise ValueError(
                f"{cached} is damaged: delete it and fetch it again ({error})"
            ) from None
    return _download(source, file, revision, download, cache, progress)


def available(source=REPOSITORY, file=FILE, revision=REVISION, *, cache=None):
    """Where `read` finds this without the network: a path, or None."""
    _require_place(source, file, revision, cache)
    path = Path(source).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        found = [path / file, path / f"{file}.index.json"]
    else:
        found = [cache_file(source, file, revision, folder) for folder in _cache_folders(cache)]
    return next((path for path in found if path.is_file()), None)


def cache_file(source=REPOSITORY, file=FILE, revision=REVISION, cache=None):
    """Where the modulations of a hub repository are kept once they were fetched.

    In `cache`, else in $ADARMS_CACHE, else in adarms-notebooks in the user's cache folder.
    """
    _require_place(source, file, revision, cache)
    shown = re.sub(r"[^\w.-]+", "--", f"{source}@{revision}")
    exact = hashlib.sha256("\n".join((str(source), file, revision)).encode()).hexdigest()[:8]
    return _cache_folders(cache)[0] / f"{shown}-{exact}.safetensors"


def difference(a, b, time=None):
    """What lies between two experts of one shape, such as pi0.5 and a fine-tuned version -> `Difference`.

    time (times,): where scale, shift and gate are compared; 21 times from 0 to 1 if None.
    """
    require_kind("a", a, Modulations)
    require_kind("b", b, Modulations)
    if (a.width, a.norm_names) != (b.width, b.norm_names):
        raise ValueError(
            f"a and b must have the same width and norms, got {a.width} and {len(a.norm_names)} norms, "
            f"{b.width} and {len(b.norm_names)} norms"
        )
    time = torch.linspace(0, 1, 21) if time is None else time
    cond = _relative(a.cond(time).flatten(), b.cond(time).flatten())
    weights = [
        _relative(torch.cat([w.flatten(), bias]), torch.cat([v.flatten(), other]))
        for (w, bias), (v, other) in ((a.dense(name), b.dense(name)) for name in a.norm_names)
    ]
    parts = [
        _relative(x.transpose(0, 1).flatten(1), y.transpose(0, 1).flatten(1))
        for x, y in zip(a.modulation(time), b.modulation(time), strict=True)
    ]
    return Difference(a.norm_names, torch.stack(weights), *parts, float(cond))


class Difference(NamedTuple):
    """RMS of b - a over RMS of a: 0 where nothing changed, infinity where a is zero and b is not."""

    norm_names: tuple
    weights: torch.Tensor  # (norms,), of each Dense's weight and bias
    scale: torch.Tensor  # (norms,), over all times and features
    shift: torch.Tensor
    gate: torch.Tensor
    cond: float  # over all times


def recognise(names, label):
    """{name here: name in the checkpoint} for a pi0.5 checkpoint with these tensor names.

    Names may have a prefix (`model.`), and the time MLP may be called `action_time_mlp`.

    Raises:
        ValueError: this is no pi0.5; the message says what it is instead, or what it lacks.
    """
    names = set(names)
    expert = [re.fullmatch(rf"(.*\.|){re.escape(EXPERT)}(.+)", name) for name in names]
    expert = [match for match in expert if match]
    if any(".lora_" in name for name in names):
        raise ValueError(
            f"{label} is an adapter (LoRA): it holds changes only. Merge it into its base, then read that"
        )
    if not expert:
        raise ValueError(
            f"{label} is no pi0.5: it has no action expert ({EXPERT}...). It has {len(names)} tensors, "
            f"such as {', '.join(sorted(names)[:3]) or 'none'}"
        )
    prefixes = {match[1] for match in expert}
    if len(prefixes) > 1:
        raise ValueError(f"{label} has several action experts, under {', '.join(sorted(prefixes))}")
    (prefix,), parts = prefixes, {match[2] for match in expert}
    if not any(part.endswith(".dense.weight") for part in parts):
        if "layers.0.input_layernorm.weight" in parts:
            raise ValueError(
                f"{label} is pi0, not pi0.5: the norms of its action expert are plain (a weight each), "
                "and the time enters once, at the input. There are no modulations in it"
            )
        raise ValueError(f"{label} is no pi0.5: the norms of its action expert have no dense layer")
    layers = {int(part.split(".")[1]) for part in parts if re.match(r"layers\.\d{1,3}\.", part)}
    wanted, lacking = {}, []
    for name in tensor_names(max(layers, default=0) + 1):
        spellings = [prefix + name]
        if name.startswith("time_mlp"):
            spellings.append(f"{prefix}action_{name}")
        found = [spelling for spelling in spellings if spelling in names]
        wanted[name] = found[0] if found else lacking.append(spellings[0])
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise ValueError(f"{label} is no whole pi0.5: it lacks {', '.join(lacking[:3])}{more}")
    return wanted


def _require_place(source, file, revision, cache):
    require_path("source", source)
    require_kind("file", file, str, "string")
    require_kind("revision", revision, str, "string")
    if cache is not None:
        require_path("cache", cache)


def _read_local(folder, file):
    checkpoint = Checkpoint(LocalFolder(folder), file)
    wanted, real = _wanted(checkpoint)
    # The whole path: training runs name their files alike, and the label tells two of them apart.
    label = (folder / checkpoint.file).as_posix()
    if real is not None:
        label = str(checkpoint.metadata.get("label", label))
    places = _places(checkpoint, wanted)
    tensors = {}
    for run in in_runs(places):
        tensors.update(checkpoint.read(run, places))
    return _of_file(tensors, wanted, label, real)


def _wanted(checkpoint):
    """{name here: name there}, and whether the file says that it is real; None where it says nothing."""
    if checkpoint.metadata.get("format") == FORMAT:
        names = {name: name for name in checkpoint.names}
        return names, checkpoint.metadata.get("real") == "true"
    return recognise(checkpoint.names, checkpoint.label), None


def _places(checkpoint, wanted):
    """The places of the wanted tensors in the checkpoint, their shapes checked before any is read."""
    places = checkpoint.places(wanted.values())
    shapes = {name: places[there].shape for name, there in wanted.items()}
    try:
        _width(shapes)
    except ValueError as error:
        raise ValueError(f"{checkpoint.label} is no pi0.5: {error}") from None
    return places


def _of_file(tensors, wanted, label, real):
    found = Modulations({name: tensors[there] for name, there in wanted.items()}, label, False)
    as_published = (found.width, found.depth) == (WIDTH, DEPTH)
    found.real = as_published if real is None else real
    if real is None and not as_published:
        found.label += f"; width {found.width}, {found.depth} layers, not pi0.5's size"
    return found


def _denses(tensors):
    """{norm name: Dense}, in the order of the norms, from the names of the tensors."""
    found, layer = {}, 0
    while True:
        here = {
            f"layer {layer} {short}": f"{EXPERT}layers.{layer}.{half}.dense"
            for half, short in HALVES.items()
            if f"{EXPERT}layers.{layer}.{half}.dense.weight" in tensors
        }
        if not here:
            break
        found, layer = {**found, **here}, layer + 1
    return {**found, "final norm": f"{EXPERT}norm.dense"}


def _width(shapes):
    """The width of the expert, from {name: shape}, all checked against it."""
    wanted = {f"{name}.{part}" for name in _denses(shapes).values() for part in ("weight", "bias")}
    wanted |= {f"time_mlp_{end}.{part}" for end in ("in", "out") for part in ("weight", "bias")}
    if wanted != set(shapes):
        odd = sorted(wanted ^ set(shapes))
        raise ValueError(f"odd or missing are {', '.join(odd[:3])}")
    first = shapes["time_mlp_in.bias"]
    width = first[0] if len(first) == 1 else 0
    if width < 2 or width % 2:
        raise ValueError(f"time_mlp_in.bias has shape {first}, wanted (width,) with an even width")
    for name, shape in shapes.items():
        rows = width if name.startswith("time_mlp") else 3 * width
        right = (rows,) if name.endswith(".bias") else (rows, width)
        if tuple(shape) != right:
            raise ValueError(f"{name} has shape {tuple(shape)}, wanted {right} at width {width}")
    return width


def _relative(a, b):
    """RMS of b - a over RMS of a, along the last dimension."""
    changed, size = (b - a).square().mean(dim=-1).sqrt(), a.square().mean(dim=-1).sqrt()
    return torch.where(changed == 0, 0.0, changed / size)


def _download(source, file, revision, download, cache, progress):
    checkpoint = Checkpoint(HubFolder(source, revision), file)
    wanted, real = _wanted(checkpoint)
    places = _places(checkpoint, wanted)
    size = sum(place.end - place.start for place in places.values())
    what = f"the modulations of {checkpoint.label}: {_bytes(size)} of {_bytes(checkpoint.size)}"
    if not download:
        raise NotDownloaded(
            f"{what}, which are not on this machine. To fetch them: download=True "
            "(in lesson 08 DOWNLOAD = True, on the command line --download)"
        )
    kept = _writable(cache_file(source, file, revision, cache))
    partial = _Partial(kept.with_suffix(".partial"), checkpoint.folder.commit, places)
    tensors = partial.load()
    runs = [run for run in in_runs(places) if not all(name in tensors for name in run)]
    done = sum(places[name].end - places[name].start for name in tensors)
    if progress:
        print(f"fetching {what}, into {kept}" + (f"; {_bytes(done)} are there" if done else ""))
    quiet = not progress or os.environ.get("HELPERS_STILL") == "1"
    with tqdm(total=size, initial=done, unit="B", unit_scale=True, disable=quiet) as bar:
        for run in runs:
            fetched = checkpoint.read(run, places)
            partial.keep(fetched)
            bar.update(sum(t.nbytes for name, t in fetched.items() if name not in tensors))
            tensors.update(fetched)
    label = f"{source} ({revision}, {checkpoint.folder.commit[:8]})"
    modulations = _of_file(tensors, wanted, label, real)
    modulations.save(kept)
    partial.remove()
    return modulations


class _Partial:
    """Whole tensors of an unfinished fetch: one small file for each run, in a folder beside the cache."""

    def __init__(self, folder, commit, places):
        # Another commit, or other places: other numbers under the same names.
        exact = json.dumps([commit, sorted(places.items())])
        self.parent, self.places = folder, places
        self.folder = folder / hashlib.sha256(exact.encode()).hexdigest()[:16]

    def load(self):
        found = {}
        for path in sorted(self.folder.glob("*.safetensors")):
            try:
                tensors = load_file(path)
            except (SafetensorError, OSError):
                continue  # damaged: its tensors are fetched again
            for name, tensor in tensors.items():
                place = self.places.get(name)
                if place and (place.shape, DTYPES[place.dtype]) == (tensor.shape, tensor.dtype):
                    found[name] = tensor
        return found

    def keep(self, tensors):
        first = self.places[next(iter(tensors))]
        file = re.sub(r"[^\w.-]+", "--", first.file.removesuffix(".safetensors"))
        try:
            _write(self.folder / f"{file}-{first.start}.safetensors", tensors)
        except OSError:
            # Gone: another process has fetched all of it meanwhile, and swept up. This one goes on.
            if self.folder.is_dir():
                raise

    def remove(self):
        shutil.rmtree(self.parent, ignore_errors=True)


def _write(path, tensors, metadata=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        _replace(path, lambda temporary: save_file(tensors, temporary, metadata))
    except SafetensorError as error:  # a full disk, mostly
        raise OSError(f"{path} could not be written: {error}") from None


def _replace(path, write):
    """Written under another name first, so that a stop half-way leaves no half file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _cache_folders(cache):
    """Where to look, the first one first; the second one serves where the first cannot be written."""
    if cache is None:
        cache = os.environ.get("ADARMS_CACHE")
    if cache is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        cache = Path(base or Path.home() / ".cache") / "adarms-notebooks"
    user = getattr(os, "getuid", lambda: "user")()
    return Path(cache).expanduser(), Path(tempfile.gettempdir()) / f"adarms-notebooks-{user}"


def _writable(path):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        other = _cache_folders(path.parent)[1]
        print(
            f"{path.parent} cannot be written ({error.strerror}): kept in {other} instead, until this "
            "machine empties it"
        )
        other.mkdir(mode=0o700, parents=True, exist_ok=True)
        return other / path.name


def _bytes(size):
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1e3:.1f} kB"


STAND_IN = "stand-in"
EXAMPLES = f"""\
examples:
  python -m helpers.pretrained model.safetensors
      the table of a file on this machine (a folder and an index of shards work as well)
  python -m helpers.pretrained {REPOSITORY}
      says how much would be fetched, and fetches nothing but the header
  python -m helpers.pretrained {REPOSITORY} --download --report report.html
      fetches the modulations, keeps them, and writes pictures and table
  python -m helpers.pretrained {REPOSITORY} me/pi05_folding@v2 --download --report report.html
      what fine-tuning changed; a branch, tag or commit stands behind an @
  python -m helpers.pretrained {STAND_IN} --report report.html
      random weights in pi0.5's shape, to see what a report looks like

exit status: 0 done, 1 failed (standard error says why), 2 not understood
"""


def main(arguments=None):
    """The command line -> exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers.pretrained",
        description="What the norms of a pi0.5 checkpoint are told at every time: a table, and a report.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = f"a file, a folder, a repository owner/name[@revision] of the hub, or {STAND_IN}"
    parser.add_argument("source", metavar="FILE_OR_REPO", help=where)
    parser.add_argument("other", metavar="OTHER", nargs="?", help="a second one, to be compared")
    parser.add_argument("--report", metavar="HTML", type=Path, help="write pictures and table here")
    parser.add_argument("--download", action="store_true", help="fetch what is on the hub only")
    parser.add_argument(
        "--file", default=FILE, help="which file of a folder or repository (default %(default)s)"
    )
    parser.add_argument("--cache", type=Path, help="folder for what is fetched")
    parser.add_argument("--quiet", action="store_true", help="no progress, no table")
    given = parser.parse_args(arguments)
    if given.report is not None and not given.report.absolute().parent.is_dir():
        parser.error(f"--report: there is no folder {given.report.parent}")
    try:
        found = [_named(one, given) for one in (given.source, given.other) if one is not None]
        # Not at the top: it uses this module.
        from helpers import modulation_report

        if not given.quiet:
            print(modulation_report.as_text(*found))
        if given.report is not None:
            content = modulation_report.as_html(*found).encode()
            _replace(given.report, lambda path: path.write_bytes(content))
            if not given.quiet:
                print(f"\nwrote {given.report} ({_bytes(len(content))})")
    except (OSError, ValueError, ImportError, NotDownloaded) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped. Run it again: what was fetched so far is kept", file=sys.stderr)
        return 1
    return 0


def _named(source, given):
    if source == STAND_IN:
        return stand_in()
    name, _, revision = source.partition("@")
    if not revision or Path(source).exists():
        name, revision = source, REVISION
    return read(
        name,
        given.file,
        revision,
        download=given.download,
        cache=given.cache,
        progress=not given.quiet,
    )


if __name__ == "__main__":
    # As the module that others import: the classes here and there must be the same.
    from helpers import pretrained

    sys.exit(pretrained.main())
