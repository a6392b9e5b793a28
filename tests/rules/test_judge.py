"""The engine: a pure fold with memory, that can be copied, restarted, muted and tuned."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.model import Finding, Mark, Profile, Row, Severity
from ppo_top.rules.console_text import DEATH
from ppo_top.rules.engine.judged_run import TOLERATED_ROWS, JudgedRun
from ppo_top.rules.engine.persistence import EASED_AFTER
from ppo_top.rules.engine.rule import RuleLimits
from ppo_top.rules.judge import Judge
from ppo_top.settings import Settings
from ppo_top.settings.custom_rule import CustomRule
from ppo_top.support import internal_errors
from tests.rules.courses import fallen, flat
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    HEALTHY_COLUMNS,
    DrawnColumn,
    draw_rows,
    findings,
    gauss,
    jitter,
    judged,
    profile,
    rules_found,
)

TRACEBACK = "Traceback (most recent call last):"
KILLED = "/bin/sh: line 1: 4711 Killed"
"""What a shell prints when a process was killed from outside."""

SICK_COLUMNS = {
    **CTRL_COLUMNS,
    "reward_mean": fallen,
    "approx_kl": lambda i: 0.4 if i > 37 else 0.01,
    "clip_fraction": lambda i: 0.7 if i > 37 else 0.1,
}


def first_finding(found: list[Finding], rule: str) -> Finding:
    """The first finding of a rule."""
    return next(finding for finding in found if finding.rule == rule)


def test_a_copy_is_independent() -> None:
    """What a copy is fed leaves no trace in the original."""
    made = draw_rows(SICK_COLUMNS)
    judge = judged(profile(), made[:40])
    before = repr(judge.findings)
    copy = judge.copy()
    for row in made[40:]:
        copy.add_row(row)
    assert repr(judge.findings) == before
    assert repr(copy.findings) != before


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, 59)))
def test_copies_on_the_way_change_nothing(looks: set[int]) -> None:
    """Feeding each incomplete row to a copy first, at any moments, ends in the same findings."""
    made, judge = draw_rows(SICK_COLUMNS), Judge(profile())
    for number, row in enumerate(made):
        if number in looks:
            part = dict(list(row.values.items())[:3])
            judge.copy().add_row(Row(row.mark, part))
        judge.add_row(row)
    assert repr(judge.findings) == repr(findings(profile(), made))


def test_a_diagnosis_gathers_its_members_in_the_order_in_which_things_broke() -> None:
    """KL and clipping went first, reward later: the evidence says so, with the updates between."""
    diagnosis = first_finding(findings(profile(), draw_rows(SICK_COLUMNS)), "updates-too-large")
    assert {"kl-high", "clip-high", "reward-crash"} <= set(diagnosis.members)
    assert diagnosis.evidence[0].startswith("first: ")
    assert any(line.startswith("after ") and "reward fell" in line for line in diagnosis.evidence)
    assert diagnosis.since.row == 38


def test_a_run_diverged_when_its_values_were_no_longer_numbers() -> None:
    """Not when the KL that led there rose: that is told as its first sign."""
    columns = {
        **CTRL_COLUMNS,
        "approx_kl": lambda i: 0.6 if i >= 30 else 0.01,
        "value_loss": lambda i: math.nan if i >= 36 else 5.0,
    }
    diagnosis = first_finding(findings(profile(), draw_rows(columns, 40)), "diverged")
    assert (diagnosis.first_sign.row, diagnosis.since.row) == (30, 36)
    assert diagnosis.as_of(37).first_sign.row == 30


def test_a_frozen_policy_is_dated_by_the_first_update_that_changed_nothing() -> None:
    """Not by the entropy, which was low for long while the policy still learned."""
    columns = {
        **CTRL_COLUMNS,
        "entropy": lambda i: 0.69 if i < 10 else 0.05 if i < 30 else 1e-9,
        "approx_kl": lambda i: 0.01 if i < 30 else 0.0,
        "clip_fraction": lambda i: 0.1 if i < 30 else 0.0,
        "reward_mean": lambda i: 20.0 + 5.0 * i if i < 26 else 10.0,
    }
    found = findings(profile(), draw_rows(columns, 50))
    assert first_finding(found, "entropy-collapsed").since.row == 10
    assert first_finding(found, "policy-collapsed").since.row == 30


def test_a_fall_is_dated_by_the_first_low_reward() -> None:
    """It takes three low ones to be sure, so the finding opens two updates later."""
    columns = {**CTRL_COLUMNS, "reward_mean": lambda i: 20.0 + 5.0 * i if i < 40 else 10.0}
    fall = first_finding(findings(profile(), draw_rows(columns)), "reward-crash")
    assert (fall.since.row, fall.opened.row) == (40, 42)


def test_a_finding_is_an_interval() -> None:
    """It opens, may grow more severe, and clears when the value has come back for long enough."""
    high = {1: 0.05, 2: 0.4}
    columns = {**CTRL_COLUMNS, "approx_kl": lambda i: high.get(i // 10, 0.01)}
    finding = first_finding(findings(profile(), draw_rows(columns)), "kl-high")
    assert [change.severity for change in finding.changes] == [Severity.WATCH, Severity.CRIT]
    assert (finding.since.row, finding.opened.row) == (10, 13)
    assert finding.cleared is not None and finding.cleared.row == 32


def test_a_rule_that_speaks_again_and_again_needs_longer_to_clear() -> None:
    """A value that wobbles about its limit gives a few long findings, not many short ones."""
    columns = {**CTRL_COLUMNS, "approx_kl": lambda i: 0.3 if i % 8 < 4 else 0.01}
    found = [f for f in findings(profile(), draw_rows(columns, 400)) if f.rule == "kl-high"]
    assert len(found) <= 3


def test_a_restart_begins_anew() -> None:
    """After a resume baselines and warm-ups start again, and open findings end."""
    made = draw_rows(SICK_COLUMNS)
    judge = judged(profile(), made)
    judge.restart()
    judge.add_row(Row(Mark(60, 1000, 2e9), {"approx_kl": 0.5, "reward_mean": 20.0}))
    kl = first_finding(judge.findings, "kl-high")
    assert kl.cleared == Mark(60, 1000, 2e9)
    assert [f.rule for f in judge.findings if f.cleared is None] == ["restarted"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (1000, "a training began anew at step 1,000: baselines start again"),
        (1001, "the run was resumed at step 1,001: baselines start again"),
    ],
)
def test_back_at_its_first_step_a_run_was_not_resumed(step: int, words: str) -> None:
    """A checkpoint lies behind the first step: another training appends to the log."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS))
    judge.restart()
    judge.add_row(Row(Mark(60, step, 2e9), {"reward_mean": 20.0}))
    assert first_finding(judge.findings, "restarted").message == words


