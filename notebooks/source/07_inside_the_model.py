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
# # 07 Inside the trained model
#
# **What did scale, shift and gate learn, and what happens when one layer is told the wrong time?**
#
# Lesson 06 trained a small adaRMS network to move past an obstacle. It works. Now we take it apart, with the questions that the
# article behind this collection answers in words. At the end you can
#
# - read off what every layer is told at every $t$, and say how much of it depends on $t$ at all,
# - tell a layer a lie and measure what it costs,
# - fit a linear probe, and say what it does not prove,
# - say which of the article's 24 statements held, and which only partly.
#
# About 60 minutes. Run the cells from the top; every slider can be dragged or moved with the arrow keys.

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

from helpers import checks, comparison, data, probes
from helpers.claims import STATEMENTS, verdict
from helpers.controls import choice, explore, film, slider
from helpers.figures import inside as figures
from helpers.findings import believed_and_found
from helpers.flow import euler_sample, interpolate, sample_time
from helpers.training import CHECKPOINTS, load_checkpoint

SCENES = 1000  # that this notebook measures on
SEEDS = range(4)  # of the shipped results

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $s_l, b_l, g_l$ | `scale`, `shift`, `gate` | (times, width) | what layer $l$ is told |
# | $x_l$ | `states[l]` | (batch, tokens, width) | the residual stream in front of block $l$; $x_L$ behind the last |
# | $w_l = g_l \odot F_l(\ldots)$ | `writes[l]` | like $x_l$ | what block $l$ adds to it |
# | $\hat a = x_t - t\,v_t$ | `guess` | (batch, 16, 2) | the clean chunk that the network has in mind |
# | $\tau$ | `told` | number | the time that a layer is told when it is lied to |
#
# Two kinds of numbers appear. **Computed here:** by the cell above the output, on shipped models. **Shipped:** five kinds of model, four
# seeds each, from lesson 06's recipe (1,000 steps, equal parameters), made by `make experiments`, one file a run. Such numbers come as mean (smallest to
# largest seed).

# %% tags=["trained"]
MODEL, CHUNK = (load_checkpoint(CHECKPOINTS / f"{n}.safetensors").model for n in ("reach", "chunk"))
OTHERS = {
    name: load_checkpoint(CHECKPOINTS / f"inside_{name}.safetensors").model
    for name in ("added", "input", "none")
}
RUNS = comparison.shipped_results(comparison.RESULTS.parent / "inside")
torch.set_grad_enabled(False)


def per_seed(model, read):
    return torch.tensor([read(RUNS[f"{model}_seed{seed}"]) for seed in SEEDS])


def over_seeds(model, read):
    found = per_seed(model, read)
    return f"{found.mean():.3f} ({found.min():.3f} to {found.max():.3f})"


# %%
scene, actions = comparison.reach_data(SCENES, seed=1)
observation = scene.observation
noise = torch.randn(actions.shape, generator=torch.Generator().manual_seed(0))
for name, title in comparison.NAMES.items():
    print(f"{title:29} success {over_seeds(name, lambda run: run['success'])}")

# %% [markdown]
# ## 1. What each layer is told
#
# Each norm has a Dense layer that turns the condition, a vector made of $t$, into scale, shift and gate. Both are
# small, so we can simply evaluate them. Three features of layer 0:

# %%
norm = MODEL.transformer.blocks[0].feed_forward_norm
for t in (1.0, 0.5, 0.0):
    cond = MODEL.time_mlp(torch.tensor([t]))
    parts = norm.modulation(cond)[0].double().numpy().round(2).reshape(3, -1)[:, :3]
    print(f"t = {t}   1 + scale {1 + parts[0]}   shift {parts[1]}   gate {parts[2]}")

# %% [markdown]
# **Predict.** Which of the three will change most from $t = 1$ to $t = 0$? Will gates close somewhere?

# %%
times = torch.linspace(0, 1, 41)
told = probes.modulations(MODEL, times)
film(figures.ModulationMaps(times, told), frames=21, t=slider(0.0, 1.0, 1.0))

