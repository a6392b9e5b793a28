"""Facts about language models: how they sample, how far they drift, what their rewards tell.

Unlike a control task, a model that is trained on with RL is good before the first update: its
entropy, its distance from the reference and the spread of its rewards mean something at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.advice.critic_symptoms import Fact
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.ranges import clips_sequences
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import LLM_FAMILIES

LIMITS: Mapping[str, float] = {
    "truncated": 0.5,
    "entropy_none": 0.01,  # nats a token
    "entropy_wide": 1.5,
    "drift_points": 10,
    "drift_none": 1e-5,  # nats a token
    "drift_small": 0.003,
    "drift_far": 0.1,
    "drift_early": 20,  # updates
    "clipped": 0.15,
    "gradient_none": 1e-6,
    "tied": 0.8,
    "tells": 0.15,  # of the rewards' spread
    "reward_points": 5,
    "used_again": 1.8,
    "reused": 8,
    "cut_off": 0.2,
}
"""Where each fact begins."""


def _start(run: JudgedRun, concept: str) -> float | None:
    """The level of the first three values of a language model's metric."""
    history = run.histories.get(concept)
    if history is None or run.family not in LLM_FAMILIES:
        return None
    return history.start


def samples_alike(run: JudgedRun) -> bool | None:
    """The sampled text has had no entropy from the first update on: sampling is all but greedy.

    One of exactly 0 is not measured where rewards differ: greedy samples of a prompt are the same.
    """
    start, rewards = _start(run, "entropy"), run.histories.get("reward_std")
    if start is None or (start == 0.0 and rewards is not None and rewards.high > 0.0):
        return None
    return start < LIMITS["entropy_none"]


def samples_wide(run: JudgedRun) -> bool | None:
    """The sampled text has been far from certain from the first update on."""
    start = _start(run, "entropy")
    return None if start is None else start > LIMITS["entropy_wide"]


def _drift(run: JudgedRun) -> History | None:
    """The KL to the reference per token, of a model that was given some updates."""
    history = run.histories.get("ref_kl_token")
    known = history is not None and history.count >= LIMITS["drift_points"]
    return history if known and run.family in LLM_FAMILIES else None


def never_left(run: JudgedRun) -> bool | None:
    """The policy is its reference still."""
    history = _drift(run)
    return None if history is None else history.size < LIMITS["drift_none"]


def hardly_left(run: JudgedRun) -> bool | None:
    """The policy moves, but stays beside its reference."""
    history = _drift(run)
    if history is None:
        return None
    return history.size >= LIMITS["drift_none"] and history.level < LIMITS["drift_small"]


def drifts_early(run: JudgedRun) -> bool | None:
    """The policy was far from its reference within its first updates."""
    history = run.histories.get("ref_kl_token")
    if history is None or run.family not in LLM_FAMILIES:
        return None
    early = history.first[: int(LIMITS["drift_early"])]
    return max(early, default=0.0) > LIMITS["drift_far"]


def much_clipped(run: JudgedRun) -> bool | None:
    """Many samples are outside the clip range."""
    sides = [run.histories.get(name) for name in ("clip_fraction", "clip_low", "clip_high")]
    known = [side for side in sides if side is not None]
    if not known or run.family not in LLM_FAMILIES or clips_sequences(run.profile):
        return None
    whole, *halves = (0.0 if side is None else side.level for side in sides)
    return max(whole, sum(halves)) > LIMITS["clipped"]


def never_clipped(run: JudgedRun) -> bool | None:
    """Not a sample was ever clipped, though batches are used again and the policy moves far."""
    far, clipped = drifts_early(run), run.histories.get("clip_high")
    gradients, rewards = run.histories.get("grad_norm"), run.reward
    if clipped is None or gradients is None or rewards is None:
        return None
    again = gradients.count >= LIMITS["used_again"] * rewards.history.count
    return far and again and clipped.size == 0.0


def no_gradient(run: JudgedRun) -> bool | None:
    """There is no gradient to speak of."""
    history = run.histories.get("grad_norm")
    if history is None or run.family not in LLM_FAMILIES:
        return None
    return history.size < LIMITS["gradient_none"]


