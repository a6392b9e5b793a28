"""Entropy: lost too early, not falling, or gone together with all updates."""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.history import MAX_RECENT_VALUES, History
from ppo_top.rules.engine.reward_course import RewardCourse
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    CRIT,
    INFO,
    LLM_FAMILIES,
    ON_POLICY,
    POLICY_GRADIENT,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import label, num, pct


def initial_entropy(history: History) -> float:
    """The median of the first three entropies."""
    return history.baseline(3)


def highest_initial_entropy(history: History) -> float:
    """The highest of the first three entropies: a policy may collapse in its first update."""
    return max(history.first[:3])


def is_discrete(run: RuleContext) -> bool:
    """Whether the entropy is of a discrete distribution: never below 0, and not a Gaussian's."""
    if "policy_std" in run.histories:
        return False
    entropy = run.histories.get("entropy")
    if entropy is None or entropy.low < -1e-3 or not initial_entropy(entropy) > 0.0:
        return False
    return run.family in LLM_FAMILIES or not _is_gaussian(initial_entropy(entropy))


GAUSSIAN_ENTROPY = 0.5 * math.log(2 * math.pi * math.e)
"""Entropy of a unit Gaussian, the usual initial policy for continuous actions (nats)."""


def _is_gaussian(first: float) -> bool:
    """Whether an entropy is that of unit Gaussians: not every log holds their std.

    It is not a useful signal: it goes below 0 while the policy learns, or stays where it is.
    """
    dimensions = round(first / GAUSSIAN_ENTROPY)
    return dimensions > 0 and abs(first - dimensions * GAUSSIAN_ENTROPY) < 0.005 * first


