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
# # 06 Training an adaRMS flow
#
# **Does it help to tell every layer the time?**
#
# Lesson 04 built the adaRMS block and lesson 05 said what a velocity network must answer. Now one is trained, here, in
# about a quarter of a minute: sixteen waypoints past an obstacle to a goal. Then it is compared with four networks that are told the time in other
# ways, or not at all. At the end you can
#
# - write the training loop of flow matching and say what stands round it,
# - read a trained network from noise to data, beside the best answer there is,
# - compare two ways of building a network fairly: equal parameters, equal data, paired seeds,
# - say what an interval that holds zero allows you to say.
#
# About 75 minutes. Run the cells from the top; every slider can be dragged or moved with the arrow keys.

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
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from helpers import checks, comparison, data, evaluation, flow, training
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.blocks import check_zero_init
from helpers.claims import verdict
from helpers.controls import checkbox, choice, explore, slider
from helpers.figures import training as figures
from helpers.live import Live

SEED = 0
TRAIN = True  # False: take the model that ships with the collection
TRAIN_CHUNK = False  # True: also train beat 7's model, half a minute more
STEPS = 1200

# %% [markdown]
# | symbol | in code | shape | meaning |
# |---|---|---|---|
# | $a$ | `actions` | (batch, 16, 2) | a chunk of 16 waypoints, normalised |
# | $o$ | `observation` | (batch, 4) | goal, and obstacle seen from halfway, normalised |
# | $z$ | `noise` | like actions | standard normal numbers |
# | $t$ | `time` | (batch,) | 1 is noise, 0 is data, as in openpi; most papers count the other way round |
# | $x_t$ | `x_t` | like actions | $t\,z + (1-t)\,a$ |
# | $u_t$, $v_t$ | `u_t`, `v_t` | like actions | target velocity $z - a$, and the network's answer |
# | $\hat x_0$ | `guess` | like actions | $x_t - t\,v_t$: the finished chunk that $v_t$ points at |
#
# "Success" means: every segment of the path clears the obstacle, and its end lies within 0.05 of the goal.

# %% [markdown]
# ## 1. Five lines
#
# Flow matching minimises the mean squared error of the velocity, over data, noise and times:
#
# $$\mathcal L = \mathbb E_{a,z,t}\ \big\lVert v_\theta(x_t, t, o) - (z - a)\big\rVert^2 \big/ 32$$
#
# **Predict.** Actions and noise both have mean 0 and deviation 1. What is the loss of a network that always answers 0?

# %%
scene, actions = comparison.reach_data(20_000, seed=0)
observation, random = scene.observation, torch.Generator().manual_seed(SEED)
zero_loss = flow.flow_loss(lambda x_t, time: 0 * x_t, actions, generator=random).mean()
print(f"{tuple(actions.shape)}: the loss of answering 0 is {zero_loss:.2f}")
assert abs(zero_loss - 2) < 0.05

# %% [markdown]
# Here is one row of a batch. Left, what the network is given: the noisy chunk $x_t$, its 16 points joined in order, the time $t$, the goal (cross) and the obstacle (disc).
# Right, what it is asked: $u_t = z - a$. Each point has an arrow of $-0.3\,u_t$, which points to the data; the thin line is the demonstration $a$.
#
# **Predict.** As $t$ falls from 1 to 0, the points come nearer to the demonstration. Do the arrows get shorter?

# %%
pairs = actions[:6], torch.randn(6, 16, 2, generator=torch.Generator().manual_seed(SEED + 7))
assert torch.equal(flow.interpolate(*pairs, torch.zeros(6)), actions[:6])  # x_t at t = 0
place = scene.goal[:6], scene.obstacle[:6], data.OBSTACLE_RADIUS
one_row = figures.RowOfABatch(*map(data.to_waypoints, pairs), *place)
explore(one_row, t=slider(0.0, 1.0, 0.5, 0.05), row=slider(1, 6, 1))

# %% [markdown]
# Notice: at $t = 0$ the points lie on the demonstration, and each arrow still points away from its noise.


# %% [markdown]
# The five lines are: draw a time, interpolate, predict, take the loss, step.


# %%
def train_step(model, optimizer, actions, observation, noise, random):
    time = flow.sample_time(len(actions), generator=random)
    x_t = flow.interpolate(actions, noise, time)
    v_t = model(x_t, time, observation)
    loss = (v_t - flow.target_velocity(actions, noise)).square().mean()
    optimizer.zero_grad(), loss.backward(), optimizer.step()
    return loss.item()


