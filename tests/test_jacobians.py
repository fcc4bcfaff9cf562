"""Jacobians against closed forms and torch's own, and the stacks they are taken of."""

import warnings

import pytest
import torch
import torch.nn.functional as F

from helpers.blocks import PreNormBlock
from helpers.jacobians import along_depth, singular_values, token_jacobian
from helpers.norms import layer_norm, rms_norm
from helpers.stacks import FEED_FORWARDS, PLACEMENTS, random_stack


def _tokens(tokens=4, width=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tokens, width, generator=generator, dtype=torch.float64)


def _through(stack):
    def function(hidden_states):
        for layer in stack:
            hidden_states = layer(hidden_states)
        return hidden_states

    return function


def _small(placement, depth=3, **options):
    return random_stack(placement, depth, width=8, num_heads=2, mlp_width=16, **options)


def test_of_a_matrix_it_is_the_matrix():
    matrix = _tokens(8, 8, seed=1)
    torch.testing.assert_close(token_jacobian(lambda x: x @ matrix.T, _tokens()), matrix)


def test_of_rms_norm_it_is_the_projection():
    x = _tokens(1)
    mean_square = x[0].square().mean() + 1e-6
    wanted = torch.eye(8).double() - torch.outer(x[0], x[0]) / (8 * mean_square)
    torch.testing.assert_close(token_jacobian(rms_norm, x), wanted / mean_square.sqrt())


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("feed_forward", FEED_FORWARDS)
@pytest.mark.parametrize("token", [0, 2, -1])
def test_agrees_with_autograd_and_along_depth(placement, feed_forward, token):
    stack, x = _small(placement, feed_forward=feed_forward), _tokens()

    def output_of(pushed):
        moved = torch.stack([pushed if i == token % 4 else row for i, row in enumerate(x)])
        return _through(stack)(moved[None])[0, token]

    wanted = torch.autograd.functional.jacobian(output_of, x[token])
    torch.testing.assert_close(token_jacobian(_through(stack), x, token), wanted)
    streams, jacobians = along_depth(stack, x, token)
    assert streams.shape == (4, 4, 8) and jacobians.shape == (3, 8, 8)
    torch.testing.assert_close(jacobians[-1], wanted)
    torch.testing.assert_close(streams[0], x)
    torch.testing.assert_close(streams[-1], _through(stack)(x[None])[0])
    torch.testing.assert_close(jacobians[0], token_jacobian(stack[0], x, token))


def test_fused_attention_is_differentiated_without_a_warning():
    def function(x):
        return F.scaled_dot_product_attention(x[None], x[None], x[None])[0]

    x = _tokens()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_token = token_jacobian(function, x)
        _, jacobians = along_depth([function], x)
    torch.testing.assert_close(by_token, jacobians[0])


def test_stops_where_a_stack_overflows():
    doubling = [lambda x: 1e200 * x] * 5
    streams, jacobians = along_depth(doubling, _tokens())
    assert len(streams) == 2 and len(jacobians) == 1 and streams.isfinite().all()
    streams, jacobians = along_depth([lambda x: x * torch.inf], _tokens())
    assert len(streams) == 1 and jacobians.shape == (0, 8, 8)


def test_what_norms_kill():
    x = 3 * rms_norm(_tokens(1))
    for norm, dead in ((rms_norm, 1), (layer_norm, 2)):
        _, jacobians = along_depth([norm] * 20, x)
        assert int((singular_values(jacobians[-1]) < 1e-6).sum()) == dead
    alive = singular_values(along_depth([rms_norm] * 20, x)[1][-1])[:-1]
    torch.testing.assert_close(alive, torch.full_like(alive, 1 / 3), atol=1e-6, rtol=0)


def test_singular_values_are_sorted_and_batched():
    diagonal = torch.diag(torch.tensor([1.0, -3.0, 2.0]))
    assert singular_values(diagonal).tolist() == pytest.approx([3.0, 2.0, 1.0])
    assert singular_values(diagonal.expand(2, 3, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    "call,error,says",
    [
        (lambda: token_jacobian(rms_norm, torch.zeros(2, 3, 4)), ValueError, "1, tokens, width"),
        (lambda: token_jacobian(rms_norm, torch.zeros(4)), ValueError, "1, tokens, width"),
        (lambda: token_jacobian(rms_norm, torch.zeros(3, 4), 3), ValueError, "between -3 and 2"),
        (lambda: along_depth([], torch.zeros(3, 4), 0.0), TypeError, "token must be an integer"),
        (lambda: along_depth([], [[1.0]]), TypeError, "hidden_states"),
        (lambda: singular_values(torch.zeros(3)), ValueError, "width, width"),
        (lambda: random_stack("both", 2), ValueError, "'pre', 'post'"),
        (lambda: random_stack("pre", 2, feed_forward="relu"), ValueError, "'GELU', 'gated GELU'"),
        (lambda: random_stack("pre", 0), ValueError, "depth"),
        (lambda: random_stack("pre", 2, strength=-1.0), ValueError, "strength"),
        (lambda: random_stack("pre", 2, seed=-1), ValueError, "seed"),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_seed_gives_the_same_branches_under_every_placement():
    before = torch.random.get_rng_state()
    stacks = [_small(placement, seed=3) for placement in ("pre", "post", "none")]
    assert torch.equal(before, torch.random.get_rng_state())
    weights = [stack[1].feed_forward.down.weight for stack in stacks]
    assert torch.equal(weights[0], weights[1]) and torch.equal(weights[0], weights[2])
    assert not torch.equal(weights[0], _small("pre", seed=4)[1].feed_forward.down.weight)


def test_strength_multiplies_each_branch():
    x = _tokens()[None]
    full, half = _small("none", depth=1)[0], _small("none", depth=1, strength=0.5)[0]
    torch.testing.assert_close(half.attention(x), full.attention(x) / 2)
    torch.testing.assert_close(half.feed_forward(x), full.feed_forward(x) / 2)
    off = _small("pre", strength=0.0)
    assert torch.equal(_through(off)(x), x)


def test_placements_are_what_they_say():
    x = _tokens()[None]
    layers = {placement: _small(placement, depth=1)[0] for placement in PLACEMENTS}
    attention, feed_forward = layers["pre"].attention, layers["pre"].feed_forward

    def formula(one):
        return one(one(x, attention), feed_forward)

    formulas = {
        "pre": lambda x, branch: x + branch(rms_norm(x)),
        "post": lambda x, branch: rms_norm(x + branch(x)),
        "none": lambda x, branch: x + branch(x),
        "peri": lambda x, branch: x + rms_norm(branch(rms_norm(x))),
        "ada": lambda x, branch: x,
    }
    for placement, one in formulas.items():
        torch.testing.assert_close(layers[placement](x), formula(one))
    assert isinstance(layers["pre"], PreNormBlock)
