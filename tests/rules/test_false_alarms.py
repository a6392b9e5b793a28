"""How seldom the rules speak wrongly on drawn healthy courses, and how often rightly."""

from __future__ import annotations

import io
import math
import random

import pytest

from benchmarks.false_alarms import (
    MIN_UPDATES_TO_WARN,
    draw_course,
    measure_delays,
    measure_false_alarms,
)
from ppo_top.model import Mark, Profile, Row, Sample, Severity
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from tests.support.drawn_runs import SB3_TAGS, gauss
from tests.support.growing_logs import DEMO_LOGS_FOLDER

WARN, CRIT = Severity.WARN, Severity.CRIT


def test_healthy_courses_are_hardly_ever_warned_of() -> None:
    """All rules together: thousands of updates to a wrong warning, and no critical one."""
    found = measure_false_alarms(courses=120, max_rows=3000, seed=1000)
    assert found.updates > 60_000
    assert found.updates_per(found.warn) >= MIN_UPDATES_TO_WARN
    assert not found.crit


def test_planted_faults_are_found() -> None:
    """Silence does not win: at a noise up to three times the gain, in runs as short as 30 rows."""
    delays = measure_delays(courses=40, max_rows=600)
    for fault, least in (("falls back", 0.5), ("falls below its start", 0.5)):
        found = [delay for delay in delays[fault] if delay < math.inf]
        assert len(found) >= least * len(delays[fault]), fault


def test_a_course_is_the_same_for_the_same_seed() -> None:
    """Figures can be repeated."""
    assert draw_course(7, 500) == draw_course(7, 500)


def update(row: int, reward: float, steps: int = 2000, **others: float) -> Row:
    """A row with the mean reward of episodes of 100 steps each."""
    values = {"reward_mean": reward, "ep_len": 100.0, **others}
    return Row(Mark(row, steps * (row + 1), math.nan), values)


def reward_findings(rewards: list[float], last_step: int = 0, **known: str) -> dict[str, Severity]:
    """Rule -> severity of what stands open at the end of updates of 20 episodes each."""
    config = {"total_timesteps": last_step} if last_step else {}
    sample = Sample(known.get("kind", "update"), 0)
    judge = Judge(Profile("sb3", "on-policy", config, samples={"reward_mean": sample}))
    for row, reward in enumerate(rewards):
        judge.add_row(
            Row(Mark(row, 2000 * (row + 1), math.nan), {"reward_mean": reward, "ep_len": 100.0})
        )
    return {f.rule: f.severity for f in judge.findings if f.cleared is None and f.severity > 1}


def learned(rows: int = 60, noise: float = 3.0) -> list[float]:
    """A reward that rises from 0 to 100 in 30 updates and stays there."""
    return [100.0 * min(1.0, row / 30) + gauss(row, noise) for row in range(rows)]


@pytest.mark.parametrize(
    ("lost", "severity"),
    [(0.45, None), (0.55, WARN), (0.57, WARN), (0.66, CRIT)],
)
def test_a_fall_counts_by_the_share_of_the_gain(lost: float, severity: Severity | None) -> None:
    """Half of the gain is a warning, six tenths are critical; a few per cent less is neither."""
    fallen = [100.0 * (1 - lost) + gauss(100 + row, 1.0) for row in range(8)]
    assert reward_findings([*learned(noise=1.0), *fallen]).get("reward-crash") == severity


def test_a_third_of_the_gain_counts_only_if_it_stays_lost() -> None:
    """Dips such as 319 -> 239 are normal; one that lasts more than ten updates is not."""
    for rows, severity in ((8, None), (20, WARN)):
        fallen = [58.0 + gauss(100 + row, 1.0) for row in range(rows)]
        found = reward_findings([*learned(noise=1.0), *fallen])
        assert found.get("reward-crash") == severity


def test_a_fall_within_the_noise_is_none() -> None:
    """The same fall under noise as large as a quarter of the gain is chance."""
    fallen = [45.0 + gauss(100 + row, 25.0) for row in range(4)]
    assert "reward-crash" not in reward_findings([*learned(noise=25.0), *fallen])


@pytest.mark.parametrize(("factor", "severity"), [(1.0, WARN), (1000.0, WARN), (1e-4, WARN)])
@pytest.mark.parametrize("offset", [0.0, 1000.0, -5000.0])
def test_scale_and_offset_of_rewards_change_nothing(
    factor: float, offset: float, severity: Severity
) -> None:
    """Rewards times 1,000 or plus 1,000 are the same training."""
    fallen = [44.0 + gauss(100 + row, 1.0) for row in range(5)]
    course = [factor * (reward + offset) for reward in (*learned(noise=1.0), *fallen)]
    assert reward_findings(course) == {"reward-crash": severity}


