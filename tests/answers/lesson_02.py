"""Answers to lesson 02's exercises: right ones, wrong ones with their hints, and what no hint may say."""

import math

import numpy as np
import torch

from helpers.norms import rms_norm

LEAD = math.log(99)


def _logits(queries, keys):
    return queries @ keys.mT / queries.shape[-1] ** 0.5


def _weights(queries, keys):
    return _logits(rms_norm(queries), rms_norm(keys)).softmax(-1)


def _unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def _mean(x):
    return x.mean(-1, keepdim=True)


def _scaled(queries, keys, norm):
    return _logits(norm(queries), norm(keys)).softmax(-1)


def _largest(num_keys, head_dim):
    return 1 / (1 + (num_keys - 1) * math.exp(-2 * head_dim**0.5))


def _normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


HIDDEN, W_Q, W_K, B_Q, B_K = (*_normal(3, 64, 64), *_normal(2, 64))


def _attend(c, norm="none", size=1.0, bias=0.0):
    hidden_states = rms_norm(c * HIDDEN) if norm == "pre-norm" else c * HIDDEN
    queries = hidden_states @ W_Q * size / 8 + bias * B_Q
    keys = hidden_states @ W_K * size / 8 + bias * B_K
    if norm == "QK-norm":
        queries, keys = rms_norm(queries), rms_norm(keys)
    return _logits(queries, keys)


