"""Hold the helpers against numbers of the real pi0.5 code: `python -m tests.golden FILE`.

FILE has the schema of tests/data/openpi_golden.json. What a case asks for is read from the names of its
inputs and parameters, not from its own name, so other files with other names work as well. Prints a line
for each case (its largest error), then `N passed, M failed`; exits 1 where one fails.

The code here only turns the file's layouts into the helpers' own; every number comes from a helper.
"""

import json
import sys
from dataclasses import dataclass

import torch

from helpers import blocks, embeddings, flow, norms
from helpers.action_expert import (
    ActionExpert,
    ExpertConfig,
    TwoExpertTransformer,
    joint_mask_and_positions,
)

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class NotUnderstood(Exception):
    """The case asks for something this program does not know how to compute."""


@dataclass(frozen=True)
class Result:
    """One case: did it pass, its largest absolute error, and a word where something is wrong."""

    name: str
    passed: bool
    error: float
    problem: str = ""

    def __str__(self):
        line = (
            f"{'pass' if self.passed else 'FAIL'}  {self.name:<40} largest error {self.error:.2e}"
        )
        return f"{line}  {self.problem}".rstrip()


def run_file(path):
    """Check every case of the file -> list of `Result`."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    if not isinstance(content, dict) or not isinstance(content.get("cases"), list):
        raise ValueError(f"{path} has no list of cases")
    cases = {case.get("name"): case for case in content["cases"]}
    return [check(case, cases) for case in content["cases"]]


def check(case, cases=()):
    """Compute one case through the helpers and compare -> `Result`."""
    name = case.get("name", "without a name")
    largest, problems = 0.0, []
    try:
        got = compute(resolve(case, "inputs", cases), resolve(case, "params", cases), case)
        for key, expected in case["outputs"].items():
            error, problem = compare(got, key, expected, case["tolerance"])
            largest = max(largest, error)
            problems += [f"{key}: {problem}"] if problem else []
        if not case["outputs"]:
            problems.append("no outputs to compare")
    except NotUnderstood as problem:
        problems.append(f"not understood: {problem}")
    except Exception as problem:
        problems.append(f"{type(problem).__name__}: {problem}")
    return Result(name, not problems, largest, "; ".join(problems))


def compare(got, key, expected, tolerance):
    """Largest error of one output, and what is wrong with it, if anything."""
    if key not in got:
        return 0.0, "not understood: no helper gives it for such a case"
    value = got[key]
    if value is None or expected is None:
        same = value is None and expected is None
        return 0.0, "" if same else f"expected {expected}, got {value}"
    value, expected = value.detach().float(), numbers(expected)
    if value.shape != expected.shape:
        return 0.0, f"expected shape {tuple(expected.shape)}, got {tuple(value.shape)}"
    equal = (value == expected) | (value.isnan() & expected.isnan())
    errors = torch.where(equal, 0.0, (value - expected).abs())
    allowed = tolerance["atol"] + tolerance["rtol"] * expected.abs()
    outside = int((~(equal | (errors <= allowed))).sum())
    largest = float(errors.max()) if errors.numel() else 0.0
    return largest, f"{outside} of {errors.numel()} outside the tolerance" if outside else ""


def resolve(case, part, cases):
    """The case's inputs or params, with those of the case it points to filled in."""
    own = dict(case.get(part) or {})
    other = own.pop("same_as", None)
    override = own.pop("override", None)
    if other is not None:
        if other not in cases:
            raise NotUnderstood(f"{part} are same_as {other!r}, which is not in the file")
        own = {**resolve(cases[other], part, cases), **own}
    if override is None:
        return own
    if override != "all Dense_0 kernels and biases are zero":
        raise NotUnderstood(f"override {override!r}")
    return zero_modulations(own)


def zero_modulations(tree):
    if not isinstance(tree, dict):
        return tree
    return {
        key: {name: (0 * numbers(value)).tolist() for name, value in branch.items()}
        if key == "Dense_0"
        else zero_modulations(branch)
        for key, branch in tree.items()
    }


