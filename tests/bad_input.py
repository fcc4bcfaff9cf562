"""Wrong arguments, one at a time, for every argument of every public helper: `ROWS`; what has none: `FREE`.

`refuses(target, good, argument=[...])` calls the target with its good arguments and one of them replaced.
"""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from helpers import (
    blocks,
    claims,
    comparison,
    controls,
    data,
    drawing,
    embeddings,
    evaluation,
    film,
    findings,
    first_steps,
    flow,
    jacobians,
    live,
    mistakes,
    norms,
    openpi_numbers,
    pretrained,
    probes,
    race,
    sliders,
    stacks,
    training,
)
from helpers.action_expert import (
    ActionExpert,
    ExpertConfig,
    Transformer,
    TwoExpertTransformer,
    joint_mask_and_positions,
    make_block,
)
from helpers.figures import style
from tests.pictures import Line

NAN, INF = math.nan, math.inf
NOWHERE = Path(tempfile.gettempdir()) / "no such folder" / "model.safetensors"


@dataclass(frozen=True)
class Row:
    """`target(**good, argument=bad)` must raise just `error`, with `words` in a message on `argument`."""

    target: object
    argument: str
    bad: object
    error: type
    words: str
    good: dict

    def call(self):
        return self.target(**{**self.good, self.argument: self.bad})

    @property
    def name(self) -> str:
        """module.function or module.Class or module.Class.method, without `helpers.`."""
        return called(self.target)

    def __str__(self):
        shown = repr(self.bad) if isinstance(self.bad, (int, float, str, type(None))) else ""
        return f"{self.name}({self.argument}={shown or type(self.bad).__name__}) {self.words}"


ROWS: list[Row] = []


def called(target) -> str:
    return f"{target.__module__}.{target.__qualname__}".removeprefix("helpers.").removesuffix(
        ".__init__"
    )


def refuses(target, good=None, **arguments):
    """Note rows: for each argument a list of (bad value, error, words of the message)."""
    for argument, wrong in arguments.items():
        for bad, error, words in wrong:
            ROWS.append(Row(target, argument, bad, error, words, good or {}))


# What is wrong for every argument of a kind: (value, error, words that the message must hold).
TENSOR = [
    ([1.0], TypeError, "torch.Tensor list"),
    (None, TypeError, "torch.Tensor NoneType"),
    (torch.ones(2, 3, 4, dtype=torch.int), TypeError, "floating-point int32"),
    (torch.tensor(1.0), ValueError, "dimension"),
]
NUMBER = [
    (NAN, ValueError, "finite nan"),
    (INF, ValueError, "finite inf"),
    ("1", TypeError, "number str"),
    (True, TypeError, "number bool"),
    (None, TypeError, "number NoneType"),
]
POSITIVE = [(0, ValueError, "more than 0"), (-1.0, ValueError, "more than -1.0"), *NUMBER]
CALLABLE = [
    (None, TypeError, "callable NoneType"),
    (3, TypeError, "callable int"),
    ("f", TypeError, "callable str"),
]
CALLABLE_OR_NONE = CALLABLE[1:]
GENERATOR = [(0, TypeError, "torch.Generator int"), ("0", TypeError, "torch.Generator str")]
BOOL = [(1, TypeError, "True or False int"), (None, TypeError, "True or False NoneType")]
PATH = [(3, TypeError, "path int"), (None, TypeError, "path NoneType")]


def count(least=1):
    return [
        (least - 1, ValueError, f"at least {least} {least - 1}"),
        (-5, ValueError, f"at least {least} -5"),
        (2.0, TypeError, "integer float"),
        (True, TypeError, "integer bool"),
        ("2", TypeError, "integer str"),
    ]


def optional(wrong):
    """The same for an argument that may be left out as None."""
    return [row for row in wrong if row[0] is not None]


def choice_of(*allowed):
    listed = " ".join(map(repr, allowed)).replace(",", "")
    return [
        ("sung", ValueError, f"one of {listed} 'sung'"),
        (3, ValueError, f"one of {listed} 3"),
    ]


def kind(name):
    return [(3, TypeError, f"{name} int"), ("x", TypeError, f"{name} str")]


def shaped(*shapes, dtype=torch.float32):
    """Tensors of these shapes: each must be refused with its shape named."""
    return [
        (torch.ones(*shape, dtype=dtype), ValueError, str(tuple(shape)).strip("(),"))
        for shape in shapes
    ]


SEED = count(0)
TIME = [
    (0.5, TypeError, "torch.Tensor float"),
    (None, TypeError, "torch.Tensor NoneType"),
    (torch.tensor([0, 1]), TypeError, "floating-point int64"),
    (torch.tensor(0.5), ValueError, "dimension"),
    (torch.ones(2, 1), ValueError, "1 dimensions (2, 1)"),
]
TIME_VALUES = [
    (torch.tensor([0.5, 1.5]), ValueError, "[0, 1] 1.5"),
    (torch.tensor([-0.5, 0.5]), ValueError, "[0, 1] -0.5"),
    (torch.tensor([NAN, 0.5]), ValueError, "[0, 1] nan"),
]
TIMES = [
    ([0.5, 1.5], ValueError, "at most 1 1.5"),
    ([], ValueError, "at least 1 0"),
    (["a"], TypeError, "number str"),
    (torch.tensor([0.5, NAN]), ValueError, "[0, 1] nan"),
    (0.5, TypeError, "torch.Tensor float"),
]
INTEGERS = [
    ([1], TypeError, "torch.Tensor list"),
    (torch.ones(2, 3), TypeError, "integers float32"),
    (torch.ones(2, 3, 4, dtype=torch.int), ValueError, "dimensions (2, 3, 4)"),
]
FINITE = [(torch.full((2, 16, 2), NAN), ValueError, "finite NaN")]

