"""Which family a run belongs to: by its algorithm, by its tags, or by what it logs."""

from __future__ import annotations

import pytest

from ppo_top.catalogue import (
    UNKNOWN_TRAINER,
    algorithms,
    facts_about,
    family_of_metrics,
    identify,
    known_trainers,
    meaning,
)
from ppo_top.rules.engine.terms import ALL_FAMILIES


@pytest.mark.parametrize(
    ("tags", "family"),
    [
        (["ret", "pi_loss", "vf"], "on-policy"),
        (["avg_return", "kl_div", "ent"], "on-policy"),
        (["score", "clipped"], "on-policy"),
        (["mean_reward", "actor_loss", "critic_loss", "entropy"], "on-policy"),
        (["mean_reward", "actor_loss", "critic_loss", "alpha"], "off-policy"),
        (["episode_reward", "actor_loss", "critic_loss", "q_values"], "off-policy"),
        (["return", "actor_loss", "critic_loss", "entropy", "alpha", "q_values"], "off-policy"),
        (["episode_reward", "actor_loss", "qf1_loss"], "off-policy"),
        (["episode_reward", "td_loss"], "value-based"),
        (["episode_reward", "loss", "epsilon"], "value-based"),
        (["episode_reward", "loss", "q_values"], "value-based"),
        (["reward", "completion_length", "kl_ref"], "grpo"),
        (["reward", "ref_kl", "value_loss"], "rlhf"),
        (["loss", "rewards/margins", "rewards/accuracies"], "preference"),
        (["reward", "ep_len", "lr"], "unknown"),
        (["loss", "accuracy"], "unknown"),
        ([], "unknown"),
    ],
)
def test_what_a_script_logs_shows_its_family(tags: list[str], family: str) -> None:
    """The names are mapped by meaning first; where they are too few, nothing is claimed."""
    known = (meaning(UNKNOWN_TRAINER, tag) for tag in tags)
    assert family_of_metrics(each.concept for each in known if each is not None) == family


@pytest.mark.parametrize(
    ("tags", "family"),
    [
        (["rollout/ep_rew_mean", "train/clip_fraction"], "on-policy"),
        (["rollout/ep_rew_mean", "train/policy_loss", "train/value_loss"], "on-policy"),
        (["rollout/ep_rew_mean", "train/kl_divergence_loss"], "on-policy"),
        (["rollout/ep_rew_mean", "rollout/exploration_rate", "time/episodes"], "value-based"),
        (["rollout/ep_rew_mean", "train/actor_loss", "train/critic_loss"], "off-policy"),
        (["rollout/ep_rew_mean", "time/episodes"], "off-policy"),
        (["rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps"], "unknown"),
        (["charts/SPS", "losses/td_loss"], "value-based"),
        (["charts/SPS", "losses/alpha"], "off-policy"),
        (["train/rewards/margins", "train/loss"], "preference"),
        (["train/completions/mean_length"], "grpo"),
        (["objective/scores", "policy/approxkl_avg", "val/ratio", "loss/value_avg"], "rlhf"),
        (["objective/scores", "policy/approxkl_avg", "val/ratio", "loss/policy_avg"], "grpo"),
    ],
)
def test_tags_of_known_trainers_show_the_family(tags: list[str], family: str) -> None:
    """Rollouts without a loss do not make a PPO run: SB3 logs them for every algorithm."""
    assert identify(tags).family == family


def test_rloo_is_not_called_grpo_or_ppo() -> None:
    """TRL's RLOOTrainer logged PPO's names, without those of a critic."""
    found = identify(["objective/scores", "policy/approxkl_avg", "val/ratio", "loss/policy_avg"])
    assert (found.algo, found.label) == ("RLOO", "TRL RLOO")


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        (["loss_type", "beta"], "TRL GRPO"),
        (["reward_clip_range", "beta"], "TRL RLOO"),
        (["beta"], "TRL GRPO/RLOO"),
    ],
)
def test_the_newer_rloo_logs_the_names_of_grpo(settings: list[str], label: str) -> None:
    """Only options tell them apart; without these, no name is claimed."""
    tags = ["completions/mean_length", "reward", "kl"]
    assert identify(tags, settings=settings).label == label


def test_families_of_the_tables_are_families_of_the_rules() -> None:
    """A misspelt family would leave a run without rules."""
    named = {each.family for each in known_trainers()}
    named |= {each.family for each in algorithms().values()}
    assert named <= ALL_FAMILIES


def test_facts_are_of_trainer_and_algorithm() -> None:
    """A table that is like another one has its facts; A2C does not normalise advantages.

    Nor has VPG's loss ratios of probabilities, which are near 1.
    """
    assert "adaptive-rate" in facts_about("rsl_rl")
    assert "rounded" in facts_about("unknown") and "rounded" not in facts_about("sb3")
    assert "normalised-advantages" in facts_about("sb3", "PPO")
    assert "normalised-advantages" not in facts_about("sb3", "A2C")
    assert "normalised-advantages" not in facts_about("", "VPG")
