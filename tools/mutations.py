"""Would the checks see a mistake? Make plausible ones, one at a time, in a copy of the helpers.

    python -m tools.mutations

Each is tried against the golden cases, and where none of those fails, against one named test. Prints who
caught what; exits 1 where a mistake goes unseen.
"""

import importlib
import inspect
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Mutation:
    """Replace `old`, which stands once in helpers/`file`, by `new`."""

    mistake: str
    file: str
    old: str
    new: str
    test: str = ""  # "module.function" in tests/, for what no golden case sees


MUTATIONS = [
    Mutation(
        "eps outside the root",
        "norms.py",
        "F.rms_norm(wide, (width,), scale, eps)",
        "(wide / (wide.square().mean(-1, keepdim=True).sqrt() + eps) * (1 if scale is None else scale))",
    ),
    Mutation("eps forgotten", "norms.py", "(width,), scale, eps)", "(width,), scale, 1e-30)"),
    Mutation("torch's default eps instead of ours", "norms.py", "scale, eps)", "scale, 1.2e-7)"),
    Mutation(
        "mean subtracted",
        "norms.py",
        "F.rms_norm(wide,",
        "F.rms_norm(wide - wide.mean(-1, keepdim=True),",
    ),
    Mutation("scale used without + 1", "norms.py", "scale = 1 + scale.to", "scale = scale.to"),
    Mutation(
        "statistics in half precision",
        "norms.py",
        "return x.to(torch.promote_types(x.dtype, torch.float32))",
        "return x",
    ),
    Mutation(
        "result left in float32",
        "norms.py",
        "scale, eps).to(x.dtype)",
        "scale, eps)",
        "test_norms.test_half_precision_keeps_float32_statistics",
    ),
    Mutation(
        "layer norm with the unbiased variance",
        "norms.py",
        "F.layer_norm(_widen(x), (x.shape[-1],), eps=eps)",
        "((_widen(x) - _widen(x).mean(-1, keepdim=True)) / (_widen(x).var(-1, keepdim=True) + eps).sqrt())",
        "test_norms.test_norms_are_their_formulas",
    ),
    Mutation(
        "modulation without + 1",
        "norms.py",
        "return normed * (1 + scale) + shift",
        "return normed * scale + shift",
    ),
    Mutation(
        "shift before scale",
        "norms.py",
        "return normed * (1 + scale) + shift",
        "return (normed + shift) * (1 + scale)",
    ),
    Mutation(
        "shift left out",
        "norms.py",
        "return normed * (1 + scale) + shift",
        "return normed * (1 + scale)",
    ),
    Mutation(
        "order shift, scale, gate",
        "norms.py",
        "scale, shift, gate = self",
        "shift, scale, gate = self",
    ),
    Mutation(
        "order gate, scale, shift",
        "norms.py",
        "scale, shift, gate = self",
        "gate, scale, shift = self",
    ),
    Mutation(
        "the three interleaved",
        "norms.py",
        ".chunk(3, dim=-1)",
        ".unflatten(-1, (-1, 3)).unbind(-1)",
    ),
    Mutation(
        "tanh on the gate",
        "norms.py",
        "normed.to(hidden_states.dtype), gate",
        "normed.to(hidden_states.dtype), gate.tanh()",
    ),
    Mutation(
        "gate written as 1 + gate", "norms.py", "return x + gate * y", "return x + (1 + gate) * y"
    ),
    Mutation("gate left out", "norms.py", "return x + gate * y", "return x + y"),
    Mutation(
        "gate on the trunk as well", "norms.py", "return x + gate * y", "return gate * (x + y)"
    ),
    Mutation(
        "SiLU before the modulation's Dense",
        "norms.py",
        "self.modulation(cond.to(",
        "self.modulation(F.silu(cond).to(",
    ),
    Mutation(
        "bias ignored",
        "norms.py",
        "self.modulation(cond.to(self.modulation.weight.dtype))",
        "F.linear(cond.to(self.modulation.weight.dtype), self.modulation.weight)",
    ),
    Mutation(
        "bias left random",
        "norms.py",
        "        nn.init.zeros_(self.modulation.bias)\n",
        "",
        "test_norms.test_ada_rms_norm_starts_as_the_plain_norm",
    ),
    Mutation(
        "kernel left random",
        "norms.py",
        "        nn.init.zeros_(self.modulation.weight)\n",
        "",
        "test_norms.test_ada_rms_norm_starts_as_the_plain_norm",
    ),
    Mutation(
        "zeros overwritten by a parent's init",
        "action_expert.py",
        "        self.action_out = nn.Linear(width, per_token)\n",
        "        self.action_out = nn.Linear(width, per_token)\n"
        "        for dense in (m for m in self.modules() if isinstance(m, nn.Linear)):\n"
        "            nn.init.normal_(dense.weight, std=0.02)\n",
        "test_action_expert.test_every_block_starts_as_the_identity",
    ),
    Mutation(
        "sine and cosine interleaved",
        "embeddings.py",
        "torch.cat([phase.sin(), phase.cos()], dim=-1)",
        "torch.stack([phase.sin(), phase.cos()], dim=-1).flatten(1)",
    ),
    Mutation(
        "cosines first", "embeddings.py", "[phase.sin(), phase.cos()]", "[phase.cos(), phase.sin()]"
    ),
    Mutation("2 pi forgotten", "embeddings.py", "2 * math.pi * time", "time"),
    Mutation(
        "last period not reached",
        "embeddings.py",
        "torch.linspace(0, 1, dim // 2, dtype",
        "torch.linspace(0, 1 - 2 / dim, dim // 2, dtype",
    ),
    Mutation(
        "phases in float32",
        "embeddings.py",
        "time.to(torch.float64)[:, None] / period",
        "time[:, None] / period.float()",
    ),
    Mutation(
        "second SiLU of the time MLP left out",
        "embeddings.py",
        "return F.silu(self.time_out(F.silu(self.time_in(time_emb))))",
        "return self.time_out(F.silu(self.time_in(time_emb)))",
    ),
    Mutation(
        "pi0: time before action",
        "embeddings.py",
        "torch.cat([tokens, time_emb], dim=-1)",
        "torch.cat([time_emb, tokens], dim=-1)",
    ),
    Mutation(
        "exact GELU instead of tanh",
        "blocks.py",
        'F.gelu(self.gate(hidden_states), approximate="tanh")',
        "F.gelu(self.gate(hidden_states))",
    ),
    Mutation(
        "GELU on the other half",
        "blocks.py",
        'F.gelu(self.gate(hidden_states), approximate="tanh") * self.up(hidden_states)',
        'self.gate(hidden_states) * F.gelu(self.up(hidden_states), approximate="tanh")',
    ),
    Mutation("RoPE turned backwards", "blocks.py", "angle = positions", "angle = -positions"),
    Mutation(
        "RoPE on values too",
        "blocks.py",
        "return keys, self._heads(self.value, hidden_states)",
        "return keys, self._rope(self._heads(self.value, hidden_states), positions)",
    ),
    Mutation(
        "attention not scaled", "blocks.py", "queries, keys) * head_dim**-0.5", "queries, keys)"
    ),
    Mutation(
        "key heads repeated in the wrong order",
        "blocks.py",
        "keys = keys.repeat_interleave(heads // keys.shape[2], dim=2)",
        "keys = keys.repeat(1, 1, heads // keys.shape[2], 1)",
        "test_blocks.test_query_heads_share_key_heads_in_groups",
    ),
    Mutation(
        "mask strictly causal",
        "blocks.py",
        "not_later = block[:, None, :] <= block[:, :, None]",
        "not_later = block[:, None, :] < block[:, :, None]",
    ),
    Mutation(
        "mask upside down",
        "blocks.py",
        "block[:, None, :] <= block[:, :, None]",
        "block[:, None, :] >= block[:, :, None]",
    ),
    Mutation(
        "padding seen", "blocks.py", "not_later & real[:, None, :] & real[:, :, None]", "not_later"
    ),
    Mutation(
        "padding takes a position",
        "blocks.py",
        "return input_mask.long().cumsum(-1) - 1",
        "return torch.ones_like(input_mask).long().cumsum(-1) - 1",
    ),
    Mutation(
        "residual on the normed stream",
        "blocks.py",
        "return gated_residual(hidden_states, self.feed_forward(normed), gate)",
        "return gated_residual(normed, self.feed_forward(normed), gate)",
    ),
    Mutation(
        "attention's gate used twice",
        "blocks.py",
        "normed, gate = self.feed_forward_norm(hidden_states, cond)",
        "normed, _ = self.feed_forward_norm(hidden_states, cond)",
    ),
    Mutation(
        "one norm for both halves",
        "blocks.py",
        "normed, gate = self.feed_forward_norm(hidden_states, cond)",
        "normed, gate = self.attention_norm(hidden_states, cond)",
    ),
    Mutation(
        "final norm plain",
        "action_expert.py",
        "            return normed\n        return",
        "            return tokens * (tokens.square().mean(-1, keepdim=True) + 1e-6).rsqrt()\n"
        "        return",
    ),
    Mutation(
        "final norm left out",
        "action_expert.py",
        "            return normed\n        return",
        "            return tokens\n        return",
    ),
    Mutation(
        "prefix not read",
        "action_expert.py",
        "            mask[:, first:],\n            cache.keys_and_values,\n",
        "            mask[:, first:, first:],\n            None,\n",
    ),
    Mutation(
        "actions numbered from 0 again",
        "action_expert.py",
        "positions[:, first:],\n",
        "positions[:, first:] - first,\n",
    ),
    Mutation(
        "state token in the actions' block",
        "action_expert.py",
        "starts = [True, *starts]",
        "starts = [True, False, *starts[1:]]",
    ),
    Mutation(
        "time added to the observation too",
        "action_expert.py",
        "tokens = torch.cat([self.observation_in(observation)[:, None], tokens], dim=1)",
        "tokens = torch.cat([self.observation_in(observation)[:, None] + tokens[:, :1], tokens], dim=1)",
    ),
    Mutation(
        "time reversed in the path",
        "flow.py",
        "return t * noise + (1 - t) * actions",
        "return (1 - t) * noise + t * actions",
    ),
    Mutation(
        "target reversed", "flow.py", "    return noise - actions\n", "    return actions - noise\n"
    ),
    Mutation("loss summed", "flow.py", ".square().mean(dim=-1)", ".square().sum(dim=-1)"),
    Mutation("Euler the wrong way", "flow.py", "dt = -1 / num_steps", "dt = 1 / num_steps"),
    Mutation(
        "Euler's velocity at the end of the step",
        "flow.py",
        "for t in times[:-1]:",
        "for t in times[1:]:",
    ),
    Mutation(
        "uniform times",
        "flow.py",
        "** (1 / alpha) * 0.999",
        "* 0.999",
        "test_flow.test_times_for_training_follow_the_beta_distribution",
    ),
    Mutation(
        "Beta(1, 1.5) instead of Beta(1.5, 1)",
        "flow.py",
        "torch.rand(batch, generator=generator) ** (1 / alpha)",
        "(1 - torch.rand(batch, generator=generator) ** (1 / alpha))",
        "test_flow.test_times_for_training_follow_the_beta_distribution",
    ),
    Mutation(
        "time flipped, velocity not",
        "flow.py",
        "-velocity(x, 1 - s)",
        "velocity(x, 1 - s)",
        "test_flow.test_the_papers_convention_gives_the_same_samples",
    ),
    Mutation(
        "posterior with t instead of t squared",
        "flow.py",
        "(logits / t**2)",
        "(logits / t)",
        "test_flow.test_exact_velocity_against_its_definition",
    ),
    Mutation(
        "posterior forgets the data's size",
        "flow.py",
        " - (1 - t) ** 2 * points.square().sum(dim=-1) / 2",
        "",
        "test_flow.test_exact_velocity_against_its_definition",
    ),
]


