"""The progress of the run: steps, updates, speed, restarts, its end."""

from __future__ import annotations

from tests.rules.courses import NO_LOSS, after, steady_gain, within
from tests.rules.specification import INFO, WARN, WATCH, Contrast, RowLog, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns

STEADY: DrawnColumns = {"reward_mean": steady_gain}


def slowed(first: int, seconds: float, last: int = 999) -> RowLog:
    """Rows that come two seconds after each other, but for some."""
    return RowLog(seconds=within(first, last, seconds, 2.0))


def lag(*slow: range, since: int = 999) -> RowLog:
    """Rows that come four times later in some ranges, and far later in the end."""
    return RowLog(
        seconds=lambda i: 32.0 if i >= since else 8.0 if any(i in each for each in slow) else 2.0
    )


def starting(slow: range) -> RowLog:
    """Two in three seconds of a row are lost at the end, beside rows as slow at the start."""
    return RowLog(seconds=lambda i: 5.26 if i > 13 else 4.0 if i == 1 or i in slow else 2.0)


def bursts(*slow: int) -> RowLog:
    """Rows ten times as long as others at the start, as all are in the end."""
    return RowLog(seconds=lambda i: 20.0 if i in slow or i >= 30 else 2.0)


STUCK = RowLog(step=lambda row: 1000 * (min(row, 29) + 1), restarts_at=30)
"""From its resumption on the step stays where the checkpoint was."""


# fmt: off
class TestRestarted(RuleTests):
    """Run resumed or begun anew."""

    rule = "restarted"
    examples = (
        Contrast("it was less than six updates ago", STEADY, level=INFO, count=35,
            otherwise_count=36, log=RowLog(restarts_at=30, left_open=True)),
    )


class TestStepStuck(RuleTests):
    """Step not advancing."""

    rule = "step-stuck"
    examples = (
        RuleCase({}, {}, sick_row_options={"last_step": 20_000}),
        Contrast("steps are logged at all", STEADY, level=WARN, log=RowLog(step=lambda row: 7),
            otherwise_log=RowLog(step=lambda row: 0)),
        Contrast("five rows follow the first one after a restart", STEADY, level=WARN, count=36,
            otherwise_count=35, log=STUCK),
    )


class TestUpdatesStuck(RuleTests):
    """Update counter not advancing."""

    rule = "updates-stuck"
    examples = (
        RuleCase({"n_updates": after(30, 300.0, 0.0)}, {"n_updates": lambda i: i // 2}),
        Contrast("the counter is logged still",
            {"n_updates": lambda i: min(i, 10), "iteration": float},
            {"n_updates": lambda i: min(i, 10) if i < 12 else None}, WARN),
        Contrast("a language model's episodes are those of its updates",
            {"episode": lambda i: 16.0 * min(i, 30), "num_tokens": None},
            {"episode": lambda i: 16.0 * i}, WARN, 0, family="rlhf"),
        Contrast("an episode of a control task may last for several updates",
            {"n_updates": None, "episode": lambda i: 16.0 * min(i, 30)},
            {"n_updates": lambda i: 10.0 * min(i, 30)}, 0, WARN),
    )


class TestSlow(RuleTests):
    """Training slowed down."""

    rule = "slow"
    examples = (
        Contrast("four tenths of the speed are left", STEADY, level=INFO, log=slowed(30, 2 / 0.39),
            otherwise_log=slowed(30, 2 / 0.41)),
        Contrast("a seventh of the speed is left", STEADY, level=WATCH, otherwise=INFO,
            log=slowed(30, 2 / 0.145), otherwise_log=slowed(30, 2 / 0.155)),
        Contrast("it is faster again", STEADY, level=INFO,
            log=RowLog(seconds=lambda i: 2.0 if i < 30 else 6.0 if i < 40 else 3.0, left_open=True),
            otherwise_log=RowLog(seconds=lambda i: 2.0 if i < 30 else 6.0 if i < 40 else 2.7,
                left_open=True)),
        Contrast("most of eleven rows after the first were fast", STEADY, level=INFO,
            log=starting(range(3, 8)), otherwise_log=starting(range(3, 9))),
        Contrast("at most two of the first rows were as slow", STEADY, level=WATCH, otherwise=0,
            log=bursts(4, 8), otherwise_log=bursts(4, 8, 11)),
        Contrast("a replay buffer was filled before, where no losses are logged", NO_LOSS, level=0,
            otherwise=INFO, family="off-policy", count=80, log=lag(range(30, 99)),
            otherwise_log=lag(range(30, 55), since=55)),
        Contrast("a buffer is full once five rows in turn are slow", NO_LOSS, level=INFO,
            family="off-policy", count=80, log=lag(range(20, 25), since=50),
            otherwise_log=lag(range(20, 24), range(25, 28), since=50)),
    )
