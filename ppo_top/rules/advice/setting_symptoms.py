"""Facts about settings: values with which hardly anything is learned, where the log states them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.advice.critic_symptoms import Fact
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import RuleLimits
from ppo_top.rules.engine.terms import GRPO, LLM_FAMILIES, OFF_POLICY, ON_POLICY, RLHF, VALUE_BASED

SETTING_LIMITS: RuleLimits = {
    "vf_coef": 0.0,
    "ent_coef_low": 0.0,
    "ent_coef_high": 0.3,
    "gamma": 0.5,
    "max_grad_norm": 1e-4,
    "kl_penalty": 5.0,
    "temperature": 3.0,
    "exploration": 0.5,
    "target_update_interval": 0.5,
    "tau": 1e-4,
    "buffer_size": 500.0,
    "explained": 0.2,
}
"""From where on a setting is out of range; what the critic explains shows that it is trained.

The interval of the target network is a share of the run, in steps.
"""


ADAPTIVE_RATE = "adaptive-rate"
"""The fact that the learning rate may follow the KL, by factors of 1.5 several times an update."""


USUAL_DISCOUNT = 0.9
"""Ten steps' rewards count; few tasks are learned with less."""

SHORT_ROLLOUT = 64.0
"""Steps an update; all trainers' defaults for PPO are 128 and more."""

LEAST_KL = 1e-4
"""Nats a completion, to the reference."""

UNMOVED_ROWS = 10
"""A rate that follows the KL has moved by then, unless it is at a bound."""

RATE_BOUNDS = (1e-6, 1e-5, 1e-2)
"""Where trainers stop it (rsl_rl's ppo.py, rl_games' schedulers.py, skrl's kl_adaptive.py)."""


class OddSetting(NamedTuple):
    """A setting out of its range, and what that does."""

    label: str
    value: float
    limit: float
    effect: str


FindSetting = Callable[[JudgedRun, RuleLimits], OddSetting | None]