def entropy_collapsed(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """Little of the initial entropy is left, and the reward does not justify it."""
    history = run.histories.get("entropy")
    if history is None:
        return _sequence_entropy_collapsed(run, limits)
    if history.last_row != run.mark.row or not is_discrete(run):
        return None
    return _collapse(run, limits, history.last, highest_initial_entropy(history), "entropy")


def _sequence_entropy_collapsed(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The entropy of whole responses, where none per token is logged: shorter ones have less."""
    history, length = run.histories["seq_entropy"], run.histories.get("resp_len_mean")
    first, value = highest_initial_entropy(history), history.last
    if run.family not in LLM_FAMILIES or not first > 0.0 or history.low < 0.0:
        return None
    shorter = length.last / length.baseline(3) if length and length.baseline(3) > 0.0 else 1.0
    return _collapse(run, limits, value / min(1.0, max(shorter, 1e-3)), first, "seq_entropy")


def _collapse(
    run: RuleContext, limits: RuleLimits, value: float, first: float, concept: str
) -> Assessment | None:
    limit, count = limits["share"] * first, run.histories[concept].count
    if value > limits["clear"] * first:
        return None
    if value > limit:
        return borderline(value, limit)
    when = f"within {count} updates" if count <= 40 else "over the run"
    level = _collapse_level(run, limits, count, value < limits["crit"] * first)
    why = _COLLAPSE_WORDS.get(level, "premature convergence")
    message = f"{label(concept)} fell from {num(first)} to {num(value)} {when}: {why}"
    return Assessment(level, value, limit, message, concepts=(concept,))


_COLLAPSE_WORDS = {
    int(INFO): "the price of the reward that was gained",
    int(WATCH): "converged, or stuck: reward no longer rises",
}


def _collapse_level(run: RuleContext, limits: RuleLimits, count: int, deep: bool) -> int:
    """Severity of a fall: losing entropy is normal while the reward is gained for it."""
    if run.at_max or (run.rising and not run.falling) or _reward_pays(run):
        return INFO
    crashed = run.open_severities.get("reward-crash", 0) >= WARN
    early = count <= limits["early"]
    if crashed or early or (run.stuck and not run.gained):
        return CRIT if deep else WARN
    return WATCH if run.flat else INFO


def _reward_pays(run: RuleContext) -> bool:
    """Whether a language model gained much within its first updates, the last of it just now.

    Most of its entropy is spent in the first updates of a good run (arXiv 2505.22617).
    """
    reward = run.reward
    if run.family not in LLM_FAMILIES or reward is None or not reward.gained:
        return False
    if reward.history.trend(15).full:
        return False
    return reward.count - reward.notable_best_count <= 1


def policy_collapsed(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """No entropy is left and nothing moves, so every other value looks healthy."""
    history = run.histories["entropy"]
    first = highest_initial_entropy(history)
    if history.last > limits["clear"] * first or not is_discrete(run) or run.at_max:
        return None
    kl, clip = run.value("approx_kl"), run.value("clip_fraction")
    moves = kl is None or abs(kl) > limits["kl"] or (clip is not None and clip > 0.0)
    if history.last > limits["share"] * first or moves or has_settled(run):
        return borderline(history.last)
    message = (
        f"the policy is frozen at entropy {num(history.last)}: KL, clipping and loss look green "
        "because nothing can change any more"
    )
    return Assessment(CRIT, history.last, limits["share"] * first, message)


def has_settled(run: RuleContext) -> bool:
    """Whether the policy became deterministic after learning, and keeps its reward.

    A noisy reward is then as high as it gets, but never steady enough to count as a ceiling. A
    policy that became deterministic early, or lost its reward, has collapsed.
    """
    entropy, reward = run.histories.get("entropy"), run.reward
    if entropy is None or reward is None or not reward.gained or reward.falling:
        return False
    certain = is_discrete(run) and entropy.last < 0.1 * highest_initial_entropy(entropy)
    collapsed = run.last_severities.get("entropy-collapsed", 0) >= WARN
    return certain and reward.lost_share < 0.3 and not collapsed


def entropy_not_falling(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The policy is as random as at the start, and the reward has not moved."""
    history = run.histories["entropy"]
    first, value, reward = initial_entropy(history), history.last, run.reward
    if value < limits["some"] * first or not _began_random(run, first) or reward is None:
        return None
    if run.at_max or _too_early(run, limits):
        return borderline(value)
    if value > limits["share"] * first and not (reward.gained or reward.rising):
        left = pct(value / first)
        message = f"policy is still random (entropy {left} of its start) and reward has not moved"
        return _stays_random(run, limits, message, limits["share"] * first)
    drop = -history.trend(int(limits["points"])).effect()
    little = reward.gain < limits["little"] * reward.scale
    flat = drop < limits["flat"] * first and little
    held = _is_held(history, drop, limits) and not _climbs(reward)
    if flat or held or (drop < limits["creep"] * first and _stagnates(reward)):
        message = (
            f"policy is still nearly random (entropy {pct(value / first)} of its start), "
            "and for 20 updates it has not become less so"
        )
        return _stays_random(run, limits, message, limits["some"] * first)
    return borderline(value)


def _stays_random(run: RuleContext, limits: RuleLimits, message: str, limit: float) -> Assessment:
    """Severity by budget: in a run of unknown length, what is learned may still lie ahead."""
    history = run.histories["entropy"]
    told = run.progress is not None or history.count >= limits["endless"]
    return Assessment(WARN if told else WATCH, history.last, limit, message, immediate=run.ended)


def _too_early(run: RuleContext, limits: RuleLimits) -> bool:
    """Whether a small share of the run (or, if its end is unknown, few episodes) is over."""
    budget = run.progress
    if budget is None:
        return run.few_episodes(limits["early_episodes"])
    return budget < limits["early"]


UNIFORM_ENTROPY = math.log(2)
"""Entropy of a uniform choice between two actions (nats)."""


def _began_random(run: RuleContext, first: float) -> bool:
    """Whether the first entropies are those of an untrained policy."""
    random = first > 0.7 * UNIFORM_ENTROPY or "scaled-entropy" in run.facts
    return random and not run.resumed and is_discrete(run)


def _is_held(history: History, drop: float, limits: RuleLimits) -> bool:
    """Whether most of the fall came at once and none after: an entropy bonus holds it there.

    If learning is merely slow, the fall continues in small steps.
    """
    first = initial_entropy(history)
    fallen, at_once = first - history.level, first - median(history.first[-5:])
    return drop < limits["held"] * fallen and at_once > limits["at_once"] * fallen


def _climbs(reward: RewardCourse) -> bool:
    """Whether the reward rises at least half as fast as over the whole run."""
    usual = reward.gain * 15 / reward.count
    return reward.rising and reward.history.trend(15).effect() > 0.5 * usual


def _stagnates(reward: RewardCourse) -> bool:
    """Whether 25 updates brought almost nothing; a smoothed reward creeps without learning.

    In a long run no 25 updates bring much, but its best is never old.
    """
    if reward.count > MAX_RECENT_VALUES:
        return reward.count - reward.notable_best_count > 0.25 * reward.count
    return reward.history.trend(25).effect() < 0.3 * max(reward.gain, reward.noise)


MORE_EXPLORATION = (
    "raise the entropy bonus: {ent_coef:below 0.05}, to 0.001-0.05",
    "lower {learning_rate}",
    "fewer passes over the same data: {n_epochs:above 1}",
    "{in_groups}clip higher: {clip_range_high:below 0.28} to 0.28",
    "{in_groups}prompts with mixed outcomes",
    "{larger_batches}",
    "restart from a checkpoint before the fall",
)


def _entropy_stays_above(run: RuleContext, block: RowBlock, share: float) -> bool:
    """No entropy of the block is below this share of the highest initial one."""
    history = run.histories.get("entropy")
    if history is None or history.count < 3:
        return False
    return block.low("entropy") > max(share * highest_initial_entropy(history), 0.0)


def _keeps_entropy(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    return _entropy_stays_above(run, block, limits["clear"])


def _keeps_some_entropy(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    return _entropy_stays_above(run, block, limits["clear"])


def _lost_some_entropy(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    """Every entropy of the block is clearly below the initial one, or tells nothing."""
    history = run.histories.get("entropy")
    if history is None or history.count < 3:
        return False
    first = initial_entropy(history)
    return block.high("entropy") < limits["some"] * first or not _began_random(run, first)


RULES = (
    Rule(
        id="entropy-collapsed",
        title="Entropy collapsed",
        description="entropy falls to a small share of its initial value without a gain in reward",
        concepts=("entropy",),
        assess=entropy_collapsed,
        asks_about=("reward-crash",),
        stays_calm=_keeps_entropy,
        families=POLICY_GRADIENT,
        judged_at=("entropy", "seq_entropy"),
        limits={"share": 0.10, "crit": 0.02, "clear": 0.15, "early": 20, "warmup": 3},
        persistence=k_of_n(3, 4),
        ranks_causes=True,
        causes=(
            "too little exploration (entropy bonus too small)",
            "learning rate too high, or too many epochs per batch",
        ),
        remedies=MORE_EXPLORATION,
        source="entropy falls slowly; 'drops to 0 too fast' is premature (SB3 practice, TRL)",
        grade="C",
    ),
    Rule(
        id="policy-collapsed",
        title="Policy collapsed (entropy ~ 0)",
        description="entropy, KL and clipping are all zero, and the reward is not at its ceiling",
        concepts=("entropy",),
        related=("approx_kl", "clip_fraction"),
        assess=policy_collapsed,
        stays_calm=_keeps_some_entropy,
        families=POLICY_GRADIENT,
        judged_at=("entropy",),
        limits={"clear": 0.05, "share": 0.01, "kl": 1e-5, "warmup": 5},
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=("the policy became deterministic in an earlier collapse",),
        remedies=(
            "restart from a checkpoint before the collapse: nothing else helps",
            "then lower {learning_rate}",
            "raise the entropy bonus: {ent_coef:below 0.05}",
        ),
        source="labelled runs: after a collapse all step-size values return to green",
        grade="C",
        members=(
            "updates-too-large",
            "learning-rate-too-high",
            "kl-high",
            "entropy-collapsed",
            "premature-convergence",
            "no-op-updates",
            "reward-crash",
        ),
    ),
    Rule(
        id="entropy-not-falling",
        title="Entropy not decreasing",
        description="the policy stays as random as at the start and the reward does not move",
        concepts=("entropy",),
        assess=entropy_not_falling,
        stays_calm=_lost_some_entropy,
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
            "warmup": 25,
        },
        persistence=k_of_n(5, 5),
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
