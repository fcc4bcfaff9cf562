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
# # 05 What flow matching asks of a network
#
# **What is the network asked to do at t near 1, and what at t near 0?**
#
# pi0.5 makes an action chunk out of noise, in about ten small steps. Its network answers one question at every step: which
# way now? For a finite data set the best answer can be computed exactly, with no training. This lesson looks at that
# answer. At the end you can
#
# - write down the training pair, its target and the loss of flow matching,
# - compute by hand the velocity that a perfect network learns,
# - say what it is asked near noise and near data, and in which order the parts of a motion appear,
# - choose a number of Euler steps, and spot a reversed time or a wrong sign.
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
import math

import torch
from torch.testing import assert_close

from helpers import checks, data, flow
from helpers.claims import verdict
from helpers.controls import choice, explore, slider
from helpers.figures import flow as figures

SEED = 0
POINTS = 400  # in each shape
CHUNKS = 1000  # in the set of action chunks
SEEDS = (0, 1, 2)
STEPS = 20  # where conventions are compared
SHAPE_NAMES = ("two moons", "checkerboard", "spiral")

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $a$ | `actions` | (batch, ...) | data: a point, or a chunk of 16 waypoints |
# | $z$ | `noise` | like actions | standard normal numbers |
# | $t$ | `time` | (batch,) | 1 is noise, 0 is data |
# | $x_t$ | `x_t` | like actions | what the network sees |
# | $u_t$ | `u_t` | like actions | the target velocity of one pair |
# | $v_t$ | `v_t` | like actions | the velocity that the network answers |
# | $\mathbb E[a \mid x_t]$ | `posterior_mean` | like actions | the mean of all data that could be under $x_t$ |
#
# Time is counted as in openpi, pi0.5's code: $t = 1$ is noise. Most papers count the other way round; beat 6 is about that.

# %% [markdown]
# ## 1. One pair, one line
#
# Training draws a data point $a$, some noise $z$ and a time $t$, and mixes them. The mix moves on a straight line, so its
# velocity is the same at every $t$:
#
# $$x_t = t\,z + (1-t)\,a\,,\qquad u_t = \frac{dx_t}{dt} = z - a$$
#
# **Predict.** $a = [1, 0]$ and $z = [-1, 2]$. Where is $x_t$ at $t = 0.25$? Does $u_t$ point towards the data or towards the noise?

# %%
actions, noise = torch.tensor([[1.0, 0.0]]), torch.tensor([[-1.0, 2.0]])
for t in (1.0, 0.25, 0.0):
    x_t = t * noise + (1 - t) * actions
    print(f"t = {t:4}   x_t = {x_t.tolist()}   u_t = {(noise - actions).tolist()}")
time = torch.tensor([0.25])
assert torch.equal(flow.interpolate(actions, noise, time), 0.25 * noise + 0.75 * actions)
assert torch.equal(flow.target_velocity(actions, noise), noise - actions)

# %%
SHAPES = {name: data.SHAPES[name](POINTS, SEED).double() for name in SHAPE_NAMES}
NOISE = torch.randn(POINTS, 2, generator=torch.Generator().manual_seed(SEED)).double()
pairs = figures.PairLines(SHAPES["two moons"][38:118], NOISE[38:118], flow.interpolate)
explore(pairs, t=slider(0.0, 1.0, 0.5, 0.01), pairs=slider(1, 80, 1))

# %% [markdown]
# Notice: $u_t$ points at the noise, because time runs from data to noise. Sampling goes against it. With many pairs, lines cross
# everywhere, and at a crossing they want to go different ways.
#
# <details><summary>The answer to the prediction</summary>
#
# $x_{0.25} = 0.25\,[-1, 2] + 0.75\,[1, 0] = [0.5, 0.5]$, and $u_t = [-2, 2]$, from the data towards the noise.
#
# </details>

