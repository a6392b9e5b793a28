"""The critic: whether it explains the returns, and whether their scale allows it."""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import logged_throughout, near_bounds, start_level
from ppo_top.rules.engine.history import LEVEL_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    CRIT,
    INFO,
    LLM_FAMILIES,
    POLICY_GRADIENT,
    UNCHECKED_ON_LLM,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num

LOSS_LEFT, LOSS_LEFT_SOON, LONG = 0.2, 0.4, 1.5
"""A loss that has fallen to this share of its start has fallen, however long it took; it must keep
less of it from so many times the first wait on."""

FALLEN_SHARE, CONVERGED_SHARE = 0.7, 0.01
"""A loss below this share of its start falls; below this one of its highest it has converged."""

CLIMB_VALUES, CLIMB_LEAST, CLIMB_TAU, CLIMB_Z = 20, 8, 0.5, 3.0
"""A loss that keeps rising: over so many values, or at first these, by this tau and surprise."""


def critic_loss(run: JudgedRun) -> History | None:
    """The critic's loss; where it is logged clipped, the unclipped error if there is one."""
    if "clipped-value-loss" in run.facts and "value_error" in run.histories:
        return run.histories["value_error"]
    return run.histories.get("value_loss")


def _tiny(run: JudgedRun, loss: History | None) -> bool:
    """Whether the critic has converged: small loss against its past, and reward was gained."""
    return loss is not None and run.gained and loss.level < CONVERGED_SHARE * loss.high


def _loss_falls(loss: History | None) -> bool:
    return loss is not None and (loss.falling() or loss.level < FALLEN_SHARE * loss.initial_level)


def _waited_long_enough(count: int, loss: History | None, limits: RuleLimits) -> bool:
    """A critic that learns shows it within a few updates; on long tasks its loss falls first."""
    left = loss.level / loss.initial_level if loss is not None and loss.initial_level > 0.0 else 1.0
    if count >= LONG * limits["never_points"]:
        return left > LOSS_LEFT
    return count >= limits["never_points"] and left > LOSS_LEFT_SOON


def loss_climbs(run: JudgedRun, loss: History | None) -> bool:
    """The loss keeps rising, and not because the returns grow (scores of texts have a scale)."""
    if loss is None or loss.count < CLIMB_LEAST or (run.rising and run.family not in LLM_FAMILIES):
        return False
    trend = loss.trend(CLIMB_VALUES)
    return trend.tau > CLIMB_TAU and trend.z > CLIMB_Z


