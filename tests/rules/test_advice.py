"""What to try: in the trainer's own words, in the right direction, and not what is so already."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from ppo_top.catalogue import known_trainers, options
from ppo_top.model import Axis, ConfigValue, Mark, Profile, Row, Severity
from ppo_top.rules.advice import AdviceOptions, explain_cause, fill_advice
from ppo_top.rules.advice.advised_option import AdvisedOption
from ppo_top.rules.advice.causes import RULE_PREFIX, cause_text, is_text, symptoms_of
from ppo_top.rules.advice.contradictions import without_repeats
from ppo_top.rules.advice.symptoms import facts_seen
from ppo_top.rules.book import BY_ID, RULES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import FAMILY_NAMES
from tests.rules.courses import flat
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    DrawnColumn,
    DrawnColumns,
    draw_rows,
    findings,
    profile,
)

FAMILY = {each.id: each.family for each in known_trainers()}


def tries(
    rule: str, trainer: str, config: Mapping[str, ConfigValue] | None = None, algo: str = ""
) -> str:
    """What a rule advises a trainer's user, as one text."""
    about = Profile(trainer, FAMILY.get(trainer, "on-policy"), config or {}, algo=algo)
    return "\n".join(fill_advice(BY_ID[rule].remedies, JudgedRun(about)))


@pytest.mark.parametrize(
    ("trainer", "said"),
    [
        ("sb3", "set target_kl to 0.02: it ends an update's epochs at 1.5 times that"),
        ("cleanrl", "set target_kl to 0.02: it ends an update's epochs there"),
        ("trl-legacy", "set target_kl to 0.1, with early_stopping=True"),
        ("rllib", "lower kl_target (RLlib's default is 0.01): the KL coefficient follows it"),
        ("rsl_rl", "lower desired_kl (rsl_rl's default is 0.01; the learning rate follows it)"),
    ],
)
def test_a_limit_to_the_kl_is_what_the_trainer_makes_of_it(trainer: str, said: str) -> None:
    """One ends the epochs, another steers a coefficient or the learning rate."""
    assert said in tries("kl-high", trainer)


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        (Axis.EPISODE, "train longer: total_episodes (500 now)"),
        (Axis.EPOCH, "train longer: num_train_epochs"),
        (Axis.STEP, "train longer: total_timesteps"),
    ],
)
def test_to_train_longer_is_to_have_more_of_what_is_counted(axis: Axis, said: str) -> None:
    """A script that counts episodes has no number of steps to raise."""
    run = JudgedRun(Profile(config={"total_episodes": 500}, axis=axis))
    assert fill_advice(["train longer: {training_length}"], run) == (said,)


@pytest.mark.parametrize(
    ("rates", "said"),
    [((3e-4, 3e-4), True), ((3e-4, 1.03e-5), True), ((3e-4, 0.97e-5), False), ((9e-6,), False)],
)
def test_a_rate_that_is_far_down_already_is_not_lowered(
    rates: tuple[float, ...], said: bool
) -> None:
    """A schedule has brought it down, or it was set to a thirtieth of the trainer's default."""
    run = JudgedRun(Profile("sb3", "on-policy"))
    for row in draw_rows({"lr": lambda i: rates[min(i, len(rates) - 1)]}, 2):
        run.add_row(row)
    assert bool(fill_advice(["lower {learning_rate:, or let it decay}"], run)) is said


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, ("raise temperature (if it was lowered; TRL's default is 1), to 1.0",)),
        ({"temperature": 0.1}, ("raise temperature (0.1 now; TRL's default is 1), to 1.0",)),
        ({"temperature": 1.0}, ()),
    ],
)
def test_a_temperature_is_raised_where_it_is_low(
    config: Mapping[str, ConfigValue], said: tuple[str, ...]
) -> None:
    """Nobody is told to set what is so already."""
    run = JudgedRun(Profile("trl-grpo", "grpo", config))
    text = cause_text(
        "too little exploration", {"samples without entropy from the start": True}, ""
    )
    assert fill_advice(text.remedies[:1], run) == said