def compute(inputs, params, case):
    """The outputs by name, from the kind of case that has these inputs and parameters."""
    has = {*inputs, *params}
    kinds = [
        ({"x", "kernel", "bias"}, ada_rms_norm),
        ({"x", "scale"}, plain_rms_norm),
        ({"x", "y", "gate"}, gated_residual),
        ({"t", "dim"}, time_embedding),
        ({"input_mask", "mask_ar"}, attention_mask),
        ({"x", "attn", "mlp"}, block),
        ({"x", "gating_einsum", "linear"}, feed_forward),
        ({"x", "positions"}, rope),
        ({"noisy_actions", "timestep"}, embed_suffix),
        ({"llm", "noise", "num_steps"}, joint_sample),
        ({"llm", "x_t", "timestep"}, joint_forward),
        ({"A", "b", "c", "num_steps"}, euler),
        ({"A", "b", "c", "actions", "noise", "time"}, flow_targets),
    ]
    for needs, kind in kinds:
        if needs <= has:
            with torch.no_grad():
                return kind(inputs, params, case)
    raise NotUnderstood(f"no helper takes inputs {sorted(inputs)} with params {sorted(params)}")


# One function for each kind of case.


def plain_rms_norm(inputs, params, case):
    x, scale = numbers(inputs["x"], dtype_of(case)), numbers(params["scale"])
    norm = norms.RMSNorm(len(scale), eps=eps_of(case))
    load_norm(norm, params)
    return {"normed": norm(x), "gate": None}


def ada_rms_norm(inputs, params, case):
    x, kernel = numbers(inputs["x"], dtype_of(case)), numbers(params["kernel"])
    norm = norms.AdaRMSNorm(x.shape[-1], len(kernel), eps=eps_of(case))
    load_dense(norm.modulation, params)
    normed, gate = norm(x, numbers(inputs["cond"]))
    return {"normed": normed, "gate": gate}


def gated_residual(inputs, params, case):
    x, y, gate = (optional(inputs[name], dtype_of(case)) for name in ("x", "y", "gate"))
    return {"out": norms.gated_residual(x, y, gate)}


def time_embedding(inputs, params, case):
    return {"emb": embeddings.time_embedding(numbers(inputs["t"]), **params)}


def attention_mask(inputs, params, case):
    return {
        "mask": blocks.attention_mask(integers(inputs["input_mask"]), integers(inputs["mask_ar"]))
    }


def rope(inputs, params, case):
    x = numbers(inputs["x"], dtype_of(case))
    return {"out": blocks.apply_rope(x, integers(inputs["positions"]), **params)}


def feed_forward(inputs, params, case):
    width, mlp_width = numbers(params["gating_einsum"]).shape[1:]
    layer = blocks.GatedFeedForward(width, mlp_width)
    load_feed_forward(layer, params)
    dtype = dtype_of(case)
    return {"out": layer.to(dtype)(numbers(inputs["x"], dtype))}


def block(inputs, params, case):
    layer = make_block(params, case)
    x, cond = numbers(inputs["x"]), optional(inputs.get("cond"))
    positions, mask = integers(inputs["positions"]), integers(inputs["attn_mask"])
    got = {"out": layer(x, cond, positions, mask)}

    def normalise(norm, hidden_states):
        return (norm(hidden_states), None) if cond is None else norm(hidden_states, cond)

    got["pre_attention_norm"], got["gate_attn"] = normalise(layer.attention_norm, x)
    got["attn"] = layer.attention(got["pre_attention_norm"], positions, mask)
    got["k_rope"], got["v"] = layer.attention.keys_and_values(got["pre_attention_norm"], positions)
    middle = norms.gated_residual(x, got["attn"], got["gate_attn"])
    got["pre_ffw_norm"], got["gate_ffw"] = normalise(layer.feed_forward_norm, middle)
    got["mlp"] = layer.feed_forward(got["pre_ffw_norm"])
    return got


def embed_suffix(inputs, params, case):
    actions = numbers(inputs["noisy_actions"])
    width = numbers(params["action_in_proj"]["kernel"]).shape[1]
    state = optional(inputs.get("state"))
    config = ExpertConfig(
        width=width,
        depth=1,
        mlp_width=1,
        action_dim=actions.shape[2],
        horizon=actions.shape[1],
        observation_dim=0 if state is None else state.shape[1],
    )
    expert = ActionExpert(config, conditioning_of(params))
    load_projections(expert, params)
    suffix = expert.embed_suffix(actions, numbers(inputs["timestep"]), state)
    return {
        "tokens": suffix.tokens,
        "input_mask": suffix.input_mask,
        "ar_mask": suffix.block_starts,
        "adarms_cond": suffix.cond,
    }


