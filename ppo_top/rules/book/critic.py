"""The critic: whether it explains the returns, and whether their scale lets it."""

from __future__ import annotations

from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.rule import Limits, Reading, Rule, between, persist
from ppo_top.rules.engine.terms import CRIT, INFO, NOT_ON_TEXT, WARN, WATCH
from ppo_top.rules.engine.wording import num


def critic_loss(run: Run) -> History | None:
    """The critic's loss; RLlib clips the one that it calls so, the plain error is beside it."""
    if run.producer == "rllib" and "value_error" in run.histories:
        return run.histories["value_error"]
    return run.histories.get("value_loss")


def _tiny(run: Run, loss: History | None) -> bool:
    """The loss is small against its own past and reward was gained: the critic has converged."""
    return loss is not None and run.gained and loss.level(5) < 0.01 * loss.high


def _loss_falls(loss: History | None) -> bool:
    return loss is not None and (loss.falling() or loss.level(5) < 0.7 * loss.base(5))


def _waited_long_enough(count: int, loss: History | None, limits: Limits) -> bool:
    """A critic that learns shows it in a few updates; on long tasks its loss falls before."""
    left = loss.level(5) / loss.base(5) if loss is not None and loss.base(5) > 0.0 else 1.0
    if count >= 1.5 * limits["never_points"]:
        return left > 0.2
    return count >= limits["never_points"] and left > 0.4


def climbs(run: Run, loss: History | None) -> bool:
    """The loss rises for long, and not because the returns that it measures grow."""
    if loss is None or loss.count < 8 or run.learned:
        return False
    trend = loss.trend(20)
    return trend.tau > 0.5 and trend.z > 3.0


def critic_learns_nothing(run: Run, limits: Limits) -> Reading | None:
    """V1: the critic explains none of the returns and its loss does not fall."""
    history = run.histories["explained_variance"]
    value = history.last
    if value > limits["clear"]:
        return None
    loss = critic_loss(run)
    if run.at_max or _tiny(run, loss):
        return None
    kl = run.value("approx_kl", 1)
    if kl is not None and abs(kl) < limits["still"]:
        return between(value, limits["low"])  # nothing is trained: not the critic's own fault
    if value > limits["low"] or (history.count <= limits["early"] and not climbs(run, loss)):
        return between(value, limits["low"])
    if run.few_samples:
        message = f"explained variance {num(value)}, of {num(run.samples)} samples an update"
        return Reading(WATCH, value, limits["low"], message)
    improves = _loss_falls(loss) or run.learned
    never = history.high < limits["never"] and _waited_long_enough(history.count, loss, limits)
    if improves and not never:
        message = f"critic explains little for now (explained variance {num(value)}), but learns"
        return Reading(INFO, value, limits["low"], message)
    tail = "has never explained the returns" if never else "and its loss is not falling"
    message = f"critic explains none of the returns: explained variance {num(value)}, {tail}"
    deep = value < limits["crit"] and not improves
    level = CRIT if deep else WARN
    return Reading(level, value, limits["low"], message, never, _value_clip(run))


def _value_clip(run: Run) -> tuple[str, ...]:
    """A clip on the values' change, where there is one, is in the units of the rewards."""
    width = run.setting("clip_range_vf", "clip_range_vf")
    return (f"value updates are clipped at {num(width)}",) if width else ()


def critic_lost(run: Run, limits: Limits) -> Reading | None:
    """V4: a critic that explained the returns does so no more."""
    history = run.histories["explained_variance"]
    best = run.memos.get("critic-lost", (0.0,))[0]
    level = history.level(5)
    if level > best:
        run.memos["critic-lost"] = (level,)
    if best < limits["good"] or history.last > 0.5 or run.at_max:
        return None
    loss = critic_loss(run)
    if loss is None or _tiny(run, loss):
        return None
    grown = loss.last > 0.05 * loss.high and loss.last > 2.0 * loss.level(30)
    if history.last >= limits["low"] or not grown:
        return between(history.last)
    message = f"critic lost its fit: explained variance {num(best)} -> {num(history.last)}"
    return Reading(WATCH if run.few_samples else WARN, history.last, limits["low"], message)


def reward_scale(run: Run, limits: Limits) -> Reading | None:
    """V6: returns so large that the critic cannot fit them."""
    loss, explained = critic_loss(run), run.value("explained_variance", 1)
    if loss is None or explained is None or loss.last <= limits["loss"]:
        return None
    if explained >= limits["explained"]:
        return between(loss.last)
    message = f"returns are very large (value loss {num(loss.last)}) and the critic cannot fit them"
    return Reading(WARN, loss.last, limits["loss"], message)


