"""Runs of language models that go well in an odd way: of one group a row, of another estimator."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.stand_in_zeros import without_rounded_rate
from tests.support.drawn_runs import (
    GRPO_COLUMNS,
    RLHF_COLUMNS,
    DrawnColumns,
    draw_rows,
    findings,
    gauss,
    jitter,
    judged,
    profile,
    rules_found,
)

WATCH, WARN, CRIT = Severity.WATCH, Severity.WARN, Severity.CRIT


def ties(share: float) -> Callable[[int], float]:
    """One group a row, which ties with a probability."""
    return lambda i: float(random.Random(31 * i + 5).random() < share)


@pytest.mark.parametrize(("share", "most"), [(0.5, WATCH), (0.7, WARN)])
def test_groups_that_tie_one_row_after_another_by_chance(share: float, most: Severity) -> None:
    """With one group a row half of the rows may tie; four in a row are no sign of anything."""
    columns = {
        **GRPO_COLUMNS,
        "frac_zero_std": ties(share),
        "reward_mean": lambda i: 0.2 + 0.002 * i + gauss(i, 0.3),
    }
    found = findings(profile("grpo"), draw_rows(columns, 200))
    assert max(f.severity for f in found if f.rule == "zero-variance-groups") <= most
    assert rules_found(found, CRIT) == set()


def prompts(level: float) -> Callable[[int], float]:
    """The entropy of one prompt a row: the model is certain of some, and not of others."""
    return lambda i: level * math.exp(random.Random(7 * i + 2).gauss(0.0, 1.3))


ENTROPY_RULES = {"entropy-collapsed", "premature-convergence", "entropy-explodes", "entropy-swings"}


def entropy_findings(entropy: Callable[[int], float]) -> set[str]:
    """What is said of an entropy while the reward gains nothing."""
    columns = {**GRPO_COLUMNS, "entropy": entropy, "reward_mean": lambda i: 0.5 + gauss(i, 0.3)}
    return rules_found(findings(profile("grpo"), draw_rows(columns, 400))) & ENTROPY_RULES


def test_entropies_of_single_prompts_neither_collapse_nor_explode() -> None:
    """They swing by powers of ten from one row to the next, round a level that stays."""
    assert entropy_findings(prompts(0.05)) == set()


def test_a_collapse_or_rise_shows_in_the_entropies_of_single_prompts() -> None:
    """The level of the same swings falls to a hundredth, or rises tenfold."""
    small, large, usual = prompts(0.0005), prompts(0.5), prompts(0.05)
    assert "entropy-collapsed" in entropy_findings(lambda i: (usual if i < 60 else small)(i))
    assert "entropy-explodes" in entropy_findings(lambda i: (usual if i < 60 else large)(i))


def test_one_reward_for_all_is_still_critical_at_once() -> None:
    """Rewards that never differ are no chance, whatever the number of groups."""
    columns = {**GRPO_COLUMNS, "frac_zero_std": 1.0, "reward_mean": 0.5, "reward_std": 0.0}
    found = findings(profile("grpo"), draw_rows(columns, 12))
    assert {"zero-variance-groups", "no-learning-signal"} <= rules_found(found, CRIT)
    said = next(finding.message for finding in found if finding.rule == "no-learning-signal")
    assert "gradient" not in said  # it is not 0 in this log


@pytest.mark.parametrize(
    ("value", "trainer", "spoken"),
    [
        (-0.002, "openrlhf", None),  # log p - log q of a batch, by chance
        (-0.05, "openrlhf", WARN),
        (-0.05, "verl", WARN),
        (-0.05, "own-grpo", WARN),  # a loop of one's own does not say which it takes
        (-0.05, "trl-grpo", CRIT),  # exp(-x) + x - 1 is never negative
    ],
)
def test_whether_a_negative_kl_is_a_fault_depends_on_the_estimator(
    value: float, trainer: str, spoken: Severity | None
) -> None:
    """The plain estimate wobbles about 0, the one that TRL logs cannot."""
    columns = {**GRPO_COLUMNS, "ref_kl_token": lambda i: value if i < 20 else 0.01}
    found = findings(profile("grpo", trainer), draw_rows(columns, 30))
    mine = [finding.severity for finding in found if finding.rule == "ref-kl-negative"]
    assert mine == ([spoken] if spoken else [])


def test_without_a_reference_model_openrlhf_logs_a_kl_of_0() -> None:
    """Exactly 0 in every row is no policy that stays at its reference."""
    columns = {**GRPO_COLUMNS, "ref_kl_token": 0.0, "reward_mean": lambda i: 0.3 + gauss(i, 0.02)}
    found = findings(profile("grpo", "openrlhf"), draw_rows(columns, 80))
    assert "ref-kl-zero" not in rules_found(found, Severity.INFO)


@pytest.mark.parametrize(("tokens", "spoken"), [(800.0, WATCH), (53.0, WARN)])
def test_the_kl_of_a_long_answer_is_measured_by_its_length(tokens: float, spoken: Severity) -> None:
    """30 nats over 800 tokens are 0.04 a token; over 53 they are a policy gone astray."""
    columns = {**RLHF_COLUMNS, "ref_kl": lambda i: 2 + 0.5 * i, "resp_len_mean": tokens}
    found = findings(profile("rlhf", "trl-legacy"), draw_rows(columns, 60))
    mine = [finding.severity for finding in found if finding.rule == "ref-kl-high"]
    assert mine == [spoken]


def test_a_loss_of_nothing_but_zeros_before_its_first_value() -> None:
    """There is nothing to compare it with, and no rule fails by that."""
    columns: DrawnColumns = {"total_loss": lambda i: 0.0 if i < 20 else 0.5, "reward_mean": float}
    judge = judged(Profile(), draw_rows(columns, 40))
    assert rules_found(judge.findings) == set()
    assert not [skip for skip in judge.skipped_rules() if "failed" in skip.reason]


def test_a_remark_of_old_does_not_date_a_diagnosis() -> None:
    """A diagnosis began with the first fault in it; what was remarked on before stands before."""
    columns = {
        **GRPO_COLUMNS,
        "reward_mean": lambda i: 0.5 + gauss(i, 0.1),
        "entropy": lambda i: 0.6 if i < 150 else 0.004,
    }
    found = findings(profile("grpo"), draw_rows(columns, 180))
    mine = next(finding for finding in found if finding.rule == "premature-convergence")
    assert mine.since.row == 150
    assert [line.partition(":")[0] for line in mine.evidence][:2] == ["before", "first"]


def test_a_row_of_one_group_is_neither_the_end_of_all_signal_nor_the_ceiling() -> None:
    """Its spread, its gradient and its reward go to 0 and 1 by turns, and it learns."""
    tied = ties(0.5)
    rewards = random.Random(3)
    columns = {
        **GRPO_COLUMNS,
        "frac_zero_std": tied,
        "reward_std": lambda i: 0.45 * (1.0 - tied(i)),
        "grad_norm": lambda i: 0.5 * (1.0 - tied(i)),
        "reward_mean": lambda i: float(rewards.random() < 0.6) if tied(i) else rewards.random(),
    }
    found = findings(profile("grpo"), draw_rows(columns, 200))
    assert rules_found(found, WARN) == set()
    assert not rules_found(found, Severity.INFO) & {"at-ceiling", "reward-spread-gone"}


def test_where_no_share_of_ties_is_logged_the_spread_is_looked_at_as_patiently() -> None:
    """Older versions of TRL log only the spread."""
    tied = ties(0.5)
    without = {"frac_zero_std": None, "reward_std": lambda i: 0.45 * (1.0 - tied(i))}
    columns = {**GRPO_COLUMNS, **without, "reward_mean": lambda i: 0.3 + gauss(i, 0.2)}
    assert rules_found(findings(profile("grpo"), draw_rows(columns, 200)), WARN) == set()
    gone = {**columns, "reward_std": 0.0}
    assert "zero-variance-groups" in rules_found(
        findings(profile("grpo"), draw_rows(gone, 40)), CRIT
    )


def test_entropy_that_a_language_model_spends_at_once_is_paid_for() -> None:
    """Most of it goes in the first updates of a good run, sooner than a trend can be told."""
    columns = {
        **GRPO_COLUMNS,
        "reward_mean": lambda i: 0.1 + 0.75 * (1 - 0.75**i) + gauss(i, 0.01),
        "entropy": lambda i: 0.02 + 0.3 * 0.6**i,
    }
    assert rules_found(findings(profile("grpo"), draw_rows(columns, 40)), WARN) == set()
    stuck = {**columns, "reward_mean": lambda i: 0.1 + gauss(i, 0.01)}
    assert "entropy-collapsed" in rules_found(findings(profile("grpo"), draw_rows(stuck, 40)), WARN)


def test_a_reward_of_tasks_that_are_over_is_only_remarked_on() -> None:
    """The whole reward goes on: one task after the other, each with a reward of its own."""
    columns = {
        **GRPO_COLUMNS,
        "total_loss": 0.1,
        "reward_component_mean{sums}": lambda i: 0.4 if i < 30 else None,
        "reward_component_mean{proofs}": lambda i: None if i < 30 else 0.2,
    }
    found = findings(profile("grpo"), draw_rows(columns, 60))
    assert [f.severity for f in found if f.rule == "hidden-nan"] == [WATCH]


def test_groups_that_tie_because_they_are_solved_are_only_remarked_on() -> None:
    """The reward is close to 1, and what is left of the signal is little."""
    columns = {
        **GRPO_COLUMNS,
        "reward_mean": lambda i: min(0.985, 0.2 + 0.02 * i) + jitter(i, 0.01),
        "frac_zero_std": lambda i: min(0.97, 0.2 + 0.013 * i),
        "reward_std": lambda i: max(0.03, 0.4 - 0.01 * i),
    }
    found = findings(profile("grpo"), draw_rows(columns, 120))
    assert rules_found(found, WARN) == set()
    assert "zero-variance-groups" in rules_found(found, WATCH)


@pytest.mark.parametrize(("decimals", "most"), [(3, 0), (7, WARN)])
def test_a_learning_rate_below_the_printed_decimals_is_not_zero(decimals: int, most: int) -> None:
    """A console that prints three decimals shows the usual 1e-6 as 0.000 in every row."""
    columns: DrawnColumns = {**RLHF_COLUMNS, "reward_mean": lambda i: 0.2 + jitter(i, 0.05)}
    drawn = draw_rows({**columns, "lr": 0.0}, 40)
    printed = [
        row._replace(values={name: round(value, decimals) for name, value in row.values.items()})
        for row in drawn
    ]
    found = findings(profile("rlhf", "verl"), printed)
    about_rate = [f for f in found if f.rule.startswith("learning-rate")]
    assert max((f.severity for f in about_rate), default=0) == most
    advice = " ".join(sentence for f in found for sentence in f.remedies)
    assert ("(0 now" in advice) is (decimals > 3)


@pytest.mark.parametrize(("more", "left_out"), [(0.5, True), (3.0, False)])
def test_two_fractions_tell_how_many_decimals_are_printed(more: float, left_out: bool) -> None:
    """Whole numbers are printed with none, whatever else is."""
    values = without_rounded_rate({"lr": 0.0, "entropy": 0.25, "reward_mean": more})
    assert ("lr" not in values) is left_out


def test_a_share_that_is_printed_in_percent_has_few_decimals_too() -> None:
    """6.2 %, divided by 100, is 0.062000000000000006."""
    drawn = draw_rows({**RLHF_COLUMNS, "lr": 0.0}, 40)
    printed = [
        row._replace(
            values={name: round(value, 3) for name, value in row.values.items()}
            | {"clip_fraction": 0.01 * 6.2}
        )
        for row in drawn
    ]
    assert not [f for f in findings(profile("rlhf", "verl"), printed) if "learning-rate" in f.rule]