def test_thresholds_can_be_changed() -> None:
    """The settings' numbers come before those of the book, and of the family."""
    columns = {**CTRL_COLUMNS, "approx_kl": 0.06}
    calm = Profile("sb3", "on-policy", threshold_overrides={"kl-high": {"watch": 0.1, "warn": 0.2}})
    assert "kl-high" in rules_found(findings(profile(), draw_rows(columns)))
    assert "kl-high" not in rules_found(findings(calm, draw_rows(columns)))


def test_persistence_can_be_changed() -> None:
    """`k` and `n` say how many points out of how many raise a rule."""
    columns = {**CTRL_COLUMNS, "clip_fraction": lambda i: 0.45 if i == 30 else 0.1}
    at_once = Profile("sb3", "on-policy", threshold_overrides={"clip-high": {"k": 1, "n": 1}})
    assert "clip-high" not in rules_found(findings(profile(), draw_rows(columns)))
    assert "clip-high" in rules_found(findings(at_once, draw_rows(columns)))


@pytest.mark.parametrize(
    ("every", "logged", "row"), [(1, 1, 40), (7, 1, 41), (30, 1, 59), (0, 1, 40), (4, 2, 46)]
)
def test_a_rule_may_be_asked_at_one_of_so_many_points(every: int, logged: int, row: int) -> None:
    """Points of its own metric: the 42nd row is each seventh, and the 24th value each fourth."""
    columns = {
        **CTRL_COLUMNS,
        "approx_kl": lambda i: math.nan if i % logged else 0.4 if i >= 40 else 0.01,
    }
    made = [
        Row(each.mark, {name: value for name, value in each.values.items() if value == value})
        for each in draw_rows(columns)
    ]
    now_and_then = {"kl-high": {"every": every, "k": 1, "n": 1}}
    found = findings(Profile("sb3", "on-policy", threshold_overrides=now_and_then), made)
    assert first_finding(found, "kl-high").opened.row == row


