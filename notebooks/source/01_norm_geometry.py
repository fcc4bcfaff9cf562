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
# # 01 The geometry of two norms
#
# **What do LayerNorm and RMSNorm do to a vector?**
#
# The language model and the action expert inside the robot policy pi0.5 normalise with RMSNorm. Before we can
# ask why, we have to see what it does. At the end of this lesson you can
#
# - compute both norms of a short vector by hand,
# - draw where they send it, and say which change of the input each of them ignores,
# - say what `eps` costs, what `1 +` in `(1 + scale)` is for, and why statistics are kept in float32,
# - say which part of "RMSNorm is cheaper" is true.
#
# About 45 minutes. Run the cells from the top; every slider can be dragged or moved with the arrow keys.

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
import torch

from helpers import checks
from helpers.claims import verdict
from helpers.controls import choice, explore, log_slider, slider
from helpers.figures import norm_geometry as figures
from helpers.norms import layer_norm, rms_norm

SEED = 0
EPS = 1e-6  # the default of the helpers, with which the cells compare
WIDTH = 512

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $x$ | `x` | (d,) or (..., d) | a hidden state; the last dimension is normalised |
# | $d$ | `WIDTH` | number | the number of entries |
# | $\mu$ | `x.mean()` | number | the mean of the entries |
# | $\mathrm{RMS}(x)$ | `rms(x)` | number | root of the mean square of the entries |
# | $\mathbf 1$ | all-ones | (d,) | the direction in which all entries grow alike |
# | $\gamma = 1 + s$ | `1 + scale` | (d,) | learned multipliers, one for each entry |
# | $\epsilon$ | `EPS` | number | a small number inside the root, against division by zero |

# %% [markdown]
# ## 1. Two vectors
#
# LayerNorm subtracts the mean and divides by the standard deviation:
#
# $$\mathrm{LayerNorm}(x) = \frac{x - \mu}{\sqrt{\frac1d\sum_i (x_i-\mu)^2 + \epsilon}}$$
#
# RMSNorm only divides, by the root of the mean square:
#
# $$\mathrm{RMSNorm}(x) = \frac{x}{\sqrt{\frac1d\sum_i x_i^2 + \epsilon}}$$
#
# **Predict.** Take $[10, 11, 12]$ and $[101, 102, 103]$. Which norm sends both to the same vector? Roughly
# what does the other one make of $[101, 102, 103]$?


# %%
def plain_layer_norm(x):
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred / (variance + EPS).sqrt()


# %%
def plain_rms_norm(x):
    mean_square = x.square().mean(-1, keepdim=True)
    return x / (mean_square + EPS).sqrt()


# %%
x = torch.tensor([10.0, 11.0, 12.0], dtype=torch.float64)
x_prime = torch.tensor([101.0, 102.0, 103.0], dtype=torch.float64)
for norm in (plain_layer_norm, plain_rms_norm):
    for vector in (x, x_prime):
        print(f"{norm.__name__:18}{vector.tolist()} -> {norm(vector).numpy().round(4)}")

# %% [markdown]
# These few lines are all there is to it. The collection's own versions, `helpers.norms.layer_norm` and `rms_norm`, do the
# same with care for number formats (beat 6), and are used from here on.

# %%
for vector in (x, x_prime):
    torch.testing.assert_close(plain_layer_norm(vector), layer_norm(vector))
    torch.testing.assert_close(plain_rms_norm(vector), rms_norm(vector))

# %% tags=["claim-3"]
apart = {norm: float((norm(x) - norm(x_prime)).abs().max()) for norm in (layer_norm, rms_norm)}
assert apart[layer_norm] < 1e-9 and apart[rms_norm] > 0.01
found = f"they differ by {apart[rms_norm]:.2f} after RMSNorm, by less than 1e-9 after LayerNorm"
verdict(3, apart[layer_norm] < 1e-9 and apart[rms_norm] > 0.01, found)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# LayerNorm sends both to the same vector: it sees only how the entries differ from their mean, and they differ by
# $-1, 0, 1$ in both. RMSNorm sees a vector that is nearly $102$ in every entry, so its result is nearly $[1, 1, 1]$.
#
# </details>