def value_coefficient(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The critic's loss counts nothing, or with the wrong sign."""
    value, explained = run.config_number("vf_coef"), run.histories.get("explained_variance")
    if value is None or value > limits["vf_coef"] or run.family not in (ON_POLICY, RLHF):
        return None
    if explained is None and "value_loss" not in run.histories:
        return None
    if explained is not None and explained.level > limits["explained"]:
        return None  # another optimiser trains it
    effect = "the critic is not trained" if value == 0.0 else "the critic is trained to be wrong"
    return OddSetting("value coefficient", value, limits["vf_coef"], effect)


def entropy_punished(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The entropy bonus is a punishment."""
    value = run.config_number("ent_coef")
    if value is None or value >= limits["ent_coef_low"] or run.family not in (ON_POLICY, GRPO):
        return None
    return OddSetting("entropy coefficient", value, 0.0, "exploring is punished")


def entropy_bonus_large(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The entropy bonus outweighs most rewards; a replay learner's is in units of the rewards."""
    value, limit = run.config_number("ent_coef"), limits["ent_coef_high"]
    if value is None or value <= limit or run.family not in (ON_POLICY, GRPO):
        return None
    return OddSetting("entropy coefficient", value, limit, "the bonus outweighs most rewards")


def discount_small(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """Later rewards hardly count, in episodes of several steps; a text's is paid at its end."""
    value, length = run.config_number("gamma"), run.histories.get("ep_len")
    if value is None or not 0.0 <= value < limits["gamma"]:
        return None
    is_long = length is not None and length.high > 1.0
    if not (run.family == RLHF or (is_long and run.family not in LLM_FAMILIES)):
        return None
    return OddSetting("discount (gamma)", value, limits["gamma"], "later rewards do not count")


def gradients_clipped(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """Gradients are clipped to almost nothing; 0 turns clipping off."""
    value, limit = run.config_number("max_grad_norm"), limits["max_grad_norm"]
    if value is None or not 0.0 < value < limit:
        return None
    return OddSetting("largest gradient norm", value, limit, "gradients are clipped to nothing")


def penalty_large(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The policy cannot leave the reference."""
    if run.family not in (RLHF, GRPO):
        return None
    found = (run.config_number(name) for name in ("beta", "kl_coef"))
    value = max((each for each in found if each is not None), default=0.0)
    if value <= limits["kl_penalty"]:
        return None
    return OddSetting("KL penalty", value, limits["kl_penalty"], "the policy stays the reference")


def temperature_high(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """Sampled text is nearly random."""
    value = run.config_number("temperature") if run.family in (RLHF, GRPO) else None
    if value is None or value <= limits["temperature"]:
        return None
    return OddSetting("temperature", value, limits["temperature"], "samples are nearly random")


def exploration_kept(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """Most actions stay random until the end; learned well or not, the rewards do not show it."""
    value = run.config_number("exploration_final") if run.family == VALUE_BASED else None
    if value is None or value <= limits["exploration"]:
        return None
    effect = "most actions stay random until the end"
    return OddSetting("final exploration rate", value, limits["exploration"], effect)


def target_kept(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The target network is updated once in the run or never, or by next to nothing each time."""
    effect = "it is hardly ever updated"
    tau, every = run.config_number("tau"), run.config_number("target_update_interval")
    if run.family == OFF_POLICY and tau is not None and 0.0 <= tau < limits["tau"]:
        return OddSetting("soft update of the target network (tau)", tau, limits["tau"], effect)
    limit = limits["target_update_interval"] * (run.config_number("total_timesteps") or math.inf)
    if run.family == VALUE_BASED and every is not None and every > limit > 0.0:
        return OddSetting("interval of the target network", every, limit, effect)
    return None


def buffer_small(run: JudgedRun, limits: RuleLimits) -> OddSetting | None:
    """The replay buffer holds a few episodes at most."""
    value, limit = run.config_number("buffer_size"), limits["buffer_size"]
    if value is None or not 0.0 < value < limit or run.family not in (VALUE_BASED, OFF_POLICY):
        return None
    return OddSetting("size of the replay buffer", value, limit, "only the last steps are learned")


ODD_SETTINGS: Mapping[str, FindSetting] = {
    "value coefficient 0 or below": value_coefficient,
    "entropy coefficient below 0": entropy_punished,
    "entropy coefficient above 0.3": entropy_bonus_large,
    "discount below 0.5": discount_small,
    "gradients clipped below 0.0001": gradients_clipped,
    "KL penalty above 5": penalty_large,
    "temperature above 3": temperature_high,
    "final exploration rate above 0.5": exploration_kept,
    "target network hardly ever updated": target_kept,
    "replay buffer of less than 500 steps": buffer_small,
}
"""What a reader calls it -> how it is found. The learning rate has facts and a rule of its own."""


def _is_odd(find: FindSetting, run: JudgedRun) -> bool | None:
    """Whether a setting is out of range; None of one that is not known."""
    return True if find(run, SETTING_LIMITS) is not None else None


def penalty_strong(run: JudgedRun) -> bool | None:
    """The KL penalty is large: it is stated, or the log implies it.

    What was paid for the KL, fitted to the KL, is the coefficient; KLs next to 0 are rounding.
    """
    if (stated := _is_odd(penalty_large, run)) is not None or run.family != RLHF:
        return stated
    cost, kl = run.histories.get("non_score_reward"), run.histories.get("ref_kl")
    if cost is None or kl is None or cost.count != kl.count:
        return None
    if max(map(abs, kl.recent), default=0.0) < LEAST_KL:
        return None
    paid = -sum(each * by for each, by in zip(cost.recent, kl.recent, strict=True))
    return paid > SETTING_LIMITS["kl_penalty"] * sum(each * each for each in kl.recent)


def discount_usual(run: JudgedRun) -> bool | None:
    """The discount is stated, and one with which later rewards count."""
    value = run.config_number("gamma")
    return None if value is None else value >= USUAL_DISCOUNT


def rollout_short(run: JudgedRun) -> bool | None:
    """PPO learns from very few steps an update; A2C's default is no more."""
    steps = run.steps_per_update
    return steps < SHORT_ROLLOUT if steps and "clipped" in run.facts else None


SETTING_FACTS: Mapping[str, Fact] = {
    "PPO with fewer than 64 steps an update": rollout_short,
    **{name: partial(_is_odd, find) for name, find in ODD_SETTINGS.items()},
    "KL penalty above 5": penalty_strong,  # settings aside, some logs imply it
    "discount of 0.9 or more": discount_usual,
}


def rate_adapts(run: JudgedRun) -> bool:
    """Whether the learning rate may follow the KL: the trainer's can, and it is not seen to stay.

    With rsl_rl's `schedule="fixed"` it does not.
    """
    rate = run.histories.get("lr")
    if rate is None or rate.count < UNMOVED_ROWS or rate.high > rate.low:
        return ADAPTIVE_RATE in run.facts
    at_bound = any(math.isclose(rate.high, bound, rel_tol=1e-6) for bound in RATE_BOUNDS)
    return ADAPTIVE_RATE in run.facts and at_bound
