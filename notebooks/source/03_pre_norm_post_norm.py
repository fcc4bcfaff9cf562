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
# # 03 Pre-Norm, Post-Norm
#
# **Why is Pre-Norm stable in deep stacks, and where is that only partly true?**
#
# A norm can stand in two places: before a branch, or after the sum of trunk and branch. In one layer the difference looks
# small. A gradient that passes 24 layers meets it 24 times. At the end of this lesson you can
#
# - derive the Jacobian of both kinds of layer, and check it against autograd,
# - say what a stack does when its branches are switched off, turned up, or very many,
# - say what each placement costs: growth of the stream, dead directions, tokens that become alike,
# - say which part of "Pre-Norm trains deep stacks, Post-Norm does not" was measured here, and which is only a citation.
#
# About 60 minutes. Run the cells from the top.

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
from IPython.display import display
from tqdm.auto import tqdm

from helpers import checks
from helpers.blocks import FeedForward, PostNormBlock, PreNormBlock
from helpers.claims import verdict
from helpers.controls import choice, explore, slider
from helpers.figures import depth as figures
from helpers.film import showing_stills
from helpers.jacobians import along_depth, singular_values, token_jacobian
from helpers.norms import layer_norm, rms_norm
from helpers.race import VARIANTS, RaceConfig, Run, race, shipped_results
from helpers.stacks import random_stack

SEEDS = (0, 1, 2)
DEPTH, WIDTH, TOKENS = 64, 64, 8
QUICK = True  # beat 7: a small race of seconds; False runs the one of 24 layers, some minutes

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $x_l$ | `hidden_states` | (tokens, width) | the stream before layer $l$; in small examples one token, (d,) |
# | $F$ | `branch` | function | attention or feed-forward |
# | $N$ | `rms_norm` | function | RMSNorm of lesson 01 |
# | $J$ | `jacobian` | (d, d) | derivatives of one token's output by the same token's input |
# | $\sigma_i$ | `singular_values(jacobian)` | (d,) | the factors by which $J$ stretches or shrinks small pushes |
# | $L$ | `DEPTH` | number | layers; each holds an attention and a feed-forward branch |

# %% [markdown]
# ## 1. Two formulas, two Jacobians
#
# $$\text{Pre-Norm: } y = x + F(N(x)) \qquad\qquad \text{Post-Norm: } y = N(x + F(x))$$


# %%
def pre_norm(x, branch):
    return x + branch(rms_norm(x))


def post_norm(x, branch):
    return rms_norm(x + branch(x))


layers = {"pre": pre_norm, "post": post_norm}


# %% [markdown]
# The smallest example: a state of two entries, and a branch that is one matrix.
#
# **Predict.** Switch the branch off, $F = 0$. A small push on $x$ comes out of a Pre-Norm layer as it went in. What
# comes out of a Post-Norm layer?


# %%
def tokens_of(seed, tokens=TOKENS, width=WIDTH):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tokens, width, dtype=torch.float64, generator=generator)


x = torch.tensor([3.0, 1.0], dtype=torch.float64)
matrix = torch.tensor([[0.3, -0.8], [0.5, 0.6]], dtype=torch.float64)
for strength in (0.0, 1.0):
    for layer in (pre_norm, post_norm):
        out = layer(x, lambda read, strength=strength: strength * read @ matrix.T)
        print(f"strength {strength:.0f}  {layer.__name__:9}", out.numpy().round(3))

# %% [markdown]
# A **Jacobian** says what a layer does to small pushes. The chain rule gives both; $J_N$ is the norm's own (lesson 01, exercise 3):
#
# $$J_{\text{pre}} = I + J_F\,J_N(x) \qquad J_{\text{post}} = J_N(x + F(x))\,(I + J_F) \qquad
# J_N(x) = \frac1r\left(I - \frac{x\,x^\top}{d\,r^2}\right),\quad r^2 = \tfrac1d\textstyle\sum x_i^2 + \epsilon$$
#
# In the first, $I$ stands alone. In the second, it is inside: every gradient must pass $J_N$.