@pytest.mark.parametrize(
    ("progress", "severity"),
    [(0.48, None), (0.53, Severity.WATCH), (0.88, Severity.WATCH), (0.96, WARN)],
)
def test_no_gain_counts_by_the_budget(progress: float, severity: Severity | None) -> None:
    """Nothing learned: to watch at half of the run, a warning near its end."""
    flat = [20.0 + gauss(row, 2.0) for row in range(60)]
    found = reward_findings(flat, last_step=int(2000 * 60 / progress))
    assert found.get("reward-never-moves") == severity


def test_a_run_of_unknown_length_is_only_watched_until_it_is_complete() -> None:
    """Sixty updates may be the beginning, unless the log says that there are no more."""
    judge = Judge(Profile("sb3", "on-policy", samples={"reward_mean": Sample("update")}))
    for row in range(60):
        judge.add_row(update(row, 20.0 + gauss(row, 2.0)))
    assert [f.severity for f in judge.findings] == [Severity.WATCH]
    judge.end_run()
    found = [f.severity for f in judge.findings if f.rule == "reward-never-moves"]
    assert found == [WARN]


def findings_at_the_end(rewards: list[float], family: str = "on-policy") -> dict[str, Severity]:
    """Rule -> severity in a complete run of single episodes of 100 steps."""
    judge = Judge(Profile("monitor", family, samples={"reward_mean": Sample("episode")}))
    for row, reward in enumerate(rewards):
        judge.add_row(
            Row(Mark(row, 100 * (row + 1), math.nan), {"reward_mean": reward, "ep_len": 100.0})
        )
    judge.end_run()
    return {f.rule: f.severity for f in judge.findings if f.cleared is None}


@pytest.mark.parametrize(("episodes", "severity"), [(58, None), (62, WARN)])
def test_a_complete_run_is_judged_from_six_blocks_on(
    episodes: int, severity: Severity | None
) -> None:
    """Sixty single episodes in which nothing was learned are enough, once there are no more."""
    flat = [20.0 + gauss(row, 2.0) for row in range(episodes)]
    assert findings_at_the_end(flat).get("reward-never-moves") == severity


@pytest.mark.parametrize(("episodes", "severity"), [(38, None), (42, WARN)])
def test_a_replay_learner_is_judged_from_four_blocks_on(
    episodes: int, severity: Severity | None
) -> None:
    """It learns from each episode many times, so forty of them are enough."""
    flat = [20.0 + gauss(row, 2.0) for row in range(episodes)]
    found = findings_at_the_end(flat, "off-policy")
    assert found.get("reward-never-moves") == severity


def alternating(levels: list[float]) -> list[float]:
    """Ten episodes at each level, 3 above or below it: means of ten have a noise of 1."""
    return [level + 3.0 * (-1) ** number for level in levels for number in range(10)]


@pytest.mark.parametrize("family", ["on-policy", "off-policy"])
@pytest.mark.parametrize(("rise", "severity"), [(2.4, WARN), (2.6, None)])
def test_a_whole_run_must_have_gained_plainly(
    family: str, rise: float, severity: Severity | None
) -> None:
    """2.5 standard deviations between the first quarter and the last."""
    course = alternating([0.0, 0.0, 0.0, 0.0, rise, rise, rise, rise])
    assert findings_at_the_end(course, family).get("reward-never-moves") == severity


@pytest.mark.parametrize(("end", "severity"), [(2.0, WARN), (2.2, None)])
def test_a_gain_that_is_not_kept_to_the_end(end: float, severity: Severity | None) -> None:
    """No single point is low enough, but the last part is 2.5 deviations below the best before."""
    course = alternating([*[0.0] * 3, *[4.6] * 6, *[end] * 3])
    assert findings_at_the_end(course).get("reward-crash") == severity


RISE_AND_DIP = [0.0, 0.8, 2.4, 2.8, 4.6, 5.2, 4.8, 7.2, 8.6, 5.4, 4.4]


@pytest.mark.parametrize(("end", "severity"), [(4.6, None), (1.0, WARN)])
def test_a_dip_at_the_end_of_a_long_rise_is_no_fall(end: float, severity: Severity | None) -> None:
    """The end lies far below the best, but keeps more than half of what was gained."""
    assert findings_at_the_end(alternating([*RISE_AND_DIP, end])).get("reward-crash") == severity


@pytest.mark.parametrize(("end", "severity"), [(3.8, WARN), (4.6, None)])
def test_a_small_loss_at_the_end_is_no_fall(end: float, severity: Severity | None) -> None:
    """Half of a gain that came early must be gone."""
    course = alternating([0.0, *[8.0] * 8, *[end] * 3])
    assert findings_at_the_end(course).get("reward-crash") == severity


