"""Runs of control tasks that go well in an odd way: resumed, settled, of an adaptive rate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ppo_top.model import Finding, Sample, Severity
from ppo_top.rules.judge import Judge
from tests.rules.courses import flat
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    DrawnColumn,
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


def learnt(until: int) -> Callable[[int], float]:
    """A reward that climbs until a row and then stays there."""
    return lambda i: 20 + 6.0 * min(i, until) + jitter(i, 5)


SETTLED_COLUMNS: DrawnColumns = {
    **CTRL_COLUMNS,
    "reward_mean": lambda i: min(0.76, 0.02 * i) + gauss(i, 0.02),
    "ep_len": 30.0,
    "entropy": lambda i: max(0.004, 1.38 * 0.93**i),
    "approx_kl": lambda i: 0.01 if i < 60 else 3e-7,
    "clip_fraction": lambda i: 0.08 if i < 60 else 0.0,
    "policy_loss": lambda i: -0.01 if i < 60 else -1e-6,
}
"""A slippery lake: the policy becomes certain of its best actions, chance decides the rest."""


def test_a_policy_that_has_settled_on_what_it_learned_is_not_dead() -> None:
    """Its KL is 0 and its entropy gone, and its reward, noisy as it is, is the best there is."""
    assert rules_found(findings(profile(), draw_rows(SETTLED_COLUMNS, 200)), WARN) == set()


def test_a_policy_that_became_certain_and_lost_what_it_had_is_dead() -> None:
    """The same with the reward gone is what the rule is for."""
    lost = {**SETTLED_COLUMNS, "reward_mean": lambda i: min(0.76, 0.02 * i) if i < 60 else 0.1}
    assert "policy-collapsed" in rules_found(findings(profile(), draw_rows(lost, 100)), CRIT)


def test_most_episodes_succeed_and_few_fail() -> None:
    """ML-Agents logs the distribution of returns: its tail is below once a policy is good."""
    returns: DrawnColumns = {"reward_p1": 0.4, "reward_p50": 2.74, "reward_p99": 2.87}
    assert "long-tails" not in rules_found(
        findings(profile(trainer="ml-agents"), draw_rows({**CTRL_COLUMNS, **returns}, 60))
    )


def test_few_long_episodes_a_row_are_no_moving_mean() -> None:
    """RLlib logged the mean of an iteration's episodes before it smoothed over a hundred."""
    columns: DrawnColumns = {
        "reward_mean": lambda i: 300.0 + 18.0 * i + gauss(i, 200.0 + 5.0 * i),
        "ep_len": 333.3,
    }
    samples = {"reward_mean": Sample("window", 100)}
    about = profile("value-based", "rllib")._replace(samples=samples)
    judge = judged(about, draw_rows(columns, 260))
    judge.end_run()
    assert rules_found([each for each in judge.findings if each.cleared is None]) == set()


def test_a_plain_policy_gradients_loss_may_be_large() -> None:
    """VPG's is a mean of log-probabilities times advantages: it has no ratio, which is near 1."""
    columns: DrawnColumns = {
        "reward_mean": learnt(40), "policy_loss": lambda i: gauss(i, 7.0), "value_loss": 200.0
    }  # fmt: skip
    about = profile("on-policy", "unknown", algorithm="vpg")._replace(algo="VPG")
    assert rules_found(findings(about, draw_rows(columns, 80)), WARN) == set()


def resumed(at: int, columns: DrawnColumns, count: int) -> list[Finding]:
    """What is found in a run that is resumed at a row."""
    judge = Judge(profile())
    for row in draw_rows(columns, count):
        if row.mark.row == at:
            judge.restart()
        judge.add_row(row)
    return judge.findings


PLATEAU_COLUMNS: DrawnColumns = {
    **CTRL_COLUMNS,
    "reward_mean": learnt(60),
    "ep_len": 40.0,
    "entropy": lambda i: 0.69 - 0.004 * min(i, 60) + jitter(i, 0.002),
    "explained_variance": 0.9,
}


def test_a_resumed_run_is_not_measured_as_if_it_had_just_begun() -> None:
    """Entropy and reward stay where they are after a resume: the policy had learned before."""
    assert rules_found(resumed(80, PLATEAU_COLUMNS, 140), WARN) == set()


