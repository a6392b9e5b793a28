"""What is known of a run at a row: rewards and their ceiling, steps an update, what is recent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ppo_top.model import ConfigValue, Mark, Profile, Row, Sample, Severity
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.reward.course import EVALUATED
from ppo_top.rules.judge import Judge
from tests.rules.courses import fallen, flat, learned, steady_gain, until
from tests.support.drawn_runs import CTRL_COLUMNS, DrawnColumn, DrawnColumns, draw_rows, profile

UPDATES = {"reward_mean": Sample("update")}


def context_of(columns: DrawnColumns, count: int = 30, about: Profile | None = None) -> JudgedRun:
    """What is known after these rows."""
    run = JudgedRun(about or profile())
    for row in draw_rows(columns, count):
        run.add_row(row)
    return run


def test_a_reward_counts_once() -> None:
    """Rows between two rewards hold none."""
    about = Profile("sb3", "on-policy", samples=UPDATES)
    run = context_of({"reward_mean": lambda i: i if i % 3 == 0 else None, "lr": 1.0}, 30, about)
    assert run.reward is not None
    assert run.reward.points == run.reward.count == 10


@pytest.mark.parametrize(("age", "known"), [(0, None), (1, None), (2, 3.0)])
def test_a_value_is_known_for_some_rows(age: int, known: float | None) -> None:
    """As old as is asked for, and no older."""
    run = context_of({"lr": lambda i: 3.0 if i == 27 else None, "entropy": 1.0})
    assert run.value("lr", age) == known


def test_a_value_of_the_row_before_is_still_known() -> None:
    """Unless asked otherwise: losses and rollouts may alternate."""
    run = context_of({"lr": lambda i: 3.0 if i == 28 else None, "entropy": 1.0})
    assert run.value("lr") == 3.0
    assert run.value("lr", 0) is None


@pytest.mark.parametrize(
    ("ceiling", "start", "now", "reached"),
    [
        (500.0, 20.0, 486.0, True),
        (500.0, 20.0, 484.0, False),
        (-100.0, -1000.0, -126.0, True),
        (-100.0, -1000.0, -128.0, False),
    ],
)
def test_a_ceiling_is_reached_at_97_per_cent_of_the_way(
    ceiling: float, start: float, now: float, reached: bool
) -> None:
    """Whatever the sign of the rewards."""
    about = Profile("sb3", "on-policy", {"reward_threshold": ceiling}, samples=UPDATES)
    rewards: DrawnColumns = {"reward_mean": lambda i: (start if i < 10 else now) + 0.01 * i}
    run = context_of(rewards, about=about)
    assert run.at_max is reached


@pytest.mark.parametrize(
    ("newest", "reached"),
    [
        ([1.0] * 8, True),
        ([0.975] * 8, True),
        ([0.965] * 8, False),
        ([1.0] * 5 + [0.88] * 3, True),
        ([1.0] * 5 + [0.86] * 3, False),
    ],
)
def test_a_share_of_successes_has_a_ceiling_of_one(newest: list[float], reached: bool) -> None:
    """Eight rewards near 1, of which few are lower."""
    rewards = [0.2, 0.5, 0.9, 1.0, *newest]
    assert context_of({"reward_mean": rewards}, len(rewards)).at_max is reached


@pytest.mark.parametrize(("count", "reached"), [(7, False), (8, True)])
def test_an_environment_is_solved_by_eight_rewards(count: int, reached: bool) -> None:
    """A few may be luck."""
    about = Profile("sb3", "on-policy", {"env_id": "CartPole-v1"}, samples=UPDATES)
    assert context_of({"reward_mean": 480.0}, count, about).at_max is reached


@pytest.mark.parametrize(("kind", "reached"), [("step", False), ("update", True)])
def test_steps_that_all_pay_the_same_tell_of_no_ceiling(kind: str, reached: bool) -> None:
    """CartPole pays 1 for each, from the first step on."""
    about = Profile("torchrl", "on-policy", samples={"reward_mean": Sample(kind)})
    assert context_of({"reward_mean": 1.0}, 30, about).at_max is reached


def test_rewards_that_can_be_negative_are_no_share_of_successes() -> None:
    """What is near 1 may then still be far from the most there is."""
    rewards = [0.5, 0.9, 1.0, *[0.97, 0.98] * 4]
    assert context_of({"reward_mean": [0.2, *rewards]}, 12).at_max
    assert not context_of({"reward_mean": [-0.2, *rewards]}, 12).at_max


@pytest.mark.parametrize(("count", "reached"), [(13, False), (14, True)])
def test_a_reward_that_no_longer_changes_is_at_its_ceiling(count: int, reached: bool) -> None:
    """Eight equal ones at the best level; none is known beforehand."""
    about = Profile("sb3", "on-policy", samples=UPDATES)
    rewards = [0.0, 30.0, 20.0, 60.0, 90.0, 100.0, *[150.0] * 8]
    assert context_of({"reward_mean": rewards}, count, about).at_max is reached


@pytest.mark.parametrize(
    ("best", "step", "reached"),
    [(150.14, 0.0, True), (150.16, 0.0, False), (150.0, 2e-5, True), (150.0, 2.3e-5, False)],
)
def test_a_ceiling_is_the_best_but_for_a_thousandth_and_equal_but_for_a_millionth(
    best: float, step: float, reached: bool
) -> None:
    """What is far below the best, or still moves, is none."""
    about = Profile("sb3", "on-policy", samples=UPDATES)
    rewards = [0.0, 30.0, 20.0, 60.0, *[best] * 3, *(150.0 - step * i for i in range(8))]
    assert context_of({"reward_mean": rewards}, len(rewards), about).at_max is reached


@pytest.mark.parametrize(
    ("columns", "steps"),
    [
        ({"iteration": lambda i: 4.0 * i}, 250.0),
        ({"n_updates": lambda i: 10.0 * i}, 1000.0),
        ({"n_updates": lambda i: 20.0 * i}, 1000.0),
        ({"n_updates": lambda i: 40.0 * i}, 1000.0),
        ({"n_updates": lambda i: 50.0 * i}, 200.0),
        ({"n_updates": lambda i: 80.0 * i}, 125.0),
        ({"iteration": lambda i: 2.0 * i, "n_updates": lambda i: 80.0 * i}, 500.0),
        ({"iteration": 5.0}, 0.0),
        ({"iteration": lambda i: 2000.0 * i}, 0.0),
        ({"lr": 1.0}, 0.0),
    ],
)
def test_steps_an_update_follow_from_a_counter(columns: DrawnColumns, steps: float) -> None:
    """Of rollouts, or of epochs: ten are SB3's usual update. A row is 1000 steps after another."""
    assert context_of(columns).steps_per_update == steps