@pytest.mark.parametrize(("rise", "least", "most"), [(0.0, 0.8, 1.0), (3.0, 0.0, 0.2)])
def test_the_error_rate_of_what_is_said_at_the_end(rise: float, least: float, most: float) -> None:
    """Without a gain it is missed in 7 of 100; a gain of 1.5 deviations is denied as seldom."""
    draw = random.Random(1)
    runs = [[rise * row / 80 + draw.gauss(0.0, 2.0) for row in range(80)] for _ in range(60)]
    said = sum(findings_at_the_end(run).get("reward-never-moves", 0) >= WARN for run in runs)
    assert least <= said / len(runs) <= most


def test_a_constant_reward_is_a_warning_at_the_end() -> None:
    """Twenty episodes of exactly 0 may be the beginning; a complete run of them is not."""
    assert findings_at_the_end([0.0] * 30)["reward-never-moves"] == WARN


@pytest.mark.parametrize(
    ("rows", "length", "severity"), [(11, 0, Severity.WATCH), (13, 0, WARN), (11, 22_000, WARN)]
)
def test_a_few_rows_of_unknown_length_may_be_a_part(
    rows: int, length: int, severity: Severity
) -> None:
    """Somebody's excerpt: what it says of a whole training is no warning."""
    config = {"total_timesteps": length} if length else {}
    judge = Judge(Profile("pfrl", "off-policy", config, samples={"reward_mean": Sample("update")}))
    for row in range(rows):
        values = {"reward_mean": 20.0 + gauss(row, 2.0), "episode": 50.0 * (row + 1)}
        judge.add_row(Row(Mark(row, 2000 * (row + 1), math.nan), values))
    judge.end_run()
    assert [f.severity for f in judge.findings if f.rule == "reward-never-moves"] == [severity]


@pytest.mark.parametrize(
    ("restart", "words"), [(None, "in a log that begins midway"), (25, "since it was resumed")]
)
def test_a_later_part_says_which_it_is(restart: int | None, words: str) -> None:
    """No restart is spoken of where the log only begins late."""
    judge = Judge(Profile("sb3", "on-policy", samples={"reward_mean": Sample("update")}))
    first = 0 if restart else 100_000
    for row in range(80):
        if row == restart:
            judge.restart()
        made = update(row, 20.0 + gauss(row, 2.0))
        judge.add_row(made._replace(mark=made.mark._replace(step=first + made.mark.step)))
    judge.end_run()
    said = [f.message for f in judge.findings if f.rule == "reward-never-moves"]
    assert said[-1].endswith(words)


def test_a_rise_that_was_seen_is_not_denied_again() -> None:
    """Once the rule was taken back, it is something to watch at most."""
    judge = Judge(Profile("sb3", "on-policy", samples={"reward_mean": Sample("update")}))
    judge.add_row(update(0, 20.0))
    judge.run.closed_rows["reward-never-moves"] = 1
    for row in range(1, 60):
        judge.add_row(update(row, 20.0 + gauss(row, 2.0)))
    judge.end_run()
    found = [f.severity for f in judge.findings if f.rule == "reward-never-moves"]
    assert found == [Severity.WATCH]


@pytest.mark.parametrize(("rows", "said"), [(9, False), (12, True)])
def test_a_run_that_ended_without_any_loss_was_never_trained(rows: int, said: bool) -> None:
    """Until then, a trainer that logs losses may still be collecting."""
    judge = Judge(Profile("sb3", "value-based", algo="DQN", tags=SB3_TAGS))
    for row in range(rows):
        judge.add_row(update(row, 20.0 + gauss(row, 2.0), exploration_rate=0.05))
    assert "not-training" not in {f.rule for f in judge.findings}
    judge.end_run()
    assert ("not-training" in {f.rule for f in judge.findings}) is said


@pytest.mark.parametrize(
    ("trainer", "reward", "other", "said"),
    [
        ("cleanrl", "episodic_return", "SPS", False),
        ("cleanrl", "charts/episodic_return", "charts/SPS", True),
        ("sb3", "r", "eval/mean_reward", False),
        ("sb3", "rollout/ep_rew_mean", "eval/mean_reward", True),
    ],
)
def test_a_log_that_never_holds_losses_does_not_say_that_none_is_trained(
    trainer: str, reward: str, other: str, said: bool
) -> None:
    """CleanRL's console has returns and the speed, SB3's monitors and evaluations returns only."""
    tags = {"reward_mean": reward, "fps": other}
    judge = Judge(Profile(trainer, "unknown", tags=tags))
    for row in range(120):
        judge.add_row(update(row, 20.0 + gauss(row, 2.0), fps=1000.0))
    assert ("not-training" in {f.rule for f in judge.findings}) is said