# %%
torch.manual_seed(SEED)
newborn = ActionExpert(ExpertConfig.REACH, "adarms")
optimizer = torch.optim.AdamW(newborn.parameters(), lr=1e-3)
five_lines, random = [], torch.Generator().manual_seed(0)
for _ in range(5):
    batch, seen = training.draw_batch((actions, observation), 128, random)
    noise = torch.randn(batch.shape, generator=random)
    five_lines.append(train_step(newborn, optimizer, batch, seen, noise, random))
print([round(loss, 3) for loss in five_lines])

# %% [markdown]
# `helpers.training.Training` makes the same steps. What it adds to them: the learning rate rises for 20 steps and then falls along a cosine, and
# gradients are clipped to norm 1. With both switched off, the losses agree.

# %%
torch.manual_seed(SEED)
newborn = ActionExpert(ExpertConfig.REACH, "adarms")
plain = training.TrainSettings(steps=10**6, learning_rate=1e-3, warm_up=0, clip=1e9)
same = training.Training(newborn, actions, observation, plain).run(steps=5)
torch.testing.assert_close(torch.tensor(same.losses), torch.tensor(five_lines))

# %% [markdown]
# <details><summary>The answers to the predictions</summary>
#
# The arrows stay as they are: for one row, $u_t = z - a$ is the same at every $t$. Only $x_t$ moves.
#
# The loss of answering 0 is 2: noise and actions are independent, so their variances add, $1 + 1$. A loss near 2 means that nothing has been learned yet.
#
# </details>

# %% [markdown]
# ## 2. Watch it learn
#
# The model: chunk and observation are one token of width 64, then four adaRMS blocks with a gated feed-forward. Every gate is zero at the start, so every
# block is the identity (lesson 04).
#
# **Predict.** When do the gates open, and which opens widest? After 100 of 1,200 steps, which share of the sampled paths ends at the goal?

# %%
torch.manual_seed(SEED)
newborn = ActionExpert(ExpertConfig.REACH, "adarms")
print(check_zero_init(newborn))
print(f"{training.count_parameters(newborn):,} parameters")


# %%
@torch.no_grad()
def gate_sizes(model, times):
    norms = [block.feed_forward_norm for block in model.transformer.blocks]
    modulations = [norm.modulation(model.time_mlp(times)) for norm in norms]
    return [m.chunk(3, dim=-1)[2].square().mean().sqrt().item() for m in modulations]


# %%
validation, validation_actions = comparison.reach_data(1000, seed=1)
TESTS = data.reaches_goal, data.clears_obstacle, data.success
GOAL, OBSTACLE, RADIUS = validation.goal[3], validation.obstacle[3], data.OBSTACLE_RADIUS
here = data.Scene(GOAL.expand(40, 2), OBSTACLE.expand(40, 2))
picture = figures.Learning(GOAL, OBSTACLE, RADIUS, STEPS, layers=4)


def snapshot(run):
    paths = data.to_waypoints(evaluation.sample_actions(run.model, here.observation))
    return {"losses": run.losses, "gates": gates, "paths": paths}


# %% [markdown]
# The next cell trains. ■ (*interrupt the kernel*) stops it after the step that is under way and keeps the model; `run.run()` in a new cell then
# goes on from there.


# %% tags=["trained"]
def on_step(run):
    if run.step % 5 == 0:
        gates.append((run.step, gate_sizes(run.model, torch.linspace(0, 1, 9))))
    if run.step in (100, 300, STEPS):
        paths = data.to_waypoints(evaluation.sample_actions(run.model, validation.observation))
        stages[run.step] = [test(paths, validation).float().mean().item() for test in TESTS]
    show(run)


torch.manual_seed(SEED)
settings = training.TrainSettings(steps=STEPS, seed=SEED)
gates, stages = [(0, [0.0] * 4)], {}
newborn = ActionExpert(ExpertConfig.REACH, "adarms")
run = training.Training(newborn, actions, observation, settings)
model = run.model
began = perf_counter()
if TRAIN:
    with Live(picture, snapshot) as show:
        run.run(on_step=on_step)
else:
    model = training.load_checkpoint(training.CHECKPOINTS / "reach.safetensors").model
seconds = perf_counter() - began

# %%
rate = evaluation.success_rate(model, validation)
loss = evaluation.validation_loss(model, validation_actions, validation.observation)
print(f"1,000 new scenes: success {rate:.3f}, validation loss {loss:.4f}")
finished = not TRAIN or run.step >= 1200  # else it was stopped, and is as good as it is
assert not finished or (rate >= 0.85 and loss < 0.15)
for step, (goal, clear, both) in stages.items():
    print(f"after {step:4} steps: goal {goal:.2f}, obstacle cleared {clear:.2f}, both {both:.2f}")

