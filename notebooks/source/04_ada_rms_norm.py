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
# # 04 adaRMS by hand
#
# **What do scale, shift and gate each do, and why start at zero?**
#
# pi0.5 turns noise into robot actions in ten small steps, and its network has to know how far along it is. adaRMS
# tells it: the time $t$ reaches every norm of every layer. At the end of this lesson you can
#
# - say what scale, shift and gate do to a token, and turn each by hand,
# - write the layer in ten lines and hold it against the numbers of the real pi0.5 code,
# - say why a network that starts as the identity learns all the same,
# - find eight mistakes that people really made, by five checks.
#
# About 60 minutes. Time is openpi's: **$t = 1$ is noise, $t = 0$ is data**; most papers count the other way.

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
import numpy as np
import torch
from IPython.display import Markdown

from helpers import checks, first_steps, mistakes, openpi_numbers
from helpers.action_expert import ActionExpert, ExpertConfig, Transformer
from helpers.blocks import GatedFeedForward
from helpers.claims import verdict
from helpers.controls import choice, explore, film, log_slider, slider
from helpers.data import two_moons
from helpers.embeddings import TimeMLP, time_embedding
from helpers.figures import ada_rms_norm as figures
from helpers.figures import diagrams
from helpers.norms import AdaRMSNorm, gated_residual, modulate, rms_norm
from helpers.training import Training, TrainSettings

SEED = 0
STEPS = 800  # of the one training in this lesson

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $x$ | `hidden_states` | (batch, tokens, width) | the trunk: what the layers add to |
# | $t$ | `time` | (batch,) | 1 is noise, 0 is data |
# | $c$ | `cond` | (batch, cond_dim) | what the norms are told, made of $t$ |
# | $s, b, g$ | `scale`, `shift`, `gate` | (batch, 1, width) | the modulation, in this order |
# | $F$ | `branch` | | attention or feed-forward |

# %% [markdown]
# ## 1. Three knobs
#
# RMSNorm with a learned gamma treats every input alike. adaRMS is a norm that listens: its multiplier is computed
# anew for each input, and two more numbers for each feature come along:
#
# $$\text{read} = (1+s)\odot\mathrm{RMSNorm}(x) + b\,,\qquad x_\text{new} = x + g\odot F(\text{read})$$
#
# **Predict.** Three features, normed to $[1, 1, -1]$; $s = [0, 1, -1]$ and $b = [0, 0, 0.5]$. What does the branch
# read? If $F$ doubles it and $g = [1, 0, -1]$: what is written?

# %%
normed = torch.tensor([1.0, 1.0, -1.0])
scale, shift, gate = torch.tensor([[0.0, 1.0, -1.0], [0.0, 0.0, 0.5], [1.0, 0.0, -1.0]])
read = normed * (1 + scale) + shift
written = gate * (2 * read)
print("read", read.tolist(), "  written", written.tolist())
assert torch.equal(read, modulate(normed, scale, shift))
assert torch.equal(normed + written, gated_residual(normed, 2 * read, gate))

# %% [markdown]
# Now a cloud of tokens with two features. The branch is a quarter turn, so every arrow stands at a right angle to what
# was read. *Scale* and *shift* act on feature 1 only, *gate* on both.
#
# **Predict.** Set *shift* to 0 and *scale* to $-1$: what is left of the arrows? Then *scale* to 0, and *gate* to $-1$?


# %%
def quarter_turn(z):
    return torch.stack([-z[..., 1], z[..., 0]], dim=-1)


generator = torch.Generator().manual_seed(SEED)
tokens = 1.3 * torch.randn(16, 2, generator=generator, dtype=torch.float64)

# %%
knobs = figures.ThreeKnobs(tokens, rms_norm, modulate, quarter_turn)
explore(
    knobs,
    scale=slider(-1.0, 1.5, 0.8),
    shift=slider(-1.5, 1.5, 0.5, 0.05),
    gate=slider(-1.0, 1.0, 0.8),
)