# %%
def norm_jacobian(x):
    r = (x.square().mean() + 1e-6).sqrt()
    return (torch.eye(len(x)) - torch.outer(x, x) / (len(x) * r**2)) / r


pre_formula = torch.eye(2) + matrix @ norm_jacobian(x)
post_formula = norm_jacobian(x + matrix @ x) @ (torch.eye(2) + matrix)

# %%
branch = lambda read: read @ matrix.T  # noqa: E731
for name, formula in (("pre", pre_formula), ("post", post_formula)):
    by_autograd = token_jacobian(lambda state, name=name: layers[name](state, branch), x[None])
    torch.testing.assert_close(formula, by_autograd)
    print(f"{name:4} factors {singular_values(by_autograd).numpy().round(4)}")

# %% [markdown]
# `helpers.jacobians.token_jacobian` does that for whole stacks; `helpers.blocks` has the two layers with attention and a
# learned scale. They are these formulas:

# %%
feed_forward = FeedForward(WIDTH, 4 * WIDTH).double()
states = tokens_of(0)[None]
for layer, block in ((pre_norm, PreNormBlock), (post_norm, PostNormBlock)):
    whole = block(WIDTH, None, feed_forward).double()
    torch.testing.assert_close(layer(states, feed_forward), whole(states))

# %%
pushed = figures.PushedThroughLayer(branch, layers, token_jacobian, x[None])
explore(pushed, strength=slider(0.0, 1.0, 0.0, 0.05), angle=slider(0, 360, 30, 5, unit="°"))

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Its part along $x$ is gone, and the rest is divided by the RMS. Post-Norm's results all have RMS 1, so they lie on a circle, and a
# push can only move along it. However you set the sliders, the thick line stays a line: one factor is (nearly) zero. Pre-Norm's
# ring is a ring at strength 0, and only slowly becomes an ellipse.
#
# </details>

# %% [markdown]
# ## 2. Layers that do nothing
#
# At the start of training, or where a layer has nothing to say, $F$ is about 0. Then Pre-Norm gives $x_{l+1} = x_l$.
#
# **Predict.** A hundred Post-Norm layers with $F = 0$: does the state shrink at every layer? How many of its directions can a
# push still use at the end?

# %%
big, idle = 3 * states, {}
for placement in ("pre", "post"):
    idle[placement] = big
    for layer in random_stack(placement, 100, strength=0.0):
        idle[placement] = layer(idle[placement])
    for name, other in (("in", big), ("N(in)", rms_norm(big))):
        print(f"{placement:4} out - {name:5}: {float((idle[placement] - other).abs().max()):.1e}")

# %%
small = 3 * rms_norm(tokens_of(1, tokens=1, width=8))
ways = {"pre": lambda state: state, "post": rms_norm, "post_layer_norm": layer_norm}
idle_rms, idle_factors = {}, {}
for name, one_layer in ways.items():
    streams, jacobians = along_depth([one_layer] * 100, small)
    idle_rms[name] = streams.square().mean((1, 2)).sqrt()
    idle_factors[name] = singular_values(torch.cat([torch.eye(8)[None], jacobians]))

# %%
explore(figures.SwitchedOff(idle_rms, idle_factors), layer=slider(0, 100, 1))

