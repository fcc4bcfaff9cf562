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
# # 08 The real pi0.5, opened up
#
# **What do the published weights of pi0.5 tell each layer, at each time?**
#
# Lesson 07 took our own small network apart. pi0.5 itself can be opened in the same way: all that it knows about time sits in 78 tensors, and scale,
# shift and gate follow from them exactly. No robot, no image and no GPU are needed. At the end you can
#
# - find these tensors in a checkpoint, and compute from them what any layer is told at any $t$,
# - say how much of it depends on $t$, and along how many directions it moves,
# - say which times the network can tell apart, and where that ability is lost,
# - say what weights alone cannot tell.
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
import copy

import torch

from helpers import checks, pretrained, probes
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.controls import choice, explore, film, slider
from helpers.embeddings import time_embedding
from helpers.figures import real_pi05 as figures
from helpers.norms import AdaRMSNorm
from helpers.training import CHECKPOINTS, load_checkpoint

DOWNLOAD = False  # True: fetch about 240 MB (470 if the file is in float32) once, and keep them
SOURCE = pretrained.REPOSITORY  # lerobot/pi05_base on the hub; or a file, a fine-tuned pi0.5 too
REVISION = pretrained.REVISION
SECOND = None  # another file or repository, to be compared with the first
SEED = 0  # of the random stand-in

# %% [markdown]
# **The real weights, or a stand-in.** The weights are not part of this repository. With `DOWNLOAD = True` the cells below fetch the 78 tensors, and only
# these, from the Hugging Face hub; they are kept, so the next run finds them. Without them everything runs on two **stand-ins**:
#
# - *our trained expert*: the small action-chunk transformer of lesson 06. It shows what training does, but its numbers are not pi0.5's.
# - *random weights*: in pi0.5's shape, drawn as openpi's PyTorch code draws them, never trained. They show what chance alone gives.
#
# With the real weights all three are there, and each picture's menu switches between them. Each title says whose numbers it shows. Nothing in this text was
# written after looking at pi0.5's numbers: it says what to look for, and the cells print what is found.

# %% tags=["trained"]
torch.set_grad_enabled(False)
MODEL = load_checkpoint(CHECKPOINTS / "chunk.safetensors").model
there = pretrained.available(SOURCE, revision=REVISION)
asked = [SOURCE] if DOWNLOAD or there or SOURCE != pretrained.REPOSITORY else []
asked += [SECOND] if SECOND else []
FILES = [pretrained.read(one, revision=REVISION, download=DOWNLOAD) for one in asked]
OURS = pretrained.from_expert(MODEL, "our trained expert, not the real weights")
WEIGHTS = {w.label: w for w in (*FILES, OURS, pretrained.stand_in(SEED))}
FIRST = next(iter(WEIGHTS.values()))
print("These pages are about:", FIRST.label)

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $c(t)$ | `cond(time)` | (times, width) | the condition, made of $t$ alone |
# | $W_n, b_n$ | `dense(name)` | (3 width, width), (3 width,) | the Dense of norm $n$ |
# | $m_n(t)$ | `modulation(time)` | three of (times, norms, width) | scale, shift and gate of norm $n$ |
# | $n$ | `norm_names` | 37 of them in pi0.5 | "layer 0 attention" to "final norm" |
# | $\sigma_k$ | `shares` | (directions,) | how far the curve $m(t)$ reaches along its $k$-th direction |

# %% [markdown]
# ## 1. Seventy-eight tensors
#
# A checkpoint of pi0.5 is several gigabytes: a vision-language model, and beside it the action expert of 18 layers. Before each attention and each
# feed-forward of the expert stands an adaRMS norm, and one more at the end.
#
# **Predict.** Which share of the expert's parameters does nothing but turn one number, $t$, into scales, shifts and gates?

# %%
names = pretrained.tensor_names()
print(f"{len(names)} tensors:", names[0], names[4], "...", names[-1], sep="\n  ")

