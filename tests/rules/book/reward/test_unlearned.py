"""Rewards that never rise: still where they began, or below."""

from __future__ import annotations

from ppo_top.model import Sample
from tests.rules.courses import FLAT, bump, dips, flat, rise, sinks
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    ENDED,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

SAME: DrawnColumns = {"reward_mean": 5.0, "ep_len": lambda i: 100.0 + i % 2}
"""Ten episodes an update, of the same reward each."""


def lowest_first(start: float) -> DrawnColumns:
    """A noisy reward of 20 of which the first value was another one."""
    return {"reward_mean": lambda i: start if i == 0 else 20.0 + gauss(i, 2.0)}


NEARLY_OVER = {"total_timesteps": 63_000}

EQUAL: DrawnColumns = {"reward_mean": 5.0, "ep_len": None}
"""Updates of the same reward, whose episodes a metric of their own counts."""

HOPELESS: DrawnColumns = {"lr": 1e-9, "ep_len": 50.0}
"""With such a learning rate nothing is learned."""


def jump(height: float, dip: float = 0.0, peak: float = 0.0) -> DrawnColumns:
    """Noise, and a reward that is higher from the fourth update on, but for dips or a peak."""

    def reward(i: int) -> float:
        dips = dip * (i in (8, 14, 20, 26))
        return jitter(i, 1.0) + height * (i >= 3) + peak * (i == 20) - dips

    return {"reward_mean": reward}


LATER_PART = RowLog(step=lambda row: 100_000 + 1000 * row, ended=True)
UPDATES = RowLog(sample=Sample("update"), ended=True)
MAYBE_WINDOWS = RowLog(sample=Sample(), ended=True)
"""Nothing says whether its rows are moving means."""

FEW_EQUAL: DrawnColumns = {"reward_mean": 5.0, "ep_len": lambda i: 500.0 + i % 2}
"""Two episodes an update, all of the same reward."""

CLIMB = [43.2, 44.5, 39.1, 45.3, 44.7, 46.0, 43.1, 41.0, 46.9, 45.1, 46.4, 50.6, 48.8, 51.8]
"""A few noisy measurements, of which the last are the highest."""


def in_longer_episodes(longer: float, cheaper: float) -> DrawnColumns:
    """Costs of episodes that are so many times as long from the ninth row on, and of a step."""
    return {
        "ep_len": lambda i: 100.0 * (1.0 if i < 8 else longer),
        "reward_mean": lambda i: -50.0 * (1.0 if i < 8 else longer * cheaper) + jitter(i, 1),
    }