# %% [markdown]
# ## 2. Many pairs, one answer
#
# The network sees $x_t$ and $t$, not the pair. Its loss is the squared distance to the target:
#
# $$\ell = \lVert v(x_t, t) - u_t \rVert^2 / d$$
#
# To see crossings plainly, take one number instead of a plane, and only two data points, $-1$ and $1$.
#
# **Predict.** At $x_t = 0.2$, $t = 0.5$ two lines pass, one from each data point. Their $u_t$ are $2.4$ and $-1.6$. What should the
# network answer: the first, the second, the middle $0.4$, or something else?
#
# Squared loss is least at the mean of the targets. Since $u_t = (x_t - a)/t$, that is
#
# $$v_t = \mathbb E[u_t \mid x_t] = \frac{x_t - \mathbb E[a \mid x_t]}{t}\,,\qquad
# \mathbb E[a \mid x_t] = \sum_i w_i\,a_i\,,\quad w_i \propto \exp\!\Big(\!-\frac{\lVert x_t - (1-t)\,a_i\rVert^2}{2t^2}\Big)$$
#
# $w_i$ is how likely the noise $(x_t - (1-t)\,a_i)/t$ was: the noise that would have led from $a_i$ to this $x_t$.


# %%
def plain_posterior_mean(x_t, t, points):
    misfit = (x_t[:, None] - (1 - t) * points).square().sum(-1)
    weights = (-misfit / (2 * t**2)).softmax(-1)
    return weights @ points


def plain_velocity(x_t, t, points):
    return (x_t - plain_posterior_mean(x_t, t, points)) / t


# %%
TWO = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
x_t = torch.tensor([[0.2]], dtype=torch.float64)
mean, average = plain_posterior_mean(x_t, 0.5, TWO).item(), plain_velocity(x_t, 0.5, TWO).item()
print(f"posterior mean {mean:.3f}: {(1 + mean) / 2:.0%} of these pairs come from 1")
print(f"v_t = {average:.3f}")

# %%
time = torch.full((POINTS,), 0.3, dtype=torch.float64)
for points in SHAPES.values():
    assert_close(plain_posterior_mean(NOISE, 0.3, points), flow.posterior_mean(NOISE, time, points))
    assert_close(plain_velocity(NOISE, 0.3, points), flow.exact_velocity(NOISE, time, points))

# %% [markdown]
# Is that really what the loss asks for? Draw 200,000 pairs, once keep those that pass near $x = 0.2$ at $t = 0.5$, once compare losses.


# %%
def field_of(points):
    return lambda x_t, time: flow.exact_velocity(x_t, time, points)


generator = torch.Generator().manual_seed(SEED + 1)
actions = TWO[torch.randint(2, (200_000,), generator=generator)]
noise = torch.randn(actions.shape, generator=generator, dtype=torch.float64)
x_t, u_t = (noise + actions) / 2, noise - actions
near = u_t[(x_t - 0.2).abs() < 0.02]
print(f"{len(near)} pairs pass by; the mean of their u_t is {near.mean():.2f}")
assert abs(near.mean() - average) < 0.1

time = torch.full((len(x_t),), 0.5, dtype=torch.float64)
v_t = field_of(TWO)(x_t, time)
losses = {c: (c * v_t - u_t).square().mean().item() for c in (0.0, 0.8, 1.0, 1.2)}
print("  ".join(f"{c} v_t: {loss:.3f}" for c, loss in losses.items()))
assert min(losses, key=losses.get) == 1.0
assert abs(losses[1.0] - flow.flow_loss(field_of(TWO), actions, noise, time).mean()) < 1e-9

# %%
crossing = figures.CrossingLines(
    TWO, NOISE[:40, :1], lambda x, t: flow.posterior_mean(x, t, TWO), field_of(TWO)
)
explore(crossing, t=slider(0.02, 1.0, 0.5, 0.01), x=slider(-2.0, 2.0, 0.2, 0.05))

# %% [markdown]
# The purple piece is the average, followed towards the data. Notice: at $t = 1$ both lines are equally likely at every $x$. As $t$ falls the nearer data point takes over, except at $x = 0$.
#
# The loss of the perfect answer is not zero. What is left is the spread of the targets at a crossing, and no network can
# remove it. A loss curve that levels off high is not a failure by itself.
#
# <details><summary>The answer to the prediction</summary>
#
# Something else: $-0.36$. The average counts how often each line is met. The noise for $a = 1$ would be $-0.6$, for $a = -1$ it
# would be $1.4$, which is rarer. So 69% of the pairs here come from $1$.
#
# </details>

# %% [markdown]
# ## 3. From the mean of all to one of them
#
# Now in the plane: a cloud on its way, the posterior mean at each of its points, and the field. The field is drawn as $-v_t$, the way
# that a sampling step goes; long arrows are shortened.
#
# **Predict.** At $t = 1$ every point of the cloud is pure noise. Where are the posterior means then? And at $t = 0.05$?