# %% tags=["measured"]
if TRAIN:
    print(f"{run.step} steps in {seconds:.1f} s: {run.step / seconds:.0f} steps a second")

# %% [markdown]
# A checkpoint is a safetensors file: numbers and a few strings, nothing that could run when it is opened. Config, settings and seed are stored with it.

# %%
with TemporaryDirectory() as folder:
    training.save_checkpoint(f"{folder}/mine.safetensors", model, settings, success=round(rate, 3))
    loaded = training.load_checkpoint(f"{folder}/mine.safetensors", config=ExpertConfig.REACH)
assert torch.equal(loaded.model.action_out.weight, model.action_out.weight)
print(loaded.settings, loaded.notes)

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# The gates open in the first fifty steps, all four, and then hardly move; the first stays narrowest here, and the order is no finding from one seed. After 100 steps a third of the paths ends
# at the goal and a third clears the obstacle, few do both; after 300 two thirds do both. The last third takes three quarters of the time. The loss hardly shows this: most of what is left
# of it cannot be learned (beat 3).
#
# </details>

# %% [markdown]
# ## 3. From noise to data
#
# A velocity names a finished chunk: follow it to $t = 0$ in one step and you are at
#
# $$\hat x_0 = x_t - t\,v_t$$
#
# For the exact velocity of lesson 05 this is the mean of all chunks that could lie under $x_t$.
#
# **Predict.** At $t = 1$ $x_t$ is noise and says nothing about left or right. Which path does the network guess?


# %%
def guess(x_t, v_t, time):
    return x_t - time[:, None, None] * v_t


# %%
possible = data.reach_demonstrations(data.Scene(GOAL.expand(1000, 2), OBSTACLE.expand(1000, 2)))
time = torch.tensor([1.0, 0.7, 0.4])
x_t = torch.randn(3, 16, 2, generator=torch.Generator().manual_seed(SEED))
exact = flow.exact_velocity(x_t, time, possible)
torch.testing.assert_close(guess(x_t, exact, time), flow.posterior_mean(x_t, time, possible))


# %%
@torch.no_grad()
def follow(velocity, noise):
    times, path = flow.euler_path(velocity, noise, num_steps=40)
    x_t, time = path.flatten(0, 1), times.repeat_interleave(len(noise)).clamp_min(1e-3)
    v_t = torch.cat([velocity(x, t) for x, t in zip(path, time.split(len(noise)), strict=True)])
    side = {
        "x_t": data.to_waypoints(x_t),
        "x0_hat": data.to_waypoints(guess(x_t, v_t, time)),
        "velocity": v_t * torch.tensor(data.WAYPOINT_STD),  # as large as it looks in the plane
    }
    return times, {name: value.unflatten(0, path.shape[:2]) for name, value in side.items()}


# %%
noise = torch.randn(6, 16, 2, generator=torch.Generator().manual_seed(SEED))
six = here.observation[:6]
times, network_side = follow(lambda x_t, time: model(x_t, time, six), noise)
_, exact_side = follow(lambda x_t, time: flow.exact_velocity(x_t, time, possible), noise)
some = data.Scene(validation.goal[:150], validation.obstacle[:150])
velocities = {
    "network": lambda x_t, time: model(x_t, time, some.observation),
    "exact": evaluation.exact_reach_velocity(some),
}
curve_times = torch.cat([torch.linspace(1, 0.1, 13), torch.tensor([0.05, 0.02])])
measured = {
    name: evaluation.measure_by_time(velocity, some, validation_actions[:150], curve_times)
    for name, velocity in velocities.items()
}
by_time = {
    what: {name: pair[i] for name, pair in measured.items()}
    for i, what in enumerate(("loss", "success"))
}

# %%
sides = {"network": network_side, "exact": exact_side}
view = figures.FromNoiseToData(GOAL, OBSTACLE, RADIUS, times, sides, by_time, curve_times)
explore(view, t=slider(0.0, 1.0, 0.7, 0.025), sample=slider(1, 6, 1))

# %%
(network, exact), solved = by_time["loss"].values(), by_time["success"]["network"]
assert not finished or (solved[0] < 0.05 and solved[-1] > 0.95)
assert not finished or (0.9 < network[0] / exact[0] < 1.2 and network[-1] > 5 * exact[-1])
for t in (0, 6, 12, 14):
    print(f"t = {curve_times[t]:.2f}: loss {network[t]:.3f}, of the exact velocity {exact[t]:.3f}")