@pytest.mark.parametrize(
    ("columns", "config", "said"),
    [({}, {}, False), ({"entropy": 1.0}, {}, True), ({}, {"ent_coef": 0.001}, True)],
)
def test_an_entropy_bonus_is_raised_where_there_may_be_one(
    columns: DrawnColumns, config: Mapping[str, ConfigValue], said: bool
) -> None:
    """A script that prints its reward alone may be one of DQN, which has none."""
    run = JudgedRun(Profile("unknown", "unknown", config))
    for row in draw_rows({"reward_mean": 1.0, **columns}, 5):
        run.add_row(row)
    assert bool(fill_advice(["raise the entropy bonus: {ent_coef:below 0.05}"], run)) is said
    text = cause_text("too much exploration", facts_seen(run), "unknown")
    assert ("entropy" in text.sentence) is ("entropy" in columns)


@pytest.mark.parametrize(("family", "said"), [("on-policy", True), ("unknown", False)])
def test_a_limit_to_the_kl_is_not_for_whom_no_kl_is_known(family: str, said: bool) -> None:
    """A script that prints its reward alone may be one of DQN."""
    run = JudgedRun(Profile("unknown", family))
    assert bool(fill_advice(["{kl_limit}"], run)) is said


@pytest.mark.parametrize(
    ("bonus", "said"),
    [
        (0.0, "raise the entropy bonus: ent_coef (0 now), to 0.001-0.05"),
        (0.0009, "raise the entropy bonus: ent_coef (0.0009 now; SB3's default is 0), to 0.001-0"),
        (0.001, "raise the entropy bonus: ent_coef (0.001 now; SB3's default is 0), by 3 to 10 ti"),
        (0.049, "raise the entropy bonus: ent_coef (0.049 now; SB3's default is 0), by 3 to 10 ti"),
    ],
)
def test_a_bonus_is_raised_above_what_it_is(bonus: float, said: str) -> None:
    """To a usual one, and where it is one already, by a factor."""
    assert said in tries("entropy-collapsed", "sb3", {"ent_coef": bonus})


@pytest.mark.parametrize(
    ("bonus", "said"),
    [
        (None, "ent_coef (if it was raised; SB3's default is 0), to 0.01 or 0"),
        (0.5, "ent_coef (0.5 now; SB3's default is 0), to 0.01 or 0"),
        (0.02, "ent_coef (0.02 now; SB3's default is 0), to 0.01 or 0"),
        (0.01, "ent_coef (0.01 now; SB3's default is 0), to 0"),
        (0.0, ""),
    ],
)
def test_a_bonus_is_lowered_below_what_it_is(bonus: float | None, said: str) -> None:
    """To that of PPO's paper, or to none; where there is none, to nothing."""
    config: dict[str, ConfigValue] = {} if bonus is None else {"ent_coef": bonus}
    run = JudgedRun(Profile("sb3", "on-policy", config, algo="PPO"))
    expected = (f"lower the entropy bonus: {said}",) if said else ()
    assert fill_advice(("{less_entropy}",), run) == expected


@pytest.mark.parametrize("trainer", ["rsl_rl", "rllib", "spinning-up", "rl_games"])
def test_no_limit_is_loosened(trainer: str) -> None:
    """Their defaults are tighter than 0.02 already: who sets that lets the policy go further."""
    for rule in RULES:
        assert "0.02" not in tries(rule.id, trainer), rule.id


@pytest.mark.parametrize(
    ("rule", "config", "silent"),
    [
        ("kl-high", {"target_kl": 0.01}, "target_kl"),
        ("kl-high", {"n_epochs": 1}, "n_epochs"),
        ("kl-high", {"clip_range": 0.1}, "clip_range"),
        ("entropy-collapsed", {"ent_coef": 0.1}, "ent_coef"),
        ("entropy-not-falling", {"ent_coef": 0.0}, "ent_coef"),
        ("updates-too-large", {"normalize_advantage": True}, "normalize_advantage"),
        ("critic-not-learning", {"vf_coef": 0.5}, "vf_coef"),
        ("value-loss-spike", {"clip_range_vf": 0.2}, "clip_range_vf"),
        ("diverged", {"max_grad_norm": 0.01}, "max_grad_norm"),
    ],
)
def test_what_is_so_already_is_not_advised(
    rule: str, config: Mapping[str, ConfigValue], silent: str
) -> None:
    """A remedy that the run has taken is left out; without knowing that, it is named."""
    assert silent in tries(rule, "sb3")
    assert silent not in tries(rule, "sb3", config)