def test_a_dip_at_the_very_start_is_no_wrong_way() -> None:
    """The first learned policy may be worse than chance for a while: -0.1, -0.6, then 1.8."""
    dip = [-0.1 - 0.05 * row if row < 10 else -0.6 + 0.06 * (row - 10) for row in range(50)]
    course = [reward + gauss(row, 0.03) for row, reward in enumerate(dip)]
    for rows in range(8, 50):
        assert reward_findings(course[:rows], last_step=100_000).get("reward-wrong-way", 0) < WARN


def test_below_the_start_is_a_warning_once_a_quarter_of_the_run_is_over() -> None:
    """A level held for ten updates and then lost for good, though nothing was gained before."""
    course = [(0.45 if row < 15 else -0.5) + gauss(row, 0.05) for row in range(40)]
    assert reward_findings(course, last_step=80_000)["reward-wrong-way"] == WARN


@pytest.mark.parametrize(
    ("family", "progress", "severity"),
    [
        ("on-policy", 0.58, WARN),
        ("off-policy", 0.58, Severity.WATCH),
        ("off-policy", 0.75, WARN),
        ("value-based", 0.58, Severity.WATCH),
    ],
)
def test_below_the_random_start_counts_later_with_a_buffer(
    family: str, progress: float, severity: Severity
) -> None:
    """The first policies that are learned from random actions are often worse than those."""
    course = [(0.45 if row < 15 else -0.5) + gauss(row, 0.05) for row in range(40)]
    config = {"total_timesteps": int(2000 * 40 / progress)}
    judge = Judge(
        Profile("sb3", family, config, samples={"reward_mean": Sample("update")}, algo="X")
    )
    for row, reward in enumerate(course):
        judge.add_row(update(row, reward, critic_loss=1.0, actor_loss=1.0))
    found = {f.rule: f.severity for f in judge.findings if f.cleared is None}
    assert found["reward-wrong-way"] == severity


def test_below_the_start_of_unknown_length_is_a_warning_at_the_end() -> None:
    """Until then it may be the dip of a replay algorithm."""
    judge = Judge(Profile("monitor", "unknown", samples={"reward_mean": Sample("update")}))
    for row in range(40):
        judge.add_row(update(row, (0.45 if row < 15 else -0.5) + gauss(row, 0.05)))
    assert opened_severity(judge, "reward-wrong-way") == Severity.WATCH
    judge.end_run()
    assert opened_severity(judge, "reward-wrong-way") == WARN


def opened_severity(judge: Judge, rule: str) -> Severity | None:
    """How severe a rule's open finding is."""
    found = {f.rule: f.severity for f in judge.findings if f.cleared is None}
    return found.get(rule)


@pytest.mark.parametrize(("trained_from", "rule"), [(14, "reward-wrong-way"), (3, "reward-crash")])
def test_what_random_actions_reached_is_not_lost(trained_from: int, rule: str) -> None:
    """A best from before the first loss was none of the policy's, which only fell."""
    judge = Judge(Profile("sb3", "off-policy", samples={"reward_mean": Sample("update")}))
    for row in range(40):
        values = {
            "reward_mean": (5.0 if 4 < row < 12 else 3.0 - 2.0 * (row > 15)) + gauss(row, 0.1)
        }
        values |= {"critic_loss": 1.0} if row >= trained_from else {}
        judge.add_row(Row(Mark(row, 2000 * (row + 1), math.nan), values | {"ep_len": 100.0}))
    found = {f.rule for f in judge.findings}
    assert found & {"reward-crash", "reward-wrong-way"} == {rule}


def test_success_is_not_said_beside_a_finding() -> None:
    """At its ceiling with NaN in the loss is no success."""
    solved = Profile("sb3", "on-policy", goal=100.0, samples={"reward_mean": Sample("update")})
    judge = Judge(solved)
    for row, reward in enumerate(learned(noise=0.5)):
        values = {
            "reward_mean": reward,
            "ep_len": 100.0,
            "value_loss": math.nan if row > 20 else 1.0,
        }
        judge.add_row(Row(Mark(row, 2000 * (row + 1), math.nan), values))
    assert "at-ceiling" not in {f.rule for f in judge.findings if f.cleared is None}


def test_success_and_train_longer_are_never_said_together() -> None:
    """Evaluation is at its top, while training, which explores, still rises towards it."""
    session = load_session([DEMO_LOGS_FOLDER / "sb3_cartpole"], Settings(), io.StringIO())
    assert session is not None
    (run,) = session.runs.values()
    said = {finding.rule for finding in run.findings if finding.cleared is None}
    assert said == {"at-ceiling"}
