"""Lesson 02: its checks tell right from wrong answers, and its pictures show what attention computes."""

import math
import re

import numpy as np
import pytest
import torch

from helpers.checks import lesson_02
from helpers.figures import attention as figures
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


def _entropy(weights):
    return torch.special.entr(weights).sum(-1)


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
        (2 * LEAD, "take c squared"),
        (LEAD, "That is the lead"),
        (math.sqrt(LEAD), "is 0.5, not 1"),
        (math.sqrt(LEAD / 2), "divide by 0.5"),
        (2 * 99, "as 99 to 1"),
        (math.sqrt(2 * 99), "as 99 to 1"),
        (math.sqrt(2 * math.log10(99)), "not log10"),
        (3.0, "the weight 0.9890"),
        (torch.tensor(LEAD), "That is the lead"),
        (torch.ones(2), "this is a Tensor"),
        (1j, "this is a complex"),
        (2.0, "the lead is 2 and the weight 0.8808"),
        (1e9, "the lead is 5e.17 and the weight 1.0000"),
        (-3.03, "above 0"),
        (math.nan, "finite"),
        ("three", "One number"),
        (True, "One number"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_2": [
        (lambda q, k: _logits(rms_norm(q), rms_norm(k)), "Those are the logits"),
        (lambda q, k: _logits(rms_norm(q), rms_norm(k)).softmax(0), "every row"),
        (lambda q, k: (rms_norm(q) @ rms_norm(k).mT).softmax(-1), "lack the division"),
        (lambda q, k: (_unit(q) @ _unit(k).mT).softmax(-1), "logits are cosines"),
        (lambda q, k: (_logits(rms_norm(q), rms_norm(k)) / 8**0.5).softmax(-1), "not by head_dim"),
        (
            lambda q, k: _weights(q - q.mean(-1, keepdim=True), k - k.mean(-1, keepdim=True)),
            "no mean",
        ),
        (lambda q, k: _scaled(q, k, lambda x: (x - _mean(x)) / x.std(-1, keepdim=True)), "no mean"),
        (lambda q, k: _scaled(q, k, lambda x: x / x.std(-1, keepdim=True)), "standard deviation"),
        (lambda q, k: _scaled(q, k, lambda x: x / _mean(x * x)), "is its root"),
        (lambda q, k: _scaled(q, k, lambda x: x / x.square().mean().sqrt()), "all tokens at once"),
        (lambda q, k: _scaled(q, k, lambda x: x / x.square().mean(-1).sqrt()), "keepdim=True"),
        (lambda q, k: _scaled(q, k, lambda x: x / _mean(x).sqrt()), "NaN"),
        (lambda q, k: _logits(q.float(), k.float()).softmax(-1), "without any norm"),
        (lambda q, k: _logits(_unit(q), _unit(k)).softmax(-1), "Your vectors have length 1"),
        (lambda q, k: _logits(q, k).softmax(-1), "without any norm"),
        (lambda q, k: _logits(rms_norm(q), k).softmax(-1), "the keys are not"),
        (lambda q, k: _logits(q, rms_norm(k)).softmax(-1), "the queries are not"),
        (lambda q, k: rms_norm(_logits(q, k)).softmax(-1), "normalised the logits"),
        (
            lambda q, k: _logits(rms_norm(q.mT).mT, rms_norm(k.mT).mT).softmax(-1),
            "runs over the tokens",
        ),
        (lambda q, k: _weights(2 * q + 1, k), "not QK-norm's"),
        (lambda q, k: _weights(k, q), "have shape"),
        (lambda q, k: None, "returned nothing"),
        (lambda q, k: 1 / 0, "ZeroDivisionError"),
        (3, "function is asked for"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_3": [
        (lambda n, d: 1 / (1 + (n - 1) * math.exp(-(d**0.5))), "sets the other logits to 0"),
        (lambda n, d: 1 / (1 + n * math.exp(-2 * d**0.5)), "how many other keys"),
        (lambda n, d: 1 / (1 + (n - 1) * math.exp(-2 * d)), "divided by it once"),
        (lambda n, d: 1 / (1 + (n - 1) * math.exp(-2)), "RMS 1 is not length 1"),
        (lambda n, d: _largest(2, d), "right for two keys"),
        (lambda n, d: 1 / (1 + (n - 1) * math.exp(2 * d**0.5)), "smallest weight"),
        (lambda n, d: _largest(d, n), "num_keys first"),
        (lambda n, d: math.nan, "between 0 and 1"),
        (lambda n, d: torch.ones(n), "got a Tensor"),
        (lambda n, d: d**0.5, "largest logit"),
        (lambda n, d: 1.0, "stays below 1"),
        (lambda n, d: n / d, "between 0 and 1"),
        (lambda n, d: 1 / n, "Which directions"),
        (lambda n, d: "all", "One number"),
        (lambda n: 1, "TypeError"),
        (..., r"Replace the \.\.\."),
    ],
    "exercise_4": [
        ((0.1, 0.0), "Without a bias"),
        ((0.1, 0.3), "too small to saturate"),
        ((3.0, 0.1), "too small to saturate"),
        ((0.1, 3.0), "large part of what QK-norm normalises"),
        ((1.0, 3.0), "large part of what QK-norm normalises"),
        ((True, 3.0), "are numbers"),
        (torch.ones(3), "Two numbers"),
        ((0.001, 3.0), "within the sliders"),
        ((0.1, -3.0), "within the sliders"),
        ((0.1, math.nan), "within the sliders"),
        ((0.1, "three"), "are numbers"),
        ((0.1,), "Two numbers"),
        (3.0, "Two numbers"),
        (..., r"Replace the \.\.\."),
    ],
}