# %%
with torch.device("meta"):  # shapes only, no numbers
    expert = ActionExpert(ExpertConfig.GEMMA_300M)
norms = [module for module in expert.modules() if isinstance(module, AdaRMSNorm)]
denses = sum(p.numel() for norm in norms for p in norm.parameters())
whole = sum(p.numel() for p in expert.transformer.parameters())
assert (len(names), len(norms)) == (4 + 2 * 37, 37) == (78, 2 * 18 + 1)
assert (denses, whole) == (116_505_600, 427_932_672)
assert 37 * 3 * 1024 == 113_664 == 112_640 + 1024  # curves; all but the last gate
print(f"{len(norms)} Denses with {denses:,} of {whole:,} parameters: {denses / whole:.1%}")

# %% [markdown]
# Two small formulas lead from $t$ to all of it. `emb` is the embedding by sines and cosines of lesson 04:
#
# $$c(t) = \mathrm{silu}\big(W_2\,\mathrm{silu}(W_1\,\mathrm{emb}(t) + b_1) + b_2\big)\,,\qquad [s_n, b_n, g_n](t) = W_n\,c(t) + b_n$$


# %%
def told_by_hand(weights, name, t):
    hidden = time_embedding(torch.tensor([t]), weights.width)
    for layer in ("time_mlp_in", "time_mlp_out"):
        kernel, bias = (weights.tensors[f"{layer}.{part}"].float() for part in ("weight", "bias"))
        hidden = torch.nn.functional.silu(hidden @ kernel.T + bias)
    kernel, bias = weights.dense(name)
    return (hidden @ kernel.T + bias)[0].chunk(3)


# %%
name = FIRST.norm_names[0]
for t in (1.0, 0.5, 0.0):
    scale, shift, gate = (part[:3].numpy().round(2) for part in told_by_hand(FIRST, name, t))
    print(f"{name}, t = {t}   1 + scale {1 + scale}   shift {shift}   gate {gate}")
read = FIRST.modulation(torch.tensor([0.3]))
for number, name in enumerate(FIRST.norm_names):
    for one, other in zip(told_by_hand(FIRST, name, 0.3), read, strict=True):
        torch.testing.assert_close(one, other[0, number], atol=1e-4, rtol=1e-4)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# 27%: more than a quarter of the expert. And yet what they compute is a function of one number. Image, words, robot and noise never enter:
# whatever pi0.5 looks at, layer 7 is told the same at $t = 0.5$. That is why the curves below are exact and need no input.
#
# </details>

# %% [markdown]
# ## 2. What each layer is told
#
# 113,664 curves are too many to look at. For each norm we take the size over its features, the root mean square (RMS).
#
# **Predict.** A small case first. The random Denses have entries of deviation 0.02 and no bias. How large is such a gate, if the condition has length 2?

# %%
TIMES = torch.linspace(0, 1, 41)


def all_told(weights):
    parts = (part.transpose(0, 1).numpy() for part in weights.modulation(TIMES))
    return figures.Told(weights.norm_names, *parts)


TOLD = {label: all_told(weights) for label, weights in WEIGHTS.items()}
MENU, RANDOM = choice(list(TOLD)), list(TOLD)[-1]

# %%
length = WEIGHTS[RANDOM].cond(TIMES).norm(dim=-1).mean()
gate = TOLD[RANDOM].sizes("gate").mean()
print(f"{RANDOM}: length of the condition {length:.2f}, gate {gate:.4f}")
assert abs(gate / (0.02 * length) - 1) < 0.05

# %%
explore(figures.TimeMaps(TIMES, TOLD), t=slider(0.0, 1.0, 1.0, 0.025), weights=MENU)

# %% [markdown]
# Solid lines are norms before attention, dashed ones before the feed-forward. Look for
#
# - **differences between layers**: random weights have none but chance. Where trained ones differ, the layers have taken different parts;
# - **attention against feed-forward**: if one has the larger gates at all depths, that half is heard more, unless its branch is the quieter one;
# - **change with t**: a map whose rows keep their colour from left to right belongs to norms that are told much the same at all times.