@pytest.mark.parametrize(("trainer", "kept"), [("trl-grpo", True), ("trl-ppo", False),
                                               ("sb3", False)])  # fmt: skip
def test_what_is_for_groups_of_answers_is_said_of_them_only(trainer: str, kept: bool) -> None:
    """PPO on language models has no groups."""
    run = JudgedRun(Profile(trainer, FAMILY[trainer], {}))
    assert bool(fill_advice(["{in_groups}mixed outcomes"], run)) is kept


@pytest.mark.parametrize(("family", "named"), [("on-policy", True), ("unknown", False)])
def test_no_option_of_actor_critics_is_named_where_it_may_be_none(family: str, named: bool) -> None:
    """A script that prints rewards alone may as well be a DQN."""
    run = JudgedRun(Profile("unknown", family))
    assert bool(fill_advice(["lower {gae_lambda:above 0.9}"], run)) is named


@pytest.mark.parametrize(("trainer", "family"), [("sb3", "control"), ("trl-ppo", "text")])
def test_what_is_for_one_kind_of_task_is_not_said_of_the_other(trainer: str, family: str) -> None:
    """Observations are a control task's, completions a language model's."""
    run = JudgedRun(Profile(trainer, FAMILY[trainer], {}))
    for kind in ("control", "text"):
        assert bool(fill_advice([f"{{in_{kind}}}look"], run)) is (kind == family)


@pytest.mark.parametrize(("batch_size", "advised"), [(64 * 29, True), (64 * 31, False)])
def test_what_is_far_from_its_default_is_not_moved_further(batch_size: int, advised: bool) -> None:
    """Thirty times the default is where raising it further cannot be the advice."""
    about = Profile("sb3", "on-policy", {"batch_size": batch_size}, algo="PPO")
    assert bool(fill_advice(["raise {batch_size}"], JudgedRun(about))) is advised
    assert fill_advice(["lower {batch_size}"], JudgedRun(about))


@pytest.mark.parametrize(("rate", "advised"), [(5.9e-4, True), (6.1e-4, False)])
def test_a_learning_rate_above_its_default_is_not_raised(rate: float, advised: bool) -> None:
    """SB3's default of 3e-4 learns; who doubled it does not learn for want of a larger one."""
    about = Profile("sb3", "on-policy", {"learning_rate": rate}, algo="PPO")
    raised = fill_advice(["raise {learning_rate:, by 10 times}"], JudgedRun(about))
    assert bool(raised) is advised
    assert fill_advice(["lower {learning_rate:, by 10 times}"], JudgedRun(about))


@pytest.mark.parametrize("algorithm", ["DQN", "TD3", "SAC", ""])
@pytest.mark.parametrize("trainer", ["sb3", "cleanrl", "script"])
def test_a_learner_with_a_replay_buffer_is_told_of_no_rollouts(
    trainer: str, algorithm: str
) -> None:
    """It has no rollouts, and no epochs that a KL could end; its `n_steps` are others."""
    family = "value-based" if algorithm == "DQN" else "off-policy"
    run = JudgedRun(Profile(trainer, family, {"n_steps": 3}, algo=algorithm))
    options_of_rollouts = ["{n_steps}", "{rollouts}", "{target_kl}", "{n_epochs}", "{clip_range}"]
    advice = "\n".join(fill_advice([*options_of_rollouts, "look"], run))
    assert not re.search("n_steps|target_kl|n_epochs|clip", advice)
    assert advice.endswith("look")


