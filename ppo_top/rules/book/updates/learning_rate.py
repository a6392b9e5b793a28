"""The learning rate: zero too early, out of range, or suddenly another."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.catalogue import UNKNOWN_TRAINER
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.advice.rate_symptoms import SINGLE, is_cut
from ppo_top.rules.advice.setting_symptoms import ADAPTIVE_RATE, rate_adapts
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds
from ppo_top.rules.engine.history import MAX_RECENT_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import UPDATE_METRICS
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    GRPO,
    INFO,
    OFF_POLICY,
    PREFERENCE,
    RLHF,
    VALUE_BASED,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num


def rate_over(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The learning rate reaches zero while there is more to learn."""
    history = run.histories["lr"]
    if history.last > limits["share"] * history.high or history.high <= 0.0:
        return None
    if rate_adapts(run) and _has_risen(history):
        return None
    budget = run.progress
    early = budget is not None and budget < limits["budget"]
    idle = history.recent[-int(limits["idle"]) :]  # with a higher value while there are fewer
    over = max(idle) <= limits["share"] * history.high
    if over and budget is None and not run.at_max:
        message = f"learning rate has been {num(history.last)} for {len(idle)} updates and more"
        return Assessment(WATCH, history.last, None, f"{message}: nothing changes any more")
    if not (early or run.rising):
        return None
    done = f" at {100 * budget:.0f} % of the run" if budget is not None else ""
    message = f"learning rate is {num(history.last)}{done}: nothing will change any more"
    return Assessment(INFO, history.last, None, message)


def _has_risen(rate: History) -> bool:
    """Whether a rate that follows the KL has risen lately: it may do so again."""
    return any(before < after for before, after in pairwise(rate.recent))


