"""The critic: whether it explains the returns, and whether its loss spikes or climbs."""

from __future__ import annotations

from ppo_top.rules.history import History
from ppo_top.rules.rule import (
    CRIT,
    INFO,
    WARN,
    WATCH,
    Limits,
    Reading,
    Rule,
    between,
    persist,
)
from ppo_top.rules.run import Run
from ppo_top.rules.say import num, pct, times
from ppo_top.rules.stats import median


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


def _climbs(run: Run, loss: History | None) -> bool:
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
    early = history.count <= limits["early"]
    if value > limits["low"] or (early and not _climbs(run, loss)):
        return between(value, limits["low"])
    never = history.count >= limits["never_points"] and history.high < limits["never"]
    falls = _loss_falls(loss)
    if falls and not never:
        message = f"critic is still warming up: explained variance {num(value)}, its loss falls"
        return Reading(INFO, value, limits["low"], message)
    tail = "has never explained the returns" if never else "and its loss is not falling"
    message = f"critic explains none of the returns: explained variance {num(value)}, {tail}"
    deep = value < limits["crit"] and not falls
    return Reading(CRIT if deep else WARN, value, limits["low"], message)


def value_loss_spike(run: Run, limits: Limits) -> Reading | None:
    """V2: the value loss jumps; one point is a spike, three of five against the old level a fault."""
    history = critic_loss(run)
    if history is None or history.row != run.mark.row:
        return None
    value, memo = history.last, run.memos.get("value-loss-spike")
    if memo is not None:
        return _after_spike(run, limits, history, memo)
    if not _is_spike(history, limits):
        return None
    usual = max(median(history.before(10)), 1e-12)
    run.memos["value-loss-spike"] = (usual, float(history.count))
    message = f"value loss jumped to {num(value)} ({times(value, usual)}), one spike so far"
    return Reading(WATCH, value, limits["times"] * usual, message, now=True)


def _is_spike(history: History, limits: Limits) -> bool:
    value, before = history.last, history.before(20)
    return (
        value > 3.0 * max(before)
        and value > 0.1 * history.high
        and value > limits["times"] * median(before[-10:])
    )


def _after_spike(
    run: Run, limits: Limits, history: History, memo: tuple[float, ...]
) -> Reading | None:
    """Against the level from before the spike, which must not drift up with it."""
    value, usual, began = history.last, memo[0], memo[1]
    age = history.count - began
    if age > 30 or (age > 5 and value < 5.0 * usual):
        del run.memos["value-loss-spike"]
        return None
    if value <= limits["times"] * usual or value <= 0.03 * history.high:
        return between(value) if value > 5.0 * usual else None
    window = history.recent[-int(min(age + 1, 5)) :]
    high = sum(x > limits["times"] * usual for x in window)
    message = f"value loss jumped {times(value, usual)} and stays up ({num(value)})"
    if high < 3:
        return Reading(WATCH, value, limits["times"] * usual, message)
    return Reading(CRIT if run.falling else WARN, value, limits["times"] * usual, message)


def value_loss_rises(run: Run, limits: Limits) -> Reading | None:
    """V3: the critic's loss climbs, or never falls, while it explains nothing."""
    history = critic_loss(run)
    explained = run.value("explained_variance", 1)
    if history is None or history.row != run.mark.row or explained is None or explained >= 0.2:
        return None
    trend = history.trend(20)
    if _climbs(run, history):
        early, late = median(trend.values[:3]), median(trend.values[-3:])
        if early > 0.0 and late > limits["times"] * early and late > 0.03 * history.high:
            message = (
                f"value loss rises ({times(late, early)} in {len(trend.values)} updates): "
                "the critic cannot keep up"
            )
            return Reading(WARN, history.last, early, message)
    never = history.count >= limits["flat_points"] and history.level(5) >= 0.9 * history.base(5)
    if never and run.flat:
        message = f"value loss has not fallen in {history.count} updates ({num(history.last)})"
        return Reading(WATCH, history.last, history.base(5), message)
    return None


def critic_lost(run: Run, limits: Limits) -> Reading | None:
    """V4: a critic that explained the returns does so no more."""
    history = run.histories["explained_variance"]
    best = run.memos.get("critic-lost", (0.0,))[0]
    level = history.level(5)
    if level > best:
        run.memos["critic-lost"] = (level,)
    if best < limits["good"] or history.last > 0.4 or run.at_max:
        return None
    loss = critic_loss(run)
    if loss is None or _tiny(run, loss):
        return None
    grown = loss.last > 0.05 * loss.high and loss.last > 2.0 * loss.level(30)
    if history.last >= limits["low"] or not grown:
        return between(history.last)
    message = f"critic lost its fit: explained variance {num(best)} -> {num(history.last)}"
    return Reading(WARN, history.last, limits["low"], message)