def test_what_is_wrong_is_advised_with_the_run_s_own_value() -> None:
    """The same remedies are named where the value calls for them."""
    assert "ent_coef (-2 now; SB3's default is 0)" in tries(
        "action-spread-gone", "sb3", {"ent_coef": -2}
    )
    assert "clip_range (0.5 now; SB3's default is 0.2) to 0.2" in tries(
        "clip-too-wide", "sb3", {"clip_range": 0.5}
    )
    assert "vf_coef (0 now; SB3's default is 0.5)" in tries(
        "critic-not-learning", "sb3", {"vf_coef": 0.0}
    )


def test_a_value_that_stands_in_the_way_is_what_to_change_first() -> None:
    """A clip of 0.001 holds the policy or the critic: no learning rate helps before that."""
    held = tries("no-op-updates", "sb3", {"clip_range": 0.001}).splitlines()
    assert held[0] == "raise clip_range (0.001 now; SB3's default is 0.2)"
    assert tries("no-op-updates", "sb3").splitlines()[0].startswith("raise learning_rate")
    run = JudgedRun(Profile("sb3", "on-policy"))
    run.add_row(Row(Mark(0, 1, 1.0), {"clip_range_vf": 0.001}))
    first = fill_advice(BY_ID["critic-not-learning"].remedies, run)[0]
    assert first == "a wider value clip, or none: clip_range_vf (0.001 now)"


@pytest.mark.parametrize("rule", ["ref-kl-high", "ref-kl-token-high"])
@pytest.mark.parametrize(("rate", "is_root"), [(0.1, True), (1e-6, False)])
def test_a_setting_that_proves_the_root_stands_before_its_consequence(
    rule: str, rate: float, is_root: bool
) -> None:
    """A policy drifts from its reference for a rate of 0.1, not for a penalty that is too weak."""
    run = JudgedRun(Profile("trl-grpo", "grpo", {"learning_rate": rate, "beta": 0.4}))
    run.add_row(Row(Mark(0, 1, 1.0), {"lr": rate, "reward_mean": 0.5}))
    run.open_severities[rule] = Severity.WARN
    causes, advice = explain_cause(BY_ID[rule], run)
    assert (causes[0] == "learning rate far too high") is is_root
    assert not any("too low" in cause for cause in causes)
    assert advice[0].startswith("lower learning_rate (0.1 now") is is_root


def test_the_value_of_a_schedule_is_said_to_be_that_of_the_start() -> None:
    """A rate that decays is not 0.001 now; one that the log rounds is."""
    run = JudgedRun(Profile("sb3", "on-policy", {"learning_rate": 0.001}))
    run.add_row(Row(Mark(0, 1, 1.0), {"lr": 0.0010000000474974513}))
    assert fill_advice(("lower {learning_rate}",), run) == (
        "lower learning_rate (0.001 now; SB3's default is 0.0003)",
    )
    run.add_row(Row(Mark(1, 2, 2.0), {"lr": 0.0005}))
    assert fill_advice(("lower {learning_rate}",), run) == (
        "lower learning_rate (0.001 at first; SB3's default is 0.0003)",
    )


def test_a_rate_of_0_from_the_start_is_told_of() -> None:
    """It is no schedule that has come to its end: nothing was ever learned."""
    still = {"lr": 0.0, "approx_kl": 0.0, "clip_fraction": 0.0, "entropy": 0.69}
    found = findings(profile(), draw_rows({**CTRL_COLUMNS, **still, "reward_mean": 20.0}, 20))
    mine = next(finding for finding in found if finding.rule == "no-op-updates")
    assert mine.severity == Severity.WARN
    assert mine.remedies[0] == "raise learning_rate (0 now; SB3's default is 0.0003)"


def test_larger_batches_are_fewer_minibatches_where_these_are_counted() -> None:
    """More of them would be smaller; CleanRL's minibatch_size is worked out, not set."""
    assert "larger batches: fewer num_mini_batches" in tries("kl-high", "rsl_rl")
    assert "larger batches: fewer num_minibatches" in tries("kl-high", "cleanrl")
    one = tries("kl-high", "rsl_rl", {"num_minibatches": 1})
    assert "larger batches: longer rollouts, num_steps_per_env" in one
    assert not any("minibatch_size" in tries(rule.id, "cleanrl") for rule in RULES)
    assert not any("more minibatches" in tries(rule.id, "rsl_rl") for rule in RULES)