# %%
def spread(samples, points):
    return (samples.std(0) / points.std(0)).mean().item()


for name, points in SHAPES.items():
    widths = {}
    for t in (1.0, 0.8, 0.5, 0.2, 0.05):
        time = torch.full((POINTS,), t, dtype=torch.float64)
        x_t = flow.interpolate(points, NOISE, time)
        widths[t] = spread(flow.posterior_mean(x_t, time, points), points)
    print(f"{name:13}" + "   ".join(f"t = {t}: {width:4.0%}" for t, width in widths.items()))
    assert widths[1.0] < 1e-9 and widths[0.05] > 0.95

# %%
fields = figures.FieldOverTime(
    SHAPES, NOISE, flow.interpolate, flow.posterior_mean, flow.exact_velocity
)
explore(fields, t=slider(0.02, 1.0, 0.5, 0.02), shape=choice(list(SHAPES)))

# %% [markdown]
# Notice: at $t = 1$ all arrows point at one place, the mean of the data. With falling $t$ the field first sees where the bulk is, then the two
# moons or the arm of the spiral, then single points. Near $t = 0$ the arrows at a place are the way to the nearest data.
#
# An action chunk has 32 numbers, 16 waypoints of two. Here are 500 chunks for one goal (star) and one obstacle (disc); about half
# pass it on the left, the others on the right. The third panel gives each waypoint its own arrow.
#
# **Predict.** Every chunk in the data clears the obstacle. Does their mean?

# %%
scene = data.reach_scenes(1, SEED)
scene = data.Scene(scene.goal.expand(500, 2), scene.obstacle.expand(500, 2))
one_scene = data.reach_demonstrations(scene, SEED)
chunk_noise = torch.randn(one_scene.shape, generator=torch.Generator().manual_seed(SEED + 2))
ways = data.to_waypoints(one_scene)
assert data.clears_obstacle(ways, scene).all()
beside = ways[:, 7] - ways[:, 7].mean(0)
left = (scene.goal[0, 0] * beside[:, 1] - scene.goal[0, 1] * beside[:, 0] > 0).float().mean()
assert 0.4 < left < 0.6

# %%
for t in (1.0, 0.9, 0.8, 0.7, 0.6, 0.4):
    time = torch.full((500,), t)
    means = flow.posterior_mean(flow.interpolate(one_scene, chunk_noise, time), time, one_scene)
    clear = data.clears_obstacle(data.to_waypoints(means), scene).float().mean().item()
    print(f"t = {t}: {clear:4.0%} of the posterior means clear the obstacle")
    assert t < 1 or clear == 0

# %%
place = (scene.goal[0], scene.obstacle[0], data.OBSTACLE_RADIUS, data.to_waypoints)
functions = (flow.interpolate, flow.posterior_mean)
chunk = figures.ChunkOverTime(one_scene, chunk_noise[:8], *place, *functions)
explore(chunk, t=slider(0.02, 1.0, 0.9, 0.02), pair=slider(1, 8, 1))

# %% [markdown]
# Notice: at $t = 1$ the answer runs straight through the obstacle. It is the mean of left and right, and nobody would drive it. Only a sample,
# which has been followed to $t = 0$, takes a side. Predicting the mean at once is what plain regression does. And the arrows do not get
# shorter near $t = 0$: $v_t$ is then about $z - a$. Only the way that is left, $t\,v_t$, gets short.
#
# <details><summary>The answers to the predictions</summary>
#
# At $t = 1$, $x_t$ says nothing about $a$: every posterior mean is the mean of the whole set. At $t = 0.05$ they are nearly the data
# themselves. The mean of chunks that clear the obstacle need not clear it, and here it does not.
#
# </details>

# %% [markdown]
# ## 4. Outline first, then detail?
#
# "Near $t = 1$ the network restores the rough outline, near $t = 0$ the detail." To test that, split a motion into frequency bands. The
# discrete cosine transform (DCT) does it: band 0 is the mean position, band 1 a slow drift, band 15 a zigzag. For each band
# we ask which share of its variance the posterior mean knows at time $t$.
#
# First a band on its own: one normal number with standard deviation $\sigma$. Then $x_t$ has variance $t^2 + (1-t)^2\sigma^2$, and of the
# band's variance the share
#
# $$R^2(t) = \frac{(1-t)^2\sigma^2}{(1-t)^2\sigma^2 + t^2}\,,\quad\text{which is one half at}\quad t_{1/2} = \frac{\sigma}{1+\sigma}$$
#
# is known. Its frequency is not in the formula.
#
# **Predict.** In our chunks, is band 10 known later than band 3? Now add a strong wiggle in band 10 to every chunk, with a random size. When is that
# band known?

