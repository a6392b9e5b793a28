"""Facts about a run that tell causes apart, whatever rule has fired.

Each is answered yes, no, or not at all (None: the log does not hold what it rests on). How often
each stood beside which cause is counted on labelled runs: `catalogue/cause_counts.tsv`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ppo_top.rules.advice.critic_symptoms import CRITIC_FACTS, Fact, critic_loss, values_short
from ppo_top.rules.advice.exploration_symptoms import EXPLORATION_FACTS
from ppo_top.rules.advice.language_symptoms import LANGUAGE_FACTS
from ppo_top.rules.advice.rate_symptoms import RATE_FACTS, known_rate, rate_low
from ppo_top.rules.advice.setting_symptoms import SETTING_FACTS
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.ranges import clips_sequences
from ppo_top.rules.engine.terms import LLM_FAMILIES, ON_POLICY

LIMITS: Mapping[str, float] = {
    "clip_wide": 0.5,
    "clip_narrow": 0.05,
    "epochs": 30.0,
    "rollout": 64.0,
    "reward_times": 100.0,
    "loss_none": 1e-8,
    "kl_large": 0.05,
    "kl_none": 1e-5,
    "explained": 0.2,
    "explained_well": 0.8,
    "explained_lost": 0.3,
    "explained_negative": -1.0,
    "explained_none": 1e-6,
    "lost": 0.35,
    "below": 3.0,
    "at_once": 12.0,
}
"""Where each fact begins."""


def clip_wide(run: JudgedRun) -> bool | None:
    """The clip range hardly limits the step."""
    value = run.setting("clip_range")
    return None if value is None else value > LIMITS["clip_wide"]


def clip_narrow(run: JudgedRun) -> bool | None:
    """The clip range hardly permits a step; GSPO's, of whole completions, is far narrower."""
    value = run.setting("clip_range")
    if value is None or clips_sequences(run.profile):
        return None
    return value < LIMITS["clip_narrow"]


def many_epochs(run: JudgedRun) -> bool | None:
    """Many passes over the same data."""
    if run.family != ON_POLICY:
        return None
    value = run.config_number("n_epochs")
    history = run.histories.get("n_updates")
    if value is None and history is not None and "n-updates-of-epochs" in run.facts:
        recent = history.recent[-2:]
        value = recent[-1] - recent[0] if len(recent) == 2 else None
    return None if value is None else value > LIMITS["epochs"]


def rollout_tiny(run: JudgedRun) -> bool | None:
    """An update rests on very few steps."""
    if run.family != ON_POLICY or not run.steps_per_update:
        return None
    return run.steps_per_update < LIMITS["rollout"]


def learned_before(run: JudgedRun) -> bool | None:
    """The reward had risen before."""
    return None if run.reward is None else run.reward.gained or run.was_at_ceiling


def learned_nothing_unmeasured(run: JudgedRun) -> bool | None:
    """The reward is flat and never rose; nothing in the log says how large updates are.

    At a learning rate that is only a few times too high a run learns for a while.
    """
    if run.reward is None or "approx_kl" in run.histories or known_rate(run) is not None:
        return None
    return run.reward.flat and not run.reward.gained


def reward_constant(run: JudgedRun) -> bool | None:
    """The reward has been the same in every row."""
    return None if run.reward is None or run.reward.count < 3 else run.reward.constant


def reward_zero(run: JudgedRun) -> bool | None:
    """The reward has been exactly 0 in every row."""
    reward = run.reward
    return None if reward is None else reward.constant and not reward.start_pays


def texts_pay_alike(run: JudgedRun) -> bool | None:
    """The reward of a language model has been one number other than 0 in every row.

    It is no task that is never solved: such texts earn nothing.
    """
    constant, zero = reward_constant(run), reward_zero(run)
    return None if constant is None or run.family not in LLM_FAMILIES else constant and not zero


def below_start(run: JudgedRun) -> bool | None:
    """The reward is below the level it began at."""
    reward = run.reward
    if reward is None or reward.points < 3:
        return None
    if reward.gained:
        return reward.smooth < reward.baseline - LIMITS["below"] * reward.noise
    return reward.below > LIMITS["below"] * reward.sd


def fell_at_once(run: JudgedRun) -> bool | None:
    """The reward fell from its best within a few rows."""
    reward = run.reward
    if reward is None or not reward.gained:
        return None
    fast = run.mark.row - reward.best_row <= LIMITS["at_once"]
    return fast and reward.lost_share > LIMITS["lost"]


def reward_jumped(run: JudgedRun) -> bool | None:
    """The size of the reward has changed by powers of ten."""
    reward = run.reward
    if reward is None:
        return None
    early = max(map(abs, reward.history.first[:5]))
    late = max(map(abs, reward.history.recent[-5:]))
    return late > LIMITS["reward_times"] * early > 0.0


def critic_loss_near_zero(run: JudgedRun) -> bool | None:
    """The loss of the critic is tiny beside the rewards: there is nothing to predict."""
    history, reward = critic_loss(run), run.reward
    if history is None or reward is None:
        return None
    return history.level < LIMITS["loss_none"] * reward.scale**2