# %% [markdown]
# Each map is one norm: a row is a feature, left is $t = 0$, blue is negative. A stripe that keeps its colour from left to right does not depend on
# $t$. To put a number on it, compare the energy of the average over time with the average energy:
#
# $$\text{constant share} = \frac{\lVert \mathbb E_t\,m(t)\rVert^2}{\mathbb E_t\,\lVert m(t)\rVert^2}$$


# %%
def plain_constant_share(values):  # (times, width)
    return values.mean(0).square().sum() / values.square().sum(-1).mean()


for pair in ([[1.0], [1.0]], [[1.0], [-1.0]]):
    print(pair, plain_constant_share(torch.tensor(pair)).item())
assert plain_constant_share(told["layer 1"].shift) == probes.constant_share(told["layer 1"].shift)


# %%
def constant(part, layer):
    return lambda run: run["constant_share"][part][f"layer {layer}"]


print("shipped:", *(f"{part:22}" for part in probes.PARTS))
for n in range(4):
    print(f"layer {n}", *(over_seeds("adarms", constant(part, n)) for part in probes.PARTS))

# %% [markdown]
# So most of what is learned is a plain RMSNorm with constant gates. Is the part that does vary worth anything? We hold one part at its average over time,
# in all layers at once, and leave the other two alone.

# %%
honest = per_seed("adarms", lambda run: run["honest"])
print(f"validation loss {honest.mean():.3f}; more, when one part is held at its average:")
for part in probes.PARTS:
    print(f"{part:6}", over_seeds("adarms", lambda run, p=part: run["held"][p] - run["honest"]))

# %% tags=["claim-15"]
blocks = [told[f"layer {number}"] for number in range(4)]
scale, shift, gate = (torch.stack(parts) for parts in zip(*blocks, strict=True))
damped, negative = (scale < 0).float().mean(), (gate < 0).float().mean()
grows = shift[:, -1].square().mean().sqrt() / shift[:, 0].square().mean().sqrt()
gates = per_seed("adarms", lambda run: list(run["constant_share"]["gate"].values()))
assert damped > 0.6 and 0.3 < negative < 0.7 and grows > 1.3 and gates.min() > 0.8
learned = verdict(
    15,
    "a gate may also subtract",
    f"trained: 1 + scale damps {damped:.0%} of features; shifts are {grows:.1f} times larger at "
    f"t = 1 than at 0; {negative:.0%} of gates are negative, and {gates.min():.0%} to "
    f"{gates.max():.0%} of their energy does not depend on t (4 layers, 4 seeds)",
)
learned

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Shift changes most. No gate closes: their size hardly moves, and about half are negative, so a block subtracts as readily as it adds. But
# small is not idle: held at its average, the gate costs no less than shift does. "Energy that varies" and "worth" are two questions.
#
# </details>

# %% [markdown]
# ## 2. From coarse to fine
#
# At every $t$ the network implies a finished chunk. Solve $x_t = t z + (1-t)\,a$ and $v_t = z - a$ for $a$:
#
# $$\hat a = x_t - t\,v_t$$

# %%
time = torch.full((SCENES,), 0.7)
x_t, u_t = interpolate(actions, noise, time), noise - actions
torch.testing.assert_close(x_t - 0.7 * u_t, actions, atol=1e-5, rtol=1e-5)


# %% [markdown]
# The true velocity gives the true chunk; the network's gives its guess. We split the guess into the bands of lesson 05 (band 0: mean position, band 2:
# one bow, band 15: zigzag; sideways coordinate) and ask which share of each band's variance is right:
#
# $$R^2 = 1 - \frac{\sum (\hat a_k - a_k)^2}{\sum (a_k - \bar a_k)^2}$$
#
# **Predict.** In which order do bands 2, 3, 4 and 7 become known as $t$ falls? Does a network that was told the time only once do it otherwise?


# %%
def plain_r_squared(guess, truth):
    spread = (truth - truth.mean(0)).square().sum(0)
    return 1 - (guess - truth).square().sum(0) / spread


def guess_at(model, t):
    time = torch.full((SCENES,), t)
    x_t = interpolate(actions, noise, time)
    return x_t - t * model(x_t, time, observation)


