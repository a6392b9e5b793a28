"""What is a fault of one family of algorithms, and none of another."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from ppo_top.model import Profile, Sample, Severity, Status
from ppo_top.rules.engine.ranges import colour
from ppo_top.rules.judge import Judge
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    OFF_POLICY_COLUMNS,
    SB3_TAGS,
    VALUE_BASED_COLUMNS,
    DrawnColumn,
    DrawnColumns,
    draw_rows,
    findings,
    jitter,
    profile,
    rules_found,
)

WATCH, WARN = Severity.WATCH, Severity.WARN


def about(algo: str, family: str = "on-policy", **config: float) -> Profile:
    """A run of SB3."""
    return Profile("sb3", family, config, algo=algo, tags=SB3_TAGS)


def flat(i: int) -> float:
    """A reward that stays where it is."""
    return -1400 + jitter(i, 20)


@pytest.mark.parametrize(
    ("algo", "status"), [("PPO", Status.CRIT), ("TRPO", Status.CRIT), ("A2C", Status.OK)]
)
def test_the_size_of_the_policy_loss_is_for_normalised_advantages(
    algo: str, status: Status
) -> None:
    """A2C does not normalise them: its loss is in units of the reward."""
    assert colour("policy_loss", -40.0, about(algo)) is status


def test_a_gradient_step_measured_before_it_is_made_has_no_kl() -> None:
    """A2C and VPG make one step a batch: KL 0 by construction."""
    still = {"approx_kl": 1e-10, "clip_fraction": 0.0, "entropy": 0.69, "reward_mean": 20.0}
    columns: DrawnColumns = {**CTRL_COLUMNS, **still}
    assert "no-op-updates" in rules_found(findings(about("PPO"), draw_rows(columns)))
    assert "no-op-updates" not in rules_found(findings(about("A2C"), draw_rows(columns)))


@pytest.mark.parametrize(
    ("rate", "speaks"), [(0.029, False), (0.029999999329, True), (0.031, True)]
)
def test_a_learning_rate_that_no_optimiser_survives(rate: float, speaks: bool) -> None:
    """It stands in the log itself, before any harm."""
    made = draw_rows({**OFF_POLICY_COLUMNS, "lr": rate, "reward_mean": flat}, 4)
    found = rules_found(findings(about("SAC", "off-policy"), made), WARN)
    assert ("learning-rate-extreme" in found) is speaks


@pytest.mark.parametrize(
    ("trainer", "logged", "speaks"),
    [("unknown", {}, False), ("unknown", {"total_loss": 0.5}, True), ("sb3", {}, True)],
)
def test_a_table_of_values_learns_with_a_large_rate(
    trainer: str, logged: DrawnColumns, speaks: bool
) -> None:
    """Where nothing tells of an optimiser, 0.15 is worth a look."""
    made = draw_rows({"lr": 0.15, "reward_mean": flat, **logged}, 8)
    found = findings(Profile(trainer, "unknown"), made)
    assert ("learning-rate-extreme" in rules_found(found, WARN)) is speaks
    assert "learning-rate-extreme" in rules_found(found)


@pytest.mark.parametrize(("rate", "speaks"), [(0.0098, False), (0.0102, True)])
def test_preference_training_has_a_learning_rate_too(rate: float, speaks: bool) -> None:
    """Whatever its loss and margins say: no language model survives such steps."""
    columns: DrawnColumns = {"lr": rate, "loss": lambda i: 0.69 * 0.97**i}
    found = rules_found(findings(about("DPO", "preference"), draw_rows(columns, 20)), WARN)
    assert found == ({"learning-rate-extreme"} if speaks else set())


@pytest.mark.parametrize(
    ("algo", "family", "columns", "limit"),
    [
        ("PPO", "on-policy", CTRL_COLUMNS, 1e-7),
        ("SAC", "off-policy", OFF_POLICY_COLUMNS, 1e-6),
        ("DQN", "value-based", VALUE_BASED_COLUMNS, 1e-6),
    ],
)
def test_a_learning_rate_that_changes_nothing(
    algo: str, family: str, columns: DrawnColumns, limit: float
) -> None:
    """From the start; a schedule that ends there was higher before."""
    columns = {**columns, "reward_mean": flat, "ep_len": 200.0}
    for rate, speaks in ((0.95 * limit, True), (1.05 * limit, False)):
        low = findings(about(algo, family), draw_rows({**columns, "lr": rate}))
        assert ("learning-rate-extreme" in rules_found(low, WARN)) is speaks
    ended: DrawnColumn = lambda i: 3e-4 * max(0.0, 1 - i / 40)  # noqa: E731
    over = findings(about(algo, family), draw_rows({**columns, "lr": ended}))
    assert "learning-rate-extreme" not in rules_found(over)


def test_the_learning_rate_of_trpo_is_the_critics() -> None:
    """A limit on the KL sets the size of its policy updates: nothing to warn of."""
    made = draw_rows({**CTRL_COLUMNS, "lr": 0.05, "reward_mean": flat})
    mine = [f for f in findings(about("TRPO"), made) if f.rule == "learning-rate-extreme"]
    assert [finding.severity for finding in mine] == [WATCH]
    assert "critic's" in mine[0].message
    unlogged = draw_rows({**CTRL_COLUMNS, "lr": None, "reward_mean": flat})
    for algo, severity in (("PPO", WARN), ("TRPO", WATCH)):
        found = findings(about(algo, learning_rate=0.05), unlogged)
        assert [f.severity for f in found if f.rule == "learning-rate-extreme"] == [severity]
    loud = draw_rows({**CTRL_COLUMNS, "approx_kl": 0.2})
    (kl_high,) = (f for f in findings(about("TRPO"), loud) if f.rule == "kl-high")
    assert not any("learning_rate" in remedy for remedy in kl_high.remedies)
    assert any(remedy.startswith("lower target_kl") for remedy in kl_high.remedies)


@pytest.mark.parametrize(("decades", "speaks"), [(2.9, False), (3.1, True)])
def test_a_critic_loss_grows_by_powers_of_ten(decades: float, speaks: bool) -> None:
    """Growth counts, not size, as long as the errors are no larger than the returns of 1,400."""
    for size in (1e3, 1e4):
        grown = [size * 10 ** (decades * min(1.0, max(0, i - 5) / 40)) for i in range(60)]
        columns = {**OFF_POLICY_COLUMNS, "reward_mean": flat, "critic_loss": grown}
        found = findings(about("SAC", "off-policy"), draw_rows(columns))
        assert ("critic-loss-growing" in rules_found(found, WARN)) is speaks


@pytest.mark.parametrize(
    ("squares", "times", "speaks"), [(10.3, 40, True), (9.7, 40, False), (20.0, 31, True),
                                     (20.0, 29, False)],
)  # fmt: skip
def test_a_critic_whose_errors_exceed_any_return(
    squares: float, times: float, speaks: bool
) -> None:
    """Ten times the largest return squared, and thirty times the start, whatever is gained."""
    loss = squares * 460.0**2
    columns: DrawnColumns = {
        **VALUE_BASED_COLUMNS,
        "reward_mean": lambda i: 20.0 + 440.0 * min(1.0, i / 20),
        "total_loss": lambda i: loss / times if i < 30 else loss,
    }
    found = findings(Profile("cleanrl", "value-based", algo="DQN"), draw_rows(columns))
    assert ("critic-loss-growing" in rules_found(found, WARN)) is speaks


@pytest.mark.parametrize(
    ("trainer", "errors", "speaks"), [("sb3", 10.3, True), ("sb3", 9.7, False),
                                      ("cleanrl", 10.3, False)],
)  # fmt: skip
def test_hubers_loss_is_the_error_itself(trainer: str, errors: float, speaks: bool) -> None:
    """SB3's DQN logs Huber's loss: ten times the largest return is an error as large."""
    loss = errors * 11.0
    columns: DrawnColumns = {
        **VALUE_BASED_COLUMNS,
        "reward_mean": lambda i: -11.0 + 0.3 * min(1.0, i / 20),
        "total_loss": lambda i: loss / 40 if i < 30 else loss,
    }
    found = findings(Profile(trainer, "value-based", algo="DQN"), draw_rows(columns))
    assert ("critic-loss-growing" in rules_found(found, WARN)) is speaks


@pytest.mark.parametrize(("length", "gamma", "windows"), [(200.0, 0.99, 1), (50.0, 0.99, 2),
                                                          (50.0, 0.996, 5)])  # fmt: skip
def test_action_values_may_hold_what_comes_after_a_cut(
    length: float, gamma: float, windows: int
) -> None:
    """Where episodes are cut short, a value counts the rewards of several of them."""
    for share, speaks in ((1.05, True), (0.95, False)):
        largest = 3.0 * windows * 1420.0 * share
        columns: DrawnColumns = {
            **OFF_POLICY_COLUMNS,
            "reward_mean": flat,
            "ep_len": length,
            "actor_loss": [20.0] * 20 + [largest] * 40,
        }
        found = findings(about("SAC", "off-policy", gamma=gamma), draw_rows(columns))
        assert ("actor-loss-large" in rules_found(found, WARN)) is speaks


COSTS: DrawnColumns = {
    "reward_mean": lambda i: -1400.0 + jitter(i, 20),
    "ep_len": 200.0,
    "critic_loss": 5.0,
    "entropy_coef": lambda i: 0.68 - 0.0001 * i,
    "lr": 3e-4,
}
"""Seven a step are lost."""


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ({"actor_loss": -7.2}, WARN),
        ({"actor_loss": -6.8}, None),
        ({"actor_loss": -7.2, "entropy_coef": lambda i: 0.75 - 0.0001 * i}, None),
        ({"actor_loss": -7.2, "reward_mean": lambda i: -1400.0 + 20.0 * i}, None),
        ({"actor_loss": -7.2, "reward_mean": lambda i: 1400.0 * (-1) ** i}, None),
        ({"actor_loss": 3.4}, WARN),
        ({"actor_loss": 3.6}, None),
        ({"actor_loss": 3.4, "critic_loss": lambda i: 5.0 * 0.85**i}, WATCH),
        ({"actor_loss": lambda i: min(3.4, 0.001 * 1.05 ** (i * 1.5))}, None),
    ],
    ids=["wrong sign", "within a step", "the bonus for entropy", "the reward rises",
         "rewards of both signs", "next to nothing", "half a step", "scaled rewards", "they grow"],
)  # fmt: skip
def test_action_values_that_contradict_the_returns(
    changed: DrawnColumns, severity: Severity | None
) -> None:
    """Costs alone make no action worth anything; a critic learns the next reward at once."""
    found = findings(about("SAC", "off-policy"), draw_rows({**COSTS, **changed}))
    said = [f.severity for f in found if f.rule == "action-values-wrong"]
    assert said == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("family", "reward", "severity"),
    [
        ("off-policy", 50.0, WARN),
        ("off-policy", 0.0, WATCH),
        ("off-policy", -50.0, WATCH),
        ("on-policy", 50.0, WATCH),
    ],
)
def test_what_random_actions_get_as_often_as_any_others(
    family: str, reward: float, severity: Severity
) -> None:
    """A replay buffer begins with random actions; 0, or a cost, may be success not yet found."""
    columns: DrawnColumns = {"reward_mean": reward, "ep_len": 1000.0, "critic_loss": 0.1}
    judge = Judge(Profile("sb3", family, samples={"reward_mean": Sample("episode")}))
    for row in draw_rows(columns, 30):
        judge.add_row(row)
    assert [f.severity for f in judge.findings if f.rule == "reward-never-moves"] == [severity]


def test_the_first_reward_of_a_sparse_task_is_no_divergence() -> None:
    """The loss was 0 because there was nothing to predict."""
    columns = {
        **OFF_POLICY_COLUMNS,
        "reward_mean": lambda i: 0.0 if i < 20 else min(1.0, 0.04 * (i - 19)),
        "critic_loss": lambda i: 1e-9 if i < 20 else 0.01 + jitter(i, 0.001),
    }
    found = findings(about("SAC", "off-policy"), draw_rows(columns))
    assert "critic-loss-growing" not in rules_found(found)


@pytest.mark.parametrize("share", [0.97, 1.03])
def test_an_entropy_coefficient_may_move_by_powers_of_ten_but_not_vanish(share: float) -> None:
    """The limit is a millionth of its start."""
    columns = {
        **OFF_POLICY_COLUMNS,
        "reward_mean": flat,
        "entropy_coef": lambda i: 1.0 if i < 3 else 1e-6 * share,
    }
    found = rules_found(findings(about("SAC", "off-policy"), draw_rows(columns)), WARN)
    assert ("entropy-coefficient" in found) is (share < 1.0)


@pytest.mark.parametrize(("family", "algo"), [("off-policy", "SAC"), ("value-based", "DQN")])
def test_a_loss_that_is_nan_before_learning_starts_is_no_fault(family: str, algo: str) -> None:
    """Scripts log NaN until the replay buffer is filled; afterwards NaN is one."""
    waits: DrawnColumns = {
        **OFF_POLICY_COLUMNS,
        "actor_loss": None,
        "critic_loss": lambda i: math.nan if i < 30 else 1.0,
    }
    assert "non-finite" not in rules_found(findings(about(algo, family), draw_rows(waits)))
    broken = {**waits, "critic_loss": lambda i: math.nan if i < 30 or i > 50 else 1.0}
    assert "non-finite" in rules_found(findings(about(algo, family), draw_rows(broken)))


def test_ppo_has_no_start_of_learning_to_wait_for() -> None:
    """Losses that are NaN from the first update on are a fault at once."""
    made = draw_rows({**CTRL_COLUMNS, "value_loss": math.nan}, 10)
    assert "non-finite" in rules_found(findings(about("PPO"), made))


@pytest.mark.parametrize(("updates", "told"), [(0.0, False), (1.0, True)])
def test_losses_are_nan_while_the_trainer_counts_no_update(updates: float, told: bool) -> None:
    """PFRL logs them with each episode before its first update, too."""
    columns = {**CTRL_COLUMNS, "value_loss": math.nan, "n_updates": updates}
    found = findings(about("PPO"), draw_rows(columns, 10))
    assert ("non-finite" in rules_found(found)) is told


def test_the_mean_of_no_episodes_is_no_fault() -> None:
    """Reward and length are NaN in updates in which no episode ends; the losses are not."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: math.nan if i % 3 else 100.0 + i,
        "ep_len": lambda i: math.nan if i % 3 else 1000.0,
    }
    assert "non-finite" not in rules_found(findings(about("PPO"), draw_rows(columns)))