# Good arguments.
X = torch.ones(2, 3, 4)
COND = torch.ones(2, 5)
T = torch.tensor([0.2, 0.8])
MASK = torch.ones(2, 3, dtype=torch.int)
CHUNK, OBSERVATION = torch.zeros(2, 16, 2), torch.zeros(2, 4)
SCENE = data.reach_scenes(2)
SMALL = ExpertConfig(width=8, depth=2, mlp_width=8, num_heads=2, head_dim=4, observation_dim=4)
with torch.random.fork_rng():
    RMS, ADA = norms.RMSNorm(4), norms.AdaRMSNorm(4, 5)
    ATTENTION, MLP = blocks.Attention(4, num_heads=2), blocks.FeedForward(4, 8)
    GATED_MLP = blocks.GatedFeedForward(4, 8)
    PRE, POST = blocks.PreNormBlock(4, ATTENTION, MLP), blocks.PostNormBlock(4, ATTENTION, MLP)
    BLOCK = blocks.AdaRMSBlock(4, 5, ATTENTION, MLP)
    EXPERT, ADDED = ActionExpert(SMALL), ActionExpert(SMALL, "added")
    JOINT = TwoExpertTransformer(SMALL, SMALL)
    STACK = Transformer(SMALL, "adarms")
    ACTION_TIME, TIME_MLP = embeddings.ActionTimeMLP(4), embeddings.TimeMLP(4)
    SORTER_CONFIG = race.RaceConfig(
        depth=1, width=8, mlp_width=8, numbers=3, vocabulary=4, batch=2, steps=1
    )
    SORTER, RUN = race.Sorter("pre", SORTER_CONFIG), race.Run("pre", SORTER_CONFIG)
PREFIX = torch.ones(2, 3, 8)
CACHE = JOINT.encode_prefix(PREFIX, MASK)
SUFFIX = EXPERT.embed_suffix(CHUNK, T, OBSERVATION)
CASE = openpi_numbers.load("adarms_batch")
RANDOM = torch.Generator()
SETTINGS = training.TrainSettings(steps=1)
TRAINING = training.Training(EXPERT, CHUNK, OBSERVATION, SETTINGS)
CONDITIONINGS = choice_of("adarms", "input", "added", "added_gated", "none")


def still(x_t, time, observation=None):
    return torch.zeros_like(x_t)


# norms
refuses(
    norms.rms_norm,
    dict(x=X),
    x=TENSOR,
    scale=[(1.0, TypeError, "torch.Tensor float"), *shaped((3,), (2, 3, 4))],
    eps=[(-1e-6, ValueError, "at least 0 -1e-06"), *NUMBER],
)
refuses(norms.layer_norm, dict(x=X), x=TENSOR, eps=[(-1.0, ValueError, "least 0 -1"), *NUMBER])
FACTOR = [("1", TypeError, "number str"), (True, TypeError, "number bool"), *shaped((2, 4), (5,))]
refuses(
    norms.modulate, dict(normed=X, scale=0.0, shift=0.0), normed=TENSOR, scale=FACTOR, shift=FACTOR
)
refuses(
    norms.gated_residual,
    dict(x=X, y=X, gate=None),
    x=TENSOR,
    y=[*TENSOR, *shaped((1, 3, 4))],
    gate=FACTOR,
)
refuses(norms.RMSNorm, dict(width=4), width=count(), eps=NUMBER)
refuses(RMS.forward, dict(), hidden_states=[*TENSOR, *shaped((2, 5))])
refuses(norms.AdaRMSNorm, dict(width=4, cond_dim=5), width=count(), cond_dim=count(), eps=NUMBER)
for method in (ADA.forward, ADA.scale_shift_gate):
    refuses(
        method,
        dict(hidden_states=X, cond=COND),
        hidden_states=[*TENSOR, *shaped((3, 4), (2, 3, 5))],
        cond=[*TENSOR[:2], *shaped((2, 4), (1, 5), (5,), (2, 2, 5))],
    )
refuses(norms.zero_init_modulations, model=kind("torch.nn.Module"))

# embeddings
PERIODS = dict(
    min_period=[(0, ValueError, "more than 0"), (NAN, ValueError, "finite nan")],
    max_period=[(1e-3, ValueError, "at least 0.004 0.001"), ("4", TypeError, "number str")],
)
DIM = [(7, ValueError, "even 7"), *count(2)]
good = dict(time=T, dim=8)
refuses(embeddings.time_embedding, good, time=[*TIME, *TIME_VALUES], dim=DIM, **PERIODS)
refuses(embeddings.sinusoidal_embedding, good, time=TIME, dim=DIM, **PERIODS)
refuses(embeddings.TimeMLP, width=DIM)
refuses(TIME_MLP.forward, time=TIME)
refuses(embeddings.ActionTimeMLP, width=DIM)
refuses(
    ACTION_TIME.forward,
    dict(tokens=X, time=T),
    tokens=[*TENSOR, *shaped((3, 4), (2, 3, 5))],
    time=[*TIME, (T[:1], ValueError, "(2,) 1")],
)

