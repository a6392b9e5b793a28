"""Healthy things that look sick: each trap is a run that must not be warned of."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import ppo_top
from ppo_top.model import Profile, Severity
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    RLHF_COLUMNS,
    DrawnColumns,
    draw_rows,
    findings,
    jitter,
    profile,
    rules_found,
)

WARN = Severity.WARN


def solved(i: int) -> float:
    """A reward that reaches its ceiling of 500 and stays there."""
    return min(500.0, 20 + 16.0 * i)


def dips(i: int) -> float:
    """The dip of a known good run: 319, 277, 239, then 410 and on to 500."""
    known = [21, 40, 74, 120, 160, 180, 196, 260, 319, 277, 239, 330, 410, 430, 450, 480, 490]
    return known[i] if i < len(known) else 500.0


TRAPS: dict[str, tuple[str, DrawnColumns]] = {
    "explained variance after convergence": (
        "on-policy",
        {
            "reward_mean": solved,
            "explained_variance": lambda i: 0.9 if i < 30 else -4.6 + jitter(i),
            "value_loss": lambda i: 80.0 if i < 30 else 5e-6,
        },
    ),
    "explained variance of 0 early on a long task": (
        "on-policy",
        {
            "reward_mean": lambda i: -200 + 4.0 * i + jitter(i, 5),
            "explained_variance": lambda i: 0.0 if i < 11 else 0.25 + 0.01 * i,
            "value_loss": lambda i: 5200 * 0.8**i + 300,
        },
    ),
    "entropy below zero and rising with a Gaussian policy": (
        "on-policy",
        {"entropy": lambda i: 1.0 - 0.1 * i, "policy_std": lambda i: 1.0 - 0.01 * i},
    ),
    "value loss grows with the returns": ("on-policy", {"value_loss": lambda i: 8 + 2.0 * i}),
    "spike of a converged value loss": (
        "on-policy",
        {
            "reward_mean": solved,
            "value_loss": lambda i: 80.0 if i < 30 else (1e-4 if i == 50 else 5e-6),
        },
    ),
    "a large KL in the first updates": (
        "on-policy",
        {"approx_kl": lambda i: 0.2 if i < 3 else 0.008},
    ),
    "KL and clipping are 0 by construction": (
        "grpo",
        {"approx_kl": 0.0, "clip_fraction": 0.0, "clip_low": 0.0, "clip_high": 0.0},
    ),
    "KL and clipping end with the learning rate": (
        "on-policy",
        {
            "reward_mean": solved,
            "lr": lambda i: max(0.0, 3e-4 * (1 - i / 59)),
            "approx_kl": lambda i: 0.01 * max(0.0, 1 - i / 50),
            "clip_fraction": lambda i: 0.1 * max(0.0, 1 - i / 50),
        },
    ),
    "small updates at the end of a schedule, reward gained": (
        "rlhf",
        {
            "lr": lambda i: 1e-3 * (1 - i / 60),
            "approx_kl": lambda i: 5e-6 if i > 20 else 1e-3,
            "clip_fraction": 0.0,
        },
    ),
    "a plateau at the maximum": ("on-policy", {"reward_mean": solved}),
    "a dip of a quarter": ("on-policy", {"reward_mean": dips}),
    "an estimate of the KL below zero": (
        "on-policy",
        {"approx_kl": None, "approx_kl_k1": lambda i: jitter(i, 0.004)},
    ),
    "a tuned run with KL 0.03 to 0.08": (
        "on-policy",
        {"approx_kl": lambda i: 0.05 + jitter(i, 0.02), "clip_fraction": 0.22},
    ),
    "a placeholder of 0 before the first reward": (
        "on-policy",
        {"reward_mean": lambda i: None if i < 4 else 20 + 5.0 * i},
    ),
    "a GRPO loss that rises from 0": ("grpo", {"total_loss": lambda i: 1e-4 * i}),
    "a fast fall of entropy that reward pays for": (
        "grpo",
        {
            "entropy": lambda i: 0.6 * 0.85**i + 0.01,
            "reward_mean": lambda i: 0.1 + 0.85 * (1 - 0.95**i) + jitter(i, 0.01),
        },
    ),
    "a reward that starts NaN": (
        "on-policy",
        {"reward_mean": lambda i: math.nan if i < 3 else 20 + 5.0 * i},
    ),
    "the best reward so far before there is one": (
        "on-policy",
        {"tag:best": lambda i: -math.inf if i < 3 else 20 + 5.0 * i},
    ),
    "a spread of one sample": ("rlhf", {"query_len_std": math.nan, "ratio_var": math.nan}),
    "a reward function that does not apply": (
        "grpo",
        {"reward_component_mean{code}": lambda i: math.nan if i % 2 else 0.4},
    ),
    "truncation that was there from the start": ("grpo", {"truncated_frac": 0.6}),
    "no reference model": ("grpo", {"ref_kl_token": None}),
    "a sequence ratio far from 1 with a small gap": (
        "grpo",
        {"is_ratio_mean": 0.5, "is_ratio_min": 0.0, "is_ratio_max": 3.0},
    ),
    "a short run": ("on-policy", {}),
}

BASE_COLUMNS = {"on-policy": CTRL_COLUMNS, "rlhf": RLHF_COLUMNS, "grpo": GRPO_COLUMNS}


@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_is_warned_of(trap: str) -> None:
    """At most a remark is made of what only looks bad."""
    family, columns = TRAPS[trap]
    count = 7 if trap == "a short run" else 60
    found = findings(profile(family), draw_rows({**BASE_COLUMNS[family], **columns}, count))
    assert rules_found(found, WARN) == set()


def test_sparse_reward_is_a_warning_without_alarm() -> None:
    """A reward that has never come may yet come: no alarm before half of the run."""
    columns = {**CTRL_COLUMNS, "reward_mean": 0.0}
    found = findings(profile(total_timesteps=200_000), draw_rows(columns, 60))
    mine = [finding for finding in found if finding.rule == "reward-never-moves"]
    assert [finding.severity for finding in mine] == [WARN]
    assert "no success seen yet" in mine[0].message


def test_half_the_run_without_reward_is_an_alarm() -> None:
    """When half of the run is over and nothing has moved, that is critical."""
    columns = {**CTRL_COLUMNS, "reward_mean": 0.0}
    found = findings(profile(total_timesteps=100_000), draw_rows(columns, 60))
    mine = [finding for finding in found if finding.rule == "reward-never-moves"]
    assert mine[0].severity == Severity.CRIT


def test_an_unknown_trainer_is_judged_by_universal_rules_only() -> None:
    """Absolute limits need a known trainer; NaN and a crash do not."""
    columns: DrawnColumns = {
        "approx_kl": 3.0,
        "clip_fraction": 0.9,
        "reward_mean": lambda i: 20.0 * i if i < 30 else 5.0,
    }
    found = findings(Profile(), draw_rows(columns))
    assert rules_found(found) == {"reward-crash"}


def test_one_nan_is_red_at_once_and_clears_after_three_good_points() -> None:
    """NaN needs no second point, and is forgiven when numbers come back."""
    columns = {**CTRL_COLUMNS, "value_loss": lambda i: math.nan if i == 20 else 5.0}
    found = [f for f in findings(profile(), draw_rows(columns)) if f.rule == "non-finite"]
    assert [(f.opened.row, f.cleared.row if f.cleared else None) for f in found] == [(20, 23)]


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_variance_explained_of_equal_returns_is_no_number_and_no_fault(value: float) -> None:
    """1 - Var(returns - values) / Var(returns) is 0/0, or what is left divided by 0."""
    columns = {**CTRL_COLUMNS, "explained_variance": lambda i: value if i % 9 == 5 else 0.9}
    assert "non-finite" not in rules_found(findings(profile(), draw_rows(columns)))


def test_a_run_that_goes_on_without_a_learning_rate_is_told_of() -> None:
    """The end of a schedule is the end of a run; twenty updates later it is a mistake."""
    ended = {
        **CTRL_COLUMNS,
        "lr": lambda i: 3e-4 * max(0.0, 1 - i / 20),
        "approx_kl": lambda i: 0.01 * max(0.0, 1 - i / 20),
        "clip_fraction": lambda i: 0.1 * max(0.0, 1 - i / 20),
        "reward_mean": lambda i: 20 + 5 * min(i, 20) + jitter(i, 2),
    }
    assert "learning-rate-zero" not in rules_found(findings(profile(), draw_rows(ended, 24)))
    assert "learning-rate-zero" in rules_found(findings(profile(), draw_rows(ended, 60)))


def test_a_reward_that_disappears_is_warned_of() -> None:
    """TRL leaves a NaN reward out of its log: what stops while the rest goes on is a sign."""
    columns = {**GRPO_COLUMNS, "reward_mean": lambda i: None if i >= 30 else 0.2, "total_loss": 0.1}
    found = findings(profile("grpo"), draw_rows(columns))
    hidden = [finding for finding in found if finding.rule == "hidden-nan"]
    assert [(f.severity, f.opened.row) for f in hidden] == [(WARN, 31)]


@pytest.mark.parametrize(("score", "named"), [(0.5, 10), (0.0, None)])
def test_one_score_for_all_is_seen_soon_and_no_success_yet_is_given_time(
    score: float, named: int | None
) -> None:
    """Of a hard task nothing may be solved for long; the same score above 0 is a broken reward."""
    columns = {**RLHF_COLUMNS, "reward_mean": score, "rlhf_reward": None}
    found = [f for f in findings(profile("rlhf"), draw_rows(columns, 25)) if f.severity >= WARN]
    mine = [f.since.row + 1 for f in found if f.rule == "reward-never-moves"]
    assert mine == ([named] if named else [])


@pytest.mark.parametrize("broken", [8_000.0, -15_000.0])
def test_a_few_broken_episodes_are_neither_learned_nor_lost(broken: float, tmp_path: Path) -> None:
    """A return of thousands, now and then within a hundred episodes, among those around -150."""
    draw = random.Random(3)
    lines = ['#{"t_start": 0.0, "env_id": "LunarLander-v3"}', "r,l,t"]
    for episode in range(600):
        is_broken = 200 <= episode < 300 and episode % 12 == 5
        reward = broken if is_broken else draw.gauss(-150.0 + 0.3 * episode, 40.0)
        lines.append(f"{reward:.3f},100,{episode}.5")
    (tmp_path / "monitor.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (run,) = ppo_top.check(tmp_path)["runs"]
    assert [found["rule"] for found in run["findings"] if found["severity"] != "info"] == []


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_an_own_script_that_scatter_widely_are_no_collapse(
    seed: int, tmp_path: Path
) -> None:
    """Balancing poles by a noisy policy: scores from 10 to 500 round a mean that slowly rises."""
    draw = random.Random(seed)
    scores = (10.0 + draw.expovariate(1.0 / (60.0 + 0.1 * episode)) for episode in range(1, 901))
    lines = [f"Episode {episode}, Score: {score:.2f}" for episode, score in enumerate(scores, 1)]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (run,) = ppo_top.check(tmp_path)["runs"]
    assert [f["message"] for f in run["findings"] if f["rule"] == "reward-crash"] == []
    assert run["verdict"] in ("healthy", "info")