# %%
for label, told in TOLD.items():
    print(label)
    for part in probes.PARTS:
        before = [told.sizes(part)[told.rows(half)].mean() for half in figures.HALVES]
        print(f"  {part:5} before attention {before[0]:.3f}, before feed-forward {before[1]:.3f}")

# %% [markdown]
# RMS hides the sign. Here are single norms, feature by feature: a stripe that changes colour from left to right is a feature whose sign depends on $t$.

# %%
view = figures.FeatureMap(TIMES, {FIRST.label: TOLD[FIRST.label]})
which = dict(norm=slider(0, len(FIRST.norm_names) - 1, 0), part=choice(list(probes.PARTS), "gate"))
explore(view, t=slider(0.0, 1.0, 1.0, 0.025), **which)

# %%
for label, told in TOLD.items():
    gates, scales = ((getattr(told, part)[:-1] < 0).mean() for part in ("gate", "scale"))
    print(f"{label}: {gates:.0%} of gates and {scales:.0%} of scales are below 0")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# $0.02 \cdot 2 = 0.04$: each gate is a sum of products with deviation $0.02\,\lVert c\rVert$. What differs from that was learned. Half of the gates below 0 is what chance gives. For scale that would be news if it were far from half: below 0 a feature is damped.
#
# </details>

# %% [markdown]
# ## 3. How much of it depends on $t$
#
# Lesson 07 split the energy of a modulation into a part that is the same at all times and the rest:
#
# $$\text{share that depends on } t = 1 - \frac{\lVert \mathbb E_t\,m(t)\rVert^2}{\mathbb E_t\,\lVert m(t)\rVert^2}$$
#
# **Predict.** In our trained expert about an eighth of a layer's modulation depends on $t$. In random weights: more than that, or less?

# %%
for part in probes.PARTS:
    by_hand = 1 - probes.constant_share(torch.tensor(getattr(TOLD[FIRST.label], part)[0]))
    assert abs(by_hand - TOLD[FIRST.label].varying(part)[0]) < 1e-4
film(figures.ShareByLayer(TOLD), weights=MENU)

# %%
for label, told in TOLD.items():
    print(label)
    for part in probes.PARTS:
        shares = told.varying(part)[:-1]
        print(
            f"  {part:5} {shares.mean():.0%} on average, {shares.min():.0%} to {shares.max():.0%}"
        )
means = {n: [TOLD[n].varying(p)[:-1].mean() for p in probes.PARTS] for n in (OURS.label, RANDOM)}
assert max(means[OURS.label]) < 0.2 < 0.8 < min(means[RANDOM])

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Far more, over four fifths. The random Denses have no bias and pass on whatever the condition does. Ours began at zero and learned a plain
# RMSNorm with fixed gates, and a little on top. So a small share in pi0.5 says that it mostly learned a fixed network too; a large one, that it
# uses the freedom for which it pays with a quarter of the expert's parameters.
#
# </details>

# %% [markdown]
# ## 4. A curve, and how many directions it needs
#
# Put all that the norms are told into one long vector: 112,640 numbers in pi0.5, without the last gate. As $t$ goes from 0 to 1 it runs along a curve. If the
# curve is a straight line, all layers are told one number, each in its own units. Singular values say how far from that it is. With the middle of
# the curve taken away, for the rows $m(t_1), m(t_2), \ldots$
#
# $$\text{share}_k = \frac{\sigma_k^2}{\sum_j \sigma_j^2}$$
#
# A small case: ten points on a line, and ten on a circle, in three dimensions.


# %%
def plain_shares(curve):
    sigma = torch.linalg.svdvals(curve - curve.mean(dim=0))
    return sigma.square() / sigma.square().sum()