# blocks
refuses(
    blocks.attention_mask,
    dict(input_mask=MASK, block_starts=MASK),
    input_mask=INTEGERS,
    block_starts=[*INTEGERS, *shaped((2, 2), dtype=torch.int)],
)
refuses(blocks.token_positions, input_mask=INTEGERS)
refuses(
    blocks.apply_rope,
    dict(x=X[:, :, None], positions=MASK),
    x=[*TENSOR, *shaped((2, 3, 4), (2, 3, 1, 3))[:1]],
    positions=[*INTEGERS, *shaped((2,), dtype=torch.int)],
    max_wavelength=POSITIVE,
)
refuses(
    blocks.attention_weights,
    dict(queries=X[:, :, None], keys=X[:, :, None]),
    queries=[*TENSOR, *shaped((2, 3, 4))],
    keys=[*TENSOR, *shaped((1, 3, 1, 4), (2, 3, 1, 6))],
    mask=[
        (MASK.float(), TypeError, "integers float32"),
        *shaped((2, 3), (2, 1, 3), dtype=torch.int),
    ],
)
refuses(
    blocks.Attention,
    dict(width=8, num_heads=2),
    width=count(),
    num_heads=count(),
    num_kv_heads=[(3, ValueError, "divide num_heads 3 2"), *count()],
    head_dim=DIM,
)
POSITIONS = [(torch.ones(3), TypeError, "integers float32"), *shaped((4,), dtype=torch.int)]
ATTENTION_MASK = [(X, TypeError, "integers float32"), *shaped((2, 3), dtype=torch.int)]
HIDDEN = [*TENSOR, *shaped((3, 4), (2, 3, 5))]
PAST = [
    (3, TypeError, "(keys, values) int"),
    ((X[:, :, None],), TypeError, "(keys, values) tuple"),
    ((X, X), ValueError, "4 dimensions (2, 3, 4)"),
    ((torch.ones(2, 3, 1, 2),) * 2, ValueError, "(2, tokens, 2, 2) (2, 3, 1, 2)"),
]
BRANCH = dict(positions=POSITIONS, mask=ATTENTION_MASK, past=PAST)
good = dict(hidden_states=X)
refuses(ATTENTION.forward, good, hidden_states=HIDDEN, **BRANCH)
refuses(ATTENTION.queries, good, hidden_states=HIDDEN, positions=POSITIONS)
refuses(ATTENTION.keys_and_values, good, hidden_states=HIDDEN, positions=POSITIONS)
for target, made in ((blocks.FeedForward, MLP), (blocks.GatedFeedForward, GATED_MLP)):
    refuses(target, dict(width=4, mlp_width=8), width=count(), mlp_width=count())
    refuses(made.forward, hidden_states=[*TENSOR, *shaped((2, 5))])
good = dict(width=4, attention=None, feed_forward=MLP)
BRANCHES = dict(width=count(), attention=CALLABLE_OR_NONE, feed_forward=CALLABLE)
refuses(blocks.PreNormBlock, good, **BRANCHES, gated=BOOL)
refuses(blocks.PostNormBlock, good, **BRANCHES)
refuses(blocks.AdaRMSBlock, {**good, "cond_dim": 5}, **BRANCHES, cond_dim=count())
for block in (PRE, POST):
    refuses(block.forward, dict(hidden_states=X), hidden_states=HIDDEN, **BRANCH)
refuses(
    BLOCK.forward,
    dict(hidden_states=X, cond=COND),
    hidden_states=HIDDEN,
    cond=[*TENSOR[:2], *shaped((1, 5), (2, 4))],
    **BRANCH,
)
refuses(
    blocks.check_zero_init,
    model=[*kind("torch.nn.Module"), (nn.Linear(2, 2), ValueError, "blocks none")],
)

# the model
refuses(
    ExpertConfig,
    dict(width=8, depth=2, mlp_width=8),
    width=DIM,
    depth=count(),
    mlp_width=count(),
    num_heads=count(),
    num_kv_heads=[(3, ValueError, "divide 3 1"), *count()],
    head_dim=DIM,
    action_dim=count(),
    horizon=count(),
    observation_dim=count(0),
    one_token=BOOL,
)
good = dict(config=SMALL, conditioning="adarms")
for target in (ActionExpert, Transformer, make_block):
    refuses(target, good, config=kind("ExpertConfig"), conditioning=CONDITIONINGS)