# %%
TIMES = [round(0.05 * step, 2) for step in range(1, 21)]
truth = probes.in_bands(actions)[:, :, 1]


def known(model):
    guesses = (probes.in_bands(guess_at(model, t))[:, :, 1] for t in TIMES)
    return torch.stack([plain_r_squared(guess, truth) for guess in guesses])


# %%
solid = known(MODEL)
guess = probes.in_bands(guess_at(MODEL, TIMES[0]))[:, :, 1]
torch.testing.assert_close(solid[0], probes.r_squared(guess, truth))
compared = {comparison.NAMES[name]: known(other) for name, other in OTHERS.items()}

# %%
ONE, PATHS = 7, 12  # a scene, and how often it is drawn
PLACE = scene.goal[ONE], scene.obstacle[ONE], data.OBSTACLE_RADIUS
same, clean = observation[ONE].expand(PATHS, -1), actions[ONE].expand(PATHS, -1, -1)
noisy, guesses = [], []
for at in torch.tensor(TIMES)[:, None].expand(-1, PATHS):
    seen = interpolate(clean, noise[:PATHS], at)
    noisy.append(data.to_waypoints(seen))
    guesses.append(data.to_waypoints(seen - at[0] * MODEL(seen, at, same)))
pictures = torch.stack(noisy), torch.stack(guesses)

view = figures.CoarseToFine(TIMES, *pictures, solid, compared, (1, 2, 3, 4, 7, 8), PLACE)
explore(view, t=slider(0.05, 1.0, 0.75, 0.05), dashed=choice(list(compared)))

# %% [markdown]
# Computed here. Where a curve touches 0 the guess is no better than the mean, or worse. Over seeds (shipped), the $t$ at which half of a band is known:


# %%
def half(band):
    return lambda run: probes.half_known(run["bands"][band], run["times"])


print("band deviation  adaRMS                 added once, with gates added once")
for k in (2, 3, 4, 6, 7, 8):
    row = [over_seeds(model, half(k)) for model in ("adarms", "added_gated", "added")]
    print(f"{k:4} {RUNS['adarms_seed0']['band_deviation'][k]:9.2f} ", *row)

# %% tags=["claim-18"]
ours = {band: per_seed("adarms", half(band)) for band in (2, 3, 4, 7)}
once = {band: per_seed("added", half(band)) for band in (2, 7)}
assert (ours[2] > ours[7] + 0.2).all() and (once[2] > once[7] + 0.2).all()
assert (ours[3] > ours[4] + 0.05).all() and ((ours[4] - ours[2]).abs() < 0.05).all()
coarse = verdict(
    18,
    "the detail is not tied to the outline",
    f"trained, 4 seeds: half of band 2 is known at t = {ours[2].mean():.2f}, of band 7 at "
    f"{ours[7].mean():.2f}; but of band 4, part of the same bow, at {ours[4].mean():.2f}, and of "
    f"band 3 at {ours[3].mean():.2f}; told the time once, bands 2 and 7: {once[2].mean():.2f} and "
    f"{once[7].mean():.2f}",
)
coarse

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# In adaRMS band 3 comes first: part of it is known at $t = 1$ already, from goal and obstacle, which the network sees. Bands 2 and 4 come together, when
# the side is decided, near $t = 0.74$: both belong to the bow, though one is five times smaller. Band 7 comes late. So: outline first, but "outline"
# means what is large or hangs together with it, not what is slow. The others know the bow at the same $t$; the finest bands come later where
# there are no gates, and nearly as early where there are. The order is in the task, not in adaRMS.
#
# </details>

# %% [markdown]
# ## 3. Lie to a layer
#
# Does each layer use what it is told? We tell one layer a wrong time $\tau$, and all others the right one. By hand that is one changed line:


# %%
def lied_to(x_t, time, told, layer):
    x = MODEL.embed_suffix(x_t, time, observation).tokens
    for number, block in enumerate(MODEL.transformer.blocks):
        cond = MODEL.time_mlp(told if number == layer else time)
        x = block(x, cond)
    normed, _ = MODEL.transformer.final_norm(x, MODEL.time_mlp(time))
    return MODEL.read_actions(normed)


