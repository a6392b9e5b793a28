"""A reward that gains nothing: what is said of it, and of a training that begins anew."""

from __future__ import annotations

import random

import pytest

from ppo_top.model import Profile, Sample, Severity
from ppo_top.rules.advice.symptoms import facts_seen
from ppo_top.rules.judge import Judge
from tests.rules.courses import dips, flat, hill, sinks
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    DrawnColumn,
    DrawnColumns,
    draw_rows,
    gauss,
    jitter,
    judged,
    profile,
)

RULE = "reward-never-moves"


def course(reward: DrawnColumn) -> DrawnColumns:
    """A control task with this reward."""
    return {**CTRL_COLUMNS, "reward_mean": reward, "ep_len": 20.0}


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (flat, "reward has not moved from 23.4"),
        (dips, "reward swings between 4.08 and 21, with no gain over its start (20.7),"),
        (sinks, "reward has not risen above 20.7, where it began,"),
        (7.0, "reward is exactly 7"),
        (0.0, "no success seen yet"),
    ],
)
def test_what_is_said_of_it(reward: DrawnColumn, said: str) -> None:
    """Where it is now, by its start: the same, the same after all, below, or equal throughout."""
    judge = judged(profile(), draw_rows(course(reward)))
    judge.end_run()
    messages = [f.message for f in judge.findings if f.rule == RULE]
    assert messages[-1].startswith(f"{said} in ")


def test_it_is_stated_anew_each_time_it_is_twice_as_old() -> None:
    """Nobody reads "in the first 20 updates" after 400 of them; at the end it counts them all."""
    judge = Judge(profile())
    for row in draw_rows(course(0.0), 197):
        judge.add_row(row)
    (finding,) = (each for each in judge.findings if each.rule == RULE)
    raised = {change.mark.row for change in finding.changes}
    restated = [each for each in finding.versions if each.row not in raised]
    assert [each.row - finding.opened.row for each in restated] == [10, 20, 40, 80, 160]
    assert all(f"in the first {each.row + 1} updates" in each.message for each in restated)
    judge.end_run()
    assert finding.message == "no success seen yet in the first 197 updates"


def test_the_diagnosis_that_it_is_part_of_tells_it_anew_too() -> None:
    """Its evidence does not count 52 updates where the finding itself counts all of them."""
    columns = {**GRPO_COLUMNS, "frac_zero_std": 1.0, "reward_mean": 0.5, "reward_std": 0.0}
    judge = judged(profile("grpo"), draw_rows(columns, 100))
    judge.end_run()
    (diagnosis,) = (each for each in judge.findings if each.rule == "no-learning-signal")
    (told,) = (line for line in diagnosis.evidence if "gets the same reward" in line)
    assert "in the first 100 updates" in told


def test_few_rewards_far_above_their_start_may_be_a_gain() -> None:
    """Eight evaluations of five episodes: what rose may be noise, but so may be that it did not."""
    rewards = [9.8, 9.0, 76.4, 37.6, 46.2, 81.6, 73.0, 61.6]
    columns: DrawnColumns = {
        "critic_loss": 0.5,
        "reward_mean": lambda i: rewards[i],
        "episode": lambda i: 40.0 * (i + 1),
    }
    rows = draw_rows(columns, len(rewards))
    judge = judged(profile("value-based"), rows)
    judge.end_run()
    (found,) = [finding for finding in judge.findings if finding.rule == RULE]
    assert found.worst_severity == Severity.WATCH
    assert found.message.startswith(
        "reward swings between 9 and 81.6, with no sure gain over its start (9.8), in "
    )


def test_what_was_at_its_ceiling_has_gained() -> None:
    """However far it swings afterwards: an agent whose episodes end at 1,000 steps, or soon."""
    draw = random.Random(5)

    def reward(i: int) -> float:
        if i < 12:
            return 14.0 + jitter(i, 3)
        return 1000.0 if i < 40 else draw.choice((9.0, 40.0, 60.0, 300.0, 1000.0))

    judge = judged(profile("unknown"), draw_rows({"reward_mean": reward}, 600))
    judge.end_run()
    found = {finding.rule for finding in judge.findings}
    assert "at-ceiling" in found
    assert RULE not in found
    assert facts_seen(judge.run)["reward had risen before"]