def same_value(run: JudgedRun) -> bool | None:
    """The critic has returned the same value for every state from the first update on."""
    history = run.histories.get("explained_variance")
    if history is None or history.count < 3:
        return None
    return history.size < LIMITS["explained_none"]


def kl_large(run: JudgedRun) -> bool | None:
    """Updates change the policy a lot."""
    history = run.histories.get("approx_kl")
    return None if history is None else max(history.recent[-5:]) > LIMITS["kl_large"]


def kl_none(run: JudgedRun) -> bool | None:
    """Updates do not change the policy."""
    history = run.histories.get("approx_kl")
    return None if history is None else abs(history.level) < LIMITS["kl_none"]


def kl_never(run: JudgedRun) -> bool | None:
    """No update has ever changed the policy; a KL of 0 now may be the end of one that is lost."""
    history = run.histories.get("approx_kl")
    return None if history is None else history.size < LIMITS["kl_none"]


def explains_nothing(run: JudgedRun) -> bool | None:
    """The critic explains next to nothing."""
    history = run.histories.get("explained_variance")
    return None if history is None else history.level < LIMITS["explained"]


def explains_well(run: JudgedRun) -> bool | None:
    """The critic predicts the returns: what is wrong is not its doing."""
    history = run.histories.get("explained_variance")
    return None if history is None else history.level > LIMITS["explained_well"]


def explains_less(run: JudgedRun) -> bool | None:
    """The critic explained far more before."""
    history = run.histories.get("explained_variance")
    if history is None:
        return None
    lost = history.high - history.level
    return history.high > LIMITS["explained_lost"] and lost > LIMITS["explained_lost"]


def explains_worse_than_nothing(run: JudgedRun) -> bool | None:
    """The critic is far off: explained variance far below 0."""
    history = run.histories.get("explained_variance")
    return None if history is None else min(history.recent[-5:]) < LIMITS["explained_negative"]


def untrained_values(run: JudgedRun) -> bool | None:
    """The critic's values stay near 0 though the learning rate is no reason for that."""
    low, short = rate_low(run), values_short(run)
    return None if low is None else short and not low


def no_loss(run: JudgedRun) -> bool | None:
    """A trainer that logs losses has logged none, and no other trace of an update."""
    if not run.should_log_losses:
        return None
    return not run.has_updates


def updates_stopped(run: JudgedRun) -> bool | None:
    """Updates, their losses and their rate, are no longer logged."""
    return run.updates_stopped


def not_finite(run: JudgedRun) -> bool | None:
    """Some metric is NaN or infinite that was a number before, or that is at fault for it.

    Explained variance is NaN where all returns are equal; skrl logs the standard deviation of
    discrete actions as NaN in every update.
    """
    told = run.histories.keys() | run.non_finite.keys()
    return any(name in told for name in run.non_finite_now if name != "explained_variance")


def always_finite(run: JudgedRun) -> bool | None:
    """No metric is NaN or infinite, and none was; nor does the console tell of one."""
    return not not_finite(run) and run.opened_rows.keys().isdisjoint(("non-finite", "hidden-nan"))


def reward_not_finite(run: JudgedRun) -> bool | None:
    """The reward is NaN or infinite."""
    return any(name in run.non_finite_now for name in REWARD_CONCEPTS)


def only_evaluation_not_finite(run: JudgedRun) -> bool | None:
    """The reward of an evaluation is NaN or infinite, and nothing else is."""
    return run.non_finite_now == ("eval_reward_mean",)


FACTS: Mapping[str, Fact] = {
    **RATE_FACTS,
    "clip range above 0.5": clip_wide,
    "clip range below 0.05": clip_narrow,
    "more than 30 epochs an update": many_epochs,
    "fewer than 64 steps an update": rollout_tiny,
    "reward had risen before": learned_before,
    "learned nothing, and no size of updates is logged": learned_nothing_unmeasured,
    "reward constant": reward_constant,
    "reward always 0": reward_zero,
    "every text earns the same, and not 0": texts_pay_alike,
    "reward below its start": below_start,
    "reward fell within a few rows": fell_at_once,
    "reward grew a hundredfold": reward_jumped,
    "critic loss near 0": critic_loss_near_zero,
    "approx KL above 0.05": kl_large,
    "approx KL 0": kl_none,
    "approx KL always 0": kl_never,
    "explained variance below 0.2": explains_nothing,
    "explained variance below -1": explains_worse_than_nothing,
    "explained variance above 0.8": explains_well,
    "explained variance fell by 0.3": explains_less,
    "explained variance always exactly 0": same_value,
    **EXPLORATION_FACTS,
    **CRITIC_FACTS,
    **LANGUAGE_FACTS,
    **SETTING_FACTS,
    "action values near 0 at a usual learning rate": untrained_values,
    "no loss logged": no_loss,
    "no update logged any more": updates_stopped,
    "NaN or infinite": not_finite,
    "never NaN or infinite": always_finite,
    "reward NaN or infinite": reward_not_finite,
    "only the evaluation NaN or infinite": only_evaluation_not_finite,
}
"""What a reader calls it -> how it is seen."""


def facts_seen(run: JudgedRun) -> dict[str, bool]:
    """Fact -> whether it holds, without those that the log cannot show."""
    answers = ((name, fact(run)) for name, fact in FACTS.items())
    return {name: answer for name, answer in answers if answer is not None}
