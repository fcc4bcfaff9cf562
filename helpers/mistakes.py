"""Eight real ways to write pi0.5's adaRMS wrong, and five checks that tell them apart.

A `Port` says how somebody wrote the action expert; `Port()` is the right way. `check(port)` tries the
five invariants on it. Where a mistake was made in public code, `source` says where to read about it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

from helpers import openpi_numbers
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.embeddings import TimeMLP
from helpers.flow import euler_sample
from helpers.norms import AdaRMSNorm, modulate, rms_norm
from helpers.validation import (
    require_callable,
    require_count,
    require_kind,
    require_tensor,
)

OPENPI = (
    "https://github.com/Physical-Intelligence/openpi/blob/"
    "15a9616a00943ada6c20a0f158e3adb39df2ccac/src/openpi"
)

# The ports are checked at this size: two layers with attention, four action tokens.
SMALL = ExpertConfig(
    width=16, depth=2, mlp_width=32, num_heads=2, head_dim=8, action_dim=2, horizon=4
)


class BiasLeftRandom(AdaRMSNorm):
    """Only the kernel starts at zero; the bias keeps torch's own start, uniform in ±1/sqrt(cond_dim)."""

    def reset_parameters(self):
        self.modulation.reset_parameters()
        nn.init.zeros_(self.modulation.weight)


class GateLeftOut(AdaRMSNorm):
    """The gate is computed and not used: the branch is added whole."""

    def forward(self, hidden_states, cond):
        normed, gate = super().forward(hidden_states, cond)
        return normed, torch.ones_like(gate)


class PlainNorm(AdaRMSNorm):
    """The norm without its modulation, as which the final norm is easily taken."""

    def forward(self, hidden_states, cond):
        _, gate = super().forward(hidden_states, cond)
        return rms_norm(hidden_states, eps=self.eps), gate


class PlusOneForgotten(AdaRMSNorm):
    """normed * scale + shift."""

    def forward(self, hidden_states, cond):
        scale, shift, gate = self.scale_shift_gate(hidden_states, cond)
        return rms_norm(hidden_states, eps=self.eps) * scale + shift, gate


class OrderSwapped(AdaRMSNorm):
    """The Dense's output is split as shift, scale, gate."""

    def forward(self, hidden_states, cond):
        shift, scale, gate = self.scale_shift_gate(hidden_states, cond)
        return modulate(rms_norm(hidden_states, eps=self.eps), scale, shift), gate


class SquaresInInputFormat(AdaRMSNorm):
    """The mean square is taken in the input's own number format, not in float32."""

    def forward(self, hidden_states, cond):
        scale, shift, gate = self.scale_shift_gate(hidden_states, cond)
        mean_square = hidden_states.square().mean(-1, keepdim=True)
        normed = modulate(hidden_states * (mean_square + self.eps).rsqrt(), scale, shift)
        return normed.to(hidden_states.dtype), gate.to(hidden_states.dtype)


class TimeReversed(TimeMLP):
    """The network is told 1 - t, as though noise were at t = 0."""

    def forward(self, time):
        return super().forward(1 - time)