def joint_forward(inputs, params, case):
    x_t, time = numbers(inputs["x_t"]), numbers(inputs["timestep"])
    model, cache = make_joint(inputs, params, case)
    state = optional(inputs.get("state"))
    suffix = model.action_expert.embed_suffix(x_t, time, state)
    mask, positions = joint_mask_and_positions(cache.input_mask, suffix)
    return {
        "adarms_cond": suffix.cond,
        "suffix_out": model.attend_to_prefix(cache, suffix),
        "v_t": model.velocity(cache, x_t, time, state),
        "attn_mask": mask,
        "positions": positions,
    }


def joint_sample(inputs, params, case):
    noise, state = numbers(inputs["noise"]), optional(inputs.get("state"))
    model, cache = make_joint(inputs, params, case)
    times, path = flow.euler_path(
        lambda x_t, time: model.velocity(cache, x_t, time, state), noise, inputs["num_steps"]
    )
    return {
        "times": times[:-1, None].expand(-1, len(noise)),
        "x_t": path[:-1],
        "x_0": path[-1],
    }


def euler(inputs, params, case):
    noise = numbers(inputs["noise"])
    times, path = flow.euler_path(linear_velocity(params), noise, inputs["num_steps"])
    x_0 = flow.euler_sample(linear_velocity(params), noise, inputs["num_steps"])
    return {"times": times[:-1], "x_t": path[:-1], "x_0": x_0}


def flow_targets(inputs, params, case):
    actions, noise, time = (numbers(inputs[name]) for name in ("actions", "noise", "time"))
    return {
        "x_t": flow.interpolate(actions, noise, time),
        "u_t": flow.target_velocity(actions, noise),
        "loss": flow.flow_loss(linear_velocity(params), actions, noise, time),
    }


def linear_velocity(params):
    """v(x, t) = x @ A + t*b + c: stands in for a network in the cases about the flow alone."""
    a, b, c = (numbers(params[name]) for name in ("A", "b", "c"))
    return lambda x_t, time: x_t @ a + time[:, None, None] * b + c


# From the file's layouts to the helpers'.


def numbers(value, dtype=torch.float32):
    return torch.tensor(value, dtype=torch.float32).to(dtype)


def optional(value, dtype=torch.float32):
    return None if value is None else numbers(value, dtype)


def integers(value):
    return torch.tensor(value, dtype=torch.long)


def dtype_of(case):
    return DTYPES.get(case["dtype"], torch.float32)


def eps_of(case):
    return 1e-6 if case["eps"] is None else case["eps"]


def copy(parameter, value):
    if parameter.shape != value.shape:
        raise NotUnderstood(
            f"a parameter of shape {tuple(value.shape)}, not {tuple(parameter.shape)}"
        )
    parameter.copy_(value)


def load_dense(linear, params):
    copy(linear.weight, numbers(params["kernel"]).T)
    copy(linear.bias, numbers(params["bias"]))


def load_norm(norm, params):
    if "Dense_0" in params:
        load_dense(norm.modulation, params["Dense_0"])
    else:
        copy(norm.scale, numbers(params["scale"]))


def load_attention(attention, params):
    q = numbers(params["q_einsum"]["w"])  # (heads, width, head_dim)
    k, v = numbers(params["kv_einsum"]["w"])  # (kv_heads, width, head_dim) each
    for dense, kernel in ((attention.query, q), (attention.key, k), (attention.value, v)):
        copy(dense.weight, kernel.permute(0, 2, 1).flatten(0, 1))
    out = numbers(params["attn_vec_einsum"]["w"])  # (heads, head_dim, width)
    copy(attention.output.weight, out.flatten(0, 1).T)


def load_feed_forward(feed_forward, params):
    gate, up = numbers(params["gating_einsum"])
    copy(feed_forward.gate.weight, gate.T)
    copy(feed_forward.up.weight, up.T)
    copy(feed_forward.down.weight, numbers(params["linear"]).T)


def load_block(layer, params):
    load_norm(layer.attention_norm, params["pre_attention_norm"])
    load_norm(layer.feed_forward_norm, params["pre_ffw_norm"])
    load_attention(layer.attention, params["attn"])
    load_feed_forward(layer.feed_forward, params["mlp"])