def value_clip_high(run: Run, limits: Limits) -> Reading | None:
    """V5: value targets move faster than the value clip lets the critic follow."""
    value = run.values["value_clip_fraction"]
    if value <= limits["watch"]:
        return None
    message = f"{pct(value)} of the critic's updates are clipped: targets outrun the value clip"
    return Reading(WATCH if value <= limits["warn"] else WARN, value, limits["watch"], message)


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
    "check that the critic is trained: {vf_coef} above 0",
    "normalise rewards or returns (SB3: VecNormalize)",
    "a larger critic learning rate, more epochs ({n_epochs}) or its own network",
    "lower {gamma:name} or {gae_lambda:name}",
    "look for something missing in the observation, such as the time left",
)
CALM = (
    "look for outliers in the reward, or a change in the environment",
    "clip or normalise rewards",
    "clip gradients: {max_grad_norm}",
    "clip value updates: {clip_range_vf}",
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
            "never_points": 20,
            "early": 15,
            "warmup": 5,
        },
        persist=persist(8, 10),
        causes=(
            "the critic is not trained (value coefficient 0) or too small",
            "returns too large for it, or changing faster than it learns",
            "observations do not hold what the return depends on",
        ),
        tries=FIT,
        source="explained variance 'consistently <= 0' is a warning sign (SB3 practice); TRL: > 0.8 good",
        grade="C",
    ),
    Rule(
        id="value-loss-spike",
        title="Value loss jumped",
        codes=("V2",),
        sees="the value loss jumps far above its level and stays there",
        concepts=("value_loss",),
        beside=("explained_variance",),
        read=value_loss_spike,
        on=("value_loss", "value_error"),
        limits={"times": 10.0, "warmup": 10},
        persist={WATCH: (1, 1), WARN: (1, 1), CRIT: (2, 3)},
        causes=(
            "an outlier in the reward, or a changed reward or environment",
            "the policy changed faster than the critic could follow",
        ),
        tries=CALM,
        source="TRL's guide: value loss 'will spike / NaN when not going well'",
        grade="C",
    ),
    Rule(
        id="value-loss-rising",
        title="Value loss does not fall",
        codes=("V3",),
        sees="the value loss climbs, or never falls, while the critic explains nothing",
        concepts=("value_loss",),
        beside=("explained_variance",),
        read=value_loss_rises,
        on=("value_loss", "value_error"),
        limits={"times": 3.0, "flat_points": 40, "warmup": 7},
        persist=persist(2, 2),
        causes=("the critic cannot keep up with the policy", "returns grow without bound"),
        tries=FIT,
        source="value loss that 'never decreases' or 'increases instead' is a warning sign (SB3 practice)",
        grade="C",
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
        limits={"good": 0.7, "low": 0.2, "warmup": 10},
        persist=persist(5, 6),
        causes=(
            "the environment, its rewards or its observations changed",
            "the policy moved to states that the critic does not know",
        ),
        tries=("check for a change of environment, reward or observation", *FIT[1:3]),
        source="labelled runs: critic reset and shifted observations",
        grade="C",
    ),
    Rule(
        id="value-clip-high",
        title="Value updates are clipped",
        codes=("V5",),
        sees="a large share of value predictions is clipped",
        concepts=("value_clip_fraction",),
        beside=("value_loss",),
        read=value_clip_high,
        on=("value_clip_fraction",),
        limits={"watch": 0.2, "warn": 0.5, "warmup": 10},
        causes=("value targets move faster than the value clip",),
        tries=(
            "a wider value clip: {clip_range_vf}",
            "{whiten_rewards:name} on",
            "lower {learning_rate}",
        ),
        source="TRL practice: value clip fraction is low in healthy runs",
        grade="D",
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
            "normalise rewards (SB3: VecNormalize(norm_reward=True)) or divide them",
            "a larger value coefficient does not help: {vf_coef}",
        ),
        source="Andy Jones, Debugging RL: value targets within -10 to 10; SB3#2240",
        grade="C",
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
        tries=("{whiten_rewards:name} on", "a larger value coefficient: {vf_coef}"),
        source="TRL practice: value and return statistics stay consistent in scale",
        grade="D",
    ),
)