def test_a_log_that_begins_in_the_middle_is_not_that_of_a_new_policy() -> None:
    """Nor when the earlier part is in another place: its first step is far from 0."""
    made = draw_rows(PLATEAU_COLUMNS, 140)[80:]
    renumbered = [row._replace(mark=row.mark._replace(row=at)) for at, row in enumerate(made)]
    assert rules_found(judged(profile(), renumbered).findings, WARN) == set()


def test_a_run_that_starts_over_is_measured_as_a_new_one() -> None:
    """A restart from step 0 has nothing to go on from: a reward that stays there is a fault."""
    columns = {**CTRL_COLUMNS, "reward_mean": 0.0, "ep_len": 20.0, "entropy": 0.692}
    made = draw_rows(columns, 100)
    judge = Judge(profile(total_timesteps=60_000))
    for at, row in enumerate(made):
        if at == 40:
            judge.restart()
        mark = row.mark._replace(step=1000 * (at % 40 + 1 if at < 40 else at - 39))
        judge.add_row(row._replace(mark=mark))
    again = [finding for finding in judge.findings if finding.since.row >= 40]
    assert {"reward-never-moves", "entropy-not-falling"} <= rules_found(again, WARN)


def test_the_same_reward_above_0_may_be_the_most_there_is() -> None:
    """A policy that was loaded balances the pole in every episode: a remark, no warning."""
    solved = {**CTRL_COLUMNS, "reward_mean": 500.0, "ep_len": 500.0, "entropy": 0.3}
    found = findings(profile(total_timesteps=200_000), draw_rows(solved, 120))
    mine = [finding for finding in found if finding.rule == "reward-never-moves"]
    assert [finding.severity for finding in mine] == [WATCH]
    assert mine[0].message.startswith("reward is exactly 500")
    assert rules_found(found, WARN) == set()


def test_entropy_that_is_held_while_the_reward_climbs_is_left_alone() -> None:
    """Nine tenths of the entropy may be needed to the end; what counts is whether it learns."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: 20 + 4.0 * i + jitter(i, 3),
        "entropy": lambda i: max(0.63, 0.69 - 0.01 * i) + jitter(i, 0.001),
    }
    assert rules_found(findings(profile(), draw_rows(columns, 90)), WARN) == set()


def test_a_long_run_that_learns_slowly_is_not_stuck() -> None:
    """Of thousands of updates no twenty bring much, in entropy or in reward."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: 2.0 + 0.02 * i + gauss(i, 0.2),
        "ep_len": 10.0,
        "entropy": lambda i: 2.89 - 0.0002 * i,
    }
    found = findings(
        profile("on-policy", "cleanrl", total_timesteps=10_000_000), draw_rows(columns, 1200)
    )
    assert "entropy-not-falling" not in rules_found(found, WATCH)


@pytest.mark.parametrize("dimensions", [1, 3, 6, 17])
def test_entropy_of_gaussian_actions_is_known_without_their_spread(dimensions: int) -> None:
    """CleanRL logs no action std: entropy begins at 1.42 a dimension, and may stay or fall."""
    held: DrawnColumns = {**CTRL_COLUMNS, "entropy": lambda i: 1.41894 * dimensions - 1e-4 * i}
    gone: DrawnColumns = {
        **CTRL_COLUMNS,
        "entropy": lambda i: dimensions * (1.41894 - 0.002 * i - 4e-4 * i * i),
    }
    for columns in (held, gone):
        made = draw_rows({**columns, "reward_mean": learnt(20)}, 120)
        assert not rules_found(findings(profile("on-policy", "cleanrl"), made)) & {
            "entropy-not-falling", "entropy-collapsed", "policy-collapsed"
        }  # fmt: skip