def load_projections(expert, params):
    places = {"action_in_proj": "action_in", "action_out_proj": "action_out"}
    places |= {"state_proj": "observation_in"}
    places |= {"time_mlp_in": "time_mlp.time_in", "time_mlp_out": "time_mlp.time_out"}
    places |= {
        "action_time_mlp_in": "time_mlp.action_time_in",
        "action_time_mlp_out": "time_mlp.action_time_out",
    }
    for name in params.keys() - {"llm"}:
        if name not in places:
            raise NotUnderstood(f"a projection named {name!r}")
        load_dense(expert.get_submodule(places[name]), params[name])


def conditioning_of(params):
    return "adarms" if "time_mlp_in" in params else "input"


def sizes(attn, mlp):
    """The sizes of one layer, read from its parameters."""
    heads, width, head_dim = numbers(attn["q_einsum"]["w"]).shape
    return {
        "width": width,
        "mlp_width": numbers(mlp["linear"]).shape[0],
        "num_heads": heads,
        "num_kv_heads": numbers(attn["kv_einsum"]["w"]).shape[1],
        "head_dim": head_dim,
    }


def make_block(params, case):
    size = sizes(params["attn"], params["mlp"])
    width = size["width"]
    attention = blocks.Attention(width, size["num_heads"], size["num_kv_heads"], size["head_dim"])
    ffn = blocks.GatedFeedForward(width, size["mlp_width"])
    if "Dense_0" in params["pre_attention_norm"]:
        cond_dim = len(params["pre_attention_norm"]["Dense_0"]["kernel"])
        layer = blocks.AdaRMSBlock(width, cond_dim, attention, ffn)
    else:
        layer = blocks.PreNormBlock(width, attention, ffn)
    load_block(layer, params)
    return use_eps(layer, case)


def make_joint(inputs, params, case):
    """The two experts with their parameters, and the prefix already encoded."""
    llm, state = params["llm"], optional(inputs.get("state"))
    actions = numbers(inputs["noise"] if "noise" in inputs else inputs["x_t"])
    prefix_layers = [layer_params(llm["layers"], i, "") for i in range(depth_of(llm))]
    action_layers = [layer_params(llm["layers"], i, "_1") for i in range(depth_of(llm))]
    configs = [
        ExpertConfig(
            **sizes(layers[0]["attn"], layers[0]["mlp"]),
            depth=len(layers),
            action_dim=actions.shape[2],
            horizon=actions.shape[1],
            observation_dim=0 if state is None else state.shape[1],
        )
        for layers in (prefix_layers, action_layers)
    ]
    model = TwoExpertTransformer(*configs, conditioning_of(params))
    experts = (
        (model.prefix, prefix_layers, ""),
        (model.action_expert.transformer, action_layers, "_1"),
    )
    for transformer, layers, suffix in experts:
        for layer, its_params in zip(transformer.blocks, layers, strict=True):
            load_block(layer, its_params)
        load_norm(transformer.final_norm, llm[f"final_norm{suffix}"])
    load_projections(model.action_expert, params)
    use_eps(model, case)
    prefix_mask = integers(inputs["prefix_mask"])
    return model, model.encode_prefix(numbers(inputs["prefix_tokens"]), prefix_mask)


def depth_of(llm):
    return len(llm["layers"]["attn"]["q_einsum"]["w"])


def layer_params(tree, index, suffix):
    """One layer of one expert: its entries end in `suffix`, and each array's first axis is the layer."""
    attn = {
        k.removesuffix("_1"): v
        for k, v in tree["attn"].items()
        if k.endswith("_1") == (suffix == "_1")
    }
    names = ("mlp", "pre_attention_norm", "pre_ffw_norm")
    return pick({"attn": attn} | {name: tree[name + suffix] for name in names}, index)


def pick(tree, index):
    return {k: pick(v, index) if isinstance(v, dict) else v[index] for k, v in tree.items()}


def use_eps(module, case):
    for part in module.modules():
        if isinstance(part, (norms.RMSNorm, norms.AdaRMSNorm)):
            part.eps = eps_of(case)
    return module


def main(arguments):
    if len(arguments) != 1:
        print("usage: python -m tests.golden FILE", file=sys.stderr)
        return 2
    try:
        results = run_file(arguments[0])
    except (OSError, ValueError) as problem:
        print(f"cannot read {arguments[0]}: {problem}", file=sys.stderr)
        return 2
    print(*results, sep="\n")
    failed = sum(not result.passed for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
