"""What action values, their loss and the exploration of a replay learner say of a cause."""

from __future__ import annotations

import pytest

from ppo_top.model import Profile, Sample
from ppo_top.rules.advice.symptoms import facts_seen
from ppo_top.rules.engine.judged_run import JudgedRun
from tests.support.drawn_runs import DrawnColumns, draw_rows, profile

COSTS: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2,
    "ep_len": 60.0,
    "critic_loss": lambda i: 100.0,
    "actor_loss": 300.0,
    "entropy_coef": lambda i: 0.5 - 0.001 * i,
}
"""Ten a step are lost, 600 an episode; an action is worth 30 steps of that."""


def facts_of(columns: DrawnColumns, family: str = "off-policy", count: int = 50) -> set[str]:
    """The facts that hold at the end of a run."""
    run = JudgedRun(profile(family))
    for row in draw_rows({**COSTS, **columns}, count):
        run.add_row(row)
    return {name for name, holds in facts_seen(run).items() if holds}


@pytest.mark.parametrize(
    ("fact", "columns", "changed"),
    [
        ("action values of the other sign than the returns", {"actor_loss": -10.5},
         {"actor_loss": -9.5}),
        ("action values of the other sign than the returns", {"actor_loss": -10.5},
         {"actor_loss": -10.5, "entropy_coef": lambda i: 0.5 + 0.1 * i}),
        ("action values of the other sign than the returns", {"actor_loss": -10.5},
         {"actor_loss": -10.5, "entropy_coef": lambda i: 0.1 + 0.003 * i}),
        ("action values near 0 beside the rewards", {"actor_loss": 0.95}, {"actor_loss": 1.05}),
        ("action values below one step's reward", {"actor_loss": 9.6}, {"actor_loss": 10.5}),
        ("action values beyond all returns", {"actor_loss": 620.0}, {"actor_loss": 590.0}),
        ("critic loss 30 times its start", {"critic_loss": lambda i: 100.0 if i < 20 else 3100.0},
         {"critic_loss": lambda i: 100.0 if i < 20 else 2900.0}),
        ("critic loss not halved since its start", {"critic_loss": lambda i: 100.0 - 0.98 * i},
         {"critic_loss": lambda i: 100.0 - 1.1 * i}),
        ("critic loss a hundredth of its start",
         {"critic_loss": lambda i: 100.0 if i < 20 else 0.9},
         {"critic_loss": lambda i: 100.0 if i < 20 else 1.1}),
        ("critic loss beyond the squared returns", {"critic_loss": 3.75e5}, {"critic_loss": 3.5e5}),
        ("rewards of hundreds a step", {"reward_mean": lambda i: -18_500.0 - i % 2},
         {"reward_mean": lambda i: -17_500.0 - i % 2}),
        ("actor loss ten times its start",
         {"actor_loss": lambda i: -300.0 if i < 20 else 3100.0},
         {"actor_loss": lambda i: -300.0 if i < 20 else 2900.0}),
        ("action values near 0 at a usual learning rate", {"actor_loss": 9.6, "lr": 3e-4},
         {"actor_loss": 9.6, "lr": 1e-7}),
        ("action values near 0 at a usual learning rate", {"actor_loss": 9.6, "lr": 3e-4},
         {"actor_loss": 10.5, "lr": 3e-4}),
        ("entropy coefficient above its start",
         {"entropy_coef": lambda i: 0.5 if i < 20 else 1.05},
         {"entropy_coef": lambda i: 0.5 if i < 20 else 0.95}),
        ("entropy coefficient vanished", {"entropy_coef": lambda i: 0.5 if i < 20 else 0.0048},
         {"entropy_coef": lambda i: 0.5 if i < 20 else 0.0052}),
        ("entropy coefficient fixed far above the rewards", {"entropy_coef": 105.0},
         {"entropy_coef": 95.0}),
        ("entropy coefficient fixed far above the rewards", {"entropy_coef": 105.0},
         {"entropy_coef": lambda i: 105.0 + i}),
        ("episodes shorter than at the start", {"ep_len": lambda i: 60.0 if i < 20 else 41.0},
         {"ep_len": lambda i: 60.0 if i < 20 else 43.0}),
        ("episodes longer than at the start", {"ep_len": lambda i: 60.0 if i < 20 else 92.0},
         {"ep_len": lambda i: 60.0 if i < 20 else 88.0}),
        ("reward stuck at one value", {"reward_mean": lambda i: -float(max(600, 620 - i))},
         {"reward_mean": lambda i: -float(max(570, 600 - i))}),
        ("reward at its lowest", {"reward_mean": lambda i: -600.0 - 10.0 * i},
         {"reward_mean": lambda i: -600.0 - 10.0 * min(i, 50 - i)}),
        ("reward varies less than at the start",
         {"reward_mean": lambda i: -600.0 - (10.0 if i < 25 else 3.8) * (i % 2)},
         {"reward_mean": lambda i: -600.0 - (10.0 if i < 25 else 4.2) * (i % 2)}),
        ("reward varies more than at the start",
         {"reward_mean": lambda i: -600.0 - (10.0 if i < 25 else 26.0) * (i % 2)},
         {"reward_mean": lambda i: -600.0 - (10.0 if i < 25 else 24.0) * (i % 2)}),
    ],
)  # fmt: skip
def test_a_fact_holds_from_its_limit_on(
    fact: str, columns: DrawnColumns, changed: DrawnColumns
) -> None:
    """A few per cent on either side; entropy's own bonus may turn the sign of action values."""
    assert fact in facts_of(columns)
    assert fact not in facts_of(changed)