# %% [markdown]
# Drag $t$ from 1 to 0 and notice:
#
# - Most of the loss near $t = 1$ is no fault of the network: the exact velocity has it too. Nobody can know the way from noise.
# - The guess of the path finds its side between $t = 0.9$ and $t = 0.6$; success rises there, for both.
# - Near $t = 0$ the network's loss grows and the exact one's does not. A velocity is the guess's error divided by $t$: an error of 0.01 is 0.5 at $t = 0.02$. On the sample this
#   shows as a slight waviness of the path.
#
# <details><summary>The answer to the prediction</summary>
#
# Neither left nor right: straight through the obstacle. The mean of a path on the left and a path on the right is a path through the middle. One Euler step
# from $t = 1$ lands there, so it fails nearly always (exercise 4).
#
# </details>

# %% [markdown]
# ## 4. Five ways to say the time
#
# $c = \mathrm{MLP}(\text{sines of } t)$ is the condition. Five networks differ only in what they do with it:
#
# | name | the time enters | in the layers |
# |---|---|---|
# | `adarms` (pi0.5) | every norm: scale, shift and gate are a Dense of $c$ | $x + g(c)\, F\big((1 + s(c))\,\mathrm{RMSNorm}(x) + b(c)\big)$ |
# | `added_gated` | once: $c$ is added to the token | $x + g\, F(\mathrm{RMSNorm}(x))$, $g$ constant, from zero |
# | `added` | once: $c$ is added to the token | $x + F(\mathrm{RMSNorm}(x))$ |
# | `input` (pi0) | once: $W_2\,\mathrm{silu}(W_1 [\text{token}, \text{sines of } t])$ | the same |
# | `none` | never | the same |
#
# `added_gated` is there because adaRMS brings *two* things, the time and a gate that starts at zero. Without it one could not tell which of them helps.
#
# **Predict.** At width 64 and depth 4, which share of adaRMS's parameters are the Denses that make scale, shift and gate?

# %%
expert = ActionExpert(ExpertConfig.REACH, "added")
x_t, time, seen = batch[:2], torch.tensor([0.9, 0.1]), observation[:2]
token = expert.action_in(torch.cat([x_t.flatten(1), seen], dim=-1))
suffix = expert.embed_suffix(x_t, time, seen)
torch.testing.assert_close(suffix.tokens[:, 0], token + expert.time_mlp(time))

# %%
for name, title in comparison.NAMES.items():
    counts = []
    for config in (ExpertConfig.REACH, comparison.matched_config(ExpertConfig.REACH, name)):
        counts += [config.mlp_width, comparison.trained_parameters(ActionExpert(config, name))]
    print("{:28} FFN {:3}: {:7,}   widened to {:3}: {:7,}".format(title, *counts))

# %%
norms = [m for m in model.modules() if type(m).__name__ == "AdaRMSNorm"]
modulation = sum(training.count_parameters(norm) for norm in norms)
share = modulation / training.count_parameters(model)
print(f"{len(norms)} norms, {modulation:,} parameters in their Denses: {share:.0%}")
assert len(norms) == 5 and 0.3 < share < 0.4

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# More than a third: each Dense has $64 \cdot 192 + 192$ parameters and there are five. So comparing at equal width gives adaRMS half as many parameters again as the
# others. The fair comparison widens the others' feed-forward until the counts agree within 1%. Both are shown below.
#
# </details>

# %% [markdown]
# ## 5. What few seeds allow one to say
#
# Two seeds of one model differ, too. Seed by seed, both models see the same batches, noise and times, so we look at the **paired** differences $d_i$ and their 95% interval,
# from Student's $t$ for $n$ seeds:
#
# $$\bar d \pm t_{n}\,\frac{\mathrm{std}(d)}{\sqrt n}$$
#
# **Predict.** Losses of 0.30, 0.35, 0.40 against 0.31, 0.36, 0.42. The spread within each model is larger than the gap. Is the gap resolved?


# %%
def paired_interval(ours, theirs):
    d = torch.tensor(ours, dtype=torch.float64) - torch.tensor(theirs, dtype=torch.float64)
    return d.mean().item(), comparison.STUDENT_T[len(d)] * d.std().item() / len(d) ** 0.5