def test_an_update_of_one_gradient_step_is_counted_as_such() -> None:
    """A2C makes eight of them from one row to the next; they are no epochs over one rollout."""
    about = Profile("sb3", "on-policy", algo="A2C")
    assert context_of({"n_updates": lambda i: 8.0 * i}, about=about).steps_per_update == 125.0


@pytest.mark.parametrize(
    ("each", "tiny", "small"),
    [(5.2, True, True), (4.8, False, True), (1.03, False, True), (0.97, False, False)],
)
def test_updates_of_few_steps_are_noise(each: float, tiny: bool, small: bool) -> None:
    """Fewer than 200 say nothing of the critic; in fewer than 1000 hardly an episode ends."""
    run = context_of({"iteration": lambda i: each * i})
    assert (run.tiny_updates, run.small_updates) == (tiny, small)


@pytest.mark.parametrize(("first", "resumed"), [(20.5, True), (19.5, False)])
def test_a_log_that_begins_late_is_of_a_resumed_run(first: float, resumed: bool) -> None:
    """More than twenty rows' steps from 0."""
    run = JudgedRun(profile())
    for row in draw_rows({"lr": 1.0}, 3):
        step = int(1000 * (first + row.mark.row))
        run.add_row(row._replace(mark=Mark(row.mark.row, step, row.mark.time)))
    assert run.resumed is resumed