@pytest.mark.parametrize(("newest", "holds"), [(0.21, True), (0.19, False)])
def test_random_actions_that_come_back_are_seen(newest: float, holds: bool) -> None:
    """Epsilon had fallen; one that falls still is no return."""
    back: DrawnColumns = {"exploration_rate": lambda i: 0.05 if i < 40 else newest}
    falls: DrawnColumns = {"exploration_rate": lambda i: 1.0 - 0.01 * i}
    assert ("epsilon rose again" in facts_of(back, "value-based")) is holds
    assert "epsilon rose again" not in facts_of(falls, "value-based")


@pytest.mark.parametrize(("late", "holds"), [(3.9, True), (4.1, False)])
def test_single_episodes_that_vary_less_than_the_first_ten(late: float, holds: bool) -> None:
    """A policy that ends in one corner of its actions gets much the same every time."""
    about = Profile("monitor", "off-policy", samples={"reward_mean": Sample("episode")})
    run = JudgedRun(about)
    spread: DrawnColumns = {"reward_mean": lambda i: (-1) ** i * (10.0 if i < 10 else late)}
    for row in draw_rows({"ep_len": 60.0, **spread}, 60):
        run.add_row(row)
    assert facts_seen(run)["reward varies less than at the start"] is holds


def test_a_reward_that_is_no_number_is_named() -> None:
    """Apart from a loss that is none."""
    bad: DrawnColumns = {"reward_mean": lambda i: float("nan") if i == 49 else -600.0}
    loss: DrawnColumns = {"critic_loss": lambda i: float("nan") if i == 49 else 100.0}
    assert "reward NaN or infinite" in facts_of(bad)
    assert "reward NaN or infinite" not in facts_of(loss)


def test_nothing_is_known_of_values_that_are_not_logged() -> None:
    """Neither yes nor no; nor are returns of both signs a measure of signs."""
    run = JudgedRun(profile("off-policy"))
    for row in draw_rows({"reward_mean": lambda i: float(i - 25), "actor_loss": 300.0}, 50):
        run.add_row(row)
    known = facts_seen(run)
    assert "action values of the other sign than the returns" not in known
    assert "critic loss not halved since its start" not in known
