"""The model: its size, its start, what each conditioning changes, and torch's transformations."""

import copy
import pickle
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.func import functional_call, jacfwd, jacrev, stack_module_state, vmap

from helpers.action_expert import (
    CONDITIONINGS,
    ActionExpert,
    ExpertConfig,
    TwoExpertTransformer,
)
from helpers.blocks import check_zero_init
from helpers.flow import euler_sample
from helpers.norms import AdaRMSNorm, RMSNorm, zero_init_modulations

SMALL = ExpertConfig(
    width=8, depth=2, mlp_width=16, num_heads=2, head_dim=4, horizon=3, observation_dim=4
)
SMALL_ONE_TOKEN = replace(SMALL, one_token=True)
jit_is_deprecated = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def inputs(batch=2, config=SMALL):
    x_t = torch.randn(batch, config.horizon, config.action_dim)
    observation = torch.randn(batch, 4) if config.observation_dim else None
    return x_t, torch.linspace(0.1, 0.9, batch), observation


def opened(config=SMALL, conditioning="adarms"):
    """A model in which every parameter is random, as after some training."""
    model = ActionExpert(config, conditioning)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_parameters_at_the_real_size():
    with torch.device("meta"):
        plain = ActionExpert(replace(ExpertConfig.GEMMA_300M, observation_dim=32), "input")
        adarms = ActionExpert(ExpertConfig.GEMMA_300M, "adarms")
    assert count(plain.transformer) == 311_464_960
    assert count(adarms.transformer) == 427_932_672
    norms = [m for m in adarms.modules() if isinstance(m, AdaRMSNorm)]
    assert len(norms) == 37 and count(norms[0]) == 3_148_800
    assert sum(map(count, norms)) == 116_505_600
    plain_norms = [m for m in plain.modules() if isinstance(m, RMSNorm)]
    assert len(plain_norms) == 37 and sum(map(count, plain_norms)) == 37_888
    assert count(adarms.time_mlp) == 2_099_200
    assert count(plain.time_mlp) + count(plain.observation_in) == 3_181_568


@pytest.mark.parametrize("conditioning", CONDITIONINGS)
@pytest.mark.parametrize("config", [SMALL, SMALL_ONE_TOKEN, replace(SMALL, observation_dim=0)])
def test_shape_in_shape_out(config, conditioning):
    x_t, time, observation = inputs(config=config)
    model = ActionExpert(config, conditioning)
    v_t = model(x_t, time, observation)
    assert v_t.shape == x_t.shape and v_t.isfinite().all()
    empty = [None if i is None else i[:0] for i in (x_t, time, observation)]
    assert model(*empty).shape == (0, *x_t.shape[1:])
    v_t.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize("config", [SMALL, SMALL_ONE_TOKEN])
@pytest.mark.parametrize("conditioning", CONDITIONINGS)
def test_who_is_told_the_time(config, conditioning):
    model = opened(config, conditioning)
    x_t, time, observation = inputs(config=config)
    early, late = model(x_t, time, observation), model(x_t, 0.5 * time, observation)
    assert torch.equal(early, late) == (conditioning == "none")
    assert not torch.equal(early, model(x_t, time, observation + 1))
    assert not torch.equal(early, model(x_t + 1, time, observation))


@pytest.mark.parametrize("conditioning", CONDITIONINGS)
def test_rows_do_not_mix_and_actions_see_each_other(conditioning):
    model = opened(SMALL, conditioning)
    x_t, time, observation = inputs(batch=3)
    whole = model(x_t, time, observation)
    torch.testing.assert_close(model(x_t[1:2], time[1:2], observation[1:2]), whole[1:2])
    moved = x_t.clone()
    moved[:, -1] += 1  # the last action changes the velocity of the first: one block, both ways
    assert not torch.equal(model(moved, time, observation)[:, 0], whole[:, 0])


def test_the_observation_token_does_not_see_the_actions():
    suffix = ActionExpert(SMALL).embed_suffix(*inputs())
    assert suffix.tokens.shape == (2, 4, 8)
    assert suffix.block_starts.tolist() == [True, True, False, False]
    assert suffix.input_mask.all()


def test_blocks_are_the_same_but_for_their_norms_and_gates():
    sizes = {}
    for conditioning in CONDITIONINGS:
        model = ActionExpert(SMALL, conditioning)
        sizes[conditioning] = {
            name: tuple(p.shape)
            for name, p in model.transformer.named_parameters()
            if "norm" not in name and "_gate" not in name
        }
        assert sizes[conditioning] == sizes["adarms"]
        assert set(sizes[conditioning]), "there is something to compare"


@pytest.mark.parametrize("config", [SMALL, SMALL_ONE_TOKEN])
def test_every_block_starts_as_the_identity(config):
    model, (x_t, time, observation) = ActionExpert(config), inputs(config=config)
    report = check_zero_init(model)
    assert report and report.blocks == config.depth
    # So nothing depends on the time yet, and the network is its projections and one plain norm.
    assert torch.equal(model(x_t, time, observation), model(x_t, 1 - time, observation))
    tokens = model.embed_suffix(x_t, time, observation).tokens
    plain = RMSNorm(config.width)(tokens)
    assert torch.equal(model(x_t, time, observation), model.read_actions(plain))
    assert check_zero_init(ActionExpert(config, "added_gated"))
    for conditioning in ("input", "added", "none"):
        assert len(check_zero_init(ActionExpert(config, conditioning)).not_identity) == config.depth


def test_a_parents_init_breaks_it_and_one_call_mends_it():
    model = ActionExpert(SMALL)

    def init(module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)

    model.apply(init)
    report = check_zero_init(model)
    assert not report and len(report.not_identity) == 2 and len(report.open_gates) == 5
    assert zero_init_modulations(model) == 5
    assert check_zero_init(model)