@pytest.mark.parametrize("trainer", ["rsl_rl", "skrl", "rl_games"])
def test_a_rate_that_follows_the_kl_may_leap(trainer: str) -> None:
    """Twenty minibatches may each change it by half: neither a cut nor a jump of the schedule."""
    rates = [1e-3, 2e-3, 1e-2, 5e-5, 1e-4, 4e-3]
    columns = {
        **CTRL_COLUMNS,
        "approx_kl": None,
        "clip_fraction": None,
        "lr": lambda i: rates[i % 6],
    }
    found = findings(profile("on-policy", trainer), draw_rows(columns, 60))
    spoke = rules_found(found, Severity.INFO)
    assert not {rule for rule in spoke if rule.startswith("learning-rate")}


def test_a_script_of_ones_own_may_print_a_kl_far_below_0() -> None:
    """Nobody knows its estimator: of the plain one the size counts, not the sign."""
    columns = {**CTRL_COLUMNS, "approx_kl": lambda i: 0.01 if i < 20 else -0.6}
    assert "kl-high" in rules_found(
        findings(profile(trainer="custom"), draw_rows(columns, 40)), CRIT
    )


def test_one_step_a_rollout_is_measured_before_it_is_made() -> None:
    """KL and clipping are 0 by construction, and the policy learns all the same."""
    columns = {**CTRL_COLUMNS, "approx_kl": 1e-9, "clip_fraction": 0.0}
    assert rules_found(findings(profile(n_epochs=1), draw_rows(columns)), WARN) == set()


def test_the_loss_of_an_actor_that_maximises_values_has_no_usual_size() -> None:
    """RLlib's SAC calls minus the value of its actions `policy_loss`, as PPO does its own."""
    without = ("approx_kl", "clip_fraction", "explained_variance", "entropy", "value_loss")
    columns = {**CTRL_COLUMNS, **dict.fromkeys(without), "policy_loss": lambda i: -3.0 * i}
    assert rules_found(findings(profile("on-policy", "rllib"), draw_rows(columns)), WARN) == set()


@pytest.mark.parametrize("trainer", ["sheeprl", "torchrl", "torchrl-trainer", "benchmarl"])
def test_a_trainer_may_leave_advantages_as_they_are(trainer: str) -> None:
    """Unless a setting has them normalised, the loss is as large as the returns."""
    without = dict.fromkeys(("approx_kl", "clip_fraction", "explained_variance"))
    columns = {**CTRL_COLUMNS, **without, "policy_loss": lambda i: -5.0 if i > 8 else -0.7}
    rows = draw_rows(columns)
    normalised = profile("on-policy", trainer, normalize_advantage=True)._replace(algo="PPO")
    as_they_are = profile("on-policy", trainer)._replace(algo="PPO")
    assert "policy-loss-positive" in rules_found(findings(normalised, rows), CRIT)
    assert rules_found(findings(as_they_are, rows), WARN) == set()


def test_filling_a_replay_buffer_is_no_measure_of_speed() -> None:
    """Until the first update there is nothing to compute but the environment."""
    names = ("reward_mean", "ep_len")
    made = draw_rows({**{name: CTRL_COLUMNS[name] for name in names}, "critic_loss": late}, 80)
    spent, slower = 0.0, []
    for row in made:
        spent += 1.0 if row.mark.row < 30 else 20.0
        slower.append(row._replace(mark=row.mark._replace(time=1e9 + spent)))
    assert "slow" not in rules_found(judged(profile(trainer="sb3"), slower).findings, Severity.INFO)


def test_slowness_of_a_run_that_logs_no_losses_is_a_line_and_no_alarm() -> None:
    """A monitor file does not say what the program did when it was fast."""
    made = draw_rows({name: CTRL_COLUMNS[name] for name in ("reward_mean", "ep_len")}, 120)
    spent, slower = 0.0, []
    for row in made:
        spent += 1.0 if row.mark.row < 30 else 5.0 if row.mark.row < 60 else 60.0
        slower.append(row._replace(mark=row.mark._replace(time=1e9 + spent)))
    spoken = judged(profile(trainer="sb3"), slower).findings
    assert "slow" in rules_found(spoken, Severity.INFO)
    assert "slow" not in rules_found(spoken, WARN)


def late(i: int) -> float | None:
    """A loss that is logged once there is enough in the buffer."""
    return None if i < 30 else 1.0


