"""What rules take from a log beside its metrics: its clock, steps, restarts and end."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Sample, Severity
from tests.rules.cases import flat, rise
from tests.rules.specifications import ENDED, Contrast, RowLog, steady_gain, within
from tests.rules.specifications_conditions import SAME
from tests.rules.specifications_replay import NO_LOSS, OFF
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT

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


LEFT = RowLog(left_open=True)
"""What is left of a finding in the end."""

STUCK = RowLog(step=lambda row: 1000 * (min(row, 29) + 1), restarts_at=30)
"""From its resumption on the step stays where the checkpoint was."""

# fmt: off
PROGRESS_PAIRS = (
    Contrast("slow", "four tenths of the speed are left", STEADY, level=INFO,
         log=slowed(30, 2 / 0.39), otherwise_log=slowed(30, 2 / 0.41)),
    Contrast("slow", "a seventh of the speed is left", STEADY, level=WATCH, otherwise=INFO,
         log=slowed(30, 2 / 0.145), otherwise_log=slowed(30, 2 / 0.155)),
    Contrast("slow", "it is faster again", STEADY, level=INFO,
         log=RowLog(seconds=lambda i: 2.0 if i < 30 else 6.0 if i < 40 else 3.0, left_open=True),
         otherwise_log=RowLog(seconds=lambda i: 2.0 if i < 30 else 6.0 if i < 40 else 2.7,
         left_open=True)),
    Contrast("slow", "most of eleven rows after the first were fast", STEADY, level=INFO,
         log=starting(range(3, 8)), otherwise_log=starting(range(3, 9))),
    Contrast("slow", "a replay buffer was filled before, where no losses are logged", NO_LOSS,
         level=0, otherwise=INFO, family=OFF, count=80, log=lag(range(30, 99)),
         otherwise_log=lag(range(30, 55), since=55)),
    Contrast("slow", "a buffer is full once five rows in turn are slow", NO_LOSS,
         level=INFO, family=OFF, count=80, log=lag(range(20, 25), since=50),
         otherwise_log=lag(range(20, 24), range(25, 28), since=50)),
    Contrast("step-stuck", "steps are logged at all", STEADY, level=WARN,
         log=RowLog(step=lambda row: 7), otherwise_log=RowLog(step=lambda row: 0)),
    Contrast("step-stuck", "five rows follow the first one after a restart", STEADY, level=WARN,
         count=36, otherwise_count=35, log=STUCK),
    Contrast("updates-stuck", "the counter is logged still", {"n_updates": lambda i: min(i, 10),
         "iteration": float}, {"n_updates": lambda i: min(i, 10) if i < 12 else None}, WARN),
    Contrast("restarted", "it was less than six updates ago", STEADY, level=INFO, count=35,
         otherwise_count=36, log=RowLog(restarts_at=30, left_open=True)),
)
# fmt: on


# fmt: off
EQUAL: DrawnColumns = {"reward_mean": 5.0, "ep_len": None}
"""Updates of the same reward, whose episodes a metric of their own counts."""

HOPELESS: DrawnColumns = {"lr": 1e-9, "ep_len": 50.0}
"""With such a learning rate nothing is learned."""


def bump(height: float, last: int = 33) -> DrawnColumns:
    """Noise, and a reward that is higher for some updates."""
    return {"reward_mean": lambda i: jitter(i, 1.0) + height * (30 <= i <= last)}


def jump(height: float, dip: float = 0.0, peak: float = 0.0) -> DrawnColumns:
    """Noise, and a reward that is higher from the fourth update on, but for dips or a peak."""

    def reward(i: int) -> float:
        dips = dip * (i in (8, 14, 20, 26))
        return jitter(i, 1.0) + height * (i >= 3) + peak * (i == 20) - dips

    return {"reward_mean": reward}


MAYBE_WINDOWS = RowLog(sample=Sample(), ended=True)
"""Nothing says whether its rows are moving means."""

FEW_EQUAL: DrawnColumns = {"reward_mean": 5.0, "ep_len": lambda i: 500.0 + i % 2}
"""Two episodes an update, all of the same reward."""

CLIMB = [43.2, 44.5, 39.1, 45.3, 44.7, 46.0, 43.1, 41.0, 46.9, 45.1, 46.4, 50.6, 48.8, 51.8]
"""A few noisy measurements, of which the last are the highest."""


def sinking_beside(outlier: float) -> Callable[[int], float]:
    """A reward that loses two of its units of noise, beside a single one that is far lower."""
    return lambda i: -outlier if i == 20 else jitter(i) - 0.05 * i


def learned_at_once(start: float) -> Callable[[int], float]:
    """A reward that leaps within six rows, and loses some of that slowly."""
    return lambda i: gauss(i, 12.0) + (start if i < 6 else 190.0 + 50.0 * 0.95 ** max(0, i - 20))


UNLEARNED_PAIRS = (
    Contrast("reward-never-moves", "episodes of each rollout are added up", {**EQUAL, "n_episodes":
         10.0}, {"n_episodes": lambda i: 4.0 * (i + 1)}, WARN, WATCH, count=30),
    Contrast("reward-never-moves", "most of twenty rollouts held more than one episode", {**EQUAL,
         "n_episodes": lambda i: 1.0 if 20 <= i < 29 else 7.2}, {"n_episodes": lambda i: 1.0 if
         19 <= i < 29 else 7.2}, WARN, WATCH, count=30),
    Contrast("reward-never-moves", "a hopeless learning rate has had the whole run", {**HOPELESS,
         "reward_mean": lambda i: 0.13 * i + jitter(i, 1)}, {}, WARN, 0, count=18, log=ENDED,
         otherwise_log=RowLog()),
    Contrast("reward-never-moves", "it is the most there is to get", {"reward_mean": 500.0,
         "ep_len": lambda i: 100.0 + i % 2}, {}, WARN, 0, count=26,
         config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0}),
    Contrast("reward-never-moves", "the whole run has gained a little", {**HOPELESS, **bump(6.3)},
         {"reward_mean": lambda i: jitter(i, 1.0) + i / 30}, WARN, 0,
         log=RowLog(ended=True, left_open=True)),
    Contrast("exploration-not-falling", "there is more than one value", {"reward_mean": flat,
         "exploration_rate": 1.0}, {}, WARN, 0, "value-based", count=2, otherwise_count=1,
         log=RowLog(ended=True)),
    Contrast("reward-never-moves", "a hundred and twenty episodes have ended", {"reward_mean":
         flat, "ep_len": 20.0}, {"ep_len": 5000.0}, WATCH, 0),
    Contrast("reward-wrong-way", "a hundred episodes earned far more at the start", {"reward_mean":
         lambda i: jitter(i, 1) + 7.0 * (i < 6), "ep_len": 50.0}, {"reward_mean": lambda i:
         jitter(i, 1) + 4.0 * (i < 6)}, WARN, 0, count=200, log=LEFT),
    Contrast("reward-never-moves", "few rewards were far above its start", {**jump(5.5, dip=2.0),
         "ep_len": 50.0}, jump(6.5, dip=2.0), WARN, WATCH, count=30, log=MAYBE_WINDOWS),
    Contrast("reward-never-moves", "it does not climb up to its end", {"reward_mean":
         [*CLIMB[:3], *CLIMB[8:], *CLIMB[3:8]], "ep_len": 20.0}, {"reward_mean": CLIMB}, WARN,
         WATCH, count=14, config={"total_timesteps": 14_000}, log=ENDED),
    Contrast("reward-crash", "what was learned at once is told from the start", {"reward_mean":
         learned_at_once(180.0)}, {"reward_mean": learned_at_once(80.0)}, WARN, 0, count=100,
         log=RowLog(sample=Sample())),
    Contrast("reward-never-moves", "its gain is far from sure", {**jump(4.5), "ep_len": 50.0},
         jump(5.0), WARN, WATCH, count=30, log=MAYBE_WINDOWS),
    Contrast("reward-never-moves", "it once was higher still", {**jump(6.5, peak=2.0), "ep_len":
         50.0}, jump(6.5, peak=1.6), WARN, WATCH, count=30, log=MAYBE_WINDOWS),
    Contrast("reward-never-moves", "its best was hardly more than noise", {**HOPELESS,
         **bump(6.3)}, bump(10.0), WARN, 0, log=RowLog(ended=True, left_open=True)),
    Contrast("reward-never-moves", "more may still be gained", {**HOPELESS, **bump(6.3)}, {}, WARN,
         0, log=RowLog(ended=True, left_open=True), otherwise_log=LEFT),
    Contrast("reward-never-moves", "a run without end has had five hundred updates", {"reward_mean":
         flat, "ep_len": 20.0}, {}, WARN, WATCH, count=504, otherwise_count=498),
    Contrast("reward-never-moves", "they are five hundred measurements", {"reward_mean": flat,
         "ep_len": 900.0}, {}, WARN, WATCH, count=504, log=RowLog(sample=Sample()),
         otherwise_log=RowLog(sample=Sample("window", 100))),
    Contrast("reward-never-moves", "the run is nearly over, after few episodes", {"reward_mean":
         flat, "ep_len": 900.0}, {}, INFO, 0, count=80, config={"total_timesteps": 82_000},
         differs_config={"total_timesteps": 100_000}),
    Contrast("reward-never-moves", "its quarters have not risen either", {**HOPELESS,
         "reward_mean": jitter}, {"reward_mean": lambda i: jitter(i) + 0.019 * i}, WARN, WATCH,
         config={"total_timesteps": 63_000}),
    Contrast("reward-never-moves", "a count that doubles goes on from rollout to rollout", {**EQUAL,
         "n_episodes": lambda i: 10.0 + 0.27 * i}, {"n_episodes": lambda i: 10.0 + i}, WARN, WATCH,
         count=30),
    Contrast("reward-never-moves", "an equal score is something or nothing",
         {"reward_mean": 0.5}, {"reward_mean": 0.0}, WARN, 0, count=12, family="grpo"),
    Contrast("reward-never-moves", "sixty updates scored nothing", {"reward_mean": 0.0}, {}, WARN,
         0, count=62, otherwise_count=58, family="grpo"),
    Contrast("reward-never-moves", "random actions have already earned it", FEW_EQUAL,
         {"reward_mean": 0.0}, WARN, WATCH, OFF, count=15),
    Contrast("reward-never-moves", "the policy is not that of a run before", FEW_EQUAL, {}, WARN,
         INFO, OFF, count=15, otherwise_log=RowLog(step=lambda row: 100_000 + 1000 * row)),
    Contrast("reward-never-moves", "episodes differ in length", SAME, {"ep_len": 100.0}, WARN,
         WATCH, count=26),
    Contrast("reward-never-moves", "nothing was earned, however long it took", {**SAME,
         "reward_mean": 0.0, "ep_len": 100.0}, {"reward_mean": 5.0}, WARN, WATCH, count=26),
    Contrast("reward-never-moves", "a buffer's first actions are no policy's", {**SAME, "ep_len":
         100.0}, {"reward_mean": rise}, WARN, 0, OFF, count=26),
    Contrast("reward-never-moves", "a tenth of the run is over", SAME, {}, WARN, WATCH, count=26,
         config={"total_timesteps": 230_000}, differs_config={"total_timesteps": 270_000}),
    Contrast("reward-never-moves", "twenty episodes were alike", {"reward_mean": 5.0, "ep_len":
         lambda i: 400.0 + i % 2}, {"ep_len": lambda i: 990.0 + i % 2}, WATCH, 0, count=12),
    Contrast("reward-wrong-way", "it sinks from quarter to quarter", {"reward_mean": lambda i:
         jitter(i) - 0.05 * i, "ep_len": 20.0}, {"reward_mean": lambda i: jitter(i) - 0.02 * i},
         WARN, 0),
    Contrast("reward-wrong-way", "it sinks by a share of its range that is to be seen",
         {"reward_mean": sinking_beside(100.0), "ep_len": 20.0},
         {"reward_mean": sinking_beside(300.0)}, WATCH, 0),
)


def hill(height: float, last: int, then: float = 0.0, noise: float = 1.0) -> DrawnColumns:
    """A reward that is gained in eight updates and lost after a row, in noise."""
    return {
        "reward_mean": lambda i: jitter(i, noise)
        + height * (min(i, 8) / 8 if i <= last else then),
        "ep_len": 20.0,
    }


def peak(last: int) -> DrawnColumns:
    """A reward that rises up to a row, the last of its climb, and is lost in the next."""
    return {"reward_mean": lambda i: jitter(i, 3) + 60.0 * i * (i <= last), "ep_len": 20.0}


TRAINED_LATE: DrawnColumns = {"critic_loss": lambda i: 3.0 if i >= 12 else None}
EVERY_OTHER: DrawnColumns = {
    "reward_mean": lambda i: None if i % 2 else jitter(i, 1) + 2.4 * (8 <= i < 70), "ep_len": 20.0,
}  # fmt: skip

CRASH_PAIRS = (
    Contrast("reward-crash", "the run is over, whether or not its last row holds a reward",
         EVERY_OTHER, {}, WARN, 0, count=84, log=ENDED, otherwise_log=RowLog()),
    Contrast("reward-crash", "the policy plays against itself, where no reward need grow",
         hill(90.0, 30), {}, CRIT, 0, differs_config={"self_play": True}),
    Contrast("reward-crash", "the policy plays against itself, at the end of a run", hill(90.0,
         30), {}, CRIT, 0, log=ENDED, differs_config={"self_play": True}),
    Contrast("reward-crash", "a quarter of the gain is still lost", {"reward_mean": lambda i:
         jitter(i, 1) + 10.0 * min(i, 10) * (0.2 if 30 <= i < 34 else 1.0) - 25.0 * (i >= 34)},
         {"reward_mean": lambda i: jitter(i, 1) + 10.0 * min(i, 10) * (0.2 if 30 <= i < 34 else
         1.0) - 8.0 * (i >= 34)}, WARN, 0, log=LEFT),
    Contrast("reward-crash", "anything was gained before the end", hill(5.0, 36), hill(1.65, 36),
         WARN, 0, log=ENDED),
    Contrast("reward-crash", "random actions earned the best, at the end of a run", hill(90.0, 11),
         TRAINED_LATE, CRIT, 0, OFF, log=ENDED),
    Contrast("reward-crash", "it was lost, though no update was logged before", {**hill(90.0, 11),
         "value_loss": lambda i: 3.0 if i >= 12 else None}, hill(90.0, 60), CRIT, 0),
    Contrast("reward-crash", "the best came with the second update", {**peak(13), **TRAINED_LATE},
         peak(12), CRIT, 0, OFF),
    Contrast("reward-crash", "the loss is six times the noise", hill(100.0, 30, 0.2, 12.0),
         hill(100.0, 30, 0.2, 18.0), CRIT, WARN),
    Contrast("reward-crash", "a gain at the end was more than a moment", bump(4.5, 40), bump(4.5,
         32), WARN, 0, log=ENDED),
)
# fmt: on

PAIRS = (*PROGRESS_PAIRS, *UNLEARNED_PAIRS, *CRASH_PAIRS)