def test_a_rate_that_follows_the_kl_is_not_what_to_change() -> None:
    """With rsl_rl's usual schedule the rate is set by the KL; with a fixed one it is the user's."""
    assert "learning_rate" not in tries("reward-crash", "rsl_rl")
    fixed = tries("reward-crash", "rsl_rl", {"lr_schedule": "fixed"})
    assert "lower learning_rate (rsl_rl's default is 0.001), or let it decay" in fixed
    assert "desired_kl" not in fixed


@pytest.mark.parametrize("trainer", sorted(FAMILY))
def test_nobody_is_told_of_another_trainer_s_tools(trainer: str) -> None:
    """VecNormalize and Monitor are SB3's, observations are not a language model's."""
    advice = "\n".join(tries(rule.id, trainer) for rule in RULES if _speaks(rule.id, trainer))
    if trainer != "sb3":
        assert "VecNormalize(" not in advice
        assert "Monitor(" not in advice
    if FAMILY[trainer] in ("rlhf", "grpo"):
        assert "observation" not in advice
        assert "random policy" not in advice
    if FAMILY[trainer] == "on-policy":
        assert "completion" not in advice.replace("episodes or completions", "")
        assert "bf16" not in advice


def _speaks(rule: str, trainer: str) -> bool:
    return FAMILY[trainer] in BY_ID[rule].families


def test_what_a_trainer_has_not_taken_over_is_not_named() -> None:
    """TRL's asynchronous GRPO has GRPO's tags and few of its options: no beta, no reference."""
    for rule in RULES:
        said = tries(rule.id, "trl-async-grpo")
        assert not any(name in said for name in ("beta", "num_iterations", "mask_truncated")), said


def test_verl_s_penalty_is_named_where_it_is() -> None:
    """The KL is in the loss or in the reward; each has its own coefficient."""
    in_loss = Profile("verl", "grpo", tags={"ref_kl_token": "actor/kl_loss"})
    in_reward = Profile("verl", "grpo", tags={"ref_kl_token": "actor/reward_kl_penalty"})
    named = [
        f"{AdviceOptions(JudgedRun(about))['kl_penalty']:name}" for about in (in_loss, in_reward)
    ]
    assert named == ["actor_rollout_ref.actor.kl_loss_coef", "algorithm.kl_ctrl.kl_coef"]


@pytest.mark.parametrize(
    ("trainer", "named"),
    [
        ("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"),
        ("openrlhf", "train.micro_batch_size"),
        ("trl-grpo", "per_device_train_batch_size"),
        ("sb3", "batch_size"),
    ],
)
def test_what_memory_holds_at_once_is_not_the_batch_of_an_update(trainer: str, named: str) -> None:
    """verl's and OpenRLHF's gather an update from several: a smaller update saves no memory."""
    said = tries("out-of-memory", trainer).splitlines()
    assert said[0].split(" (")[0] == f"fewer samples at once: {named}"
    assert not any("ppo_mini_batch_size" in line for line in said)


@pytest.mark.parametrize(
    ("trainer", "named"),
    [
        ("verl", "keep fewer of them: trainer.max_actor_ckpt_to_keep"),
        ("trl-grpo", "keep fewer of them: save_total_limit"),
        ("sb3", "keep fewer of them"),
        ("custom", "keep fewer of them"),
    ],
)
def test_what_limits_checkpoints_is_named_where_a_trainer_has_it(trainer: str, named: str) -> None:
    """A full disk is most often one of checkpoints."""
    (said,) = (line for line in tries("disk-full", trainer).splitlines() if "fewer" in line)
    assert said == f"delete checkpoints that are not needed, and {named}"