# %%
H = data.HORIZON
k, n = torch.arange(H)[:, None], torch.arange(H)
DCT = torch.cos(math.pi * k * (n + 0.5) / H) * math.sqrt(2 / H)
DCT[0] /= math.sqrt(2)
assert_close(DCT @ DCT.T, torch.eye(H), atol=1e-5, rtol=0)

# %% [markdown]
# The set: 1,000 chunks, each for its own goal and obstacle. We look at the sideways coordinate.


# %%
def alone(sigma, t):
    return (1 - t) ** 2 * sigma**2 / ((1 - t) ** 2 * sigma**2 + t**2)


def deviation(chunks, seen):  # of each band of the sideways coordinate
    return ((seen - chunks.mean(0))[..., 1] @ DCT.T).square().mean(0).sqrt()


def known(chunks, t, noise, seen=None):
    seen = chunks[: len(noise)] if seen is None else seen
    time = torch.full((len(noise),), t)
    mean = flow.posterior_mean(flow.interpolate(seen, noise, time), time, chunks)
    missing = ((seen - mean)[..., 1] @ DCT.T).square().mean(0)
    return 1 - missing / deviation(chunks, seen).square()


# %%
def make(seed):
    generator = torch.Generator().manual_seed(seed)
    chunks = data.reach_demonstrations(data.reach_scenes(CHUNKS, seed), seed)
    size = torch.randn(CHUNKS, 1, generator=generator)
    return chunks, size, torch.randn(250, H, 2, generator=generator)


def with_wiggle(chunks, size, strength, band=10):
    sideways = chunks[..., 1] + strength * size * DCT[band]
    return torch.stack([chunks[..., 0], sideways], dim=-1)


# %%
def half_times(chunks, noise):
    times = torch.linspace(0.98, 0.02, 33)
    shares = torch.stack([known(chunks, t.item(), noise) for t in times])
    return times[(shares > 0.5).int().argmax(0)]


def halves(seed, strength):
    chunks, size, noise = make(seed)
    wiggled = with_wiggle(chunks, size, strength)
    return half_times(wiggled, noise), deviation(wiggled, wiggled)


half = {(seed, wiggle): halves(seed, wiggle) for seed in SEEDS for wiggle in (0.0, 0.3, 1.0, 3.0)}

# %%
elsewhere = {}
print("reach chunks; t at which half of the band is known, one column a seed")
for band in (0, 1, 2, 3, 4, 5, 10, 11):
    found = "  ".join(f"{half[seed, 0.0][0][band]:.2f}" for seed in SEEDS)
    sigma = half[SEEDS[0], 0.0][1][band].item()
    print(f"band {band:2}  {found}   sigma {sigma:.2f}, alone {sigma / (1 + sigma):.2f}")
for strength in (0.3, 1.0, 3.0):
    found = "  ".join(f"{half[seed, strength][0][10]:.2f}" for seed in SEEDS)
    print(f"band 10 with wiggle {strength}: {found}   alone {strength / (1 + strength):.2f}")
CASE = make(SEEDS[0])
for band in (5, 8, 15):
    wiggled = with_wiggle(*CASE[:2], 1.0, band)
    elsewhere[band] = half_times(wiggled, CASE[2])[band].item()
    print(f"band {band:2} with wiggle 1.0: {elsewhere[band]:.2f}   alone 0.50")


# %%
def look(t, wiggle):
    chunks, size, noise = CASE
    chunks, time = with_wiggle(chunks, size, wiggle), torch.tensor([t])
    x_t = flow.interpolate(chunks[:1], noise[:1], time)
    seen = {"actions": chunks[:1], "x_t": x_t, "mean": flow.posterior_mean(x_t, time, chunks)}
    curves = {name: value[0, :, 1].numpy() for name, value in seen.items()}
    shares = {"known": known(chunks, t, noise), "alone": alone(deviation(chunks, chunks), t)}
    return curves | {name: share.numpy() for name, share in shares.items()}


