# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 Attention logits
#
# **What does a 10 times larger hidden state do to attention?**
#
# Lesson 01 showed that RMSNorm removes the size of a vector and keeps its direction. This lesson shows what for: in
# attention the size of the hidden states counts twice, in the queries and in the keys, and a softmax follows. At the end of it you can
#
# - compute by hand what a factor $c$ does to logits and to attention weights,
# - say what the division by $\sqrt{\text{head\_dim}}$ is for, and what it assumes,
# - say which queries lose their gradient when the softmax saturates, and which keep it,
# - draw where the norm sits in a layer, and say what it protects there and what it does not.
#
# About 50 minutes. Run the cells from the top; every slider can be dragged or moved with the arrow keys.

# %% tags=["setup"]
import importlib.util as lib, os, pathlib as pl, re, sys

got = [f for p in (*sys.path, *pl.Path.cwd().parents) for f in pl.Path(p).glob("helpers/claims.py")]
if not got and lib.find_spec("google") and lib.find_spec("google.colab"):  # alone, on Colab
    asked = os.popen("curl -sm 9 http://$COLAB_JUPYTER_IP:$KMP_TARGET_PORT/api/sessions").read()
    url = "".join(re.findall(r"github.com%2F[\w.-]+%2F[\w.-]+", asked)[:1]).replace("%2F", "/")
    got = [*os.popen(f"cd $(mktemp -d); git clone --depth 1 https://{url}; ls $PWD/*/*/claims.py")]
assert got, "Open this notebook from GitHub or in its repository, or upload `make colab`'s file."
sys.path.insert(0, str(pl.Path(str(got[0]).strip()).absolute().parents[1]))

# %% tags=["parameters"]
from functools import partial
from statistics import mean
from types import SimpleNamespace

import torch

from helpers import checks
from helpers.blocks import Attention, FeedForward, PreNormBlock, attention_weights
from helpers.claims import verdict
from helpers.controls import choice, explore, log_slider, slider
from helpers.figures import attention as figures
from helpers.norms import rms_norm

SEEDS = (0, 1, 2)
TOKENS, WIDTH = 64, 64
NORMS = ("none", "pre-norm", "QK-norm")

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $x$ | `hidden_states` | (tokens, width) | what the layer is given, one row a token |
# | $c$ | `c` | number | the factor by which all hidden states are multiplied |
# | $q, k$ | `queries`, `keys` | (tokens, head_dim) | $q = x W_q$ and $k = x W_k$ |
# | $q \cdot k / \sqrt{\text{head\_dim}}$ | `logits` | (queries, keys) | how well a key fits a query |
# | $p$ | `weights` | (queries, keys) | softmax of the logits; each row adds up to 1 |
# | $H$ | `entropy(weights)` | (queries,) | how spread a row is: 0 for one key, $\ln n$ for $n$ keys alike |
#
# From beat 2 on there is one head, so `head_dim` is the width, 64, unless something else is said.

# %% [markdown]
# ## 1. Four tokens by hand
#
# Attention compares queries with keys and turns the result into weights:
#
# $$\text{logits} = \frac{q\,k^\top}{\sqrt{\text{head\_dim}}}\,,\qquad p_j = \frac{e^{\text{logit}_j}}{\sum_m e^{\text{logit}_m}}$$
#
# Four tokens with four entries each. Let $W_q$ and $W_k$ be the identity, so that $q = k = x$. For the first token, the
# products with the four keys are $2, 0, 1, 1$; divided by $\sqrt 4$, the logits are $1, 0, 0.5, 0.5$.
#
# **Predict.** All hidden states become 10 times larger. What are the four logits now? And roughly, what are the four weights?


# %%
def attention_logits(queries, keys):
    return queries @ keys.mT / queries.shape[-1] ** 0.5


# %%
four = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, -1]], dtype=torch.float64)
for c in (1, 10):
    logits = attention_logits(c * four, c * four)[0]
    weights = [f"{weight:.2g}" for weight in logits.softmax(-1).tolist()]
    print(f"c = {c:2}   logits {logits.tolist()}   weights {weights}")

# %% [markdown]
# `helpers.blocks.attention_weights` does the same for many heads at once, and with a mask. It takes queries and keys as
# (batch, tokens, heads, head_dim).