# %% [markdown]
# ## 2. The picture behind it
#
# In three dimensions one can see both norms. The length of a vector with RMS 1 is $\sqrt d$, here $\sqrt 3$. So
# RMSNorm moves $x$ along its own ray until it meets a **sphere** of radius $\sqrt 3$. LayerNorm first drops the part
# of $x$ that lies along **all-ones**, the direction $[1, 1, 1]$; what is left has mean zero and lies in a plane.
# Then it stretches that to the same length. So it can only ever end on a **circle**: where the plane cuts the sphere.


# %%
def rms(x):
    return x.square().mean(-1).sqrt()


generator = torch.Generator().manual_seed(SEED)
vectors = 5 * torch.randn(1000, 3, generator=generator, dtype=torch.float64) + 4
for norm in (layer_norm, rms_norm):
    lengths = norm(vectors).norm(dim=-1)
    print(f"{norm.__name__:10} first lengths {lengths[:3].numpy().round(6)}")

# %% tags=["claim-4"]
centred = vectors - vectors.mean(-1, keepdim=True)
turned = 1 - torch.cosine_similarity(rms_norm(vectors), vectors).min()
two_steps = (layer_norm(vectors) - rms_norm(centred)).abs().max()
assert abs(turned) < 1e-9 and two_steps < 1e-9 and layer_norm(vectors).sum(-1).abs().max() < 1e-9
found = "1000 vectors: RMSNorm turns none of them; LayerNorm is RMSNorm of the centred vector"
verdict(4, bool(abs(turned) < 1e-9 and two_steps < 1e-9), f"{found} (to {two_steps:.0e})")

# %% [markdown]
# Below, $x = [10, 11, 12]$ stays (rings), and a second vector moves: $x' = \text{scale}\cdot x + \text{shift}$ (solid
# points). It starts at $[101, 102, 103]$. LayerNorm is orange, RMSNorm blue.
#
# **Predict.** Drag *shift* from 200 down to -200. What does the orange point of LayerNorm do? Where does the blue
# point of RMSNorm start, and where does it end? At which shift do they meet?

# %%
sphere = figures.NormSphere(x, layer_norm, rms_norm)
explore(sphere, shift=slider(-200, 200, 91, 1), scale=log_slider(0.01, 100, 1.0))

# %% [markdown]
# Notice, with the sliders or in the still picture:
#
# - The orange point stands still while you shift. The blue one runs along the sphere, towards the all-ones axis on one
#   side or the other: the larger the mean, the more of the fixed length it takes.
# - Scaling moves the orange point at no shift, the blue one only where the shift is not 0.
# - At *scale* 0.01 LayerNorm's length falls from 1.732 to 1.719, by 0.74%: too little to see, but the numbers below the
#   picture show it. The entries then differ by so little that `eps` counts.

# %% tags=["claim-2"]
base = layer_norm(x)
shifted = max(float((layer_norm(x + s) - base).abs().max()) for s in (-200, 7, 200))
scaled = max(float((rms_norm(c * x) - rms_norm(x)).abs().max()) for c in (0.01, 100))
scaled = max(scaled, float((layer_norm(100 * x) - base).abs().max()))
shrunk = 1 - float(layer_norm(0.01 * x).norm() / base.norm())
moved = float((rms_norm(x + 91) - rms_norm(x)).abs().max())
assert all(torch.allclose(norm(-x), -norm(x)) for norm in (layer_norm, rms_norm)), "a flip"
assert shifted < 1e-9 and scaled < 2e-4 and 0 < shrunk < 0.01 and moved > 0.01
verdict(
    2,
    "the scale is positive and eps is small against the variance (RMSNorm: the mean square)",
    f"shifts move RMSNorm by {moved:.2f}, LayerNorm by less than 1e-9; scales move RMSNorm by less "
    f"than 2e-4, -1 flips both; at scale 0.01 eps shortens LayerNorm's result by {shrunk:.2%}",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# LayerNorm's point does not move at all. RMSNorm's starts near the all-ones axis, runs along the sphere through LayerNorm's
# point and ends near the other end of the axis. They meet where the mean is zero, at shift $-11$: then there is nothing for LayerNorm to drop.
#
# </details>

# %% [markdown]
# ## 3. gamma: the sphere becomes an ellipsoid
#
# After the norm a model multiplies each entry by a learned number, $\gamma_i$ (LayerNorm usually adds a learned bias too, left
# out here). openpi, the code of pi0.5, writes it as $1 + \text{scale}_i$ and starts a fresh model with
# $\text{scale}_i = 0$, so that nothing is changed at the start. In pi0.5's action expert the scale is computed from the
# time instead of learned as such: lesson 04.
#
# $$y = (1 + \text{scale}) \odot \mathrm{RMSNorm}(x)$$
#
# **Predict.** RMSNorm keeps the direction of $x$. Does $y$ keep it too? What happens to the picture when one
# $\text{scale}_i$ goes to $-1$?

# %%
v = torch.tensor([1.0, 2.0, -1.5], dtype=torch.float64)
for scale in ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]):
    print(scale, rms_norm(v, torch.tensor(scale, dtype=torch.float64)).numpy().round(3))