def critic_learns_nothing(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The critic explains none of the returns and its loss does not fall."""
    history = run.histories["explained_variance"]
    value = history.last
    if value > limits["clear"]:
        return None
    loss = critic_loss(run)
    if run.at_max or _tiny(run, loss):
        return None
    kl = run.value("approx_kl")
    if kl is not None and abs(kl) < limits["still"]:
        return borderline(value, limits["low"])  # nothing is trained at all: not the critic's fault
    if value > limits["low"] or (history.count <= limits["early"] and not loss_climbs(run, loss)):
        return borderline(value, limits["low"])
    if run.tiny_updates:
        size = num(run.steps_per_update)
        message = f"explained variance {num(value)}, of {size} samples an update"
        return Assessment(WATCH, value, limits["low"], message)
    held = _held_by_setting(run, limits)
    if (run.rising or run.keeps_gain) and not held:
        message = f"critic explains little (explained variance {num(value)}), yet reward was gained"
        return Assessment(WATCH, value, limits["low"], message)
    improves = _loss_falls(loss)
    never = history.high < limits["never"] and _waited_long_enough(history.count, loss, limits)
    if improves and not never:
        message = f"critic explains little for now (explained variance {num(value)}), but learns"
        return Assessment(INFO, value, limits["low"], message)
    tail = "has never explained the returns" if never else "and its loss is not falling"
    message = f"critic explains none of the returns: explained variance {num(value)}, {tail}"
    level = CRIT if value < limits["crit"] and not improves else WARN if held else _by_reward(run)
    return Assessment(level, value, limits["low"], message, never, _value_clip(run))


def _by_reward(run: JudgedRun) -> int:
    """*Warn* where the reward does badly or is not logged; else, or too early to tell, *watch*."""
    hurts = run.reward is None or (run.stuck and not run.reward_pays)
    return WARN if hurts else WATCH


def _held_by_setting(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether a setting keeps the critic from learning: no weight, or a tiny value clip."""
    width = run.setting("clip_range_vf") or math.inf
    return run.config_number("vf_coef") == 0.0 or width < limits["clip"]


def _value_clip(run: JudgedRun) -> tuple[str, ...]:
    """The value clip, if any, in units of the rewards."""
    width = run.setting("clip_range_vf")
    return (f"value updates are clipped at {num(width)}",) if width else ()


def critic_lost(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A critic that explained the returns no longer does."""
    history = run.histories["explained_variance"]
    if "explained-variance-dropped" not in run.memos:
        if history.level >= limits["good"]:
            run.memos["explained-variance-dropped"] = (history.level,)
        return None
    if history.last > limits["clear"] or run.at_max:
        return None
    loss = critic_loss(run)
    if loss is None or _tiny(run, loss):
        return None
    usual = loss.recent_median(int(limits["usual_points"]))
    grown = loss.last > max(limits["of_highest"] * loss.high, limits["times"] * usual)
    if history.last >= limits["low"] or not grown:
        return borderline(history.last)
    values, size = history.recent, LEVEL_VALUES
    levels = [median(values[at : at + size]) for at in range(len(values) - size + 1)]
    best = max(*run.memos["explained-variance-dropped"], *levels)
    message = f"critic lost its fit: explained variance {num(best)} -> {num(history.last)}"
    return Assessment(WATCH if run.tiny_updates else WARN, history.last, limits["low"], message)


def _keeps_fit(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """The critic explains all of the block, or has never explained much and still does not."""
    low, high = near_bounds(run, block, "explained_variance", 5)
    known = "explained-variance-dropped" in run.memos
    return low > limits["clear"] if known else high < limits["good"]


def reward_scale(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Returns are too large for the critic to fit."""
    loss, explained = critic_loss(run), run.value("explained_variance")
    if loss is None or loss.last <= limits["loss"]:
        return None
    if explained is None:
        return _scale_unexplained(run, loss, limits)
    if explained >= limits["explained"]:
        return borderline(loss.last)
    message = f"returns are very large (value loss {num(loss.last)}) and the critic cannot fit them"
    level = WARN if loss.last > limits["huge"] else _by_reward(run)
    return Assessment(level, loss.last, limits["loss"], message)


def _scale_unexplained(run: JudgedRun, loss: History, limits: RuleLimits) -> Assessment | None:
    """The same where no explained variance is logged: the loss is vast and nothing is gained."""
    known = "explained_variance" in run.histories or run.reward is None
    if known or run.gained or loss.last <= limits["huge"]:
        return None
    message = f"returns are very large (value loss {num(loss.last)}), and no reward is gained"
    return Assessment(WATCH, loss.last, limits["huge"], message)


NO_VARIANCE = 1e-12
"""Returns that vary no more are all the same."""


def value_drift(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Predicted values and returns differ in scale."""
    spread, of_returns = run.value("value_var", 0), run.value("return_var")
    mean, of_mean = run.value("value_mean"), run.value("return_mean")
    if of_returns is None or of_returns <= NO_VARIANCE:
        return None
    if spread is not None and not limits["low"] <= spread / of_returns <= limits["high"]:
        message = f"spread of values and returns differ: {num(spread)} against {num(of_returns)}"
        return Assessment(WATCH, spread / of_returns, limits["high"], message)
    if (
        mean is not None
        and of_mean is not None
        and abs(mean - of_mean) > limits["deviations"] * math.sqrt(of_returns)
    ):
        message = f"values are off the returns: mean {num(mean)} against {num(of_mean)}"
        return Assessment(WATCH, mean, of_mean, message)
    base = run.histories["return_var"].initial_level
    if run.family in LLM_FAMILIES and of_returns > limits["grown"] * base > 0.0:
        message = f"variance of the returns grew from {num(base)} to {num(of_returns)}"
        return Assessment(WATCH, of_returns, limits["grown"] * base, message)
    return None


LEARNS_BETTER = (
    "{normalised_rewards}",
    "train the critic faster: {critic_learning_rate}",
    "{in_control}a network of its own for the critic, or more epochs: {n_epochs}",
)

MAY_LEARN = (
    "a wider value clip, or none: {clip_range_vf:known below 0.1}",
    "check that the critic is trained: {vf_coef:below 0.05} above 0",
    *LEARNS_BETTER,
)

CRITIC_REMEDIES = (
    *MAY_LEARN,
    "lower {gamma:name} or {gae_lambda:name}",
    "{in_control}look for something missing in the observation, such as the time left",
)


def _explains(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Every explained variance of the block is clearly positive."""
    return block.low("explained_variance") > limits["clear"]


def _never_explains(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """As before, no row of the block explains anything, and the loss is not far below its start."""
    history, (low, high) = run.histories["explained_variance"], block.bounds("explained_variance")
    if not all(logged_throughout(run, block, name) for name in ("approx_kl", "value_loss")):
        return False
    if "value_error" in run.histories or block.low("approx_kl") < limits["still"]:
        return False
    if "value_loss" in block.columns:
        left = LOSS_LEFT * start_level(run, "value_loss", LEVEL_VALUES)
        if not near_bounds(run, block, "value_loss", LEVEL_VALUES - 1)[0] > left:
            return False
    waited = history.count > max(limits["early"], LONG * limits["never_points"])
    never = max(high, history.high) < limits["never"]
    return waited and never and limits["crit"] <= low <= high <= limits["low"]


def _loss_stays_moderate(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    unclipped = "value_error" in run.histories or "value_error" in block.columns
    return not unclipped and block.high("value_loss") <= limits["loss"]


RULES = (
    Rule(
        id="critic-not-learning",
        title="Critic not learning (EV <= 0)",
        description="explained variance stays at or below 0 and the value loss does not fall",
        concepts=("explained_variance",),
        related=("value_loss",),
        assess=critic_learns_nothing,
        stays_calm=_explains,
        keeps_level=_never_explains,
        families=POLICY_GRADIENT,
        limits={
            "low": 0.05,
            "clear": 0.2,
            "crit": -1.0,
            "never": 0.1,
            "never_points": 12,
            "early": 10,
            "still": 1e-5,
            "clip": 0.01,
            "warmup": 5,
        },
        persistence=k_of_n(8, 10),
        ranks_causes=True,
        causes=(
            "critic not trained (value coefficient 0) or too small",
            "returns too large, or changing faster than the critic learns",
            "observations lack what the return depends on",
        ),
        remedies=CRITIC_REMEDIES,
        source="explained variance 'consistently <= 0' warns (SB3 practice); > 0.8 is good (TRL)",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="explained-variance-dropped",
        title="Explained variance dropped",
        description="a critic that used to explain the returns no longer does",
        concepts=("explained_variance",),
        related=("value_loss",),
        assess=critic_lost,
        stays_calm=_keeps_fit,
        families=POLICY_GRADIENT,
        limits={
            "good": 0.7,
            "clear": 0.5,
            "low": 0.3,
            "of_highest": 0.05,
            "times": 2.0,
            "usual_points": 30,
            "warmup": 10,
        },
        persistence=k_of_n(4, 6),
        ranks_causes=True,
        causes=(
            "the environment, rewards or observations changed",
            "the policy reached states the critic has not seen",
        ),
        remedies=("check for a change of environment, data or reward", *LEARNS_BETTER),
        source="labelled runs: critic reset and shifted observations",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="reward-scale",
        title="Returns too large for the critic",
        description="the value loss is huge and the critic explains nothing, or nothing is gained",
        concepts=("value_loss",),
        related=("explained_variance",),
        assess=reward_scale,
        stays_calm=_loss_stays_moderate,
        eased_to=WATCH,
        families=POLICY_GRADIENT,
        limits={"loss": 1e4, "huge": 1e6, "explained": 0.1, "warmup": 5},
        causes=("rewards not scaled (value targets should lie within about -10 to 10)",),
        remedies=(
            "{normalised_rewards}",
            "a larger value coefficient does not help: {vf_coef:above 0}",
        ),
        source="Andy Jones, Debugging RL: value targets within -10 to 10; SB3#2240",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="value-drift",
        title="Values and returns differ in scale",
        description="predicted values are far from the returns in mean or spread, or these explode",
        concepts=("value_var",),
        related=("return_var", "value_mean", "return_mean"),
        assess=value_drift,
        families=POLICY_GRADIENT,
        judged_at=("value_var", "value_mean"),
        limits={
            "low": 0.01,
            "high": 10.0,
            "grown": 20.0,
            "deviations": 2.0,
            "warmup": 30,
        },
        persistence=k_of_n(8, 10),
        causes=("the critic lags behind the rewards",),
        remedies=("see that {whiten_rewards:off} is on", "a larger value coefficient: {vf_coef}"),
        source="TRL practice: value and return statistics stay consistent in scale",
    ),
)