@pytest.mark.parametrize(("episodes_a_row", "told"), [(10, True), (0, False)])
def test_episodes_that_are_counted_have_a_mean(episodes_a_row: int, told: bool) -> None:
    """A reward that is NaN while the log counts more episodes is no mean of nothing."""
    columns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: math.nan if i > 50 else 100.0 + i,
        "ep_len": None,
        "episode": lambda i: float(10 * min(i, 50) + episodes_a_row * max(0, i - 50)),
    }
    found = rules_found(findings(about("PPO"), draw_rows(columns)))
    assert ("non-finite" in found) is told


def test_not_training_waits_for_learning_to_start() -> None:
    """Until step `learning_starts` the buffer is filled; beyond the end, it is never used."""
    columns: DrawnColumns = {"reward_mean": flat, "ep_len": 200.0}
    made = draw_rows(columns, 120)
    filling = findings(about("DQN", "value-based", learning_starts=200_000), made)
    assert "not-training" not in rules_found(filling)
    beyond = about("DQN", "value-based", learning_starts=200_000, total_timesteps=150_000)
    first = next(f for f in findings(beyond, made) if f.rule == "not-training")
    assert first.opened.row < 15
    assert "not-training" in rules_found(findings(about("DQN", "value-based"), made), WARN)


@pytest.mark.parametrize(("end", "told_by"), [(0.05, 30), (0.0, 30), (None, None)])
def test_nothing_is_trained_although_exploration_is_over(
    end: float | None, told_by: int | None
) -> None:
    """Epsilon reaches its end at row 20: a replay buffer is used long before."""
    columns: DrawnColumns = {
        "reward_mean": flat,
        "ep_len": 200.0,
        "exploration_rate": lambda i: 1.0 - 0.01 * i if end is None else max(end, 1.0 - 0.05 * i),
    }
    found = findings(about("DQN", "value-based"), draw_rows(columns, 60))
    rows = [finding.opened.row for finding in found if finding.rule == "not-training"]
    assert (min(rows) <= told_by) if told_by is not None else not rows
    assert not rows or min(rows) >= 24