# %%
ellipsoid = figures.GammaEllipsoid(v, rms_norm)
explore(
    ellipsoid,
    scale_1=slider(-1.0, 1.0, 0.5),
    scale_2=slider(-1.0, 1.0, 0.0),
    scale_3=slider(-1.0, 1.0, -0.5),
)

# %% tags=["claim-5"]
scale = torch.tensor([0.5, 0.0, -0.5], dtype=torch.float64)
plain_at_zero = torch.equal(rms_norm(v, torch.zeros_like(scale)), rms_norm(v))
multiplies = torch.allclose(rms_norm(v, scale), (1 + scale) * rms_norm(v))
turned = torch.cosine_similarity(rms_norm(v, scale), v, dim=0).arccos().rad2deg()
assert plain_at_zero and multiplies and turned > 10
found = f"scale 0 is the plain norm bit for bit; {scale.tolist()} turns v by {turned:.1f}°"
verdict(5, plain_at_zero and multiplies, found)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Unequal multipliers stretch the sphere into an ellipsoid, and most vectors turn. So "RMSNorm keeps the direction" is true of
# the norm and false of the layer, once gamma has learned something. At $\text{scale}_i = -1$ the ellipsoid is flat: feature $i$ is switched off.
#
# </details>

# %% [markdown]
# ## 4. What the 1 in (1 + scale) is for
#
# Starting gamma at 1, or starting scale at 0 and adding 1: the first output is the same. The story goes that the second
# way trains more stably. Here is one feature whose gain the loss wants at 1.8, trained in both ways.
#
# **Predict.** With plain gradient steps, which of the two gets there first? And if weights decay towards zero?

# %%
TARGET = 1.8  # the gain that the loss wants
POWER = 1.2  # mean square of the feature


def train(weight_decay, steps=60, rate=0.05):
    paths = []
    for weight, one in ((1.0, 0.0), (0.0, 1.0)):  # gamma; then scale, used as 1 + scale
        path = []
        for _ in range(steps):
            path.append(one + weight)
            gradient = 2 * POWER * (one + weight - TARGET)
            weight -= rate * (gradient + weight_decay * weight)
        paths.append(path)
    return paths


# %%
explore(figures.GainPaths(train, TARGET), weight_decay=slider(0.0, 4.0, 1.0, 0.1))

# %% [markdown]
# There is a second difference, in how finely numbers are stored. Near 1 the next larger bfloat16 is $2^{-7}$ away; near 0
# they lie much closer together. An update that is too small to reach the next number is lost.

# %%
low_gamma, low_scale = torch.ones((), dtype=torch.bfloat16), torch.zeros((), dtype=torch.bfloat16)
for _ in range(100):
    low_gamma, low_scale = low_gamma + 0.001, low_scale + 0.001
print(
    f"100 steps of 0.001 in bfloat16: gamma {low_gamma:.3f}, 1 + scale {1 + low_scale.item():.3f}"
)