def rate_cut(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The learning rate drops to zero from one update to the next, unlike any schedule."""
    history = run.histories["lr"]
    if run.at_max or not is_cut(run, history):
        return None
    message = f"learning rate fell from {num(history.high)} to {num(history.last)} at once"
    return Assessment(WARN, history.last, None, f"{message}: the policy can learn no more")


def rate_extreme(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A learning rate with which no optimiser learns, or one that explains what else is wrong."""
    rate = _known_rate(run, limits)
    if rate is None or ("lr" in run.histories and rate_adapts(run)):
        return None  # those that follow the KL are logged: skrl's is if it has a schedule
    high = rate.now >= limits["high"] / SINGLE
    if not (high or (rate.is_settled and rate.highest <= limits["low"] * SINGLE)):
        return _rate_unusual(run, rate, limits) if rate.is_settled else None
    whose = "the critic's learning rate" if CRITIC_RATE in run.facts else "learning rate"
    limit = limits["high"] if high else limits["low"]
    why = "no optimiser learns with steps this large" if high else "nothing will change"
    message = f"{whose} is {num(rate.now)}: {why}"
    harmless = run.keeps_gain or CRITIC_RATE in run.facts or (high and _may_be_tabular(run))
    return Assessment(WATCH if harmless else WARN, rate.now, limit, message)


class _KnownRate(NamedTuple):
    """The learning rate now and at most; `is_settled`: a warm-up from 0 is over."""

    now: float
    highest: float
    is_settled: bool


def _known_rate(run: JudgedRun, limits: RuleLimits) -> _KnownRate | None:
    """The learning rate as logged, or else as set."""
    history = run.histories.get("lr")
    if history is not None:
        return _KnownRate(history.last, history.high, history.count >= limits["points"])
    value = run.config_number("learning_rate")
    return _KnownRate(value, value, True) if value is not None and value >= 0.0 else None


def _may_be_tabular(run: JudgedRun) -> bool:
    """Whether nothing tells that there is an optimiser: a table of values learns with 0.1 or so."""
    return run.trainer.id == UNKNOWN_TRAINER.id and not run.has_updates


def _rate_unusual(run: JudgedRun, rate: _KnownRate, limits: RuleLimits) -> Assessment | None:
    """A rate at which few runs learn: as severe as what is open that it explains."""
    large, small = limits["large"] / SINGLE, limits["small"] * SINGLE
    if CRITIC_RATE in run.facts or not (rate.now >= large or rate.highest <= small):
        return None
    too_large = rate.now >= large
    effects = TOO_LARGE_EFFECTS if too_large else TOO_SMALL_EFFECTS
    worst = max(run.severity_of(rule) for rule in effects)
    limit = limits["large"] if too_large else limits["small"]
    why = "larger than most runs survive" if too_large else "learning will be very slow"
    message = f"learning rate is {num(rate.now)}: {why}"
    return Assessment(max(INFO, min(worst, WARN)), rate.now, limit, message)


CRITIC_RATE = "critic-rate"
"""The fact that the learning rate is the critic's, and something else limits the policy."""

TOO_LARGE_EFFECTS = ("kl-high", "clip-high", "ratio-off", "updates-too-large", "reward-crash")
TOO_SMALL_EFFECTS = ("no-op-updates", "reward-never-moves", "nothing-learns")


def rate_jumps(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The learning rate is suddenly several times higher, or far higher than it ever was.

    A schedule with restarts goes back to a rate that the run had before.
    """
    history = run.histories["lr"]
    earlier = history.previous(MAX_RECENT_VALUES)
    before = earlier[-1]
    if before <= 0.0 or history.last < limits["times"] * before or history.last < history.high:
        return None
    if ADAPTIVE_RATE in run.facts:
        return None
    message = f"learning rate jumped from {num(before)} to {num(history.last)}"
    highest = max(*history.first[: history.count - 1], *earlier)
    level = WARN if history.last >= limits["far"] * highest / SINGLE else INFO
    return Assessment(level, history.last, before, message)


def _rate_stays_up(run: JudgedRun, block: RowBlock, share: float) -> bool:
    """No rate of the block is below this share of the highest."""
    history = run.histories.get("lr")
    low, high = block.bounds("lr")
    return low > share * max(high, history.high if history is not None else high) > 0.0


def _never_near_zero(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return _rate_stays_up(run, block, limits["share"])


def _never_cut(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return _rate_stays_up(run, block, 0.01)


def rate_never_decayed(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No rate of the block is a twentieth of the highest or less."""
    return _rate_stays_up(run, block, 0.05)


def _never_extreme(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No rate of the block is unusually high or low, nor the one that is set or was logged."""
    rate = _known_rate(run, limits)
    if "lr" in block.columns:
        low, high = block.bounds("lr")
    elif rate is not None:
        low, high = rate.highest, rate.now
    else:
        return True
    return high < limits["large"] / SINGLE and low > limits["small"] * SINGLE


def _never_jumps(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    low, high = near_bounds(run, block, "lr", 1)
    history = run.histories.get("lr")
    return high < limits["times"] * low or (history is not None and high < history.high)


RULES = (
    Rule(
        id="learning-rate-zero",
        title="Learning rate reached zero",
        description="the schedule ends while the reward is still rising or the run continues",
        concepts=("lr",),
        assess=rate_over,
        stays_calm=_never_near_zero,
        limits={"budget": 0.9, "share": 1e-3, "idle": 20, "warmup": 5},
        persistence=k_of_n(3, 3),
        causes=("the schedule is shorter than the run",),
        remedies=(
            "a schedule as long as the run: {training_length}",
            "a floor under {learning_rate}",
        ),
        source="a learning rate that is too small converges too slowly (SB3 practice)",
    ),
    Rule(
        id="learning-rate-cut",
        title="Learning rate dropped to zero",
        description="the learning rate falls to zero from one update to the next",
        concepts=("lr",),
        related=("approx_kl",),
        assess=rate_cut,
        stays_calm=_never_cut,
        families=ALL_FAMILIES,
        limits={"warmup": 5},
        persistence=k_of_n(3, 3),
        ranks_causes=True,
        causes=(
            "a schedule that ends before the run does",
            "a callback, or optimiser state lost on resume",
        ),
        remedies=(
            "a schedule as long as the run: {training_length}",
            "check what sets {learning_rate} while the run goes on",
        ),
        source="labelled run: learning rate 0 in mid-run; too small is too slow (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="learning-rate-extreme",
        title="Learning rate out of range",
        description="the learning rate, logged or set, is one with which no or few runs learn",
        concepts=("lr",),
        judged_at=("lr", *UPDATE_METRICS),
        assess=rate_extreme,
        stays_calm=_never_extreme,
        families=ALL_FAMILIES,
        asks_about=(*TOO_LARGE_EFFECTS, *TOO_SMALL_EFFECTS),
        limits={"high": 0.03, "low": 1e-7, "large": 0.01, "small": 1e-6, "points": 5},
        limit_overrides={
            RLHF: {"low": 1e-9, "large": 1e-3, "small": 1e-8},
            GRPO: {"low": 1e-9, "large": 1e-3, "small": 1e-8},
            PREFERENCE: {"high": 0.01, "low": 1e-9, "large": 1e-3, "small": 1e-8},
            VALUE_BASED: {"low": 1e-6},
            OFF_POLICY: {"low": 1e-6},
        },
        persistence=k_of_n(2, 2),
        ranks_causes=True,
        causes=("a learning rate wrong by powers of ten",),
        remedies=("check the unit and the schedule of the learning rate",),
        source="3e-2 oscillates or collapses (an experiment), 0.01 is too large, 1e-6 very slow "
        "(SB3 practice); defaults lie between 1e-6 and 3e-3",
        grade="B",
    ),
    Rule(
        id="learning-rate-jump",
        title="Learning rate jumped",
        description="the learning rate is several times higher than one update before",
        concepts=("lr",),
        assess=rate_jumps,
        stays_calm=_never_jumps,
        families=ALL_FAMILIES,
        limits={"times": 3.0, "far": 20.0, "warmup": 10, "clear_after": 10},
        persistence=AT_ONCE,
        ranks_causes=True,
        causes=("warm restarts in the schedule, a changed setting, or a resumed run",),
        remedies=("check the schedule of {learning_rate}", "a smaller step of the schedule"),
        source="a larger learning rate makes training collapse (SB3 practice)",
        grade="C",
    ),
)
