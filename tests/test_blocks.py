"""One layer: attention against torch's own, RoPE, masks, the three blocks, and the zero-init check."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.blocks import (
    AdaRMSBlock,
    Attention,
    FeedForward,
    GatedFeedForward,
    PostNormBlock,
    PreNormBlock,
    apply_rope,
    attention_mask,
    attention_weights,
    check_zero_init,
    token_positions,
)
from helpers.norms import gated_residual, modulate, rms_norm, zero_init_modulations

WIDTH = 8


def draw(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def make_attention():
    return Attention(WIDTH, num_heads=2, num_kv_heads=1, head_dim=4)


def open_up(block):
    """Random modulations, as after some training."""
    for norm in (block.attention_norm, block.feed_forward_norm):
        nn.init.normal_(norm.modulation.weight)
        nn.init.normal_(norm.modulation.bias)


def test_attention_agrees_with_torch():
    attention, x = make_attention(), draw(2, 5, WIDTH)
    mask = attention_mask(torch.ones(2, 5, dtype=torch.int), torch.tensor([0, 0, 1, 0, 1]))
    q = attention.queries(x).transpose(1, 2)
    k, v = (part.transpose(1, 2) for part in attention.keys_and_values(x))
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None], enable_gqa=True)
    theirs = attention.output(theirs.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x, mask=mask), theirs)


def test_query_heads_share_key_heads_in_groups():
    # Four query heads, two key heads: 0 and 1 read the first, 2 and 3 the second.
    queries = draw(1, 3, 1, 4).expand(1, 3, 4, 4)
    weights = attention_weights(queries, draw(1, 3, 2, 4, seed=1))
    assert torch.equal(weights[:, 0], weights[:, 1]) and torch.equal(weights[:, 2], weights[:, 3])
    assert not torch.allclose(weights[:, 0], weights[:, 2])
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 4, 3))


def test_a_query_that_sees_nothing_stays_finite():
    nothing = torch.zeros(1, 3, 3, dtype=torch.bool)
    assert make_attention()(draw(1, 3, WIDTH), mask=nothing).isfinite().all()


def test_past_keys_and_values_continue_the_sequence():
    """Attention over all tokens at once, and over the last three with the first two as past."""
    attention, x = make_attention(), draw(2, 5, WIDTH)
    mask = attention_mask(torch.ones(2, 5, dtype=torch.int), torch.tensor([0, 0, 1, 0, 0]))
    whole = attention(x, mask=mask)
    past = attention.keys_and_values(x[:, :2])
    last = attention(x[:, 2:], torch.arange(2, 5), mask[:, 2:], past)
    torch.testing.assert_close(last, whole[:, 2:])


def test_rope_turns_pairs_and_depends_on_distance_only():
    x = torch.tensor([1.0, 0, 0, 0]).view(1, 1, 1, 4)
    turned = apply_rope(x, torch.tensor([1]))[0, 0, 0]
    expected = torch.tensor([1.0, 0, 1, 0]) * torch.tensor([1.0]).cos()
    expected[2] = torch.tensor(1.0).sin()  # split in halves: 0 is paired with 2
    torch.testing.assert_close(turned, expected)
    q, k = draw(1, 1, 1, 4), draw(1, 1, 1, 4, seed=1)

    def product(i, j):
        return (apply_rope(q, torch.tensor([i])) * apply_rope(k, torch.tensor([j]))).sum()

    torch.testing.assert_close(product(3, 1), product(12, 10))
    assert torch.equal(apply_rope(q, torch.tensor([0])), q)
    half = apply_rope(q.bfloat16(), torch.tensor([[1]]))
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half, apply_rope(q.bfloat16().float(), torch.tensor([1])).bfloat16())


def test_mask_blocks_and_padding():
    mask = attention_mask(torch.tensor([[1, 0, 1, 1]]), torch.tensor([0, 0, 1, 0]))
    assert mask[0].int().tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1], [1, 0, 1, 1]]
    assert mask.dtype == torch.bool
    assert token_positions(torch.tensor([[1, 0, 1, 1]])).tolist() == [[0, 0, 1, 2]]


def test_feed_forwards_are_their_formulas():
    x, plain, gated = draw(2, WIDTH), FeedForward(WIDTH, 16), GatedFeedForward(WIDTH, 16)
    gelu = nn.GELU(approximate="tanh")
    torch.testing.assert_close(plain(x), gelu(x @ plain.up.weight.T) @ plain.down.weight.T)
    hidden = gelu(x @ gated.gate.weight.T) * (x @ gated.up.weight.T)
    torch.testing.assert_close(gated(x), hidden @ gated.down.weight.T)


def test_dense_layers_start_with_variance_one_over_inputs():
    for dense in (FeedForward(256, 512).up, FeedForward(256, 512).down, Attention(256, 4).query):
        assert dense.bias is None
        assert abs(dense.weight.var() * dense.in_features - 1) < 0.02


@pytest.mark.parametrize("with_attention", [True, False])
def test_pre_and_post_norm_blocks_are_their_formulas(with_attention):
    x, attention = draw(2, 3, WIDTH), make_attention() if with_attention else None
    feed_forward = FeedForward(WIDTH, 16)
    pre, post = x, x
    if attention:
        pre = x + attention(rms_norm(x))
        post = rms_norm(x + attention(x))
    pre = pre + feed_forward(rms_norm(pre))
    post = rms_norm(post + feed_forward(post))
    torch.testing.assert_close(PreNormBlock(WIDTH, attention, feed_forward)(x), pre)
    torch.testing.assert_close(PostNormBlock(WIDTH, attention, feed_forward)(x), post)


@pytest.mark.parametrize("with_attention", [True, False])
def test_adarms_block_is_its_formula(with_attention):
    x, cond = draw(2, 3, WIDTH), draw(2, 5, seed=1)
    attention, feed_forward = make_attention() if with_attention else None, FeedForward(WIDTH, 16)
    block = AdaRMSBlock(WIDTH, 5, attention, feed_forward)
    expected = x
    for norm, branch in (
        (block.attention_norm, attention),
        (block.feed_forward_norm, feed_forward),
    ):
        if branch:
            nn.init.normal_(norm.modulation.weight)
            scale, shift, gate = norm.modulation(cond)[:, None].chunk(3, dim=-1)
            read = modulate(rms_norm(expected), scale, shift)
            expected = gated_residual(expected, branch(read), gate)
    torch.testing.assert_close(block(x, cond), expected)


def test_post_norm_with_zero_branches_normalises_once():
    block = PostNormBlock(WIDTH, None, FeedForward(WIDTH, 16))
    nn.init.zeros_(block.feed_forward.down.weight)
    x = draw(2, 3, WIDTH)
    torch.testing.assert_close(block(block(block(x))), rms_norm(x), atol=1e-5, rtol=0)


def test_zero_init_check_sees_every_way_to_break_it():
    def fresh():
        ffn = GatedFeedForward(WIDTH, 16)
        return nn.Sequential(AdaRMSBlock(WIDTH, 5, make_attention(), ffn))

    model = fresh()
    report = check_zero_init(model)
    assert report and report.blocks == 1 and report.gates == 2
    assert str(report) == "zero init holds: 1 blocks are the identity, 2 gates are 0"

    norm = model[0].feed_forward_norm
    nn.init.uniform_(norm.modulation.bias[2 * WIDTH :].detach(), 0.1, 0.2)  # the gate's bias
    report = check_zero_init(model)
    assert not report and report.not_identity == ("0",)
    assert report.open_gates == ("0.feed_forward_norm",)
    assert "0.feed_forward_norm has a gate that is not 0" in str(report)

    model = fresh()
    model.apply(lambda m: nn.init.normal_(m.weight, std=0.02) if isinstance(m, nn.Linear) else None)
    assert not check_zero_init(model)
    assert zero_init_modulations(model) == 2
    assert check_zero_init(model)

    model = fresh()
    nn.init.normal_(model[0].attention_norm.modulation.weight[: 2 * WIDTH].detach())
    assert check_zero_init(model), (
        "scale and shift may be open: nothing is written while the gate is 0"
    )


def test_zero_init_check_of_constant_gates_and_plain_blocks():
    gated = PreNormBlock(WIDTH, make_attention(), FeedForward(WIDTH, 16), gated=True)
    report = check_zero_init(gated)
    assert report and report.gates == 2
    gated.attention_gate.data[3] = 0.5
    report = check_zero_init(gated)
    assert report.open_gates == (".attention_gate",) and report.not_identity == ("",)
    plain = PreNormBlock(WIDTH, None, FeedForward(WIDTH, 16))
    assert check_zero_init(plain).not_identity == ("",)
    nn.init.zeros_(plain.feed_forward.down.weight)
    assert check_zero_init(plain)


def test_blocks_in_bfloat16():
    block = AdaRMSBlock(WIDTH, 5, make_attention(), GatedFeedForward(WIDTH, 16))
    open_up(block)
    x, cond = draw(2, 3, WIDTH), draw(2, 5, seed=1)
    exact = block(x, cond)
    half = block.bfloat16()(x.bfloat16(), cond.bfloat16())
    assert half.dtype == torch.bfloat16
    assert (half.float() - exact).abs().mean() < 0.05 * exact.abs().mean()