def test_the_first_success_of_a_sparse_task_is_no_fault_of_the_critic() -> None:
    """Until then there was nothing to fit, so that any loss is a thousand times the usual one."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: 0.0 if i < 25 else min(0.9, 0.02 * (i - 24)),
        "ep_len": 100.0,
        "value_loss": lambda i: 1e-5 if i < 25 else 0.01,
        "explained_variance": lambda i: 0.3 + 0.004 * i,
    }
    about = profile(total_timesteps=1_000_000)
    assert rules_found(findings(about, draw_rows(columns, 90)), WARN) == set()


def test_a_console_that_counts_iterations_does_not_make_rollouts_of_one_step() -> None:
    """Where a step is an iteration, what a rollout holds is not known: 8 equal rewards settle."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: min(500.0, 20 + 40.0 * i),
        "iteration": lambda i: i + 1.0,
    }
    made = [
        row._replace(mark=row.mark._replace(step=row.mark.row + 1))
        for row in draw_rows(columns, 30)
    ]
    assert "at-ceiling" in rules_found(findings(profile(trainer="custom"), made), Severity.INFO)


def test_an_evaluation_between_two_rollouts_does_not_make_them_small() -> None:
    """SB3 writes a row for it, which holds the epochs of the last update."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: min(500.0, 20 + 40.0 * i),
        "n_updates": lambda i: 10.0 * i,
        "iteration": lambda i: None if i % 5 == 4 else i + 1.0,
    }
    made = []
    for row in draw_rows(columns, 40):
        at = row.mark.row
        step = 2048 * (at + 1) - (2000 if at % 5 == 4 else 0)
        made.append(row._replace(mark=row.mark._replace(step=step)))
    judge = judged(profile(), made)
    assert not judge.run.small_updates
    assert "at-ceiling" in rules_found(judge.findings, Severity.INFO)


def test_what_a_rollout_of_cleanrl_holds_is_what_lies_between_its_losses() -> None:
    """It counts no rollouts; with 512 steps each whether an episode ends decides the loss."""
    made = [
        row._replace(mark=row.mark._replace(step=512 * (row.mark.row + 1)))
        for row in draw_rows(CTRL_COLUMNS)
    ]
    without = ("n_updates", "iteration")
    bare = [
        row._replace(values={name: row.values[name] for name in row.values if name not in without})
        for row in made
    ]
    judge = judged(profile("on-policy", "cleanrl"), bare)
    assert (judge.run.steps_per_update, judge.run.small_updates) == (512.0, True)


def crashing(i: int) -> float:
    """A reward that loses most of what it had, makes good for it, and goes on."""
    return 20 + 5.0 * i if i < 30 or i > 60 else 30 + jitter(i, 2)


def test_a_crash_that_was_made_good_is_over_at_once() -> None:
    """A new best says more than any number of calm updates."""
    found = findings(profile(), draw_rows({**CTRL_COLUMNS, "reward_mean": crashing}, 70))
    crashes = [each for each in found if each.rule == "reward-crash"]
    assert [each.severity >= WARN for each in crashes] == [True]
    assert crashes[0].cleared is not None
    assert crashes[0].cleared.row <= 63


def test_a_crash_like_one_that_was_made_good_is_no_news() -> None:
    """An algorithm that falls and recovers all the time is measured by its own wobble."""

    def climbing(i: int) -> float:
        return jitter(i, 2) + (
            40.0 if 25 < i % 40 < 35 else min(20 + 5.0 * i, 150) + 10 * (i // 40)
        )

    columns = {**CTRL_COLUMNS, "reward_mean": climbing}
    found = findings(profile(), draw_rows(columns, 175))
    crashes = [each for each in found if each.rule == "reward-crash"]
    assert [each.since.row < 40 for each in crashes] == [True]
    assert crashes[0].cleared is not None


UNWATCHED = ("approx_kl", "clip_fraction")


@pytest.mark.parametrize("without", [(), UNWATCHED])
def test_no_sign_of_a_policy_that_is_not_logged_means_nothing(without: tuple[str, ...]) -> None:
    """The environment is blamed only where the learner's own faults would have shown."""
    fallen = {"reward_mean": crashing, "ep_len": crashing}
    columns = {
        name: each for name, each in {**CTRL_COLUMNS, **fallen}.items() if name not in without
    }
    found = {each.rule for each in findings(profile(), draw_rows(columns, 50))}
    assert "reward-crash" in found
    assert ("environment-changed" in found) is not bool(without)