X_T = [*TENSOR, *shaped((2, 16), (2, 4, 2), (2, 16, 3))]
OBSERVED = [(None, TypeError, "torch.Tensor NoneType"), *shaped((2, 3), (1, 4))]
ONE_EACH = [*TIME, (T[:1], ValueError, "(2,) 1")]
MODEL_INPUT = dict(x_t=X_T, time=ONE_EACH, observation=OBSERVED)
good = dict(x_t=CHUNK, time=T, observation=OBSERVATION)
refuses(EXPERT.forward, good, **MODEL_INPUT)
refuses(EXPERT.embed_suffix, good, **MODEL_INPUT)
refuses(EXPERT.read_actions, suffix_out=[*TENSOR, *shaped((2, 8), (2, 17, 9))])
refuses(
    STACK.forward,
    dict(tokens=torch.ones(2, 3, 8), cond=torch.ones(2, 8)),
    tokens=[*TENSOR, *shaped((3, 8), (2, 3, 9))],
    cond=[*TENSOR[:2], *shaped((2, 4), (1, 8))],
    positions=POSITIONS,
    mask=ATTENTION_MASK,
    past=[([None], ValueError, "2 layers 1"), (3, ValueError, "2 layers int")],
)
refuses(
    TwoExpertTransformer,
    dict(prefix_config=SMALL, action_config=SMALL),
    prefix_config=kind("ExpertConfig"),
    action_config=kind("ExpertConfig"),
    conditioning=CONDITIONINGS,
)
PREFIX_MASK = [*INTEGERS, *shaped((2, 2), dtype=torch.int)]
PREFIX_TOKENS = [*TENSOR, *shaped((2, 3), (2, 3, 9))]
encoded = dict(prefix_tokens=PREFIX, prefix_mask=MASK)
refuses(JOINT.encode_prefix, encoded, prefix_tokens=PREFIX_TOKENS, prefix_mask=PREFIX_MASK)
refuses(
    JOINT.forward,
    {**encoded, **good},
    prefix_tokens=PREFIX_TOKENS,
    prefix_mask=PREFIX_MASK,
    **MODEL_INPUT,
)
refuses(JOINT.velocity, {"cache": CACHE, **good}, cache=kind("PrefixCache"), **MODEL_INPUT)
refuses(
    JOINT.attend_to_prefix,
    dict(cache=CACHE, suffix=SUFFIX),
    cache=kind("PrefixCache"),
    suffix=kind("Suffix"),
)
refuses(
    joint_mask_and_positions,
    dict(prefix_mask=MASK, suffix=SUFFIX),
    prefix_mask=[*INTEGERS, (MASK[:1], ValueError, "batch 2 1")],
    suffix=kind("Suffix"),
)

# flow
refuses(flow.sample_time, dict(batch=2), batch=count(), alpha=POSITIVE, generator=GENERATOR)
refuses(
    flow.interpolate,
    dict(actions=X, noise=X, time=T),
    actions=TENSOR,
    noise=[*TENSOR, *shaped((2, 3, 1))],
    time=ONE_EACH,
)
refuses(
    flow.target_velocity,
    dict(actions=X, noise=X),
    actions=TENSOR,
    noise=[*TENSOR, *shaped((1, 3, 4))],
)
refuses(
    flow.flow_loss,
    dict(velocity=still, actions=CHUNK),
    velocity=CALLABLE,
    actions=[*TENSOR, *FINITE, *shaped((0, 4), (4,))],
    noise=[*TENSOR[:1], *FINITE, *shaped((2, 16, 3))],
    time=[*optional(ONE_EACH), *TIME_VALUES],
    generator=GENERATOR,
)
for target in (flow.euler_path, flow.euler_sample):
    refuses(
        target,
        dict(velocity=still, noise=CHUNK),
        velocity=CALLABLE,
        noise=[*TENSOR, *FINITE],
        num_steps=count(),
    )
refuses(flow.flip_time, velocity=CALLABLE)
for target in (flow.posterior_mean, flow.exact_velocity):
    refuses(
        target,
        dict(x_t=CHUNK, time=T, data=CHUNK),
        x_t=[*TENSOR, *FINITE, *shaped((2,))],
        time=[*ONE_EACH, *TIME_VALUES, (0 * T, ValueError, "above 0")],
        data=[*TENSOR, *FINITE, *shaped((2, 4)), (CHUNK[:0], ValueError, "at least one none")],
    )

# data
for shape in data.SHAPES.values():
    refuses(shape, dict(n=2), n=count(2), seed=SEED)
refuses(data.reach_scenes, dict(n=2), n=count(), seed=SEED)
refuses(
    data.Scene,
    dict(goal=torch.ones(2, 2), obstacle=torch.ones(2, 2)),
    goal=[*TENSOR, *shaped((2,), (2, 3))],
    obstacle=[*TENSOR, *shaped((3, 2))],
)
refuses(data.reach_demonstrations, dict(scene=SCENE), scene=kind("Scene"), seed=SEED)
WAYPOINTS = [*TENSOR, *FINITE, *shaped((16, 2), (2, 16, 3), (2, 0, 2))]
refuses(data.to_actions, waypoints=WAYPOINTS)
refuses(data.to_waypoints, actions=WAYPOINTS)
for target in (data.clears_obstacle, data.reaches_goal, data.success, data.passes_left):
    refuses(
        target,
        dict(waypoints=CHUNK, scene=SCENE),
        waypoints=[*WAYPOINTS, *shaped((3, 16, 2))],
        scene=kind("Scene"),
    )