# %% tags=["claim-15"]
plain, up = rms_norm(tokens), tokens.new_tensor([1.0, 0.0])
moved = modulate(plain, 0, up) - plain
nothing, half = (gated_residual(tokens, plain, g) - tokens for g in (0.0, 0.5))
assert torch.equal(modulate(plain, up, 0), plain * (1 + up)) and not nothing.any()
assert not modulate(plain, -up, 0)[:, 0].any() and torch.allclose(moved, up.expand_as(moved))
found = "scale 1 doubles a feature, -1 removes it; shift moves all tokens alike; gate 0 writes "
verdict(15, bool(torch.allclose(half, plain / 2)), "by hand: " + found + "nothing, 0.5 half of it")

# %% [markdown]
# <details><summary>The answers to the predictions</summary>
#
# The branch reads $[1, 2, 0.5]$, and $[2, 0, -1]$ is written: the second feature computes something that is thrown
# away. At scale $-1$ feature 1 is not read at all; only the sideways arrows that come from feature 2 are left. At gate $-1$ every arrow turns
# round. A gate is a plain number: no sigmoid, no tanh, nothing keeps it between 0 and 1.
#
# </details>

# %% [markdown]
# ## 2. One number turns all the knobs
#
# In pi0.5 nobody turns by hand: a **Dense** layer (a matrix and a bias) makes all three from a vector that stands for $t$. Here
# is a small one, made by hand, whose input is one sine and one cosine of $t$.


# %%
#                 scale 1, 2    shift 1, 2    gate 1, 2
SINE_ROW = [1.5, -0.8, 0.0, -0.9, -0.6, -0.6]
COSINE_ROW = [0.0, 0.0, 1.5, 0.0, 0.6, 0.6]
BIAS = [0.0, 0.0, -0.5, 0.5, 0.6, 0.6]


def hand_made(time):
    slowest = time_embedding(time, 4)[:, [1, 3]]  # period 4: a quarter turn from t = 0 to 1
    return (slowest @ time.new_tensor([SINE_ROW, COSINE_ROW]) + time.new_tensor(BIAS)).chunk(3, -1)


over_time = figures.KnobsOverTime(hand_made, tokens, rms_norm, modulate, quarter_turn)
film(over_time, t=slider(0.0, 1.0), still=0.3)

# %% [markdown]
# At $t = 1$ this Dense stresses feature 1 and writes nothing; at $t = 0$ it shifts feature 1 and writes a lot. The curves
# bend, though the Dense is linear: the bend comes from the sine and the cosine.
#
# pi0.5 uses not one pair but 512, with periods from 0.004 to 4:
#
# $$\mathrm{emb}(t) = \big[\sin(2\pi t/p_1), \dots, \sin(2\pi t/p_n), \cos(2\pi t/p_1), \dots, \cos(2\pi t/p_n)\big]$$
#
# **Predict.** Two times are 0.004 apart, one turn of the fastest pair. Can the network tell them apart?


# %%
def my_time_embedding(time, dim):
    period = 4e-3 * (4.0 / 4e-3) ** torch.linspace(0, 1, dim // 2, dtype=torch.float64)
    phase = 2 * torch.pi * time[:, None] / period
    return torch.cat([phase.sin(), phase.cos()], dim=-1)


times = torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64)
torch.testing.assert_close(my_time_embedding(times, 64), time_embedding(times, 64))

# %%
torch.manual_seed(SEED)
mlp = TimeMLP(64).double().requires_grad_(False)
both = lambda t: time_embedding(torch.tensor(t), 64), lambda t: mlp(torch.tensor(t))
stripes = figures.TimeStripes(*both, periods=4e-3 * 1000 ** np.linspace(0, 1, 32))
explore(stripes, t=slider(0.0, 1.0, 0.5), gap=log_slider(1e-5, 0.4, 0.1))


# %%
def apart(one, other):
    pair = time_embedding(torch.tensor([one, other], dtype=torch.float64), 64)
    return (pair[1] - pair[0]).norm() / stripes.typical["time_emb"]