turn = torch.arange(10) * 2 * torch.pi / 10
line, circle = [turn, 2 * turn, 0 * turn], [turn.cos(), turn.sin(), 0 * turn]
for curve in (line, circle):
    print(*(f"{share:.2f}" for share in plain_shares(torch.stack(curve, dim=1))))

# %% [markdown]
# **Predict.** At 41 times the curve can have up to 40 directions. How many hold 99% of the movement: of the condition $c(t)$, and of what the norms are
# told? Can the second number be the larger one?

# %%
ALL, COND = "scale, shift and gate", "the condition"
curves = {}
for label, told in TOLD.items():
    curves[label] = {ALL: told.joined("all")} | {p: told.joined(p) for p in probes.PARTS}
    curves[label][COND] = WEIGHTS[label].cond(TIMES).numpy()

# %%
path = figures.TimeCurve(TIMES, curves)
explore(path, t=slider(0.0, 1.0, 1.0, 0.025), weights=MENU, what=choice(path.names))

# %%
by_hand = plain_shares(torch.tensor(curves[FIRST.label][ALL], dtype=torch.float64))
_, shares = path.found[FIRST.label, ALL]
torch.testing.assert_close(by_hand[:5], torch.tensor(shares[:5]), atol=1e-6, rtol=1e-4)


# %%
def directions(curve, share=0.99):
    total = plain_shares(torch.as_tensor(curve, dtype=torch.float64)).cumsum(dim=0)
    return int((total < share).sum()) + 1


for label, found in curves.items():
    steps = time_embedding(TIMES, WEIGHTS[label].width), found[COND], found[ALL]
    emb, cond, told = (directions(curve) for curve in steps)
    print(f"{label}: 99% in {emb} of the embedding, {cond} of the condition, {told} of all told")
assert directions(curves[OURS.label][ALL]) < 4 < 10 < directions(curves[OURS.label][COND])

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# The embedding is made to differ at all times, and random weights pass that on. Our trained expert's condition still needs twelve directions, what its
# norms are told two: the Denses listen to few directions of the condition and ignore the others. The second count could be the larger one:
# a Dense makes no new directions, but it may strengthen weak ones.
#
# </details>

# %% [markdown]
# ## 5. Which times are told apart
#
# Two times can be told apart only if what is made of them differs. For the embedding this follows from the formula: with periods $p_k$
#
# $$\lVert \mathrm{emb}(t) - \mathrm{emb}(t')\rVert^2 = \sum_k 2 - 2\cos\frac{2\pi\,(t - t')}{p_k}$$
#
# Only the difference counts, not where in $[0, 1]$ the pair lies.