# %%
wrong = torch.full((SCENES,), 0.1)
by_hand = lied_to(x_t, time, wrong, layer=2)
with probes.lie(MODEL, 0.1, "layer 2"):
    torch.testing.assert_close(MODEL(x_t, time, observation), by_hand)
print(f"v_t moves by {(by_hand - MODEL(x_t, time, observation)).square().mean().sqrt():.2f} (RMS)")

# %% [markdown]
# Now a lie that lasts: at all ten Euler steps the layer hears the same $\tau$, as though its clock had stopped.
#
# **Predict.** All layers hear $\tau = 1$ (pure noise) throughout. What do the paths look like? And if only the last layer hears $\tau = 0.5$?

# %%
TOLD, FEW = torch.linspace(0, 1, 21), 80
DRAWN = 24  # of the paths below, all for one scene; then FEW scenes to count successes on
few = torch.cat([torch.full((DRAWN,), ONE), torch.arange(FEW)])
rows = few.repeat(len(TOLD))
start = noise[: DRAWN + FEW].repeat(len(TOLD), 1, 1)
scenes = data.Scene(scene.goal[rows], scene.obstacle[rows])


def samples(place, told):
    with probes.lie(MODEL, told, place):
        found = euler_sample(lambda x, time: MODEL(x, time, observation[rows]), start)
    paths = data.to_waypoints(found)
    solved = data.success(paths, scenes).unflatten(0, (len(TOLD), -1))[:, DRAWN:]
    return paths.unflatten(0, (len(TOLD), -1))[:, :DRAWN], solved.float().mean(1)


# %%
places = {name: name for name in probes.told_places(MODEL)} | {"everywhere": None}
told_each = TOLD.repeat_interleave(len(few))
found = {name: samples(place, told_each) for name, place in places.items()}
paths, solved = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
with_truth = euler_sample(lambda x, time: MODEL(x, time, observation[few]), start[: len(few)])
ends = data.to_waypoints(with_truth)[DRAWN:]
truthful = data.success(ends, data.Scene(scene.goal[:FEW], scene.obstacle[:FEW])).float().mean()

view = figures.LieSamples(TOLD, paths, solved, float(truthful), PLACE)
explore(view, told=slider(0.0, 1.0, 0.5, 0.05), layer=choice(list(places)))

# %% [markdown]
# Samples and shares are computed here, for one model. Surprised by the middle of the curve for *everywhere*? The same over seeds (shipped, 1,000 scenes):