@pytest.mark.parametrize(
    ("steps", "resumed"),
    [((80, 81, 161), False), ((80, 81, 85), False), ((80, 81, 84), True),
     ((80, *range(81, 89), 161), False), ((80, *range(81, 90), 161), True)],
)  # fmt: skip
def test_an_episode_of_one_step_makes_no_resumed_run(steps: Sequence[int], resumed: bool) -> None:
    """Where each row is an episode, the first ten rows tell how long one takes."""
    run = JudgedRun(profile())
    for row, step in enumerate(steps):
        run.add_row(Row(Mark(row, step, 1e9 + row), {"reward_mean": 1.0}))
    assert run.resumed is resumed


@pytest.mark.parametrize(("later", "level"), [(3, Severity.WARN), (4, 0)])
def test_what_has_just_closed_counts_for_three_rows(later: int, level: int) -> None:
    """For diagnoses, and for rules that ask about others."""
    run = context_of({"lr": 1.0}, 10)
    run.last_severities["kl-high"] = Severity.WARN
    run.closed_rows["kl-high"] = run.mark.row - later
    assert run.severity_of("kl-high") == level
    assert run.recently_open() == ({"kl-high"} if level else set())


@pytest.mark.parametrize(("rows", "severity"), [((10, 15, 20), 4), ((10, 15, 21), 3)])
def test_three_skipped_batches_in_ten_rows_are_critical(
    rows: tuple[int, ...], severity: int
) -> None:
    """TRL says on the console that a ratio was far off; once is a warning."""
    judge = Judge(profile("rlhf"))
    for row in draw_rows({"lr": 1.0}, 30):
        judge.add_row(row)
        if row.mark.row in rows:
            judge.add_text_evidence("ratio-off:warn", f"skipped {row.mark.row}", row.mark)
    assert max(f.severity for f in judge.findings if f.rule == "ratio-off") == severity


@pytest.mark.parametrize("is_open", [True, False])
def test_what_the_reward_has_long_paid_for_is_tolerated_while_it_is_open(is_open: bool) -> None:
    """A finding that was open long ago, and is open no more, is not."""
    run = context_of({"reward_mean": lambda i: 10.0 * i}, 60)
    run.opened_rows["kl-high"] = run.mark.row - 50
    if is_open:
        run.open_severities["kl-high"] = Severity.WARN
    assert run.is_tolerated("kl-high") is is_open


@pytest.mark.parametrize(("every", "turned"), [(1, True), (2, False)])
def test_a_mean_that_is_often_of_nothing_has_not_turned_into_no_number(
    every: int, turned: bool
) -> None:
    """Rewards are NaN in rows in which no episode ended."""
    run = context_of({"reward_mean": lambda i: 5.0 if i < 29 and i % every == 0 else math.nan})
    assert run.turned_non_finite("reward_mean") is turned


def test_a_number_too_large_to_square_is_cut() -> None:
    """Whatever its sign; what a row says stays as it is."""
    run = context_of({**CTRL_COLUMNS, "value_loss": 1e200, "policy_loss": -1e200})
    assert run.histories["value_loss"].high == 1e60
    assert run.histories["policy_loss"].low == -1e60


def test_a_history_counts_where_the_newest_row_has_a_value_of_it() -> None:
    """A rule that judges each value once asks for it."""
    run = context_of({"lr": 1.0, "entropy": lambda i: 1.0 if i < 29 else None})
    assert run.in_row(run.histories["lr"]) is run.histories["lr"]
    assert run.in_row(run.histories["entropy"]) is None
    assert run.in_row(None) is None


def test_what_serves_as_the_reward_stands_in_its_place() -> None:
    """A log of wins has no rewards to name, and none names what it does not hold."""
    named = ("reward_mean", "entropy", "approx_kl")
    wins = context_of({"win_rate": lambda i: 0.01 * i, "entropy": 0.6})
    assert wins.judged_as(named) == ("win_rate", "entropy")
    rewards = context_of({"reward_mean": float, "entropy": 0.6})
    assert rewards.judged_as(named) == ("reward_mean", "entropy")