# fmt: off
class TestRewardNeverMoves(RuleTests):
    """No gain in reward."""

    rule = "reward-never-moves"
    examples = (
        RuleCase({"reward_mean": flat, "ep_len": flat},
            {"reward_mean": lambda i: 20 + 0.8 * i + jitter(i, 2)},
            config={"total_timesteps": 60_000}),
        Contrast("steps cost less than in episodes that were cut short at first",
            in_longer_episodes(2.0, 0.77), in_longer_episodes(2.0, 0.73), WATCH, 0,
            trainer="rsl_rl", count=200),
        Contrast("episodes are hardly longer than they were", in_longer_episodes(1.47, 0.7),
            in_longer_episodes(1.53, 0.7), WATCH, 0, trainer="rsl_rl", count=200),
        Contrast("two hundred episodes earned the same", SAME, {}, WARN, WATCH, count=26,
            otherwise_count=14),
        Contrast("half of the run is over, and all earned the same", SAME, {}, CRIT, WARN, count=30,
            config={"total_timesteps": 40_000}, differs_config={"total_timesteps": 80_000}),
        Contrast("ten updates earned the same",
            {"reward_mean": 5.0, "ep_len": lambda i: 10.0 + i % 2}, {}, WARN, WATCH, count=15,
            otherwise_count=9),
        Contrast("a rise from below its start is seen on the way",
            {"reward_mean": sinks, "ep_len": 20.0}, {"reward_mean": dips}, WARN, WATCH,
            config=NEARLY_OVER),
        Contrast("the learning rate proves that it learns nothing",
            {"reward_mean": dips, "ep_len": 20.0, "lr": 1e-8}, {"lr": 3e-4}, WARN, WATCH,
            config=NEARLY_OVER),
        Contrast("at the end a rise to where it began is none",
            {"reward_mean": dips, "ep_len": 20.0}, {}, WARN, WATCH, log=ENDED,
            otherwise_log=RowLog()),
        Contrast("a paste of a few rows proves nothing", {**FLAT, "lr": 1e-8}, {"lr": 3e-4}, WARN,
            WATCH, count=11, log=ENDED),
        Contrast("a few rows of a later part tell nothing", FLAT, {}, INFO, 0, count=13,
            otherwise_count=11, config=NEARLY_OVER, log=LATER_PART),
        Contrast("nor are they all the same", SAME, FLAT, INFO, 0, count=11, log=LATER_PART),
        Contrast("episodes of each rollout are added up", {**EQUAL, "n_episodes": 10.0},
            {"n_episodes": lambda i: 4.0 * (i + 1)}, WARN, WATCH, count=30),
        Contrast("most of twenty rollouts held more than one episode",
            {**EQUAL, "n_episodes": lambda i: 1.0 if 20 <= i < 29 else 7.2},
            {"n_episodes": lambda i: 1.0 if 19 <= i < 29 else 7.2}, WARN, WATCH, count=30),
        Contrast("a hopeless learning rate has had the whole run",
            {**HOPELESS, "reward_mean": lambda i: 0.13 * i + jitter(i, 1)}, {}, WARN, 0, count=18,
            log=ENDED, otherwise_log=RowLog()),
        Contrast("it is the most there is to get",
            {"reward_mean": 500.0, "ep_len": lambda i: 100.0 + i % 2}, {}, WARN, 0, count=26,
            config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0}),
        Contrast("the whole run has gained a little", {**HOPELESS, **bump(6.3)},
            {"reward_mean": lambda i: jitter(i, 1.0) + i / 30}, WARN, 0,
            log=RowLog(ended=True, left_open=True)),
        Contrast("a hundred and twenty episodes have ended", {"reward_mean": flat, "ep_len": 20.0},
            {"ep_len": 5000.0}, WATCH, 0),
        Contrast("few rewards were far above its start", {**jump(5.5, dip=2.0), "ep_len": 50.0},
            jump(6.5, dip=2.0), WARN, WATCH, count=30, log=MAYBE_WINDOWS),
        Contrast("it does not climb up to its end",
            {"reward_mean": [*CLIMB[:3], *CLIMB[8:], *CLIMB[3:8]], "ep_len": 20.0},
            {"reward_mean": CLIMB}, WARN, WATCH, count=14, config={"total_timesteps": 14_000},
            log=ENDED),
        Contrast("its gain is far from sure", {**jump(4.5), "ep_len": 50.0}, jump(5.0), WARN, WATCH,
            count=30, log=MAYBE_WINDOWS),
        Contrast("it once was higher still", {**jump(6.5, peak=2.0), "ep_len": 50.0},
            jump(6.5, peak=1.6), WARN, WATCH, count=30, log=MAYBE_WINDOWS),
        Contrast("its best was hardly more than noise", {**HOPELESS, **bump(6.3)}, bump(10.0), WARN,
            0, log=RowLog(ended=True, left_open=True)),
        Contrast("more may still be gained", {**HOPELESS, **bump(6.3)}, {}, WARN, 0,
            log=RowLog(ended=True, left_open=True), otherwise_log=AT_LAST),
        Contrast("a run without end has had five hundred updates",
            {"reward_mean": flat, "ep_len": 20.0}, {}, WARN, WATCH, count=504, otherwise_count=498),
        Contrast("they are five hundred measurements", {"reward_mean": flat, "ep_len": 900.0}, {},
            WARN, WATCH, count=504, log=RowLog(sample=Sample()),
            otherwise_log=RowLog(sample=Sample("window", 100))),
        Contrast("the run is nearly over, after few episodes",
            {"reward_mean": flat, "ep_len": 900.0}, {}, INFO, 0, count=80,
            config={"total_timesteps": 82_000}, differs_config={"total_timesteps": 100_000}),
        Contrast("its quarters have not risen either", {**HOPELESS, "reward_mean": jitter},
            {"reward_mean": lambda i: jitter(i) + 0.019 * i}, WARN, WATCH,
            config={"total_timesteps": 63_000}),
        Contrast("a count that doubles goes on from rollout to rollout",
            {**EQUAL, "n_episodes": lambda i: 10.0 + 0.27 * i}, {"n_episodes": lambda i: 10.0 + i},
            WARN, WATCH, count=30),
        Contrast("an equal score is something or nothing", {"reward_mean": 0.5},
            {"reward_mean": 0.0}, WARN, 0, count=12, family="grpo"),
        Contrast("sixty updates scored nothing", {"reward_mean": 0.0}, {}, WARN, 0, count=62,
            otherwise_count=58, family="grpo"),
        Contrast("there are twenty batches of completions", {"reward_mean": jitter}, {}, WARN,
            WATCH, count=20, otherwise_count=19, family="grpo", log=UPDATES),
        Contrast("random actions have already earned it", FEW_EQUAL, {"reward_mean": 0.0}, WARN,
            WATCH, "off-policy", count=15),
        Contrast("the policy is not that of a run before", FEW_EQUAL, {}, WARN, INFO, "off-policy",
            count=15, otherwise_log=RowLog(step=lambda row: 100_000 + 1000 * row)),
        Contrast("episodes differ in length", SAME, {"ep_len": 100.0}, WARN, WATCH, count=26),
        Contrast("the first of many rows is not far below all others", lowest_first(16.0),
            lowest_first(5.0), WARN, WATCH, count=60, log=MAYBE_WINDOWS),
        Contrast("there are forty rows of which the first is the lowest", lowest_first(5.0), {},
            WARN, WATCH, count=39, otherwise_count=41, log=UPDATES),
        Contrast("actions become more random, and earn the same",
            {**SAME, "ep_len": 100.0, "policy_std": lambda i: 1.0 + 0.03 * i},
            {"policy_std": lambda i: 1.0 + 0.01 * i}, WARN, WATCH, count=26),
        Contrast("nothing was earned, however long it took",
            {**SAME, "reward_mean": 0.0, "ep_len": 100.0}, {"reward_mean": 5.0}, WARN, WATCH,
            count=26),
        Contrast("a buffer's first actions are no policy's", {**SAME, "ep_len": 100.0},
            {"reward_mean": rise}, WARN, 0, "off-policy", count=26),
        Contrast("a tenth of the run is over", SAME, {}, WARN, WATCH, count=26,
            config={"total_timesteps": 230_000}, differs_config={"total_timesteps": 270_000}),
        Contrast("twenty episodes were alike",
            {"reward_mean": 5.0, "ep_len": lambda i: 400.0 + i % 2},
            {"ep_len": lambda i: 990.0 + i % 2}, WATCH, 0, count=12),
        Boundary("budget", lambda x: dict(FLAT), WATCH, step=0.02, total=lambda x: 60_000 / x),
        Boundary("end", lambda x: dict(FLAT), WARN, step=0.05, total=lambda x: 60_000 / x),
    )