# %%
def plain_distance(difference, dim):
    period = 4e-3 * 1000 ** torch.linspace(0, 1, dim // 2, dtype=torch.float64)
    return (2 - 2 * (2 * torch.pi * difference / period).cos()).sum().sqrt()


for t, other in ((0.1, 0.4), (0.6, 0.9), (0.5, 0.51)):
    pair = time_embedding(torch.tensor([t, other], dtype=torch.float64), FIRST.width)
    torch.testing.assert_close((pair[0] - pair[1]).norm(), plain_distance(other - t, FIRST.width))
    print(f"{t} and {other}: {plain_distance(other - t, FIRST.width):.4f}")

# %% [markdown]
# The shortest period is 0.004, so the embedding changes fast: far faster than a sampler needs that takes ten steps.
#
# **Predict.** Take the largest distance on the way from $t = 0$ to 1 as the unit. How far apart are two times that differ by 0.002, in the condition
# and in what the norms are told?


# %%
def told_distance(weights, apart):  # apart: differences of conditions, (..., width)
    total = 0
    for name in weights.norm_names:
        used = 2 * weights.width if name == "final norm" else None  # its gate is told to nobody
        total = total + (apart @ weights.dense(name)[0][:used].T).square().sum(dim=-1)
    return total.sqrt()


cond, told = (torch.tensor(curves[FIRST.label][what]) for what in (COND, ALL))
long_way = told_distance(FIRST, cond[-1] - cond[0])
torch.testing.assert_close(long_way, (told[-1] - told[0]).norm(), atol=1e-4, rtol=1e-4)

# %%
BASES, NEAR = TIMES[::4], torch.linspace(-0.008, 0.008, 33)
pairs, far, close = BASES[:, None] + NEAR, {}, {}
for label, weights in WEIGHTS.items():
    apart = weights.cond(pairs.clamp(0, 1).flatten()).unflatten(0, pairs.shape)
    apart = apart - weights.cond(BASES)[:, None]
    apart[(pairs < 0) | (pairs > 1)] = torch.nan
    close[label] = {COND: apart.norm(dim=-1), ALL: told_distance(weights, apart)}
    rows = {what: torch.tensor(curves[label][what]) for what in (COND, ALL)}
    far[label] = {what: torch.cdist(row, row) for what, row in rows.items()}

# %%
view = figures.TimeDistances(TIMES, BASES, NEAR, far, close)
explore(view, t=slider(0.0, 1.0, 0.5, 0.1), weights=MENU, what=choice([COND, ALL]))

# %% [markdown]
# Dots are the ten times at which pi0.5's sampler asks for a velocity. A smooth valley means that near times are told nearly the same. A narrow notch
# between high walls means that even neighbours are strangers: then nothing learned at one time carries over to the next by itself.


# %%
def in_units(label, what):  # of the longest way: 0.002 apart, and 0.1 apart
    fine, step = close[label][what][:, 20].nanmean(), far[label][what].diagonal(4).mean()
    return float(fine / far[label][what].max()), float(step / far[label][what].max())


for label in WEIGHTS:
    for what in (COND, ALL):
        fine, step = in_units(label, what)
        print(f"{label}: {fine:.2f} at 0.002 apart, {step:.2f} at 0.1 apart, in {what}")
assert min(*in_units(RANDOM, COND), *in_units(RANDOM, ALL)) > 0.4
assert in_units(OURS.label, COND)[0] > 3 * in_units(OURS.label, ALL)[0]

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# With random weights 0.002 is already close to half of the way, in both: a tenth is no nearer than a half. In our trained expert the condition
# still jumps by a tenth of the way, but what the norms are told by only a fiftieth: the Denses are deaf to most of what jumps. If pi0.5's two
# lines are both small, its time MLP is smooth already; if both are large, nothing smooths.
#
# </details>

# %% [markdown]
# ## 6. The gate that nobody uses
#
# A gate belongs to the branch behind its norm. Behind the final norm there is none, so its gate is thrown away, and a third of that Dense never gets a
# gradient. It should still be what it was when training began. Lesson 04 found three beginnings:
#
# | code | kernel | bias | then the unused gate is |
# |---|---|---|---|
# | openpi, JAX | 0 | 0 | exactly 0 |
# | openpi, PyTorch | $N(0, 0.02)$ | 0 | noise of size $0.02\,\lVert c\rVert$ |
# | lerobot | 0 | uniform, up to $1/\sqrt{\text{width}}$ | not 0, the same at all $t$ |
#
# **Predict.** Which of the three will you find in the file? And in our own expert?


# %%
def beginning(kernel, bias):
    if not kernel.any() and not bias.any():
        return "all 0: openpi's JAX init, or ours"
    if not kernel.any() and bias.abs().max() <= len(bias) ** -0.5:
        return "kernel 0, bias uniform: lerobot's init"
    if not bias.any() and abs(kernel.std() / 0.02 - 1) < 0.05:
        return "N(0, 0.02): openpi's PyTorch init"
    return "none of the three: something moved it"


# %%
explore(figures.LastNorm(TIMES, TOLD), t=slider(0.0, 1.0, 1.0, 0.025), weights=MENU)

# %%
for label, weights in WEIGHTS.items():
    kernel, bias = (part.chunk(3) for part in weights.dense("final norm"))
    sizes = ", ".join(f"{rows.square().mean().sqrt():.4f}" for rows in kernel)
    print(f"{label}: RMS for scale, shift, gate {sizes}\n  {beginning(kernel[2], bias[2])}")
assert not any(part.chunk(3)[2].any() for part in OURS.dense("final norm"))

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Ours is exactly 0, after training as before. For pi0.5 read the line above. Exact zeros fit openpi's JAX init, noise of size 0.02 its PyTorch
# init. Noise that is smaller, or "none of the three", can come from weight decay, which shrinks what gets no gradient, from
# averaging, or from a conversion. So these rows, of no use to the robot, are a record of how the file was made.
#
# </details>

# %% [markdown]
# ## 7. Beside lesson 07
#
# Now all of them on one page, with the network of lesson 07, which has no attention. Layers are matched by how far down they lie.
#
# **Predict.** In lesson 07 shift changed most with $t$ and was larger near noise. Will the others agree?

# %%
reach = load_checkpoint(CHECKPOINTS / "reach.safetensors").model
SMALL = pretrained.from_expert(reach, "lesson 07's expert, not the real weights")
beside = TOLD | {SMALL.label: all_told(SMALL)}
looks = [*figures.FILE_LOOKS[: len(FILES)], *figures.OUR_LOOKS]

# %%
view = figures.SideBySide(TIMES, beside, dict(zip(beside, looks, strict=True)))
film(view, frames=18, depth=slider(0.0, 1.0, 0.0, format=".0%"))


# %%
def rise(label, part):  # size near noise over size near data
    sizes = beside[label].sizes(part)[:-1].mean(axis=0)
    return sizes[-1] / sizes[0]


for label in beside:
    rises = ", ".join(f"{part} {rise(label, part):.2f}" for part in probes.PARTS)
    print(f"{label}: size at t = 1 over t = 0: {rises}")

# %%
varying = {n: [beside[n].varying(p)[:-1].mean() for p in probes.PARTS] for n in beside}
for label, (scale, shift, gate) in varying.items():
    print(f"{label}: depends on t: scale {scale:.0%}, shift {shift:.0%}, gate {gate:.0%}")
assert all(max(varying[n]) == varying[n][1] for n in (OURS.label, SMALL.label))
assert rise(SMALL.label, "shift") > 2 > rise(OURS.label, "shift")

# %% [markdown]
# Where pi0.5 agrees with a network of 0.2 million parameters on a made task, the finding may be about flow matching. Where it does not, the small one is no
# model of the large one in this respect, and lesson 07 says nothing about it.

# %%
changed = pretrained.difference(*FILES, TIMES) if len(FILES) == 2 else None
print(
    "from first to second:" if changed else "Set SECOND to a fine-tuned pi0.5 to compare the two."
)
for part in probes.PARTS if changed else ():
    print(f"{part} changed by {getattr(changed, part)[:-1].mean():.1%}, mean over layers")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Our two trained networks agree in part: in both shift depends most on $t$, but only lesson 07's is much larger near noise. In random weights the three parts
# differ by chance. What pi0.5 does stands in the lines above.
#
# </details>

# %% [markdown]
# ## Where the story is only partly true
#
# *A large gate means a layer that matters.* Not by itself. Make all gates of a model ten times smaller and the last matrices of the branches ten times larger: it is
# the same network.

# %%
twin, gates = copy.deepcopy(MODEL), slice(2 * MODEL.config.width, None)
for block in twin.transformer.blocks:
    for norm in (block.attention_norm, block.feed_forward_norm):
        norm.modulation.weight[gates] /= 10
        norm.modulation.bias[gates] /= 10
    for last in (block.attention.output, block.feed_forward.down):
        last.weight *= 10

# %%
random = torch.Generator().manual_seed(SEED)
x_t, seen = torch.randn(64, 16, 2, generator=random), torch.randn(64, 4, generator=random)
time = torch.rand(64, generator=random)
torch.testing.assert_close(twin(x_t, time, seen), MODEL(x_t, time, seen), atol=1e-4, rtol=1e-4)
for model in (MODEL, twin):
    gate = probes.modulations(model, TIMES)["layer 0 attention"].gate
    depends = 1 - probes.constant_share(gate)
    print(f"gate of layer 0: size {gate.square().mean().sqrt():.4f}, {depends:.3f} depends on t")

# %% [markdown]
# - So sizes say little across layers; how a gate changes with $t$ survives such a trade, and that is what to compare.
# - *It depends on $t$, so it is worth something*: lesson 07 held each part at its average and measured the cost. Without inputs that cannot be done here.
# - Weights alone give no success rate. They cannot say that pi0.5 is good *because* of adaRMS: we know of no published pi0.5 without it.
# - 41 times see no wiggle that is faster than 0.05 in $t$. Beat 5 looks closer, at eleven places.
# - A file in bfloat16 has two to three digits. Exact zeros are exact; anything else is rounded by up to 0.4%.
# - Stand-ins are stand-ins: two numbers that agree between them say nothing about pi0.5.

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** How many bytes are the 78 tensors of pi0.5 (width 1024, 18 layers) in bfloat16, two bytes a number?

# %%
size = ...
checks.lesson_08.exercise_1(size)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# 37 Denses from 1024 to 3072 and two from 1024 to 1024, each with a bias.
#
# ```python
# size = 2 * (37 * (1024 + 1) * 3072 + 2 * (1024 + 1) * 1024)
# checks.lesson_08.exercise_1(size)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (compute).** Which share of the parameters of the 37 Denses never gets a gradient?

# %%
share = ...
checks.lesson_08.exercise_2(share)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# A third of one of 37 Denses of equal size.
#
# ```python
# share = 1 / 3 / 37
# checks.lesson_08.exercise_2(share)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** Look at the fastest sine and cosine of the embedding alone, period 0.004. What is the smallest difference of two times at which
# this pair is as far apart as it can be?

# %%
difference = ...
checks.lesson_08.exercise_3(difference)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $2 - 2\cos(2\pi\,\Delta/p)$ is largest where the cosine is $-1$: $\Delta = p/2$, half a turn. At $\Delta = p$ the pair has come back.
#
# ```python
# difference = 0.004 / 2
# checks.lesson_08.exercise_3(difference)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (build).** Halve the gates of one norm without changing the network. Given the norm's Dense (`weight` (3 width, width), `bias` (3 width,)) and the
# last matrix of the branch behind it, `out` (width, anything), return the three anew. Leave what you were given as it is.

# %%
halve_gates = ...  # a function of weight, bias and out
checks.lesson_08.exercise_4(halve_gates)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# The gate is the last third of the rows, of the bias too. What it loses, the branch's last matrix gains.
#
# ```python
# def halve_gates(weight, bias, out):
#     rows = torch.ones(len(bias))
#     rows[2 * len(bias) // 3 :] = 0.5
#     return weight * rows[:, None], bias * rows, 2 * out
#
#
# checks.lesson_08.exercise_4(halve_gates)
# ```
#
# </details>

# %% [markdown]
# **Exercise 5 (explain with an experiment).** Show that the last gate is used by nobody. In a copy of `MODEL` fill the rows of scale in the Dense of the final
# norm with random numbers, and note the largest change of $v_t$ on `x_t`, `time`, `seen`. In a fresh copy do so for shift, then for gate.

# %%
changes = {"scale": ..., "shift": ..., "gate": ...}
checks.lesson_08.exercise_5(changes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# changes, width = {}, MODEL.config.width
# for number, part in enumerate(("scale", "shift", "gate")):
#     model = copy.deepcopy(MODEL)
#     rows = model.transformer.final_norm.modulation.weight[number * width : (number + 1) * width]
#     rows.normal_(generator=torch.Generator().manual_seed(number))
#     changes[part] = (model(x_t, time, seen) - MODEL(x_t, time, seen)).abs().max()
# checks.lesson_08.exercise_5(changes)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** Why can pi0.5's modulations be computed without a single image? (statement 14)
#
# <details><summary>The images average out over many runs.</summary>No: nothing is averaged, the curves are exact.</details>
# <details><summary>They are made of t alone.</summary>Right: what pi0.5 sees enters through attention, not through the norms.</details>
# <details><summary>An image only changes the gates.</summary>No: scale, shift and gate all come from one Dense, which reads the condition, made of t.</details>
#
# **2.** On a map of RMS the gates of a layer keep one colour from left to right. What follows? (statement 15)
#
# <details><summary>These gates do not depend on t.</summary>No: single gates may trade places while their RMS stays.</details>
# <details><summary>The layer does not use the time.</summary>No: even with constant gates, scale and shift may change.</details>
# <details><summary>Only that their size stays.</summary>Right: look at them feature by feature, and at the share that depends on t.</details>
#
# **3.** The condition needs twelve directions, what the norms are told two. Where did ten go? (statement 14)
#
# <details><summary>Hardly any Dense listens to them.</summary>Right: times such a direction, the Denses give next to nothing.</details>
# <details><summary>The time MLP removed them.</summary>No: the condition is the MLP's result, and it has them.</details>
# <details><summary>RMSNorm removed them.</summary>No: the norm works on the stream, not on the condition.</details>
#
# **4.** The gates of layer 3 are twice as large as those of layer 9. Does layer 3 write twice as much? (statements 15 and 16)
#
# <details><summary>Unknown.</summary>Right: what is written is gate times branch, and a large gate may make up for a quiet branch.</details>
# <details><summary>Yes, a gate says how much is written.</summary>No: it says by how much the branch is multiplied, and the branches differ.</details>
# <details><summary>No, the norm in front evens it out.</summary>No: the norm stands before the branch, the gate behind it.</details>
#
# **5.** The last gate of a file is random noise, not zero. What does that tell? (statement 17)
#
# <details><summary>The file is broken.</summary>No: nobody reads this gate, so pi0.5 computes the same with any numbers there.</details>
# <details><summary>The blocks were not the identity at the start.</summary>Right: these rows stayed as they were initialised, and the gates of the blocks began in the same way.</details>
# <details><summary>The final norm was trained longer.</summary>No: this gate never had a gradient.</details>

# %% [markdown]
# ## Summary
#
# $$m_n(t) = W_n\,c(t) + b_n\,,\qquad \text{share that depends on } t = 1 - \frac{\lVert \mathbb E_t\,m\rVert^2}{\mathbb E_t\lVert m\rVert^2}\,,\qquad
# \lVert m(t) - m(t')\rVert^2 = \sum_n \lVert W_n\,(c(t) - c(t'))\rVert^2$$
#
# 78 tensors, a quarter of the action expert, decide what 37 norms are told, and they see nothing but $t$. Random weights pass on every wiggle of the
# embedding; our trained expert tells its norms a curve of two directions, most of it constant. Whether pi0.5 did the same, the cells
# say as soon as they have its weights.
#
# **Next:** this is the last lesson. Point `SOURCE` at a fine-tuned pi0.5, or take `helpers/` into your own project.
#
# **References**
#
# - Physical Intelligence, *π0.5: a Vision-Language-Action Model with Open-World Generalization*, 2025, arXiv:2504.16054; *π0*, 2024, arXiv:2410.24164
# - Physical Intelligence, openpi, `src/openpi/models/gemma.py`, `pi0.py`, and `src/openpi/models_pytorch/`
# - Hugging Face, lerobot, `src/lerobot/policies/pi_gemma.py`, `src/lerobot/policies/pi05/`; weights: `lerobot/pi05_base` on the hub
# - W. Peebles, S. Xie, *Scalable Diffusion Models with Transformers*, ICCV 2023, arXiv:2212.09748 (modulation, and its zero init)