def test_a_speed_is_that_of_two_rows_of_a_segment() -> None:
    """While a run is resumed nothing is computed."""
    run = context_of({"lr": 1.0}, 5)
    assert run.speed == 500.0
    run.restart()
    speeds = []
    for row in draw_rows({"lr": 1.0}, 7)[5:]:
        run.add_row(row._replace(mark=row.mark._replace(time=row.mark.time + 600.0)))
        speeds.append(run.speed)
    assert speeds == [None, 500.0]


@pytest.mark.parametrize(
    ("columns", "family", "few"),
    [
        ({"ep_len": 151.0}, "on-policy", True),
        ({"ep_len": 149.0}, "on-policy", False),
        ({"ep_len": 151.0}, "grpo", False),
        ({"ep_len": 0.0}, "on-policy", False),
        ({"lr": 1.0}, "on-policy", False),
        ({"ep_len": 151.0, "reward_mean": 5.0}, "on-policy", True),
        ({"ep_len": 40_000.0, "reward_mean": float}, "on-policy", False),
    ],
)
def test_few_episodes_are_told_by_their_length(
    columns: DrawnColumns, family: str, few: bool
) -> None:
    """Two hundred in 30,000 steps, unless these are no steps of episodes, or responses."""
    assert context_of(columns, about=profile(family)).few_episodes(200.0) is few


@pytest.mark.parametrize(
    ("steps", "episodes"),
    [
        (lambda i: 5000.0 * (i + 1), 1500.0),
        (lambda i: 5000.0 * (i + 1) if i < 29 else 5000.0, 1451.0),
        (None, 300.0),
    ],
)
def test_a_metric_may_count_the_steps_of_the_environment(
    steps: DrawnColumn, episodes: float
) -> None:
    """Where rows go by something else, as long as it rises; a row holds an episode at least."""
    columns: DrawnColumns = {"reward_mean": float, "ep_len": 100.0, "step": steps}
    run = context_of(columns, about=Profile("sb3", "on-policy", samples=UPDATES))
    assert run.reward is not None
    assert run.reward.episodes == pytest.approx(episodes)


@pytest.mark.parametrize(
    ("count", "config", "ended", "part"),
    [(11, {}, True, True), (12, {}, True, False), (11, {}, False, False),
     (11, {"total_timesteps": 60_000}, True, False)],
)  # fmt: skip
def test_a_log_of_a_few_rows_that_states_no_length_may_be_a_part(
    count: int, config: dict[str, ConfigValue], ended: bool, part: bool
) -> None:
    """Somebody pasted it, and there is no more."""
    run = context_of({"reward_mean": float}, count, Profile("sb3", "on-policy", config))
    run.ended = ended
    assert run.may_be_part(12.0) is part


@pytest.mark.parametrize(("age", "evaluated"), [(0, True), (1, True), (2, False)])
def test_a_reward_is_evaluated_in_its_row_or_the_next(age: int, evaluated: bool) -> None:
    """Rules about evaluations are asked then."""
    columns: DrawnColumns = {
        "reward_mean": float,
        "eval_reward_mean": lambda i: 5.0 if i == 29 - age else None,
    }
    assert bool(context_of(columns).reward_state & EVALUATED) is evaluated