@pytest.mark.parametrize("name,answer", [(n, a) for n, answers in RIGHT.items() for a in answers])
def test_right_answers(name, answer):
    feedback = getattr(lesson_02, name)(*answer)
    assert feedback and repr(feedback).startswith("Right.")


@pytest.mark.parametrize(
    "name,answer,says", [(n, a, s) for n, answers in WRONG.items() for a, s in answers]
)
def test_wrong_answers_get_their_own_hint(name, answer, says):
    more = (_attend,) if name == "exercise_4" else ()
    feedback = getattr(lesson_02, name)(answer, *more)
    assert not feedback and re.search(says, feedback.message), feedback


def test_the_hints_of_one_exercise_are_all_different():
    for name, answers in WRONG.items():
        hints = {says for _, says in answers}
        more = (_attend,) if name == "exercise_4" else ()
        messages = {getattr(lesson_02, name)(answer, *more).message for answer, _ in answers}
        assert len(messages) >= len(hints)


def test_the_bound_of_exercise_3_is_reached():
    query = torch.ones(1, 4, dtype=torch.float64)
    keys = torch.cat([query, -query.expand(63, 4)])
    assert float(_weights(query, keys)[0, 0]) == pytest.approx(_largest(64, 4), rel=1e-5)


def test_spread_shows_what_attention_returns():
    view = figures.SpreadToOneHot(lambda c: (_attend(c), _attend(c).softmax(-1)), _entropy)
    for c in (0.01, 1.0, 3.0, 100.0):
        view.update(c=c)
        heights = [[bar.get_height() for bar in bars] for bars in view.bars]
        assert heights[0] == sorted(heights[0], reverse=True)
        np.testing.assert_allclose(np.sort(heights[0]), np.sort(_attend(c)[0]))
        assert sum(heights[1]) == pytest.approx(1) and max(heights[1]) == heights[1][0]
        assert view.mean_entropy == pytest.approx(float(_entropy(_attend(c).softmax(-1)).mean()))
        assert view.dots[0].get_ydata()[0] == view.mean_entropy
        top, bottom = view.figure.axes[0].get_ylim()
        assert top < min(heights[0]) and max(heights[0]) < bottom, "a bar is cut off"
    assert view.mean_entropy < 0.01 and view.mean_peak > 0.99


def test_head_dim_spreads_as_its_root():
    products = _normal(3200, 256) * _normal(6400, 256)[3200:]
    view = figures.HeadDimSpread(products)
    for head_dim in (4, 16, 64.2, 256):
        view.update(head_dim=head_dim)
        raw, scaled = view.spreads
        assert scaled == pytest.approx(1, abs=0.05)
        assert raw / scaled == pytest.approx(round(head_dim) ** 0.5)
        inside = np.diff(view.fine)[0] * view.scaled.get_data().values.sum()
        assert inside == pytest.approx(1, abs=0.01), "a density adds up to 1"
        assert view.scaled.get_data().values.max() < view.figure.axes[0].get_ylim()[1]