@pytest.mark.parametrize(("reward", "rounding"), [(0.0, 3e-17), (7.0, 9e-16), (-200.0, 3e-14)])
def test_equal_rewards_may_differ_by_what_their_mean_is_rounded(
    reward: float, rounding: float
) -> None:
    """A mean of many that are 0.1 each is 0.1 or 0.10000000000000002."""

    def found(apart: float) -> list[tuple[Severity, str]]:
        judge = judged(profile(), draw_rows(course(lambda i: reward + apart * (i % 3 - 1))))
        judge.end_run()
        return [(f.worst_severity, f.message) for f in judge.findings if f.rule == RULE]

    assert found(rounding) == found(0.0) != []
    assert found(1e5 * rounding) != found(0.0)


@pytest.mark.parametrize("reward", [0.01, 0.1, 0.7, -1.1])
def test_equal_rewards_of_single_episodes_have_no_gain(reward: float) -> None:
    """Means of ten and of twenty of them differ by rounding alone: that is no ceiling, either."""
    judge = judged(profile("unknown"), draw_rows({"reward_mean": reward}, 1_000))
    judge.end_run()
    assert [(f.rule, f.cleared) for f in judge.findings] == [(RULE, None)]


@pytest.mark.parametrize(
    ("score", "said"),
    [(0.5, "every completion gets the same reward, 0.5, in "), (0.0, "no success seen yet in ")],
)
def test_what_is_said_of_a_score_that_never_differs(score: float, said: str) -> None:
    """A language model's may be something or nothing."""
    judge = judged(profile("grpo"), draw_rows({**GRPO_COLUMNS, "reward_mean": score}, 70))
    messages = [f.message for f in judge.findings if f.rule == RULE]
    assert messages and messages[0].startswith(said)


@pytest.mark.parametrize(("size", "said"), [(11.0, "swings between"), (9.0, "has not moved from")])
def test_a_reward_swings_that_goes_up_and_down_by_half_of_its_size(size: float, said: str) -> None:
    """What does less has not moved."""
    judge = judged(
        profile(), draw_rows(course(lambda i: 20.0 + jitter(i, 0.2) + size * (i % 3 == 1)))
    )
    judge.end_run()
    messages = [f.message for f in judge.findings if f.rule == RULE]
    assert messages and said in messages[-1]


def test_a_reward_mostly_above_its_start_is_not_said_to_have_gained_nothing() -> None:
    """Its rows may be moving means, so that it may be chance: that is all that is said."""
    about = Profile("sb3", "on-policy")
    rewards: DrawnColumns = {"reward_mean": lambda i: jitter(i, 1.0) + 5.0 * (i >= 3)}
    judge = judged(about, draw_rows({**CTRL_COLUMNS, **rewards, "ep_len": 50.0}, 30))
    judge.end_run()
    (found,) = (f for f in judge.findings if f.rule == RULE and f.cleared is None)
    assert found.message == "reward rose above -0.0212, but by no more than noise"
    assert found.severity == Severity.WATCH


@pytest.mark.parametrize("seed", range(30))
def test_a_reward_that_may_have_risen_is_not_called_unlearned_on_the_way(seed: int) -> None:
    """Whether a row is a mean of 100 episodes is unknown, so the noise may be large."""
    rises: DrawnColumns = {
        "reward_mean": lambda i: 20.0 + 3.0 * i + gauss(i + 1000 * seed, 8.0),
        "ep_len": 200.0,
    }
    judge = judged(profile(), draw_rows(rises, 40))
    assert RULE not in {finding.rule for finding in judge.findings}


def level_at_end(reward: DrawnColumn, rows: int, sample: Sample | None = None) -> Severity:
    """How severe the finding is at the end of a run of single rows."""
    about = Profile("sb3", "on-policy", samples={} if sample is None else {"reward_mean": sample})
    columns: DrawnColumns = {"reward_mean": reward, "n_episodes": lambda i: 9.0 * (i + 1)}
    judge = judged(about, draw_rows(columns, rows))
    judge.end_run()
    (found,) = (f for f in judge.findings if f.rule == RULE and f.cleared is None)
    return found.severity