# %% tags=["claim-12"]
apart = float((idle["post"] - rms_norm(big)).abs().max())
dead = {name: int((table[100] < 1e-6).sum()) for name, table in idle_factors.items()}
assert torch.equal(idle["pre"], big) and apart < 1e-5
assert dead == {"pre": 0, "post": 1, "post_layer_norm": 2}
assert (idle_factors["post"][100][:7] - 1 / 3).abs().max() < 1e-5
verdict(
    12,
    torch.equal(idle["pre"], big) and not torch.allclose(idle["post"], big),
    "100 Pre-Norm layers return their input bit for bit; 100 Post-Norm layers normalise it once "
    f"and then stay (within {apart:.0e}); of 8 directions RMSNorm has killed {dead['post']}, "
    f"LayerNorm {dead['post_layer_norm']}",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# No: the first layer brings the RMS to 1, and the norm of a vector of RMS 1 is that vector. So nothing more happens, and $d - 1$
# directions keep the same factor, $1/\mathrm{RMS}(x) = 1/3$. One direction is dead: the radial one, along $x$ itself, for a
# norm ignores size. LayerNorm ignores a shift as well, so it kills a second one, all-ones. "Not the identity" is right, but a
# hundred idle Post-Norm layers do not pile up.
#
# </details>

# %% [markdown]
# ## 3. Turning the branches up
#
# Now real branches: attention and GELU feed-forward, width 64, 8 tokens, weights from $N(0, 1/\text{inputs})$, 24 layers. Both stacks
# hold the same branches, multiplied by a strength. The article says of Pre-Norm: $\partial x_{l+1}/\partial x_l \approx I$.
#
# **Predict.** At strength 1, is the Jacobian of 24 Pre-Norm layers near $I$?


# %% slideshow={"slide_type": "skip"}
def measure(placement, depth, seed=0, **options):
    """Stream (depth + 1, tokens, width) and Jacobian (depth, width, width), layer by layer."""
    return along_depth(random_stack(placement, depth, seed=seed, **options), tokens_of(seed))


def with_bar(items):
    return tqdm(items, leave=False, disable=showing_stills())


def span(values, form):
    return f"{values.min():{form}} to {values.max():{form}}"


# %%
strengths = [round(0.1 * step, 1) for step in range(11)]
tuned = {
    placement: torch.stack([measure(placement, 24, strength=s)[1][-1] for s in with_bar(strengths)])
    for placement in ("pre", "post")
}
spectra = {p: singular_values(jacobians) for p, jacobians in tuned.items()}
distance = {
    p: (jacobians - torch.eye(WIDTH)).norm(dim=(1, 2)) / WIDTH**0.5
    for p, jacobians in tuned.items()
}

# %%
explore(figures.BranchStrength(strengths, spectra, distance), strength=slider(0.0, 1.0, 0.3, 0.1))

# %%
of_seeds = {p: [measure(p, 24, seed) for seed in with_bar(SEEDS)] for p in ("pre", "post", "peri")}
ends = {p: torch.stack([jacobians for _, jacobians in runs]) for p, runs in of_seeds.items()}
weak_ends = torch.stack([measure("pre", 24, s, strength=0.05)[1][-1] for s in with_bar(SEEDS)])


# %% tags=["claim-10"]
def summary(jacobians):
    factors = singular_values(jacobians)
    return {
        "distance": (jacobians - torch.eye(WIDTH)).norm(dim=(1, 2)) / WIDTH**0.5,
        "mean eigenvalue": jacobians.diagonal(dim1=1, dim2=2).mean(1),
        "median": factors.median(1).values,
        "smallest": factors[:, -1],
    }


weak, full = summary(weak_ends), summary(ends["pre"][:, -1])
assert weak["distance"].max() < 0.25 and full["distance"].min() > 1
assert full["smallest"].min() > 1e-3 and (full["mean eigenvalue"] - 1).abs().max() < 0.15
verdict(
    10,
    "the branches are weak; at full strength J is far from I, though no direction dies",
    f"24 layers, 3 seeds: distance of J from I {span(weak['distance'], '.2f')} at strength 0.05, "
    f"{span(full['distance'], '.1f')} at 1; there the mean eigenvalue is "
    f"{span(full['mean eigenvalue'], '.2f')}, the median factor {span(full['median'], '.2f')}, "
    f"the smallest {span(full['smallest'], '.3f')}",
)

# %% [markdown]
# The distance is $\lVert J - I\rVert / \sqrt d$: 0 for the identity, 1 if $J$ were zero.
#
# <details><summary>The answer to the prediction</summary>
#
# No. It is further from $I$ than the zero matrix is. What holds is weaker and still worth having: the eigenvalues average about 1, half
# of all pushes come through larger than they went in, and no direction dies. Post-Norm at the same strength loses most of
# them. With weak branches both are near their $F = 0$ form, and the two curves lie close together.
#
# </details>

# %% [markdown]
# ## 4. Depth
#
# Four stacks of the same branches: Pre-Norm, Post-Norm, no norm at all, and adaRMS at its start (lesson 04), whose gates are
# zero. Singular values of the Jacobian from the input to every depth, computed once; the slider shows them.
#
# **Predict.** Which stack loses its pushes with depth, which one blows up, and which one does neither?

# %%
profiles = {
    feed_forward: {
        placement: measure(placement, DEPTH, feed_forward=feed_forward)
        for placement in with_bar(("pre", "post", "none", "ada"))
    }
    for feed_forward in ("GELU", "gated GELU")
}
factors = {
    feed_forward: {
        name: singular_values(jacobians) for name, (_, jacobians) in by_placement.items()
    }
    for feed_forward, by_placement in profiles.items()
}

# %%
explore(
    figures.DepthSpectra(factors, DEPTH),
    depth=slider(1, DEPTH, 24),
    feed_forward=choice(list(factors)),
)

# %% [markdown]
# Notice at depth 24 and 64, with both feed-forwards:
#
# - *no norm* leaves the picture with GELU; with gated GELU, which multiplies two maps of its input and so about squares it, it overflows float64 after 10 layers.
# - *Post-Norm*'s median falls by powers of ten. Its **largest** factor depends on the branch: with GELU it stays of order 1, with gated
#   GELU it grows into the thousands. So "its gradients vanish" and "its gradients explode" are each half of it: the spectrum spreads.
# - *adaRMS* at its start is the identity at every depth.

# %% tags=["claim-11"]
medians = {p: singular_values(ends[p][:, [3, 7, 23]]).median(-1).values for p in ("pre", "post")}
print("median factor at depth 4, 8, 24; a row for each seed")
for placement, table in medians.items():
    print(placement, [[float(f"{value:.2g}") for value in row] for row in table])
assert medians["post"][:, 2].max() < 1e-2 and medians["pre"].min() > 0.9
assert medians["post"][:, 0].min() > 0.2 and medians["post"][:, 0].max() < 0.5
verdict(
    11,
    "the stack is deep and its branches start at full strength",
    "median factor, 3 seeds: Post-Norm "
    + ", ".join(f"{span(medians['post'][:, i], '.1g')} at {d}" for i, d in enumerate((4, 8, 24)))
    + f" layers, Pre-Norm {span(medians['pre'][:, 2], '.2f')} at 24; "
    f"Post-Norm at strength 0.1 {spectra['post'][1].median():.2f} at 24 (seed 0)",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Post-Norm loses them, no norm blows up, adaRMS at its start does neither. Pre-Norm does neither very much: its spectrum
# opens slowly, from a few thousandths to about 20 after 64 layers.
#
# </details>

# %% [markdown]
# ## 5. What Pre-Norm pays: the stream grows
#
# Nothing on the trunk takes away what the branches write. Each branch reads a state of RMS 1, so each writes about as much as the others.
#
# **Predict.** If all contributions pointed in independent directions, how would the RMS grow with the layer? And the share of
# the stream that one layer writes?

# %%
rms, share = {}, {}
for feed_forward, by_placement in profiles.items():
    rms[feed_forward], share[feed_forward] = {}, {}
    for name, (streams, _) in by_placement.items():
        change = (streams[1:] - streams[:-1]).norm(dim=(1, 2))
        rms[feed_forward][name] = streams.square().mean((1, 2)).sqrt()
        share[feed_forward][name] = change / streams[1:].norm(dim=(1, 2))
    assert share[feed_forward]["pre"][0] > 0.5 and 0.1 < share[feed_forward]["pre"][-1] < 0.2

# %%
explore(
    figures.StreamGrowth(rms, share),
    layer=slider(1, DEPTH, 24),
    feed_forward=choice(list(rms)),
)


# %% tags=["claim-7"]
def stream_rms(placement, seed, depth=DEPTH):
    state, sizes = tokens_of(seed)[None], []
    for layer in random_stack(placement, depth, seed=seed):
        state = layer(state)
        sizes.append(float(state.square().mean().sqrt()))
    return torch.tensor(sizes)


sizes = {p: torch.stack([stream_rms(p, s) for s in SEEDS]) for p in ("pre", "post", "none")}
powers = (sizes["pre"][:, -1] / sizes["pre"][:, 7]).log() / torch.tensor(DEPTH / 8).log()
assert (sizes["post"] - 1).abs().max() < 1e-3 and sizes["none"][:, 23].min() > 1e5
assert powers.min() > 0.5 and powers.max() < 0.65
verdict(
    7,
    "no norm stands on the trunk",
    f"RMS after 64 layers, 3 seeds: Pre-Norm {span(sizes['pre'][:, -1], '.1f')}, growing like "
    f"depth^{powers.mean():.2f}; without a norm {sizes['none'][:, 23].min():.0e} or more after 24; "
    "Post-Norm 1 throughout",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Like $\sqrt{\text{layer}}$, as the length of a random walk does, and the share falls like $1/\sqrt{\text{layer}}$. Measured is a little
# more, since branches read related states and agree somewhat. The first layer writes more than half of the stream that leaves it, the last
# about a seventh. So deep Pre-Norm layers change ever less: that is why the gradient passes, and also why they are partly wasted.
#
# </details>

# %% [markdown]
# ## 6. What Post-Norm pays: tokens become alike
#
# Attention mixes the tokens of a sequence. Here is the cosine between every pair of the 8 tokens, which start in random directions.
#
# **Predict.** Under which placement do the tokens end up pointing the same way?


# %%
def cosines_of(streams):
    directions = torch.nn.functional.normalize(streams, dim=-1)
    return directions @ directions.mT


cosines = {f: {p: cosines_of(by[p][0]) for p in ("pre", "post")} for f, by in profiles.items()}

# %%
explore(
    figures.TokenCollapse(cosines), layer=slider(0, DEPTH, 16), feed_forward=choice(list(cosines))
)

# %%
for name, (low, high) in {"pre": (0.0, 0.8), "post": (0.99, 1.0)}.items():
    after_16 = torch.stack([table[name][16] for table in cosines.values()])
    means = (after_16.sum((1, 2)) - TOKENS) / (TOKENS * (TOKENS - 1))
    print(f"{name:4} mean cosine after 16 layers {means.numpy().round(3).tolist()} (GELU, gated)")
    assert low < means.min() and means.max() < high + 1e-9

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Under both, only at very different speeds. After 16 Post-Norm layers the eight tokens are one direction to within 1%: what told
# them apart has been normalised away again and again. Under Pre-Norm the first states stay in the stream and keep the tokens apart for longer, but
# the mean cosine rises there too, with GELU to about 0.9 at layer 64.
#
# </details>

# %% [markdown]
# ## 7. A race
#
# Does any of this matter for training? The task: sort 8 numbers below 16. Four stacks, the same branches and data, Adam,
# no warm-up. *Outputs / √(2L)* starts Post-Norm with each branch's output weights divided by $\sqrt{2L}$, a rule GPT-2 uses (in Pre-Norm).
#
# **Predict.** Which of the four learn, and which one does not get off the ground?

# %%
config = RaceConfig(depth=16, batch=16, steps=80, learning_rate=2e-3) if QUICK else RaceConfig()


def race_picture():
    results = {run.variant: [run.result] for run in runs}
    return figures.Race(results, config.steps, guessing)


numbers = torch.randint(16, (4096, 8), generator=torch.Generator().manual_seed(0)).sort(-1).values
guessing = float((numbers == numbers.mode(0).values).float().mean())

# %% [markdown]
# *Guessing* answers, for each place, the number that is most often there, without looking at the input.

# %% tags=["trained"]
runs = [Run(variant, config, seed=0) for variant in ("pre", "gate", "post_small", "post")]
live = explore(race_picture(), step=slider(0, config.steps, 0))


def show(step):
    live.controls["step"].value = step


if not showing_stills():
    display(live)
race(runs, on_step=None if showing_stills() else show)

# %%
explore(race_picture(), step=slider(0, config.steps, config.steps))

# %%
last = {run.variant: sum(run.result["accuracy"][-10:]) / 10 for run in runs}
if len(runs[0].result["loss"]) == config.steps:  # else it was stopped, and shows what it has
    assert last["post"] < guessing + 0.05 < last["gate"]
    assert min(last["pre"], last["post_small"]) > 0.4
print(f"guessing {guessing:.2f}", {name: round(value, 2) for name, value in last.items()})

# %% [markdown]
# One seed and a small race. The full one (24 layers, 250 steps, 3 seeds) takes minutes, so its results **ship with
# the collection**; `make experiments` makes them anew. It has a fifth runner: Post-Norm with a warm-up over 40% of the steps
# and gradients clipped to norm 1, the usual remedies.

# %%
records = shipped_results()
shipped = {
    name: [r for r in records if r["variant"] == name]
    for name in ("pre", "gate", "post_small", "post_warm", "post")
}
print("shipped, share in the right place on 1,024 fresh sequences, seeds 0, 1, 2:")
for name, group in shipped.items():
    print(f"  {VARIANTS[name]:32}", [round(r["final_accuracy"], 3) for r in group])

# %%
full_race = figures.Race(shipped, records[0]["settings"]["steps"], guessing)
explore(full_race, step=slider(0, 250, 250))

# %%
finals = {name: [r["final_accuracy"] for r in group] for name, group in shipped.items()}
assert min(finals["pre"] + finals["gate"] + finals["post_small"]) > 0.85
assert max(finals["post"] + finals["post_warm"]) < guessing
first = {v: sum(r["gradient_first"][0] for r in group) / 3 for v, group in shipped.items()}
assert first["post"] > first["pre"] > first["gate"]

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Plain Post-Norm does not: after 250 steps it is still worse than guessing, in all three seeds. Warm-up and clipping help only a little in a race
# this short. But Post-Norm with weak outputs learns too, faster than Pre-Norm here. So the culprit is not the place of the
# norm alone; it is that place, times depth, times branches at full strength. Zero-init gates start later and catch up.
# Nor does the gradient at the first step tell who will learn: in the first layer Post-Norm's is, on average, the larger.
#
# </details>

# %% [markdown]
# ## 8. Who uses what
#
# The article says that modern Transformers use Pre-Norm throughout. This cannot be measured here, only looked up. Each row was read
# in the public code named (`hf:` stands for huggingface/transformers, `src/transformers/models/`).
#
# **Predict.** Of eight newer models (GPT-2, Llama 2, Mistral, pi0, Qwen3, Gemma 2 and 3, OLMo 2): how many norm only before the
# branch? Does one still norm the trunk?

# %%
PLACEMENTS = {
    "Transformer (2017)": ("norm(x + F(x))", "the paper, section 3.1"),
    "BERT": ("norm(x + F(x))", "hf: bert/modeling_bert.py, BertSelfOutput, BertOutput"),
    "GPT-2": ("x + F(norm(x))", "hf: gpt2/modeling_gpt2.py, GPT2Block"),
    "Llama 2": ("x + F(norm(x))", "meta-llama/llama, llama/model.py, TransformerBlock"),
    "Mistral": ("x + F(norm(x))", "mistralai/mistral-inference, transformer_layers.py"),
    "pi0, pi0.5": ("x + F(norm(x))", "Physical-Intelligence/openpi, models/gemma.py, Block"),
    "Qwen3": ("x + F(norm(x)), QK-norm", "hf: qwen3/modeling_qwen3.py"),
    "Gemma 2": ("x + norm(F(norm(x)))", "hf: gemma2/modeling_gemma2.py"),
    "Gemma 3": ("x + norm(F(norm(x))), QK-norm", "hf: gemma3/modeling_gemma3.py"),
    "OLMo 2": ("x + norm(F(x)), QK-norm", "hf: olmo2/modeling_olmo2.py"),
}

# %% tags=["claim-23"]
for model, (placement, source) in PLACEMENTS.items():
    print(f"{model:19} {placement:30} {source}")
newer = {m: p for m, (p, _) in PLACEMENTS.items() if m not in ("Transformer (2017)", "BERT")}
pure = [m for m, p in newer.items() if p.startswith("x + F(norm(x))")]
on_trunk = [m for m, p in newer.items() if p.startswith("norm(x")]
assert not on_trunk and len(pure) < len(newer)
verdict(
    23,
    "'throughout' is read as 'mostly'",
    f"cited, not measured: of {len(newer)} newer models looked up {len(pure)} norm only before "
    f"the branch; Gemma 2 and 3 norm on both sides of it, OLMo 2 after it; {len(on_trunk)} norm "
    "the trunk, as the Transformer of 2017 and BERT do",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Five norm only before it (Qwen3 norms its queries and keys as well). None norms the trunk: the other three keep it
# free too, and differ in what they do to the branch. So the article is right about the trunk, and not about one placement.
#
# </details>
#
# The authors of the first Transformer changed sides early: in tensor2tensor (`tensor2tensor/models/transformer.py`), `transformer_base_v1` follows the
# paper; `transformer_base_v2` norms before the branch. A note there says this cures failures to learn in very deep networks.

# %% [markdown]
# ## Where the story is only partly true
#
# - *Pre-Norm's Jacobian is about $I$*: for weak branches, or with zero gates (beats 3, 4).
# - *Post-Norm is unstable*: deep, and with branches at full strength. After four layers the median factor is still 0.2 to 0.5, and with
#   scaled outputs 24 layers train (beats 4, 7).
# - *Post-Norm's gradients vanish*: or explode; it depends on the branch. What spreads is the spectrum (beat 4).
# - *More Pre-Norm layers, better model*: each adds less, and tokens grow alike there too (beats 5, 6).
# - *There are two placements*: there is a third. **Peri-LN** norms on both sides of the branch, $x + N(F(N(x)))$. Then every branch
#   writes exactly RMS 1, whatever its weights. At random weights it behaves much like Pre-Norm:

# %%
for placement in ("pre", "peri"):
    sizes = torch.stack([streams[-1].square().mean().sqrt() for streams, _ in of_seeds[placement]])
    middle = singular_values(ends[placement][:, -1]).median(-1).values
    print(f"{placement:4} RMS {span(sizes, '.1f')}, median factor {span(middle, '.2f')} (3 seeds)")
    assert sizes.min() > 4 and sizes.max() < 8 and middle.min() > 1 and middle.max() < 1.6

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** A Post-Norm layer with RMSNorm and $F = 0$ meets a state of 5 entries with RMS 4. List the five
# singular values of its Jacobian, largest first ($\epsilon$ ignored).

# %%
values = ...
checks.lesson_03.exercise_1(values)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# values = [0.25, 0.25, 0.25, 0.25, 0.0]
# checks.lesson_03.exercise_1(values)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Write the third placement, Peri-LN, for `x` (..., d) and a function `branch`.

# %%
peri_norm = ...  # a function of x and branch
checks.lesson_03.exercise_2(peri_norm)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def peri_norm(x, branch):
#     return x + rms_norm(branch(rms_norm(x)))
#
#
# checks.lesson_03.exercise_2(peri_norm)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** A stream starts with RMS 1. Each of $L$ layers adds a vector of RMS $r$, all in independent directions, so that squares
# add. Write the RMS after $L$ layers as a function of `layers` and `r`.

# %%
stream_rms_after = ...  # a function of layers and r
checks.lesson_03.exercise_3(stream_rms_after)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def stream_rms_after(layers, r):
#     return (1 + layers * r**2) ** 0.5
#
#
# checks.lesson_03.exercise_3(stream_rms_after)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** Find a strength, as large as you can, at which a Post-Norm stack of 24 layers (seed 0)
# still has a median factor of at least 0.5. Use `measure`. How does it compare with $1/\sqrt{2L}$?

# %%
strength = ...
checks.lesson_03.exercise_4(strength)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $1/\sqrt{48} \approx 0.14$ is well inside: the rule leaves room. It is a rule for the sum of $2L$ branches: together they then write about as much as
# one branch at full strength.
#
# ```python
# for strength in (0.2, 0.22, 0.24, 0.26, 0.28):
#     found = singular_values(measure("post", 24, strength=strength)[1][-1])
#     print(strength, round(float(found.median()), 2))
# strength = 0.24
# checks.lesson_03.exercise_4(strength)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** All branches are off, F = 0. What do 100 Post-Norm layers do to a state? (statement 12)
#
# <details><summary>Nothing.</summary>No: that is Pre-Norm. The first norm brings the RMS to 1.</details>
# <details><summary>They normalise it once.</summary>Right: the norm of a vector with RMS 1 is that vector.</details>
# <details><summary>They shrink it at every layer.</summary>No: after the first layer there is nothing left to change.</details>
#
# **2.** Which direction does an RMS post-norm kill? (statements 11 and 12)
#
# <details><summary>The radial one, along the state.</summary>Right: its result does not depend on the state's size.</details>
# <details><summary>All-ones.</summary>No: that one goes too where the norm is LayerNorm.</details>
# <details><summary>None: it only rescales.</summary>No: bringing every state to one size takes a direction away.</details>
#
# **3.** What holds for the Jacobian of 24 Pre-Norm layers with branches at full strength? (statement 10)
#
# <details><summary>It is near I.</summary>No: for weak branches it is. At full strength it is further from I than the zero matrix.</details>
# <details><summary>Most pushes vanish.</summary>No: that is Post-Norm.</details>
# <details><summary>It is far from I, but no direction dies.</summary>Right: and its eigenvalues average about 1.</details>
#
# **4.** Why does a late Pre-Norm layer change the stream less than an early one? (statement 7)
#
# <details><summary>Its branch writes less.</summary>No: each reads RMS 1 and writes about the same amount.</details>
# <details><summary>The stream it adds to has grown.</summary>Right: about as the root of depth, so the share of one layer falls.</details>
# <details><summary>The norm holds the stream at RMS 1.</summary>No: no norm stands on the trunk.</details>
#
# **5.** A deep Post-Norm stack is to train, its norms left in place. What was enough here? (statements 11 and 23)
#
# <details><summary>Weak branches at the start.</summary>Right: with outputs divided by √(2L) it learned faster than Pre-Norm in beat 7. Gates that start at zero go further the same way.</details>
# <details><summary>Warm-up and clipping.</summary>No: in a race this short they helped only a little.</details>
# <details><summary>Nothing can be.</summary>No: see beat 7. The Transformer of 2017 and BERT norm the trunk, too.</details>

# %% [markdown]
# ## Summary
#
# $$J_{\text{pre}} = I + J_F J_N(x)\,,\qquad J_{\text{post}} = J_N(x + F(x))\,(I + J_F)\,,\qquad
# \mathrm{RMS}(x_L) \approx \sqrt{1 + L\,r^2}\ \text{(Pre-Norm)}$$
#
# Pre-Norm: the identity when branches are off, no dead direction, a stream that grows and late layers that add little. Post-Norm: RMS 1 throughout,
# a radial direction lost in the norm, tokens that become alike. Weak branches make either trainable.
#
# **Next:** lesson 04 gives the branch a scale, a shift and a gate that depend on a condition, and starts the gate at zero.
#
# **References**
#
# - A. Vaswani et al., *Attention Is All You Need*, NeurIPS 2017, arXiv:1706.03762
# - R. Xiong et al., *On Layer Normalization in the Transformer Architecture*, ICML 2020, arXiv:2002.04745: Post-Norm's need of warm-up
# - A. Radford et al., *Language Models are Unsupervised Multitask Learners*, 2019 (GPT-2): output weights scaled with depth
# - J. Kim et al., *Peri-LN: Revisiting Normalization Layer in the Transformer Architecture*, ICML 2025, arXiv:2502.02732