# training
refuses(
    training.TrainSettings,
    steps=count(),
    batch=count(),
    learning_rate=POSITIVE,
    warm_up=count(0),
    clip=POSITIVE,
    alpha=POSITIVE,
    seed=SEED,
)
refuses(SETTINGS.rate, step=count(0))
ACTIONS = [*TENSOR, *FINITE, *shaped((0, 16, 2), (4,))]
SEEN = [
    *TENSOR[:1],
    *shaped((4,)),
    (torch.ones(3, 4), ValueError, "2 actions 3"),
    (torch.full((2, 4), NAN), ValueError, "finite NaN"),
]
refuses(
    training.Training,
    dict(model=EXPERT, actions=CHUNK, observation=OBSERVATION),
    model=kind("torch.nn.Module"),
    actions=ACTIONS,
    observation=SEEN,
    settings=kind("TrainSettings"),
)
refuses(TRAINING.run, steps=count(), on_step=CALLABLE_OR_NONE)
refuses(
    training.train_seeds,
    dict(make_model=lambda: EXPERT, seeds=[0], actions=CHUNK, observation=OBSERVATION),
    make_model=CALLABLE,
    seeds=[
        ([], ValueError, "at least 1 0"),
        (3, TypeError, "list int"),
        ([-1], ValueError, "at least 0 -1"),
        ([0.5], TypeError, "integer float"),
    ],
    actions=ACTIONS,
    observation=SEEN,
    settings=kind("TrainSettings"),
    on_step=CALLABLE_OR_NONE,
)
refuses(
    training.draw_batch,
    dict(data=(CHUNK, None), batch=2, random=RANDOM),
    data=[(CHUNK, TypeError, "(actions, observation) Tensor")],
    batch=count(),
    random=[*GENERATOR, (None, TypeError, "torch.Generator NoneType")],
)
refuses(
    training.draw_noise_and_time,
    dict(actions=CHUNK, settings=SETTINGS, random=RANDOM),
    actions=TENSOR,
    settings=kind("TrainSettings"),
    random=GENERATOR,
)
refuses(training.count_parameters, model=kind("torch.nn.Module"))
refuses(
    training.save_checkpoint,
    dict(path=NOWHERE, model=EXPERT, settings=SETTINGS),
    path=[*PATH, (Path("a.pt"), ValueError, ".safetensors a.pt")],
    model=[*kind("ActionExpert"), (nn.Linear(1, 1), TypeError, "ActionExpert Linear")],
    settings=kind("TrainSettings"),
    step=optional(count(0)),
)
refuses(
    training.load_checkpoint,
    dict(path=NOWHERE),
    path=PATH,
    config=kind("ExpertConfig"),
    conditioning=CONDITIONINGS,
)

# jacobians and stacks
TOKEN = [
    (3, ValueError, "between -3 2 3"),
    (0.0, TypeError, "integer float"),
    (True, TypeError, "integer bool"),
]
SEQUENCE = [*TENSOR, *shaped((4,), (2, 3, 4))]
refuses(
    jacobians.token_jacobian,
    dict(function=torch.tanh, hidden_states=X[0]),
    function=[*CALLABLE, (lambda x: x[..., :1], ValueError, "returns (1, 3, 4) (1, 3, 1)")],
    hidden_states=SEQUENCE,
    token=TOKEN,
)
refuses(
    jacobians.along_depth,
    dict(layers=[torch.tanh], hidden_states=X[0]),
    layers=[(torch.tanh, TypeError, "list builtin_function"), ([3], TypeError, "callable int")],
    hidden_states=SEQUENCE,
    token=TOKEN,
)
refuses(jacobians.singular_values, jacobian=[*TENSOR, *shaped((3,), (2, 3))])
refuses(
    stacks.random_stack,
    dict(placement="pre", depth=1),
    placement=choice_of("pre", "post", "none", "ada", "peri"),
    depth=count(),
    feed_forward=choice_of("GELU", "gated GELU"),
    width=count(),
    num_heads=count(),
    mlp_width=count(),
    strength=[(-1.0, ValueError, "at least 0 -1.0"), *NUMBER],
    seed=SEED,
)

# probes
ADARMS = [*kind("ActionExpert"), (ADDED, ValueError, "conditioning adarms 'added'")]
refuses(probes.told_places, model=ADARMS)
refuses(probes.modulations, dict(model=EXPERT, time=T), model=ADARMS, time=[*TIME, *TIME_VALUES])
refuses(
    probes.constant_share,
    values=[*TENSOR, *shaped((3,)), (torch.zeros(2, 3), ValueError, "zero")],
)


def lie(**arguments):
    with probes.lie(**arguments):
        pass


def hold(**arguments):
    with probes.hold(**arguments):
        pass


lie.__module__, hold.__module__ = "helpers.probes", "helpers.probes"
refuses(
    lie,
    dict(model=EXPERT, told=0.5),
    model=kind("ActionExpert"),
    told=[(1.5, ValueError, "[0, 1] 1.5"), *NUMBER, *TIME_VALUES],
    place=choice_of(None, "layer 0", "layer 1", "final norm"),
)
refuses(
    hold,
    dict(model=EXPERT, part="gate", time=T),
    model=ADARMS,
    part=choice_of("scale", "shift", "gate"),
    time=[*TIME, *TIME_VALUES],
)
refuses(
    probes.residual_stream,
    dict(model=EXPERT, x_t=CHUNK, time=T, observation=OBSERVATION),
    model=kind("ActionExpert"),
    **MODEL_INPUT,
)
refuses(
    probes.shares,
    dict(parts=X, total=X[0]),
    parts=TENSOR,
    total=[*TENSOR, *shaped((3, 3))],
)
refuses(
    probes.fit_probe,
    dict(features=torch.ones(2, 4), time=T),
    features=[*TENSOR, *shaped((2,)), (torch.full((2, 4), NAN), ValueError, "finite NaN")],
    time=ONE_EACH,
    ridge=[(-1.0, ValueError, "at least 0 -1.0"), *NUMBER],
)
refuses(probes.r_squared, dict(guess=T, truth=T), guess=TENSOR, truth=[*TENSOR, *shaped((3,))])
refuses(probes.cosine_waves, length=count())
refuses(probes.in_bands, chunk=[*TENSOR, *shaped((3, 4))])
refuses(
    probes.half_known,
    dict(known=[0.9, 0.2], times=[0.1, 0.9]),
    known=[
        ([0.9], ValueError, "2 times 1"),
        ([0.1, 0.2], ValueError, "above one half 0.20"),
        (["a", "b"], TypeError, "number str"),
        (0.5, TypeError, "list float"),
        (torch.ones(2, 2), ValueError, "1 dimensions (2, 2)"),
    ],
    times=TIMES,
)

