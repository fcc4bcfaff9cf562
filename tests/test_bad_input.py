"""Wrong input: a ValueError or TypeError that names the argument and says what came or what is allowed."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from helpers import blocks, data, embeddings, flow, norms
from helpers.action_expert import ActionExpert, ExpertConfig, TwoExpertTransformer

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


def test_norms_and_blocks_pass_nan_on():
    """They do not look at values: a lesson shows stacks that overflow."""
    assert (
        norms.rms_norm(WITH_NAN)[1].isnan().all() and norms.rms_norm(WITH_NAN)[0].isfinite().all()
    )
    assert BLOCK(WITH_NAN, COND)[1].isnan().all()
    assert EXPERT(CHUNK, TIME + 1, OBSERVATION).isfinite().all()