@pytest.mark.parametrize(("own", "row"), [({"n": 4}, 30), ({"k": 5}, 34)])
def test_one_number_of_the_settings_is_enough(own: dict[str, float], row: int) -> None:
    """`n` alone means one point out of n, `k` alone k in a row."""
    columns = {**CTRL_COLUMNS, "clip_fraction": lambda i: 0.45 if i >= 30 else 0.1}
    about = Profile("sb3", "on-policy", threshold_overrides={"clip-high": own})
    assert first_finding(findings(about, draw_rows(columns)), "clip-high").opened.row == row


def test_a_muted_rule_is_silent_and_listed() -> None:
    """A muted rule finds nothing, and is among those that were skipped, with the reason."""
    muted = Profile("sb3", "on-policy", muted=frozenset({"kl-high"}))
    judge = judged(muted, draw_rows({**CTRL_COLUMNS, "approx_kl": 0.5}))
    assert "kl-high" not in rules_found(judge.findings)
    assert ("kl-high", "muted in the settings") in {
        (s.rule, s.reason) for s in judge.skipped_rules()
    }


def test_a_rule_that_the_console_speaks_for_is_not_skipped() -> None:
    """Its metric is not logged, but the trainer has printed what it is about."""
    judge = Judge(profile())
    rows = [Row(row.mark, {"reward_mean": 1.0}) for row in draw_rows(CTRL_COLUMNS, 5)]
    for row in rows:
        judge.add_row(row)
    assert "ratio-off" in {skipped.rule for skipped in judge.skipped_rules()}
    judge.add_text_evidence("ratio-off:warn", "skipped a batch", rows[-1].mark)
    assert "ratio-off" not in {skipped.rule for skipped in judge.skipped_rules()}


def test_a_goal_makes_a_plateau_a_fault_and_its_height_a_success() -> None:
    """Below the goal a plateau is warned of; at the goal the run has succeeded."""
    columns = {**CTRL_COLUMNS, "reward_mean": lambda i: min(20.0 + 10 * i, 200.0)}
    missed = findings(Profile("sb3", "on-policy", goal=400.0), draw_rows(columns, 75))
    reached = findings(Profile("sb3", "on-policy", goal=200.0), draw_rows(columns, 75))
    assert first_finding(missed, "reward-plateau").severity == Severity.WARN
    assert rules_found(reached, Severity.INFO) == {"at-ceiling"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["value_loss"], "value loss became NaN"),
        (["value_loss", "approx_kl"], "value loss became NaN, and 1 more: approx KL"),
        (["approx_kl", "rlhf_reward"], "RLHF reward has always been NaN, and 1 more: approx KL"),
    ],
)
def test_all_metrics_that_became_nan_at_once_are_named(names: list[str], message: str) -> None:
    """The first by itself; the others are counted."""
    rows = draw_rows({"reward_mean": 1.0, "value_loss": 0.5, "approx_kl": 0.01}, 5)
    rows = [*rows, Row(Mark(5, 5, 5.0), {"reward_mean": 1.0} | dict.fromkeys(names, math.nan))]
    assert first_finding(findings(profile(), rows), "non-finite").message == message


def test_rules_that_cannot_look_say_why() -> None:
    """Missing concepts and other families are named."""
    judge = judged(profile(), draw_rows({"approx_kl": 0.01, "explained_variance": 0.5}, 3))
    reasons = {skipped.rule: skipped.reason for skipped in judge.skipped_rules()}
    assert reasons["entropy-collapsed"] == "entropy or sequence entropy not logged"
    assert reasons["zero-variance-groups"] == "not for on-policy actor-critics"
    assert not any(reason.startswith(" ") for reason in reasons.values())  # some look at no metric


def test_thresholds_that_no_run_has_confirmed_only_ask_to_watch() -> None:
    """What is shown of a rule of grade D is at most `watch`, however far off the value is."""
    columns = {**GRPO_COLUMNS, "resp_len_mean": lambda i: 100 + 30.0 * i, "reward_mean": 0.3}
    finding = first_finding(findings(profile("grpo"), draw_rows(columns)), "length-runaway")
    assert finding.severity == Severity.WATCH


def test_a_crash_is_as_severe_whatever_the_algorithm() -> None:
    """It is measured by the run's own noise and drawdowns; so is NaN by itself."""
    columns = {"reward_mean": fallen, "value_loss": lambda i: math.nan if i == 55 else 1.0}
    by_algorithm = {
        algorithm: findings(Profile("sb3", family, algo=algorithm), draw_rows(columns))
        for algorithm, family in (("PPO", "on-policy"), ("DQN", "value-based"))
    }
    assert first_finding(by_algorithm["PPO"], "reward-crash").severity == Severity.CRIT
    assert first_finding(by_algorithm["DQN"], "reward-crash").severity == Severity.CRIT
    assert first_finding(by_algorithm["DQN"], "non-finite").severity == Severity.CRIT