@pytest.mark.parametrize(
    ("columns", "gone", "stopped"),
    [
        ({"value_loss": until(20, 1.0), "lr": until(20, 1.0)}, 10, True),
        ({"value_loss": until(21, 1.0), "lr": until(21, 1.0)}, 9, False),
        ({"value_loss": until(20, 1.0, 7), "lr": until(20, 1.0, 7)}, 15, False),
        ({"value_loss": until(20, 1.0)}, 0, False),
        ({"lr": until(20, 1.0)}, 0, False),
    ],
)
def test_updates_have_stopped_if_none_is_logged_for_long(
    columns: DrawnColumns, gone: int, stopped: bool
) -> None:
    """Neither a loss nor a rate for ten rows, and six times as long as usual.

    A loss alone may be left out for being NaN, and a rate alone is no update.
    """
    run = context_of({"reward_mean": float, **columns})
    assert (run.rows_without_updates, run.updates_stopped) == (gone, stopped)


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (learned, {"gained", "keeps_gain", "reward_pays", "learned", "flat", "stuck"}),
        (steady_gain, {"gained", "keeps_gain", "reward_pays", "learned", "rising"}),
        (fallen, {"gained", "falling", "stuck", "flat"}),
        (flat, {"flat", "stuck", "gains_nothing"}),
        (None, {"gains_nothing"}),
    ],
)
def test_what_the_reward_says_of_a_run(reward: DrawnColumn, said: set[str]) -> None:
    """It rises, falls or stays, keeps what it gained, or has gained nothing."""
    run = context_of({"reward_mean": reward, "lr": 1.0}, 60, Profile("sb3", "on-policy", {}))
    names = ("gained", "keeps_gain", "reward_pays", "learned", "rising", "falling", "flat", "stuck",
             "gains_nothing")  # fmt: skip
    assert {name for name in names if getattr(run, name)} == said


def test_a_run_of_tiny_updates_may_be_judged_unlike_the_row_before() -> None:
    """Though its reward gains nothing."""
    tiny = context_of({"reward_mean": flat, "iteration": lambda i: 10.0 * i}, 60)
    assert tiny.tiny_updates and not tiny.gains_nothing


def test_a_reward_that_was_taken_apart_is_that_of_new_episodes() -> None:
    """Its levels are not those in the log."""
    samples = {"reward_mean": Sample("window", 100)}
    counted: DrawnColumns = {
        "reward_mean": 5.0,
        "ep_len": 100.0,
        "episode": lambda i: 10.0 * i + 10,
    }
    about = Profile("sb3", "on-policy", samples=samples)
    assert context_of(counted, about=about).reward_words == "reward of new episodes"
    assert context_of({"reward_mean": 5.0}, about=about).reward_words == "reward"
    assert context_of({"lr": 1.0}).reward_words == "reward"


@pytest.mark.parametrize(("value", "number"), [(3, 3.0), (0.5, 0.5), (True, None), ("3", None)])
def test_a_setting_is_a_number_or_unknown(value: ConfigValue, number: float | None) -> None:
    """Yes is not 1."""
    about = Profile("sb3", "on-policy", {"n_epochs": value})
    assert context_of({"lr": 1.0}, 2, about).config_number("n_epochs") == number


@pytest.mark.parametrize(("steps", "share"), [(60_000, 0.5), (30_000, 1.0), (20_000, 1.0)])
def test_progress_is_the_share_of_the_stated_length(steps: int, share: float) -> None:
    """No more than all of it; what is over is complete, whatever was stated."""
    run = context_of({"lr": 1.0}, about=profile(total_timesteps=steps))
    assert run.progress == run.stated_progress == share
    run.ended = True
    assert run.progress == 1.0
    assert context_of({"lr": 1.0}).progress is None


def test_a_metric_rises_if_it_is_logged_and_more_than_chance() -> None:
    """Over its last fifteen values."""
    run = context_of({"entropy": float, "lr": 1.0})
    assert run.rises("entropy")
    assert not run.rises("lr") and not run.rises("value_loss")


@pytest.mark.parametrize(("trainer", "steps"), [("cleanrl", 1000.0), ("skrl", 0.0)])
def test_losses_count_updates_where_each_update_logs_them_once(trainer: str, steps: float) -> None:
    """Of other trainers nobody knows how often they do."""
    columns: DrawnColumns = {"reward_mean": float, "value_loss": 1.0}
    assert context_of(columns, about=Profile(trainer, "on-policy")).steps_per_update == steps


def test_a_trainers_own_epochs_tell_how_many_make_an_update() -> None:
    """Forty of them are four updates of ten, or two of twenty."""
    epochs: DrawnColumns = {"n_updates": lambda i: 80.0 * i}
    assert context_of(epochs, about=profile(n_epochs=20)).steps_per_update == 250.0
    assert context_of(epochs).steps_per_update == 125.0