rounded = torch.tensor(0.9).bfloat16().item()
turn, close, lost = apart(0.5, 0.504), apart(0.5, 0.5001), apart(0.9, rounded)
assert turn > 0.5 and close > 0.02 and lost > 0.4
print(f"0.004 apart: {turn:.2f}   0.0001 apart: {close:.2f}   (1: unrelated times)")
print(f"0.9 in bfloat16 is {rounded:.4f}, and that is {lost:.2f} away")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Yes. The fastest pair is back where it was; its neighbours, with slightly longer periods, are not. Even two times 0.0001 apart
# differ by 3% of the distance between unrelated times. So $t$ itself must be exact: rounding 0.9 to bfloat16 moves the vector by almost half
# that distance. The embedding belongs into float32 or better.
#
# </details>
#
# A two-layer MLP turns the embedding into the condition, $c = \mathrm{silu}(W_2\,\mathrm{silu}(W_1\,\mathrm{emb}(t)))$. It is computed once, and every
# norm reads the same $c$.

# %% [markdown]
# ## 3. The layer in ten lines
#
# **Predict.** Width 1024, condition 1024. How many parameters has the Dense of one norm? A plain RMSNorm has 1,024.


# %%
class TenLines(torch.nn.Module):
    def __init__(self, width, cond_dim):
        super().__init__()
        self.modulation = torch.nn.Linear(cond_dim, 3 * width)
        torch.nn.init.zeros_(self.modulation.weight)
        torch.nn.init.zeros_(self.modulation.bias)

    def forward(self, hidden_states, cond):
        scale, shift, gate = self.modulation(cond)[:, None].chunk(3, dim=-1)
        return rms_norm(hidden_states) * (1 + scale) + shift, gate


# %%
ours, theirs = TenLines(8, 5), AdaRMSNorm(8, 5)
theirs.modulation.reset_parameters()  # random, so that there is something to compare
ours.load_state_dict(theirs.state_dict())
hidden_states, cond = torch.randn(2, 3, 8), torch.randn(2, 5)
for mine, wanted in zip(ours(hidden_states, cond), theirs(hidden_states, cond), strict=True):
    torch.testing.assert_close(mine, wanted)

# %% [markdown]
# The ten lines agree with the collection's layer. Does that agree with pi0.5? The code of openpi and of its port in lerobot was run on small
# random inputs, seven times. The first two numbers of each result, and the largest error of all of them:


# %%
def loaded(kernel, bias):
    norm = AdaRMSNorm(len(bias) // 3, len(kernel)).requires_grad_(False)
    openpi_numbers.load_dense(norm.modulation, kernel, bias)
    return norm


# %%
rows = [openpi_numbers.compare_norm(name, loaded) for name in openpi_numbers.NORM_CASES]
assert all(row.close for row in rows)
Markdown(openpi_numbers.table(rows))

# %% tags=["claim-14"]
dense = sum(p.numel() for p in AdaRMSNorm(1024, 1024).parameters())
assert dense == 3 * 1024 * 1024 + 3 * 1024 == 3_148_800
found = f"{len(rows)} cases of the real code, largest error {max(row.error for row in rows):.0e}; "
found += f"in pi0.5 the Dense of one norm has {dense:,} parameters, a plain norm 1,024"
verdict(14, "small is not said of its size", found)

# %% tags=["claim-5"]
newborn, _ = AdaRMSNorm(8, 5)(hidden_states, torch.randn(2, 5))
same = torch.equal(newborn, rms_norm(hidden_states))
assert same
verdict(5, same, "a modulation of zero gives the plain norm bit for bit")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# $3\cdot1024\cdot1024$ for the matrix and $3\cdot1024$ for the bias: 3,148,800. Three thousand times a plain norm.
#
# </details>

# %% [markdown]
# ## 4. The whole block
#
# $$x \leftarrow x + g\odot F\big((1+s)\odot\mathrm{RMSNorm}(x)+b\big)$$
#
# once for attention, once for the feed-forward, each with its own Dense. Walk along the stops.
#
# **Predict.** Which boxes does the trunk pass through on its way from left to right?

# %%
film(diagrams.BlockDiagram(), stop=slider(0, 8, 0))

# %% [markdown]
# The formula against pi0.5's own block. Attention's output is taken from the real run; the rest is ours.

# %% tags=["claim-16"]
case = openpi_numbers.load("block_single_expert_adarms")
branch = GatedFeedForward(8, 16).requires_grad_(False)
kernels = (*case.params["mlp"]["gating_einsum"], case.params["mlp"]["linear"])
for dense, kernel in zip((branch.gate, branch.up, branch.down), kernels, strict=True):
    dense.weight.copy_(kernel.T)
_, gate = loaded(**case.params["pre_attention_norm"]["Dense_0"])(case.x, case.cond)
x = case.x + gate * case.attn
read, gate = loaded(**case.params["pre_ffw_norm"]["Dense_0"])(x, case.cond)
error, close = openpi_numbers.largest_error(x + gate * branch(read), case.out, case)
assert close
verdict(16, close, f"pi0.5's block with both halves: largest error {error:.0e}")

# %% [markdown]
# And the trunk: open the gates of a small model, note everything that is written, and add it up.

# %%
expert = first_steps.wake(mistakes.Port().expert())  # no gate is zero
trunk = whole = torch.randn(2, 4, 16)
cond, writes = torch.randn(2, 16), []
for block in expert.transformer.blocks:
    halves = (
        (block.attention_norm, block.attention),
        (block.feed_forward_norm, block.feed_forward),
    )
    for norm, branch in halves:
        read, gate = norm(trunk, cond)
        writes.append(gate * branch(read))
        trunk = trunk + writes[-1]
    whole = block(whole, cond)

# %% tags=["claim-21"]
same = torch.equal(trunk, whole) and all(write.any() for write in writes)
assert same
found = f"{len(writes)} writes of a model with open gates, and nothing else: equal bit for bit"
verdict(21, "untouched means only ever added to" if same else False, found)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Through none. It meets two additions. Norm, Dense and gate sit in the side roads. "Untouched" is still too strong a word: what is
# added stays, and the final norm at the end of the trunk does normalise it.
#
# </details>

# %% [markdown]
# ## 5. Why start at zero
#
# The matrix (the *kernel*) and the bias of every modulation start at zero. Then $s = b = g = 0$ for every $t$: the norm is plain, and each block hands
# its input on. Not nearly: bit for bit.

# %%
deep = ActionExpert(ExpertConfig(width=32, depth=18, mlp_width=64, num_heads=2, head_dim=16))
out = tokens_in = torch.randn(2, 5, 32)
for block in deep.transformer.blocks:
    out = block(out, torch.randn(2, 32))
assert torch.equal(out, tokens_in)

# %% [markdown]
# **Predict.** Everything is multiplied by zero. So how can such a block learn? Which of $s$, $b$, $g$ has a gradient in the very first
# step?

# %%
x, s, g = (torch.tensor(value, requires_grad=True) for value in (3.0, 0.0, 0.0))
y = x + g * torch.tanh((1 + s) * x)  # one feature, tanh for the branch
by_s, by_g = torch.autograd.grad(y, (s, g))
print(f"dy/ds = {by_s:.3f}   dy/dg = {by_g:.3f}")
assert by_s == 0 and by_g == torch.tanh(x)

# %% [markdown]
# A product with one zero factor has a zero value and a derivative that is not zero: $\partial(g F)/\partial g = F$. Below, a small model with
# attention is trained for four steps from three starts, and its gradients are sorted by kind of parameter.

# %%
maps = {start: first_steps.gradients(start, mistakes.SMALL) for start in first_steps.STARTS}
explore(figures.FirstSteps(maps, first_steps.PARTS), start=choice(list(maps)))

# %%
silent = [
    {part for part, size in zip(first_steps.PARTS, column, strict=True) if size == 0}
    for column in maps["pi0.5"].T
]
late = {"block scale", "block shift", "attention", "feed forward", "time MLP"}
assert silent[0] == late | {"final gate"} and silent[1] == silent[2] == {"final gate"}
gate_row, scale_row = maps["zero head too"][:2]  # one step later, each
assert not gate_row[0] and gate_row[1] and not scale_row[1] and scale_row[2]

# %% tags=["claim-17"]
gates, scales, shifts = maps["pi0.5"][:3, 1]
bias = mistakes.birth(mistakes.PORTS["bias left random"])
assert not bias.holds and gates > 20 * max(scales, shifts)
verdict(
    17,
    "kernel and bias are both zero and no later init overwrites them",
    "18 blocks return their input bit for bit; of all block parameters only the gates have a "
    f"gradient at step 0, all at step 1 (scale and shift {gates / max(scales, shifts):.0f} times "
    f"less); with a random bias a newborn block {bias.words}",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Only $g$. Once gates have moved, everything behind them has a gradient too, the time MLP included. So "zero means nothing can
# learn" is false for one zero in a chain. The row *final gate* stays zero for ever: nothing comes after the final norm that it could
# gate.
#
# A second zero is harmless as long as one of the two can move first: with a zero head on top, the head does, and the blocks wait one
# step longer. It is true for **two zeros that wait for each other**: a gate made of two zero layers with
# a ReLU between them, $W_2\,\mathrm{relu}(W_1 c)$, never moves at all. LAVT, a segmentation model, was written that way. A reader asked how it could
# learn (yz93/LAVT-RIS#25); the answer was that a later init had overwritten the zeros. One mistake had hidden the other.
#
# </details>

# %%
first, second = torch.zeros(4, 3, requires_grad=True), torch.zeros(2, 4, requires_grad=True)
gate = second @ torch.relu(first @ torch.ones(3))
stuck = torch.autograd.grad(gate.sum(), (first, second))
assert not any(gradient.any() for gradient in stuck)

# %% [markdown]
# ## 6. The workbench of mistakes
#
# This layer has been written many times, and often wrong; the mistakes are quiet ones. Here are eight on a bench. Five checks, which
# need no data, are tried on each:
#
# | invariant | says |
# |---|---|
# | birth | a newborn block returns its input, bit for bit |
# | plain | a newborn norm is the plain RMSNorm |
# | size | a float16 input 300 times larger gives the same normed |
# | numbers | with pi0.5's parameters, pi0.5's numbers: `cond`, then `normed`, then `gate` |
# | hearing | a newborn model does not hear the time; with random modulations its last norm does, all other gates closed |
#
# The cloud on the right asks another question. One small model was trained **with the right code** to sample two moons (lesson 06 is
# about training). Its weights are then loaded into the code with the mistake, and 400 samples are drawn.

# %% tags=["trained"]
MOONS = ExpertConfig(width=32, depth=2, mlp_width=64, action_dim=2, horizon=1, one_token=True)
moons = two_moons(2000)[:, None]
good = mistakes.Port().expert(MOONS, seed=SEED).requires_grad_(True)
settings = TrainSettings(steps=STEPS, batch=256, learning_rate=4e-3, seed=SEED)
training = Training(good, moons, settings=settings).run()
# %%
noise = torch.randn(400, 1, 2, generator=torch.Generator().manual_seed(SEED))
samples = {name: mistakes.draw(port, good, noise)[:, 0] for name, port in mistakes.PORTS.items()}
distance = {n: torch.cdist(some, two_moons(4000, seed=1)).amin(1) for n, some in samples.items()}
near = {name: float((far < 0.1).float().mean()) for name, far in distance.items()}
findings = {name: mistakes.check(port) for name, port in mistakes.PORTS.items()}

# %% [markdown]
# **Predict.** Before each turn of the menu: which of the five break, and will the samples show it? One mistake passes *birth* although its norm
# is dead. Which?

# %%
bench = figures.Workbench(mistakes.PORTS, findings, samples, moons[:, 0], near)
explore(bench, mistake=choice(list(mistakes.PORTS)), still={"mistake": "gate left out"})

# %%
broken = {n: ", ".join(k for k in f if not f[k].holds) for n, f in findings.items()}
lines = ["| mistake | breaks | near the data | source |", "|---|---|---|---|"]
for name, port in mistakes.PORTS.items():
    source = f"[{port.source}]({port.url})"
    lines.append(f"| {name} | {broken[name] or 'nothing'} | {near[name]:.0%} | {source} |")
Markdown("\n".join(lines))

# %%
assert [name for name in broken if not broken[name]] == ["none"]
harmless = [name for name in broken if torch.equal(samples[name], samples["none"])]
assert harmless == ["none", "bias left random", "zeros overwritten", "statistics in float16"]
assert broken["time reversed"] == broken["order swapped"] == "numbers"
assert "cond" in findings["time reversed"]["numbers"].words
assert "normed" in findings["order swapped"]["numbers"].words
assert len(set(broken.values())) == 8 and broken["+1 forgotten"] == "plain, numbers"
assert near["none"] > 0.85 and near["none"] - near["plain final norm"] < 0.05
visible = ("gate left out", "+1 forgotten", "order swapped", "time reversed")
assert max(near[name] for name in visible) < 0.85

# %% [markdown]
# <details><summary>The answers, and how to read the table</summary>
#
# Each mistake has a pattern of its own, save two, and those two differ in which number is wrong first.
#
# - **Three do no harm to good weights**: two matter only at the start of a training, one waits for float16. Samples cannot find them.
# - **Plain final norm** is the sly one: the samples look right. It was found by reading the port beside another one.
# - **+1 forgotten** passes *birth*: its dead norm hides behind a closed gate. "It starts as the identity" is one check, not all.
# - **Time reversed** breaks nothing in the build. A network told $1 - t$ is a sound network of the other convention. Only foreign numbers, or samples, can tell.
# - **Order swapped** leaves most samples near the data here. A picture that looks nearly right proves little.
#
# </details>
#
# **Where they were made.** lerobot's port sets the matrix to zero and leaves the bias to torch. openpi's own PyTorch port sets the zeros, and then its parent class
# draws every Dense anew; LAVT did the same. DiT does both in the right order: all layers first, then the zeros. The gate and the final norm went missing in
# an exporter of pi0.5. The last four were made in other models: a converter of Gemma, a converter between two orders of scale and shift, a trainer for a model that counts time the other
# way, and torch's own RMSNorm in 2024. Published weights hide the first two, since loading overwrites the start.

# %% [markdown]
# ## 7. What it costs
#
# **Predict.** Each of 37 norms in pi0.5's action expert gets a Dense of its own. How much larger does the expert become: 1%, 10%, 40%? And
# how much more does it compute?

# %%
with torch.device("meta"):  # shapes without numbers: nothing is allocated
    sizes = {
        kind: sum(p.numel() for p in Transformer(ExpertConfig.GEMMA_300M, kind).parameters())
        for kind in ("none", "adarms")
    }
extra, never_used = sizes["adarms"] - sizes["none"], 1024 * 1024 + 1024
work = (37 * 3 * 1024 * 1024) / (50 * sizes["none"])  # one multiplication for each use of a weight
assert extra == 116_467_712 and round(extra / sizes["none"], 3) == 0.374 and work < 0.01
print(f"{sizes['none']:,} parameters, and {extra:,} more: {extra / sizes['none']:+.1%}")
print(f"of these, {never_used:,} never get a gradient: the final norm has no branch to gate")
print(f"multiplications for a chunk of 50 actions: {work:+.1%}")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# 37% more parameters, and under 1% more multiplications: a modulation is computed once for all 50 action tokens. The ten
# times of the sampler are known beforehand, so even that could be computed once and kept. "A small Dense" is small in work, not in memory.
#
# </details>

# %% [markdown]
# ## 8. pi0 beside pi0.5
#
# **Predict.** pi0 was told the time once, at the input, and had the robot's state as a token there. When the time moved into the layers, where did
# the state go?

# %%
diagrams.TwoModels()

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Into the prompt: in pi0.5 each number of the state is rounded to one of 256 levels and written into the text (openpi, `tokenizer.py`). So
# the action column holds nothing but actions, and each of its norms hears the time. The other column never does: it is the same at all ten steps and is computed once.
#
# </details>
#
# **Its own time for each token.** A robot plans the next chunk while it still carries out the last one; the first actions are then already decided,
# so they are clean ($t = 0$) while the rest is noise. adaRMS can say that: give `cond` a token axis.

# %%
time = torch.tensor([[0.0, 0.0, 0.7, 0.7]])  # two decided actions, then two noisy ones
expert = mistakes.Port().expert()
norm = first_steps.wake(expert.transformer.final_norm)
cond = expert.time_mlp(time.flatten()).unflatten(0, time.shape)  # (batch, tokens, width)
x = torch.randn(1, 4, 16)
each, one = norm(x, cond)[0], norm(x, expert.time_mlp(torch.tensor([0.7])))[0]
torch.testing.assert_close(each[:, 2:], one[:, 2:])
assert not torch.allclose(each[:, :2], one[:, :2])

# %% [markdown]
# ## Where the story is only partly true
#
# - *A small Dense*: 37% of the expert's size (beats 3 and 7).
# - *The gate says how much is written*: it also says with which sign, and a uniform scale can do a gate's work where the branch is linear.
# - *Zero init makes every block the identity*: in openpi's JAX code. Not in the two PyTorch ports that people copy (beat 6). Whether a network trains worse
#   for it is not shown here.
# - *Zero means nothing can learn*: false for one zero, true for two that wait for each other (beat 5).
# - *With $(1 + s)$ training is more stable*: lesson 01 found no difference under plain gradient steps. What the 1 does here is that a
#   modulation of zero is the plain norm; without it, it is a dead one ("+1 forgotten").
# - *The highway stays untouched*: it is only added to, and normalised once at its end (beat 4).

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** How many parameters has one adaRMS norm of width 64 whose condition has 32 numbers?

# %%
parameters = ...
checks.lesson_04.exercise_1(parameters)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# parameters = 3 * 64 * 32 + 3 * 64
# checks.lesson_04.exercise_1(parameters)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Write a function of `time_mlp`, `t`, `clean` and `tokens` that returns the `cond`, (1, tokens, width), of a
# chunk whose first `clean` actions are decided and whose others are at time `t`. `time_mlp` takes times (n,) and returns (n, width).

# %%
clean_prefix = ...  # a function of time_mlp, t, clean, tokens
checks.lesson_04.exercise_2(clean_prefix)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def clean_prefix(time_mlp, t, clean, tokens):
#     time = torch.full((tokens,), float(t))
#     time[:clean] = 0.0
#     return time_mlp(time)[None]
#
#
# checks.lesson_04.exercise_2(clean_prefix)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (diagnose).** Three ports come in, A, B and C, each with one of the eight mistakes. Run the checks and name it.

# %%
for name, finding in mistakes.check(mistakes.MYSTERIES["A"]).items():  # then "B" and "C"
    print(f"{name:8} {'holds ' if finding.holds else 'BREAKS'}  {finding.words}")

# %%
diagnosis = {"A": ..., "B": ..., "C": ...}  # names from the menu, such as "gate left out"
checks.lesson_04.exercise_3(diagnosis)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# A breaks *plain* and *numbers*, B *birth* and *plain* but not *hearing*; C only *numbers*, and there `cond`, before any norm was run.
#
# ```python
# diagnosis = {"A": "+1 forgotten", "B": "bias left random", "C": "time reversed"}
# checks.lesson_04.exercise_3(diagnosis)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** LAVT's gate again: `second @ relu(first @ c)`, both zero, is stuck. Write a function that sets the
# two matrices in place so that the gate is exactly zero at the start **and** both have moved after two gradient steps. Say why the other way round fails.

# %%
start_gate = ...  # a function of first (8, 4) and second (3, 8)
checks.lesson_04.exercise_4(start_gate)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# The zero must be the last factor. Then `second` has a gradient at once, since `relu(first @ c)` is not zero, and `first` one step later. The other way round
# `relu(0)` is zero with slope zero: neither ever moves.
#
# ```python
# def start_gate(first, second):
#     torch.nn.init.normal_(first)
#     torch.nn.init.zeros_(second)
#
#
# checks.lesson_04.exercise_4(start_gate)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** pi0.5 splits the Dense's output into scale, shift, gate. A checkpoint is read in another order. What happens? (statement 14)
#
# <details><summary>It does not load.</summary>No: the shapes are the same, so nothing complains.</details>
# <details><summary>It loads and computes something else.</summary>Right: only foreign numbers show it for sure, such as pi0.5's.</details>
# <details><summary>It loads and computes the same.</summary>No: scale, shift and gate do different things.</details>
#
# **2.** A newborn block, its gates zero: which of its parameters have a gradient in the first step? (statement 17)
#
# <details><summary>None: all is multiplied by zero.</summary>No: the derivative of g F by g is F.</details>
# <details><summary>All.</summary>No: what stands behind the gate is multiplied by zero.</details>
# <details><summary>Those of the gates only.</summary>Right: the others follow one step later.</details>
#
# **3.** A port starts as the identity, bit for bit. Is its norm right? (statements 16 and 17)
#
# <details><summary>That is not shown.</summary>Right: behind a gate that is zero the norm may do anything. '+1 forgotten' passes this check.</details>
# <details><summary>Yes.</summary>No: the closed gate hides what the norm does.</details>
# <details><summary>Yes, if other seeds agree.</summary>No: no seed opens a gate that starts at zero.</details>
#
# **4.** Feature 1 has scale -1 and shift 0. What does that do? (statements 5 and 15)
#
# <details><summary>The branch reads it with the other sign.</summary>No: the factor is 1 + scale, which is 0.</details>
# <details><summary>The branch does not read it.</summary>Right: the factor 1 + scale is 0. The trunk still carries the feature.</details>
# <details><summary>The trunk loses it.</summary>No: the trunk is only ever added to.</details>
#
# **5.** What happens to the trunk on its way through the blocks of pi0.5's expert? (statement 21)
#
# <details><summary>It is normalised before every branch.</summary>No: that is what a branch reads. The trunk goes past it.</details>
# <details><summary>Nothing.</summary>No: every half block adds to it.</details>
# <details><summary>It is added to, twice a block.</summary>Right: and nothing else, until the final norm.</details>

# %% [markdown]
# ## Summary
#
# $$(s, b, g) = W c + w_0\,,\qquad x \leftarrow x + g\odot F\big((1+s)\odot\mathrm{RMSNorm}(x)+b\big)\,,\qquad c = \mathrm{silu}(W_2\,\mathrm{silu}(W_1\,\mathrm{emb}(t)))$$
#
# $W$ and $w_0$ start at zero: the block is the identity, its gates learn first. Check a port by *birth*, *plain*, *size*, *numbers* and *hearing*; no one of them is enough.
#
# **Next:** lesson 05 asks what the network is asked to do at each $t$.
#
# **References**
#
# - Physical Intelligence, openpi, commit 15a9616: `src/openpi/models/gemma.py` (adaRMS, block), `pi0.py` (time), `models_pytorch/transformers_replace/models/gemma/modeling_gemma.py` (`_init_weights`)
# - Hugging Face, lerobot, `src/lerobot/policies/pi_gemma.py`: `PiGemmaRMSNorm`
# - W. Peebles, S. Xie, *Scalable Diffusion Models with Transformers*, ICCV 2023, arXiv:2212.09748: scale, shift and gate from the condition, started at zero
# - E. Perez et al., *FiLM: Visual Reasoning with a General Conditioning Layer*, AAAI 2018, arXiv:1709.07871
# - On GitHub: FastCrest/tether#156, yz93/LAVT-RIS#15 and #25, ggml-org/llama.cpp#5631, huggingface/diffusers#13998, kohya-ss/sd-scripts#2215, pytorch/pytorch#133085