def test_a_curve_of_rewards_alone_says_nothing_of_training() -> None:
    """Somebody exported it from a log that holds more."""
    made = draw_rows({"reward_mean": flat}, 120)
    assert "not-training" not in rules_found(findings(about("DQN", "value-based"), made))


def test_a_count_of_each_call_is_no_running_count() -> None:
    """One gradient step a call is 1 in every row, and nothing is stuck."""
    each_call = {**CTRL_COLUMNS, "n_updates": 1.0}
    stops = {**CTRL_COLUMNS, "n_updates": lambda i: 10.0 * min(i, 30)}
    assert "updates-stuck" not in rules_found(findings(profile(), draw_rows(each_call)))
    assert "updates-stuck" in rules_found(findings(profile(), draw_rows(stops)))


@pytest.mark.parametrize(
    ("part", "speaks"), [("accuracy_reward", False), ("Skywork-Reward-V2-0.6B", True)]
)
def test_drift_that_a_rule_based_reward_pays_for_is_no_alarm(part: str, speaks: bool) -> None:
    """A learned reward model may be exploited; TRL names its reward after the model."""
    rising = lambda i: 0.1 + 0.014 * i + jitter(i, 0.02)  # noqa: E731
    columns = {
        **GRPO_COLUMNS,
        "reward_mean": rising,
        "reward_component_mean{accuracy}": None,
        "reward_component_mean{format}": None,
        f"reward_component_mean{{{part}}}": rising,
        "ref_kl_token": lambda i: 0.02 * i,
    }
    found = rules_found(findings(profile("grpo"), draw_rows(columns)))
    assert ("ref-kl-token-high" in found) is speaks


