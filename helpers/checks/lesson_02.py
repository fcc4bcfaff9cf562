"""Checks of lesson 02's exercises."""

import math

import torch

from helpers.checks.feedback import UNANSWERED, Feedback, hint, number, numbers_at, right, run


def exercise_1(answer) -> Feedback:
    """The factor c at which a lead of 0.5 between two logits has become a weight of 0.99."""
    answer, trouble = number(answer, "factor")
    if trouble is not None:
        return trouble
    if answer <= 0:
        return hint("The factor is above 0.")
    lead = math.log(99)

    def close(value):
        return abs(answer / value - 1) < 0.005

    if close(math.sqrt(2 * lead)):
        return right("A factor of 3 turns a weight of 0.62 into one of 0.99.")
    if close(2 * lead):
        return hint(
            "That is the factor for the lead. Queries and keys both carry c: take c squared."
        )
    if close(lead):
        return hint("That is the lead that is needed, ln 99. Which c makes 0.5 grow to it?")
    if close(math.sqrt(lead)):
        return hint("You need the root, but the lead at c = 1 is 0.5, not 1.")
    if close(math.sqrt(0.5 * lead)):
        return hint("The lead 0.5 c^2 must be ln 99: divide by 0.5, do not multiply.")
    if close(2 * 99) or close(math.sqrt(2 * 99)):
        return hint("The weights are to be as 99 to 1. A lead of which size makes e^lead = 99?")
    if abs(answer - math.sqrt(2 * math.log10(99))) < 1e-3:  # and not a guessed 2
        return hint("Softmax takes powers of e, so the logarithm is ln, not log10.")
    weight = 1 / (1 + math.exp(-min(0.5 * answer**2, 700)))
    return hint(f"At this c the lead is {0.5 * answer**2:.3g} and the weight {weight:.4f}.")


def _queries_and_keys() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    normal = torch.randn(12, 8, generator=generator, dtype=torch.float64)
    return 3 * normal[:5], 0.5 * normal[5:]


def _normed(x: torch.Tensor) -> torch.Tensor:
    return x / x.square().mean(-1, keepdim=True).sqrt()


def _other_norms() -> dict:
    def centred(x):
        return x - x.mean(-1, keepdim=True)

    return {
        lambda x: _normed(centred(x)): "That is LayerNorm: QK-norm here subtracts no mean.",
        lambda x: centred(x) / x.std(-1, keepdim=True): "That is LayerNorm: subtract no mean.",
        lambda x: x / x.std(-1, keepdim=True): (
            "A standard deviation subtracts the mean first. The RMS does not."
        ),
        lambda x: x / x.square().mean(-1, keepdim=True): (
            "You divided by the mean of the squares. The RMS is its root."
        ),
        lambda x: x / x.square().mean().sqrt(): (
            "Your mean runs over all tokens at once: each vector is to have RMS 1 of its own."
        ),
    }


def exercise_2(function) -> Feedback:
    """A function of queries and keys (tokens, head_dim) that returns the weights with QK-norm."""
    queries, keys = _queries_and_keys()
    result, trouble = run(function, queries.clone(), keys.clone())
    if trouble is not None:
        if "must match the size" in trouble.message:
            return hint(
                "A mean of shape (tokens,) does not line up with (tokens, head_dim): keepdim=True."
            )
        return trouble
    shape = (len(queries), len(keys))
    if not isinstance(result, torch.Tensor) or result.shape != shape:
        got = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        return hint(f"For 5 queries and 7 keys the weights have shape {shape}, got {got}.")
    result = result.detach().double()
    if result.isnan().any():
        return hint("There are NaN among your weights. Is the root taken of a mean of squares?")
    root = queries.shape[-1] ** 0.5
    wanted = _normed(queries) @ _normed(keys).mT / root

    def same(logits):
        return torch.allclose(result, logits.softmax(-1), atol=1e-5)

    if same(wanted):
        return right("Queries and keys of any size now give the same weights.")
    if torch.allclose(result, wanted, atol=1e-4):
        return hint("Those are the logits, and they are right. Turn them into weights.")
    if torch.allclose(result, wanted.softmax(0), atol=1e-5):
        return hint("The softmax runs over the queries: every row, not every column, adds up to 1.")
    if same(wanted * root):
        return hint("The logits lack the division by the root of head_dim.")
    if same(wanted / root):
        return hint(
            "Your logits are cosines, too small by a root. Is the RMS 1, or the length? And divide "
            "by the root of head_dim, not by head_dim."
        )
    if same(wanted / root**2):
        return hint(
            "Your vectors have length 1, and divided by the root once more. They are to have RMS 1."
        )
    if same(queries @ keys.mT / root):
        return hint("That is attention without any norm.")
    if same(_normed(queries) @ keys.mT / root):
        return hint("The queries are normalised, the keys are not.")
    if same(queries @ _normed(keys).mT / root):
        return hint("The keys are normalised, the queries are not.")
    if same(_normed(queries @ keys.mT / root)):
        return hint("You normalised the logits. QK-norm normalises each query and each key.")
    if same(_normed(queries.mT).mT @ _normed(keys.mT) / root):
        return hint("The mean runs over the tokens: it is to run over the entries of each vector.")
    for other, words in _other_norms().items():
        if same(other(queries) @ other(keys).mT / root):
            return hint(words)
    return hint("The weights are not QK-norm's. Normalise, take logits, then the softmax.")