example = ([0.31, 0.36, 0.42], [0.30, 0.35, 0.40])
mean, half = paired_interval(*example)
print(f"{mean:.4f} ± {half:.4f}")
assert (mean, half) == tuple(comparison.paired_difference(*example))
unpaired = comparison.STUDENT_T[3] * (torch.tensor(example).var(dim=1).sum() / 3).sqrt()
assert mean - half < 0 and unpaired > 10 * half

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# Not quite: the interval runs from just below zero to 0.028. With three seeds Student's $t$ is 4.3; with the same spread four seeds would do. Without pairing the
# interval would be more than ten times as wide. When an interval holds zero, the word is **not resolved**, and its far end says how large the effect may still be.
#
# </details>

# %% [markdown]
# ## 6. The comparison
#
# First a small one, here: three seeds, 300 steps, the three seeds trained side by side (`torch.func.vmap`).
#
# **Predict.** adaRMS against `added_gated`: which has the lower loss, and will three seeds resolve it?

# %%
short = training.TrainSettings(steps=300)
small = {}
for name in ("adarms", "added_gated"):
    config = comparison.matched_config(ExpertConfig.REACH, name)
    make = partial(ActionExpert, config, name)
    models, _ = training.train_seeds(make, range(3), actions, observation, short)
    small[name] = [
        evaluation.validation_loss(m, validation_actions, validation.observation) for m in models
    ]
    print(f"{comparison.NAMES[name]:28}", [round(value, 4) for value in small[name]])
print(
    "added with gates - adaRMS:",
    comparison.paired_difference(small["added_gated"], small["adarms"]),
)

# %% [markdown]
# The real comparison takes minutes: 1,000 steps, 4 seeds, and 10 where it matters. `make experiments` makes it and writes one file a run, with settings, seeds,
# versions and seconds; this notebook reads those files. For each setting: the mean, the difference to adaRMS of each seed (dots) and the interval (bar).

# %%
results = comparison.shipped_results()
groups = {
    "depth 4, equal parameters": "depth4",
    "depth 8, equal parameters": "depth8",
    "depth 4, equal width": "width",
    "action-chunk transformer": "attention",
}
settings_shown = {
    title: {k.split("_", 1)[1]: run for k, run in results.items() if k.startswith(group)}
    for title, group in groups.items()
}
settings_shown["depth 4, equal width"]["adarms"] = results["depth4_adarms"]

# %%
forest = figures.Forest(settings_shown, comparison.paired_difference, comparison.NAMES)
explore(
    forest,
    setting=choice(list(settings_shown)),
    measure=choice({"validation loss": "validation_loss", "success": "success"}),
    all_models=checkbox(False, "all models"),
)


# %%
def gap(title, name, measure="validation_loss"):
    theirs = settings_shown[title][name][measure]
    ours = settings_shown[title]["adarms"][measure][: len(theirs)]
    return comparison.paired_difference(theirs, ours)


for measure in ("validation_loss", "success"):
    for name in ("added_gated", "added"):
        print(f"{measure.replace('_', ' ')}, {comparison.NAMES[name]}, minus adaRMS")
        for title in settings_shown:
            if name in settings_shown[title]:
                found = gap(title, name, measure)
                word = "" if found.resolved else f"not resolved, at most {found.at_most:.4f}"
                print(f"    {title:27}{found}  {word}")

# %%
depth4, depth8, attention = (title for title in groups if title != "depth 4, equal width")
floor = results["exact"]["validation_loss"]
losses = settings_shown[depth4]["adarms"]["validation_loss"]
above = sum(losses) / len(losses) - floor
print(f"exact velocity {floor:.4f}, adaRMS {above:.4f} above it")
for title, most in ((depth4, 0.0012), (depth8, 0.0007)):
    assert not gap(title, "added_gated").resolved and gap(title, "added_gated").at_most < most
points = [str(gap(title, "added_gated", "success")) for title in (depth4, depth8)]
assert points == ["-0.0229 ± 0.0091", "-0.0095 ± 0.0059"]  # the text below quotes them
assert str(gap(attention, "added_gated")) == "+0.0077 ± 0.0059"
level = [gap(attention, name) for name in ("added", "input")]
assert not any(d.resolved for d in level) and max(d.at_most for d in level) < 0.0115
told = ("added_gated", "added", "input")
assert not any(gap(attention, name, "success").resolved for name in told)
assert all(gap(title, "none").low > 0.02 for title in groups if title != depth8)
assert gap(depth4, "added_gated").at_most < 0.08 * above < above < gap(depth4, "added").low