# %% tags=["claim-22"]
plain, decayed = train(0.0), train(1.0)
apart = max(abs(a - b) for a, b in zip(*plain, strict=True))
ends = [path[-1] for path in decayed]
assert apart < 1e-12 and ends[0] < ends[1] and low_gamma == 1 and low_scale > 0.05
verdict(
    22,
    None,
    f"plain gradient steps give one path; only weight decay (gains {ends[0]:.2f}, {ends[1]:.2f}) "
    f"and low precision (100 small steps in bfloat16: {low_gamma - 1:.0f}, {low_scale:.2f}) tell "
    "gamma and 1 + scale apart; stability of a whole model was not measured",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Neither: the two paths are one. The 1 is a constant, so both weights have the same gradient. Weight decay is what tells them
# apart: it pulls gamma towards 0, a feature switched off, and $1 + \text{scale}$ towards 1, the plain norm. Whether a whole model
# then trains more stably is not shown by this.
#
# </details>

# %% [markdown]
# ## 5. eps, and very small vectors
#
# Without $\epsilon$ a zero vector would be divided by zero. With it, a vector whose mean square is not large against $\epsilon$
# comes out too short. $\epsilon$ stands **inside** the root, so the place to watch is $\mathrm{RMS}(x) = \sqrt\epsilon$.
#
# **Predict.** $\epsilon = 10^{-6}$. What is the RMS of the output for an input with RMS $10^{-3}$?

# %%
unit = torch.tensor([1.0, -1.0, 0.5, -0.5, 2.0, 0.1], dtype=torch.float64)
unit = unit / rms(unit)
for size in (0.0, 1e-6, 1e-3, 1.0, 1e6):
    print(f"RMS in {size:7.0e}   RMS out {float(rms(rms_norm(size * unit))):.6f}")

# %%
explore(
    figures.EpsCurve(unit, lambda x, eps: rms_norm(x, eps=eps)), eps=log_slider(1e-12, 1e-2, 1e-6)
)

# %% tags=["claim-1"]
at_root = float(rms(rms_norm(EPS**0.5 * unit)))
far_above = float(rms(rms_norm(1000 * EPS**0.5 * unit)))
turned = 1 - float(torch.cosine_similarity(rms_norm(1e-6 * unit), unit, dim=0))
assert abs(at_root - 0.5**0.5) < 1e-9 and abs(far_above - 1) < 1e-6 and abs(turned) < 1e-12
assert not rms_norm(torch.zeros(64)).any()
verdict(
    1,
    "RMS(x) is large against sqrt(eps)",
    f"output RMS {far_above:.7f} at 1000 sqrt(eps), {at_root:.4f} at sqrt(eps), 0 at 0; "
    "the direction is kept at every size",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# $10^{-3}$ is $\sqrt\epsilon$: mean square and $\epsilon$ are equal, so the result is $1/\sqrt 2$, about 0.71. Below that the
# output shrinks in proportion to the input: RMSNorm stops being blind to scale.
#
# </details>

# %% [markdown]
# ## 6. Number formats
#
# Models run in 16-bit numbers. float16 has fine steps but ends at 65504; bfloat16 reaches as far as float32, in coarse
# steps. RMSNorm squares its input, and squares leave a range quickly.
#
# **Predict.** At which entry does a float16 square overflow? What does RMSNorm then return: infinity, NaN, or something else?

# %%
for value in (255.0, 256.0):
    pair = torch.tensor([value, 1.0], dtype=torch.float16)
    print(f"x {pair.tolist()}   squares {pair.square().tolist()}")
    print(f"   squares in float16: {plain_rms_norm(pair).tolist()}")
    print(f"   squares in float32: {rms_norm(pair).tolist()}")

# %% [markdown]
# The usual cure, openpi's too: convert to float32, take the statistics there, convert the result
# back. That is what `helpers.norms.rms_norm` does.

# %%
pattern = torch.linspace(-0.9, 1.0, 16, dtype=torch.float64)
formats = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
precision = figures.Precision(pattern, formats, plain_rms_norm, rms_norm)
explore(precision, magnitude=log_slider(1e-4, 1e4, 302.0), dtype=choice(list(formats)))

# %%
big = torch.tensor([300.0, -300.0, 300.0], dtype=torch.float16)
assert not plain_rms_norm(big).any(), "divided by infinity: all zero"
assert torch.equal(rms_norm(big), torch.tensor([1.0, -1.0, 1.0], dtype=torch.float16))
assert torch.tensor(1e-4, dtype=torch.float16).square() == 0, "small squares vanish"
small = (0.01 * pattern).half()
exact = rms_norm(small.double())
errors = [
    ((norm(small).double() - exact) / exact).abs().max() for norm in (plain_rms_norm, rms_norm)
]
assert errors[1] <= 0.51 * torch.finfo(torch.float16).eps < errors[0], "one rounding, or several"

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# $256^2 = 65536$ is the first square of a whole number beyond 65504. It is stored as infinity, and a finite number divided by infinity is
# **zero**. No error and no NaN: a silent zero. Very small float16 entries fail the other way round: their squares become
# zero. bfloat16 does not overflow here. With float32 statistics the result is rounded once, at the end; with squares
# in the format itself several roundings add up, as the cell above asserts for float16. In bfloat16 the two curves
# differ little for these 16 entries.
#
# </details>

# %% [markdown]
# ## 7. Many dimensions: is the mean worth removing?
#
# Hidden states have hundreds of entries, and all-ones is only one direction among $d$. How much of a vector's
# energy, $\sum x_i^2$, lies along it?
#
# A vector whose entries have mean $\mu$ and spread $\sigma$ has the share $\mu^2 / (\mu^2 + \sigma^2)$ there, and the
# two norms then differ by the angle $\arctan(\mu/\sigma)$.
#
# **Predict.** For 512 random entries without a common mean: which share? Which mean is needed before half the
# energy lies along all-ones?

# %%
generator = torch.Generator().manual_seed(SEED + 2)
random_vectors = torch.randn(200, WIDTH, generator=generator, dtype=torch.float64)
share = random_vectors.mean(-1).square() / random_vectors.square().mean(-1)
print(f"average share along all-ones {share.mean():.5f}, one part in d is {1 / WIDTH:.5f}")

# %%
explore(figures.MeanShare(random_vectors, layer_norm, rms_norm), mean=slider(0.0, 3.0, 0.0, 0.05))

# %%
angle = torch.cosine_similarity(layer_norm(random_vectors), rms_norm(random_vectors))
angle = angle.arccos().rad2deg().median()
moved = random_vectors + 1
half = (moved.mean(-1).square() / moved.square().mean(-1)).median()
wide = torch.cosine_similarity(layer_norm(moved), rms_norm(moved)).arccos().rad2deg().median()
assert 0.5 < share.mean() * WIDTH < 2 and angle < 68 / WIDTH**0.5
assert abs(half - 0.5) < 0.05 and abs(wide - 45) < 3
print(f"medians: mean 0, angle {angle:.1f}°; mean 1, share {half:.2f} and angle {wide:.1f}°")

# %% [markdown]
# So the question is how large the mean of real hidden states is. Gupta, Ozdemir, Gong and Anumanchipalli (Findings
# of EACL 2026, pp. 375-407) looked at trained language models, with LayerNorm and with RMSNorm. They report that
# on average the hidden states of all of them have almost no part along all-ones, in training and in use. If that is so,
# LayerNorm's first step removes next to nothing, and dropping it costs little. That is their measurement; this notebook
# has no language model to repeat it on, and only shows what follows from a small mean.
#
# <details><summary>The answer to the prediction</summary>
#
# One part in $d$, about 0.2%: all-ones is a direction like any other. With standard deviation 1, a mean of 1 puts half of
# the energy there, and the two norms then point about 45° apart.
#
# </details>

# %% [markdown]
# ## 8. Cost, told straight
#
# RMSNorm needs one mean, LayerNorm two: the mean and then the variance. This is often given as the reason for its speed.
#
# **Predict.** How much faster is RMSNorm, written out as a formula? And with the modules that torch ships?

# %% tags=["claim-6"]
means = {}
for norm in (plain_layer_norm, plain_rms_norm):
    graph = torch.fx.symbolic_trace(norm).graph
    means[norm.__name__] = sum(node.target == "mean" for node in graph.nodes)
assert means == {"plain_layer_norm": 2, "plain_rms_norm": 1}
found = f"the formulas take {means['plain_layer_norm']} means and {means['plain_rms_norm']}"
verdict(6, means["plain_rms_norm"] == 1, f"{found}; which is faster depends on the code that runs")

# %% tags=["measured"]
from torch.utils.benchmark import Timer

batch = torch.randn(2048, 1024)
torch_layer_norm, torch_rms_norm = torch.nn.LayerNorm(1024), torch.nn.RMSNorm(1024)
print("one thread, (2048, 1024) float32, best of 7     LayerNorm   RMSNorm   ratio")
for way in ("plain", "torch"):
    timers = [
        Timer(f"{way}_{norm}(batch)", globals=globals()) for norm in ("layer_norm", "rms_norm")
    ]
    rounds = [[timer.timeit(10).mean * 1e3 for timer in timers] for _ in range(7)]
    layer, root = (min(times) for times in zip(*rounds, strict=True))
    print(f"{way:46}{layer:9.2f} ms{root:7.2f} ms{layer / root:8.2f}")

# %% [markdown]
# `plain` are our two formulas, `torch` are torch.nn.LayerNorm and torch.nn.RMSNorm. A ratio above 1 says that RMSNorm was faster, below 1 that LayerNorm was. These are times of one machine, so
# nothing is asserted; run the cell to see yours.
#
# <details><summary>What to make of it</summary>
#
# The two rows need not agree. The written-out formulas differ by one mean and one subtraction, each at least one pass over
# memory. torch's modules do not run these formulas; which of the two is faster depends on how well each was written for
# the processor at hand. "RMSNorm is simpler" is a statement about arithmetic; about time, measure.
#
# </details>

# %% [markdown]
# ## Where the story is only partly true
#
# - *RMS is 1 afterwards*: unless the vector is small against $\sqrt\epsilon$ (beat 5).
# - *RMSNorm ignores scale*: a positive one. A negative factor flips the sign of the result (beat 2).
# - *RMSNorm keeps the direction*: the norm does, the layer with its learned gamma does not (beat 3).
# - *(1 + scale) trains more stably*: under plain gradient steps it changes nothing; under weight decay and in low
#   precision the two differ, which is not yet stability (beat 4).
# - *RMSNorm is cheaper*: it takes one mean fewer; whether that shows in time depends on the code that runs (beat 8).

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** Which number $s$ must be added to every entry of $[2, 3, 10]$ so that both norms give the same result?

# %%
shift = ...
checks.lesson_01.exercise_1(shift)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# shift = -5
# checks.lesson_01.exercise_1(shift)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Write LayerNorm, for `x` of shape (..., d), with `rms_norm` as the only norm you call.

# %%
my_layer_norm = ...  # a function of x
checks.lesson_01.exercise_2(my_layer_norm)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def my_layer_norm(x):
#     return rms_norm(x - x.mean(-1, keepdim=True))
#
#
# checks.lesson_01.exercise_2(my_layer_norm)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** Scaling $x$ changes nothing in $\mathrm{RMSNorm}(x)$. So its Jacobian $J$, the (d, d) matrix of the derivatives of output $i$ by
# input $j$, must send the direction $x$ itself to zero. Derive $J$, without $\epsilon$, and write it as a function of $x$ (d,).

# %%
jacobian = ...  # a function of x
checks.lesson_01.exercise_3(jacobian)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# With $r = \mathrm{RMS}(x)$, $\partial r / \partial x_j = x_j / (d\,r)$, and the product rule gives
# $J = \frac1r \left(I - \frac{x x^\top}{d\,r^2}\right) = \frac1r\left(I - \frac{x x^\top}{\lVert x\rVert^2}\right)$:
# a projection that removes the direction of $x$, divided by the RMS.
#
# ```python
# def jacobian(x):
#     projection = torch.eye(len(x), dtype=x.dtype) - torch.outer(x, x) / x.square().sum()
#     return projection / rms(x)
#
#
# checks.lesson_01.exercise_3(jacobian)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** Find a float16 vector with no entry beyond ±300 that `plain_rms_norm` sends to zero
# everywhere, while `rms_norm` gets it right. Say in one sentence what happened.

# %%
vector = ...
checks.lesson_01.exercise_4(vector)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# One entry of 256 or more is enough: its square is infinite, so the mean is too, and every entry, small ones as well, is
# divided by infinity.
#
# ```python
# vector = torch.tensor([256.0, 1.0, -2.0], dtype=torch.float16)
# print(plain_rms_norm(vector), rms_norm(vector))
# checks.lesson_01.exercise_4(vector)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** 7 is added to every entry of $x$. Whose result stays the same? (statements 2 and 3)
#
# <details><summary>Both norms'.</summary>No: RMSNorm keeps the mean, so its result turns towards all-ones.</details>
# <details><summary>LayerNorm's only.</summary>Right: it subtracts the mean first. [10, 11, 12] and [101, 102, 103] end in one point.</details>
# <details><summary>RMSNorm's only.</summary>No: RMSNorm ignores a positive factor, not a shift.</details>
#
# **2.** In three dimensions, eps and gamma left out: where do all results of LayerNorm lie? (statement 4)
#
# <details><summary>On a sphere.</summary>No: there lie RMSNorm's. LayerNorm's have mean zero besides.</details>
# <details><summary>In a plane, at any length.</summary>No: the plane is right, but all are stretched to the length √3.</details>
# <details><summary>On a circle.</summary>Right: where the plane of mean zero cuts the sphere of radius √3.</details>
#
# **3.** The input has RMS 0.001, and eps is 1e-6. Which RMS has RMSNorm's result? (statement 1)
#
# <details><summary>About 0.71.</summary>Right: mean square and eps are equal, so it is 1/√2.</details>
# <details><summary>About 1.</summary>No: only where the mean square is large against eps. Here they are equal.</details>
# <details><summary>About 0.5.</summary>No: the sum of mean square and eps stands inside the root.</details>
#
# **4.** Does training scale from 0 in (1 + scale) differ from training gamma from 1? (statements 5 and 22)
#
# <details><summary>Yes: it is more stable.</summary>No: under plain gradient steps the two paths are one, and the stability of a whole model was not measured.</details>
# <details><summary>No: the 1 is only a constant.</summary>No: under plain gradient steps that is all. But weight decay pulls gamma towards 0, and 1 + scale towards 1.</details>
# <details><summary>Only under weight decay or in low precision.</summary>Right: decay pulls them to different places, and near 0 numbers are finer than near 1.</details>
#
# **5.** RMSNorm takes one mean, LayerNorm two. Is it faster? (statement 6)
#
# <details><summary>Always.</summary>No: the time depends on the code that runs, and torch's modules do not run these formulas.</details>
# <details><summary>That has to be measured.</summary>Right: fewer operations are a statement about arithmetic.</details>
# <details><summary>Never: a mean is free.</summary>No: written out, each mean is one more pass over memory.</details>

# %% [markdown]
# ## Summary
#
# $$\mathrm{RMSNorm}(x) = \frac{x}{\sqrt{\frac1d\sum x_i^2+\epsilon}}\,,\qquad \mathrm{LayerNorm}(x) = \mathrm{RMSNorm}(x-\mu)\,,\qquad
# y = (1+\text{scale})\odot\mathrm{RMSNorm}(x)$$
#
# RMSNorm: along its ray to the sphere of radius $\sqrt d$. LayerNorm: into the plane of mean zero first. Statistics in float32, eps inside the root.
#
# **Next:** lesson 02 asks what attention does with a hidden state that is ten times too large, and why a norm in front of it helps.
#
# **References**
#
# - J. L. Ba, J. R. Kiros, G. E. Hinton, *Layer Normalization*, 2016, arXiv:1607.06450
# - B. Zhang, R. Sennrich, *Root Mean Square Layer Normalization*, NeurIPS 2019, arXiv:1910.07467
# - A. Gupta, A. Ozdemir, C. Gong, G. Anumanchipalli, *Geometric Interpretation of Layer Normalization and a Comparative Analysis with RMSNorm*, Findings of EACL 2026, pp. 375-407
# - Physical Intelligence, openpi, `src/openpi/models/gemma.py`: the RMSNorm of pi0 and pi0.5