# comparison and evaluation
refuses(comparison.trained_parameters, model=kind("ActionExpert"))
good = dict(config=SMALL, conditioning="added")
refuses(comparison.matched_config, good, config=kind("ExpertConfig"), conditioning=CONDITIONINGS)
refuses(comparison.reach_data, dict(n=2, seed=0), n=count(), seed=SEED)
PAIRED = [
    ([1.0], ValueError, "paired 1"),
    (3.0, TypeError, "list float"),
    (["a", 1.0], TypeError, "number str"),
    ([NAN, 1.0], ValueError, "finite nan"),
]
refuses(
    comparison.paired_difference,
    dict(ours=[1.0, 2.0], theirs=[1.0, 2.0]),
    ours=PAIRED,
    theirs=PAIRED,
)
refuses(comparison.shipped_results, folder=PATH)
SAMPLED = dict(
    model=[*CALLABLE, (still, TypeError, "config function")], num_steps=count(), seed=SEED
)
good = dict(model=EXPERT, observation=OBSERVATION)
for target in (evaluation.sample_path, evaluation.sample_actions):
    refuses(target, good, **SAMPLED, observation=[*TENSOR, *shaped((4,), (2, 3))])
refuses(evaluation.success_rate, dict(model=EXPERT, scene=SCENE), **SAMPLED, scene=kind("Scene"))
CHUNKS = [*TENSOR, *shaped((16, 2))]
good = dict(model=EXPERT, actions=CHUNK, observation=OBSERVATION)
refuses(
    evaluation.loss_by_time,
    {**good, "times": [0.5]},
    model=CALLABLE,
    actions=CHUNKS,
    observation=OBSERVED,
    times=TIMES,
    seed=SEED,
)
refuses(
    evaluation.validation_loss,
    good,
    model=CALLABLE,
    actions=CHUNKS,
    observation=OBSERVED,
    count=count(),
    seed=SEED,
)
refuses(evaluation.quantile_times, count=count(), alpha=POSITIVE)
refuses(
    evaluation.measure_by_time,
    dict(velocity=still, scene=SCENE, actions=CHUNK, times=[0.5]),
    velocity=CALLABLE,
    scene=kind("Scene"),
    actions=[*CHUNKS, (CHUNK[:1], ValueError, "2 scenes 1")],
    times=TIMES,
    seed=SEED,
)
refuses(
    evaluation.exact_reach_velocity,
    dict(scene=SCENE),
    scene=kind("Scene"),
    count=count(),
    seed=SEED,
)

# race
refuses(
    race.RaceConfig,
    **{name: count() for name in race.RaceConfig.__dataclass_fields__ if name != "learning_rate"},
    learning_rate=POSITIVE,
)
VARIANT = choice_of(*race.VARIANTS)
refuses(
    race.Sorter,
    dict(variant="pre", config=SORTER_CONFIG),
    variant=VARIANT,
    config=kind("RaceConfig"),
)
refuses(
    SORTER.forward,
    numbers=[
        ([1], TypeError, "torch.Tensor list"),
        (torch.ones(2, 3), TypeError, "integers float32"),
        *shaped((2, 4), (3,), dtype=torch.long),
    ],
)
refuses(
    race.Run,
    dict(variant="pre", config=SORTER_CONFIG),
    variant=VARIANT,
    config=kind("RaceConfig"),
    seed=SEED,
)
refuses(
    race.race,
    dict(runs=[RUN]),
    runs=[
        (RUN, TypeError, "list Run"),
        ([], ValueError, "at least 1 0"),
        ([3], TypeError, "Run int"),
    ],
    on_step=CALLABLE_OR_NONE,
)
refuses(race.shipped_results, folder=PATH)
refuses(race.settings, run=kind("Run"))

# mistakes, first steps, pi0.5's numbers
NORM_KIND = [(nn.LayerNorm, TypeError, "AdaRMSNorm LayerNorm"), (3, TypeError, "AdaRMSNorm 3")]
refuses(
    mistakes.Port,
    norm=NORM_KIND,
    final_norm=NORM_KIND,
    time_mlp=[(nn.Linear, TypeError, "TimeMLP Linear")],
    after_init=CALLABLE_OR_NONE,
)
refuses(mistakes.Port().expert, config=kind("ExpertConfig"), seed=SEED)
for target in (mistakes.check, *mistakes.INVARIANTS.values()):
    refuses(target, port=kind("Port"))