@pytest.mark.parametrize(("family", "speaks"), [("on-policy", False), ("rlhf", True)])
def test_a_long_episode_is_no_stop_of_the_training(family: str, speaks: bool) -> None:
    """The count of episodes stands still while one lasts; that of prompts never does."""
    columns: DrawnColumns = {"reward_mean": learnt(60), "episode": lambda i: 4.0 * min(i, 50)}
    made = draw_rows(columns, 60)
    assert ("updates-stuck" in rules_found(findings(profile(family), made))) is speaks


def test_a_loss_that_grows_with_the_squared_returns_is_no_fault() -> None:
    """The first rows of a script that logs single episodes: too few to call it a gain."""
    columns: DrawnColumns = {
        "reward_mean": lambda i: 1.0 + 0.9 * i,
        "value_loss": lambda i: 0.2 * (1.0 + 0.9 * i) ** 2,
        "explained_variance": 0.05,
        "entropy": lambda i: 1.0 - 0.01 * i,
    }
    steady: DrawnColumns = {**columns, "reward_mean": 1.0}
    assert "value-loss-rising" not in rules_found(findings(profile(), draw_rows(columns, 12)))
    assert "value-loss-rising" in rules_found(findings(profile(), draw_rows(steady, 12)))


@pytest.mark.parametrize(("loss", "speaks"), [(1.0, True), (0.0, False)])
def test_a_loss_of_nothing_cannot_fall(loss: float, speaks: bool) -> None:
    """What logs a value loss of 0 from the start has no critic."""
    columns: DrawnColumns = {"reward_mean": flat, "value_loss": loss, "explained_variance": 0.1}
    assert (
        "value-loss-rising" in rules_found(findings(profile(), draw_rows(columns, 60)))
    ) is speaks


def costs(i: int) -> float:
    """Costs that shrink from 1,600 to 450: returns of thousands for a critic that starts at 0."""
    return -450.0 - 1150.0 * 0.93**i + gauss(i, 60.0)


LARGE_COST_COLUMNS: DrawnColumns = {
    **CTRL_COLUMNS,
    "reward_mean": costs,
    "ep_len": 80.0,
    "value_loss": lambda i: 3e5 * 0.97**i + 3e4 + jitter(i, 1e4),
    "explained_variance": lambda i: 0.002 * i + jitter(i, 0.01),
}


def test_large_costs_that_shrink_are_no_alarm() -> None:
    """The critic lags far behind them, and the policy learns all the same."""
    found = findings(profile(), draw_rows(LARGE_COST_COLUMNS, 60))
    assert rules_found(found, WARN) == set()


def test_large_costs_that_stay_are_an_alarm() -> None:
    """The same critic beside a reward that does not move."""
    stuck = {**LARGE_COST_COLUMNS, "reward_mean": lambda i: -1600.0 + gauss(i, 60.0)}
    assert "reward-scale" in rules_found(findings(profile(), draw_rows(stuck, 60)), WARN)


DETERMINISTIC_COLUMNS: DrawnColumns = {
    **CTRL_COLUMNS,
    "reward_mean": lambda i: -8.4 - 46.0 * 0.4**i + gauss(i, 0.1),
    "ep_len": lambda i: 8.4 + 46.0 * 0.4**i,
    "entropy": lambda i: 1.386 * 0.78**i,
    "approx_kl": lambda i: 0.02 if i < 20 else 1e-9,
    "clip_fraction": lambda i: 0.1 if i < 20 else 0.0,
}
"""A short way is found soon, and then always taken."""


def test_a_policy_that_is_soon_certain_of_a_good_way_has_not_collapsed() -> None:
    """Its entropy is gone within 20 updates; its reward stays the best there was."""
    assert rules_found(findings(profile(), draw_rows(DETERMINISTIC_COLUMNS, 80)), WARN) == set()