def value_drift(run: Run, limits: Limits) -> Reading | None:
    """V7: predicted values and returns differ in scale."""
    spread, of_returns = run.value("value_var", 0), run.value("return_var", 1)
    mean, of_mean = run.value("value_mean", 1), run.value("return_mean", 1)
    if of_returns is None or of_returns <= 1e-12:
        return None
    if spread is not None and not limits["low"] <= spread / of_returns <= limits["high"]:
        message = f"spread of values and returns differ: {num(spread)} against {num(of_returns)}"
        return Reading(WATCH, spread / of_returns, limits["high"], message)
    if mean is not None and of_mean is not None and abs(mean - of_mean) > 2 * of_returns**0.5:
        message = f"values are off the returns: mean {num(mean)} against {num(of_mean)}"
        return Reading(WATCH, mean, of_mean, message)
    return None


FIT = (
    "a wider value clip, or none: {clip_range_vf:known below 0.1}",
    "check that the critic is trained: {vf_coef:below 0.05} above 0",
    "{normalised_rewards}",
    "train the critic faster: {critic_learning_rate}",
    "{in_control}a network of its own for the critic, or more epochs: {n_epochs}",
    "lower {gamma:name} or {gae_lambda:name}",
    "{in_control}look for something missing in the observation, such as the time left",
)


RULES = (
    Rule(
        id="critic-not-learning",
        title="Critic learns nothing",
        codes=("V1", "V1n"),
        sees="explained variance stays at or below 0 and the value loss does not fall",
        concepts=("explained_variance",),
        beside=("value_loss",),
        read=critic_learns_nothing,
        on=("explained_variance",),
        limits={
            "low": 0.05,
            "clear": 0.2,
            "crit": -1.0,
            "never": 0.1,
            "never_points": 12,
            "early": 10,
            "still": 1e-5,
            "warmup": 5,
        },
        persist=persist(8, 10),
        causes=(
            "the critic is not trained (value coefficient 0) or too small",
            "returns too large for it, or changing faster than it learns",
            "observations do not hold what the return depends on",
        ),
        tries=FIT,
        source="explained variance 'consistently <= 0' warns (SB3 practice); > 0.8 is good (TRL)",
        grade="C",
        grades=NOT_ON_TEXT,
    ),
    Rule(
        id="critic-lost",
        title="Critic lost its fit",
        codes=("V4",),
        sees="a critic that explained the returns does so no more",
        concepts=("explained_variance",),
        beside=("value_loss",),
        read=critic_lost,
        on=("explained_variance",),
        limits={"good": 0.7, "low": 0.3, "warmup": 10},
        persist=persist(4, 6),
        causes=(
            "the environment, its rewards or its observations changed",
            "the policy moved to states that the critic does not know",
        ),
        tries=("check for a change of environment, data or reward", *FIT[2:5]),
        source="labelled runs: critic reset and shifted observations",
        grade="C",
        grades=NOT_ON_TEXT,
    ),
    Rule(
        id="reward-scale",
        title="Rewards are very large",
        codes=("V6",),
        sees="a huge value loss with a critic that explains nothing",
        concepts=("value_loss",),
        beside=("explained_variance",),
        read=reward_scale,
        on=("value_loss",),
        limits={"loss": 1e4, "explained": 0.1, "warmup": 5},
        causes=("rewards are not scaled: value targets should lie within about -10 to 10",),
        tries=(
            "{normalised_rewards}",
            "a larger value coefficient does not help: {vf_coef}",
        ),
        source="Andy Jones, Debugging RL: value targets within -10 to 10; SB3#2240",
        grade="C",
        grades=NOT_ON_TEXT,
    ),
    Rule(
        id="value-drift",
        title="Values and returns differ in scale",
        codes=("V7",),
        sees="mean or spread of predicted values is far from that of the returns",
        concepts=("value_var",),
        beside=(
            "return_var",
            "value_mean",
            "return_mean",
        ),
        read=value_drift,
        on=("value_var", "value_mean"),
        limits={"low": 0.01, "high": 10.0, "warmup": 30},
        persist=persist(8, 10),
        causes=("the critic lags behind the rewards",),
        tries=("see that {whiten_rewards:off} is on", "a larger value coefficient: {vf_coef}"),
        source="TRL practice: value and return statistics stay consistent in scale",
        grade="D",
    ),
)
