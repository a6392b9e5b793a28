"""What tags mean: every trainer's table, who wrote a log, and what is guessed of unknown ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ppo_top.catalogue import (
    IGNORE,
    METRIC_GROUPS,
    UNKNOWN_TRAINER,
    Concept,
    TagEntry,
    TagTable,
    Trainer,
    alias_meaning,
    concept,
    concepts,
    is_concept,
    known_trainers,
    meaning,
    suggested_alias,
    table,
    trainer_tables,
)
from ppo_top.catalogue.concepts import LABEL_WIDTH

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
TABLES = list(trainer_tables().values())
TRAINERS = {trainer.id: trainer for trainer in known_trainers()}

DIRECTIONS = {"up", "down", "band", "near 0", "near 1", "flat", "info", "mono"}
WORDS = {
    "=", "neg", "pct", "ms", "1-x", "bin", "zero-missing",  # what is done to the number
    "update", "step",  # a mean of what one update collected
    "ignore",  # neither drawn nor judged
}  # fmt: skip


def concept_of(trainer: str, tag: str) -> str | None:
    """The concept of a tag of a trainer."""
    found = meaning(TRAINERS[trainer], tag)
    return found.concept if found else None


# --- the tables ------------------------------------------------------------------------------


def means(entry: TagEntry) -> str | None:
    """The concept that a line of a table gives to its tag; None if it gives none."""
    if "ignore" in entry.modifiers:
        return IGNORE
    return None if entry.concept == "-" else entry.concept.replace("{f}", "{speed}")


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.id)
def test_every_tag_is_found_as_its_line_says(each: TagTable) -> None:
    """A tag leads back to its own line, with its parameter filled in, whatever else is there."""
    for entry in each.entries.values():
        tag = entry.tag.replace("{f}", "speed").replace("*", "x")
        found = each.find_entry(tag)
        assert found is not None, tag
        assert found[0] is entry
        name = concept_of(each.id, tag)
        assert (tag, name) == (tag, means(entry))
        assert name is None or name == IGNORE or is_concept(name)


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.id)
def test_every_line_uses_known_words(each: TagTable) -> None:
    """A misspelt word in the third column cannot pass for "nothing special"."""
    valued = re.compile(r"window:[1-9]\d*")
    words = {word for entry in each.entries.values() for word in entry.modifiers}
    assert {word for word in words if not valued.fullmatch(word)} <= WORDS


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.id)
def test_no_tag_stands_twice_in_a_table(each: TagTable) -> None:
    """Two lines for one tag would leave it to chance what it means."""
    text = (table.TABLES_FOLDER / f"{each.id}.tsv").read_text(encoding="utf-8")
    tags = [cells[0] for _, cells in table.table_rows(text) if not cells[0].startswith("!")]
    assert sorted(tags) == sorted(set(tags))
    assert all(len(cells) <= 4 for _, cells in table.table_rows(text))


@pytest.mark.parametrize("each", TABLES, ids=lambda each: each.id)
def test_every_table_has_a_head(each: TagTable) -> None:
    """A trainer has a name, a family whose limits apply, marks to know it by, and a length."""
    assert each.label
    assert each.families or each.algorithms or each.id in ("monitor", "elegantrl", "lightning")
    assert each.evidence
    assert each.total_options, "a line `!total` names the options that say how long a run will be"


def test_a_wrong_head_line_is_an_error_of_ours(tmp_path: Path) -> None:
    """A table with a misspelt head line does not load silently."""
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("!famly\tctrl\n")
    with pytest.raises(ValueError, match="famly"):
        table._read_table(wrong)


@pytest.mark.parametrize("each", concepts().values(), ids=lambda each: each.name)
def test_every_concept_can_be_drawn(each: Concept) -> None:
    """A concept has a group, a direction, a short label and one sentence that explains it."""
    assert each.group in METRIC_GROUPS
    assert each.direction in DIRECTIONS
    assert each.fmt in {"4g", "pct", "int", "lr", "s"}
    assert 0 < len(each.label) <= LABEL_WIDTH
    assert each.meaning.endswith(".")


def test_labels_tell_concepts_apart() -> None:
    """No two concepts have the same label."""
    labels = [each.label for each in concepts().values()]
    assert sorted(labels) == sorted(set(labels))


# --- names of concepts -----------------------------------------------------------------------


def test_a_parameter_becomes_part_of_the_label() -> None:
    """`reward_component_mean{accuracy}` is called accuracy, and keeps its group."""
    found = concept("reward_component_mean{accuracy}")
    assert (found.label, found.group, found.direction) == ("accuracy", "Reward", "up")


def test_a_long_name_keeps_its_end() -> None:
    """What does not fit is cut in front: the ends of names tell them apart."""
    assert concept("reward_component_mean{a_very_long_name_of_a_reward}").label.startswith("…")
    assert len(concept("tag:x/" + "y" * 100).label) == LABEL_WIDTH


def test_a_tag_without_a_concept_can_be_drawn_too() -> None:
    """It goes to the group of others under its own name and is never judged."""
    found = concept("tag:my/thing")
    assert (found.group, found.label, found.direction) == ("Other", "my/thing", "info")


def test_quantiles_of_a_histogram_are_concepts() -> None:
    """A histogram comes as numbers: its largest value and its quantiles have names."""
    legacy = TRAINERS["trl-legacy"]
    assert concept_of("trl-legacy", "ppo/policy/ratio/max") == "ratio_dist{max}"
    assert concept_of("trl-legacy", "env/reward_dist/p99") == "reward_p99"
    assert concept("reward_p99").label == "reward p99"
    assert meaning(legacy, "ppo/val/mean/max") is None
    assert not is_concept("nonsense_p99")


# --- unknown trainers ------------------------------------------------------------------------

GUESSES = [
    ("agent/approx_kl", "approx_kl"),
    ("kl_divergence", "approx_kl"),
    ("rlhf/kl", "ref_kl"),
    ("objective/kl", "ref_kl"),
    ("ppo/clip_frac", "clip_fraction"),
    ("completions/clipped_ratio", "truncated_frac"),
    ("response_length/clip_ratio", "truncated_frac"),
    ("critic/explained_var", "explained_variance"),
    ("vf_loss", "value_loss"),
    ("losses/value", "value_loss"),
    ("Loss/Value Function", "value_loss"),
    ("loss/policy_loss", "policy_loss"),
    ("episode_reward", "reward_mean"),
    ("train/mean_reward", "reward_mean"),
    ("Avg_Reward_100", "reward_mean"),
    ("TotalReward", "reward_mean"),
    ("TrueAverageReturn", "reward_mean"),
    ("Rewards/Episode", "reward_mean"),
    ("reward_per_episode", "reward_mean"),
    ("reward_mean_raw", "reward_mean"),
    ("reward_mean_norm", None),
    ("ep_r", "reward_mean"),
    ("avg_reward_last_100", "reward_mean"),
    ("reward", "reward_mean"),
    ("eval/episode_reward", "eval_reward_mean"),
    ("policy/policy_entropy", "entropy"),
    ("train/grad_norm", "grad_norm"),
    ("optimizer/learning-rate", "lr"),
    ("perf/SPS", "fps"),
    ("loss", "total_loss"),
    ("Train_AverageReturn", "reward_mean"),
    ("Eval_AverageReturn", "eval_reward_mean"),
    ("Train_AverageEpLen", "ep_len"),
    ("mean 100 episode reward", "reward_mean"),
    ("Mean reward (last_100)", "reward_mean"),
    ("train/return", "reward_mean"),
    ("average reward score", "reward_mean"),
    ("mean actor loss", "policy_loss"),
    ("act_loss", "policy_loss"),
    ("cri_loss", "value_loss"),
    ("loss_v", "value_loss"),
    ("KL_ref", "ref_kl"),
    ("episode_reward_mean", "reward_mean"),
    ("pi_loss", "policy_loss"),
    ("vf", "value_loss"),
    ("ret", "reward_mean"),
    ("Episodes", "episode"),
    ("episode", "episode"),
    ("Ep", "episode"),
    ("loss/critic_1", "critic_loss"),
    ("critic_loss_2", "critic_loss"),
    ("Alpha/value", "entropy_coef"),
    ("episodes_this_hour", None),
    ("env_steps", "step"),
    ("total_env_steps", "step"),
    ("steps", "step"),
    ("Ep Length", "ep_len"),
    ("avg_return", "reward_mean"),
    ("score", "reward_mean"),
    ("ent", "entropy"),
    ("H", "entropy"),
    ("entropy_bonus", "entropy"),
    ("approx_kl_div", "approx_kl"),
    ("clipped", "clip_fraction"),
    ("success", "success_rate"),
    ("len", "ep_len"),
    ("qf1_loss", "critic_loss"),
    ("td_loss", "critic_loss"),
    ("epsilon", "exploration_rate"),
    ("alpha", "entropy_coef"),
    ("loss/alpha", None),
    ("losses/ent_coef", None),
    ("cumulative_reward", "reward_mean"),
    ("q_values", "value_mean"),
    ("qvals", "value_mean"),
    ("ep_steps", "ep_len"),
    ("avg_ep_steps", "ep_len"),
    ("response_length/mean", "resp_len_mean"),
    ("rewards/margins", "preference_margin"),
    ("episode_reward_max", None),
    ("episode_reward_std", None),
    ("returns", None),
    ("eval/loss", None),
    ("accuracy", None),
    ("critic/lr", None),
    ("entropy_loss", "entropy"),
    ("env_reward", "reward_mean"),
    ("Avg_Fitness", "reward_mean"),
    ("Best_Fitness", "reward_max"),
    ("best_fitness_this_gen", "reward_max"),
    ("best_fitness_overall", None),
    ("elite_mean_fitness", "reward_mean"),
    ("Avg predator reward", "reward_component_mean{predator}"),
    ("per_timestep/reward", None),
    ("per_timestep/episodic_return", "reward_mean"),
    ("Reward cumulee", "reward_mean"),
    ("player0_winrate", "win_rate"),
    ("avg_win_rate", "win_rate"),
    ("Récompense cumulée", "reward_mean"),
    ("solver_reward", "reward_component_mean{solver}"),
    ("raw_reward", None),
    ("Last mean reward", "reward_mean"),
    ("Best mean reward", None),
    ("Average Episodic Length", "ep_len"),
    ("step", "step"),
    ("Frame", "step"),
    ("total_timesteps", "step"),
    ("first_step", None),
    ("recent_return_mean", "reward_mean"),
    ("recent_mean_reward", "reward_mean"),
    ("recent_return_max", None),
    ("training_rewards", "reward_mean"),
    ("training_reward_std", None),
    ("total_left_agent_reward", "reward_component_mean{left_agent}"),
    ("avg_step_reward", None),
    ("std-test-episode-return", "eval_reward_std"),
    ("eval/return_std", "eval_reward_std"),
    ("max-test-episode-return", None),
    ("average-test-episode-return", "eval_reward_mean"),
    ("max-episode-return", "reward_max"),
    ("MaxRew", "reward_max"),
    ("min 100 episode reward", "reward_min"),
    ("average-q-values", "value_mean"),
    ("Qmax", "value_mean"),
    ("max-q-values", None),
    ("mu-loss", "policy_loss"),
    ("rewards/format/mean", "reward_component_mean{format}"),
    ("rewards/format/std", "reward_component_std{format}"),
    ("rewards/reward/mean", "reward_mean"),
    ("train/std", "policy_std"),
    ("policy_std", "policy_std"),
    ("std", "policy_std"),
    ("advantages/std", None),
    ("Reward 2", "reward_mean"),
    ("Actor Loss 1", "policy_loss"),
    ("layer_1", None),
    ("reward_per_agent_step", "reward_mean"),
    ("rewards/per_step", "reward_mean"),
    ("Rewards obtained", "reward_mean"),
    ("avgR", "reward_mean"),
    ("episode/steps", "ep_len"),
    ("EpisodeAveLength", "ep_len"),
    ("train/critic1_loss", "critic_loss"),
    ("pol_loss", "policy_loss"),
    ("vf_ev", "explained_variance"),
    ("mean_score_100", "reward_mean"),
    ("score_std", None),
    ("reward_sum", "reward_mean"),
    ("Reward_Total", "reward_mean"),
    ("Average sum of rewards per episode", "reward_mean"),
    ("Mean Return (Reward)", "reward_mean"),
    ("Mean Return (std)", None),
    ("episode.rwd", "reward_mean"),
    ("KL between old and new distribution", "approx_kl"),
    ("Avg learning reward", "reward_mean"),
    ("Avg testing reward", "eval_reward_mean"),
    ("val_best_score", None),
    ("best_eval_reward", None),
    ("Reward/train", "reward_mean"),
    ("Reward/test", "eval_reward_mean"),
    ("global_avg_reward", "reward_mean"),
    ("client_avg_reward", "reward_mean"),
    ("team_reward", "reward_mean"),
    ("client_reward_std", None),
    ("Env_1_Reward", "reward_mean"),
    ("dqn_rewards", "reward_mean"),
    ("boltzmann_reward", "reward_mean"),
    ("epsilon_greedy_returns", "reward_mean"),
    ("ql_rewards", "reward_mean"),
    ("Q-Learning Avg Reward", "reward_mean"),
    ("ppo_reward_std", None),
    ("agent_0_reward", "reward_mean"),
    ("env_reward_scale", None),
    ("policy_losses", "policy_loss"),
    ("value_losses", "value_loss"),
    ("td_errors", "critic_loss"),
    ("losses", "total_loss"),
    ("loss_mean", "total_loss"),
    ("losses/mean_reward_gap", None),
    ("entropies", "entropy"),
    ("e_greed", "exploration_rate"),
    ("e_greedy", "exploration_rate"),
    ("Explore P", "exploration_rate"),
    ("探索率", "exploration_rate"),
    ("train success rate", "success_rate"),
    ("total numsteps", "step"),
    ("Reward/(t)", "reward_mean"),
    ("Average Distance Covered (m)/episode", None),
    ("Max Speed/episode", None),
    ("charts/episode", "episode"),
    ("random/mean_reward", None),
    ("Recompensa total del episodio", "reward_mean"),
    ("récompense moyenne par épisode", "reward_mean"),
    ("reward_stats/mean", "reward_mean"),
    ("reward_stats/std", None),
    ("return_episode_3", "eval_reward_mean"),
    ("eval_R", "eval_reward_mean"),
    ("train_R", "reward_mean"),
    ("Val chosen reward", None),
    ("TEST: Cumulative Reward/(t)", "eval_reward_mean"),
    ("TEST: Episodic Reward/episode", "eval_reward_mean"),
    ("Train: Episodic Reward", "reward_mean"),
    ("rewards_rejected", None),
]


@pytest.mark.parametrize(("tag", "expected"), GUESSES)
def test_tags_of_unknown_trainers_are_guessed_with_care(tag: str, expected: str | None) -> None:
    """A likely name counts as a guess; of entropy_loss the first value has to tell the sign."""
    found = meaning(UNKNOWN_TRAINER, tag)
    assert (found.concept if found else None) == expected
    assert found is None or found.either_sign == ("entropy_loss" in tag)
    assert found is None or found.fallback


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("Win Rate%", "win_rate"),
        ("success_rate (%)", "success_rate"),
        ("success_rate_pct", "success_rate"),
        ("Epsilon%", "exploration_rate"),
        ("Reward%", None),
    ],
)
def test_a_share_in_percent_is_scaled(tag: str, expected: str | None) -> None:
    """What is no share is not known in percent."""
    found = meaning(UNKNOWN_TRAINER, tag)
    assert (found and found.concept, found and found.scale) == (expected, expected and 0.01)


@pytest.mark.parametrize(
    ("tag", "alias"),
    [
        ("shaped_reward", "reward_mean"),
        ("clip", "clip_fraction"),
        ("returns", "reward_mean"),
        ("profit", "reward_mean"),
        ("Game/outcome", "reward_mean"),
        ("ret", None),
        ("recent_mean50", "reward_mean"),
        ("Period Average", "reward_mean"),
        ("Avg(100)", "reward_mean"),
        ("mean", None),
        ("learning curve", None),
    ],
)
def test_a_name_that_may_mean_a_metric_is_only_suggested(tag: str, alias: str | None) -> None:
    """Its meaning is open; what is suggested is an alias for the settings file."""
    assert suggested_alias(tag) == alias
    assert alias is None or (meaning(UNKNOWN_TRAINER, tag) is None and alias_meaning(alias))


@pytest.mark.parametrize("score", ["Score", "Avg Score", "score_last_100"])
@pytest.mark.parametrize("reward", ["Total_Reward", "Avg Reward", "mean_return"])
def test_a_reward_is_preferred_to_a_score(score: str, reward: str) -> None:
    """A game's score is what people count; the reward is what the agent learns from."""
    points, trained = meaning(UNKNOWN_TRAINER, score), meaning(UNKNOWN_TRAINER, reward)
    assert points is not None and trained is not None
    assert points.concept == trained.concept == "reward_mean"
    assert trained.priority < points.priority