refuses(mistakes.overwrite_dense, model=kind("ActionExpert"))
refuses(
    mistakes.draw,
    dict(port=mistakes.Port(), trained=EXPERT, noise=CHUNK),
    port=kind("Port"),
    trained=kind("ActionExpert"),
    noise=[*TENSOR, *FINITE, *shaped((2, 2))],
    num_steps=count(),
)
refuses(first_steps.wake, model=kind("torch.nn.Module"))
refuses(
    first_steps.gradients_by_part,
    model=[*ADARMS, (ActionExpert(SMALL), ValueError, "gradients None")],
)
refuses(
    first_steps.gradients,
    dict(start="pi0.5", config=SMALL),
    start=choice_of("pi0.5", "zero head too", "nothing zero"),
    config=kind("ExpertConfig"),
    steps=count(),
    seed=SEED,
)
refuses(
    openpi_numbers.load,
    name=[("none such", ValueError, "adarms_batch 'none such'"), (3, ValueError, "3")],
)
refuses(
    openpi_numbers.largest_error,
    dict(got=CASE.normed, wanted=CASE.normed, case=CASE),
    got=[*TENSOR, *shaped((2, 3))],
    wanted=TENSOR,
    case=[(3, TypeError, "openpi_numbers.load int")],
)
refuses(
    openpi_numbers.load_dense,
    dict(linear=nn.Linear(2, 3).requires_grad_(False), kernel=torch.ones(2, 3), bias=torch.ones(3)),
    linear=kind("Linear"),
    kernel=[*TENSOR, *shaped((3, 2))],
    bias=[*TENSOR, *shaped((2,))],
)
refuses(
    openpi_numbers.compare_norm,
    dict(name="adarms_batch", make_norm=still),
    name=[("embed_suffix_pi05", ValueError, "adarms_batch 'embed_suffix_pi05'")],
    make_norm=CALLABLE,
)
refuses(openpi_numbers.table, rows=[(3, TypeError, "list int"), ([3], TypeError, "Row int")])

# verdicts
refuses(
    claims.verdict,
    dict(row=1, holds=True, value="1"),
    row=[
        (0, ValueError, "1 to 24 0"),
        (True, ValueError, "1 to 24 True"),
        ("1", ValueError, "'1'"),
        (1.0, ValueError, "1.0"),
    ],
    holds=[(3, TypeError, "True False int"), (" ", ValueError, "condition empty")],
    value=[(3, TypeError, "string int"), (" ", ValueError, "empty")],
)
refuses(
    findings.believed_and_found,
    here=[(3, TypeError, "list int"), (["holds"], TypeError, "Verdict str")],
    lesson=[(7, TypeError, "string int")],
    path=PATH,
)

# sliders and pictures
BOUNDS = [
    ("0", TypeError, "numbers '0'"),
    (NAN, ValueError, "finite nan"),
    (INF, ValueError, "finite inf"),
]
LABEL = [(3, TypeError, "string int")]
FORMAT = [("%d", ValueError, "'%d'"), (3, TypeError, "string int")]
TEXTS = dict(label=LABEL, format=FORMAT, unit=LABEL)
INSIDE = [
    ("0", TypeError, "number '0'"),
    (5, ValueError, "between 5"),
    (NAN, ValueError, "between nan"),
    (True, TypeError, "number True"),
]
STEP = [
    (0, ValueError, "above 0 0"),
    (-1, ValueError, "above 0 -1"),
    ("1", TypeError, "number '1'"),
    (NAN, ValueError, "above 0 nan"),
    (INF, ValueError, "finite inf"),
    (True, TypeError, "number True"),
]
good = dict(low=0.5, high=1.0)
refuses(
    sliders.slider,
    good,
    low=[*BOUNDS, (1.0, ValueError, "below 1.0")],
    high=BOUNDS,
    value=INSIDE,
    step=STEP,
    **TEXTS,
)
refuses(
    sliders.log_slider,
    good,
    low=[*BOUNDS, (0, ValueError, "above 0 0")],
    high=BOUNDS,
    value=INSIDE,
    **TEXTS,
)
refuses(
    sliders.choice,
    dict(options=["a"]),
    options=[
        ("ab", TypeError, "list dict str"),
        ([], ValueError, "empty"),
        (None, TypeError, "NoneType"),
    ],
    value=[("b", ValueError, "one of 'a' 'b'")],
    label=LABEL,
)
refuses(sliders.checkbox, value=[(1, TypeError, "True or False 1")], label=LABEL)
refuses(
    sliders.control,
    dict(name="given"),
    given=[
        ("x", TypeError, "slider 'x'"),
        (3, TypeError, "slider 3"),
        ((1,), TypeError, "(1,)"),
        (None, TypeError, "slider None"),
    ],
)
VIEW = [
    (3, TypeError, "figure int"),
    (None, TypeError, "figure NoneType"),
    (object(), TypeError, "figure object"),
]
STILL = [(3, TypeError, "dict int"), ({"b": 1}, ValueError, "'a' 'b'")]
refuses(
    controls.explore,
    dict(view=Line(), a=(0.0, 0.9)),
    view=VIEW,
    still=STILL,
    a=[("x", TypeError, "slider 'x'")],
)
refuses(
    film.film,
    dict(view=Line(), a=(0.0, 0.9)),
    view=VIEW,
    frames=[
        (1, ValueError, "at least 2 1"),
        (2.0, TypeError, "integer float"),
        (True, TypeError, "integer bool"),
    ],
    seconds=POSITIVE,
    still=optional(NUMBER),
    a=[("x", TypeError, "slider 'x'")],
)
refuses(
    live.Live,
    dict(view=Line(), snapshot=still),
    view=VIEW,
    snapshot=CALLABLE,
    share=[(1, ValueError, "less than 1"), *POSITIVE],
)
refuses(drawing.Painter, view=VIEW)
refuses(
    drawing.png,
    dict(rows=np.zeros((2, 7), np.uint8), width=2),
    rows=[
        ([1], TypeError, "uint8"),
        (np.zeros((2, 7)), TypeError, "uint8"),
        (np.zeros((2, 5), np.uint8), ValueError, "width 2 5"),
    ],
    width=[*count()],
)
SIZE = [
    (0, ValueError, "above 0 0"),
    (-1.0, ValueError, "-1.0"),
    (1e9, ValueError, "100"),
    ("9", TypeError, "number str"),
    (NAN, ValueError, "finite nan"),
]
refuses(style.new_figure, width=SIZE, height=SIZE)

