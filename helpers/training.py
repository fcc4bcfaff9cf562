"""The training loop of flow matching, its checkpoints, and several seeds trained at once.

The loop is five lines (draw noise and time, interpolate, predict, loss, step). Round them stands what one
wants at a notebook: a progress bar, a stop that loses nothing, a look at the model while it learns.
"""

import errno
import glob
import json
import math
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import safetensors
import torch
from safetensors.torch import save
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from tqdm.auto import tqdm

from helpers.action_expert import CONDITIONINGS, ActionExpert, ExpertConfig
from helpers.flow import flow_loss, interpolate, sample_time, target_velocity
from helpers.interrupts import Interrupt
from helpers.validation import (
    require_callable,
    require_choice,
    require_count,
    require_finite,
    require_kind,
    require_list,
    require_module,
    require_number,
    require_path,
    require_tensor,
)

CHECKPOINTS = Path(__file__).resolve().parent / "checkpoints"
FORMAT = "adarms-notebooks checkpoint 1"
MAKE_ANEW = "Save it again (`make checkpoints` makes those that ship)"


@dataclass(frozen=True)
class TrainSettings:
    """What fixes a run, next to its model and data. The defaults train "reach" in a quarter of a minute."""

    steps: int = 1200
    batch: int = 128
    learning_rate: float = 2e-3  # of AdamW, reached after `warm_up` steps; then a cosine down to 0
    warm_up: int = 20
    clip: float = 1.0  # largest gradient norm
    alpha: float = 1.5  # times are drawn from Beta(alpha, 1): more of them near noise
    seed: int = 0  # of the batches, the noise and the times

    def __post_init__(self):
        require_count("steps", self.steps)
        require_count("batch", self.batch)
        require_count("warm_up", self.warm_up, least=0)
        require_count("seed", self.seed, least=0)
        for name in ("learning_rate", "clip", "alpha"):
            require_number(name, getattr(self, name), above=0)

    def rate(self, step):
        """The learning rate of step 0, 1, ..., steps - 1."""
        require_count("step", step, least=0)
        warm = min(1.0, (step + 1) / (self.warm_up + 1))
        return self.learning_rate * warm * (1 + math.cos(math.pi * step / self.steps)) / 2


