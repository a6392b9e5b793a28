"""Environments whose registry says from which return on they count as solved."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ppo_top.catalogue import known_environment
from ppo_top.model import Finding, Profile, Sample
from tests.rules.courses import settled
from tests.support.drawn_runs import draw_rows, jitter, judged

UPDATES = {"reward_mean": Sample("update")}


def findings_of(
    rule: str, reward: Callable[[int], float], env_id: str = "CartPole-v1", count: int = 60
) -> list[Finding]:
    """What a rule finds on a reward in an environment."""
    about = Profile(
        "sb3", "on-policy", {"env_id": env_id, "total_timesteps": 1000 * count}, samples=UPDATES
    )
    found = judged(about, draw_rows({"reward_mean": reward}, count)).findings
    return [each for each in found if each.rule == rule]


def solved(i: int) -> float:
    """A reward that climbs to a little more than 475 and wavers there."""
    return 20 + 11.5 * min(i, 40) + jitter(i, 4)


def test_a_solved_environment_is_a_success_though_its_reward_still_wavers() -> None:
    """The message names the return from which it counts as solved, and that it is the task's."""
    (found,) = findings_of("at-ceiling", solved)
    assert found.cleared is None
    assert found.message.endswith(
        "and from 475 on CartPole-v1 counts as solved: training has succeeded"
    )
    assert found.limit == 475.0


@pytest.mark.parametrize("env_id", ["phys2d/CartPole-v1", "gymnasium:CartPole-v1", " CartPole-v1 "])
def test_an_environment_is_known_under_its_registered_names(env_id: str) -> None:
    """With a namespace, or the module that registers it."""
    assert findings_of("at-ceiling", solved, env_id)


@pytest.mark.parametrize("env_id", ["MyTask-v0", "CartPole-v1-easy", "BreakoutNoFrameskip-v4"])
def test_nothing_is_said_of_other_environments(env_id: str) -> None:
    """Only the user knows which return is enough."""
    assert not findings_of("at-ceiling", solved, env_id)


def test_the_same_task_at_another_version_has_its_own_limit() -> None:
    """CartPole ended after 200 steps before version 1: more cannot be its return."""
    assert known_environment("CartPole-v0") == ("CartPole-v0", 195.0, 200.0)
    assert not findings_of("at-ceiling", solved, "CartPole-v0")


def test_a_version_that_is_not_listed_has_the_limit_of_all() -> None:
    """MuJoCo's tasks have kept theirs from version to version."""
    for version in (2, 3, 4, 5):
        assert known_environment(f"Hopper-v{version}") == (f"Hopper-v{version}", 3800.0, None)


@pytest.mark.parametrize(
    ("env_id", "factor", "start"),
    [
        ("CartPole-v1", 1000.0, 0.0),
        ("Hopper-v4", 1000.0, 0.0),
        ("Acrobot-v1", -0.1, 0.0),
        ("Acrobot-v1", 0.1, -20.0),
    ],
)
def test_rewards_that_are_scaled_are_not_held_to_the_limit(
    env_id: str, factor: float, start: float
) -> None:
    """Returns beyond what the task can give, or that begin where it would count as solved."""
    assert not findings_of("at-ceiling", lambda i: start + factor * settled(i), env_id)


def test_a_success_is_said_once_while_noise_crosses_the_limit() -> None:
    """Updates around 475 are one success; a real fall ends it."""
    (around,) = findings_of("at-ceiling", lambda i: solved(i) - 3 + jitter(1000 + i, 12), count=200)
    assert around.cleared is None
    (lost,) = findings_of("at-ceiling", lambda i: solved(i) if i < 70 else 60.0, count=90)
    assert lost.cleared is not None


def test_a_task_that_was_solved_at_once_is_not_one_that_was_never_learned() -> None:
    """MountainCarContinuous's goal is found in the first episodes, or not at all."""

    def found(env_id: str) -> list[Finding]:
        return findings_of("reward-never-moves", lambda i: 91.0 + jitter(i, 2), env_id, count=200)

    assert found("MyTask-v0")
    assert not found("MountainCarContinuous-v0")


def test_a_level_below_the_limit_is_no_success_however_steady() -> None:
    """Episodes of 150 in CartPole-v1 are a policy that is stuck; elsewhere that may be the most."""
    steady = [0.0, 30.0, 20.0, 60.0, 90.0, 100.0, *[150.0] * 60]
    assert findings_of("at-ceiling", lambda i: steady[i], "MyTask-v0")
    assert not findings_of("at-ceiling", lambda i: steady[i])
    assert findings_of("at-ceiling", lambda i: 10.0 * steady[i])  # scaled: no limit is known
