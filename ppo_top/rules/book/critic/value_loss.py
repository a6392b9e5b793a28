"""The critic's loss: it rises, never falls, is exactly 0; value clipping."""

from __future__ import annotations

from ppo_top.rules.book.critic.explained_variance import (
    CLIMB_VALUES,
    CRITIC_REMEDIES,
    critic_loss,
    loss_climbs,
)
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_most, levels, logged_throughout, near_bounds, start_level
from ppo_top.rules.engine.history import LEVEL_VALUES, START_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    INFO,
    LLM_FAMILIES,
    POLICY_GRADIENT,
    UNCHECKED_ON_LLM,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct, ratio_text


def value_loss_rises(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The critic's loss climbs though the reward does not, or never falls."""
    explained = run.value("explained_variance")
    explains = explained is not None and explained >= limits["explained"]
    losses = [loss for loss in _losses(run) if loss.last_row == run.mark.row]
    for loss in losses:
        early, late = _climb(run, loss)
        climbs = late > limits["times"] * early > 0.0 and late > limits["small"] * loss.high
        if climbs and not _follows_returns(run, late / early):
            message = (
                f"value loss rises ({num(early)} -> {num(late)}, {ratio_text(late, early)}): "
                "the critic cannot keep up"
            )
            pays = run.reward is not None and run.reward.is_up
            mild = explains or pays or run.tiny_updates
            level, about = WATCH if mild else WARN, _concept(run, loss)
            return Assessment(level, loss.last, early, message, concepts=about)
    if explains or run.tiny_updates or run.resumed:
        return None
    for loss in losses:
        base = loss.initial_level
        if loss.count >= limits["flat_points"] and loss.level >= limits["unfallen"] * base > 0.0:
            message = f"value loss has not fallen in {loss.count} updates ({num(loss.last)})"
            fails = run.flat and (explained is not None or not run.gained)
            level, about = WATCH if fails else INFO, _concept(run, loss)
            return Assessment(level, loss.last, base, message, concepts=about)
    return None


def _losses(run: JudgedRun) -> list[History]:
    """The critic's loss, and its error before clipping where that is logged too."""
    found = (critic_loss(run), run.histories.get("value_error"))
    return [history for history in found if history is not None]


def _concept(run: JudgedRun, loss: History) -> tuple[str]:
    return ("value_loss" if run.histories.get("value_loss") is loss else "value_error",)


def _climb(run: JudgedRun, loss: History) -> tuple[float, float]:
    """The level that a climbing loss came from and the present one; zeros if it does not climb."""
    if not loss_climbs(run, loss):
        return 0.0, 0.0
    values = loss.trend(CLIMB_VALUES).values
    return min(median(values[:START_VALUES]), loss.initial_level), loss.recent_median()


def _follows_returns(run: JudgedRun, growth: float) -> bool:
    """Whether the reward has risen so much that its square, the loss's unit, explains the climb."""
    if run.reward is None or run.family in LLM_FAMILIES:
        return False
    early, late = run.reward.history.start, run.reward.history.level
    return late > early and late * late >= growth * early * early


def value_loss_zero(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The value loss has become exactly 0, which no error of a real critic is."""
    history = run.histories["value_loss"]
    if history.last != 0.0 or history.high <= 0.0:
        return None
    solved = run.at_max or (run.keeps_gain and run.family not in LLM_FAMILIES)
    if solved or "rounded" in run.facts:
        return borderline(0.0)
    message = (
        f"value loss is exactly 0, after {num(history.high)}: "
        "the critic is not trained, or whole batches are skipped"
    )
    return Assessment(WARN, 0.0, None, message)


def value_clip_high(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Value targets move faster than the value clip lets the critic follow."""
    value = run.values["value_clip_fraction"]
    if value <= limits["watch"]:
        return None
    message = f"{pct(value)} of the critic's updates are clipped: targets outrun the value clip"
    return Assessment(WATCH, value, limits["watch"], message)


def _no_rise(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No loss of the block is far above its start or those before, or as high as at the start."""
    explains = block.low("explained_variance") >= limits["explained"]
    explains = explains and "explained_variance" in block.columns
    for concept in ("value_loss", "value_error"):
        if concept not in block.columns:
            continue
        unfallen = limits["unfallen"] * start_level(run, concept, LEVEL_VALUES)
        falls = explains or near_bounds(run, block, concept, 20)[1] < unfallen
        if not falls or _may_climb(run, block, concept, limits["times"]):
            return False
    return True


def _may_climb(run: JudgedRun, block: RowBlock, concept: str, times: float) -> bool:
    """Whether a loss may be so many times the start, or those 20 rows before, at a row of a block.

    Of the three newest values, of which the median counts, two may be older than the block.
    """
    history = run.histories.get(concept)
    if history is None or history.count < 21:
        return True
    base, (low, high) = history.initial_level, near_bounds(run, block, concept, 21)
    if high <= times * min(low, base):
        return False
    values = (*history.newest(21), *block.columns[concept])
    before = zip(*(values[at : len(values) - 19 + at] for at in range(5)), strict=True)
    return any(
        late > times * min(base, *early) for late, early in zip(values[19:], before, strict=True)
    )


def _never_falls(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """In no row of the block the loss climbs, falls, or the critic explains much."""
    loss = "value_loss"
    if run.resumed or "value_error" in run.histories or loss not in block.columns:
        return False
    if not logged_throughout(run, block, "explained_variance"):
        return False
    if block.high("explained_variance") >= limits["explained"]:
        return False
    if run.histories[loss].count < limits["flat_points"]:
        return False
    unfallen = limits["unfallen"] * start_level(run, loss, LEVEL_VALUES)
    may_climb = _may_climb(run, block, loss, limits["times"])
    return not may_climb and min(levels(run, block, loss)) >= unfallen


def _never_zero(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return "value_loss" in block.columns and block.low("value_loss") > 0.0


RULES = (
    Rule(
        id="value-loss-rising",
        title="Value loss not falling",
        description="the value loss climbs while the reward does not, or it never falls",
        concepts=("value_loss",),
        related=("explained_variance",),
        assess=value_loss_rises,
        stays_calm=_no_rise,
        keeps_level=_never_falls,
        families=POLICY_GRADIENT,
        judged_at=("value_loss", "value_error"),
        limits={
            "small": 0.03,
            "unfallen": 0.9,
            "times": 3.0,
            "explained": 0.2,
            "flat_points": 40,
            "warmup": 7,
        },
        persistence=k_of_n(2, 2),
        ranks_causes=True,
        causes=("the critic cannot keep up with the policy", "returns grow without bound"),
        remedies=CRITIC_REMEDIES,
        source="value loss that 'never decreases' or 'increases instead' warns (SB3 practice); "
        "while the reward rises it should increase (ML-Agents)",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="value-loss-zero",
        title="Value loss exactly zero",
        description="the value loss falls to exactly 0 and stays there",
        concepts=("value_loss",),
        related=("explained_variance", "ratio_mean"),
        assess=value_loss_zero,
        stays_calm=_never_zero,
        families=POLICY_GRADIENT,
        limits={"warmup": 5},
        persistence=k_of_n(5, 5),
        causes=(
            "batches skipped, such as those with too high a ratio",
            "critic frozen, or its loss no longer part of the sum",
        ),
        remedies=(
            "see whether the trainer skips batches: its console says so, the ratio shows why",
            "check that the critic is trained: {vf_coef:below 0.05} above 0",
        ),
        source="TRL's guide: tune when these values 'collapse to 0'; it skips batches at ratio 10",
        grade="A",
    ),
    Rule(
        id="value-clip-high",
        title="Value clip fraction too high",
        description="a large share of value predictions is clipped",
        concepts=("value_clip_fraction",),
        related=("value_loss",),
        assess=value_clip_high,
        stays_calm=at_most("value_clip_fraction", "watch"),
        families=POLICY_GRADIENT,
        limits={"watch": 0.2, "warmup": 10},
        causes=("value targets move faster than the value clip allows",),
        remedies=(
            "a wider value clip: {clip_range_vf}",
            "see that {whiten_rewards:off} is on",
            "lower {learning_rate}",
        ),
        source="TRL practice: value clip fraction is low in healthy runs",
    ),
)
