"""A run beside its siblings: is its reward far below that of all other seeds at the same step?

Among equal runs one is always the lowest, so it has to be far below by the others' own spread, over
the last quarter of its steps, and below what they had reached at half of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from pathlib import PurePath
from typing import TYPE_CHECKING

from ppo_top.model import Axis
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.reward_curve import RewardCurve
from ppo_top.support.moments import deviation, mean
from ppo_top.text.format import dated, number
from ppo_top.views.seed_groups import RunTraits, group_seeds, name_stem, run_traits

if TYPE_CHECKING:  # a report that is printed again needs no run
    from ppo_top.runs.run import Run

MIN_OTHERS = 4
"""With fewer siblings nothing is said."""

MIN_LENGTH = 0.97
"""How far siblings must have come, as a share of the run's steps."""

WINDOWS = 16
"""Parts of the steps so far; the last quarter are four of them."""

MIN_BINS = 4
"""A quarter of a curve with fewer bins than this is not compared."""

MIN_LOST = 0.25
"""The part of the others' gain that is missing."""

T_LIMITS = (10.21, 7.17, 5.89, 5.21, 4.79, 4.50, 4.30, 4.14)
"""Student's t that 1 in 1,000 equal runs is below, for 3, 4, ... degrees of freedom."""


class BelowSiblings(NamedTuple):
    """How far a run is below all others, and since which step without a break."""

    others: int
    since: int
    level: float
    lowest: float
    highest: float
    axis: Axis = Axis.STEP

    @property
    def title(self) -> str:
        """The remark in a few words."""
        return f"Below all of {self.others} others"

    @property
    def text(self) -> str:
        """The remark: `below all of 5 others at this step, since step 12,288: reward 21, ...`."""
        since = f"since {dated(self.axis, self.since)}" if self.since else "from the start"
        span = f"{number(self.lowest)} to {number(self.highest)}"
        where = f"below all of {self.others} others at this {self.axis}, {since}"
        return f"{where}: reward {number(self.level)}, theirs {span}"


class SiblingFacts(NamedTuple):
    """What decides of which runs a run is a sibling, but for name and place, and how it did."""

    kind: tuple[str, str]
    """trainer and algorithm"""
    settings: tuple[tuple[str, str], ...]
    seed: str
    curve: RewardCurve


def sibling_facts(run: Run) -> SiblingFacts:
    """The facts of a run at its newest row."""
    profile, traits = run.profile, run_traits("", run.evaluation.config)
    settings = tuple(sorted(traits.settings))
    kind = profile.trainer_id, profile.algo
    return SiblingFacts(kind, settings, traits.seed, run.evaluation.reward_curve())


class Sibling(NamedTuple):
    """A run that may be compared with others, where it is and by the name that it has now."""

    folder: str
    above: str
    """the folder above that one"""
    kind: tuple[str, str]
    traits: RunTraits
    curve: RewardCurve


def sibling(name: str, path: str, facts: SiblingFacts) -> Sibling:
    """A run by its name and path, which depend on other runs, and its facts."""
    traits = RunTraits(name_stem(name), frozenset(facts.settings), facts.seed)
    folder, above = map(str, (PurePath(path).parent, PurePath(path).parent.parent))
    return Sibling(folder, above, facts.kind, traits, facts.curve)


def runs_below_siblings(runs: Mapping[str, Sibling]) -> dict[str, BelowSiblings]:
    """The runs (by id) that are far below all their siblings: seeds of one experiment nearby."""
    kinds: dict[tuple[str, str], dict[str, RunTraits]] = {}
    for run, each in runs.items():
        kinds.setdefault(each.kind, {})[run] = each.traits
    groups = (group for alike in kinds.values() for group in group_seeds(alike).values())
    found = {}
    for group in groups:
        members = [runs[run] for run in group] if len(group) > MIN_OTHERS else []
        for run, own in zip(group, members, strict=False):
            others = (each for each in members if each is not own and _are_near(own, each))
            below = below_siblings(own.curve, (each.curve for each in others))
            if below is not None:
                found[run] = below
    return found


def _are_near(one: Sibling, other: Sibling) -> bool:
    """Whether two runs lie in one directory, or their directories do."""
    return one.folder == other.folder or one.above == other.above


def below_siblings(own: RewardCurve, others: Iterable[RewardCurve]) -> BelowSiblings | None:
    """How far a run is below at least four others; None if it is not, or too little is known."""
    end = own.end
    level = _level(own, end)
    if level is None:
        return None
    compared, levels = list[RewardCurve](), list[float]()
    for each in others:
        is_same_kind = (each.metric, each.axis) == (own.metric, own.axis)
        if is_same_kind and each.end >= MIN_LENGTH * end:
            reached = _level(each, end)
            if reached is not None and reached <= level:
                return None  # the cheap answer, and mostly the right one
            if reached is not None and _level(each, end // 2) is not None:
                compared.append(each)
                levels.append(reached)
    if len(compared) < MIN_OTHERS or not _is_far_below(level, compared, levels, end):
        return None
    since = _first_window_below(own, compared, end)
    if since > WINDOWS * 3 // 4:
        return None
    step = end * since // WINDOWS
    return BelowSiblings(len(compared), step, level, min(levels), max(levels), own.axis)


def _is_far_below(
    level: float, others: Sequence[RewardCurve], levels: Sequence[float], end: int
) -> bool:
    """Far below the others by their own spread, and below what each had at half of the step."""
    halves = [half for each in others if (half := _level(each, end // 2)) is not None]
    parts = (_mean_between(each, 0, end // WINDOWS) for each in others)
    starts = [start for start in parts if start is not None]
    spread = max(deviation(levels), deviation(halves)) * math.sqrt(1 + 1 / len(others))
    limit = T_LIMITS[min(len(others) - MIN_OTHERS, len(T_LIMITS) - 1)]
    gain = mean(levels) - mean(starts) if starts else 0.0
    distance = max(limit * spread, MIN_LOST * gain)
    return level < min(halves) and level < mean(levels) - distance


def _first_window_below(own: RewardCurve, others: Sequence[RewardCurve], end: int) -> int:
    """The first window from which on the run is below all others; `WINDOWS` if it is not now."""
    for window in reversed(range(WINDOWS)):
        part = end * window // WINDOWS, end * (window + 1) // WINDOWS
        value = _mean_between(own, *part)
        theirs = (_mean_between(each, *part) for each in others)
        if value is None or not all(each is not None and value < each for each in theirs):
            return window + 1
    return 0


def _level(curve: RewardCurve, end: int) -> float | None:
    """The mean of the last quarter of the steps up to `end`; None if it has too few bins."""
    return _mean_between(curve, end * 3 // 4, end, MIN_BINS)


def _mean_between(curve: RewardCurve, first: int, end: int, least: int = 1) -> float | None:
    """The mean of the bins whose middle lies between two steps; None if they are too few."""
    half = curve.width // 2
    low = bisect_left(curve.numbers, (first - half) / curve.width)
    high = bisect_left(curve.numbers, (end - half) / curve.width)
    if high - low < least:
        return None
    means, weights = curve.means[low:high], curve.counts[low:high]
    return math.fsum(map(mul, means, weights)) / sum(weights)
