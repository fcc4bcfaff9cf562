"""The workbench of lesson 04: each mistake breaks its own invariants; and what the bench is built from."""

import json
from pathlib import Path

import pytest
import torch

from helpers import first_steps, mistakes, openpi_numbers
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.blocks import check_zero_init
from helpers.norms import AdaRMSNorm

BREAKS = {
    "none": set(),
    "bias left random": {"birth", "plain"},
    "zeros overwritten": {"birth", "plain", "hearing"},
    "gate left out": {"birth", "numbers"},
    "plain final norm": {"hearing"},
    "+1 forgotten": {"plain", "numbers"},
    "order swapped": {"numbers"},
    "time reversed": {"numbers"},
    "statistics in float16": {"size"},
}


def test_every_mistake_is_told_apart():
    assert list(mistakes.PORTS) == list(BREAKS)
    firsts = {}
    for name, port in mistakes.PORTS.items():
        findings = mistakes.check(port)
        assert {k for k, f in findings.items() if not f.holds} == BREAKS[name], name
        firsts[name] = findings["numbers"].words.split(",")[0]
    # The two that break the same invariant differ in which number is wrong first.
    assert firsts["order swapped"] == "first wrong: normed"
    assert firsts["time reversed"] == "first wrong: cond"


@pytest.mark.parametrize("name", BREAKS)
def test_every_mistake_says_where_it_was_made(name):
    port = mistakes.PORTS[name]
    assert port.source and port.url.startswith("https://github.com/")
    assert port.right and port.wrong and port.right != port.wrong


@pytest.mark.parametrize("name", BREAKS)
def test_right_weights_fit_every_port(name):
    """A mistake changes what the code does, never what it loads: that is why it stays unseen."""
    trained = first_steps.wake(mistakes.Port().expert(seed=3))
    model = mistakes.PORTS[name].expert()
    model.load_state_dict(trained.state_dict())
    x_t, time = torch.ones(1, 4, 2), torch.tensor([0.3])
    changed = not torch.equal(model(x_t, time), trained(x_t, time))
    silent = {"none", "bias left random", "zeros overwritten"}
    if name == "statistics in float16":
        torch.testing.assert_close(model(x_t, time), trained(x_t, time))
    else:
        assert changed == (name not in silent)


def test_the_right_port_is_the_collections_own_model():
    state = torch.get_rng_state()
    port = mistakes.Port().expert(seed=5)
    assert torch.equal(torch.get_rng_state(), state), "drew from torch's own state"
    assert check_zero_init(port)
    torch.manual_seed(5)
    own = ActionExpert(mistakes.SMALL)
    for (name, one), (_, other) in zip(
        port.named_parameters(), own.named_parameters(), strict=True
    ):
        assert torch.equal(one, other), name


def test_draw_uses_the_ports_code_with_the_given_weights():
    config = ExpertConfig(width=8, depth=1, mlp_width=8, action_dim=2, horizon=1, one_token=True)
    trained = first_steps.wake(mistakes.Port().expert(config))
    noise = torch.randn(5, 1, 2, generator=torch.Generator().manual_seed(0))
    right = mistakes.draw(mistakes.PORTS["none"], trained, noise, 3)
    assert torch.equal(right, mistakes.draw(mistakes.PORTS["bias left random"], trained, noise, 3))
    assert not torch.equal(right, mistakes.draw(mistakes.PORTS["time reversed"], trained, noise, 3))


def test_the_mysteries_do_not_say_their_name():
    for letter, port in mistakes.MYSTERIES.items():
        assert port.name == f"port {letter}"
        assert not any((port.right, port.wrong, port.source, port.url))


def test_the_numbers_are_those_that_the_tests_use():
    whole = json.loads((Path(__file__).parent / "data" / "openpi_golden.json").read_text())
    cases = {case["name"]: case for case in whole["cases"]}
    part = json.loads(openpi_numbers.FILE.read_text())["cases"]
    assert {"embed_suffix_pi05", *openpi_numbers.NORM_CASES} <= {case["name"] for case in part}
    for case in part:
        original = cases[case["name"]]
        params = original["params"]
        if "same_as" in params:
            params = cases[params["same_as"]]["params"]
        for key in ("tolerance", "eps", "source"):
            assert case[key] == original[key]
        for mine, theirs in (
            (case["inputs"], original["inputs"]),
            (case["params"], params),
            (case["outputs"], original["outputs"]),
        ):
            assert mine and mine.items() <= theirs.items()


def test_a_wrong_norm_does_not_pass_for_pi05s():
    class Wrong(AdaRMSNorm):
        def forward(self, hidden_states, cond):
            normed, gate = super().forward(hidden_states, cond)
            return normed, gate * 1.001

    def make(kernel, bias, norm=AdaRMSNorm):
        norm = norm(len(bias) // 3, len(kernel)).requires_grad_(False)
        openpi_numbers.load_dense(norm.modulation, kernel, bias)
        return norm

    row = openpi_numbers.compare_norm("adarms_batch", make)
    assert row.close and row.wanted == row.got and "adarms_batch" in openpi_numbers.table([row])
    wrong = openpi_numbers.compare_norm("adarms_batch", lambda **case: make(**case, norm=Wrong))
    assert not wrong.close and wrong.error > 1e-4
    with pytest.raises(ValueError, match="name must be one of"):
        openpi_numbers.load("no such case")


def test_gates_move_first():
    silent = {
        start: [
            {part for part, size in zip(first_steps.PARTS, column, strict=True) if size == 0}
            for column in first_steps.gradients(start, mistakes.SMALL, steps=3).T
        ]
        for start in first_steps.STARTS
    }
    late = {"block scale", "block shift", "attention", "feed forward", "time MLP"}
    never = {"final gate"}
    assert silent["pi0.5"] == [late | never, never, never]
    assert silent["nothing zero"] == [never] * 3
    assert silent["zero head too"] == [set(first_steps.PARTS) - {"action out"}, late | never, never]
    with pytest.raises(ValueError, match="start must be one of"):
        first_steps.gradients("at one", mistakes.SMALL)


def test_every_gradient_is_counted_once():
    model = first_steps.wake(ActionExpert(mistakes.SMALL))
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 2.0)
    assert first_steps.gradients_by_part(model) == dict.fromkeys(first_steps.PARTS, 2.0)