def overwrite_dense(model):
    """What a parent's init does to every Dense of the transformer: N(0, 0.02) at width 1024, bias zero."""
    require_kind("model", model, ActionExpert)
    for module in model.transformer.modules():
        if isinstance(module, nn.Linear):
            # At pi0.5's width the deviation is 0.02; a narrow model needs more for the same outputs.
            nn.init.normal_(module.weight, std=0.02 * (1024 / module.in_features) ** 0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


@dataclass(frozen=True)
class Port:
    """A way to write the action expert.

    Attributes:
        right, wrong: the line of code that matters, as it should be and as it was written.
        source, url: where the mistake can be read about.
        norm, final_norm, time_mlp: the classes it uses; final_norm None means the same as norm.
        after_init: called with the finished model, as a parent class's init is.
    """

    name: str = "none"
    right: str = ""
    wrong: str = ""
    source: str = ""
    url: str = ""
    norm: type[AdaRMSNorm] = AdaRMSNorm
    final_norm: type[AdaRMSNorm] | None = None
    time_mlp: type[TimeMLP] = TimeMLP
    after_init: Callable | None = None

    def __post_init__(self):
        for name in ("norm", "final_norm", "time_mlp"):
            kind, wanted = getattr(self, name), TimeMLP if name == "time_mlp" else AdaRMSNorm
            if name == "final_norm" and kind is None:
                continue
            if not (isinstance(kind, type) and issubclass(kind, wanted)):
                raise TypeError(f"{name} must be a kind of {wanted.__name__}, got {kind!r}")
        if self.after_init is not None:
            require_callable("after_init", self.after_init)

    def expert(self, config=SMALL, seed=0):
        """A newborn `ActionExpert` written this way. Draws from its own seed, not from torch's state."""
        require_count("seed", seed, least=0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = ActionExpert(config, "adarms")
            width, transformer = config.width, model.transformer
            for block in transformer.blocks:
                if block.attention_norm is not None:
                    block.attention_norm = self.norm(width, width)
                block.feed_forward_norm = self.norm(width, width)
            transformer.final_norm = (self.final_norm or self.norm)(width, width)
            time_mlp = self.time_mlp(width)
            time_mlp.load_state_dict(model.time_mlp.state_dict())
            model.time_mlp = time_mlp
            if self.after_init is not None:
                self.after_init(model)
        return model.requires_grad_(False)


_PORTS = (
    Port(
        right="x + gate * branch(normed * (1 + scale) + shift)",
        wrong="the same",
        source="openpi, models/gemma.py",
        url=f"{OPENPI}/models/gemma.py",
    ),
    Port(
        "bias left random",
        "zeros_(dense.weight); zeros_(dense.bias)",
        "zeros_(dense.weight)",
        "huggingface/lerobot, pi_gemma.py: PiGemmaRMSNorm",
        "https://github.com/huggingface/lerobot/blob/02e3ae7031a2e7305dd12436971f8d74867cfab2/"
        "src/lerobot/policies/pi_gemma.py",
        norm=BiasLeftRandom,
    ),
    Port(
        "zeros overwritten",
        "init all Dense layers, then set the modulations to zero",
        "set the modulations to zero, then init all Dense layers",
        "openpi's PyTorch port: _init_weights; and yz93/LAVT-RIS#15",
        f"{OPENPI}/models_pytorch/transformers_replace/models/gemma/modeling_gemma.py",
        after_init=overwrite_dense,
    ),
    Port(
        "gate left out",
        "x + gate * branch",
        "x + branch",
        "FastCrest/tether#156, bug 5",
        "https://github.com/FastCrest/tether/pull/156",
        norm=GateLeftOut,
    ),
    Port(
        "plain final norm",
        "normed, _ = final_norm(x, cond)",
        "normed = final_norm(x)",
        "FastCrest/tether#156, bug 1",
        "https://github.com/FastCrest/tether/pull/156",
        final_norm=PlainNorm,
    ),
    Port(
        "+1 forgotten",
        "normed * (1 + scale) + shift",
        "normed * scale + shift",
        "ggml-org/llama.cpp#5631, for Gemma's plain norms",
        "https://github.com/ggml-org/llama.cpp/pull/5631",
        norm=PlusOneForgotten,
    ),
    Port(
        "order swapped",
        "scale, shift, gate = modulation.chunk(3)",
        "shift, scale, gate = modulation.chunk(3)",
        "huggingface/diffusers#13998, converting one order to another",
        "https://github.com/huggingface/diffusers/issues/13998",
        norm=OrderSwapped,
    ),
    Port(
        "time reversed",
        "cond = time_mlp(t)",
        "cond = time_mlp(1 - t)",
        "kohya-ss/sd-scripts#2215, in training Lumina",
        "https://github.com/kohya-ss/sd-scripts/pull/2215",
        time_mlp=TimeReversed,
    ),
    Port(
        "statistics in float16",
        "x.float().square().mean()",
        "x.square().mean()",
        "pytorch/pytorch#133085, in torch's own RMSNorm",
        "https://github.com/pytorch/pytorch/pull/133085",
        norm=SquaresInInputFormat,
    ),
)
PORTS = {port.name: port for port in _PORTS}


@dataclass(frozen=True)
class Finding:
    """Does the invariant hold, and what was measured."""

    holds: bool
    words: str


def birth(port):
    """A newborn block returns its input, bit for bit."""
    require_kind("port", port, Port)
    model = port.expert()
    x, cond = _random(2, 4, SMALL.width), _random(2, SMALL.width)
    blocks = model.transformer.blocks
    changes = [float((block(x, cond) - x).square().mean().sqrt()) for block in blocks]
    same = all(torch.equal(block(x, cond), x) for block in blocks)
    return Finding(same, "unchanged" if same else f"changes its input by {max(changes):.1g}")


def plain(port):
    """A newborn norm is the plain RMSNorm."""
    require_kind("port", port, Port)
    x, cond = _random(2, 4, SMALL.width), _random(2, SMALL.width)
    errors = [float((norm(x, cond)[0] - rms_norm(x)).abs().max()) for norm in _norms(port.expert())]
    close = max(errors) < 1e-5
    return Finding(close, "the same" if close else f"off by {max(errors):.1f}")


def size(port):
    """A float16 input 300 times larger gives the same normed."""
    require_kind("port", port, Port)
    x, cond = _random(2, 4, SMALL.width).half(), _random(2, SMALL.width)
    norm = port.norm(SMALL.width, SMALL.width).requires_grad_(False)
    change = float((norm(300 * x, cond)[0] - norm(x, cond)[0]).abs().max())
    same = change < 4e-3
    return Finding(same, "the same" if same else f"moves by {change:.1f}")


def numbers(port):
    """With pi0.5's parameters, pi0.5's numbers: cond, then normed, then gate."""
    require_kind("port", port, Port)
    for name, got, wanted, case in _held_against_openpi(port):
        error, close = openpi_numbers.largest_error(got, wanted, case)
        if not close:
            return Finding(False, f"first wrong: {name}, by {error:.1f}")
    return Finding(True, "cond, normed, gate the same")


def hearing(port):
    """A newborn model does not hear the time; once its modulations are not zero, its last norm does."""
    require_kind("port", port, Port)
    newborn, awake = port.expert(), port.expert()
    at_birth = _change_over_time(newborn)
    if at_birth > 0:
        return Finding(False, f"at birth already, by {at_birth:.1g}")
    # Every modulation random, but each block's gate closed, so that only the last norm can hear.
    for norm in _norms(awake):
        norm.modulation.weight.copy_(_random(*norm.modulation.weight.shape) / 4)
        norm.modulation.bias.zero_()
    for norm in _norms(awake)[:-1]:
        norm.modulation.weight[-SMALL.width :] = 0
    later = _change_over_time(awake)
    heard = later > 1e-3
    return Finding(
        heard, f"0 at birth, moves by {later:.2f} later" if heard else "not heard later either"
    )


INVARIANTS = {invariant.__name__: invariant for invariant in (birth, plain, size, numbers, hearing)}


def check(port):
    """Try all five invariants on a port -> dict from name to `Finding`."""
    require_kind("port", port, Port)
    return {name: invariant(port) for name, invariant in INVARIANTS.items()}


@torch.no_grad()
def draw(port, trained, noise, num_steps=20):
    """Load the weights of `trained` into the code of `port` and sample from `noise` (n, horizon, dim)."""
    require_kind("port", port, Port)
    require_kind("trained", trained, ActionExpert)
    require_tensor("noise", noise, ndim=3)
    model = port.expert(trained.config)
    model.load_state_dict(trained.state_dict())
    return euler_sample(model, noise, num_steps)


def _mystery(letter, mistake):
    return replace(PORTS[mistake], name=f"port {letter}", right="", wrong="", source="", url="")


# Three ports whose authors do not know what is wrong: lesson 04's exercise.
MYSTERIES = {
    letter: _mystery(letter, mistake)
    for letter, mistake in (
        ("A", "+1 forgotten"),
        ("B", "bias left random"),
        ("C", "time reversed"),
    )
}


def _norms(model):
    return [module for module in model.modules() if isinstance(module, AdaRMSNorm)]


def _random(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def _change_over_time(model):
    x_t = _random(1, SMALL.horizon, SMALL.action_dim).expand(3, -1, -1)
    v_t = model(x_t, torch.tensor([1.0, 0.5, 0.0]))
    return float((v_t - v_t[:1]).abs().max())


def _held_against_openpi(port):
    """(name, got, wanted, case) for the time MLP, and for the norm's two outputs."""
    case = openpi_numbers.load("embed_suffix_pi05")
    time_mlp = port.time_mlp(case.adarms_cond.shape[-1]).requires_grad_(False)
    openpi_numbers.load_dense(time_mlp.time_in, **case.params["time_mlp_in"])
    openpi_numbers.load_dense(time_mlp.time_out, **case.params["time_mlp_out"])
    yield "cond", time_mlp(case.timestep), case.adarms_cond, case
    case = openpi_numbers.load("adarms_batch")
    norm = port.norm(case.x.shape[-1], case.cond.shape[-1]).requires_grad_(False)
    openpi_numbers.load_dense(norm.modulation, **case.params)
    normed, gate = norm(case.x, case.cond)
    yield "normed", normed, case.normed, case
    yield "gate", gate, case.gate, case