class Training:
    """One model in training. `run()` trains on from where it stands, after a stop too.

    Attributes:
        model, settings: as given.
        step: how many steps were made.
        losses: the loss of each step, a list of floats.
    """

    def __init__(self, model, actions, observation=None, settings=None):
        """model(x_t, time, observation) -> v_t; actions (n, ...); observation (n, features) or None."""
        require_module("model", model)
        self.settings = _or_default(settings)
        self.data = _require_data(actions, observation)
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=self.settings.learning_rate)
        self.random = torch.Generator().manual_seed(self.settings.seed)
        self.step, self.losses = 0, []

    def run(self, steps=None, on_step=None):
        """Train to the end, or `steps` steps further; returns self.

        A kernel interrupt (■ in a notebook, Ctrl-C elsewhere) stops after the step that is under way: the
        model so far is whole, and another `run()` goes on as though nothing had happened. A second
        interrupt stops at once. on_step(self) is called after each step.
        """
        if on_step is not None:
            require_callable("on_step", on_step)
        last = self.settings.steps
        if steps is not None:
            require_count("steps", steps)
            last = min(last, self.step + steps)
        with Interrupt() as interrupt, self._bar(last) as bar:
            while self.step < last and not interrupt.came:
                self._one_step()
                if on_step is not None:
                    on_step(self)
                if self.step % 20 == 0:
                    bar.set_postfix_str(f"loss {sum(self.losses[-20:]) / 20:.3f}", refresh=False)
                bar.update()
        if interrupt.came:
            print(
                f"stopped after {self.step} of {self.settings.steps} steps; run() goes on from here"
            )
        return self

    def _one_step(self):
        settings = self.settings
        actions, observation = draw_batch(self.data, settings.batch, self.random)
        noise, time = draw_noise_and_time(actions, settings, self.random)
        x_t = interpolate(actions, noise, time)
        v_t = self.model(*_inputs(x_t, time, observation))
        # `flow_loss` without its look at every number: the data was looked at once, in __init__.
        loss = (v_t - target_velocity(actions, noise)).square().mean(dim=-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimizer.param_groups[0]["lr"] = settings.rate(self.step)
        self.losses.append(_going(loss.item(), self.step))
        self.optimizer.step()
        self.step += 1

    def _bar(self, last):
        quiet = os.environ.get("HELPERS_STILL") == "1"  # a built notebook holds no times
        return tqdm(
            total=last,
            initial=self.step,
            unit=" steps",
            desc="training",
            mininterval=0.5,  # drawn more often, a bar in a notebook costs 2% of the time
            disable=quiet,
        )


def draw_batch(data, batch, random):
    """`batch` rows of (actions, observation), drawn with replacement; observation may be None."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise TypeError(f"data must be (actions, observation), got {type(data).__name__}")
    require_count("batch", batch)
    require_kind("random", random, torch.Generator, "torch.Generator")
    actions, observation = data
    rows = torch.randint(len(actions), (batch,), generator=random)
    return actions[rows], None if observation is None else observation[rows]


def draw_noise_and_time(actions, settings, random):
    """Noise like actions, and a time for each row."""
    require_tensor("actions", actions)
    require_kind("settings", settings, TrainSettings)
    require_kind("random", random, torch.Generator, "torch.Generator")
    noise = torch.randn(actions.shape, generator=random)
    return noise, sample_time(len(actions), settings.alpha, random)


def train_seeds(make_model, seeds, actions, observation=None, settings=None, on_step=None):
    """Train one model for each seed, all at once, as `Training` would train them one by one.

    Their weights are stacked and `torch.func.vmap` runs them side by side: a step of small matrices costs
    more in calls than in arithmetic.

    Args:
        make_model: called once for each seed, right after `torch.manual_seed(seed)`.
        seeds: the seeds of weights, batches, noise and times; `settings.seed` is not used.
        on_step: called as on_step(step, losses) after each step, losses (seeds,).

    Returns:
        (models, losses): a list of trained modules, and (seeds, steps) losses.
    """
    require_callable("make_model", make_model)
    require_list("seeds", seeds, lambda name, seed: require_count(name, seed, least=0))
    if on_step is not None:
        require_callable("on_step", on_step)
    settings = _or_default(settings)
    data = _require_data(actions, observation)
    models = [_seeded(make_model, seed) for seed in seeds]
    parameters, buffers = stack_module_state(models)
    optimizer = torch.optim.AdamW(parameters.values(), lr=settings.learning_rate)
    randoms = [torch.Generator().manual_seed(seed) for seed in seeds]

    def one(parameters, buffers, x_t, time, observation):
        return functional_call(models[0], (parameters, buffers), _inputs(x_t, time, observation))

    side_by_side = vmap(one, in_dims=(0, 0, 0, 0, None if observation is None else 0))
    history = []
    for step in range(settings.steps):
        batches = [draw_batch(data, settings.batch, random) for random in randoms]
        drawn = [
            draw_noise_and_time(batch[0], settings, random)
            for batch, random in zip(batches, randoms, strict=True)
        ]
        acts = torch.stack([batch[0] for batch in batches])
        seen = None if observation is None else torch.stack([batch[1] for batch in batches])
        shape = acts.shape[:2]

        def velocity(x_t, time, seen=seen, shape=shape):
            v_t = side_by_side(
                parameters, buffers, x_t.unflatten(0, shape), time.unflatten(0, shape), seen
            )
            return v_t.flatten(0, 1)

        losses = flow_loss(
            velocity,
            acts.flatten(0, 1),
            torch.cat([noise for noise, _ in drawn]),
            torch.cat([time for _, time in drawn]),
        )
        losses = losses.unflatten(0, shape).flatten(1).mean(dim=1)
        optimizer.zero_grad()
        losses.sum().backward()  # no seed's loss depends on another seed's weights
        _clip_each(parameters.values(), settings.clip)
        optimizer.param_groups[0]["lr"] = settings.rate(step)
        _going(losses.sum().item(), step)
        optimizer.step()
        history.append(losses.detach())
        if on_step is not None:
            on_step(step + 1, history[-1])
    for index, model in enumerate(models):
        model.load_state_dict(
            {name: value[index] for name, value in parameters.items()}, strict=False
        )
    return models, torch.stack(history, dim=1)


def count_parameters(model):
    """How many numbers a module's parameters hold."""
    require_module("model", model)
    return sum(parameter.numel() for parameter in model.parameters())


def save_checkpoint(path, model, settings, step=None, **notes):
    """Write an `ActionExpert` as safetensors, with its config, the settings and the seed in the metadata.

    path ends in .safetensors. The file is written under another name and then renamed, so a stop half-way
    leaves the old one. Where the folder may not be written, as in a read-only checkout, the file goes to
    this machine's temporary folder, and a line says so. notes: further facts to keep, such as success=0.9;
    numbers or strings.

    Returns:
        The path of the file written.
    """
    require_path("path", path)
    require_kind("model", model, ActionExpert)
    require_kind("settings", settings, TrainSettings)
    if step is not None:
        require_count("step", step, least=0)
    path = Path(path)
    if any(parameter.dtype == torch.float64 for parameter in model.parameters()):
        raise ValueError(
            "model must hold float32 or half precision, as `model.float()` does, got torch.float64: "
            "loading would round it"
        )
    if path.suffix != ".safetensors":
        raise ValueError(f"path must end in .safetensors, got {path.name}")
    about = {
        "config": asdict(model.config),
        "conditioning": model.conditioning,
        "settings": asdict(settings),
        "step": settings.steps if step is None else step,
        "notes": notes,
    }
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    metadata = {"format": FORMAT, "about": json.dumps(about, sort_keys=True)}
    data = save(tensors, metadata)
    try:
        _write_whole(path, data)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        user = getattr(os, "getuid", lambda: "user")()
        other = Path(tempfile.gettempdir()) / f"adarms-notebooks-{user}" / path.name
        print(f"{path.parent} may not be written ({error.strerror}): the checkpoint is {other}")
        _write_whole(other, data)
        return other
    return path


def _write_whole(path, data):
    """Write under another name, then rename; remove what killed writers left a minute ago or earlier."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:  # a KeyboardInterrupt too
        with suppress(OSError):  # the first error says more
            temporary.unlink()
        raise
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > 60:
                left.unlink()


@dataclass(frozen=True)
class Checkpoint:
    """A model as it was saved, and what is known about it."""

    model: ActionExpert
    settings: TrainSettings
    step: int
    notes: dict


def load_checkpoint(path, config=None, conditioning=None):
    """Read what `save_checkpoint` wrote -> `Checkpoint`.

    Given a config or a conditioning, the file must have that one.

    Raises:
        FileNotFoundError, IsADirectoryError, PermissionError: no such file, a folder, not readable.
        ValueError: a pickle (never opened: it could run code), a damaged file, one that is no checkpoint
            of this collection, another config or conditioning, tensors missing, unknown, of other shapes,
            not floating point, or not finite.
    """
    require_path("path", path)
    if config is not None:
        require_kind("config", config, ExpertConfig)
    if conditioning is not None:
        require_choice("conditioning", conditioning, CONDITIONINGS)
    path = Path(path)
    metadata, tensors = _read(path)
    if metadata.get("format") != FORMAT:
        raise ValueError(
            f"{path.name} is no checkpoint of this collection: its metadata says format "
            f"{metadata.get('format')!r}, wanted {FORMAT!r}. {MAKE_ANEW}"
        )
    try:
        about = json.loads(metadata["about"])
        found, settings = ExpertConfig(**about["config"]), TrainSettings(**about["settings"])
        model = ActionExpert(found, about["conditioning"])
        step, notes = about["step"], about["notes"]
        require_count("step", step, least=0)
        require_kind("notes", notes, dict)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{path.name} has metadata that make no model ({error}). {MAKE_ANEW}"
        ) from None
    if config is not None and config != found:
        differing = [
            f"{field.name} {getattr(found, field.name)} instead of {getattr(config, field.name)}"
            for field in fields(ExpertConfig)
            if getattr(found, field.name) != getattr(config, field.name)
        ]
        raise ValueError(
            f"{path.name} holds another model: {', '.join(differing)}. Leave config out to take it as it is"
        )
    if conditioning not in (None, model.conditioning):
        raise ValueError(
            f"{path.name} holds another model: conditioning {model.conditioning!r} instead of "
            f"{conditioning!r}. Leave conditioning out to take it as it is"
        )
    _require_same_tensors(path.name, tensors, model.state_dict())
    model.load_state_dict(tensors)
    return Checkpoint(model, settings, step, notes)


def _read(path):
    """Metadata and tensors of a safetensors file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path.name} is a folder: name the .safetensors file in it")
    try:
        with open(path, "rb") as file:
            first = file.read(9)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path.name} is missing in {path.parent}. {MAKE_ANEW}") from None
    except PermissionError:
        raise PermissionError(
            f"{path.name} may not be read: give yourself the permission to"
        ) from None
    # A safetensors file starts with the length of its header, which may be any eight bytes, then a brace.
    if first[8:] != b"{" and (first[:2] == b"PK" or first[:1] == b"\x80"):
        raise ValueError(
            f"{path.name} is a pickle, as torch.save writes: it can run any code, so it was not opened. "
            f"Only safetensors files are read. {MAKE_ANEW}"
        )
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            names = file.keys()
            return file.metadata() or {}, {name: file.get_tensor(name) for name in names}
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path.name} is cut off or damaged ({error}). {MAKE_ANEW}") from None