RIGHT = {
    "exercise_1": [
        (math.sqrt(2 * LEAD),),
        (3.03,),
        (torch.tensor(2 * LEAD).sqrt(),),
        (np.float32(3.03),),
        (np.array([3.03]),),
    ],
    "exercise_2": [
        (_weights,),
        (lambda q, k: _weights(q.float(), k.float()),),
        (lambda q, k: _weights(q.div_(2), k.mul_(3)),),
        (lambda q, k: _weights(q.requires_grad_(), k),),
    ],
    "exercise_3": [
        (_largest,),
        (lambda n, d: torch.tensor(_largest(n, d), dtype=torch.float64),),
        (lambda n, d: 1 / (1 + (n - 1) * torch.exp(-2 * torch.tensor(d) ** 0.5)),),
        (lambda n, d: np.array(_largest(n, d)),),
    ],
    "exercise_4": [
        ((30.0, 3.0), _attend),
        ([100, 5], _attend),
        (torch.tensor([30.0, 3.0]), _attend),
        ((torch.tensor(30.0), np.float64(3)), _attend),
    ],
}
# Each wrong answer with a word of the hint that is meant for it and no other.
WRONG = {
    "exercise_1": [
        ((2 * LEAD,), "take c squared"),
        ((LEAD,), "That is the lead"),
        ((math.sqrt(LEAD),), "is 0.5, not 1"),
        ((math.sqrt(LEAD / 2),), "divide by 0.5"),
        ((2 * 99,), "as 99 to 1"),
        ((math.sqrt(2 * 99),), "as 99 to 1"),
        ((math.sqrt(2 * math.log10(99)),), "not log10"),
        ((3.0,), "the weight 0.9890"),
        ((torch.tensor(LEAD),), "That is the lead"),
        ((torch.ones(2),), "this is a Tensor"),
        ((1j,), "this is a complex"),
        ((2.0,), "the lead is 2 and the weight 0.8808"),
        ((1e9,), "the lead is 5e.17 and the weight 1.0000"),
        ((-3.03,), "is above 0"),
        ((math.nan,), "finite"),
        (("three",), "One number"),
        ((True,), "One number"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_2": [
        ((lambda q, k: _logits(rms_norm(q), rms_norm(k)),), "Those are the logits"),
        ((lambda q, k: _logits(rms_norm(q), rms_norm(k)).softmax(0),), "every row"),
        ((lambda q, k: (rms_norm(q) @ rms_norm(k).mT).softmax(-1),), "lack the division"),
        ((lambda q, k: (_unit(q) @ _unit(k).mT).softmax(-1),), "logits are cosines"),
        (
            (lambda q, k: (_logits(rms_norm(q), rms_norm(k)) / 8**0.5).softmax(-1),),
            "not by head_dim",
        ),
        (
            (lambda q, k: _weights(q - q.mean(-1, keepdim=True), k - k.mean(-1, keepdim=True)),),
            "no mean",
        ),
        (
            (lambda q, k: _scaled(q, k, lambda x: (x - _mean(x)) / x.std(-1, keepdim=True)),),
            "no mean",
        ),
        (
            (lambda q, k: _scaled(q, k, lambda x: x / x.std(-1, keepdim=True)),),
            "standard deviation",
        ),
        ((lambda q, k: _scaled(q, k, lambda x: x / _mean(x * x)),), "is its root"),
        (
            (lambda q, k: _scaled(q, k, lambda x: x / x.square().mean().sqrt()),),
            "all tokens at once",
        ),
        ((lambda q, k: _scaled(q, k, lambda x: x / x.square().mean(-1).sqrt()),), "keepdim=True"),
        ((lambda q, k: _scaled(q, k, lambda x: x / _mean(x).sqrt()),), "NaN"),
        ((lambda q, k: _logits(q.float(), k.float()).softmax(-1),), "without any norm"),
        ((lambda q, k: _logits(_unit(q), _unit(k)).softmax(-1),), "Your vectors have length 1"),
        ((lambda q, k: _logits(q, k).softmax(-1),), "without any norm"),
        ((lambda q, k: _logits(rms_norm(q), k).softmax(-1),), "the keys are not"),
        ((lambda q, k: _logits(q, rms_norm(k)).softmax(-1),), "the queries are not"),
        ((lambda q, k: rms_norm(_logits(q, k)).softmax(-1),), "normalised the logits"),
        (
            (lambda q, k: _logits(rms_norm(q.mT).mT, rms_norm(k.mT).mT).softmax(-1),),
            "runs over the tokens",
        ),
        ((lambda q, k: _weights(2 * q + 1, k),), "not QK-norm's"),
        ((lambda q, k: _weights(k, q),), "have shape"),
        ((lambda q, k: None,), "returned nothing"),
        ((lambda q, k: 1 / 0,), "ZeroDivisionError"),
        ((3,), "function is asked for"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_3": [
        ((lambda n, d: 1 / (1 + (n - 1) * math.exp(-(d**0.5))),), "sets the other logits to 0"),
        ((lambda n, d: 1 / (1 + n * math.exp(-2 * d**0.5)),), "how many other keys"),
        ((lambda n, d: 1 / (1 + (n - 1) * math.exp(-2 * d)),), "divided by it once"),
        ((lambda n, d: 1 / (1 + (n - 1) * math.exp(-2)),), "RMS 1 is not length 1"),
        ((lambda n, d: _largest(2, d),), "right for two keys"),
        ((lambda n, d: 1 / (1 + (n - 1) * math.exp(2 * d**0.5)),), "smallest weight"),
        ((lambda n, d: _largest(d, n),), "num_keys first"),
        ((lambda n, d: math.nan,), "between 0 and 1"),
        ((lambda n, d: torch.ones(n),), "gave a Tensor"),
        ((lambda n, d: d**0.5,), "largest logit"),
        ((lambda n, d: 1.0,), "stays below 1"),
        ((lambda n, d: n / d,), "between 0 and 1"),
        ((lambda n, d: 1 / n,), "Which directions"),
        ((lambda n, d: "all",), "One number"),
        ((lambda n: 1,), "TypeError"),
        ((...,), r"Replace the \.\.\."),
    ],
    "exercise_4": [
        (((0.1, 0.0), _attend), "Without a bias"),
        (((0.1, 0.3), _attend), "too small to saturate"),
        (((3.0, 0.1), _attend), "too small to saturate"),
        (((0.1, 3.0), _attend), "large part of what QK-norm normalises"),
        (((1.0, 3.0), _attend), "large part of what QK-norm normalises"),
        (((True, 3.0), _attend), "this is a bool"),
        ((torch.ones(3), _attend), "Two numbers"),
        (((0.001, 3.0), _attend), "within the sliders"),
        (((0.1, -3.0), _attend), "within the sliders"),
        (((0.1, math.nan), _attend), "bias is a finite"),
        (((0.1, "three"), _attend), "this is a str"),
        (((0.1,), _attend), "Two numbers"),
        ((3.0, _attend), "Two numbers"),
        ((..., _attend), r"Replace the \.\.\."),
    ],
}
NEVER = {
    "exercise_1": r"3\.03|sqrt\(2|root of 2",
    "exercise_2": r"\.square\(\)|\.softmax\(|\*\* ?0\.5|rms_norm\(",
    "exercise_3": r"exp\(|1 \+ \(",
    "exercise_4": r"\b30\b",
}