# pretrained
WEIGHTS = pretrained.stand_in(0, 8, 1)
STRING = [(3, TypeError, "string int"), (None, TypeError, "string NoneType")]
PLACE = dict(
    file=STRING,
    revision=STRING,
    cache=[(3, TypeError, "path int")],
)
FEWER = {name: tensor for name, tensor in WEIGHTS.tensors.items() if name != "time_mlp_in.bias"}
refuses(
    pretrained.Modulations,
    dict(tensors=WEIGHTS.tensors, label="a", real=False),
    tensors=[
        *kind("dict"),
        (FEWER, ValueError, "time_mlp_in.bias"),
        ({**FEWER, "time_mlp_in.bias": 3}, TypeError, "torch.Tensor int"),
        ({**FEWER, "time_mlp_in.bias": torch.ones(9)}, ValueError, "(9,)"),
        ({**FEWER, "time_mlp_in.bias": torch.full((8,), NAN)}, ValueError, "finite NaN"),
    ],
    label=STRING,
    real=BOOL,
)
for method in (WEIGHTS.cond, WEIGHTS.modulation):
    refuses(method, time=[*TIME, *TIME_VALUES])
refuses(WEIGHTS.dense, norm_name=[("layer 7", ValueError, "one of 'final norm' 'layer 7'")])
refuses(WEIGHTS.save, path=PATH)
refuses(pretrained.tensor_names, depth=count())
refuses(pretrained.stand_in, dict(depth=1, width=8), seed=SEED, width=DIM, depth=count())
refuses(
    pretrained.from_expert,
    dict(model=EXPERT, label="a"),
    model=[*kind("ActionExpert"), (ADDED, ValueError, "adarms 'added'")],
    label=STRING,
)
refuses(pretrained.read, source=PATH, **PLACE, download=BOOL, progress=BOOL)
for target in (pretrained.available, pretrained.cache_file):
    refuses(target, source=PATH, **PLACE)
refuses(
    pretrained.difference,
    dict(a=WEIGHTS, b=WEIGHTS),
    a=[*kind("Modulations"), (pretrained.stand_in(0, 8, 2), ValueError, "same norms")],
    b=[*kind("Modulations"), (pretrained.stand_in(0, 4, 1), ValueError, "same width")],
    time=[*optional(TIME), *TIME_VALUES],
)

# Arguments without a row, and why: by module, class or function, or one argument of it.
RECORD = "a record that a helper fills in and hands back"
FREE = {
    **{
        name: RECORD
        for name in (
            "action_expert.Suffix",
            "action_expert.PrefixCache",
            "blocks.ZeroInitReport",
            "checks.feedback.Feedback",
            "claims.Verdict",
            "comparison.Difference",
            "findings.Table",
            "mistakes.Finding",
            "openpi_numbers.Row",
            "probes.Modulation",
            "probes.Stream",
            "training.Checkpoint",
            "sliders.Control",
        )
    },
    "pretrained.recognise": "what a file's header holds: any names, and a message says what it is",
    "pretrained.main": "the command line, which argparse looks at",
    "tensor_files": "called by pretrained, which has looked at its arguments",
    "modulation_report": "called by the command line with what it read",
    "validation": "what refuses; it is tested through every row",
    "checks": "any answer is taken, and a wrong one gets a hint: see test_checks_take_anything",
    "controls.Explorer": "made by explore, which has looked at its arguments",
    "film.Film": "made by film, which has looked at its arguments",
    "film.OneSlider": "made for pages without a kernel, from an Explorer's own values",
    "film.display_as_film": "called by an Explorer with its own values",
    "film.display_how_to_run": "called with the labels of sliders that were looked at",
    "live.Live.show": "the state is whatever the caller's snapshot reads",
    "blocks.PreNormBlock.forward.cond": "not read: so that all blocks are called alike",
    "blocks.PostNormBlock.forward.cond": "not read: so that all blocks are called alike",
    "mistakes.Port.name": "words for a table",
    "mistakes.Port.right": "words for a table",
    "mistakes.Port.wrong": "words for a table",
    "mistakes.Port.source": "words for a table",
    "mistakes.Port.url": "words for a table",
    **{
        f"mistakes.{name}": "an AdaRMSNorm or TimeMLP with one mistake: it refuses what those refuse"
        for name in (
            "BiasLeftRandom",
            "GateLeftOut",
            "PlainNorm",
            "PlusOneForgotten",
            "OrderSwapped",
            "SquaresInInputFormat",
            "TimeReversed",
        )
    },
    "training.save_checkpoint.notes": "any facts that JSON can hold",
    "sliders.control.name": "the name of a keyword argument, for the message",
    "figures.style.View": "has no arguments of its own; its subclasses' are held against their annotations",
    "figures.given": "what refuses for the pictures; tested through every view",
    "figures.inside.layer_colors": "called by pictures with a number of layers that was looked at",
    "figures.real_pi05.Told": "asked for the parts and halves that the pictures beside it name",
}
