"""GRPO's learning signal: whether rewards differ within groups, and which component moves."""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_most, start_level
from ppo_top.rules.engine.history import (
    LEVEL_VALUES,
    MAX_FIRST_VALUES,
    MAX_RECENT_VALUES,
    History,
)
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median, theil_sen_rise
from ppo_top.rules.engine.terms import (
    CRIT,
    GRPO,
    INFO,
    LLM_FAMILIES,
    REWARD_COMPONENT_PREFIX,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct
from ppo_top.support.moments import deviation, mean


def zero_variance_groups(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """All rewards of a group are equal, so there is no gradient."""
    value = run.value("frac_zero_std", 0)
    if value is None:
        return _no_spread(run, limits)
    if value <= limits["clear"] or _scaled_by_batch(run):
        return None
    message = f"{pct(value)} of the groups have identical rewards: no gradient from them"
    if run.at_max:
        return Assessment(INFO, value, limits["clear"], message + " (reward is at its ceiling)")
    if value <= limits["warn"]:
        return borderline(value, limits["clear"])
    rows = run.histories["frac_zero_std"].newest(MAX_RECENT_VALUES)
    level = min(WARN if value < 1.0 else CRIT, _most_by_chance(run, rows, limits))
    if run.updates <= limits["early"] and _at_floor(run, limits):
        level -= 1  # normal at the start of a hard task
    if is_nearly_solved(run, limits["solved"]):
        return Assessment(WATCH, value, limits["clear"], message + " (most are solved)")
    return Assessment(max(level, WATCH), value, limits["clear"], message)


TIE_WINDOW_ROWS = 16
"""If a row holds only one or two groups: all of so many tie, or most of all recent ones."""


def _most_by_chance(run: JudgedRun, rows: list[float], limits: RuleLimits) -> int:
    """The highest severity allowed: with one or two groups a row, some rows tie by chance.

    TRL's usual batch is one group per GPU. Rewards that never differ are not chance.
    """
    reward = run.reward
    many = any(2.0 * share != int(2.0 * share) for share in rows)
    if many or reward is None or reward.history.high <= reward.history.low:
        return CRIT
    all_tie = len(rows) >= TIE_WINDOW_ROWS and min(rows[-TIE_WINDOW_ROWS:]) >= 1.0
    if not all_tie and sum(rows) <= limits["warn"] * max(TIE_WINDOW_ROWS, len(rows)):
        return WATCH
    return CRIT if all_tie else WARN


def _scaled_by_batch(run: JudgedRun) -> bool:
    """With advantages scaled over the batch, a zero-variance group still has a gradient."""
    return run.config.get("scale_rewards") == "batch"


def _at_floor(run: JudgedRun, limits: RuleLimits) -> bool:
    reward = run.reward
    return reward is not None and reward.history.low >= 0.0 and reward.smooth < limits["floor"]


SOLVED = 0.9
"""From this share of correct answers on, groups tie because most of them are."""


def is_nearly_solved(run: JudgedRun, share: float) -> bool:
    """Whether groups tie because their prompts have become easy, which is the goal of training."""
    reward = run.reward
    if reward is None or not reward.gained:
        return False
    if reward.history.low >= 0.0 and reward.history.high <= 1.0:
        return reward.history.level >= share
    return run.reward_pays and reward.levelled_off  # the most of such a reward is not known


def _no_spread(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Judge by the std where the share of zero-variance groups is not logged."""
    spread = run.value("group_reward_std", 0)
    if spread is None:
        spread = run.value("reward_std", 0)
    flat = run.value("adv_max", 0) == run.value("adv_min", 0) == 0.0
    if not flat and (spread is None or spread >= limits["spread"]):
        return None
    message = "all rewards are equal: no gradient"
    if run.at_max:
        return Assessment(INFO, 0.0, None, message + " (reward is at its ceiling)")
    level = int(CRIT)
    if not flat:
        name = "group_reward_std" if "group_reward_std" in run.histories else "reward_std"
        spreads = run.histories[name].newest(MAX_RECENT_VALUES)
        rows = [float(each < limits["spread"]) for each in spreads]
        level = _most_by_chance(run, rows, limits)
    return Assessment(level, 0.0, None, message)


def spread_gone(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward std collapsed against its own start."""
    history = run.histories["reward_std"]
    base = history.initial_level
    if history.last >= limits["clear"] * base:
        return None
    rows = history.recent[-TIE_WINDOW_ROWS:]
    gone = sum(spread < limits["share"] * base for spread in rows)
    if gone < limits["most"] * len(rows):
        return borderline(history.last)  # with one group a row, rewards are equal now and then
    message = f"spread of rewards fell from {num(base)} to {num(history.last)}"
    if run.at_max:
        return Assessment(INFO, history.last, limits["share"] * base, message + ": solved")
    message += ": all completions get the same reward"
    return Assessment(WARN, history.last, limits["share"] * base, message)


def one_sided(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Only the upper bound clips, while entropy falls."""
    low, high = run.value("clip_low"), run.values["clip_high"]
    entropy = run.histories.get("entropy")
    if low is None or entropy is None or max(low, high) < limits["floor"]:
        return None
    if high <= limits["times"] * low or not entropy.falling():
        return None
    message = f"nearly all clipping is at the upper side ({pct(high)} against {pct(low)})"
    return Assessment(INFO, high, None, message)


def parts_diverge(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """One reward component rises while another falls."""
    moved = {
        name: _moved(history, limits)
        for name, history in run.reward_parts.items()
        if history.count >= limits["points"]
    }
    if not moved or not min(moved.values()) < 0.0 < max(moved.values()):
        return None
    best, worst = max(moved, key=moved.__getitem__), min(moved, key=moved.__getitem__)
    changes = f"{best} {moved[best]:+.2g}, but {worst} {moved[worst]:+.2g}"
    message = f"{changes} over {num(limits['points'])} updates"
    return Assessment(WATCH, moved[worst], None, message)


def part_never_moves(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """One reward component stays where it was while the reward rises."""
    parts = run.reward_parts.items()
    unmoved = [name for name, history in parts if _never_moved(run, name, history, limits)]
    if not run.gained:
        return borderline(0.0)
    if not unmoved:
        return None
    name, history = unmoved[0], run.reward_parts[unmoved[0]]
    level = num(history.recent_median(20))
    message = f"{name} is still {level} after {history.count} updates: not learned"
    about = (f"{REWARD_COMPONENT_PREFIX}{name}}}",)
    return Assessment(WATCH, history.last, None, message, concepts=about)


def _never_moved(run: JudgedRun, name: str, history: History, limits: RuleLimits) -> bool:
    """Whether a component is always 0, or about as high as ever since the start, not at its top.

    Some are lost within a few updates, and some learned.
    """
    if history.count >= limits["zero_points"] and history.size == 0.0:
        return True
    if history.count < MAX_FIRST_VALUES or history.high <= history.low:
        return False
    early, late = history.first, history.newest(MAX_FIRST_VALUES)
    apart = limits["noise"] * math.hypot(deviation(early), deviation(late)) / len(late) ** 0.5
    at_top = median(late) >= limits["top"] * history.high > 0.0
    gain, memo = mean(late) - mean(early), f"reward-part-flat {name}"
    if gain > apart:
        run.memos[memo] = (gain,)
    soon = abs(mean(late) - history.start) > limits["noise"] * deviation(late)
    moved = abs(gain) > apart or memo in run.memos or soon
    return history.count >= limits["points"] and not (at_top or moved)


def _moved(history: History, limits: RuleLimits) -> float:
    """The change of a reward component over 25 points, 0 if it may be chance."""
    trend = history.trend(int(limits["points"]))
    if abs(trend.z) < limits["z"]:
        return 0.0
    moved = theil_sen_rise(trend.values)
    spread = history.high - history.low
    return moved if abs(moved) > limits["share"] * spread else 0.0


def _spread_stays_up(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.low("reward_std") >= limits["clear"] * start_level(run, "reward_std", LEVEL_VALUES)


RULES = (
    Rule(
        id="zero-variance-groups",
        title="Zero-variance groups",
        description="all completions get the same reward in most groups",
        concepts=("frac_zero_std",),
        related=("reward_std", "grad_norm"),
        assess=zero_variance_groups,
        stays_calm=at_most("frac_zero_std", "clear"),
        judged_at=("frac_zero_std", "group_reward_std", "adv_max", "reward_std"),
        families=frozenset({GRPO}),
        limits={
            "floor": 0.1,
            "solved": SOLVED,
            "clear": 0.6,
            "warn": 0.8,
            "early": 50,
            "spread": 1e-6,
        },
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=(
            "prompts too easy or too hard: every answer gets the same reward",
            "the reward function returns only one value",
        ),
        remedies=(
            "prompts of mixed difficulty, partial credit",
            "more completions a prompt: {num_generations}",
            "a higher {temperature}",
            "leave tied groups out (dynamic sampling, DAPO)",
        ),
        source="TRL's GRPO guide on reward_std; DAPO; autocontext#1067",
        grade="B",
    ),
    Rule(
        id="reward-spread-gone",
        title="Reward std collapsed",
        description="the spread of rewards falls to almost zero",
        concepts=("reward_std",),
        assess=spread_gone,
        stays_calm=_spread_stays_up,
        families=LLM_FAMILIES,
        limits={"share": 0.05, "clear": 0.1, "most": 0.7, "warmup": 10},
        ranks_causes=True,
        causes=("every completion gets the same reward",),
        remedies=("read some samples", "harder or easier prompts", "a higher {temperature}"),
        source="TRL's guide: watch values that 'collapse to 0'",
    ),
    Rule(
        id="clip-one-sided",
        title="Clipping at the upper bound only",
        description="nearly all clipping is at the upper bound while entropy falls",
        concepts=("clip_high",),
        related=("clip_low", "entropy"),
        assess=one_sided,
        families=frozenset({GRPO}),
        limits={"times": 10.0, "floor": 1e-3, "warmup": 20},
        causes=("the upper clip keeps unlikely tokens unlikely",),
        remedies=("clip higher: {clip_range_high:below 0.28} to 0.28",),
        source="DAPO: clip-higher",
    ),
    Rule(
        id="reward-parts-diverge",
        title="Reward components diverge",
        description="one reward function rises while another falls",
        concepts=("reward_component_mean{f}",),
        assess=parts_diverge,
        judged_at=(),
        families=LLM_FAMILIES,
        limits={"points": 25, "z": 3.0, "share": 0.2, "every": 5},
        persistence=AT_ONCE,
        causes=("the policy optimises the easier component",),
        remedies=("change the weights of the reward functions", "read some samples"),
        source="TRL's GRPO guide: per-function rewards tell which aspects are learned",
    ),
    Rule(
        id="reward-part-flat",
        title="Reward component not learned",
        description="one reward function stays at its start while the reward rises",
        concepts=("reward_component_mean{f}",),
        assess=part_never_moves,
        judged_at=(),
        families=LLM_FAMILIES,
        limits={"every": 5, "zero_points": 30, "points": 100, "noise": 2.0, "top": 0.9},
        persistence=AT_ONCE,
        causes=("no completion scores in it", "it weighs too little beside the others"),
        remedies=(
            "see whether any completion scores in it; if none: easier prompts, partial credit",
            "change the weights of the reward functions",
        ),
        source="TRL's GRPO guide: per-function rewards tell what the model struggles with",
    ),
)
