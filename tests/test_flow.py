"""Flow matching: the path, the loss, the sampler, the other convention, and the exact velocity."""

import torch

from helpers.flow import (
    euler_path,
    euler_sample,
    exact_velocity,
    flip_time,
    flow_loss,
    interpolate,
    posterior_mean,
    sample_time,
    target_velocity,
)


def draw(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def test_the_path_runs_from_data_at_0_to_noise_at_1():
    actions, noise = draw(2, 3, 4), draw(2, 3, 4, seed=1)
    assert torch.equal(interpolate(actions, noise, torch.zeros(2)), actions)
    assert torch.equal(interpolate(actions, noise, torch.ones(2)), noise)
    each = interpolate(actions, noise, torch.tensor([0.0, 1.0]))
    assert torch.equal(each, torch.stack([actions[0], noise[1]]))
    # The target velocity is the derivative of the path.
    t = torch.tensor([0.3, 0.6], dtype=torch.float64)
    step = interpolate(actions, noise, t + 1e-3) - interpolate(actions, noise, t)
    target = target_velocity(actions, noise).double()
    torch.testing.assert_close(step / 1e-3, target, atol=1e-5, rtol=0)


def test_times_for_training_follow_the_beta_distribution():
    time = sample_time(100_000, generator=torch.Generator().manual_seed(0))
    assert time.min() >= 0.001 and time.max() <= 1
    assert abs(time.mean() - 0.6004) < 0.003
    # Kolmogorov and Smirnov: the largest gap between the drawn and the exact distribution.
    exact = ((time.sort().values - 0.001) / 0.999) ** 1.5
    drawn = torch.arange(1, 100_001) / 100_000
    assert (exact - drawn).abs().max() < 0.0062  # passed by chance in 999 of 1,000 draws
    again = sample_time(5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(again, sample_time(5, generator=torch.Generator().manual_seed(0)))


def test_loss_is_the_mean_square_over_the_action_dimension():
    actions, noise = draw(2, 3, 4), draw(2, 3, 4, seed=1)
    time = torch.tensor([0.2, 0.8])
    seen = {}

    def velocity(x_t, t):
        seen.update(x_t=x_t, t=t)
        return torch.ones_like(x_t)

    loss = flow_loss(velocity, actions, noise, time)
    assert torch.equal(loss, (1 - (noise - actions)).square().mean(-1))
    assert torch.equal(seen["x_t"], interpolate(actions, noise, time))
    assert torch.equal(seen["t"], time)
    assert flow_loss(lambda x, t: noise - actions, actions, noise, time).max() == 0


def test_loss_draws_what_is_not_given():
    actions = draw(4000, 2, dtype=torch.float64)
    loss, again = (
        flow_loss(lambda x, t: 0 * x, actions, generator=torch.Generator().manual_seed(3))
        for _ in range(2)
    )
    assert torch.equal(loss, again) and loss.dtype == torch.float64 and loss.shape == (4000,)
    # Velocity 0: what is left is E(noise - actions)**2 = 1 + 1.
    assert abs(loss.mean() - 2) < 0.15


def test_euler_takes_the_velocity_at_the_start_of_each_step():
    noise, seen = draw(3, 2), []

    def velocity(x_t, time):
        assert time.shape == (3,)
        seen.append(time[0].item())
        return time[:, None] * torch.ones_like(x_t)

    times, path = euler_path(velocity, noise, num_steps=4)
    assert seen == [1.0, 0.75, 0.5, 0.25] and times.tolist() == [*seen, 0.0]
    assert path.shape == (5, 3, 2) and torch.equal(path[0], noise)
    torch.testing.assert_close(path[-1], noise - 0.25 * sum(seen))
    assert torch.equal(euler_sample(velocity, noise, 4), path[-1])
    assert euler_path(velocity, noise)[0].shape == (11,)
    exact = torch.linspace(1, 0, 11, dtype=torch.float64)
    assert torch.equal(euler_path(velocity, noise.double())[0], exact)
    assert torch.equal(euler_path(velocity, noise.bfloat16())[0], exact.bfloat16())


def test_one_euler_step_follows_a_straight_path_to_its_end():
    actions, noise = draw(5, 2), draw(5, 2, seed=1)
    sample = euler_sample(lambda x, t: target_velocity(actions, noise), noise, 1)
    torch.testing.assert_close(sample, actions)


def test_the_papers_convention_gives_the_same_samples():
    """Noise at 0, data at 1, Euler forwards in s: the same samples as backwards in t."""
    noise, data = draw(6, 2), draw(20, 2, seed=1)

    def velocity(x_t, time):
        return exact_velocity(x_t, time, data)

    flipped, x, steps = flip_time(velocity), noise, 8
    for k in range(steps):
        x = x + flipped(x, torch.full((6,), k / steps)) / steps
    torch.testing.assert_close(x, euler_sample(velocity, noise, steps))
    # There, the target is data - noise; and flipping twice is no change.
    actions = draw(6, 2, seed=2)
    target = flip_time(lambda x, t: target_velocity(actions, noise))(noise, torch.zeros(6))
    assert torch.equal(target, actions - noise)
    time = torch.full((6,), 0.25)
    assert torch.equal(flip_time(flip_time(velocity))(noise, time), velocity(noise, time))


def test_exact_velocity_of_a_single_point_is_known():
    point, time = draw(1, 3), torch.tensor([1.0, 0.5, 0.1, 1e-3])
    noise = draw(4, 3, seed=1)
    x_t = interpolate(point.expand(4, 3).double(), noise.double(), time.double())
    velocity = exact_velocity(x_t, time.double(), point)
    torch.testing.assert_close(velocity, noise.double() - point.double())


def test_exact_velocity_against_its_definition():
    """Log of each Gaussian density, normalised by log-sum-exp, in float64: the long way round."""
    data, x_t = 3 * draw(50, 4, seed=1), 2 * draw(7, 4)
    for t in (1.0, 0.9, 0.3, 0.05, 1e-3):
        time = torch.full((7,), t)
        x, a = x_t.double(), data.double()
        t = time.double()[:, None, None]
        density = -(x[:, None] - (1 - t) * a).square().sum(-1) / (2 * t[..., 0] ** 2)
        weights = (density - density.logsumexp(-1, keepdim=True)).exp()
        each = (x[:, None] - a) / t  # noise - actions where actions = a
        expected = (weights[..., None] * each).sum(1)
        torch.testing.assert_close(
            exact_velocity(x_t, time, data).double(), expected, rtol=1e-6, atol=1e-6
        )


def test_exact_velocity_against_monte_carlo():
    generator = torch.Generator().manual_seed(0)
    data, n = torch.tensor([[-1.0], [0.2], [1.5]]), 3_000_000
    actions = data[torch.randint(3, (n,), generator=generator)]
    noise = torch.randn(n, 1, generator=generator)
    for t, x in ((0.4, 0.0), (0.7, 0.8), (0.95, -0.5)):
        x_t = interpolate(actions, noise, torch.full((n,), t))
        near = (x_t - x).abs()[:, 0] < 0.02
        drawn = target_velocity(actions, noise)[near]
        exact = exact_velocity(torch.tensor([[x]]), torch.tensor([t]), data)
        deviation = drawn.std() / near.sum().sqrt()
        assert near.sum() > 10_000
        assert (drawn.mean() - exact).abs() < 4 * deviation + 0.005


def test_exact_velocity_at_both_ends():
    data, x_t = draw(100, 2), draw(5, 2, seed=1)
    at_noise = exact_velocity(x_t, torch.ones(5), data)
    torch.testing.assert_close(at_noise, x_t - data.mean(0))
    near_data = posterior_mean(data[:5] + 1e-6, torch.full((5,), 1e-4), data)
    torch.testing.assert_close(near_data, data[:5])
    far = exact_velocity(1e4 * x_t, torch.full((5,), 1e-3), data)
    assert far.isfinite().all()
    half = exact_velocity(x_t.bfloat16(), torch.ones(5), data)
    assert half.dtype == torch.bfloat16


def test_following_the_exact_velocity_lands_on_the_data():
    data = 2 * draw(4, 16, 2)
    noise = draw(64, 16, 2, seed=1)
    sample = euler_sample(lambda x, t: exact_velocity(x, t, data), noise, 50)
    distance = torch.cdist(sample.flatten(1), data.flatten(1)).min(dim=1).values
    assert distance.max() < 0.05
    reached = torch.cdist(sample.flatten(1), data.flatten(1)).argmin(dim=1)
    assert reached.unique().numel() == 4
