"""Facts about the learning rate: far from what is usual, another than before, or gone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ppo_top.catalogue import TEXT_FAMILIES, option_default
from ppo_top.model import as_number
from ppo_top.rules.advice.critic_symptoms import Fact
from ppo_top.rules.advice.phrases import PPO_RATE, USUAL_RATES
from ppo_top.rules.advice.setting_symptoms import ADAPTIVE_RATE
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun

LIMITS: Mapping[str, float] = {
    "times": 30.0,  # of the trainer's default
    "high": 0.01,
    "high_text": 1e-3,  # of language models
    "low": 1e-6,
    "share": 0.01,  # of the trainer's default
    "jump": 3.0,
    "cut": 0.01,  # of its highest
    "held": 0.2,  # of its highest
}
"""Where each fact begins."""

SINGLE = 1.0 + 1e-6
"""Event files hold single precision, in which 0.03 is less than 0.03."""


def known_rate(run: JudgedRun) -> tuple[float, float] | None:
    """The learning rate, and the trainer's default; where none is known, that of its family."""
    logged = run.histories.get("lr")
    rate = run.config_number("learning_rate") if logged is None else logged.last
    if rate is None or rate < 0.0 or "critic-rate" in run.facts:
        return None
    trainer = run.trainer._replace(algo=run.profile.algo)
    usual = as_number(option_default(trainer, "learning_rate"))
    return rate, float(USUAL_RATES.get(run.family, PPO_RATE)) if usual is None else usual


def rate_high(run: JudgedRun) -> bool | None:
    """The learning rate is far above the trainer's default."""
    found = known_rate(run)
    if found is None:
        return None
    rate, usual = found
    return rate > LIMITS["times"] * usual and rate >= LIMITS["high"] / SINGLE


def rate_was_large(run: JudgedRun) -> bool | None:
    """The learning rate is, or was, larger than most runs survive: it is not too small."""
    found, history = known_rate(run), run.histories.get("lr")
    if found is None:
        return None
    limit = LIMITS["high_text" if run.family in TEXT_FAMILIES else "high"]
    return (found[0] if history is None else history.high) >= limit / SINGLE


def rate_low(run: JudgedRun) -> bool | None:
    """The learning rate is far below the trainer's default, from the start."""
    found, history = known_rate(run), run.histories.get("lr")
    if found is None:
        return None
    rate, usual = found
    low = (rate if history is None else history.high) <= LIMITS["low"]
    return low and rate <= LIMITS["share"] * usual


def rate_jumped(run: JudgedRun) -> bool | None:
    """The learning rate is several times what it was at the start, and was not warmed up."""
    history = run.histories.get("lr")
    if history is None or history.count < 2:
        return None
    first = history.first[:3]
    if len(first) == 3 and first[0] < first[1] < first[2]:
        return False
    return history.last > LIMITS["jump"] * history.first[0] > 0.0


def rate_cut(run: JudgedRun) -> bool | None:
    """The learning rate went to almost zero in one step, and is there still."""
    history = run.histories.get("lr")
    return None if history is None or history.count < 2 else is_cut(run, history)


def is_cut(run: JudgedRun, rate: History) -> bool:
    """Whether a rate of almost zero became so in one step."""
    low, high = LIMITS["cut"] * rate.high, LIMITS["held"] * rate.high
    if rate.last > low or ADAPTIVE_RATE in run.facts:
        return False
    return any(before > high and after <= low for before, after in pairwise(rate.recent))


RATE_FACTS: Mapping[str, Fact] = {
    "learning rate far above its default": rate_high,
    "learning rate larger than most runs survive": rate_was_large,
    "learning rate far below its default": rate_low,
    "learning rate jumped": rate_jumped,
    "learning rate cut": rate_cut,
}
"""What a reader calls it -> how it is seen."""