sliders = {"t": slider(0.02, 1.0, 0.7, 0.02), "wiggle": slider(0.0, 3.0, 0.0, 0.1)}
explore(figures.Bands(look, 10), still={"wiggle": 3.0}, **sliders)

# %% [markdown]
# Notice three things.
#
# - **Alone, variance decides.** The wiggle is drawn apart from the rest. Weak (0.3) it comes late, strong (3) it is among the first, ahead of slower bands. Its
#   half-times follow $\sigma/(1+\sigma)$.
# - **Together, bands arrive together.** The even bands are all parts of one bow round the obstacle. Once the side is known, its
#   finest part is known too, however small: bars far above their marks.
# - **Frequency as such decides nothing.** "Outline first" holds where fine parts are small and independent of the outline. That is a property
#   of the data, not of $t$.

# %% tags=["claim-18"]
reach = torch.stack([half[seed, 0.0][0] for seed in SEEDS])
wiggles = {s: torch.stack([half[seed, s][0][10] for seed in SEEDS]) for s in (0.3, 1.0, 3.0)}
sigma = half[SEEDS[0], 0.0][1]
assert max(float((found - s / (1 + s)).abs().max()) for s, found in wiggles.items()) < 0.08
assert max(abs(found - 0.5) for found in elsewhere.values()) < 0.06
assert (wiggles[3.0] > reach[:, 1]).all() and (wiggles[3.0] > 0.7).all()
assert (wiggles[0.3] > 0.23).all() and (reach[:, 10] - reach[:, 2]).abs().max() < 0.05
assert 6 < sigma[3] / sigma[10] < 9 and (reach[:, 10] > reach[:, 3] + 0.1).all()
found, (band_0, _, _, band_3) = [w.mean() for w in wiggles.values()], reach.mean(0)[:4]
verdict(
    18,
    "the detail has less variance than the outline and is independent of it",
    "an independent wiggle of deviation 0.3, 1, 3 is half known at t = "
    f"{found[0]:.2f}, {found[1]:.2f}, {found[2]:.2f}, in a fast or a slow band alike; "
    f"of reach chunks (3 seeds) band 0 at {band_0:.2f}, band 3 at {band_3:.2f}, "
    f"but band 10, part of the same bow as band 2, at {reach[:, 10].mean():.2f}",
)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# No: band 10 is known earlier than band 3, though its deviation is seven times smaller. It is tied to the bow. With a wiggle of
# deviation 3 added, band 10 is half known between $t = 0.7$ and $0.8$; so strong a wiggle *is* the outline.
#
# </details>

# %% [markdown]
# ## 5. Euler steps
#
# A sample starts as noise and follows $-v_t$ in $N$ equal steps from $t = 1$ to $0$:
#
# $$x_{t - 1/N} = x_t - \tfrac1N\, v(x_t, t)$$
#
# **Predict.** All training lines are straight. Is one step then enough? Where do samples land with $N = 1$?


# %%
def plain_euler(velocity, x, num_steps):
    for step in range(num_steps):
        time = torch.full((len(x),), 1 - step / num_steps, dtype=x.dtype)
        x = x - velocity(x, time) / num_steps
    return x


# %%
MOONS = SHAPES["two moons"]
for steps in (1, 2, 10):
    samples = flow.euler_sample(field_of(MOONS), NOISE, steps)
    assert_close(plain_euler(field_of(MOONS), NOISE, steps), samples)
    print(
        f"{steps:2} steps: the samples are spread {spread(samples, MOONS):.0%} as wide as the data"
    )


# %%
def path(points, noise, steps):
    return flow.euler_path(field_of(points), noise, steps)[1]


explore(figures.BentPaths(TWO, NOISE[:40, :1], path), steps=slider(1, 50, 50))

# %% [markdown]
# The lines on the left cross, because a pair is drawn blindly. The paths on the right never cross: $v$ gives one direction to each
# $(x_t, t)$. A path starts towards the mean of all ends. As it goes on, some ends become unlikely, the average changes, and
# the path bends. It is straight only where the average does not change, as with a single data point.

# %%
single, x_t = path(SHAPES["spiral"][:1], NOISE, 10), path(MOONS, NOISE, 10)
assert torch.allclose(single.diff(dim=0), single[1] - single[0]), "one data point: straight paths"
tenth = torch.full((POINTS,), 0.1, dtype=torch.float64)
assert_close(x_t[10], flow.posterior_mean(x_t[9], tenth, MOONS))
assert not torch.allclose(x_t[1] - x_t[0], x_t[10] - x_t[9], atol=0.01)