def test_an_untrained_critic_beside_a_rising_reward_is_only_watched() -> None:
    """Large unnormalised returns leave it at 0 while the policy becomes near-optimal."""
    blind = {**CTRL_COLUMNS, "explained_variance": 0.001, "value_loss": 900.0}
    assert "critic-not-learning" not in rules_found(findings(profile(), draw_rows(blind)), WARN)
    clipped = {**blind, "clip_range_vf": 0.001}
    assert "critic-not-learning" in rules_found(findings(profile(), draw_rows(clipped)), WARN)


@pytest.mark.parametrize(("coefficient", "speaks"), [(100.0, True), (50.0, False)])
def test_a_setting_that_leaves_nothing_to_learn_is_proof_enough(
    coefficient: float, speaks: bool
) -> None:
    """Thirty episodes are few; an entropy bonus of ten steps' rewards explains their level."""
    judge = Judge(about("SAC", "off-policy"))
    columns: DrawnColumns = {
        **OFF_POLICY_COLUMNS, "reward_mean": flat, "entropy_coef": coefficient,
    }  # fmt: skip
    for row in draw_rows(columns, 30):
        judge.add_row(row._replace(mark=row.mark._replace(step=200 * (row.mark.row + 1))))
    judge.end_run()
    found = rules_found(judge.findings, WARN)
    assert ("reward-never-moves" in found) is speaks


