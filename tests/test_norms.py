"""The norms against torch's own, against their definitions, and under autograd."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from helpers.norms import (
    AdaRMSNorm,
    RMSNorm,
    gated_residual,
    layer_norm,
    modulate,
    rms_norm,
    zero_init_modulations,
)

repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=60)
# jacfwd loads torch's own decompositions, which still use torch.jit.
jit_is_deprecated = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


def draw(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(7,), (2, 7), (2, 3, 7), (0, 7), (3, 1)])
def test_norms_agree_with_torch(shape, dtype):
    x, weight = draw(*shape, dtype=dtype), draw(shape[-1], seed=1, dtype=dtype)
    theirs = nn.RMSNorm(shape[-1], eps=1e-6, dtype=dtype)
    torch.testing.assert_close(rms_norm(x), theirs(x))
    theirs.weight.data.copy_(1 + weight)
    torch.testing.assert_close(rms_norm(x, weight), theirs(x))
    ours = RMSNorm(shape[-1]).to(dtype)
    ours.scale.data.copy_(weight)
    torch.testing.assert_close(ours(x), theirs(x))
    theirs = nn.LayerNorm(shape[-1], eps=1e-6, elementwise_affine=False, dtype=dtype)
    torch.testing.assert_close(layer_norm(x), theirs(x))


def test_norms_are_their_formulas():
    x, scale, eps = draw(4, 6, dtype=torch.float64), draw(6, seed=1, dtype=torch.float64), 0.1
    formula = x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * (1 + scale)
    torch.testing.assert_close(rms_norm(x, scale, eps), formula)
    centred = x - x.mean(-1, keepdim=True)
    formula = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    torch.testing.assert_close(layer_norm(x, eps), formula)


def test_half_precision_keeps_float32_statistics():
    # A square of 1e4 overflows float16, and bfloat16 has 8 bits for it.
    for dtype in (torch.float16, torch.bfloat16):
        x = (1e4 * draw(3, 8)).to(dtype)
        scale = draw(8, seed=1)
        for ours, exact in (
            (rms_norm(x, scale), rms_norm(x.double(), scale.double())),
            (layer_norm(x), layer_norm(x.double())),
        ):
            assert ours.dtype == dtype
            # The nearest number that this dtype has, or its neighbour.
            torch.testing.assert_close(ours.double(), exact, rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_layer_norm_of_a_constant_vector_in_half_precision():
    for dtype in (torch.float16, torch.bfloat16):
        assert not layer_norm(torch.full((2, 8), 1e4, dtype=dtype)).any()


def test_half_precision_is_rounded_once():
    # torch's kernel, given half numbers, rounds before it multiplies by the weight.
    x, scale = draw(64, 32, dtype=torch.bfloat16), draw(32, seed=1)
    assert torch.equal(rms_norm(x, scale), rms_norm(x.float(), scale).bfloat16())


@repeatable
@given(seed=st.integers(0, 1000), factor=st.floats(1e-2, 1e4))
def test_both_ignore_a_positive_scale(seed, factor):
    x = draw(3, 16, seed=seed, dtype=torch.float64)
    torch.testing.assert_close(rms_norm(factor * x, eps=0), rms_norm(x, eps=0))
    torch.testing.assert_close(layer_norm(factor * x, eps=0), layer_norm(x, eps=0))
    torch.testing.assert_close(rms_norm(-factor * x, eps=0), -rms_norm(x, eps=0))


@repeatable
@given(seed=st.integers(0, 1000), shift=st.floats(-100, 100).filter(lambda c: abs(c) > 0.1))
def test_only_layer_norm_ignores_a_shift(seed, shift):
    x = draw(3, 16, seed=seed, dtype=torch.float64)
    torch.testing.assert_close(layer_norm(x + shift), layer_norm(x))
    assert (rms_norm(x + shift) - rms_norm(x)).abs().max() > 1e-3


@repeatable
@given(seed=st.integers(0, 1000), width=st.integers(2, 64))
def test_images_lie_on_the_sphere(seed, width):
    x = draw(5, width, seed=seed, dtype=torch.float64)
    radius = torch.full((5,), width**0.5, dtype=torch.float64)
    torch.testing.assert_close(rms_norm(x, eps=0).norm(dim=-1), radius)
    torch.testing.assert_close(layer_norm(x, eps=0).norm(dim=-1), radius)
    torch.testing.assert_close(layer_norm(x).sum(-1), torch.zeros(5).double(), atol=1e-9, rtol=0)


@repeatable
@given(
    dtype=st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]),
    width=st.integers(1, 9),
)
def test_dtype_is_kept_and_zero_stays_zero(dtype, width):
    x = torch.zeros(2, width, dtype=dtype)
    for out in (rms_norm(x), rms_norm(x, torch.ones(width)), layer_norm(x)):
        assert out.dtype == dtype and not out.any()


def test_gradients():
    x, y = (draw(2, 3, 4, seed=s, dtype=torch.float64).requires_grad_() for s in (0, 1))
    scale, shift, gate = (
        draw(2, 1, 4, seed=s, dtype=torch.float64).requires_grad_() for s in (2, 3, 4)
    )
    weight = draw(4, seed=5, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(rms_norm, (x, weight))
    assert torch.autograd.gradcheck(layer_norm, (x,))
    assert torch.autograd.gradcheck(modulate, (x, scale, shift))
    assert torch.autograd.gradcheck(gated_residual, (x, y, gate))


def test_ada_rms_norm_gradients():
    norm = AdaRMSNorm(4, 5).double()
    kernel, bias = (draw(*p.shape, seed=7, dtype=torch.float64) for p in norm.parameters())

    def forward(x, cond, kernel, bias):
        params = {"modulation.weight": kernel, "modulation.bias": bias}
        return torch.func.functional_call(norm, params, (x, cond))

    for cond in (draw(2, 5, seed=8), draw(2, 3, 5, seed=8)):
        inputs = [draw(2, 3, 4), cond, kernel, bias]
        inputs = [i.double().requires_grad_() for i in inputs]
        assert torch.autograd.gradcheck(forward, inputs)


@jit_is_deprecated
def test_norms_under_torch_func():
    x, scale = draw(5, 6), draw(6, seed=1)
    for norm in (rms_norm, layer_norm):
        backward = torch.func.vmap(torch.func.jacrev(norm))(x)
        torch.testing.assert_close(torch.func.vmap(torch.func.jacfwd(norm))(x), backward)
        assert norm(x.to("meta")).shape == x.shape
    mapped = torch.func.vmap(rms_norm, in_dims=(0, None))(x, scale)
    torch.testing.assert_close(mapped, rms_norm(x, scale))


def test_modulation_is_split_as_scale_shift_gate():
    norm = AdaRMSNorm(2, 1)
    norm.modulation.bias.data = torch.tensor([1.0, 2, 10, 20, 100, 200])
    x = torch.tensor([[[3.0, -3.0]]])
    normed, gate = norm(x, torch.zeros(1, 1))
    torch.testing.assert_close(normed, torch.tensor([[[2.0 + 10, -3.0 + 20]]]), atol=1e-5, rtol=0)
    assert gate.tolist() == [[[100, 200]]]


def test_ada_rms_norm_starts_as_the_plain_norm():
    norm, x = AdaRMSNorm(8, 5), draw(2, 3, 8)
    normed, gate = norm(x, draw(2, 5, seed=1))
    assert torch.equal(normed, rms_norm(x))
    assert gate.shape == (2, 1, 8) and not gate.any()
    assert not norm.modulation.weight.any() and not norm.modulation.bias.any()


def test_one_cond_for_all_tokens_is_the_same_cond_for_each():
    norm = AdaRMSNorm(8, 5)
    nn.init.normal_(norm.modulation.weight)
    x, cond = draw(2, 3, 8), draw(2, 5, seed=1)
    normed, gate = norm(x, cond)
    normed_each, gate_each = norm(x, cond[:, None].expand(2, 3, 5))
    torch.testing.assert_close(normed_each, normed)
    torch.testing.assert_close(gate_each, gate.expand(2, 3, 8))


def test_ada_rms_norm_in_bfloat16_modulates_in_float32():
    norm, x, cond = AdaRMSNorm(8, 5), draw(2, 3, 8, dtype=torch.bfloat16), draw(2, 5, seed=1)
    nn.init.normal_(norm.modulation.weight)
    normed, gate = norm(x, cond)
    exact, exact_gate = norm(x.float(), cond)
    assert normed.dtype == gate.dtype == torch.bfloat16
    assert torch.equal(normed, exact.bfloat16()) and torch.equal(gate, exact_gate.bfloat16())


def test_modulate_and_gate_take_numbers_and_vectors():
    x, vector = draw(2, 3, 4), draw(4, seed=1)
    torch.testing.assert_close(modulate(x, 1.0, 0.5), 2 * x + 0.5)
    torch.testing.assert_close(modulate(x, vector, torch.tensor(2.0)), x * (1 + vector) + 2)
    torch.testing.assert_close(gated_residual(x, x, 0.5), 1.5 * x)
    torch.testing.assert_close(gated_residual(x, x, None), 2 * x)


def test_a_parents_init_is_mended():
    class Parent(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(AdaRMSNorm(4, 4) for _ in range(3))
            self.other = nn.Linear(4, 4)

    def init(module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.normal_(module.bias, std=0.02)

    model = Parent().apply(init)
    other = copy.deepcopy(model.other)
    assert all(norm.modulation.weight.any() for norm in model.norms)
    assert zero_init_modulations(model) == 3
    assert not any(p.any() for norm in model.norms for p in norm.parameters())
    assert torch.equal(model.other.weight, other.weight)
    # apply() reaches a norm after its Dense, so a parent that calls reset_parameters is harmless.
    model.apply(lambda m: m.reset_parameters() if hasattr(m, "reset_parameters") else None)
    assert not any(p.any() for norm in model.norms for p in norm.parameters())
    plain = RMSNorm(4)
    plain.scale.data.fill_(3)
    plain.reset_parameters()
    assert not plain.scale.any()
