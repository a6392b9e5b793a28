"""Shows from the bounds of a block of rows that a rule would say the same of each of them.

These checks look at a few numbers for a whole block, so they may say no for a healthy one, but
never yes for a row of which the rule has something else to say.
"""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import LEVEL_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import BlockCheck, RuleLimits
from ppo_top.rules.engine.stats import median


def at_most(concept: str, limit: str) -> BlockCheck:
    """No value of a metric is above a limit."""
    return lambda run, block, limits: (
        concept in block.columns and block.high(concept) <= limits[limit]
    )


def at_least(concept: str, limit: str) -> BlockCheck:
    """No value of a metric is below a limit."""
    return lambda run, block, limits: (
        concept in block.columns and block.low(concept) >= limits[limit]
    )


def always(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """For rules about NaN, of which a block holds none, and for those that no row concerns."""
    return True


def near_bounds(
    run: JudgedRun, block: RowBlock, concept: str, look_back: int
) -> tuple[float, float]:
    """The lowest and highest of a block's values and of the last `look_back` before it."""
    low, high = block.bounds(concept)
    history = run.histories.get(concept)
    before = history.newest(look_back) if history is not None else ()
    return min((low, *before)), max((high, *before))


def shared_before(run: JudgedRun, block: RowBlock, concept: str, look_back: int) -> list[float]:
    """The values from before a block that are among the last `look_back` at each of its rows."""
    history, count = run.histories.get(concept), look_back - len(block.steps) + 1
    return history.newest(count) if history is not None and count > 0 else []


def start_level(run: JudgedRun, concept: str, count: int) -> float:
    """The level of the first `count` values; NaN while unknown, which no comparison holds for."""
    history = run.histories.get(concept)
    return history.baseline(count) if history is not None and history.count >= count else math.nan


def levels(run: JudgedRun, block: RowBlock, concept: str) -> list[float]:
    """`History.level` at each row of a block."""
    values = [*run.histories[concept].newest(LEVEL_VALUES - 1), *block.columns[concept]]
    return [median(values[at : at + LEVEL_VALUES]) for at in range(len(block.steps))]


def logged_throughout(run: JudgedRun, block: RowBlock, concept: str) -> bool:
    """Whether all rows of a block hold a metric, or none so far does."""
    return concept in block.columns or concept not in run.histories