def groups_tie(run: JudgedRun) -> bool | None:
    """Most groups of completions have equal rewards."""
    history = run.histories.get("frac_zero_std")
    return None if history is None else history.level > LIMITS["tied"]


def reward_drowned(run: JudgedRun) -> bool | None:
    """Rewards average next to nothing beside their spread."""
    spread, reward = run.histories.get("reward_std"), run.reward
    if spread is None or reward is None or run.family not in LLM_FAMILIES:
        return None
    rewards = reward.history.recent
    if len(rewards) < LIMITS["reward_points"]:
        return None
    return abs(median(rewards)) < LIMITS["tells"] * spread.level


def batch_reused(run: JudgedRun) -> bool | None:
    """A batch of completions is trained on for many updates: rewards come with new ones only."""
    gradients, rewards = run.histories.get("grad_norm"), run.reward
    if gradients is None or rewards is None or run.family not in LLM_FAMILIES:
        return None
    return gradients.count >= LIMITS["reused"] * rewards.history.count


def completions_end(run: JudgedRun) -> bool | None:
    """Hardly a completion has ever been cut off at the length limit."""
    shares = _cut_off(run)
    if shares is None or run.family not in LLM_FAMILIES:
        return None
    return shares.high < LIMITS["cut_off"]


class CutOff(NamedTuple):
    """The share of completions that were cut off at the length limit: at first, now, at most."""

    start: float
    last: float
    high: float


def _cut_off(run: JudgedRun) -> CutOff | None:
    """As it is logged; else by how many end tokens the completions of an update hold."""
    if (history := run.histories.get("truncated_frac")) is not None:
        return CutOff(history.start, history.last, history.high)
    ends, episodes = run.histories.get("eos_count"), run.histories.get("episode")
    if ends is None or episodes is None or len(episodes.first) < 2:
        return None
    completions = episodes.first[1] - episodes.first[0]
    if completions <= 0 or episodes.count != ends.count:
        return None
    return CutOff(*(1.0 - each / completions for each in (ends.start, ends.last, ends.low)))


def truncated(run: JudgedRun) -> bool | None:
    """Most completions end at the length limit."""
    shares = _cut_off(run)
    return None if shares is None else shares.last > LIMITS["truncated"]


def at_limit_from_start(run: JudgedRun) -> bool | None:
    """Most completions ended at the length limit from the beginning."""
    shares = _cut_off(run)
    return None if shares is None else shares.start > LIMITS["truncated"]


def grew_to_limit(run: JudgedRun) -> bool | None:
    """Completions reach the length limit more and more, and the reward has risen with them."""
    grew, cut = at_limit_from_start(run), truncated(run)
    if cut is None or run.reward is None:
        return None
    return cut and not grew and run.keeps_gain


def rule_pays(run: JudgedRun) -> bool | None:
    """A rule gives the reward, which has risen by more than noise, and keeps most of that."""
    return run.reward_pays if run.rewarded_by_rules and run.reward is not None else None


LANGUAGE_FACTS: Mapping[str, Fact] = {
    "samples without entropy from the start": samples_alike,
    "entropy above 1.5 nats a token from the start": samples_wide,
    "KL to the reference 0": never_left,
    "KL to the reference stays tiny": hardly_left,
    "KL to the reference above 0.1 a token within 20 updates": drifts_early,
    "samples clipped, more than 15 %": much_clipped,
    "never clipped, though batches are used again": never_clipped,
    "gradient 0": no_gradient,
    "groups of equal rewards": groups_tie,
    "rewards average nothing beside their spread": reward_drowned,
    "more than 8 updates a batch of completions": batch_reused,
    "completions never at the length limit": completions_end,
    "completions at the length limit": truncated,
    "completions at the length limit from the start": at_limit_from_start,
    "completions grew to the length limit as reward rose": grew_to_limit,
    "a rule's reward gained and kept": rule_pays,
}
"""What a reader calls it -> how it is seen."""