@pytest.mark.parametrize(("first", "speaks"), [(-3.0, False), (-0.5, True)])
def test_values_in_another_unit_than_the_logged_rewards_are_not_judged(
    first: float, speaks: bool
) -> None:
    """Rewards that are normalised for the learner: its values exceed the returns from the start."""
    columns: DrawnColumns = {
        **OFF_POLICY_COLUMNS,
        "reward_mean": lambda i: 0.8 + jitter(i, 0.05),
        "ep_len": 200.0,
        "actor_loss": lambda i: first if i < 8 else -30.0,
    }
    found = rules_found(findings(about("SAC", "off-policy"), draw_rows(columns)), WARN)
    assert ("actor-loss-large" in found) is speaks


def found_at_end(columns: DrawnColumns, count: int = 60) -> set[str]:
    """What an off-policy learner is warned of when its run is over."""
    judge = Judge(about("SAC", "off-policy"))
    for row in draw_rows({**OFF_POLICY_COLUMNS, **columns}, count):
        judge.add_row(row)
    assert "action-values-short" not in rules_found(judge.findings)
    judge.end_run()
    return rules_found(judge.findings, WARN)


SHORT_COLUMNS: DrawnColumns = {"reward_mean": lambda i: 60 + jitter(i, 1), "ep_len": 20.0}
"""Three a step."""