# %%
plain = attention_logits(four, four)
heads = four[None, :, None]
torch.testing.assert_close(attention_weights(heads, heads)[0, 0], plain.softmax(-1))
torch.testing.assert_close(attention_logits(10 * four, 10 * four), 100 * plain)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# $100, 0, 50, 50$. Queries grow 10 times and keys grow 10 times, so their products grow 100 times. The first weight was 0.39; now
# the other three together have 4e-22. Softmax sees **differences** of logits: a lead of 0.5 makes a weight $e^{0.5} = 1.6$ times larger, a
# lead of 50 makes it $e^{50}$ times larger.
#
# </details>

# %% [markdown]
# ## 2. From spread to one-hot
#
# Now 64 tokens of random numbers, with random $W_q$ and $W_k$ of variance 1/width (as in openpi), so that queries and keys are about as large
# as hidden states. Numbers that depend on the seed are printed for three seeds; pictures show the first.
#
# **Predict.** With 64 keys all alike, the entropy is $\ln 64 = 4.16$. At $c = 1$ it is 3.7. At which $c$ has it fallen below 0.1, on average?


# %%
def normal_numbers(seed):
    """A function of a shape that draws from N(0, 1), the same numbers for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    return partial(torch.randn, generator=generator, dtype=torch.float64)


def random_layer(seed):
    normal = normal_numbers(seed)
    layer = SimpleNamespace(hidden_states=normal(TOKENS, WIDTH))
    for name in ("W_q", "W_k", "W_v", "W_o"):
        setattr(layer, name, normal(WIDTH, WIDTH) / WIDTH**0.5)
    layer.b_q, layer.b_k = normal(WIDTH), normal(WIDTH)
    return layer


layers = [random_layer(seed) for seed in SEEDS]
first = layers[0]


# %%
def queries_and_keys(layer, hidden_states, size=1.0, bias=0.0):
    queries = hidden_states @ (size * layer.W_q) + bias * layer.b_q
    keys = hidden_states @ (size * layer.W_k) + bias * layer.b_k
    return queries, keys


# %%
def logits_at(layer, c, bias=0.0):
    return attention_logits(*queries_and_keys(layer, c * layer.hidden_states, bias=bias))


def entropy(weights):
    return torch.special.entr(weights).sum(-1)  # entr(p) = -p ln p, and 0 for p = 0


# %%
def mean_entropies(logits):
    return [float(entropy(one.softmax(-1)).mean()) for one in logits]


def span(values):
    return f"{min(values):.2f}-{max(values):.2f}"


# %%
for c in (0.1, 1, 2, 4, 8):
    by_seed = mean_entropies(logits_at(layer, c) for layer in layers)
    print(f"c = {c:3}   mean entropy {span(by_seed)}")


# %%
def attention_at(c):
    logits = logits_at(first, c)
    return logits, logits.softmax(-1)


explore(figures.SpreadToOneHot(attention_at, entropy), c=log_slider(0.01, 100, 1.0))

# %% [markdown]
# Notice, with the slider or in the still picture:
#
# - The logits keep their order; all are multiplied by the same $c^2$. (Their axis is linear from $-1$ to 1 and logarithmic beyond.)
# - At $c = 0.1$ and below, all weights are close to $1/64$: attention takes a plain average.
# - At $c = 4$ one token has about nine tenths of the weight. Which one was decided by leads that were small at $c = 1$.
# - Nearly all of the change happens between $c = 0.5$ and $c = 5$: a factor of ten.


# %%
def growth(layer, bias):
    return float(logits_at(layer, 10.0, bias).std() / logits_at(layer, 1.0, bias).std())


without_bias, with_bias = ([growth(layer, bias) for layer in layers] for bias in (0.0, 1.0))
assert all(abs(factor - 100) < 1e-6 for factor in without_bias) and max(with_bias) < 90
falls = {c: mean_entropies(logits_at(one, c) for one in layers) for c in (0.1, 0.5, 1, 4, 5, 8, 10)}
assert mean(falls[8]) < 0.1 < mean(falls[4]) and mean(falls[10]) < 0.1
assert min(falls[0.1]) > 4.15, "ten times 0.01 is still uniform"
assert min(falls[0.5]) > 4.1 and max(falls[5]) < 0.3
assert all(0.8 < logits_at(one, 4).softmax(-1).amax(-1).mean() < 0.97 for one in layers)
assert mean(mean_entropies(logits_at(one, 10, bias=1.0) for one in layers)) < 0.1

# %% tags=["claim-8"]
verdict(
    8,
    "the projections have no bias (for the 100) and the logits are not tiny before (for one-hot)",
    f"logits grow {min(without_bias):.0f}-fold, with biases as large as the hidden states "
    f"{min(with_bias):.0f}- to {max(with_bias):.0f}-fold; from c = 1 to 10 the entropy of 64 keys "
    f"falls from {span(falls[1])} to {span(falls[10])} (3 seeds), from 0.01 to 0.1 it stays 4.16",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Between 4 and 8; at 8 it is 0.06 to 0.07. A bias in the projections bends the law, because it does not grow with $c$:
# $(c\,q + b)\cdot(c\,k + b')$ has parts that grow as $c^2$, as $c$, and not at all. It does not prevent the one-hot: for large $c$ the $c^2$ wins.
#
# </details>

# %% [markdown]
# ## 3. Why divide by the root of head_dim?
#
# Size comes in by a second door: the **number** of entries. A logit adds up head_dim products $q_i k_i$. If the entries are
# independent, with mean 0 and variance 1, each product has variance 1, and the variances add up:
#
# $$\mathrm{Var}(q\cdot k) = \text{head\_dim}\,,\qquad \mathrm{Var}\left(\frac{q\cdot k}{\sqrt{\text{head\_dim}}}\right) = 1$$
#
# **Predict.** head_dim goes from 64 to 256. By which factor does the spread of the logits grow without the root? And with it?


# %%
def random_products(seed):
    normal = normal_numbers(seed)
    return normal(3200, 1024) * normal(3200, 1024)


products = [random_products(seed) for seed in SEEDS]
for head_dim in (4, 64, 256, 1024):
    raw = [float(each[:, :head_dim].sum(-1).std()) for each in products]
    scaled = [spread / head_dim**0.5 for spread in raw]
    print(f"head_dim {head_dim:4}: std {span(raw)}, divided by the root {span(scaled)}")
    assert all(abs(spread - 1) < 0.1 for spread in scaled)

logits = [each[:, :64].sum(-1).view(-1, 64) for each in products]  # 64 to a row
largest = [float(each.softmax(-1).amax(-1).mean()) for each in logits]
print(f"head_dim 64, not divided: the largest of 64 weights is {span(largest)} on average")
assert all(0.7 < weight < 0.9 for weight in largest)

# %%
explore(figures.HeadDimSpread(products[0]), head_dim=log_slider(4, 1024, 64, format="d"))

# %% [markdown]
# Notice: the dashed line climbs with slope 1/2, the solid one stays at 1. Without the root, at head_dim 64, one of 64 random keys already
# has about 0.8 of the weight, before anything has been learned.
#
# <details><summary>The answer to the prediction</summary>
#
# It doubles without the root and stays with it: four times the variance is twice the spread. The root does for the number of entries what a norm
# does for their size. It is a constant, though: it knows nothing of $c$.
#
# </details>

# %% [markdown]
# ## 4. What a saturated softmax does to gradients
#
# Is a one-hot attention bad? It may be what is wanted. The trouble is what it does to learning. The derivative of weight $i$ by logit $j$ is
#
# $$J_{ij} = \frac{\partial p_i}{\partial\,\text{logit}_j} = p_i\,(\delta_{ij} - p_j)$$
#
# If $p$ is one-hot, every entry is zero: no small change of a logit changes any weight.
#
# **Predict.** Hidden states grow, and the gradient of $W_q$ is made of them. Does it grow with $c$, or shrink?


# %%
def softmax_jacobian(weights):
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


by_autograd = torch.func.jacrev(lambda x: x.softmax(-1))(plain[0])
torch.testing.assert_close(softmax_jacobian(plain[0].softmax(-1)), by_autograd)

# %%
for c in (0.1, 1, 2, 4):
    J = softmax_jacobian((c**2 * plain[0]).softmax(-1))
    print(f"c = {c:3}   norm of J for the first of the four tokens: {J.norm():.2g}")

# %% [markdown]
# Let $L$ be one number that the layer computes: the first entry of one query's output, $L = \sum_j p_j v_j$. Here the values $v_j$ are held
# at $c = 1$, so that only the weights matter; were they to grow too, all gradients would carry one more factor $c$. The chain rule gives
#
# $$\frac{\partial L}{\partial W_q} = (c\,x)^\top \; \frac{1}{\sqrt{\text{head\_dim}}} \sum_j \underbrace{p_j\,(v_j - L)}_{J\,v}\;(c\,k_j)$$
#
# Two factors $c$ stand in front: one from the hidden state, one from the keys. They pull up; $J$ pulls down.


# %%
def query_gradients(layer, tokens, c):
    """The norm of dL/dW_q for each row of tokens, each with its own L."""
    keys = c * layer.hidden_states @ layer.W_k
    values = layer.hidden_states @ layer.W_v[:, 0]
    weights = attention_logits(c * tokens @ layer.W_q, keys).softmax(-1)
    output = weights @ values
    at_logits = weights * (values - output[:, None])
    at_queries = at_logits @ keys / WIDTH**0.5
    return (c * tokens).norm(dim=-1) * at_queries.norm(dim=-1)


# %%
x, W_q = 3.0 * first.hidden_states, first.W_q.clone().requires_grad_()
weights = attention_logits(x[:1] @ W_q, x @ first.W_k).softmax(-1)
(gradient,) = torch.autograd.grad((weights @ first.hidden_states @ first.W_v)[0, 0], W_q)
torch.testing.assert_close(gradient.norm(), query_gradients(first, first.hidden_states, c=3.0)[0])


# %%
def gap(layer, tokens):
    best = attention_logits(tokens @ layer.W_q, layer.hidden_states @ layer.W_k).topk(2).values
    return best[:, 0] - best[:, 1]


more_tokens = normal_numbers(SEEDS[0] + 1000)(4096, WIDTH)
tokens = {TOKENS: first.hidden_states, 4096: more_tokens}
gaps = {count: gap(first, rows) for count, rows in tokens.items()}
gradients = {count: partial(query_gradients, first, rows) for count, rows in tokens.items()}


# %%
def jacobian_norms(c, layer=first):
    return softmax_jacobian(logits_at(layer, c).softmax(-1)).norm(dim=(1, 2))


saturated = figures.SaturatedGradients(jacobian_norms, gradients, gaps)
explore(saturated, c=log_slider(0.01, 100, 10.0), queries=choice(list(tokens)))


# %%
def shown(values):
    return "".join(f"{value:9.2g}" if value > 1e-6 else "   < 1e-6" for value in values)


for c in (1, 2, 3, 4, 10, 30, 100):
    own = torch.stack([query_gradients(layer, layer.hidden_states, c) for layer in layers])
    print(f"c = {c:3}   mean {shown(own.mean(1))}   median {shown(own.median(1).values)}")

# %%
factors = torch.logspace(-1, 1, 41, dtype=torch.float64).tolist()
for layer in layers:
    norms = [float(jacobian_norms(c, layer).mean()) for c in factors]
    assert 1.5 < factors[norms.index(max(norms))] < 2.5 and 0.25 < max(norms) < 0.35
    own = torch.stack([query_gradients(layer, layer.hidden_states, c) for c in factors])
    medians = own.median(1).values
    assert 1.5 < factors[int(medians.argmax())] < 3.5 and medians[-1] < 1e-6 * medians.max()
    level = [float(query_gradients(layer, more_tokens, c).mean()) for c in (4, 10, 30)]
    assert max(level) < 3 * min(level)
    assert query_gradients(layer, layer.hidden_states, 1000.0).mean() < 1e-6

# %% [markdown]
# Notice:
#
# - The Jacobian's norm peaks near $c = 2$, where a few keys compete; it is smaller both for uniform and for one-hot weights.
# - The **median** query has its largest gradient between $c = 2$ and $3$. At $c = 10$ not a millionth of that is left.
# - The **mean** does not fall with it. It is carried by ever fewer queries, those whose two best keys were nearly tied: the points on the
#   left. The larger $c$, the closer the tie has to be, and the stronger its gradient.
# - Choose 4096 queries: there are closer ties among them, and the mean stays level for longer. With 64 it hangs on one
#   point near $c = 30$, and has collapsed at $c = 100$. How far out depends on the closest tie, so the three seeds differ.
#
# <details><summary>The answer to the prediction</summary>
#
# Both. For small $c$ it grows, as $c^2$. Then, for nearly every query, it collapses; for a query close to a tie it goes on growing first. A query at
# distance $g$ from a tie keeps its gradient while $c^2 g$ is not much above 1. The share of such queries falls as $1/c^2$, their gradients
# grow as $c^2$: this is why a mean over very many queries stays level. So "the gradient vanishes" is true of the median and misleading
# about the mean: what a batch adds up to is then the work of a few tokens.
#
# </details>

# %% [markdown]
# ## 5. RMSNorm on the branch
#
# A layer has a **trunk**, which carries the hidden states, and **branches**, which read it and add to it. Pre-Norm puts the norm at the
# start of the branch:
#
# $$x_{l+1} = x_l + F(\mathrm{RMSNorm}(x_l))$$
#
# **Predict.** The trunk becomes 10 times larger. What does attention read? What is the trunk's RMS after the layer: 1, 10, or 100?


# %%
def attend(layer, c, norm="none", size=1.0, bias=0.0):
    """The logits with the norm at one of three places: "none", "pre-norm", "QK-norm"."""
    hidden_states = c * layer.hidden_states
    if norm == "pre-norm":
        hidden_states = rms_norm(hidden_states)
    queries, keys = queries_and_keys(layer, hidden_states, size, bias)
    if norm == "QK-norm":
        queries, keys = rms_norm(queries), rms_norm(keys)
    return attention_logits(queries, keys)


# %%
def rms(x):
    return float(x.square().mean().sqrt())


def measure(c, norm):
    trunk = c * first.hidden_states
    read = rms_norm(trunk) if norm == "pre-norm" else trunk
    logits = attend(first, c, norm)
    written = logits.softmax(-1) @ read @ first.W_v @ first.W_o
    places = {"trunk": trunk, "read": read, "written": written, "after": trunk + written}
    places["queries"] = queries_and_keys(first, read)[0]
    found = {name: rms(value) for name, value in places.items()}
    return found | {"logits": float(logits.std()), "entropy": mean_entropies([logits])[0]}


# %%
diagram = figures.BranchDiagram(measure)
explore(diagram, c=log_slider(0.01, 100, 10.0), norm=choice(NORMS, "pre-norm"))

# %% [markdown]
# Notice, with *pre-norm* chosen, while $c$ goes from 0.01 to 100:
#
# - Everything on the branch stands still: what is read, the queries, the logits (± is their standard deviation), the entropy, and what is
#   written. (At 0.01 `eps` shows, in the third digit.)
# - The trunk does not. It comes in with RMS $c$ and, from $c = 1$ on, leaves with about RMS $c$. **The norm tidies what the module reads, not the
#   trunk.**
# - So the branch writes the same amount onto a trunk of any size: much for a small trunk, next to nothing for a large one. Lesson 03 follows
#   that through depth.
#
# The same on the collection's own Pre-Norm block (four heads, and a feed-forward after attention), with a hook that keeps what its attention was given:


# %%
def through_block(seed, trunk):
    """RMS of what attention reads in a random block, and of the trunk after the block."""
    torch.manual_seed(seed)
    block = PreNormBlock(WIDTH, Attention(WIDTH, 4), FeedForward(WIDTH, 4 * WIDTH)).double()
    read = []
    block.attention.register_forward_pre_hook(lambda module, given: read.append(given[0]))
    with torch.no_grad():
        after = block(trunk[None])
    return rms(read[0]), rms(after)


# %%
reads, handed_on = {}, {}
for c in (1, 10, 100):
    trunks = [c * rms_norm(layer.hidden_states) for layer in layers]
    passed = [through_block(seed, trunk) for seed, trunk in zip(SEEDS, trunks, strict=True)]
    reads[c], handed_on[c] = zip(*passed, strict=True)

# %% tags=["claim-13"]
tidy = all(abs(read - 1) < 1e-4 for row in reads.values() for read in row)
untouched = all(abs(after / 100 - 1) < 0.01 for after in handed_on[100])
assert tidy and untouched
verdict(
    13,
    tidy and untouched,
    "from a trunk of RMS 1, 10 and 100 attention reads RMS "
    f"{', '.join(f'{max(row):.3f}' for row in reads.values())}, and the block hands on RMS "
    f"{', '.join(span(row) for row in handed_on.values())} (3 seeds)",
)


# %%
def entropies(norm, c=1.0, **change):
    return mean_entropies(attend(layer, c, norm, **change) for layer in layers)


over_c = [entropies("pre-norm", c) for c in (0.01, 0.1, 1.0, 10.0, 100.0)]
widest = max(max(values) - min(values) for values in zip(*over_c, strict=True))
tiny, large = entropies("pre-norm", 0.001), entropies("pre-norm", size=10.0)
assert widest < 0.02 and min(tiny) > 4 and max(large) < 0.1

# %% tags=["claim-9"]
verdict(
    9,
    "RMS(x) is large against sqrt(eps)",
    f"from c = 0.01 to 100 no seed's entropy moves by more than {widest:.2f} ({span(over_c[2])} at "
    f"c = 1, 3 seeds); at 0.001 eps shows ({span(tiny)}); it does not undo W_q and W_k ten times "
    f"larger ({span(large)})",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Attention reads the same as before, RMS 1. The trunk has RMS about 10 after the layer: nothing on it was normalised.
#
# </details>

# %% [markdown]
# ## 6. What it does not protect, and QK-norm
#
# The norm stands before $W_q$ and $W_k$. Whatever these do comes after it. **QK-norm** stands behind them: it normalises each query and each key.
#
# $$\text{logits} = \frac{\mathrm{RMSNorm}(q)\;\mathrm{RMSNorm}(k)^\top}{\sqrt{\text{head\_dim}}}$$
#
# An RMS of 1 means length $\sqrt{\text{head\_dim}}$, so every logit is $\sqrt{\text{head\_dim}}$ times a cosine: it lies between $-8$ and $8$
# here. The code is in `attend` above, the line after the projections.
#
# **Predict.** Which of the three, none, pre-norm or QK-norm, keeps its entropy when $W_q$ and $W_k$ become 10 times larger? And when biases are
# added to queries and keys?

# %%
cases = {"as before": {}, "c = 10": {"c": 10.0}, "W x 10": {"size": 10.0}, "bias 3": {"bias": 3.0}}
cases["c = 0.1, bias 3"] = {"c": 0.1, "bias": 3.0}
table = {case: {norm: entropies(norm, **cases[case]) for norm in NORMS} for case in cases}
for case, row in table.items():
    print(f"{case:16}", *(f"{norm} {span(values)}" for norm, values in row.items()), sep="   ")


# %%
def weights_at(c, norm, size, bias):
    return attend(first, c, norm, size, bias).softmax(-1)


explore(
    figures.NormPlacement(weights_at, entropy, torch.from_numpy),
    c=log_slider(0.01, 100, 1.0),
    norm=choice(NORMS, "QK-norm"),
    size=log_slider(0.01, 100, 1.0, label="size of W"),
    bias=slider(0.0, 10.0, 1.0, 0.1),
)

# %%
before, bias, small = table["as before"], table["bias 3"], table["c = 0.1, bias 3"]
for case in ("c = 10", "W x 10"):
    torch.testing.assert_close(table[case]["QK-norm"], before["QK-norm"], atol=0.01, rtol=0)
assert max(table["W x 10"]["pre-norm"]) < 0.1 and max(bias["pre-norm"]) < 3
assert min(bias["QK-norm"]) > 4.05 and min(small["QK-norm"]) > 4.15
assert attend(first, 100.0, "QK-norm", size=100.0).abs().max() <= WIDTH**0.5
assert abs(measure(10.0, "QK-norm")["written"] / measure(1.0, "QK-norm")["written"] - 10) < 0.1


def favourites(layer, bias):
    """How many keys are the largest of at least one query, with pre-norm."""
    return len(attend(layer, 1.0, "pre-norm", bias=bias).argmax(-1).unique())


for amount in (0.0, 3.0, 10.0):
    counts = sorted(favourites(layer, amount) for layer in layers)
    print(f"bias {amount:4}: {counts[0]} to {counts[-1]} of {TOKENS} keys are some query's largest")
assert counts[-1] < 10

# %% [markdown]
# Notice, with the sliders:
#
# - *size of W*: the dashed line of pre-norm sinks with it, the line of QK-norm stays.
# - *bias*, with pre-norm: dark columns appear. All queries turn to the same few keys, those that fit the bias of the queries.
# - *bias*, with QK-norm: the line is flat no more. For small $c$ the bias is all there is in a query or a key, and the norm blows it up to
#   full size. All queries are then alike and all keys too, and attention sees nothing: entropy $\ln 64$.
#
# <details><summary>The answer to the prediction</summary>
#
# Against large weights only QK-norm helps. Against biases neither does, and they fail in opposite ways: pre-norm saturates, QK-norm goes
# blind, and it depends on $c$ again. ViT-22B (with LayerNorm) and Qwen3 (with RMSNorm) normalise
# queries and keys, and have no biases on them. QK-norm has a second limit, which the diagram of beat 5 shows: it does nothing for the **values**. Choose QK-norm there and drag $c$: what the branch writes grows with $c$.
#
# </details>

# %% [markdown]
# ## Where the story is only partly true
#
# - *10 times gives 100 times*: without biases. *And a one-hot*: if the logits were about 1 before. From $c = 0.01$ to $0.1$ nothing visible happens (beat 2).
# - *The root of head_dim keeps logits at 1*: while queries and keys are independent, as at the start of training. Once they point the same way, the
#   logit is $\sqrt{\text{head\_dim}}$:

# %%
for head_dim in (16, 64, 256):
    queries = [normal_numbers(seed)(500, head_dim) for seed in SEEDS]
    logits = [float((q * q).sum(-1).mean()) / head_dim**0.5 for q in queries]
    assert all(abs(logit / head_dim**0.5 - 1) < 0.1 for logit in logits)
    print(f"head_dim {head_dim:3}: a query equal to its key has logit {span(logits)}, on average")

# %% [markdown]
# - *A saturated softmax has no gradient*: the median query has none, near ties keep theirs (beat 4).
# - *RMSNorm makes attention safe*: from the size of what it reads, not from $W_q$, $W_k$ or biases (beat 6). Dehghani et al. (2023) and Wortsman et al. (2024) report
#   training runs that broke down by large attention logits although a norm stood before attention, and that QK-norm mended.
# - *QK-norm bounds the logits*: the norm does. The learned gain that usually follows it can open the bound again:


# %%
def with_gain(layer, gain):
    scale = torch.full((WIDTH,), gain - 1, dtype=torch.float64)
    both = queries_and_keys(layer, layer.hidden_states)
    return attention_logits(*(rms_norm(x, scale) for x in both))


for gain in (1.0, 3.0, 10.0):
    by_seed = mean_entropies(with_gain(layer, gain) for layer in layers)
    print(f"gain {gain:4}: mean entropy {span(by_seed)}")
assert mean(by_seed) < 0.1

# %% [markdown]
# - pi0.5 itself: attention in openpi's `gemma.py` has a norm before it, no biases, and no QK-norm.

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** There are two keys. At $c = 1$ the first one's logit leads by 0.5. At which $c$ does it get a weight of 0.99?

# %%
factor = ...
checks.lesson_02.exercise_1(factor)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# A weight of 0.99 against 0.01 means $e^{\text{lead}} = 99$, a lead of $\ln 99 = 4.6$. The lead is $0.5\,c^2$, so $c = \sqrt{2 \ln 99} = 3.03$.
#
# ```python
# import math
#
# factor = math.sqrt(2 * math.log(99))
# checks.lesson_02.exercise_1(factor)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Write the weights of attention with QK-norm, for `queries` and `keys` of shape (tokens, head_dim), from their entries: without
# `rms_norm` and without an `eps`.

# %%
qk_norm_weights = ...  # a function of queries and keys
checks.lesson_02.exercise_2(qk_norm_weights)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def qk_norm_weights(queries, keys):
#     queries = queries / queries.square().mean(-1, keepdim=True).sqrt()
#     keys = keys / keys.square().mean(-1, keepdim=True).sqrt()
#     return (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
#
#
# checks.lesson_02.exercise_2(qk_norm_weights)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** QK-norm without a learned gain, $n$ keys. What is the largest weight that one key can ever get? Write it as a function
# of the number of keys and of head_dim.

# %%
largest_weight = ...  # a function of num_keys and head_dim
checks.lesson_02.exercise_3(largest_weight)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# A logit is $\sqrt{\text{head\_dim}}$ times a cosine. At best the key points along the query, and all others against it: logits
# $\sqrt{\text{head\_dim}}$ and $-\sqrt{\text{head\_dim}}$.
#
# ```python
# import math
#
#
# def largest_weight(num_keys, head_dim):
#     return 1 / (1 + (num_keys - 1) * math.exp(-2 * head_dim**0.5))
#
#
# print(f"head_dim 64: {largest_weight(64, 64):.6f}, head_dim 4: {largest_weight(64, 4):.3f}")
# checks.lesson_02.exercise_3(largest_weight)
# ```
#
# With head_dim 64 this is no limit in practice; with few entries, or very many keys, it is. A learned gain removes it.
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** In beat 6, at $c = 0.1$ and a bias of 3, pre-norm was saturated and QK-norm blind. Find a $c$ and a
# bias, within the sliders of beat 6, for which pre-norm is still saturated (entropy below 3) but QK-norm sees again (entropy below 3.8). Then say in
# two sentences why $c$ helps one of them and not the other.

# %%
setting = ...  # (c, bias)
checks.lesson_02.exercise_4(setting, partial(attend, first))

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# setting = (30.0, 3.0)
# checks.lesson_02.exercise_4(setting, partial(attend, first))
# ```
#
# Under pre-norm, $W_q$ and $W_k$ read hidden states of RMS 1 whatever $c$ is, so nothing outgrows the bias. Under QK-norm they read the trunk: at
# $c = 30$ a query is ten times as large as its bias, and after the norm the bias is a small part of it; at $c = 0.1$ it was nearly all of it.
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** Hidden states grow 3-fold; there are no biases and no norm. By how much do the logits grow? (statement 8)
#
# <details><summary>3-fold.</summary>No: queries grow 3-fold, and keys do too.</details>
# <details><summary>9-fold.</summary>Right: 3-fold queries times 3-fold keys.</details>
# <details><summary>20-fold, as e to the 3.</summary>No: the exponential comes after the logits, in the softmax.</details>
#
# **2.** Two logits tie, and lead all others by 1. The factor c grows and grows. Which weights do the two get? (statement 8)
#
# <details><summary>1 and 0.</summary>No: a factor keeps ties, so nothing tells the two apart.</details>
# <details><summary>The same as all others.</summary>No: their lead grows with the square of c, and the others lose all weight.</details>
# <details><summary>One half each.</summary>Right: a factor keeps ties. Such a query never becomes one-hot, and keeps its gradient.</details>
#
# **3.** A Pre-Norm layer gets a trunk of RMS 100. Which RMS does it hand on? (statement 13)
#
# <details><summary>About 100.</summary>Right: the norm is on the branch, and the branch adds little to so large a trunk.</details>
# <details><summary>1.</summary>No: RMS 1 has only what attention reads.</details>
# <details><summary>About 10,000.</summary>No: squares turn up in logits without a norm, not on the trunk.</details>
#
# **4.** RMSNorm stands before attention. What still saturates the softmax? (statement 9)
#
# <details><summary>A trunk 10 times larger.</summary>No: attention reads RMS 1 as before.</details>
# <details><summary>W_q and W_k 10 times larger.</summary>Right: they come after the norm. QK-norm would undo it.</details>
# <details><summary>A trunk 10 times smaller.</summary>No: while its RMS is large against the root of eps, nothing changes.</details>
#
# **5.** Large biases are added to queries and keys. Which placement keeps attention as it was? (statement 9)
#
# <details><summary>Pre-norm.</summary>No: it saturates. All queries turn to the few keys that fit the bias.</details>
# <details><summary>QK-norm.</summary>No: unless the trunk is large, it goes blind. The bias is most of what it normalises, so all queries become alike.</details>
# <details><summary>Neither.</summary>Right: and they fail in opposite ways.</details>

# %% [markdown]
# ## Summary
#
# $$q, k \to c\,q, c\,k:\quad \text{logits} \to c^2\,\text{logits}\,,\qquad J = \mathrm{diag}(p) - p\,p^\top \to 0 \text{ as } p \text{ becomes one-hot}$$
#
# $$\text{pre-norm: } x + F(\mathrm{RMSNorm}(x))\,,\qquad \text{QK-norm: } \lvert\text{logit}\rvert \le \sqrt{\text{head\_dim}}$$
#
# Pre-norm guards the logits against large hidden states; QK-norm also against large $W_q$ and $W_k$; biases get past both.
#
# **Next:** lesson 03 stacks layers. Where the norm sits then decides whether information and gradients come through.
#
# **References**
#
# - A. Vaswani et al., *Attention Is All You Need*, NeurIPS 2017, arXiv:1706.03762; section 3.2.1 for the root of head_dim
# - A. Henry, P. R. Dachapally, S. Pawar, Y. Chen, *Query-Key Normalization for Transformers*, Findings of EMNLP 2020, arXiv:2010.04245
# - M. Dehghani et al., *Scaling Vision Transformers to 22 Billion Parameters*, ICML 2023, arXiv:2302.05442
# - M. Wortsman et al., *Small-scale proxies for large-scale Transformer training instabilities*, ICLR 2024, arXiv:2309.14322
# - Qwen Team, *Qwen3 Technical Report*, 2025, arXiv:2505.09388
# - Physical Intelligence, openpi, `src/openpi/models/gemma.py`: norm, attention and residual of pi0 and pi0.5