# %%
fresh = {name: data.SHAPES[name](POINTS, SEED + 1).double() for name in SHAPES}
euler = figures.EulerPaths(SHAPES, fresh, NOISE[:100], path)
explore(euler, steps=slider(1, 50, 10), shape=choice(list(SHAPES)))

# %% [markdown]
# Notice: the last step always lands on the posterior mean at $t = 1/N$, as the cell above asserts for $N = 10$. So few steps give blurred samples, and more steps
# sharpen them. With many steps they are *nearer* to the data than new data are (dotted line). They are copies: a perfect
# network, trained on a finite set, can only give back that set.
#
# <details><summary>The answer to the prediction</summary>
#
# One step is not enough: from $t = 1$ it lands every sample on the mean of the data, because
# $x - v(x, 1) = \mathbb E[a]$. Straight training lines do not make a straight flow.
#
# </details>

# %% [markdown]
# ## 6. Which end is noise?
#
# openpi's code has $t = 1$ at the noise. Most papers, the pi0 paper too, have it at the data. With $s = 1 - t$ the papers' velocity is
#
# $$v^{\text{papers}}(x, s) = \frac{dx}{ds} = -\,v(x, 1 - s)$$
#
# Two things change: the argument and the sign. `flow.flip_time` does both.
#
# **Predict.** You port a sampler and forget one of the two. Which mistake is easier to see: the sign, or the time?


# %%
def papers_path(velocity, noise, num_steps):
    path = [noise]
    for step in range(num_steps):
        s = torch.full((len(noise),), step / num_steps, dtype=noise.dtype)
        path.append(path[-1] + velocity(path[-1], s) / num_steps)
    return torch.stack(path)


start = NOISE[:150]


# %%
def held_field(x_t, time):  # at time 0 the exact field has no value; a wrong sampler asks for it
    return field_of(MOONS)(x_t, time.clamp_min(1 / STEPS))


samples = flow.euler_sample(held_field, start, STEPS)
for velocity in (lambda x, s: -held_field(x, 1 - s), flow.flip_time(held_field)):
    assert_close(papers_path(velocity, start, STEPS)[-1], samples)

# %%
MISTAKES = {
    "none": flow.flip_time(held_field),
    "sign not turned": lambda x, s: held_field(x, 1 - s),
    "time not turned": lambda x, s: -held_field(x, s),
    "neither turned": held_field,
}


def run(convention, mistake):
    if convention == "papers":
        return papers_path(MISTAKES[mistake], start, STEPS)
    return flow.euler_path(flow.flip_time(MISTAKES[mistake]), start, STEPS)[1]


# %%
conventions = figures.Conventions(run, list(MISTAKES), MOONS)
menus = {"convention": choice(list(figures.CONVENTIONS)), "mistake": choice(list(MISTAKES))}
explore(conventions, **menus, step=slider(0, STEPS, STEPS))

# %%
for mistake in MISTAKES:
    ends = run("openpi", mistake)[-1]
    gap = torch.cdist(ends, MOONS).amin(1).mean()
    print(f"{mistake:16} {gap:6.2f} from the data, spread {spread(ends, MOONS):6.0%}")

# %% [markdown]
# In the *time not turned* row the field is asked about $t = 0$ first, where it has no value; `held_field` answers with its value one step earlier.
#
# <details><summary>The answer to the prediction</summary>
#
# The sign: the samples run away from the data, at once and far. A reversed time is harder to see: the cloud still takes the data's shape, only
# shrunken, because the last steps pull it towards means of many points. Look at the spread, not only at the shape.
#
# </details>

# %% [markdown]
# ## 7. Where the training effort goes
#
# Each training step draws its times. openpi does not draw them uniformly but from $\mathrm{Beta}(\alpha, 1)$ with $\alpha = 1.5$,
# whose density is $\alpha\, t^{\alpha-1}$. It is simple to draw: a uniform number to the power $1/\alpha$, then moved into
# $[0.001, 1]$: a sampler with fewer than 1,000 steps asks about no smaller time.
#
# **Predict.** Which share of the training times lies above $0.5$ then: 50%, 65% or 80%?