def test_a_curriculum_makes_a_fall_of_the_reward_a_level_less_severe() -> None:
    """Where the task grows harder on the way the same crash does not turn the run red."""
    softer = Settings().with_curriculum().thresholds
    columns = {**CTRL_COLUMNS, "reward_mean": fallen}
    usual = first_finding(findings(Profile("sb3", "on-policy"), draw_rows(columns)), "reward-crash")
    eased = first_finding(
        findings(Profile("sb3", "on-policy", threshold_overrides=softer), draw_rows(columns)),
        "reward-crash",
    )
    assert (usual.severity, eased.severity) == (Severity.CRIT, Severity.WARN)


@pytest.mark.parametrize("lessons", [3, 1])
def test_a_logged_curriculum_is_told_by_its_lessons(lessons: int) -> None:
    """Once they have gone on; a lesson that never changes is none."""
    columns = {**CTRL_COLUMNS, "reward_mean": fallen}
    columns["curriculum_stage"] = lambda at: float(min(at // 40, lessons - 1))
    rows = draw_rows(columns)
    severity = Severity.WARN if lessons > 1 else Severity.CRIT
    for own in ({}, Settings().with_curriculum().thresholds if lessons > 1 else {}):
        found = findings(Profile("sb3", "on-policy", threshold_overrides=own), rows)
        assert first_finding(found, "reward-crash").severity == severity


@pytest.mark.parametrize(
    ("counter", "by"),
    [("iteration", 1), ("iteration", 125), ("n_updates", 10), ("n_updates", 1250)],
)
def test_chance_among_few_samples_is_no_fault(counter: str, by: int) -> None:
    """Of eight steps an update the explained variance says nothing, of a thousand it does.

    The log tells it by its count of rollouts, or, as in event files, of epochs only.
    """
    columns = {**CTRL_COLUMNS, "explained_variance": -0.5, "value_loss": 60.0, "reward_mean": flat}
    columns |= {"n_updates": None, counter: lambda i: float(by * i)}
    finding = first_finding(findings(profile(), draw_rows(columns)), "critic-not-learning")
    assert finding.severity == (Severity.WATCH if by in (125, 1250) else Severity.WARN)


def test_three_remarks_of_a_rule_are_enough() -> None:
    """A remark that comes and goes is made three times; a warning may still follow.

    Each is an event of one update, and over after three calm ones, not a state that lasts.
    """
    spikes = {20 + 12 * number: 0.08 for number in range(20)}
    columns = {**CTRL_COLUMNS, "approx_kl": lambda i: spikes.get(i, 0.008)}
    found = [f for f in findings(profile(), draw_rows(columns, 260)) if f.rule == "kl-spike"]
    assert [f.severity for f in found] == [Severity.WATCH] * 3
    assert [f.since_word for f in found] == ["at"] * 3
    assert [f.cleared.row - f.since.row for f in found if f.cleared] == [3] * 3


def test_a_jump_that_stays_is_no_event() -> None:
    """One high value loss is a spike at a step; staying there is a state since then."""
    columns = {**CTRL_COLUMNS, "value_loss": lambda i: 5.0 if i < 30 else 400.0}
    columns["reward_mean"] = flat
    first, *_ = findings(profile(), draw_rows(columns, 31))
    lasting = first_finding(findings(profile(), draw_rows(columns, 45)), "value-loss-spike")
    assert (first.rule, first.since_word) == ("value-loss-spike", "at")
    assert (lasting.severity, lasting.since_word) == (Severity.WARN, "since")


def test_advice_speaks_the_trainers_language_with_the_runs_values() -> None:
    """Option names, present values and defaults are those of the trainer at hand."""
    columns = SICK_COLUMNS | {"lr": 0.03}
    sb3 = first_finding(findings(profile(learning_rate=0.03), draw_rows(columns)), "kl-high")
    verl = first_finding(findings(profile(trainer="rsl_rl"), draw_rows(SICK_COLUMNS)), "kl-high")
    assert "learning_rate (0.03 now; SB3's default is 0.0003)" in sb3.remedies[0]
    assert any("num_learning_epochs" in sentence for sentence in verl.remedies)


def test_limits_follow_the_runs_own_configuration() -> None:
    """A user who set target_kl 0.1 has said what KL he finds normal."""
    columns = {**CTRL_COLUMNS, "approx_kl": 0.06}
    assert "kl-high" not in rules_found(findings(profile(target_kl=0.1), draw_rows(columns)))


def test_a_users_rule_on_a_tag() -> None:
    """An own rule looks at any concept or tag, with its own words and persistence."""
    own = CustomRule("slow-env", "env/step_ms", above=20.0, say="the environment is slow", k=2, n=3)
    judge = Judge(profile(), (own,))
    for row in draw_rows({**CTRL_COLUMNS, "tag:env/step_ms": lambda i: 30.0 if i > 20 else 5.0}):
        judge.add_row(row)
    finding = first_finding(judge.findings, "slow-env")
    assert (finding.since.row, finding.opened.row) == (21, 22)
    assert (finding.message, finding.limit) == ("the environment is slow", 20.0)


def test_a_finding_names_the_ratio_that_should_be() -> None:
    """Beside the one that is."""
    judge = Judge(profile("rlhf"))
    for row in draw_rows({**CTRL_COLUMNS, "ratio_mean": 1.6}):
        judge.add_row(row)
    finding = first_finding(judge.findings, "ratio-off")
    assert (finding.value, finding.limit) == (1.6, 1.0)


def test_a_rule_of_the_users_may_speak_at_one_row_and_clear_at_the_next() -> None:
    """With k, n and clear of 1; it opens again at the next bad row."""
    own = CustomRule("slow-env", "env/step_ms", above=20.0, k=1, n=1, clear=1)
    judge = Judge(profile(), (own,))
    for row in draw_rows({**CTRL_COLUMNS, "tag:env/step_ms": lambda i: 30.0 if i == 21 else 5.0}):
        judge.add_row(row)
    finding = first_finding(judge.findings, "slow-env")
    assert (finding.since.row, finding.opened.row) == (21, 21)
    assert finding.cleared is not None and finding.cleared.row == 22


@pytest.mark.parametrize(("falls_at", "words"), [(37, "within 40 updates"), (38, "over the run")])
def test_a_collapse_of_entropy_says_how_fast_it_was(falls_at: int, words: str) -> None:
    """Forty updates are still a number that tells something."""
    columns = {**CTRL_COLUMNS, "entropy": lambda i: 0.69 if i < falls_at else 0.001}
    judge = Judge(profile())
    for row in draw_rows(columns):
        judge.add_row(row)
    finding = first_finding(judge.findings, "entropy-collapsed")
    assert words in finding.message


def test_nan_names_the_three_metrics_that_rose_most_before_it() -> None:
    """By their peak in ten updates over the usual of the thirty before; a little is not named."""
    peaks = {"value_loss": 40.0, "grad_norm": 90.0, "approx_kl": 20.0, "total_loss": 15.0}

    def rising(peak: float) -> DrawnColumn:
        return lambda i: (peak if i == 45 else 1.0) + jitter(i, 0.02)

    columns = {
        **CTRL_COLUMNS,
        **{name: rising(peak) for name, peak in peaks.items()},
        "explained_variance": lambda i: 0.9 + jitter(i, 0.02),
        "policy_loss": lambda i: float("nan") if i >= 50 else -0.01,
    }
    judge = Judge(profile())
    for row in draw_rows(columns):
        judge.add_row(row)
    finding = first_finding(judge.findings, "non-finite")
    rose = [line for line in finding.evidence if line.startswith("before it, ")]
    assert [line.split(" rose to ")[0] for line in rose] == [
        "before it, grad norm",
        "before it, value loss",
        "before it, approx KL",
    ]


def test_text_is_evidence() -> None:
    """A line of the console opens a finding that numbers do not clear."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    judge.add_text_evidence(
        "non-finite:crit", "ValueError: Expected parameter logits", Mark(9, 10_000, 0.0)
    )
    for row in draw_rows(CTRL_COLUMNS, 30)[10:]:
        judge.add_row(row)
    finding = first_finding(judge.findings, "non-finite")
    assert finding.cleared is None and "logits" in finding.evidence[-1]


def test_what_its_numbers_show_too_is_not_over_when_the_console_falls_silent() -> None:
    """A ratio that stays far off is one finding, of which the console spoke once."""
    judge, far = Judge(profile("rlhf")), {**HEALTHY_COLUMNS["rlhf"], "ratio_mean": 1.7}
    for row in draw_rows(far, 60):
        judge.add_row(row)
        if row.mark.row == 9:
            judge.add_text_evidence("ratio-off:warn", "skipped a batch", row.mark)
    (finding,) = (each for each in judge.findings if each.rule == "ratio-off")
    assert finding.cleared is None


def test_the_ten_newest_lines_stand_beside_a_finding() -> None:
    """However many are printed."""
    judge = judged(profile("rlhf"), draw_rows({"lr": 1.0}, 10))
    for name in "abcdefghijklmno":
        judge.add_text_evidence("ratio-off:warn", f"skipped batch {name}", Mark(9, 10_000, 0.0))
    lines = first_finding(judge.findings, "ratio-off").evidence
    assert lines == tuple(f"skipped batch {name}" for name in "fghijklmno")


def test_of_lines_that_differ_in_numbers_the_newest_stands_beside_a_finding() -> None:
    """TRL warns of each batch that it skips."""
    judge = judged(profile("rlhf"), draw_rows({"lr": 1.0}, 10))
    for ratio in (13.42, 289.25, 6553.3):
        line = f"The average ratio of batch ({ratio}) exceeds threshold 10.00. Skipping batch."
        judge.add_text_evidence("ratio-off:warn", line, Mark(9, 10_000, 0.0))
    assert first_finding(judge.findings, "ratio-off").evidence == (line,)


def test_only_skipped_batches_are_worse_the_third_time() -> None:
    """Other warnings stay warnings, however often they are printed."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    for _ in range(5):
        judge.add_text_evidence("numpy-warning:watch", "overflow", Mark(9, 10_000, 0.0))
    assert first_finding(judge.findings, "numpy-warning").severity == Severity.WATCH


@pytest.mark.parametrize(("every", "severity"), [(1, Severity.WATCH), (6, Severity.INFO)])
def test_a_kl_limit_may_end_an_update_now_and_then(every: int, severity: Severity) -> None:
    """That is what it is for: nearly every update is another matter (SB3, Spinning Up)."""
    judge = Judge(profile())
    for row in draw_rows(CTRL_COLUMNS, 30):
        if row.mark.row % every == 0:
            line = "Early stopping at step 17 due to reaching max kl."
            judge.add_text_evidence("kl-early-stop:info", line, row.mark)
        judge.add_row(row)
    assert first_finding(judge.findings, "kl-early-stop").severity == severity


def test_a_warning_that_is_printed_again_lasts_from_then_on() -> None:
    """It is over twenty rows after the last time."""
    judge = Judge(profile())
    for row in draw_rows(CTRL_COLUMNS, 60):
        judge.add_row(row)
        if row.mark.row in (9, 25):
            judge.add_text_evidence("numpy-warning:watch", "overflow", row.mark)
    cleared = first_finding(judge.findings, "numpy-warning").cleared
    assert cleared is not None and cleared.row == 46


@pytest.mark.parametrize(
    ("lines", "rule", "message"),
    [
        ([("dead", KILLED)], "killed", KILLED),
        ([("out-of-memory:crit", "CUDA out of memory"), ("dead", KILLED)], "out-of-memory",
         "CUDA out of memory"),
        ([("crashed:crit", TRACEBACK), ("dead", KILLED)], "crashed", KILLED),
        ([("crashed:crit", TRACEBACK), ("last-error", "ValueError: boom"), ("dead", KILLED)],
         "crashed", "ValueError: boom"),
        ([("crashed:crit", TRACEBACK), ("non-finite:crit", "ValueError: invalid values: nan")],
         "crashed", "ValueError: invalid values: nan"),
    ],
)  # fmt: skip
def test_a_death_is_told_by_what_caused_it(
    lines: list[tuple[str, str]], rule: str, message: str
) -> None:
    """What the shell says of it names it only where nothing else does."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    for kind, text in lines:
        kind = DEATH if kind == "dead" else kind
        judge.add_text_evidence(kind, text, Mark(9, 10_000, 0.0))
    told = [each for each in judge.findings if each.rule in ("killed", "out-of-memory", "crashed")]
    assert [(each.rule, each.message) for each in told] == [(rule, message)]


def test_a_warning_in_the_text_fades() -> None:
    """A warning that is not printed again is over after twenty rows."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    judge.add_text_evidence("numpy-warning:watch", "RuntimeWarning: overflow", Mark(9, 10_000, 0.0))
    for row in draw_rows(CTRL_COLUMNS, 60)[10:]:
        judge.add_row(row)
    cleared = first_finding(judge.findings, "numpy-warning").cleared
    assert cleared is not None and cleared.row == 30


def test_a_traceback_is_named_by_its_last_line_and_forgiven_when_the_run_goes_on() -> None:
    """An exception that was caught did not end the run."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    mark = Mark(9, 10_000, 0.0)
    judge.add_text_evidence("crashed:crit", "Traceback (most recent call last):", mark)
    judge.add_text_evidence("last-error", "ValueError: bad action", mark)
    finding = first_finding(judge.findings, "crashed")
    assert (finding.message, finding.severity) == ("ValueError: bad action", Severity.CRIT)
    assert finding.evidence[1:] == ("ValueError: bad action",)
    judge.add_text_evidence("crashed:crit", "Traceback (most recent call last):", mark)
    judge.add_text_evidence("last-error", "KeyError: 3", mark)
    assert finding.evidence[1:] == ("ValueError: bad action", "KeyError: 3")
    for row in draw_rows(CTRL_COLUMNS, 13)[10:]:
        judge.add_row(row)
    assert finding.cleared is not None and finding.cleared.row == 12


@pytest.mark.parametrize(("later", "left"), [(0.025, Severity.WATCH), (0.2, Severity.WARN)])
def test_a_finding_eases_when_less_is_called_for_long(later: float, left: Severity) -> None:
    """At once up, slowly down: a KL of 0.5 for some updates, then one closer to its limit.

    Nothing eases while the reward does not pay for it.
    """

    def kl(row: int) -> float:
        return 0.01 if row < 10 else 0.5 if row < 20 else later

    columns = {**CTRL_COLUMNS, "approx_kl": kl, "clip_fraction": 0.1}
    eased = 10 + TOLERATED_ROWS + EASED_AFTER
    for rows, expected in ((eased - 2, Severity.CRIT), (eased + 5, left)):
        finding = first_finding(findings(profile(), draw_rows(columns, rows)), "kl-high")
        assert (finding.severity, finding.worst_severity) == (expected, Severity.CRIT)
    idle = findings(profile(), draw_rows({**columns, "reward_mean": flat}, eased + 5))
    assert first_finding(idle, "kl-high").severity == Severity.CRIT
    finding = first_finding(findings(profile(), draw_rows(columns, eased + 5)), "kl-high")
    assert [change.severity for change in finding.changes][-1] == left


@pytest.mark.parametrize("pays", [False, True])
def test_large_updates_that_the_reward_long_pays_for_are_less_severe(pays: bool) -> None:
    """Clipping of 60 % is critical, until the reward has climbed in spite of it for long."""

    def reward(row: int) -> float:
        return (20.0 + 4.0 * row if pays else 20.0) + gauss(row, 3.0)

    columns = {**CTRL_COLUMNS, "reward_mean": reward, "clip_fraction": 0.6}
    finding = first_finding(findings(profile(), draw_rows(columns, 120)), "clip-high")
    assert finding.worst_severity == Severity.CRIT
    assert finding.severity == (Severity.WARN if pays else Severity.CRIT)


def test_who_stops_a_run_by_hand_has_not_crashed_it() -> None:
    """Ctrl-C prints a traceback, too."""
    judge = judged(profile(), draw_rows(CTRL_COLUMNS, 10))
    mark = Mark(9, 10_000, 0.0)
    judge.add_text_evidence("crashed:crit", "Traceback (most recent call last):", mark)
    assert first_finding(judge.findings, "crashed").cleared is None
    judge.add_text_evidence("last-error", "KeyboardInterrupt", mark)
    assert first_finding(judge.findings, "crashed").cleared == mark


def test_a_crash_before_a_run_is_stopped_by_hand_stays_told() -> None:
    """The same console goes on after it, for some rows; then comes Ctrl-C."""
    rows = draw_rows(CTRL_COLUMNS, 20)
    judge = judged(profile(), rows[:10])
    judge.add_text_evidence("crashed:crit", "Traceback (most recent call last):", rows[9].mark)
    judge.add_text_evidence("last-error", "ValueError: boom", rows[9].mark)
    for row in rows[10:]:
        judge.add_row(row)
    judge.add_text_evidence("crashed:crit", "Traceback (most recent call last):", rows[19].mark)
    judge.add_text_evidence("last-error", "KeyboardInterrupt", rows[19].mark)
    told = [each for each in judge.findings if each.rule == "crashed"]
    assert told[0].opened == rows[9].mark
    assert told[0].cleared is not None and told[0].cleared.row > rows[9].mark.row


@pytest.mark.parametrize(("seconds", "rule"), [(2.0, None), (30.0, "slow")])
def test_speed_is_judged_by_the_rows_own_clock(seconds: float, rule: str | None) -> None:
    """Fifteen times slower than at the start is worth a line; the same speed is not."""
    fast, late = draw_rows(CTRL_COLUMNS, 30), draw_rows(CTRL_COLUMNS, 30, seconds=seconds)
    start = fast[-1].mark.time
    moved = [
        Row(Mark(30 + n, 31_000 + 1000 * n, start + seconds * (n + 1)), row.values)
        for n, row in enumerate(late)
    ]
    spoken = rules_found(findings(profile(), [*fast, *moved]), Severity.INFO) & {"slow"}
    assert spoken == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("metric", "grown", "words"),
    [
        ("ep_len", 1.6, "; episodes are 1.6 times longer"),
        ("ep_len", 1.4, "of the speed at the start"),
        ("resp_len_mean", 2.0, "; completions are 2 times longer"),
        ("lr", 2.0, "of the speed at the start"),
    ],
)
def test_a_slower_run_names_what_became_longer(metric: str, grown: float, words: str) -> None:
    """By half or more since its first five updates: that explains it."""
    columns = {**CTRL_COLUMNS, "ep_len": None, metric: lambda i: 100.0 if i < 30 else 100.0 * grown}
    judge = Judge(profile())
    for row in draw_rows(columns):
        time = 2.0 * min(row.mark.row, 30) + 30.0 * max(0, row.mark.row - 30)
        judge.add_row(row._replace(mark=row.mark._replace(time=1e9 + time)))
    assert first_finding(judge.findings, "slow").message.endswith(words)


def test_memory_is_bounded() -> None:
    """Neither many rows nor many names make a judge grow without end."""
    judge = Judge(profile())
    for number in range(3000):
        values = {
            **draw_rows(CTRL_COLUMNS, 1)[0].values,
            f"tag:{number}": math.nan if number % 7 else 1.0,
        }
        judge.add_row(Row(Mark(number, number, 0.0), values))
    run = judge.run
    assert len(run.histories) <= 512
    assert max(len(history.recent) for history in run.histories.values()) <= 128


@pytest.mark.parametrize("logged", ["reward_mean", "lr", "entropy", "value_loss"])
def test_the_end_of_a_run_asks_only_about_what_it_logs(logged: str) -> None:
    """A rule that weighs the whole run is not asked where its metric is missing."""
    judge = Judge(profile())
    for row in draw_rows({logged: lambda i: 1.0 + i}, 30):
        judge.add_row(row)
    judge.end_run()
    assert judge._failed_rules == {}


def test_a_rule_that_breaks_at_the_end_of_a_short_run_takes_down_only_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked again there, as no more points will come; the run ends all the same."""
    broken = "completions-truncated"
    monkeypatch.setattr(internal_errors, "report_internal_error", lambda where, error: "broken")

    def judge_of_two_rows() -> Judge:
        judge = Judge(profile("grpo"))
        for row in draw_rows({"reward_mean": 0.1, "truncated_frac": 0.95}, 2):
            judge.add_row(row)
        return judge

    whole = judge_of_two_rows()
    whole.end_run()
    assert broken in rules_found(whole.findings, Severity.WATCH)

    def fail(run: JudgedRun, limits: RuleLimits) -> None:
        raise ZeroDivisionError

    judge = judge_of_two_rows()
    judge._rules = tuple(
        each._replace(rule=each.rule._replace(assess=fail)) if each.rule.id == broken else each
        for each in judge._rules
    )
    judge.end_run()
    assert judge._failed_rules == {broken: "broken"}
    assert broken not in rules_found(judge.findings, Severity.INFO)


def test_a_spike_of_a_loss_of_nothing_ends_where_nothing_is_lost_again() -> None:
    """Each of two is the first of its kind, and neither stays up."""
    columns = {"reward_mean": lambda i: float(i), "value_loss": lambda i: 5.0 * (i in (30, 60))}
    judge = judged(Profile("custom", "on-policy"), draw_rows(columns, 100))
    spikes = [found.message for found in judge.findings if found.rule == "value-loss-spike"]
    assert ["one spike so far" in message for message in spikes] == [True, True]
