"""helpers.probes: reading a model and overruling it, on small models with random weights."""

from contextlib import ExitStack

import pytest
import torch

from helpers import probes
from helpers.action_expert import CONDITIONINGS, ActionExpert, ExpertConfig
from helpers.flow import interpolate

FLAT = ExpertConfig(width=8, depth=3, mlp_width=12, observation_dim=4, one_token=True)
ATTENTION = ExpertConfig(
    width=8, depth=2, mlp_width=12, num_heads=2, head_dim=4, horizon=5, observation_dim=4
)


def _model(config=FLAT, conditioning="adarms"):
    """No weight is zero, so that every part matters."""
    torch.manual_seed(0)
    model = ActionExpert(config, conditioning)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    return model.eval()


def _input(config=FLAT, n=6):
    torch.manual_seed(1)
    return torch.randn(n, config.horizon, 2), torch.rand(n), torch.randn(n, 4)


@pytest.fixture(autouse=True)
def _no_grad():
    with torch.no_grad():
        yield


def test_modulations_are_what_the_norms_compute():
    model, time = _model(), torch.tensor([0.0, 0.4, 1.0])
    told = probes.modulations(model, time)
    assert list(told) == ["layer 0", "layer 1", "layer 2", "final norm"]
    norm = model.transformer.blocks[1].feed_forward_norm
    wanted = norm.scale_shift_gate(torch.zeros(3, 1, 8), model.time_mlp(time))
    for found, part in zip(told["layer 1"], wanted, strict=True):
        torch.testing.assert_close(found, part[:, 0])
    names = list(probes.modulations(_model(ATTENTION), time))
    assert names[:2] == ["layer 0 attention", "layer 0 feed-forward"] and len(names) == 5


def test_constant_share():
    assert probes.constant_share(torch.tensor([[2.0, 1.0], [2.0, -1.0]])) == pytest.approx(0.8)
    assert probes.constant_share(torch.ones(5, 3)) == pytest.approx(1)
    assert probes.constant_share(torch.tensor([[1.0], [-1.0]])) == 0
    with pytest.raises(ValueError, match="all zero"):
        probes.constant_share(torch.zeros(4, 2))


@pytest.mark.parametrize("conditioning", ["adarms", "input", "added", "added_gated"])
def test_a_lie_told_everywhere_is_another_time(conditioning):
    model, (x_t, time, observation) = _model(conditioning=conditioning), _input()
    honest, other = model(x_t, time, observation), torch.full_like(time, 0.3)
    with probes.lie(model, 0.3):
        torch.testing.assert_close(model(x_t, time, observation), model(x_t, other, observation))
    with probes.lie(model, time):  # the truth, member by member
        torch.testing.assert_close(model(x_t, time, observation), honest)
    assert torch.equal(model(x_t, time, observation), honest), "the lie must end with its block"


@pytest.mark.parametrize("config", [FLAT, ATTENTION])
def test_a_lie_to_one_layer_changes_that_layer_alone(config):
    model, (x_t, time, observation) = _model(config), _input(config)
    honest = probes.residual_stream(model, x_t, time, observation).states
    with probes.lie(model, 0.9, "layer 1"):
        told = probes.residual_stream(model, x_t, time, observation).states
    assert torch.equal(told[:2], honest[:2]) and not torch.allclose(told[2], honest[2])


def test_a_lie_ends_when_the_block_raises():
    model, (x_t, time, observation) = _model(), _input()
    honest = model(x_t, time, observation)
    with pytest.raises(RuntimeError), probes.lie(model, 0.9):
        raise RuntimeError
    assert torch.equal(model(x_t, time, observation), honest)


def test_lies_that_cannot_be_told():
    with pytest.raises(ValueError, match="place must be one of None, 'layer 0'"):
        probes.lie(_model(), 0.5, "layer 9").__enter__()
    with pytest.raises(ValueError, match="told must lie in"):
        probes.lie(_model(), 1.5).__enter__()
    for conditioning, place in (("added", "layer 0"), ("none", None)):
        with pytest.raises(ValueError, match='conditioning "adarms"'):
            probes.lie(_model(conditioning=conditioning), 0.5, place).__enter__()
    with pytest.raises(TypeError, match="ActionExpert"):
        probes.lie(torch.nn.Linear(2, 2), 0.5).__enter__()


@pytest.mark.parametrize("part", probes.PARTS)
def test_held_at_one_time_a_part_is_right_there_and_wrong_elsewhere(part):
    model, (x_t, _, observation) = _model(), _input()
    held_at, elsewhere = torch.full((6,), 0.3), torch.full((6,), 0.8)
    there, away = model(x_t, held_at, observation), model(x_t, elsewhere, observation)
    with probes.hold(model, part, torch.tensor([0.3])):
        torch.testing.assert_close(model(x_t, held_at, observation), there)
        assert not torch.allclose(model(x_t, elsewhere, observation), away)
    assert torch.equal(model(x_t, elsewhere, observation), away)
    with pytest.raises(ValueError, match="part must be one of"):
        probes.hold(model, "bias", held_at).__enter__()