def test_what_moves_first():
    """Step 0: gates, final norm, projections. Step 1: all but the final norm's gate, which never does."""
    model = ActionExpert(SMALL)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def moving():
        optimizer.zero_grad()
        model(*inputs(batch=8)).square().sum().backward()
        parts = {}
        for name, p in model.named_parameters():
            if "modulation" in name:
                scale, shift, gate = p.grad.chunk(3)
                pieces = {"scale": scale, "shift": shift, "gate": gate}
            else:
                pieces = {"": p.grad}
            for part, grad in pieces.items():
                parts[f"{name} {part}".strip()] = bool(grad.any())
        return parts

    first = moving()
    for name, moves in first.items():
        final, modulation = "final_norm" in name, "modulation" in name
        if modulation:
            expected = name.endswith(("scale", "shift")) if final else name.endswith("gate")
        else:
            expected = name.startswith(("action_in", "action_out", "observation_in"))
            # Actions do not read the observation token while the blocks write nothing.
            expected = expected and not name.startswith("observation_in")
        assert moves == expected, name
    optimizer.step()
    second = moving()
    still = [name for name, moves in second.items() if not moves]
    assert still == [f"transformer.final_norm.modulation.{p} gate" for p in ("weight", "bias")]


@pytest.mark.parametrize("conditioning", CONDITIONINGS)
@pytest.mark.parametrize("config", [SMALL, SMALL_ONE_TOKEN])
@jit_is_deprecated
def test_under_torch_func(config, conditioning):
    model = opened(config, conditioning)
    x_t, time, observation = inputs(config=config)

    def one(x_t, time, observation):
        return model(x_t[None], time[None], observation[None])[0]

    whole = model(x_t, time, observation)
    torch.testing.assert_close(vmap(one)(x_t, time, observation), whole)
    backward, forward = (
        vmap(jacobian(one, argnums=(0, 1)))(x_t, time, observation) for jacobian in (jacrev, jacfwd)
    )
    torch.testing.assert_close(backward, forward, rtol=1e-3, atol=1e-4)
    assert backward[0].shape == (2, 3, 2, 3, 2)


def test_several_models_at_once():
    models = [opened() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    x_t, time, observation = inputs()
    skeleton = copy.deepcopy(models[0]).to("meta")

    def one(parameters, buffers):
        return functional_call(skeleton, (parameters, buffers), (x_t, time, observation))

    expected = torch.stack([model(x_t, time, observation) for model in models])
    torch.testing.assert_close(vmap(one)(parameters, buffers), expected)


@pytest.mark.parametrize("conditioning", CONDITIONINGS)
def test_meta_copies_pickles_and_repr(conditioning):
    model, (x_t, time, observation) = opened(SMALL, conditioning), inputs()
    expected = model(x_t, time, observation)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other(x_t, time, observation), expected)
        assert other.config == SMALL and other.conditioning == conditioning
    fresh = ActionExpert(SMALL, conditioning)
    fresh.load_state_dict(model.state_dict())
    assert torch.equal(fresh(x_t, time, observation), expected)
    meta = copy.deepcopy(model).to("meta")
    assert meta(x_t.to("meta"), time.to("meta"), observation.to("meta")).shape == x_t.shape
    text = repr(model)
    assert ("AdaRMSBlock" if conditioning == "adarms" else "PreNormBlock") in text
    assert "final_norm" in text
    assert model.double()(x_t.double(), time.double(), observation.double()).dtype == torch.float64


def test_presets():
    assert ExpertConfig.REACH.one_token and not ExpertConfig.TINY.one_token
    for config in (ExpertConfig.REACH, ExpertConfig.TINY):
        x_t, time, observation = inputs(config=config)
        assert ActionExpert(config)(x_t, time, observation).shape == (2, 16, 2)


def make_joint(conditioning="adarms"):
    prefix = replace(SMALL, width=6, mlp_width=8, observation_dim=0)
    model = TwoExpertTransformer(prefix, replace(SMALL, observation_dim=0), conditioning)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


def test_prefix_is_read_and_its_padding_is_not():
    model, (x_t, time, _) = make_joint(), inputs()
    tokens, mask = torch.randn(2, 4, 6), torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    v_t = model(tokens, mask, x_t, time)
    moved = tokens.clone()
    moved[:, 3] += 1
    changed = model(moved, mask, x_t, time)
    assert torch.equal(changed[0], v_t[0]) and not torch.equal(changed[1], v_t[1])
    # Padding also takes no position: the same tokens without it give the same velocity.
    short = model(tokens[:1, :3], mask[:1, :3], x_t[:1], time[:1])
    torch.testing.assert_close(short, v_t[:1])


def test_one_prefix_serves_all_euler_steps():
    model, (noise, _, _) = make_joint(), inputs()
    tokens, mask = torch.randn(2, 4, 6), torch.ones(2, 4, dtype=torch.int)
    cache = model.encode_prefix(tokens, mask)
    assert [k.shape for k, _ in cache.keys_and_values] == [(2, 4, 1, 4)] * 2
    with_cache = euler_sample(lambda x, t: model.velocity(cache, x, t), noise, 3)
    without = euler_sample(lambda x, t: model(tokens, mask, x, t), noise, 3)
    assert torch.equal(with_cache, without)


def test_pi0s_way_with_a_prefix():
    model, (x_t, time, _) = make_joint("input"), inputs()
    tokens, mask = torch.randn(2, 4, 6), torch.ones(2, 4, dtype=torch.int)
    early, late = (model(tokens, mask, x_t, t) for t in (time, 0.5 * time))
    assert early.shape == x_t.shape and not torch.equal(early, late)
