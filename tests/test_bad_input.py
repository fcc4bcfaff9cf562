"""Wrong input: a ValueError or TypeError that names the argument and says what came or what is allowed.

`tests/bad_input.py` goes through every argument of every public helper; `CASES` here are wrong in ways of
their own. Pictures are held against the annotations of their arguments. What must be allowed is below.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import get_args, get_origin

import numpy as np
import pytest
import torch
from torch import nn

import helpers
from helpers import blocks, data, embeddings, flow, jacobians, norms, probes, training
from helpers.action_expert import ActionExpert, ExpertConfig, TwoExpertTransformer
from helpers.controls import explore, slider
from helpers.figures import given
from helpers.figures.diagrams import BlockDiagram
from helpers.figures.inside import Highway
from helpers.figures.style import View
from tests import bad_input
from tests.pictures import Line

NAN = math.nan
X = torch.ones(2, 3, 4)
COND = torch.ones(2, 5)
TIME = torch.tensor([0.2, 0.8])
MASK = torch.ones(2, 3, dtype=torch.int)
CHUNK = torch.zeros(2, 16, 2)
OBSERVATION = torch.zeros(2, 4)
SCENE = data.reach_scenes(2)
WITH_NAN = X.clone().index_fill_(0, torch.tensor([1]), NAN)

RMS, ADA = norms.RMSNorm(4), norms.AdaRMSNorm(4, 5)
ATTENTION = blocks.Attention(4, num_heads=2)
BLOCK = blocks.AdaRMSBlock(4, 5, ATTENTION, blocks.FeedForward(4, 8))
PLAIN_BLOCK = blocks.PreNormBlock(4, ATTENTION, blocks.FeedForward(4, 8))
EXPERT = ActionExpert(ExpertConfig.TINY)
ONE_TOKEN = ActionExpert(ExpertConfig.REACH)
NO_OBSERVATION = ActionExpert(replace(ExpertConfig.TINY, observation_dim=0))
JOINT = TwoExpertTransformer(ExpertConfig.TINY, ExpertConfig.TINY)


def still(x_t, time):
    return torch.zeros_like(x_t)


def other_shape(x_t, time):
    return x_t[..., :1]


def velocity_of_numbers(x_t, time):
    return 0.0


# What is called, the error, and words that its message must hold: the argument first.
CASES = [
    # norms
    (lambda: norms.rms_norm([1.0, 2.0]), TypeError, "x torch.Tensor list"),
    (lambda: norms.rms_norm(torch.tensor([1, 2])), TypeError, "x floating-point int64"),
    (lambda: norms.rms_norm(torch.ones(3, dtype=torch.bool)), TypeError, "x floating-point bool"),
    (lambda: norms.rms_norm(torch.tensor(1.0)), ValueError, "x dimension"),
    (lambda: norms.rms_norm(torch.ones(3, dtype=torch.cfloat)), TypeError, "x floating complex64"),
    (lambda: norms.rms_norm(X, eps=-1e-6), ValueError, "eps at least 0 -1e-06"),
    (lambda: norms.rms_norm(X, eps=NAN), ValueError, "eps finite nan"),
    (lambda: norms.rms_norm(X, eps=math.inf), ValueError, "eps finite inf"),
    (lambda: norms.rms_norm(X, eps="1e-6"), TypeError, "eps number str"),
    (lambda: norms.rms_norm(X, eps=True), TypeError, "eps number bool"),
    (lambda: norms.rms_norm(X, torch.ones(3)), ValueError, "scale (4,) (3,)"),
    (lambda: norms.rms_norm(X, torch.ones(2, 3, 4)), ValueError, "scale (4,) (2, 3, 4)"),
    (lambda: norms.rms_norm(X, 1.0), TypeError, "scale torch.Tensor float"),
    (lambda: norms.rms_norm(X, torch.ones(4, dtype=torch.int)), TypeError, "scale int32"),
    (lambda: norms.layer_norm(None), TypeError, "x torch.Tensor NoneType"),
    (lambda: norms.layer_norm(torch.tensor([1, 2])), TypeError, "x floating-point int64"),
    (lambda: norms.layer_norm(torch.tensor(1.0)), ValueError, "x dimension"),
    (lambda: norms.layer_norm(X, eps=-1.0), ValueError, "eps at least 0 -1.0"),
    (lambda: norms.layer_norm(X, eps=NAN), ValueError, "eps finite nan"),
    (lambda: norms.modulate([1.0], 0.0, 0.0), TypeError, "normed torch.Tensor list"),
    (lambda: norms.modulate(X, torch.ones(2, 4), 0.0), ValueError, "scale (2, 4) (2, 3, 4)"),
    (lambda: norms.modulate(X, 0.0, torch.ones(5)), ValueError, "shift (5,) (2, 3, 4)"),
    (lambda: norms.modulate(X, 0.0, "1"), TypeError, "shift number str"),
    (lambda: norms.modulate(X, torch.ones(4, dtype=torch.int), 0.0), TypeError, "scale int32"),
    (lambda: norms.gated_residual(X, X[:1], 1.0), ValueError, "y (2, 3, 4) (1, 3, 4)"),
    (lambda: norms.gated_residual(X, X, torch.ones(2, 4)), ValueError, "gate (2, 4) (2, 3, 4)"),
    (lambda: norms.gated_residual(X, X, torch.ones(2, 2, 4)), ValueError, "gate (2, 2, 4)"),
    (lambda: norms.gated_residual(1.0, X, 1.0), TypeError, "x torch.Tensor float"),
    (lambda: norms.RMSNorm(0), ValueError, "width at least 1 0"),
    (lambda: norms.RMSNorm(4.0), TypeError, "width integer float"),
    (lambda: norms.RMSNorm(4, eps=NAN), ValueError, "eps finite nan"),
    (lambda: RMS(torch.ones(2, 5)), ValueError, "hidden_states 4 wide (2, 5)"),
    (lambda: norms.AdaRMSNorm(4, 0), ValueError, "cond_dim at least 1 0"),
    (lambda: norms.AdaRMSNorm(4, 5, eps=-1), ValueError, "eps at least 0 -1"),
    (lambda: ADA(X[0], COND), ValueError, "hidden_states 3 dimensions (3, 4)"),
    (lambda: ADA(X[..., :3], COND), ValueError, "hidden_states 4 wide (2, 3, 3)"),
    (lambda: ADA(X.int(), COND), TypeError, "hidden_states floating-point int32"),
    (lambda: ADA(X, COND[:, :4]), ValueError, "cond 5 wide (2, 4)"),
    (lambda: ADA(X, COND[:1]), ValueError, "cond batch 2 (1, 5)"),
    (lambda: ADA(X, torch.ones(2, 2, 5)), ValueError, "cond tokens 3 (2, 2, 5)"),
    (lambda: ADA(X, torch.ones(5)), ValueError, "cond batch 2 (5,)"),
    (lambda: ADA(X, None), TypeError, "cond torch.Tensor NoneType"),
    (lambda: norms.zero_init_modulations([ADA]), TypeError, "model torch.nn.Module list"),
    # embeddings
    (lambda: embeddings.time_embedding(TIME + 0.3, 8), ValueError, "time [0, 1] 1.1"),
    (lambda: embeddings.time_embedding(-TIME, 8), ValueError, "time [0, 1] -0.8"),
    (lambda: embeddings.time_embedding(TIME * NAN, 8), ValueError, "time [0, 1] nan"),
    (lambda: embeddings.time_embedding(TIME[:, None], 8), ValueError, "time 1 dimension (2, 1)"),
    (lambda: embeddings.time_embedding(torch.tensor(0.5), 8), ValueError, "time dimension number"),
    (lambda: embeddings.time_embedding(0.5, 8), TypeError, "time torch.Tensor float"),
    (lambda: embeddings.time_embedding(torch.tensor([1]), 8), TypeError, "time int64"),
    (lambda: embeddings.time_embedding(TIME, 7), ValueError, "dim even 7"),
    (lambda: embeddings.time_embedding(TIME, 0), ValueError, "dim at least 2 0"),
    (lambda: embeddings.time_embedding(TIME, 8.0), TypeError, "dim integer float"),
    (lambda: embeddings.time_embedding(TIME, 8, min_period=0), ValueError, "min_period more 0"),
    (lambda: embeddings.time_embedding(TIME, 8, max_period=NAN), ValueError, "max_period nan"),
    (lambda: embeddings.TimeMLP(7), ValueError, "width even 7"),
    (lambda: embeddings.ActionTimeMLP(4)(X, TIME[:1]), ValueError, "time (2,) 1"),
    (lambda: embeddings.ActionTimeMLP(8)(X, TIME), ValueError, "tokens 8 wide (2, 3, 4)"),
    # blocks
    (lambda: blocks.attention_mask(MASK[0], MASK[0]), ValueError, "input_mask 2 dimensions (3,)"),
    (lambda: blocks.attention_mask(MASK, MASK[:, :2]), ValueError, "block_starts (2, 3) (2, 2)"),
    (lambda: blocks.attention_mask(MASK.float(), MASK), TypeError, "input_mask booleans float32"),
    (lambda: blocks.attention_mask([[1]], MASK), TypeError, "input_mask torch.Tensor list"),
    (lambda: blocks.apply_rope(X, torch.arange(3)), ValueError, "x 4 dimensions (2, 3, 4)"),
    (lambda: blocks.apply_rope(X[:, None, :, :3], MASK), ValueError, "x even head_dim 3"),
    (lambda: blocks.apply_rope(X[:, :, None], torch.arange(2)), ValueError, "positions (3,) (2,)"),
    (lambda: blocks.apply_rope(X[:, :, None], MASK.float()), TypeError, "positions float32"),
    (lambda: blocks.attention_weights(X[:, None], X[:1, None]), ValueError, "keys (1, 1, 3, 4)"),
    (lambda: blocks.Attention(12, num_heads=3, num_kv_heads=2), ValueError, "num_kv_heads 3 2"),
    (lambda: blocks.Attention(6, num_heads=2), ValueError, "head_dim even 3"),
    (lambda: blocks.Attention(4, num_heads=0), ValueError, "num_heads at least 1 0"),
    (lambda: ATTENTION(X[..., :3]), ValueError, "hidden_states 4 wide (2, 3, 3)"),
    (lambda: ATTENTION(X[0]), ValueError, "hidden_states 3 dimensions (3, 4)"),
    (lambda: ATTENTION(X, mask=MASK), ValueError, "mask 3 dimensions (2, 3)"),
    (lambda: ATTENTION(X, mask=MASK[:, None]), ValueError, "mask (2, 3, 3) (2, 1, 3)"),
    (lambda: ATTENTION(X, mask=X), TypeError, "mask booleans float32"),
    (lambda: ATTENTION(X, torch.arange(4)), ValueError, "positions (3,) (4,)"),
    (lambda: blocks.FeedForward(4, 0), ValueError, "mlp_width at least 1 0"),
    (lambda: blocks.FeedForward(4, 8)(X[..., :3]), ValueError, "hidden_states 4 wide"),
    (lambda: blocks.GatedFeedForward(4, 8)(X[..., :3]), ValueError, "hidden_states 4 wide"),
    (lambda: BLOCK(X, COND[:1]), ValueError, "cond batch 2 (1, 5)"),
    (lambda: BLOCK(X[0], COND), ValueError, "hidden_states 3 dimensions (3, 4)"),
    (lambda: PLAIN_BLOCK(X[..., :3]), ValueError, "hidden_states 4 wide (2, 3, 3)"),
    (lambda: blocks.check_zero_init(nn.Linear(2, 2)), ValueError, "model blocks none"),
    (lambda: blocks.check_zero_init("model"), TypeError, "model torch.nn.Module str"),
    (lambda: blocks.check_zero_init(norms.AdaRMSNorm(2, 2).to("meta")), ValueError, "model meta"),
    # the model
    (lambda: replace(ExpertConfig.TINY, depth=0), ValueError, "depth at least 1 0"),
    (lambda: replace(ExpertConfig.TINY, width=7, head_dim=7), ValueError, "width even 7"),
    (lambda: replace(ExpertConfig.TINY, head_dim=7), ValueError, "head_dim even 7"),
    (lambda: replace(ExpertConfig.TINY, num_heads=3, num_kv_heads=2), ValueError, "num_kv_heads 3"),
    (lambda: ActionExpert({"width": 8}), TypeError, "config ExpertConfig dict"),
    (lambda: ActionExpert(ExpertConfig.TINY, "adaln"), ValueError, "conditioning adarms 'adaln'"),
    (lambda: EXPERT(CHUNK[:, :4], TIME, OBSERVATION), ValueError, "x_t (2, 16, 2) (2, 4, 2)"),
    (lambda: EXPERT(CHUNK[0], TIME, OBSERVATION), ValueError, "x_t 3 dimensions (16, 2)"),
    (lambda: EXPERT(CHUNK.int(), TIME, OBSERVATION), TypeError, "x_t floating-point int32"),
    (lambda: EXPERT(CHUNK, TIME[:1], OBSERVATION), ValueError, "time (2,) 1"),
    (lambda: EXPERT(CHUNK, 0.5, OBSERVATION), TypeError, "time torch.Tensor float"),
    (lambda: EXPERT(CHUNK, TIME, OBSERVATION[:, :3]), ValueError, "observation (2, 4) (2, 3)"),
    (lambda: EXPERT(CHUNK, TIME), TypeError, "observation torch.Tensor NoneType"),
    (lambda: ONE_TOKEN(CHUNK, TIME), TypeError, "observation torch.Tensor NoneType"),
    (lambda: ONE_TOKEN(CHUNK[..., :1], TIME, OBSERVATION), ValueError, "x_t (2, 16, 2) (2, 16, 1)"),
    (lambda: NO_OBSERVATION(CHUNK, TIME, OBSERVATION), ValueError, "observation None"),
    (
        lambda: TwoExpertTransformer(replace(ExpertConfig.TINY, depth=3), ExpertConfig.TINY),
        ValueError,
        "depth 3 4",
    ),
    (
        lambda: TwoExpertTransformer(ExpertConfig.REACH, ExpertConfig.REACH),
        ValueError,
        "one_token attention",
    ),
    (lambda: TwoExpertTransformer(None, ExpertConfig.TINY), TypeError, "prefix_config NoneType"),
    (lambda: JOINT.encode_prefix(torch.ones(2, 3, 32), None), TypeError, "prefix_mask NoneType"),
    (
        lambda: JOINT(torch.ones(2, 3, 32), MASK, CHUNK[:1], TIME[:1], OBSERVATION[:1]),
        ValueError,
        "x_t batch 2 1",
    ),
    (lambda: JOINT.encode_prefix(X, MASK), ValueError, "prefix_tokens 32 wide (2, 3, 4)"),
    (
        lambda: JOINT.encode_prefix(torch.ones(2, 3, 32), MASK[:, :2]),
        ValueError,
        "prefix_mask (2, 3) (2, 2)",
    ),
    # flow
    (lambda: flow.sample_time(0), ValueError, "batch at least 1 0"),
    (lambda: flow.sample_time(2.5), TypeError, "batch integer float"),
    (lambda: flow.sample_time(2, alpha=0), ValueError, "alpha more 0"),
    (lambda: flow.interpolate(X, X[..., :1], TIME), ValueError, "noise (2, 3, 4) (2, 3, 1)"),
    (lambda: flow.interpolate(X, X, TIME[:1]), ValueError, "time (2,) 1"),
    (lambda: flow.interpolate(X, X, TIME[:, None]), ValueError, "time 1 dimension (2, 1)"),
    (lambda: flow.interpolate(X, X, 0.5), TypeError, "time torch.Tensor float"),
    (lambda: flow.target_velocity(X.int(), X), TypeError, "actions floating-point int32"),
    (lambda: flow.target_velocity(X, X[:1]), ValueError, "noise (2, 3, 4) (1, 3, 4)"),
    (lambda: flow.flow_loss(other_shape, X), ValueError, "velocity (2, 3, 4) (2, 3, 1)"),
    (lambda: flow.flow_loss(velocity_of_numbers, X), TypeError, "velocity torch.Tensor float"),
    (lambda: flow.flow_loss(None, X), TypeError, "velocity callable NoneType"),
    (lambda: flow.flow_loss(still, WITH_NAN), ValueError, "actions finite NaN"),
    (lambda: flow.flow_loss(still, X, noise=WITH_NAN), ValueError, "noise finite NaN"),
    (lambda: flow.flow_loss(still, X, time=TIME + 1), ValueError, "time [0, 1] 1.8"),
    (lambda: flow.flow_loss(still, X, time=TIME * NAN), ValueError, "time [0, 1] nan"),
    (lambda: flow.flow_loss(still, X[:0]), ValueError, "actions empty (0, 3, 4)"),
    (lambda: flow.flow_loss(still, torch.ones(4)), ValueError, "actions batch (4,)"),
    (lambda: flow.euler_sample(still, X, 0), ValueError, "num_steps at least 1 0"),
    (lambda: flow.euler_sample(still, X, 2.0), TypeError, "num_steps integer float"),
    (lambda: flow.euler_sample(still, WITH_NAN), ValueError, "noise finite NaN"),
    (lambda: flow.euler_sample(other_shape, X), ValueError, "velocity (2, 3, 4) (2, 3, 1)"),
    (lambda: flow.euler_sample("model", X), TypeError, "velocity callable str"),
    (lambda: flow.euler_sample(still, [1.0]), TypeError, "noise torch.Tensor list"),
    (lambda: flow.flip_time(X), TypeError, "velocity callable Tensor"),
    (lambda: flow.exact_velocity(X, TIME, X[:0]), ValueError, "data at least one none"),
    (lambda: flow.exact_velocity(X, TIME, X[..., :1]), ValueError, "data (2, 3, 4) (2, 3, 1)"),
    (lambda: flow.exact_velocity(X, TIME, WITH_NAN), ValueError, "data finite NaN"),
    (lambda: flow.exact_velocity(WITH_NAN, TIME, X), ValueError, "x_t finite NaN"),
    (lambda: flow.exact_velocity(X, 0 * TIME, X), ValueError, "time above 0"),
    (lambda: flow.exact_velocity(X, TIME * NAN, X), ValueError, "time [0, 1] nan"),
    (lambda: flow.exact_velocity(X, TIME[:1], X), ValueError, "time (2,) 1"),
    (lambda: flow.exact_velocity([1.0], TIME, X), TypeError, "x_t torch.Tensor list"),
    (lambda: flow.exact_velocity(torch.ones(2), TIME, X), ValueError, "x_t (batch, ...) (2,)"),
    # data
    (lambda: data.two_moons(1), ValueError, "n at least 2 1"),
    (lambda: data.spiral(10.0), TypeError, "n integer float"),
    (lambda: data.rings(10, seed=-1), ValueError, "seed at least 0 -1"),
    (lambda: data.blobs(10, seed=None), TypeError, "seed integer NoneType"),
    (lambda: data.reach_scenes(0), ValueError, "n at least 1 0"),
    (lambda: data.reach_demonstrations(X), TypeError, "scene Scene Tensor"),
    (lambda: data.to_actions(X), ValueError, "waypoints 2 wide (2, 3, 4)"),
    (lambda: data.to_waypoints(CHUNK * NAN), ValueError, "actions finite NaN"),
    (lambda: data.to_actions(CHUNK[:, :0]), ValueError, "waypoints at least one (2, 0, 2)"),
    (lambda: data.success(CHUNK[0], SCENE), ValueError, "waypoints 3 dimensions (16, 2)"),
    (lambda: data.success(CHUNK[:1], SCENE), ValueError, "waypoints (2, 16, 2) (1, 16, 2)"),
    (lambda: data.success(CHUNK, None), TypeError, "scene Scene NoneType"),
    (lambda: data.success(CHUNK * NAN, SCENE), ValueError, "waypoints finite NaN"),
]


@pytest.mark.parametrize(("call", "error", "words"), CASES, ids=[c[2] for c in CASES])
def test_bad_input(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    message, missing = str(caught.value), []
    for word in words.split():
        if word.strip("(),") not in message:
            missing.append(word)
    assert not missing, f"{missing} not in: {message}"
    assert words.split()[0] in message.split(" must ")[0].split(" do")[0]


def fault(call, error, words, argument):
    """What is wrong with how a call is refused; None where nothing is."""
    try:
        call()
    except Exception as raised:
        message = str(raised)
        if type(raised) is not error:
            return f"{type(raised).__name__}, not {error.__name__}: {message}"
        if argument not in message.split(" must ")[0]:
            return f"does not name {argument}: {message}"
        missing = [word for word in words.split() if word.strip("(),") not in message]
        return f"{missing} not in: {message}" if missing else None
    return "is not refused"


BY_TARGET = {
    name: list(rows)
    for name, rows in groupby(
        sorted(bad_input.ROWS, key=lambda row: row.name), key=lambda row: row.name
    )
}


@pytest.mark.parametrize("target", BY_TARGET)
def test_every_argument(target):
    found = {
        str(row): fault(row.call, row.error, row.words, row.argument) for row in BY_TARGET[target]
    }
    assert not {row: problem for row, problem in found.items() if problem}


# -- pictures: what the annotations of a view do not allow -----------------------------------------


def right_for(wanted):
    """Some value that an annotation allows."""
    kind, members = get_origin(wanted) or wanted, get_args(wanted)
    if isinstance(wanted, given.Numbers):
        return np.zeros([size if isinstance(size, int) else 3 for size in wanted.sizes])
    if kind is Mapping:
        return {"a": right_for(members[1]) if members else 0}
    if kind is tuple:
        return tuple(map(right_for, members))
    return {Callable: max, Sequence: [0], float: 0.5, int: 1, bool: True, str: "a"}[kind]


def wrong_for(wanted):
    """(value, error, words) of values that an annotation does not allow."""
    kind, members = get_origin(wanted) or wanted, get_args(wanted)
    if isinstance(wanted, given.Numbers):
        sizes = [size if isinstance(size, int) else 3 for size in wanted.sizes]
        wrong = [
            (None, TypeError, "array NoneType"),
            ("x", TypeError, "array str"),
            (np.full(sizes, "x"), TypeError, "real <U1"),
            (torch.ones(sizes, dtype=torch.bool), TypeError, "real bool"),
            (torch.ones(sizes, dtype=torch.cfloat), TypeError, "real complex64"),
            (np.zeros([1, *sizes]), ValueError, f"shape {(1, *sizes)}"),
            ([["a"]], TypeError, "numbers str"),
        ]
        if isinstance(wanted.sizes[-1], int):
            bad = (*sizes[:-1], wanted.sizes[-1] + 1)
            wrong.append((np.zeros(bad), ValueError, f"shape {bad}"))
        if isinstance(wanted.sizes[0], str):
            wrong.append((np.zeros([0, *sizes[1:]]), ValueError, "empty"))
        return wrong
    if kind is Mapping:
        inner = wrong_for(members[1]) if members else []
        nested = [({"a": bad}, error, f"['a'] {words}") for bad, error, words in inner]
        return [([1], TypeError, "mapping list"), ({}, ValueError, "one entry none"), *nested]
    if kind is tuple:
        return [(3, TypeError, "tuple int"), ((), ValueError, f"tuple of {len(members)} 0")]
    nan = [(math.nan, ValueError, "finite nan"), (math.inf, ValueError, "finite inf")]
    return {
        Callable: [(3, TypeError, "callable int"), (None, TypeError, "callable NoneType")],
        Sequence: [(3, TypeError, "list int"), ("ab", TypeError, "list str")],
        float: [("1", TypeError, "number str"), (True, TypeError, "number bool"), *nan],
        int: [(1.5, TypeError, "integer float"), (True, TypeError, "integer bool")],
        bool: [(1, TypeError, "True or False int")],
        str: [(3, TypeError, "string int"), (None, TypeError, "string NoneType")],
    }[kind]


def modules():
    """Every module of the helpers."""
    return [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(helpers.__path__, "helpers.")
    ]


def views():
    return [
        thing
        for module in modules()
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and issubclass(thing, View)
        and thing is not View
        and thing.__module__ == module.__name__
    ]


@pytest.mark.parametrize("view", views(), ids=lambda view: view.__name__)
@pytest.mark.parametrize("method", ["__init__", "update"])
def test_a_picture_refuses_what_its_annotations_do_not_allow(view, method):
    function = getattr(view, method)
    kinds = {
        name: parameter.annotation
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }
    bare = [name for name, wanted in kinds.items() if wanted is inspect.Parameter.empty]
    assert not bare, f"without an annotation nothing is refused for {bare}"
    good, found = {name: right_for(wanted) for name, wanted in kinds.items()}, {}
    for name, wanted in kinds.items():
        for bad, error, words in wrong_for(wanted):
            call = lambda name=name, bad=bad: function(  # noqa: E731
                view.__new__(view), **{**good, name: bad}
            )
            found[f"{name}={bad!r}"] = fault(call, error, words, name)
    assert not {row: problem for row, problem in found.items() if problem}


def test_a_picture_refuses_sizes_that_do_not_fit_and_values_it_does_not_know():
    times = np.linspace(0, 1, 4)
    with pytest.raises(
        ValueError, match=r"shares must have shape .* with times = 4 as in times, .*5"
    ):
        Highway(times, np.zeros((3, 5)), np.zeros((3, 4)))
    view = BlockDiagram()
    with pytest.raises(ValueError, match="stop must be 0 to 8, got 9"):
        view.update(stop=9)


# -- nothing is left out ---------------------------------------------------------------------------


def public():
    """(name, function) of every public function, class and method of the helpers that has arguments."""
    found = []
    for module in modules():
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            at = f"{module.__name__}.{name}".removeprefix("helpers.")
            if inspect.isfunction(thing):
                found.append((at, thing))
            elif inspect.isclass(thing) and not issubclass(thing, View):
                found += [
                    (at if method == "__init__" else f"{at}.{method}", function)
                    for method, function in vars(thing).items()
                    if inspect.isfunction(function)
                    and (method == "__init__" or not method.startswith("_"))
                ]
    return found


def left_free(name) -> bool:
    """Whether the name, or what it belongs to, is in FREE."""
    parts = name.split(".")
    return any(".".join(parts[:end]) in bad_input.FREE for end in range(1, len(parts) + 1))


def test_every_argument_of_every_public_helper_has_a_row_or_a_reason():
    tried = {(row.name, row.argument) for row in bad_input.ROWS}
    there = {module.__name__.removeprefix("helpers.") for module in modules()}
    there |= {
        f"{m.__name__.removeprefix('helpers.')}.{name}" for m in modules() for name in vars(m)
    }
    missing = []
    for at, function in public():
        there.add(at)
        for argument, parameter in inspect.signature(function).parameters.items():
            there.add(f"{at}.{argument}")
            if argument == "self" or parameter.kind is parameter.VAR_KEYWORD:
                continue
            if (at, argument) not in tried and not left_free(f"{at}.{argument}"):
                missing.append(f"{at}({argument})")
    assert not missing
    assert not set(bad_input.FREE) - there, "a reason for what is not there"
    assert len(bad_input.ROWS) + len(CASES) > 1500


ANSWERS = [
    ...,
    None,
    "x",
    NAN,
    math.inf,
    -1e300,
    True,
    [],
    {},
    object(),
    nn.Linear,
    X,
    torch.tensor([]),
    torch.tensor(NAN),
    np.float32(3),
    lambda *given: None,
    lambda *given: given,
    lambda *given: NAN,
    lambda *given: "x",
]


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(
    "lesson",
    [m for m in modules() if m.__name__.startswith("helpers.checks.lesson_")],
    ids=lambda module: module.__name__[-9:],
)
def test_checks_take_anything(lesson):
    """A learner's answer never raises: it gets a hint."""
    exercises = [f for name, f in vars(lesson).items() if name.startswith("exercise_")]
    assert len(exercises) >= 3
    for exercise in exercises:
        others = [p for p in inspect.signature(exercise).parameters.values()][1:]
        for answer in ANSWERS:
            arguments = [answer] * (1 + sum(p.default is p.empty for p in others))
            feedback = exercise(*arguments)
            assert not feedback.right and feedback.message, (exercise.__name__, answer)