# %%
for tau in ("0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "1.0"):
    row = over_seeds("adarms", lambda run, tau=tau: run["stopped"][tau])
    print(f"everywhere told {tau} at every step: solved {row}")
print("told the truth:                        ", over_seeds("adarms", lambda run: run["success"]))

# %% [markdown]
# A stopped clock can serve. Solving the scene is one measure; the velocity at each $t$ is another. Now every chunk gets a wrong time of its own,
# drawn like the real one, and the loss rises by (shipped)

# %%
for place in (*probes.told_places(MODEL), "everywhere"):
    print(f"{place:10}", over_seeds("adarms", lambda run, p=place: run["lies"][p] - run["honest"]))
for name in ("added", "added_gated", "input"):
    row = over_seeds(name, lambda run: run["lies"]["everywhere"] - run["honest"])
    print(f"{comparison.NAMES[name]}, told wrong at its one place: {row}")

# %%
damage = per_seed("adarms", lambda run: [run["lies"][f"layer {n}"] for n in range(4)])
print("the layer that it harms most, seed by seed:", damage.argmax(1).tolist())
assert (damage > honest[:, None]).all()
drawn, wrong = (sample_time(SCENES, generator=torch.Generator().manual_seed(k)) for k in (11, 12))
x_drawn = interpolate(actions, noise, drawn)
error = lambda: (CHUNK(x_drawn, drawn, observation) - u_t).square().mean().item()  # noqa: E731
alone, harm = error(), {}
for place in list(probes.told_places(CHUNK))[:4]:
    with probes.lie(CHUNK, wrong, place):
        harm[place] = round(error() - alone, 3)
print("the action-chunk transformer of lesson 06, computed here:", harm)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Told $\tau = 1$ everywhere, the network guesses the middle of all paths to the end and never takes away its noise: no scene is solved. One layer
# at $\tau = 0.5$ leaves paths of about the right form that are not quite clean. By the loss, every layer of every seed uses its time, the last one
# most, the final norm hardly. Do not read more into that order: in the action-chunk transformer the last layer is the one that matters least.
#
# </details>

# %% [markdown]
# ## 4. Can the time be read off the stream?
#
# The article says: told once at the input, deep layers must carry the time themselves. A **linear probe** tests whether a stream carries
# it: the best straight-line guess of $t$ from $x_l$, judged by $R^2$ on other data:
#
# $$\min_{w, c} \sum (w \cdot x_l + c - t)^2$$


# %%
def plain_probe(features, time):
    with_one = torch.cat([features, torch.ones(len(features), 1)], dim=1).double()
    solution = torch.linalg.lstsq(with_one, time.double()[:, None]).solution[:, 0]
    return solution[:-1], solution[-1]


weight, bias = plain_probe(torch.tensor([[0.0, 3], [1, 0], [2, 1]]), torch.tensor([0.1, 0.3, 0.5]))
print(f"t = {weight[0]:.2f} first + {weight[1].abs():.2f} second + {bias:.2f}")

# %% [markdown]
# **Predict.** Five models: adaRMS, three that are told the time once at the input, one that is never told. In which does $R^2$ fall
# with depth? What is it in the last?

# %%
even = torch.rand(SCENES, generator=torch.Generator().manual_seed(10))
x_even = interpolate(actions, noise, even)
states = probes.residual_stream(OTHERS["none"], x_even, even, observation).states[:, :, 0].double()
fit, test = slice(0, SCENES // 2), slice(SCENES // 2, None)
lines = [plain_probe(state[fit], even[fit]) for state in states]
read = torch.stack([state[test] @ w + c for state, (w, c) in zip(states, lines, strict=True)])
torch.testing.assert_close(lines[4][0], probes.fit_probe(states[4, fit], even[fit], ridge=0)[0])

# %%
probed = {model: per_seed(model, lambda run: run["probe"]) for model in comparison.NAMES}
view = figures.ProbeByDepth(even[test], read, comparison.NAMES["none"], probed, comparison.NAMES)
film(view, depth=slider(0, 4, 0))

# %% [markdown]
# Left, computed here: the model that is never told. Right, shipped: thin lines are seeds.

# %% tags=["claim-20"]
assert all((probed[m][:, -1] > 0.9).all() for m in probed if m != "none")
assert (probed["none"][:, 3] > probed["none"][:, 0] + 0.05).all()
ends = {m: f"{values.mean(0)[0]:.2f} to {values.mean(0)[-1]:.2f}" for m, values in probed.items()}
carried = verdict(
    20,
    '"must" is read as "do"',
    f"R² of a linear probe, first to last depth, mean of 4 seeds: added once {ends['added']}, "
    f"pi0's input MLP {ends['input']}, adaRMS {ends['adarms']}; never told: {ends['none']}, but "
    f"{probed['none'].mean(0)[3]:.2f} before the last block: time can be worked out from x_t",
)
carried

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Told once, it falls a little and is still there at the end. In adaRMS it rises: the stream starts with what $x_t$ itself shows, and the blocks write the
# time onto it. So adaRMS does not free the stream from the time. The network that is never told **works it out**: a noisy chunk looks
# noisy, and $R^2$ rises block by block, until the last block turns the stream into a velocity. A probe shows that something is there, not that it is used;
# the lies of beat 3 show use.
#
# </details>

# %% [markdown]
# ## 5. Taking parts away
#
# Which part is worth what? Six versions, trained like the full one, seed by seed on the same batches (shipped). A part left out stays at its neutral
# value, with nothing in its place.
#
# **Predict.** Which single part is the best? Which of the three changes of design (gate $1 + g$, random instead of zero init, LayerNorm) hurts?

# %%
results = comparison.shipped_results(comparison.RESULTS.parent / "ablations")
losses = {
    name: [results[f"{name}_seed{seed}"]["loss"] for seed in SEEDS]
    for name in ("full", *figures.VERSIONS)
}
gaps = {}
for name, title in figures.VERSIONS.items():
    gap = [a - b for a, b in zip(losses[name], losses["full"], strict=True)]
    gaps[title] = gap, comparison.paired_difference(losses[name], losses["full"])

# %%
unclear = [f"{name} (at most {d.at_most:.4f})" for name, (_, d) in gaps.items() if not d.resolved]
gate, scale, shift = (gaps[f"{part} only"][1].mean for part in ("gate", "scale", "shift"))
assert gate < scale < shift and gaps["no zero init"][1].mean < 0
print("not resolved:", *unclear)
figures.Ablations(gaps, f"validation loss minus the full model's, {sum(losses['full']) / 4:.4f}")

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# The gate alone is the best single part, shift alone the worst: the gate does without the other two better than they do without it. $1 + g$, a block that
# starts wide open, costs as much as losing shift and gate. Random init instead of zero costs nothing at four blocks, it is even a hair better:
# its gates start small, if not at zero. LayerNorm instead of RMSNorm makes no difference that four seeds resolve.
#
# </details>

# %% [markdown]
# ## 6. The highway
#
# adaRMS never multiplies the stream. The final stream is the input plus what the blocks wrote, exactly:
#
# $$x_L = x_0 + \sum_l w_l\,,\qquad \text{share}(w) = \frac{\langle w, x_L\rangle}{\langle x_L, x_L\rangle}$$
#
# The shares add up to 1; what points against the final stream counts below zero. A small case: $3 - 1 = 2$ has shares $1.5$ and $-0.5$.
#
# **Predict.** How much of the final stream is still the input, at $t = 1$ and near $t = 0$?


# %%
def plain_shares(parts, total):
    return (parts * total).flatten(1).sum(1) / total.square().sum()


print(plain_shares(torch.tensor([[3.0], [-1.0]]), torch.tensor([2.0])))

# %%
made_of, sizes, worst = [], [], 0.0
for t in TIMES:
    at = torch.full((SCENES,), t)
    stream = probes.residual_stream(MODEL, interpolate(actions, noise, at), at, observation)
    parts, final = torch.cat([stream.states[:1], stream.writes]), stream.states[-1]
    worst = max(worst, float((parts.sum(0) - final).abs().max()))
    made_of.append(plain_shares(parts, final))
    sizes.append(parts.square().mean((1, 2, 3)).sqrt())
torch.testing.assert_close(made_of[-1], probes.shares(parts, final))
highway = figures.Highway(TIMES, torch.stack(made_of, 1), torch.stack(sizes, 1))
film(highway, frames=len(TIMES), t=slider(0.05, 1.0, 1.0))

# %% [markdown]
# Computed here. The input's share over seeds (shipped), at $t = 1$ and $t = 0.05$:

# %% tags=["claim-21"]
at_noise = over_seeds("adarms", lambda run: run["shares"][0][-1])
at_data = over_seeds("adarms", lambda run: run["shares"][0][0])
assert worst < 1e-5
assert (per_seed("adarms", lambda run: run["shares"][0][-1]) < 0.6).all()
assert (per_seed("adarms", lambda run: run["shares"][0][0]) > 1.2).all()
untouched = verdict(
    21,
    "untouched means only ever added to",
    "input plus writes is the final stream to less than 1e-5; the input's share of it is "
    f"{at_noise} at t = 1, and {at_data} at t = 0.05, where the blocks take away part of what it "
    "brought; 4 seeds",
)
untouched

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# At $t = 1$ well under half. Near data it is more than all: the final stream is small there, and the blocks write *against* the
# input to make it so. The road is untouched, the load is not.
#
# </details>

# %% [markdown]
# ## 7. What we believed, what we found
#
# The article ends: "this is why pi0.5 injects the time into every layer". That is an argument. What do our figures say,
# lesson 06's comparison among them (shipped)?
#
# **Predict.** Of the article's 24 statements, how many hold as they stand?

# %% tags=["claim-24"]
LESSON_06 = comparison.shipped_results()


def gap(model, measure="validation_loss", size="depth4"):
    theirs, ours = (LESSON_06[f"{size}_{name}"][measure] for name in (model, "adarms"))
    return f"{comparison.paired_difference(theirs, ours[: len(theirs)])} ({len(theirs)} seeds)"


why = verdict(
    24,
    None,
    "an argument, not a measurement of pi0.5. Here, minus adaRMS: told once, loss "
    f"{gap('added')}; with constant gates too, loss {gap('added_gated')}, success "
    f"{gap('added_gated', 'success')}; with gates and attention, loss "
    f"{gap('added_gated', size='attention')}. What would settle it: pi0.5 with the time given once "
    "and constant zero-init gates, at equal cost, judged on robots",
)
why

# %%
table = believed_and_found([learned, coarse, carried, untouched, why], lesson="07")
table

# %% [markdown]
# Lessons 01 to 06 are read from `notebooks/verdicts.json`, which their deciding cells fill when the notebooks are built; this lesson's rows were computed above.

# %%
plainly = table.as_they_stand
print(f"{len(plainly)} of {len(STATEMENTS)} hold as they stand, in every lesson: {plainly}")

# %% [markdown]
# ## Where the story is only partly true
#
# - *Each layer is told what to do at this $t$*: mostly it is told the same at every $t$ (beat 1).
# - *Coarse first, then fine*: what is tied to the outline comes with it, however fine; and no network needs adaRMS for it (beat 2).
# - *Every layer needs the time*: by the loss, yes; yet with the clock stopped at the right $\tau$ the scenes are solved as well (beat 3).
# - *Deep layers must carry the time*: they do, and a network that is not told works much of it out (beat 4).
# - *The highway is untouched*: nothing scales it, but much of what enters is taken off again (beat 6).
# - All this is one small network on one made task. pi0.5 itself comes in lesson 08.

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** A modulation of two features is $[2, 1]$ at one time and $[2, -1]$ at the other. Which share of its energy does not
# depend on time?

# %%
share = ...
checks.lesson_07.exercise_1(share)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# The average is $[2, 0]$, energy 4. Each of the two has energy 5, so the share is $4/5$.
#
# ```python
# share = 4 / 5
# checks.lesson_07.exercise_1(share)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Take the time out of a stream: write a function of `features` (n, width) and `time` (n,) that removes **one** direction
# from the features, after which no straight line reads the time.

# %%
take_out = ...  # a function of features and time
checks.lesson_07.exercise_2(take_out)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# A line reads nothing when no feature moves with time: when all covariances with it are zero. So remove the direction of the covariance, not the
# probe's weight.
#
# ```python
# def take_out(features, time):
#     direction = (features - features.mean(0)).T @ (time - time.mean())
#     direction = direction / direction.norm()
#     return features - (features @ direction)[:, None] * direction
#
#
# checks.lesson_07.exercise_2(take_out)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** At $t = 0.2$ the loss, a mean square, is $0.09$. How large is the error of $\hat a$ (RMS)?

# %%
error = ...
checks.lesson_07.exercise_3(error)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# With $v_t = u_t + e$: $\hat a = x_t - t\,u_t - t\,e = a - t\,e$. The error is $t$ times $\sqrt{0.09}$.
#
# ```python
# error = 0.2 * 0.09**0.5
# checks.lesson_07.exercise_3(error)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** Find a stopped clock that solves at least as many scenes as the right one: one wrong time $\tau$,
# told to all layers at every step. Why does such a lie do so little?


# %%
def solved_when_told(tau):
    return float(solved["everywhere"][int((TOLD - tau).abs().argmin())])


tau = ...
checks.lesson_07.exercise_4(tau, solved_when_told, float(truthful))

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Told that little noise is left, the network takes a side at the first step: the bow in its guess has full size at once, where the honest guess
# is still in the middle. The noise goes as fast as it should. From $\tau = 0.4$ on noise is left over at the end.
#
# ```python
# tau, ones = 0.3, torch.ones(SCENES)
# honest_bow = probes.in_bands(noise - MODEL(noise, ones, observation))[:, 2, 1].std()
# with probes.lie(MODEL, tau):
#     bow = probes.in_bands(noise - MODEL(noise, ones, observation))[:, 2, 1].std()
# assert bow > 3 * honest_bow
# checks.lesson_07.exercise_4(tau, solved_when_told, float(truthful))
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** 95% of a gate's energy does not depend on t. May a constant take its place at no cost? (statement 15)
#
# <details><summary>Yes.</summary>No: held at its average, the gate cost no less than shift did, of which more varies.</details>
# <details><summary>That number does not say.</summary>Right: energy that varies and worth are two questions.</details>
# <details><summary>No: a gate has to depend on t.</summary>No: as one token, networks trained with constant gates came out level in loss (lesson 06).</details>
#
# **2.** What decides at which t a band becomes known? (statement 18)
#
# <details><summary>Its frequency: slow first.</summary>No: bands 2 and 4, parts of one bow, come together, and band 3 before both.</details>
# <details><summary>How often the network is told the time.</summary>No: told once, it knows the bow at the same t.</details>
# <details><summary>Its variance, and what it hangs together with.</summary>Right: the order is in the task.</details>
#
# **3.** A linear probe reads t from a stream with R² 0.98. Does the network use it? (statement 20)
#
# <details><summary>Unknown.</summary>Right: the probe shows that it is there. Use is shown by changing it and watching the output.</details>
# <details><summary>Yes.</summary>No: that it is there does not show that anything reads it.</details>
# <details><summary>No: a probe is no part of it.</summary>No: it may use it. The probe cannot say.</details>
#
# **4.** 'This is why pi0.5 injects the time into every layer.' What do the figures here say? (statement 24)
#
# <details><summary>It is confirmed.</summary>No: as one token, a time told once, with constant gates, is level in loss.</details>
# <details><summary>Not resolved.</summary>Right: small networks and made data; pi0.5 with the time told once and gates was not tested.</details>
# <details><summary>It is refuted.</summary>No: adaRMS does gain a little in success. Not resolved is not refuted.</details>
#
# **5.** Near data the input's share of the final stream is more than 1. What did the blocks do? (statement 21)
#
# <details><summary>They scaled the stream.</summary>No: nothing multiplies it.</details>
# <details><summary>Nothing: the highway is untouched.</summary>No: they add to it, and the shares add up to 1.</details>
# <details><summary>They wrote against it.</summary>Right: what they add takes a part of the input away again.</details>

# %% [markdown]
# ## Summary
#
# $$\hat a = x_t - t\,v_t\,,\qquad \text{constant share} = \frac{\lVert \mathbb E_t\,m\rVert^2}{\mathbb E_t\lVert m\rVert^2}\,,\qquad
# x_L = x_0 + \sum_l g_l \odot F_l\big((1+s_l)\odot\mathrm{RMSNorm}(x_l) + b_l\big)$$
#
# Every layer uses the time it is told; most of what it is told is the same at every time. The stream carries the time in every model, told or not.
# Most of what sets adaRMS apart from "told once" here are its gates; what the time in every layer adds is small.
#
# **Next:** lesson 08 looks at the modulations in the published weights of pi0.5.
#
# **References**
#
# - G. Alain, Y. Bengio, *Understanding intermediate layers using linear classifier probes*, 2016, arXiv:1610.01644
# - N. Belrose et al., *LEACE: Perfect linear concept erasure in closed form*, NeurIPS 2023, arXiv:2306.03819 (exercise 2, done with the least change)
# - Q. Sun, Z. Jiang, H. Zhao, K. He, *Is Noise Conditioning Necessary for Denoising Generative Models?*, ICML 2025, arXiv:2502.13129
# - Physical Intelligence, openpi, `src/openpi/models/gemma.py` and `pi0.py`