def test_largest_weight_is_a_softmax():
    view = figures.HeadDimSpread(_normal(128, 8))
    logits = _normal(128)
    wanted = logits.reshape(2, 64).softmax(-1).max(-1).values.mean()
    assert view._largest_weight(logits.numpy()) == pytest.approx(float(wanted))


def test_gradients_show_mean_and_median_and_who_carries_them():
    sizes = torch.tensor([1e-9, 1e-9, 1.0, 99.0], dtype=torch.float64)
    gaps = torch.tensor([1.0, 1.0, 0.1, 0.01], dtype=torch.float64)
    view = figures.SaturatedGradients(
        lambda c: c * torch.ones(4), {4: lambda c: c * sizes}, {4: gaps}
    )
    view.update(c=1.0, queries=4)
    assert view.now["mean"] == pytest.approx(25) and view.now["median"] == pytest.approx(0.5)
    assert view.carriers == 1
    drawn = view.points.get_ydata()
    assert drawn.min() == figures.LOWEST and drawn.max() == 99
    view.update(c=10.0, queries=4)
    assert view.now["mean"] == pytest.approx(250)
    assert view.dots["norm"].get_ydata()[0] == pytest.approx(10)


def test_gradients_below_the_axis_are_said_to_be():
    tiny = torch.full((4,), 1e-9, dtype=torch.float64)
    view = figures.SaturatedGradients(lambda c: tiny, {4: lambda c: tiny}, {4: tiny + 1})
    assert "below 10⁻⁶" in view.describe() and "1e-09, median" not in view.describe()


def test_every_place_of_the_slider_is_a_known_factor():
    for factor in figures.FACTORS:
        assert figures.FACTORS[figures._nearest(factor)] == factor


@pytest.mark.parametrize("norm", ["none", "pre-norm", "QK-norm"])
def test_diagram_draws_the_norm_where_it_is(norm):
    places = ("trunk", "read", "queries", "written", "after", "logits", "entropy")
    found = {name: number for number, name in enumerate(places, start=1)}
    asked = []

    def measure(c, norm):
        asked.append((c, norm))
        return found

    view = figures.BranchDiagram(measure)
    view.update(c=10.0, norm=norm)
    assert asked[-1] == (10.0, norm)
    for name, parts in view.boxes.items():
        assert all(part.get_visible() == (name == norm) for part in parts)
    for name, number in found.items():
        assert str(number) in view.texts[name].get_text()
        assert str(number) in view.describe() or name == "queries"


def test_large_numbers_are_written_out():
    assert [figures._short(v) for v in (20480.0, 999.4, 0.000205)] == ["20,500", "999", "0.000205"]


def test_placement_draws_what_attend_returns():
    def weights(c, norm, size, bias):
        return _attend(c, norm, size, bias).softmax(-1)

    view = figures.NormPlacement(weights, _entropy, torch.from_numpy)
    for c, norm, size, bias in ((1.0, "none", 1.0, 0.0), (0.1, "QK-norm", 10.0, 3.0)):
        view.update(c=c, norm=norm, size=size, bias=bias)
        wanted = weights(c, norm, size, bias)
        np.testing.assert_allclose(view.image.get_array(), wanted)
        assert view.mean_entropy == pytest.approx(float(_entropy(wanted).mean()))
        for name, curve in view.curves.items():
            assert view.dots[name].get_visible() == (name == norm)
            at = [float(_entropy(weights(f, name, size, bias)).mean()) for f in view.factors]
            np.testing.assert_allclose(curve.get_ydata(), at)


def test_placement_computes_the_curves_only_when_they_change():
    batches = []

    def weights(c, norm, size, bias):
        batches.append(isinstance(c, torch.Tensor))
        return _attend(c, norm, size, bias).softmax(-1)

    view = figures.NormPlacement(weights, _entropy, torch.from_numpy)
    view.update(c=1.0, norm="none", size=2.0, bias=0.0)
    before = sum(batches)
    view.update(c=5.0, norm="pre-norm", size=2.0, bias=0.0)
    assert sum(batches) == before
    view.update(c=5.0, norm="pre-norm", size=2.0, bias=1.0)
    assert sum(batches) == before + 3