@pytest.mark.parametrize(
    ("changed", "speaks"),
    [
        ({"actor_loss": -3.0}, True),
        ({"actor_loss": -2.3}, True),
        ({"actor_loss": -2.15}, False),
        ({"actor_loss": -3.55}, True),
        ({"actor_loss": -3.7}, False),
        ({"actor_loss": 3.0}, False),
        ({"actor_loss": -3.0, "ep_len": 4.9, "reward_mean": 14.7}, False),
        ({"actor_loss": lambda i: -3.0 if i < 38 else -6.0}, False),
        ({"actor_loss": lambda i: -3.0 if i < 53 else -6.0}, True),
    ],
    ids=["one step", "nearly", "too little", "a bit more", "more", "sign", "short", "once", "last"],
)
def test_values_of_one_step_until_the_end(changed: DrawnColumns, speaks: bool) -> None:
    """The discount is 0, or the target network never follows; every critic passes there once."""
    assert ("action-values-short" in found_at_end({**SHORT_COLUMNS, **changed})) is speaks


@pytest.mark.parametrize(("count", "speaks"), [(42, True), (38, False)])
def test_values_of_one_step_are_told_by_twenty_rows(count: int, speaks: bool) -> None:
    """Those of the second half."""
    found = found_at_end({**SHORT_COLUMNS, "actor_loss": -3.0}, count)
    assert ("action-values-short" in found) is speaks


@pytest.mark.parametrize(
    ("values", "coefficient", "speaks"),
    [
        (lambda i: -7.5, 0.13, True),
        (lambda i: -7.5, 0.17, False),
        (lambda i: -7.5 * 0.97**i, 0.08, False),
        (lambda i: -7.5 * 0.995**i, 0.08, True),
    ],
    ids=["a small bonus", "a large bonus", "they come back", "they hardly do"],
)
def test_values_of_the_sign_of_the_entropy_bonus(
    values: Callable[[int], float], coefficient: float, speaks: bool
) -> None:
    """Ten joints' entropy, times the coefficient, outweighs a cost of 1.5 a step, and is unlearned
    slowly when the coefficient has fallen.
    """
    columns: DrawnColumns = {
        "reward_mean": lambda i: -150 + jitter(i, 1),
        "ep_len": 100.0,
        "critic_loss": 0.1,
        "actor_loss": values,
        "entropy_coef": lambda i: coefficient * (1 + 0.0001 * i),
    }
    found = rules_found(findings(about("SAC", "off-policy"), draw_rows(columns)), WARN)
    assert ("action-values-wrong" in found) is speaks


@pytest.mark.parametrize(
    ("columns", "count", "level"),
    [
        ({"truncated_frac": 0.95}, 14, WARN),
        ({"truncated_frac": 0.95}, 9, WATCH),
        ({"truncated_frac": 0.88}, 14, WATCH),
        ({"truncated_frac": 0.95, "reward_mean": lambda i: 0.1 + 0.03 * i}, 14, WATCH),
        ({"truncated_frac": lambda i: 0.95 if i == 13 else 0.0}, 14, 0),
    ],
)
def test_a_run_that_ends_with_its_completions_cut_off(
    columns: DrawnColumns, count: int, level: int
) -> None:
    """Twenty updates are waited for; a run that ends before has cut them off all along."""
    judge = Judge(profile("grpo"))
    for row in draw_rows({**GRPO_COLUMNS, "reward_mean": flat, **columns}, count):
        judge.add_row(row)
    assert not rules_found(judge.findings, WARN)
    judge.end_run()
    severities = [f.severity for f in judge.findings if f.rule == "completions-truncated"]
    assert max(severities, default=0) == level