# %% [markdown]
# Read it in this order:
#
# - **Added once, without gates**, is clearly worse than adaRMS: in loss, and by 15 points of success at depth 4.
# - **Give it gates that start at zero**, constant numbers that know nothing of $t$, and the gap in loss is gone. What is left is *not resolved*, at depth 4 as at depth 8, and
#   it is small: at most 8% of what adaRMS still has above the exact velocity. So what looked like the worth of the time was mostly the worth of the gate.
# - **Success** does tell the two apart: adaRMS gains 2.3 ± 0.9 points at depth 4 and 1.0 ± 0.6 at depth 8. A small gain, resolved by ten seeds, and no larger in the deeper network.
# - **With attention** (beat 7's network) the order is another. adaRMS's loss is lower than the gated network's by 0.0077 ± 0.0059. But the time added once *without* gates, and pi0's input MLP, are level with adaRMS: not
#   resolved by four seeds, in loss at most 0.011. In success none of the three is resolved.
# - **Never told the time** is clearly worse in every setting (tick *all models*). As one token `input` lies far behind, too: 36 numbers must pass one narrow MLP. That is a bottleneck of this small network, not of
#   pi0, as the attention model shows; do not make a headline of it.
#
# So: a network should be told the time. Which way of telling it is best depends, here, on the network.

# %% [markdown]
# Where along $t$ does the difference lie?

# %%
names = ("adarms", "added_gated", "added")
curve_losses = {name: settings_shown[depth4][name]["loss_by_time"] for name in names}
spots = settings_shown[depth4]["adarms"]["times"]
curves = figures.LossByTime(spots, curve_losses, comparison.paired_difference, comparison.NAMES)
explore(curves, t=slider(0.1, 0.98, 0.3, 0.02))

# %%
gated = curves.found["added_gated"]
for at in (0, 2, 8, 15):
    print(f"t = {curves.times[at]:.2f}: added once, with gates, minus adaRMS {gated[at]}")
assert gated[0].high < 0 < gated[2].low and gated[-1].low > 0

# %% [markdown]
# The curve of the gated network crosses zero. adaRMS is better between $t = 0.2$ and $0.4$ and near noise, the constant gates are better near $t = 0.1$, and in the mean over $t$ this cancels.
# A chunk is sampled through all $t$, so its success need not follow the mean loss. Which part of the curve makes the success is not shown here.
#
# <details><summary>The answer to the prediction</summary>
#
# After 300 steps it is not resolved: the intervals of three seeds are ten times as wide as those of the long runs. A reader who trains one seed of each and
# takes the lower number for a finding would have tossed a coin.
#
# </details>

# %% tags=["claim-19"]
places = {}
for kind in ("adarms", "input"):
    modules = ActionExpert(ExpertConfig.REACH, kind).modules()
    places[kind] = sum(type(m).__name__ == "AdaRMSNorm" for m in modules)
assert places == {"adarms": 5, "input": 0}
worth = "; ".join(
    f"{title.split(',')[0]}: loss {gap(title, 'added_gated')}, "
    f"success {gap(title, 'added_gated', 'success')}"
    for title in (depth4, depth8, attention)
)
verdict(
    19,
    True,
    f"{places['adarms']} norms of the adaRMS network are told the time; pi0's is told once, by an "
    f"MLP at the input. Worth here: 'added once, with gates' minus adaRMS, 10 seeds, 95%, {worth}; "
    f"pi0's MLP minus adaRMS, {attention}, 4 seeds: loss {gap(attention, 'input')}",
)

# %% [markdown]
# ## 7. The same with attention
#
# pi0.5's expert does not press a chunk into one token: each action is a token, and tokens attend to each other and to what the robot sees. The small version has 16 action tokens
# and one observation token, width 32, two heads, four layers. It is the same class, `ActionExpert(ExpertConfig.TINY)`, and the same `Training`.
#
# **Predict.** It has 67 thousand parameters instead of 169 thousand. Is a step quicker?

# %%
chunk_settings = training.TrainSettings(steps=1000, batch=64, seed=SEED)
if TRAIN_CHUNK:
    torch.manual_seed(SEED)
    chunk_model = ActionExpert(ExpertConfig.TINY, "adarms")
    training.Training(chunk_model, actions, observation, chunk_settings).run()
else:
    path = training.CHECKPOINTS / "chunk.safetensors"
    chunk_model = training.load_checkpoint(path, config=ExpertConfig.TINY).model
chunk_rate = evaluation.success_rate(chunk_model, validation)
print(f"{training.count_parameters(chunk_model):,} parameters, success {chunk_rate:.3f}")
assert chunk_rate > 0.7

