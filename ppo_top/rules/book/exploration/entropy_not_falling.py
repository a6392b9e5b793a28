"""Entropy that stays where it began, or is held there, while nothing is learned."""

from __future__ import annotations

import math

from ppo_top.rules.book.exploration.entropy_facts import is_discrete
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import (
    LEVEL_VALUES,
    MAX_RECENT_VALUES,
    START_VALUES,
    TREND_VALUES,
    History,
)
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.reward.measures import MIN_POINTS
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median, rises_over, theil_sen_rise
from ppo_top.rules.engine.terms import ON_POLICY, WARN, WATCH
from ppo_top.rules.engine.wording import pct


def entropy_not_falling(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The policy is as random as at the start, and the reward has not moved."""
    history = run.histories["entropy"]
    first, value, reward = history.start, history.last, run.reward
    if value < limits["some"] * first or not _began_random(run, first) or reward is None:
        return None
    if run.at_max or reward.points < MIN_POINTS or _too_early(run, limits):
        return borderline(value)
    if value > limits["share"] * first and not (reward.gained or reward.rising):
        left = pct(value / first)
        message = f"policy is still random (entropy {left} of its start) and reward has not moved"
        return _stays_random(run, limits, message, limits["share"] * first)
    if _drops_too_little(history, reward, first, limits):
        message = (
            f"policy is still nearly random (entropy {pct(value / first)} of its start), "
            "and for 20 updates it has not become less so"
        )
        return _stays_random(run, limits, message, limits["some"] * first)
    return borderline(value)


def _stays_random(run: JudgedRun, limits: RuleLimits, message: str, limit: float) -> Assessment:
    """Severity by budget: before half of a run, what is learned may still lie ahead."""
    history = run.histories["entropy"]
    budget = run.progress
    is_certain = history.count >= limits["endless"] if budget is None else budget >= limits["end"]
    is_certain = is_certain and not run.may_be_part(limits["paste_rows"])
    return Assessment(
        WARN if is_certain else WATCH, history.last, limit, message, immediate=run.ended
    )


def _too_early(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether a small share of the run (or, if its end is unknown, few episodes) is over."""
    budget = run.progress
    if budget is None:
        return run.few_episodes(limits["early_episodes"])
    return budget < limits["early"]


UNIFORM_ENTROPY = math.log(2)
"""Entropy of a uniform choice between two actions (nats)."""

UNTRAINED_SHARE = 0.7
"""An untrained policy has more than this share of it."""


def _began_random(run: JudgedRun, first: float) -> bool:
    """Whether the first entropies are those of an untrained policy."""
    random = first > UNTRAINED_SHARE * UNIFORM_ENTROPY or "scaled-entropy" in run.facts
    return random and not run.resumed and is_discrete(run)


def _is_random_no_more(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No entropy of the block is near the first ones, or those were of no untrained policy."""
    history = run.histories.get("entropy")
    if history is None or history.count < START_VALUES:
        return False
    first = history.start
    return block.high("entropy") < limits["some"] * first or not _began_random(run, first)


def _drops_too_little(
    history: History, reward: RewardCourse, first: float, limits: RuleLimits
) -> bool:
    """Whether the entropy falls by less than the course of the reward calls for.

    Slopes are costly and come last. If most of the fall came at once and none after, an entropy
    bonus holds it there; if learning is merely slow, the fall continues in small steps.
    """
    too_little = -math.inf
    if reward.gain < limits["little"] * reward.scale:
        too_little = limits["flat"] * first
    if _stagnates(reward, limits):
        too_little = max(too_little, limits["creep"] * first)
    fallen = first - history.level
    if limits["held"] * fallen > too_little:
        at_once = first - median(history.first[-LEVEL_VALUES:])
        if at_once > limits["at_once"] * fallen and not _climbs(reward, limits):
            too_little = limits["held"] * fallen
    called_for = too_little > -math.inf
    return called_for and rises_over(history.newest(int(limits["points"])), -too_little)


def _climbs(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether the reward rises at least half as fast as over the whole run."""
    if not reward.rising:
        return False
    usual = reward.gain * TREND_VALUES / reward.count
    return rises_over(reward.history.newest(TREND_VALUES), limits["slower"] * usual)


def _stagnates(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether 25 updates brought almost nothing; a smoothed reward creeps without learning.

    In a long run no 25 updates bring much, but its best is never old.
    """
    if reward.count > MAX_RECENT_VALUES:
        return reward.count - reward.notable_best_count > limits["old_best"] * reward.count
    brought = theil_sen_rise(reward.history.newest(int(limits["recent"])))
    return brought < limits["nothing"] * max(reward.gain, reward.noise)


RULES = (
    Rule(
        id="entropy-not-falling",
        title="Entropy not decreasing",
        description="the policy stays as random as at the start and the reward does not move",
        concepts=("entropy",),
        assess=entropy_not_falling,
        stays_calm=_is_random_no_more,
        families=frozenset({ON_POLICY}),
        limits={
            "points": 20,
            "little": 0.25,
            "flat": 0.01,
            "creep": 0.03,
            "held": 0.2,
            "at_once": 0.5,
            "share": 0.97,
            "some": 0.90,
            "early": 0.25,
            "early_episodes": 200,
            "endless": 250,
            "end": 0.5,
            "slower": 0.5,
            "old_best": 0.25,
            "recent": 25,
            "nothing": 0.3,
            "paste_rows": 12,
            "warmup": 25,
            "every": 5,
        },
        persistence=AT_ONCE,
        at_end=True,
        ranks_causes=True,
        causes=(
            "entropy bonus too high",
            "reward scale far too large or too small",
            "learning rate too low, or reward never reached",
        ),
        remedies=(
            "lower the entropy bonus: {ent_coef:above 0}",
            "{normalised_rewards}",
            "raise {learning_rate}",
            "check that reward can be reached by chance, and that observations carry information",
        ),
        source="SB3 practice: entropy that 'never decreases' is a warning sign; SB3#2240",
        grade="C",
    ),
)