# %%
def seeded():
    return torch.Generator().manual_seed(SEED)


times = flow.sample_time(100_000, generator=seeded())
assert_close(times, torch.rand(100_000, generator=seeded()) ** (1 / 1.5) * 0.999 + 0.001)
above, below = ((times > 0.5).float().mean(), (times < 0.1).float().mean())
print(f"above 0.5: {above:.1%};  below 0.1: {below:.1%};  mean {times.mean():.3f}")
assert abs(above - (1 - 0.5**1.5)) < 0.005 and abs(below - 0.1**1.5) < 0.005


# %%
def draw(alpha):
    return flow.sample_time(20_000, alpha, seeded())


def least_loss(t):
    return flow.flow_loss(field_of(CASE[0]), CASE[0][:250], CASE[2], t.expand(250)).mean().item()


sampling = figures.TimeSampling(draw, least_loss, torch.linspace(0.02, 1, 50))
explore(sampling, alpha=slider(0.5, 3.0, 1.5, 0.1))

# %% [markdown]
# Notice: the loss that no network avoids is not spread evenly either. For these chunks most of it lies at large $t$, where the targets at
# one place differ most; near $t = 0$ a finite set leaves nothing to guess. The pi0 paper gives this reason for its choice: with an observation at hand, the
# mean action under much noise is the hard part. Whether $\alpha = 1.5$ trains better than 1 is not decided here.
#
# <details><summary>The answer to the prediction</summary>
#
# 65%: $1 - 0.5^{1.5} = 0.646$. A mild preference. Only 3% of the draws lie below 0.1, where uniform draws would put 10%.
#
# </details>

# %% [markdown]
# ## Where the story is only partly true
#
# - *The network learns straight lines*: it learns their average, whose paths bend (beat 5).
# - *Outline first, detail last*: variance and dependence decide, not frequency (beat 4).
# - *The better the network, the better the samples*: the perfect one, for a finite set, copies the set (beat 5). What is new in a trained model's
#   samples is where it differs from this lesson's field.
# - *The exact posterior mean*: exact for this set of chunks. Near $t = 0$ it recognises them one by one; of new chunks it knows less (below). So
#   a lone weak wiggle is half known a little earlier than the formula says.
# - *More steps are better*: measured by distance to the data, mostly. But that measure can be fooled: one step puts all samples on one spot, which on the
#   spiral and the checkerboard happens to lie near some data.

# %%
for name in SHAPES:
    assert euler.distances[name, 50] < euler.usual[name] < euler.distances[name, 2]
for name in ("spiral", "checkerboard"):
    assert euler.distances[name, 1] < euler.distances[name, 2]

# %%
wiggled, new = (with_wiggle(*make(seed)[:2], 1.0) for seed in (SEEDS[0], SEEDS[0] + 10))
of_set = known(wiggled, 0.05, CASE[2])[10].item()
of_new = known(wiggled, 0.05, CASE[2], new[:250])[10].item()
print(f"known of a wiggle of 1.0 at t = 0.05: {of_set:.0%} in the set, {of_new:.0%} in new chunks")
assert of_set > 0.99 > 0.97 > of_new

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** The data are $-1$ and $1$. What is $v_t$ at $x_t = 0.5$, $t = 0.5$? By hand, to two digits.