def try_all():
    """Yield (mutation, who caught it), the latter empty where nobody did."""
    # A copy changed again within a second must not be read from a stale compiled file.
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns("__pycache__", "figures", "browser")
        for name in ("helpers", "tests"):
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=ignored)
        sys.path.insert(0, folder)
        for test in sorted({mutation.test for mutation in MUTATIONS}):
            if already := failures(folder, test):
                raise SystemExit(f"fails without any mistake: {already[0]}")
        for mutation in MUTATIONS:
            path = Path(folder) / "helpers" / mutation.file
            text = path.read_text(encoding="utf-8")
            if text.count(mutation.old) != 1:
                raise SystemExit(
                    f"{mutation.mistake}: {mutation.old!r} stands {text.count(mutation.old)} times in "
                    f"helpers/{mutation.file}, not once: adjust tools/mutations.py to the new text"
                )
            path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
            yield mutation, failures(folder, mutation.test)
            path.write_text(text, encoding="utf-8")


def failures(folder, test):
    """Golden cases that fail with the helpers as they lie in `folder`; if none, `test` if that fails."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("helpers", "tests"):
            del sys.modules[name]
    importlib.invalidate_caches()
    golden = importlib.import_module("tests.golden")
    assert Path(golden.__file__).is_relative_to(folder)
    results = golden.run_file(Path(folder) / "tests" / "data" / "openpi_golden.json")
    crashed = [
        f"{result.name}: {result.problem}" for result in results if "Error" in result.problem
    ]
    if crashed:
        raise SystemExit(f"a mistake should give wrong numbers, not an exception: {crashed[0]}")
    failed = [f"golden {result.name}" for result in results if not result.passed]
    if failed or not test:
        return failed
    module, function = test.split(".")
    call = getattr(importlib.import_module(f"tests.{module}"), function)
    parameters = inspect.signature(call).parameters
    config = importlib.import_module("tests.test_action_expert").SMALL
    try:
        call(**({"config": config} if "config" in parameters else {}))
    except AssertionError:
        return [f"tests/{module}.py::{function}"]
    return []


def main():
    unseen = 0
    for mutation, caught_by in try_all():
        unseen += not caught_by
        others = f" and {len(caught_by) - 1} more" if len(caught_by) > 1 else ""
        who = f"caught by {caught_by[0]}{others}" if caught_by else "NOT CAUGHT"
        print(f"{mutation.mistake:<42} {who}", flush=True)
    print(f"{len(MUTATIONS) - unseen} of {len(MUTATIONS)} mistakes caught")
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