def test_where_values_do_not_tell_the_sign_the_usual_one_is_suggested() -> None:
    """Most scripts log what they minimise: minus the entropy."""
    assert suggested_alias("losses/entropy_loss") == "entropy neg"


@pytest.mark.parametrize("name", ["episodic return", "episodic_returns"])
def test_an_episodic_return_is_that_of_one_episode(name: str) -> None:
    """Its name says so; means over episodes are called otherwise."""
    episodic, mean = (
        meaning(UNKNOWN_TRAINER, name),
        meaning(UNKNOWN_TRAINER, "mean_episodic_return"),
    )
    assert episodic is not None and mean is not None
    assert (episodic.concept, episodic.per_episode) == ("reward_mean", True)
    assert (mean.concept, mean.per_episode) == ("reward_mean", False)


def test_nothing_is_guessed_for_a_known_trainer() -> None:
    """A tag that is not in its trainer's table stands for no concept."""
    assert meaning(TRAINERS["sb3"], "my/approx_kl") is None


def test_the_norm_of_a_loss_s_gradient_is_no_loss() -> None:
    """BenchMARL logs both, for each group of agents."""
    assert concept_of("benchmarl", "train_agents_loss_critic") == "value_loss"
    assert concept_of("benchmarl", "train_agents_grad_norm_loss_critic") == "critic_grad_norm"


def test_a_user_may_name_his_own_tags() -> None:
    """His words count before every table, with the same transforms as the tables have."""
    own = {"my/h": "entropy neg", "train/loss": "value_loss", "bad": "no_such_concept"}
    sb3 = TRAINERS["sb3"]
    found = meaning(sb3, "my/h", own)
    assert found is not None
    assert (found.concept, found.scale) == ("entropy", -1.0)
    renamed = meaning(sb3, "train/loss", own)
    assert renamed is not None
    assert renamed.concept == "value_loss"
    assert alias_meaning("no_such_concept") is None
    assert alias_meaning("") is None


def test_a_flood_of_tags_does_not_fill_the_memory() -> None:
    """What is remembered of tags is bounded."""
    from ppo_top.catalogue.tags import _meaning

    for number in range(6000):
        meaning(Trainer("sb3", "SB3", "on-policy", ""), f"flood/{number}")
    assert _meaning.cache_info().currsize <= 4096
