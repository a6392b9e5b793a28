"""Synthetic runs for tests of rules: healthy columns by family, and ways to judge them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from ppo_top.model import ConfigValue, Finding, Mark, Profile, Row, Severity
from ppo_top.rules.judge import Judge

DrawnColumn = Callable[[int], float | None] | Sequence[float | None] | float | None
DrawnColumns = Mapping[str, DrawnColumn]


def jitter(number: int, size: float = 1.0) -> float:
    """The same small noise for the same row, whatever the machine."""
    return random.Random(number).uniform(-size, size)


def gauss(number: int, size: float) -> float:
    """The same normal noise for the same row."""
    return random.Random(7919 * number).gauss(0.0, size)


CTRL_COLUMNS: DrawnColumns = {
    "reward_mean": lambda i: 20 + 440 * (1 - 0.95**i) + jitter(i, 4),
    "ep_len": lambda i: 20 + 440 * (1 - 0.95**i) + jitter(i, 4),
    "entropy": lambda i: 0.69 - 0.004 * i + jitter(i, 0.005),
    "value_loss": lambda i: 60 * 0.96**i + 4 + jitter(i),
    "explained_variance": lambda i: min(0.95, 0.08 * i) + jitter(i, 0.02),
    "approx_kl": lambda i: 0.008 + jitter(i, 0.003),
    "clip_fraction": lambda i: 0.08 + jitter(i, 0.03),
    "policy_loss": lambda i: -0.014 + jitter(i, 0.004),
    "total_loss": lambda i: 30 * 0.96**i + 2 + jitter(i, 0.5),
    "lr": 3e-4,
    "clip_range": 0.2,
    "n_updates": lambda i: 10.0 * i,
}

RLHF_COLUMNS: DrawnColumns = {
    "reward_mean": lambda i: 0.2 + 0.05 * i + jitter(i, 0.05),
    "rlhf_reward": lambda i: 0.2 + 0.04 * i + jitter(i, 0.05),
    "reward_std": lambda i: 1.0 + jitter(i, 0.1),
    "non_score_reward": lambda i: -0.003 * i,
    "ref_kl": lambda i: 0.1 + 0.06 * i + jitter(i, 0.04),
    "kl_coef": 0.05,
    "entropy": lambda i: 3.0 - 0.01 * i + jitter(i, 0.03),
    "approx_kl": lambda i: 0.01 + jitter(i, 0.004),
    "clip_fraction": lambda i: 0.05 + jitter(i, 0.02),
    "ratio_mean": lambda i: 1.0 + jitter(i, 0.005),
    "value_loss": lambda i: 2.0 * 0.97**i + 0.2 + jitter(i, 0.05),
    "explained_variance": lambda i: min(0.9, 0.05 * i) + jitter(i, 0.02),
    "value_clip_fraction": lambda i: 0.05 + jitter(i, 0.02),
    "policy_loss": lambda i: -0.02 + jitter(i, 0.01),
    "total_loss": lambda i: 0.5 + jitter(i, 0.1),
    "adv_mean": lambda i: jitter(i, 0.01),
    "value_var": lambda i: 1.0 + jitter(i, 0.1),
    "return_var": lambda i: 1.2 + jitter(i, 0.1),
    "value_mean": lambda i: 0.5 + jitter(i, 0.1),
    "return_mean": lambda i: 0.5 + jitter(i, 0.1),
    "query_len_mean": lambda i: 30 + jitter(i),
    "resp_len_mean": lambda i: 50 + jitter(i),
    "resp_len_std": lambda i: 8 + jitter(i),
    "lr": 3e-6,
    "eos_count": lambda i: 60.0 + i % 3,
}

GRPO_COLUMNS: DrawnColumns = {
    "reward_mean": lambda i: 0.2 + 0.008 * i + jitter(i, 0.02),
    "reward_std": lambda i: 0.3 + jitter(i, 0.03),
    "frac_zero_std": lambda i: 0.2 + jitter(i, 0.1),
    "ref_kl_token": lambda i: 0.0005 * i,
    "entropy": lambda i: 0.6 - 0.002 * i + jitter(i, 0.01),
    "clip_fraction": lambda i: 0.004 + jitter(i, 0.002),
    "clip_low": lambda i: 0.002 + jitter(i, 0.001),
    "clip_high": lambda i: 0.002 + jitter(i, 0.001),
    "truncated_frac": lambda i: 0.05 + jitter(i, 0.02),
    "resp_len_mean": lambda i: 120 + jitter(i, 6),
    "term_len_mean": lambda i: 110 + jitter(i, 6),
    "reward_component_mean{accuracy}": lambda i: 0.1 + 0.005 * i + jitter(i, 0.01),
    "reward_component_mean{format}": lambda i: 0.1 + 0.003 * i + jitter(i, 0.01),
    "logp_diff_mean": lambda i: 0.012 + jitter(i, 0.003),
    "grad_norm": lambda i: 0.8 + jitter(i, 0.2),
    "lr": 1e-6,
    "num_tokens": lambda i: 4000.0 * (i + 1),
}

OFF_POLICY_COLUMNS: DrawnColumns = {
    "reward_mean": lambda i: -1400 + 1200 * (1 - 0.95**i) + jitter(i, 20),
    "ep_len": 200.0,
    "critic_loss": lambda i: 0.5 + 0.3 * min(i, 20) + jitter(i, 0.2),
    "actor_loss": lambda i: 20 + 3.0 * min(i, 25) + jitter(i, 2),
    "entropy_coef": lambda i: max(0.02, 0.95**i) + jitter(i, 0.002),
    "lr": 3e-4,
    "n_updates": lambda i: 800.0 * i,
}

VALUE_BASED_COLUMNS: DrawnColumns = {
    "reward_mean": lambda i: 20 + 440 * (1 - 0.95**i) + jitter(i, 4),
    "ep_len": lambda i: 20 + 440 * (1 - 0.95**i) + jitter(i, 4),
    "total_loss": lambda i: 0.05 + 0.02 * min(i, 20) + jitter(i, 0.02),
    "exploration_rate": lambda i: max(0.05, 1.0 - 0.05 * i),
    "lr": 1e-4,
    "n_updates": lambda i: 250.0 * i,
}

PREFERENCE_COLUMNS: DrawnColumns = {
    "total_loss": lambda i: 0.3 + 0.393 * 0.97**i + jitter(i, 0.01),
    "preference_accuracy": lambda i: 0.0 if i == 0 else 0.9 - 0.4 * 0.95**i + jitter(i, 0.02),
    "preference_margin": lambda i: 2.0 * (1 - 0.98**i) + jitter(i, 0.02) * min(i, 1),
    "grad_norm": lambda i: 0.8 + jitter(i, 0.2),
    "lr": lambda i: 5e-7 * (1 - i / 400),
}

HEALTHY_COLUMNS = {
    "on-policy": CTRL_COLUMNS,
    "value-based": VALUE_BASED_COLUMNS,
    "off-policy": OFF_POLICY_COLUMNS,
    "rlhf": RLHF_COLUMNS,
    "grpo": GRPO_COLUMNS,
    "preference": PREFERENCE_COLUMNS,
}
TRAINER_BY_FAMILY = {
    "on-policy": "sb3",
    "value-based": "sb3",
    "off-policy": "sb3",
    "rlhf": "trl-ppo",
    "grpo": "trl-grpo",
    "preference": "trl-dpo",
}


SB3_TAGS = {"reward_mean": "rollout/ep_rew_mean"}
"""concept -> tag, as the logger of Stable-Baselines3 writes it."""


def _cell(column: DrawnColumn, number: int) -> float | None:
    if callable(column):
        return column(number)
    if isinstance(column, Sequence):
        return column[min(number, len(column) - 1)]
    return column


def draw_rows(
    columns: DrawnColumns, count: int = 60, seconds: float = 2.0, last_step: int = 1 << 40
) -> list[Row]:
    """Rows of a run, 1000 steps and some seconds apart; a column's None leaves its cell out."""
    made = []
    for number in range(count):
        cells = {name: _cell(column, number) for name, column in columns.items()}
        values = {name: cell for name, cell in cells.items() if cell is not None}
        mark = Mark(number, min(last_step, 1000 * (number + 1)), 1e9 + seconds * number)
        made.append(Row(mark, values))
    return made


def profile(family: str = "on-policy", trainer: str = "", **config: ConfigValue) -> Profile:
    """The profile of a run of a family's usual trainer."""
    return Profile(trainer or TRAINER_BY_FAMILY.get(family, "unknown"), family, config)


def judged(about: Profile, made: Sequence[Row]) -> Judge:
    """A judge that has seen all rows."""
    judge = Judge(about)
    for row in made:
        judge.add_row(row)
    return judge


def findings(about: Profile, made: Sequence[Row]) -> list[Finding]:
    """The findings in these rows."""
    return judged(about, made).findings


def rules_found(found: Sequence[Finding], least: Severity = Severity.WATCH) -> set[str]:
    """The rules that fired with at least this severity."""
    return {finding.rule for finding in found if finding.severity >= least}