# %% tags=["measured"]
for name, config, batch_size in (
    ("one token", ExpertConfig.REACH, 128),
    ("17 tokens", ExpertConfig.TINY, 64),
):
    fresh = training.Training(
        ActionExpert(config), actions, observation, training.TrainSettings(batch=batch_size)
    )
    began = perf_counter()
    fresh.run(steps=20)
    print(f"{name}: {20 / (perf_counter() - began):.0f} steps a second")

# %%
shown = [3, 10, 20, 30, 40, 50]


def sample(name, number, num_steps):
    seen = validation.observation[shown[number]].expand(30, 4)
    chosen = {"flat": model, "chunk": chunk_model}[name]
    return data.to_waypoints(evaluation.sample_actions(chosen, seen, num_steps))


def succeeds(paths, number):
    place = (x[shown[number]].expand(30, 2) for x in (validation.goal, validation.obstacle))
    return data.success(paths, data.Scene(*place))


# %%
titles = {"flat": "one token", "chunk": "16 + 1 tokens, attention"}
ends = validation.goal[shown], validation.obstacle[shown]
samples = figures.Samples(sample, succeeds, titles, *ends, RADIUS)
explore(samples, scene=slider(1, 6, 1), num_steps=choice([1, 2, 3, 5, 10, 20], 10))

# %% [markdown]
# <details><summary>The answer to the prediction</summary>
#
# No, slower: each of 17 tokens goes through every layer, 17 times as many rows, and attention comes on top. Fewer parameters are not less work.
#
# </details>

# %% [markdown]
# ## Where the story is only partly true
#
# - *Telling every layer the time helps*: against adding it once, yes. Against adding it once **with** zero-init gates it depends on the network and on the measure: as one token the loss is not resolved and
#   success gains one to two points; with attention the loss gains, but the gates are then no help either: added without them, the time does as well as in every layer, as far as four seeds can tell (beat 6).
# - *pi0.5 is better than pi0 because of this*: not tested here. The networks are small, the data made, and pi0 is more than its input MLP.
# - *A lower loss means better samples*: the loss is a mean over $t$ and most of it cannot be avoided (beat 3). Two networks with equal loss differ in success.
# - *A network must be told the time*: the one that never is reaches 0.64 of success. It can guess $t$ from how noisy $x_t$ is (lesson 07).
# - *95%*: of twenty such intervals one misses the truth. All models share one learning rate, chosen for none of them.

# %% [markdown]
# ## Exercises
#
# Replace the `...`, run the cell, read the answer. Solutions are folded below each.
#
# **Exercise 1 (compute).** pi0.5's action expert has width 1024 and 18 layers, each with attention and feed-forward. How many parameters do the Denses of its adaRMS norms have?

# %%
count = ...
checks.lesson_06.exercise_1(count)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Two norms a layer and one at the end, 37; each Dense goes from 1024 to 3 · 1024 and has a bias.
#
# ```python
# count = (2 * 18 + 1) * (1024 * 3 * 1024 + 3 * 1024)
# checks.lesson_06.exercise_1(count)
# ```
#
# </details>

# %% [markdown]
# **Exercise 2 (build).** Write the learning rate of `Training`. In step 0, 1, 2, ... it is `peak`, times $(k + 1) / (w + 1)$ in the first $w$ = `warm_up` steps, times
# a cosine that falls from 1 at step 0 to 0 at step `steps`.

# %%
my_rate = ...  # a function of step, steps, peak, warm_up
checks.lesson_06.exercise_2(my_rate)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# import math
#
#
# def my_rate(step, steps, peak, warm_up):
#     warm = min(1, (step + 1) / (warm_up + 1))
#     return peak * warm * (1 + math.cos(math.pi * step / steps)) / 2
#
#
# checks.lesson_06.exercise_2(my_rate)
# ```
#
# </details>

# %% [markdown]
# **Exercise 3 (derive).** Paired differences have the deviation `spread`; the true gap is `effect`. From how many seeds on is the half width of the interval below
# the effect? Use 1.96 in place of Student's $t$.

# %%
seeds_needed = ...  # a function of spread, effect
checks.lesson_06.exercise_3(seeds_needed)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $1.96\,s/\sqrt n < \delta$ means $n > (1.96\,s/\delta)^2$.
#
# ```python
# import math
#
#
# def seeds_needed(spread, effect):
#     return math.ceil((1.96 * spread / effect) ** 2)
#
#
# checks.lesson_06.exercise_3(seeds_needed)
# ```
#
# </details>