# %%
answer = ...
checks.lesson_05.exercise_1(answer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# The noises would be $0$ and $2$, so the weights are as $1 : e^{-2}$, which is 88% and 12%. The posterior mean is $0.76$, and $(0.5 - 0.76)/0.5 = -0.52$.
#
# ```python
# answer = -0.52
# checks.lesson_05.exercise_1(answer)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** A library samples with $s$ from 0 (noise) to 1 (data) and adds $v/N$. Turn an openpi velocity into one for that library,
# without `flip_time`.


# %%
def for_library(velocity):
    return ...  # a function of x and s


checks.lesson_05.exercise_2(for_library)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# def for_library(velocity):
#     return lambda x, s: -velocity(x, 1 - s)
#
#
# checks.lesson_05.exercise_2(for_library)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** Beat 4 says when *half* of a lone band's variance is known. At which $t$ is a share $q$ of it known? Write it as a function of
# $\sigma$ and $q$.

# %%
known_at = ...  # a function of sigma and q
checks.lesson_05.exercise_3(known_at)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $R^2 = q$ means $(1-t)^2\sigma^2 / t^2 = q/(1-q)$. With $r = \sqrt{q/(1-q)}$ that is $(1-t)\,\sigma = r\,t$, so $t = \sigma/(\sigma + r)$.
#
# ```python
# def known_at(sigma, q):
#     return sigma / (sigma + math.sqrt(q / (1 - q)))
#
#
# checks.lesson_05.exercise_3(known_at)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** `noise` and `actions` hold n single numbers, shape (n,). Reorder `actions` so that no two lines cross. Then say why one
# Euler step is enough for a network trained on these pairs alone.

# %%
uncross = ...  # a function of noise and actions
checks.lesson_05.exercise_4(uncross)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# The smallest noise gets the smallest action, and so on. No two lines share a point, so each average has one member: $v_t = u_t$ all along each line, and
# the flow is as straight as the lines. Rectified flow (Liu et al.) approaches such a pairing by training again on the pairs that a trained flow makes.
#
# ```python
# def uncross(noise, actions):
#     return actions.sort().values[noise.argsort().argsort()]
#
#
# checks.lesson_05.exercise_4(uncross)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** What does a perfect network answer at t = 1? (statement 18)
#
# <details><summary>The way from the nearest data point.</summary>No: there x_t says nothing about the data, so all are equally likely.</details>
# <details><summary>x_t minus the mean of the data.</summary>Right: all is possible, so the guess is the mean of all.</details>
# <details><summary>0.</summary>No: then the noise would stay where it is.</details>
#
# **2.** Two bands of a chunk are independent. Which is known first as t falls? (statement 18)
#
# <details><summary>The slower one.</summary>No: frequency is not in the formula.</details>
# <details><summary>Both at the same t.</summary>No: only if their variances are equal.</details>
# <details><summary>The one with more variance.</summary>Right: half of it is known at t = σ/(1 + σ).</details>
#
# **3.** Band 10 of our chunks is smaller than band 3, and yet known earlier. Why? (statement 18)
#
# <details><summary>It is a part of the bow round the obstacle.</summary>Right: once the side is known, all parts of the bow are.</details>
# <details><summary>It is faster.</summary>No: frequency as such decides nothing.</details>
# <details><summary>By chance.</summary>No: it is so in all three seeds.</details>
#
# **4.** Where does the last of N Euler steps land? (statement 18)
#
# <details><summary>On a data point.</summary>No: nearly so if N is large, but with few steps in between.</details>
# <details><summary>On the posterior mean at t = 1/N.</summary>Right: so few steps give blurred samples.</details>
# <details><summary>On the mean of all data.</summary>No: only if N is 1.</details>
#
# **5.** Samples have the form of the data, but are too narrow. What may be wrong? (statement 18)
#
# <details><summary>The sign of the velocity.</summary>No: then they run far away.</details>
# <details><summary>Too many Euler steps.</summary>No: more steps make them sharper.</details>
# <details><summary>The time runs the wrong way.</summary>Right: the last steps then ask about t near 1, where the answer is a mean of many points.</details>

# %% [markdown]
# ## Summary
#
# $$x_t = t\,z + (1-t)\,a\,,\qquad u_t = z - a\,,\qquad v_t = \frac{x_t - \mathbb E[a \mid x_t]}{t}\,,\qquad x_{t-1/N} = x_t - \tfrac1N v_t\,,\qquad
# v^{\text{papers}}(x, s) = -v(x, 1-s)$$
#
# At $t = 1$ the answer is the mean of everything, at $t$ near 0 one data point. In between, what has much variance, or hangs together with it, is known first.
#
# **Next:** lesson 06 trains a network on this loss, with the time given to every layer, and compares.
#
# **References**
#
# - Y. Lipman et al., *Flow Matching for Generative Modeling*, ICLR 2023, arXiv:2210.02747
# - X. Liu, C. Gong, Q. Liu, *Flow Straight and Fast: Learning to Generate and Transfer Data with Rectified Flow*, ICLR 2023, arXiv:2209.03003
# - K. Black et al., *pi0: A Vision-Language-Action Flow Model for General Robot Control*, 2024, arXiv:2410.24164; its appendix explains the Beta distribution
# - Physical Intelligence, openpi, `src/openpi/models/pi0.py`: the loss, the times, the sampler, and the time counted the other way round
# - S. Dieleman, *Diffusion is spectral autoregression*, 2024: the same question for images