def _inputs(x_t, time, observation):
    return (x_t, time) if observation is None else (x_t, time, observation)


def _seeded(make_model, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_model()


def _clip_each(stacked, largest):
    """`clip_grad_norm_` for each seed: gradients are stacked along the first dimension."""
    gradients = [parameter.grad for parameter in stacked if parameter.grad is not None]
    norm = torch.stack([g.flatten(1).square().sum(dim=1) for g in gradients]).sum(dim=0).sqrt()
    factor = (largest / (norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.reshape(-1, *[1] * (gradient.ndim - 1)))


def _or_default(settings):
    if settings is None:
        return TrainSettings()
    require_kind("settings", settings, TrainSettings)
    return settings


def _require_data(actions, observation):
    require_tensor("actions", actions)
    require_finite("actions", actions)
    if actions.ndim < 2 or len(actions) == 0:
        raise ValueError(f"actions must be (n, ..., dim), n at least 1, got {tuple(actions.shape)}")
    if observation is not None:
        require_tensor("observation", observation, ndim=2)
        require_finite("observation", observation)
        if len(observation) != len(actions):
            raise ValueError(
                f"observation must have one row for each of {len(actions)} actions, got {len(observation)}"
            )
    return actions, observation


def _going(loss, step):
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"the loss became NaN or infinite at step {step}: try a smaller learning_rate"
        )
    return loss


def _require_same_tensors(name, found, wanted):
    wrong = [f"{key} is missing" for key in wanted if key not in found]
    wrong += [f"{key} is unknown" for key in found if key not in wanted]
    wrong += [
        f"{key} is {tuple(found[key].shape)} instead of {tuple(wanted[key].shape)}"
        for key in wanted
        if key in found and found[key].shape != wanted[key].shape
    ]
    # A file may keep a model in half precision, which halves it: loading widens the numbers again.
    wrong += [
        f"{key} is {found[key].dtype} instead of {wanted[key].dtype}"
        for key in wanted
        if key in found and not found[key].dtype.is_floating_point
    ]
    wrong += [f"{key} holds NaN or infinity" for key in found if not found[key].isfinite().all()]
    if wrong:
        raise ValueError(
            f"{name} does not hold the model it says: {'; '.join(wrong[:6])}. {MAKE_ANEW}"
        )