def test_a_policy_that_is_soon_certain_of_a_bad_way_has_collapsed() -> None:
    """The same entropy beside a reward that has gained nothing."""
    bad = {**DETERMINISTIC_COLUMNS, "reward_mean": lambda i: -54.0 + gauss(i, 0.5), "ep_len": 54.0}
    assert "policy-collapsed" in rules_found(findings(profile(), draw_rows(bad, 80)), CRIT)


@pytest.mark.parametrize(("start", "alarms"), [(-0.45, False), (-0.13, True)])
def test_a_certain_policy_that_gained_at_once_is_no_alarm(start: float, alarms: bool) -> None:
    """Cards: nearly all there is to gain is gained in five updates, the rest is luck."""
    columns: DrawnColumns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: (start if i < 3 else -0.13) + gauss(i, 0.05),
        "ep_len": 1.0,
        "entropy": lambda i: 0.69 * 0.78**i + 0.01,
        "value_loss": None,
        "explained_variance": None,
    }
    found = rules_found(findings(profile(), draw_rows(columns, 60)), WARN)
    assert bool(found & {"entropy-collapsed", "premature-convergence"}) is alarms


def test_three_updates_that_clip_much_are_no_catastrophe() -> None:
    """A warning, if they follow each other; five of them are critical."""
    columns = {**CTRL_COLUMNS, "clip_fraction": lambda i: 0.7 if 30 <= i < 33 else 0.1}
    assert "clip-high" not in rules_found(findings(profile(), draw_rows(columns, 60)), CRIT)
    columns = {**CTRL_COLUMNS, "clip_fraction": lambda i: 0.7 if 30 <= i < 35 else 0.1}
    assert "clip-high" in rules_found(findings(profile(), draw_rows(columns, 60)), CRIT)


def test_a_small_entropy_coefficient_may_grow_beside_a_reward_that_rises() -> None:
    """Started far below what the task needs it rises by five times: something to watch."""
    columns: DrawnColumns = {
        "reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3),
        "entropy_coef": lambda i: min(0.05, 0.01 * 1.05**i),
        "critic_loss": lambda i: 3.0 + jitter(i, 0.1),
        "actor_loss": lambda i: -20.0 - i,
    }
    found = findings(profile("off-policy"), draw_rows(columns, 60))
    assert rules_found(found, WARN) == set()


@pytest.mark.parametrize("late_entropy", [0.6, 0.01])
def test_zeros_that_stand_for_no_update_are_as_good_as_none(late_entropy: float) -> None:
    """Scripts that log each episode fill up the rows between two updates."""
    logged: dict[str, Callable[[int], float]] = {
        "entropy": lambda i: (0.69 if i < 60 else late_entropy) + jitter(i, 0.005),
        "explained_variance": lambda i: min(0.9, 0.01 * i) + jitter(i, 0.02),
        "policy_loss": lambda i: -0.014 + jitter(i, 0.004),
        "value_loss": lambda i: 60 * 0.96**i + 4 + jitter(i),
    }

    def findings_with(filling: float | None) -> list[Finding]:
        columns: dict[str, DrawnColumn] = {"reward_mean": lambda i: 20 + jitter(i, 5)}
        for name, value in logged.items():
            columns[name] = [value(i) if i % 3 == 2 else filling for i in range(180)]
        return findings(profile(), draw_rows(columns, 180))

    assert findings_with(0.0) == findings_with(None)
    assert ("entropy-collapsed" in rules_found(findings_with(0.0))) is (late_entropy == 0.01)


@pytest.mark.parametrize(("kind", "lucky", "fell"), [("", 3, 0), ("", 4, 1), ("update", 3, 1)])
def test_a_few_lucky_episodes_are_no_gain_that_could_be_lost(
    kind: str, lucky: int, fell: int
) -> None:
    """A row of unknown kind may be a single episode; a mean of many that rises so has risen."""

    def reward(i: int) -> float:
        return (11.0 if 12 <= i < 12 + lucky else 0.0) + jitter(i, 1.5)

    about = profile()._replace(samples={"reward_mean": Sample(kind)})
    judge = judged(about, draw_rows({"reward_mean": reward, "critic_loss": 1.0}, 30))
    assert sum(each.rule == "reward-crash" for each in judge.findings) == fell