@pytest.mark.parametrize(
    ("trainer", "named"),
    [
        ("minimind-grpo", ("beta (minimind GRPO's default is 0.1)",)),
        ("minimind-ppo", ("kl_coef (minimind's default is 0.02)",)),
        ("deepspeed-chat", ("kl_ctl (DeepSpeed-Chat's default is 0.1)",)),
        ("on-policy", ("entropy_coef (MAPPO's default is 0.01)",)),
    ],
)
def test_options_are_named_only_where_a_trainer_has_them(
    trainer: str, named: tuple[str, ...]
) -> None:
    """minimind has no entropy bonus, MAPPO no reference; its two KL penalties differ by name."""
    run = JudgedRun(Profile(trainer, FAMILY.get(trainer, "on-policy")))
    assert fill_advice(("{kl_penalty}", "{ent_coef}"), run) == named


def test_what_sets_epsilon_is_named_where_it_is_known() -> None:
    """SB3's DQN has two options for it; a script of one's own is told what to reach."""
    wanted = "a final exploration rate of 0.01 to 0.1, reached within half of the run"
    advice = BY_ID["exploration-not-falling"].remedies
    told = {
        trainer: fill_advice(advice, JudgedRun(Profile(trainer, "value-based", {}, algo="DQN")))
        for trainer in ("sb3", "custom")
    }
    assert told["sb3"] == (
        f"{wanted}: exploration_final_eps (SB3's default is 0.05), "
        "exploration_fraction (SB3's default is 0.1)",
    )
    assert told["custom"] == (wanted,)


@pytest.mark.parametrize(
    ("trainer", "family", "algorithm", "option"),
    [
        ("sb3", "value-based", "DQN", "target_update_interval (SB3's default is 10,000)"),
        ("sb3", "off-policy", "SAC", "tau (SB3's default is 0.005)"),
        ("skrl", "off-policy", "TD3", "polyak (skrl's default is 0.005)"),
        ("rllib", "value-based", "DQN", ""),
    ],
)
def test_what_updates_the_target_network_is_named_where_it_is_known(
    trainer: str, family: str, algorithm: str, option: str
) -> None:
    """DQN copies it now and then, SAC and TD3 a share of it at each update; once is enough."""
    run = JudgedRun(Profile(trainer, family, {}, algo=algorithm))
    advice = fill_advice(BY_ID["critic-loss-growing"].remedies, run)
    named = [each for each in without_repeats(advice, trainer) if "target network" in each]
    assert named == [f"update the target network more slowly{f': {option}' if option else ''}"]


def test_defaults_are_said_to_be_the_trainer_s() -> None:
    """Names of two words stay whole."""
    assert "Spinning Up's default is" in tries("kl-high", "spinning-up")
    assert "Sample Factory's default is" in tries("kl-high", "sample_factory")
    assert "TRL's default is" in tries("kl-high", "trl-legacy")


def test_a_value_that_the_log_has_is_the_run_s_own() -> None:
    """The rate of the log counts where no configuration is known."""
    run = JudgedRun(Profile("sb3", "on-policy"))
    run.add_row(Row(Mark(0, 1, 1.0), {"lr": 0.03}))
    assert fill_advice(("lower {learning_rate}",), run) == (
        "lower learning_rate (0.03 now; SB3's default is 0.0003)",
    )


@pytest.mark.parametrize("trainer", sorted(FAMILY))
def test_every_sentence_ends_well(trainer: str) -> None:
    """No gap, no brace, no doubled word is left of what was filled in."""
    for rule in RULES:
        for line in tries(rule.id, trainer).splitlines():
            assert line == line.strip() and "{" not in line and "  " not in line, line
            assert not line.endswith((":", ",", " to")), line


def test_options_that_are_worked_out_are_marked() -> None:
    """The note in the catalogue is what keeps them out of advice."""
    computed = {(each.trainer, each.name) for each in options() if each.note == "computed"}
    assert ("cleanrl", "minibatch_size") in computed


def test_an_option_of_newer_versions_says_so() -> None:
    """Who has an older one looks for it in vain."""
    option = AdvisedOption("entropy_coef", 0.0, 0.0, "TRL", "since 1.8")
    assert f"{option}" == "entropy_coef (0 now; needs TRL 1.8 or later)"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "gamma (if it was lowered; Baselines's default is 0.99) to 0.99"),
        ({"gamma": 0.5}, "gamma (0.5 now; Baselines's default is 0.99) to 0.99"),
    ],
)
def test_a_default_that_needs_no_change_is_said_to_be_one(
    config: Mapping[str, ConfigValue], said: str
) -> None:
    """A value that is not logged may be the default: to raise that to itself would be no advice."""
    about = Profile("baselines", "on-policy", config)
    assert fill_advice(["raise {gamma:below 0.9} to 0.99"], JudgedRun(about)) == (f"raise {said}",)


