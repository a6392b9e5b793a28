"""Entropy and action std that rise, shrink out of bounds, or oscillate."""

from __future__ import annotations

import math
from itertools import pairwise

from ppo_top.rules.book.exploration.entropy_facts import (
    is_discrete,
    is_of_prompts,
    levels_of_prompts,
)
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds, start_level
from ppo_top.rules.engine.history import START_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import count_swings, median
from ppo_top.rules.engine.terms import CRIT, GRPO, LLM_FAMILIES, ON_POLICY, WARN, WATCH
from ppo_top.rules.engine.wording import num


def entropy_explodes(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A language model's entropy rises far above its start."""
    history = run.histories["entropy"]
    first, value = history.start, history.last
    if value > limits["clear"] * first and is_of_prompts(history):
        first, value = levels_of_prompts(history)
    if value <= max(limits["clear"] * first, first + limits["least"]):
        return None
    climbed = (
        history.rising()
        and value - history.previous(int(limits["points"]))[0] > limits["climb"] * first
    )
    if not (value > limits["times"] * first or climbed):
        return borderline(value)
    message = f"entropy rose from {num(first)} to {num(value)}"
    return Assessment(WATCH, value, limits["times"] * first, message)


def action_spread(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The std of a Gaussian policy explodes."""
    history = run.histories["policy_std"]
    first, value = history.start, history.last
    limit = limits["times"] * first
    if value <= limit or run.rising or run.at_max:
        return None
    message = f"action std grew from {num(first)} to {num(value)} while reward does not rise"
    level = CRIT if value > limits["crit_times"] * first else WARN
    return Assessment(level, value, limit, message)


def action_spread_gone(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The std of a Gaussian policy vanishes."""
    history = run.histories["policy_std"]
    first, value = history.start, history.last
    limit = limits["share"] * first
    if value >= limit or not run.flat or run.at_max:
        return None
    message = f"action std fell from {num(first)} to {num(value)} and reward is flat"
    return Assessment(WARN, value, limit, message)


def entropy_rises(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A Gaussian policy becomes ever more random, and the reward gains nothing by it."""
    history = run.histories["entropy"]
    first, value = history.start, history.last
    grown = value - first
    if grown <= max(limits["nats"], limits["share"] * abs(first)) or is_discrete(run):
        return None
    trend = history.trend(int(limits["points"]))
    if not (trend.full and trend.tau > limits["tau"]) or run.learned:
        return None
    message = f"entropy only rises ({num(first)} -> {num(value)}), and reward does not"
    return Assessment(WARN, value, first + limits["nats"], message)


def entropy_constant(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The entropy is the same to five digits, update after update: nothing is trained."""
    history, points = run.histories["entropy"], int(limits["points"])
    close = limits["digits"] * abs(history.last)
    recent = history.recent[-points:]
    if max(recent) - min(recent) > close:
        return None
    rounded = all(round(each, 4) == each for each in recent)
    if rounded or run.gained or not run.flat:
        return None
    message = f"entropy has been exactly {history.last:.5g} for {points} updates: no weight moves"
    return Assessment(WARN, history.last, None, message)


def _entropy_changes(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Each entropy of the block differs from the one before."""
    close = limits["digits"] * block.size("entropy")
    before = run.histories["entropy"].last if "entropy" in run.histories else math.inf
    return all(abs(b - a) > close for a, b in pairwise((before, *block.columns["entropy"])))


def entropy_swings(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Entropy goes up and down by a large share of its initial value.

    A policy that has learned is certain in nearly all states; how many of the others a small batch
    holds is chance.
    """
    history = run.histories["entropy"]
    leg = max(limits["leg"] * history.start, limits["nats"])
    recent = history.newest(int(limits["points"]))
    if not is_discrete(run) or (run.family in LLM_FAMILIES and is_of_prompts(history)):
        return None
    turns = count_swings(recent, leg)
    if turns < limits["turns"]:
        return borderline(history.last) if turns >= limits["clear_turns"] else None
    message = f"entropy oscillates ({turns} turns in {len(recent)} updates)"
    learned = run.learned or (run.reward is not None and run.reward.began_lowest)
    certain = learned and median(recent) < limits["certain"] * history.high
    level = WATCH if certain and run.family == ON_POLICY else WARN
    return Assessment(level, history.last, None, message)


def _never_random(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No entropy of the block is far above the initial one."""
    first = start_level(run, "entropy", START_VALUES)
    return block.high("entropy") - first <= max(limits["nats"], limits["share"] * abs(first))


def _entropy_stays_low(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.high("entropy") <= limits["clear"] * start_level(run, "entropy", START_VALUES)


def _spread_stays_low(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.high("policy_std") <= limits["times"] * start_level(
        run, "policy_std", START_VALUES
    )


def _spread_stays_high(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.low("policy_std") >= limits["share"] * start_level(run, "policy_std", START_VALUES)


def _entropy_stays_near(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    low, high = near_bounds(run, block, "entropy", int(limits["points"]))
    return high - low <= limits["leg"] * start_level(run, "entropy", START_VALUES)


RULES = (
    Rule(
        id="entropy-explodes",
        title="Entropy rising",
        description="a language model's entropy rises far above its start, or climbs steeply",
        concepts=("entropy",),
        related=("truncated_frac", "grad_norm"),
        assess=entropy_explodes,
        stays_calm=_entropy_stays_low,
        families=LLM_FAMILIES,
        limits={
            "clear": 1.25,
            "least": 0.01,
            "climb": 0.5,
            "points": 25,
            "times": 3.0,
            "warmup": 25,
        },
        persistence=k_of_n(3, 4),
        causes=("learning rate too high", "entropy bonus too high", "sampler/trainer mismatch"),
        remedies=(
            "lower {learning_rate}",
            "remove the entropy bonus, or let it decay: {ent_coef:above 0}",
            "raise the KL penalty: {kl_penalty}",
            "compare the sampler's log-probabilities with the trainer's",
        ),
        source="verl#1051, verl#2738, rllm#116",
    ),
    Rule(
        id="action-spread",
        title="Action std far too large",
        description="the std of a Gaussian policy explodes and the reward does not rise",
        concepts=("policy_std",),
        assess=action_spread,
        stays_calm=_spread_stays_low,
        families=frozenset({ON_POLICY}),
        limits={"times": 3.0, "crit_times": 10.0, "warmup": 20},
        persistence=k_of_n(3, 4),
        causes=("entropy bonus too high, or log-std unbounded",),
        remedies=(
            "lower the entropy bonus: {ent_coef}",
            "bound the log-std from above, normalise actions",
            "{normalised_rewards}",
        ),
        source="IsaacLab#1999, IsaacLab#4570: a growing std ends in NaN",
        grade="C",
    ),
    Rule(
        id="action-spread-gone",
        title="Action std gone",
        description="the std of a Gaussian policy vanishes and the reward is flat",
        concepts=("policy_std",),
        assess=action_spread_gone,
        stays_calm=_spread_stays_high,
        families=frozenset({ON_POLICY}),
        limits={"share": 0.02, "warmup": 20},
        persistence=k_of_n(3, 4),
        causes=("entropy bonus too small or negative",),
        remedies=(
            "raise the entropy bonus: {ent_coef}",
            "bound the log-std from below, normalise actions",
            "{normalised_rewards}",
        ),
        source="without spread a Gaussian policy tries nothing new",
        grade="C",
    ),
    Rule(
        id="action-noise-growing",
        title="Action noise only growing",
        description="the entropy of a continuous policy rises steadily and the reward does not",
        concepts=("entropy",),
        related=("policy_std",),
        assess=entropy_rises,
        stays_calm=_never_random,
        families=frozenset({ON_POLICY}),
        limits={"points": 40, "nats": 0.5, "share": 0.1, "tau": 0.8, "warmup": 40},
        persistence=k_of_n(4, 5),
        causes=(
            "entropy bonus larger than anything that reward offers",
            "rewards too small, or independent of the actions",
        ),
        remedies=(
            "lower the entropy bonus: {ent_coef:above 0}",
            "bound the log-std from above",
            "{normalised_rewards}",
            "check that the reward depends on what the policy does",
        ),
        source="IsaacLab#1999, IsaacLab#4570: a growing std ends in NaN",
        grade="B",
    ),
    Rule(
        id="entropy-constant",
        title="Entropy never changes",
        description="the entropy is the same to five digits for long, and the reward is flat",
        concepts=("entropy",),
        related=("approx_kl", "policy_loss"),
        assess=entropy_constant,
        stays_calm=_entropy_changes,
        families=frozenset({ON_POLICY}),
        limits={"points": 30, "digits": 1e-5, "warmup": 30},
        persistence=k_of_n(3, 3),
        causes=("the policy is not trained", "a fixed action std: then this says nothing"),
        remedies=(
            "check which parameters are trained, and that the optimiser has them",
            "raise {learning_rate}",
            "check that advantages are not all zero",
        ),
        source="any optimiser step changes the entropy in its fifth digit",
        grade="B",
    ),
    Rule(
        id="entropy-swings",
        title="Entropy oscillating",
        description="entropy goes up and down by a large share of its initial value",
        concepts=("entropy",),
        assess=entropy_swings,
        stays_calm=_entropy_stays_near,
        eased_to=WATCH,
        families=frozenset({ON_POLICY, GRPO}),
        limits={
            "points": 20,
            "clear_turns": 2,
            "leg": 0.3,
            "nats": 0.2,
            "turns": 4,
            "certain": 0.25,
            "warmup": 15,
        },
        persistence=k_of_n(2, 3),
        causes=("learning rate too high",),
        remedies=("lower {learning_rate}", "{larger_batches}"),
        source="Andy Jones, Debugging RL: oscillation points at the learning rate",
        grade="C",
    ),
)
