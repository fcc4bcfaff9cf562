"""How the time enters: the embedding, the time MLP, pi0's concat."""

import math

import torch
import torch.nn.functional as F

from helpers.embeddings import ActionTimeMLP, TimeMLP, sinusoidal_embedding, time_embedding


def test_periods_sines_then_cosines():
    time = torch.tensor([0.0, 0.001, 0.25, 1.0], dtype=torch.float64)
    emb = time_embedding(time, 6)
    periods = [4e-3, math.sqrt(4e-3 * 4.0), 4.0]  # geometric: the middle one is the geometric mean
    for row, t in zip(emb.tolist(), time.tolist(), strict=True):
        phases = [2 * math.pi * t / period for period in periods]
        expected = [math.sin(p) for p in phases] + [math.cos(p) for p in phases]
        torch.testing.assert_close(torch.tensor(row), torch.tensor(expected), atol=1e-6, rtol=0)


def test_phases_are_computed_in_float64():
    time = torch.rand(100, generator=torch.Generator().manual_seed(0))
    emb = time_embedding(time, 32)
    assert emb.dtype == torch.float32
    torch.testing.assert_close(emb, time_embedding(time.double(), 32).float(), atol=1e-7, rtol=0)


def test_the_unchecked_core_gives_the_same_and_runs_where_values_cannot_be_read():
    time = torch.tensor([0.1, 0.9])
    assert torch.equal(sinusoidal_embedding(time, 8), time_embedding(time, 8))
    assert sinusoidal_embedding(time.to("meta"), 8).shape == (2, 8)


def test_time_mlp_has_two_silus():
    torch.manual_seed(0)
    mlp, time = TimeMLP(8), torch.tensor([0.2, 0.7])
    hidden = F.silu(mlp.time_in(time_embedding(time, 8)))
    torch.testing.assert_close(mlp(time), F.silu(mlp.time_out(hidden)))
    assert sum(p.numel() for p in mlp.parameters()) == 2 * (8 * 8 + 8)


def test_action_time_mlp_reads_action_then_time_and_has_one_silu():
    torch.manual_seed(0)
    mlp, time, tokens = ActionTimeMLP(8), torch.tensor([0.2, 0.7]), torch.randn(2, 3, 8)
    out = mlp(tokens, time)
    time_emb = time_embedding(time, 8)
    for row in range(2):
        for token in range(3):
            both = torch.cat([tokens[row, token], time_emb[row]])
            expected = mlp.action_time_out(F.silu(mlp.action_time_in(both)))
            torch.testing.assert_close(out[row, token], expected)


def test_modules_follow_their_own_dtype():
    time = torch.tensor([0.2, 0.7])
    assert TimeMLP(8).double()(time).dtype == torch.float64
    assert TimeMLP(8).bfloat16()(time).dtype == torch.bfloat16
