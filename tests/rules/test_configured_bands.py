"""Bands that depend on the run: on its settings, its trainer or its algorithm."""

from __future__ import annotations

import pytest

from ppo_top.model import ConfigValue, Profile, Status
from ppo_top.rules.engine.ranges import colour, healthy_range

NEAR = 0.03


@pytest.mark.parametrize(
    ("concept", "trainer", "family", "config", "amber", "red"),
    [
        ("approx_kl", "rllib", "on-policy", {}, 0.02, 0.04),
        ("approx_kl", "rllib", "on-policy", {"target_kl": 0.05}, 0.1, 0.2),
        ("approx_kl", "sb3", "on-policy", {"target_kl": 0.0195}, 0.02, 0.03),
        ("approx_kl", "sb3", "on-policy", {"target_kl": 0.022}, 0.022, 0.033),
        ("approx_kl", "sb3", "on-policy", {"target_kl": 0.04}, 0.04, 0.06),
        ("approx_kl", "sb3", "on-policy", {"target_kl": -1}, 0.02, 0.03),
        ("approx_kl", "sb3", "on-policy", {"target_kl": True}, 0.02, 0.03),
        ("approx_kl", "trl-ppo", "rlhf", {"target_kl": 0.5}, 0.05, 0.1),
        ("ref_kl", "trl-ppo", "rlhf", {}, 10.0, 20.0),
        ("ref_kl", "trl-ppo", "rlhf", {"ref_kl_target": 4.0}, 10.0, 20.0),
        ("ref_kl", "trl-ppo", "rlhf", {"ref_kl_target": 6.0}, 12.0, 24.0),
        ("logp_diff_mean", "trl-grpo", "grpo", {}, 0.05, 0.1),
        ("logp_diff_mean", "verl", "grpo", {}, 0.005, 0.01),
    ],
)
def test_a_band_follows_the_run(
    concept: str,
    trainer: str,
    family: str,
    config: dict[str, ConfigValue],
    amber: float,
    red: float,
) -> None:
    """A few per cent on either side of amber and of red."""
    about = Profile(trainer, family, config)
    edges = (amber * (1 - NEAR), amber * (1 + NEAR), red * (1 - NEAR), red * (1 + NEAR))
    expected = [Status.OK, Status.WATCH, Status.WATCH, Status.CRIT]
    assert [colour(concept, edge, about) for edge in edges] == expected


@pytest.mark.parametrize(
    ("config", "algo", "logged", "status"),
    [
        ({}, "PPO", (), Status.CRIT),
        ({}, "A2C", (), Status.OK),
        ({}, "", (), Status.OK),
        ({}, "", ("approx_kl",), Status.CRIT),
        ({}, "", ("clip_fraction",), Status.CRIT),
        ({"normalize_advantage": False}, "PPO", (), Status.OK),
        ({"normalize_advantage": "false"}, "PPO", (), Status.OK),
        ({"normalize_advantage": True}, "PPO", (), Status.CRIT),
    ],
)
def test_a_policy_loss_has_a_size_where_advantages_are_normalised(
    config: dict[str, ConfigValue], algo: str, logged: tuple[str, ...], status: Status
) -> None:
    """By the setting, by the algorithm, or by what only such updates log."""
    tags = {name: name for name in logged}
    about = Profile("sb3", "on-policy", config, algo=algo, tags=tags)
    assert colour("policy_loss", 5.0, about) == status


@pytest.mark.parametrize(
    ("concept", "family", "text"),
    [
        ("clip_fraction", "on-policy", "<= 20 %"),
        ("ess", "grpo", ">= 50 %"),
        ("ratio_mean", "rlhf", "0.9 to 1.1"),
        ("approx_kl", "on-policy", "0.001-0.02"),
        ("entropy", "on-policy", "slow decay, stays > 0"),
        ("reward_component_mean{format}", "grpo", "should rise"),
    ],
)
def test_a_range_is_said_in_words(concept: str, family: str, text: str) -> None:
    """Open at one end, closed at both, in the metric's unit, or without numbers."""
    found = healthy_range(concept, Profile("", family))
    assert found is not None and found.text == text


def test_the_entropy_of_given_answers_may_rise() -> None:
    """In preference training nothing is sampled."""
    assert healthy_range("entropy", Profile("trl-dpo", "preference")) is None


def test_a_metric_without_limits_has_no_range() -> None:
    """Nor a colour."""
    assert healthy_range("lives", Profile("", "on-policy")) is None
    assert colour("lives", 1e9, Profile("", "on-policy")) is Status.OK


@pytest.mark.parametrize(
    ("concept", "value", "status"),
    [
        ("reward_std", float("nan"), Status.OK),
        ("return_var", float("nan"), Status.OK),
        ("reward_component_mean{x}", float("nan"), Status.OK),
        ("explained_variance", float("nan"), Status.OK),
        ("explained_variance", float("inf"), Status.CRIT),
        ("reward_mean", float("nan"), Status.CRIT),
    ],
)
def test_a_mean_of_nothing_is_no_fault(concept: str, value: float, status: Status) -> None:
    """A std of one sample is NaN; an infinity never is that."""
    assert colour(concept, value, Profile("sb3", "on-policy")) == status


@pytest.mark.parametrize("concept", ["clip_fraction", "clip_low", "clip_high"])
@pytest.mark.parametrize(
    ("config", "usual"),
    [
        ({}, 0.1),
        ({"importance_sampling_level": "token"}, 0.1),
        ({"importance_sampling_level": "token", "clip_range": 0.0003}, 0.1),
        ({"importance_sampling_level": "sequence"}, 0.5),
        ({"importance_sampling_level": "gspo"}, 0.5),
        ({"importance_sampling_level": True}, 0.5),
        ({"clip_range": 0.2}, 0.1),
        ({"clip_range": 0.0003}, 0.5),
    ],
)
def test_many_whole_completions_are_clipped(
    concept: str, config: dict[str, ConfigValue], usual: float
) -> None:
    """GSPO's clip range of 0.0003 for their ratios is reached by 15 % of them, by its paper."""
    about = Profile("trl-grpo", "grpo", config)
    colours = [colour(concept, usual * factor, about) for factor in (1 - NEAR, 1 + NEAR)]
    assert colours == [Status.OK, Status.WATCH]