# -- what must not be refused ----------------------------------------------------------------------

EMPTY = X[:0]
ALLOWED = {
    "the zero vector": lambda: norms.rms_norm(torch.zeros(4)),
    "eps 0": lambda: norms.rms_norm(X, eps=0),
    "an integer eps": lambda: norms.layer_norm(X, eps=1),
    "a vector of one entry": lambda: norms.layer_norm(torch.ones(1)),
    "float16": lambda: norms.rms_norm(X.half()),
    "bfloat16": lambda: ADA(X.bfloat16(), COND.bfloat16()),
    "float64": lambda: norms.rms_norm(X.double(), torch.zeros(4)),
    "no rows": lambda: norms.rms_norm(EMPTY),
    "no rows, with a condition": lambda: ADA(EMPTY, COND[:0]),
    "no tokens": lambda: ADA(X[:, :0], COND),
    "a tensor that is not contiguous": lambda: norms.rms_norm(X.transpose(1, 2)),
    "one condition for each token": lambda: ADA(X, torch.ones(2, 3, 5)),
    "a gate of one number": lambda: norms.gated_residual(X, X, 0.5),
    "a negative scale": lambda: norms.modulate(X, -2, 0.0),
    "an attention to nothing": lambda: ATTENTION(X, mask=torch.zeros(2, 3, 3, dtype=torch.bool)),
    "a block without rows": lambda: BLOCK(EMPTY, COND[:0]),
    "times 0 and 1": lambda: embeddings.time_embedding(torch.tensor([0.0, 1.0]), 8),
    "times in float16": lambda: embeddings.time_embedding(TIME.half(), 8),
    "no times": lambda: embeddings.time_embedding(TIME[:0], 8),
    "one period": lambda: embeddings.time_embedding(TIME, 2, 1.0, 1.0),
    "one Euler step": lambda: flow.euler_sample(still, X, 1),
    "Euler without rows": lambda: flow.euler_sample(still, EMPTY),
    "the loss at times 0 and 1": lambda: flow.flow_loss(still, X, time=torch.tensor([0.0, 1.0])),
    "the loss of float64": lambda: flow.flow_loss(still, X.double()),
    "one data point": lambda: flow.exact_velocity(X, TIME, X[:1]),
    "a time of 1e-4": lambda: flow.exact_velocity(X, TIME * 0 + 1e-4, X),
    "one scene": lambda: data.reach_demonstrations(data.reach_scenes(1)),
    "a large seed": lambda: data.two_moons(2, seed=2**31),
    "one token": lambda: jacobians.token_jacobian(torch.tanh, X[0, :1]),
    "no layers": lambda: jacobians.along_depth([], X[0]),
    "a jacobian of zeros": lambda: jacobians.singular_values(torch.zeros(2, 2)),
    "a probe without spread": lambda: probes.in_bands(CHUNK[:, :1]),
    "no warm-up": lambda: training.TrainSettings(warm_up=0),
    "a slider at its lower end": lambda: slider(0.0, 1.0, 0.0),
    "a slider at its upper end": lambda: slider(0, 3, 3),
    "a slider of whole numbers with a float value": lambda: slider(0, 3, 1.5),
    "a slider in numpy's numbers": lambda: slider(np.float32(0), np.float64(1)),
    "a menu of one": lambda: explore(Line(), a=[0.5]).close(),
    "a diagram at both ends": lambda: [BlockDiagram().update(stop=stop) for stop in (0, 8)],
}


@pytest.mark.parametrize("what", ALLOWED)
def test_is_allowed(what):
    ALLOWED[what]()


def test_norms_and_blocks_pass_nan_on():
    """They do not look at values: a lesson shows stacks that overflow."""
    assert (
        norms.rms_norm(WITH_NAN)[1].isnan().all() and norms.rms_norm(WITH_NAN)[0].isfinite().all()
    )
    assert BLOCK(WITH_NAN, COND)[1].isnan().all()
    assert EXPERT(CHUNK, TIME + 1, OBSERVATION).isfinite().all()