@pytest.mark.parametrize(("rows", "severity"), [(20, Severity.WATCH), (18, Severity.WARN)])
def test_a_last_quarter_above_all_of_the_first_may_be_a_gain(rows: int, severity: Severity) -> None:
    """Noise of unknown rows falls as a policy learns; six points beside six are told by ranks."""

    def calms_down(i: int) -> float:
        if i < rows - 7:
            return [-1300.0, -900.0, -1700.0, -600.0][i % 4]
        return -450.0 - 100.0 * (i % 2)

    assert level_at_end(calms_down, rows) == severity


@pytest.mark.parametrize(("rows", "severity"), [(15, Severity.WATCH), (14, Severity.WARN)])
def test_two_first_rows_below_all_others_may_be_a_gain(rows: int, severity: Severity) -> None:
    """A noisy reward that was learned at once: one run in a hundred begins so by chance."""

    def at_once(i: int) -> float:
        return [3.0, 11.0][i] if i < 2 else [45.0, 20.0, 36.0, 24.0, 52.0][i % 5]

    assert level_at_end(at_once, rows, Sample("update")) == severity


def wrong_way(reward: DrawnColumn, sample: Sample) -> str:
    """What is said of a reward below its start, of one episode an update."""
    columns: DrawnColumns = {**course(reward), "ep_len": 1000.0}
    about = profile()._replace(samples={"reward_mean": sample})
    judge = judged(about, draw_rows(columns, 240))
    return next(f.message for f in judge.findings if f.rule == "reward-wrong-way")


def test_what_is_said_to_have_been_its_start_was_held() -> None:
    """Not the first three points, where the next seven lie elsewhere."""

    def reward(i: int) -> float:
        return (150.0 if i < 3 else 100.0 if i < 30 else 40.0) + jitter(i, 1.0)

    said = wrong_way(reward, Sample("update"))
    start, now = map(float, said.removeprefix("reward is below where it started: ").split(" -> "))
    assert abs(start - 100.0) < 2.0
    assert abs(now - 40.0) < 2.0


def test_a_reward_that_sank_is_told_by_the_quarters_that_were_compared() -> None:
    """It began where it is now, but most of the first quarter was higher."""
    said = wrong_way(lambda i: 7.0 * (12 <= i < 100) + gauss(i, 3.0), Sample())
    quarters = said.removeprefix("reward sank from the first quarter of the log to the last: ")
    first, last = map(float, quarters.split(" -> "))
    assert first > 4.0 > 2.0 > last


@pytest.mark.parametrize(("gain", "noise", "last"), [(8.0, 2.0, 20), (20.0, 4.0, 12)])
def test_a_gain_that_was_lost_is_not_said_to_be_none(gain: float, noise: float, last: int) -> None:
    """Over the whole run little is left of it, but the report tells how it fell."""

    def lost(i: int) -> float:
        return jitter(i, noise) + (gain if 6 <= i <= last else 0.0)

    judge = judged(profile(), draw_rows(course(lost)))
    judge.end_run()
    told = {f.rule for f in judge.findings if f.cleared is None}
    assert "reward-crash" in told and RULE not in told


def worst_after_restart(judge: Judge) -> Severity:
    """How severe the finding is in a flat training that begins after what was judged."""
    judge.restart()
    for row in draw_rows(course(flat)):
        judge.add_row(row)
    return max(f.severity for f in judge.findings if f.rule == RULE and f.cleared is None)


def test_a_training_that_begins_anew_is_judged_by_itself() -> None:
    """That the same was said of the one before, and that it was cleared there, does not count."""
    about = profile(total_timesteps=60_000)
    assert worst_after_restart(judged(about, draw_rows(course(flat)))) == Severity.WARN


@pytest.mark.parametrize(
    ("left", "said"),
    [(0.2, "% of what was learned)"), (-0.3, "(all that was learned, and more)")],
)
def test_what_is_said_of_a_fall(left: float, said: str) -> None:
    """How much of the gain is lost; below its start more than that is."""
    lost = hill(90.0, 30, left)["reward_mean"]
    judge = judged(profile(), draw_rows(course(lost)))
    messages = [f.message for f in judge.findings if f.rule == "reward-crash"]
    assert messages[-1].startswith("reward fell from 9") and messages[-1].endswith(said)