# %% [markdown]
# **Exercise 4 (explain with an experiment).** Measure the trained model's success on `validation` for 1, 2, 3, 5, 10 and 20 Euler steps. What is the smallest of these numbers that comes within 0.05 of
# 20 steps? Say in one sentence why one step fails.

# %%
rates = ...  # {1: ..., 2: ..., 3: ..., 5: ..., 10: ..., 20: ...}
num_steps = ...
checks.lesson_06.exercise_4(num_steps, rates)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# One step follows the velocity at $t = 1$ to its end: the mean path, through the obstacle.
#
# ```python
# rates = {n: evaluation.success_rate(model, validation, num_steps=n) for n in (1, 2, 3, 5, 10, 20)}
# num_steps = min(n for n in rates if rates[n] >= rates[20] - 0.05)
# checks.lesson_06.exercise_4(num_steps, rates)
# ```
#
# </details>

# %% [markdown]
# ## Quiz
#
# Five questions. Choose, then open your choice. The statements are numbered as in the README.
#
# **1.** Where does the time enter? (statement 19)
#
# <details><summary>In pi0 once, at the input; in pi0.5 in every norm.</summary>Right: here adaRMS tells five norms, and the input MLP none.</details>
# <details><summary>In pi0 in every norm; in pi0.5 once.</summary>No: the other way round.</details>
# <details><summary>In pi0.5 only.</summary>No: pi0 is told once, by an MLP at the input.</details>
#
# **2.** Near t = 1 the loss stays high however long you train. Is the network too small? (statement 18)
#
# <details><summary>Yes.</summary>No: the exact velocity has nearly the same loss there.</details>
# <details><summary>No: the time does not reach it well.</summary>No: the exact velocity knows the time, and has that loss too.</details>
# <details><summary>No: noise does not say left or right.</summary>Right: nobody can know the way from there.</details>
#
# **3.** Why is "added once, with gates" in the comparison? (statement 19)
#
# <details><summary>So that it has more parameters.</summary>No: the headline compares at equal parameters.</details>
# <details><summary>To tell the time from the gate.</summary>Right: adaRMS brings the time into every layer and a gate that starts at zero. Against a network without gates one could not tell which helps.</details>
# <details><summary>Because pi0 is built so.</summary>No: pi0 has an input MLP and no gates.</details>
#
# **4.** The interval of a difference runs from -0.001 to +0.003. What may you say? (statements 19 and 24)
#
# <details><summary>There is no effect.</summary>No: it may be as large as 0.003.</details>
# <details><summary>Not resolved, and at most about 0.003.</summary>Right.</details>
# <details><summary>The effect is 0.001.</summary>No: that is the middle of an interval that holds zero.</details>
#
# **5.** One token, equal parameters: what did the time in every layer add to a time given once, with gates? (statement 19)
#
# <details><summary>A clearly lower loss.</summary>No: in loss the two are not resolved, at depth 4 as at depth 8.</details>
# <details><summary>Nothing that shows.</summary>No: ten seeds resolve a gain in success.</details>
# <details><summary>A small gain in success.</summary>Right: about two points at depth 4 and one at depth 8.</details>

# %% [markdown]
# ## Summary
#
# $$\mathcal L = \mathbb E\,\lVert v_\theta(x_t, t, o) - (z - a)\rVert^2\,,\qquad \hat x_0 = x_t - t\,v_t\,,\qquad \bar d \pm t_n\,\mathrm{std}(d)/\sqrt n$$
#
# Most of the loss is noise in the target. At equal parameters, data and steps, and as one token, the zero-init gate accounts for nearly all of adaRMS's gain in loss over a time added once; the time in every layer adds a small gain in success. With attention, adaRMS and a time told once at the input are level.
#
# **Next:** lesson 07 opens the trained model: what scale, shift and gate have learned, and what happens when one layer is told the wrong time.
#
# **References**
#
# - Y. Lipman, R. T. Q. Chen, H. Ben-Hamu, M. Nickel, M. Le, *Flow Matching for Generative Modeling*, ICLR 2023, arXiv:2210.02747
# - X. Liu, C. Gong, Q. Liu, *Flow Straight and Fast*, ICLR 2023, arXiv:2209.03003
# - W. Peebles, S. Xie, *Scalable Diffusion Models with Transformers*, ICCV 2023, arXiv:2212.09748: gates that start at zero
# - Physical Intelligence, openpi, `src/openpi/models/pi0.py`: the loss, the times and the input MLP