def test_all_parts_held_at_one_time_are_a_lie_told_everywhere():
    model, (x_t, time, observation) = _model(), _input()
    now = torch.tensor([0.3])
    with probes.lie(model, 0.3):
        wanted = model(x_t, time, observation)
    with ExitStack() as held:
        for part in probes.PARTS:
            held.enter_context(probes.hold(model, part, now))
        torch.testing.assert_close(model(x_t, time, observation), wanted)


@pytest.mark.parametrize("config", [FLAT, ATTENTION])
@pytest.mark.parametrize("conditioning", CONDITIONINGS)
def test_the_stream_is_its_start_and_what_was_written(config, conditioning):
    model, (x_t, time, observation) = _model(config, conditioning), _input(config)
    stream = probes.residual_stream(model, x_t, time, observation)
    assert len(stream.states) == config.depth + 1 and len(stream.writes) == config.depth
    torch.testing.assert_close(stream.states[1:], stream.states[:-1] + stream.writes)
    parts = torch.cat([stream.states[:1], stream.writes])
    assert probes.shares(parts, stream.states[-1]).sum() == pytest.approx(1, abs=1e-4)


def test_shares_count_what_points_against_the_total_below_zero():
    parts = torch.tensor([[3.0, 0.0], [-1.0, 0.0], [0.0, 2.0]])
    torch.testing.assert_close(probes.shares(parts, parts.sum(0)), torch.tensor([0.75, -0.25, 0.5]))
    with pytest.raises(ValueError, match="total"):
        probes.shares(parts, torch.zeros(3))


def test_the_probe_finds_a_straight_line_and_only_that():
    torch.manual_seed(0)
    time = torch.rand(4000)
    features = torch.randn(4000, 5)
    blind = features.clone()
    features[:, 2] += 3 * time
    features *= 100  # the ridge is relative: a scale changes nothing
    weight, bias = probes.fit_probe(features, time)
    found = probes.r_squared(features.double() @ weight + bias, time.double())
    # The noise in feature 2 has variance 1, the signal 9/12.
    assert found == pytest.approx(0.75 / 1.75, abs=0.03)
    weight, bias = probes.fit_probe(blind, time)
    assert abs(probes.r_squared(blind.double() @ weight + bias, time.double())) < 0.01


def test_r_squared():
    truth = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    assert torch.equal(probes.r_squared(truth, truth), torch.ones(2))
    assert torch.equal(probes.r_squared(truth.mean(0).expand(2, 2), truth), torch.zeros(2))
    assert (probes.r_squared(-truth, truth) < 0).all()


def test_cosine_waves_and_bands():
    waves = probes.cosine_waves(16)
    torch.testing.assert_close(waves @ waves.T, torch.eye(16), atol=1e-5, rtol=0)
    flat = probes.in_bands(torch.ones(1, 16, 2))
    torch.testing.assert_close(flat[0, 0], torch.full((2,), 4.0))
    assert flat[0, 1:].abs().max() < 1e-5
    zigzag = torch.tensor([1.0, -1.0]).repeat(8)
    assert (waves @ zigzag).abs().argmax() == 15
    x_t = interpolate(torch.randn(3, 16, 2), torch.randn(3, 16, 2), torch.rand(3))
    torch.testing.assert_close(
        probes.in_bands(x_t).square().sum(), x_t.square().sum(), msg="energy is kept"
    )


def test_half_known_reads_between_the_points():
    assert probes.half_known([0.9, 0.7, 0.3, 0.1], [0.1, 0.2, 0.4, 1.0]) == pytest.approx(0.3)
    assert probes.half_known([0.2, 0.8, 0.2, 0.6], [0.1, 0.2, 0.4, 1.0]) == 1.0
    with pytest.raises(ValueError, match="above one half somewhere"):
        probes.half_known([0.1, 0.2], [0.5, 1.0])
    with pytest.raises(ValueError, match="one value for each of 2 times"):
        probes.half_known([0.1], [0.5, 1.0])


@pytest.mark.parametrize(
    "call,says",
    [
        (lambda: probes.modulations(_model(conditioning="none"), torch.ones(2)), "adarms"),
        (lambda: probes.modulations(_model(), torch.tensor([2.0])), "time must lie in"),
        (lambda: probes.fit_probe(torch.ones(3, 2), torch.ones(4)), "time"),
        (lambda: probes.fit_probe(torch.full((3, 2), torch.nan), torch.ones(3)), "features"),
        (lambda: probes.r_squared(torch.ones(3), torch.ones(4)), "truth"),
        (lambda: probes.in_bands(torch.ones(3, 2)), "chunk"),
        (lambda: probes.cosine_waves(0), "length"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