def exercise_3(function) -> Feedback:
    """A function of num_keys and head_dim: the largest weight under QK-norm without a gain."""
    cases = ((1000, 9), (64, 4), (2, 1), (3, 2))
    values, trouble = numbers_at(function, cases)
    if trouble is not None:
        return trouble

    def same(formula):
        pairs = zip(values, cases, strict=True)
        return all(math.isclose(v, formula(*case), rel_tol=1e-5) for v, case in pairs)

    if same(lambda n, d: 1 / (1 + (n - 1) * math.exp(-2 * d**0.5))):
        return right("Few entries and many keys: then QK-norm without a gain cannot be sharp.")
    if same(lambda n, d: 1 / (1 + (n - 1) * math.exp(-(d**0.5)))):
        return hint("That sets the other logits to 0. How low can they be?")
    if same(lambda n, d: 1 / (1 + n * math.exp(-2 * d**0.5))):
        return hint("Nearly: how many other keys are there?")
    if same(lambda n, d: 1 / (1 + (n - 1) * math.exp(-2 * d))):
        return hint(
            "A query of RMS 1 has length sqrt(head_dim), and the product is divided by it once."
        )
    if same(lambda n, d: 1 / (1 + (n - 1) * math.exp(-2))):
        return hint("You took the logits as cosines, from -1 to 1. RMS 1 is not length 1.")
    if same(lambda n, d: 1 / (1 + math.exp(-2 * d**0.5))):
        return hint("That is right for two keys. How many others share what is left?")
    if same(lambda n, d: 1 / (1 + (n - 1) * math.exp(2 * d**0.5))):
        return hint("That is the smallest weight. Which sign has the lead of the largest?")
    if same(lambda d, n: 1 / (1 + (n - 1) * math.exp(-2 * d**0.5))):
        return hint("The formula is right, the order is not: num_keys first, then head_dim.")
    if same(lambda n, d: d**0.5):
        return hint("That is the largest logit. Which weight does the softmax make of it?")
    if same(lambda n, d: 1.0):
        return hint("A logit is bounded, so the weight stays below 1. By how much?")
    if any(not 0 < value <= 1 for value in values):
        return hint("A weight lies between 0 and 1. Yours does not, for 2 keys or 3, 64 or 1000.")
    return hint(
        "Which directions of the keys are best for one of them? Then write out the softmax."
    )


def exercise_4(setting, attend) -> Feedback:
    """(c, bias) for which pre-norm is saturated and QK-norm is not blind.

    attend: function of c, norm and bias, to logits (queries, keys).
    """
    if setting is ...:
        return UNANSWERED
    if isinstance(setting, torch.Tensor):
        setting = setting.tolist()
    if not isinstance(setting, (tuple, list)) or len(setting) != 2:
        return hint("Two numbers are asked for: (c, bias).")
    (c, c_trouble), (bias, bias_trouble) = number(setting[0], "c"), number(setting[1], "bias")
    for trouble in (c_trouble, bias_trouble):
        if trouble is not None:
            return trouble
    if not (0.01 <= c <= 100 and 0 <= bias <= 10):
        return hint("Stay within the sliders: c from 0.01 to 100, bias from 0 to 10.")
    found = {}
    for norm in ("pre-norm", "QK-norm"):
        weights = attend(c, norm=norm, bias=bias).softmax(-1)
        found[norm] = float(torch.special.entr(weights).sum(-1).mean())
    seen = f"entropy {found['pre-norm']:.2f} with pre-norm, {found['QK-norm']:.2f} with QK-norm"
    if found["QK-norm"] < 3.8 and found["pre-norm"] < 3:
        return right(f"QK-norm outgrows the bias, pre-norm cannot: {seen}.")
    if bias == 0:
        return hint(f"Without a bias neither is saturated, and both are flat in c: {seen}.")
    if found["pre-norm"] >= 3:
        return hint(f"The bias is too small to saturate pre-norm: {seen}.")
    return hint(f"The bias is still a large part of what QK-norm normalises: {seen}.")