@pytest.mark.parametrize(
    ("unlogged", "updates", "learns"),
    [
        ("value_loss", ": KL 1e-9, nothing clipped", ": KL 0, entropy and reward where they"),
        ("clip_fraction", ": KL 1e-9", ": KL 0, entropy and reward where they"),
        ("entropy", ": KL 1e-9, nothing clipped", ": KL 0, reward where it"),
    ],
)
def test_of_what_is_not_logged_nothing_is_said(unlogged: str, updates: str, learns: str) -> None:
    """Neither that it is 0 nor that it stays where it was."""
    columns: dict[str, DrawnColumn] = {**CTRL_COLUMNS, "reward_mean": flat, "entropy": 0.69}
    columns |= {"approx_kl": 1e-9, "clip_fraction": 0.0}
    del columns[unlogged]
    told = {each.rule: each.message for each in findings(profile(), draw_rows(columns, 60))}
    assert told["no-op-updates"] == f"updates change nothing{updates}"
    assert told["nothing-learns"] == f"nothing is learning{learns} started"


@pytest.mark.parametrize(
    ("rate", "named"),
    [(5.9e-4, "0.0003 at first"), (6.1e-4, "0.00061 now; SB3's default is 0.0003")],
)
def test_a_value_set_during_the_run_is_the_run_s_own(rate: float, named: str) -> None:
    """No schedule takes a rate to more than twice what the configuration says."""
    run = JudgedRun(Profile("sb3", "on-policy", {"learning_rate": 3e-4}))
    for row, value in enumerate((3e-4, rate)):
        run.add_row(Row(Mark(row, row + 1, 1.0 + row), {"lr": value}))
    assert fill_advice(("lower {learning_rate}",), run) == (f"lower learning_rate ({named})",)


def test_a_setting_in_words_is_named_as_it_is() -> None:
    """A schedule is no number that the log could contradict."""
    run = JudgedRun(Profile("sb3", "on-policy", {"learning_rate": "linear from 3e-4"}))
    run.add_row(Row(Mark(0, 1, 1.0), {"lr": 2e-4}))
    assert fill_advice(("lower {learning_rate}",), run) == (
        "lower learning_rate (linear from 3e-4 now; SB3's default is 0.0003)",
    )


def test_an_option_the_catalogue_does_not_know_is_named_if_the_run_has_it() -> None:
    """The trainer takes it, for it is in the configuration."""
    for config, known in (({"beta": 0.1}, True), ({}, False)):
        assert bool(fill_advice(("lower {beta}",), JudgedRun(Profile("sb3", "", config)))) is known


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (AdvisedOption("flag", False), "flag (False now)"),
        (AdvisedOption("rate", 0.000123456), "rate (0.000123 now)"),
        (AdvisedOption("name", "x" * 50), f"name ({'x' * 40} now)"),
        (AdvisedOption("new", None, note="since 2.0"), "new (needs version 2.0 or later)"),
    ],
)
def test_values_are_short_and_readable(option: AdvisedOption, text: str) -> None:
    """Switches by name, numbers to three digits, the beginning of long texts."""
    assert f"{option}" == text


def test_only_what_is_to_be_watched_is_a_symptom() -> None:
    """An explanation tells causes apart no better than the facts do."""
    run = JudgedRun(Profile("sb3", "on-policy"))
    run.open_severities |= {"at-ceiling": Severity.INFO, "kl-high": Severity.WATCH}
    assert {name for name in symptoms_of(run) if name.startswith(RULE_PREFIX)} == {"rule kl-high"}


def test_language_models_are_counted_apart() -> None:
    """Their symptoms have other causes."""
    assert {family for family in FAMILY_NAMES if is_text(family)} == {"grpo", "preference", "rlhf"}
