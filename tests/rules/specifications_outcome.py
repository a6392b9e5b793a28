"""How runs come out, and critics beside rewards: what each condition of a rule is for."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from tests.rules.cases import after, fallen, flat, rise
from tests.rules.specifications import FLAT, Contrast, RowLog, learned, steady_gain, within
from tests.rules.specifications_conditions import LOST_FIT, NOWHERE
from tests.rules.specifications_course import surprised
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan
GRPO = "grpo"
AT_LAST = RowLog(left_open=True)
"""What is open when the log ends."""

AT_500 = {"reward_threshold": 500.0}
PERFECT: DrawnColumns = {"reward_mean": 500.0, "ep_len": 500.0}
EVALUATED: DrawnColumns = {
    "reward_mean": learned, "eval_reward_mean": 175.0, "eval_reward_std": 0.0,
}  # fmt: skip
"""Every evaluation episode scores a little more than training, which explores."""

FAILING: DrawnColumns = {"explained_variance": -2.0, "value_loss": 900.0, **FLAT}
CLIMBING: DrawnColumns = {
    "explained_variance": 0.1, "value_loss": lambda i: 5.0 * 1.05**i, **FLAT,
}  # fmt: skip
UNFALLEN: DrawnColumns = {"explained_variance": 0.0, "value_loss": 60.0, **FLAT}
SWINGING: DrawnColumns = {"entropy": lambda i: 0.65 if i % 4 < 2 else 0.2, "policy_std": None}


def slows(i: int) -> float:
    """A reward that rises in each update, by ever less."""
    return float(100.0 * (1 - 0.6**i))


def with_a_dip(i: int) -> float:
    """A reward that rises in each update but one."""
    return 20.0 + 9.0 * i - 12.0 * (i == 3)


# fmt: off
OUTCOME_PAIRS = (
    Contrast("at-ceiling", "evaluation scores are logged beside their spread", EVALUATED,
         {"eval_reward_mean": None}, INFO, 0),
    Contrast("at-ceiling", "the most of the task is not known", EVALUATED, {}, INFO, 0,
         differs_config=AT_500),
    Contrast("at-ceiling", "anything was gained", EVALUATED, {"reward_mean": lambda i: 175.0 +
         jitter(i, 0.01), "eval_reward_mean": 175.02}, INFO, 0),
    Contrast("at-ceiling", "what an evaluation showed holds until another one shows less",
         {**EVALUATED, "eval_reward_mean": lambda i: None if i % 6 else 175.0}, {"eval_reward_mean":
         lambda i: None if i % 6 else (175.0 if i < 50 else 120.0)}, INFO, 0, log=AT_LAST),
    Contrast("still-improving", "nothing is to be watched", {"reward_mean": steady_gain},
         {"approx_kl": after(30, 0.05, 0.01)}, INFO, 0, config={"total_timesteps": 60_000}),
    Contrast("still-improving", "fifteen updates show a trend", {"reward_mean": with_a_dip}, {},
         INFO, 0, count=24, otherwise_count=12, config={"total_timesteps": 24_000},
         differs_config={"total_timesteps": 12_000}),
    Contrast("still-improving", "a rise at each of many updates may have levelled off",
         {"reward_mean": slows}, {"reward_mean": steady_gain}, 0, INFO,
         config={"total_timesteps": 60_000}),
    Contrast("still-improving", "four updates rose", {"reward_mean": lambda i: 20.0 + 9 * i}, {},
         INFO, 0, count=4, otherwise_count=3, config={"total_timesteps": 4000},
         differs_config={"total_timesteps": 3000}),
    Contrast("reward-spread", "it does not come back", {"reward_std": after(20, 4.0, 1.0),
         "reward_mean": 1.0}, {"reward_std": within(20, 40, 4.0, 1.0)}, WATCH, 0, family="rlhf",
         log=AT_LAST),
)

CRITIC_PAIRS = (
    Contrast("critic-not-learning", "a loss that begins with 0 has not fallen", {**FAILING,
         "explained_variance": 0.0, "value_loss": after(10, 900.0, 0.0)}, {"value_loss": lambda i:
         900.0 * 0.7**i}, WARN, INFO),
    Contrast("critic-not-learning", "no reward shows that it does no harm", {**FAILING,
         "explained_variance": 0.0, **NOWHERE}, {"reward_mean": learned}, WARN, WATCH),
    Contrast("critic-not-learning", "no reward was gained with a critic far off", FAILING,
         {"reward_mean": learned}, CRIT, WATCH),
    Contrast("critic-not-learning", "the reward is below its ceiling", {**FAILING, **PERFECT}, {},
         CRIT, 0, differs_config=AT_500),
    Contrast("critic-not-learning", "a loss that is almost nothing is no success by itself",
         {**FAILING, "explained_variance": 0.0, "value_loss": after(3, 0.01, 60.0)},
         {"reward_mean": learned}, INFO, 0),
    Contrast("critic-not-learning", "a critic far off does not improve", FAILING, {"value_loss":
         lambda i: 900.0 * max(0.45, 0.9**i)}, CRIT, WARN),
    Contrast("critic-not-learning", "a critic had twelve updates to learn anything in", {**FAILING,
         "explained_variance": 0.0}, {}, WATCH, 0, count=13, otherwise_count=11),
    Contrast("explained-variance-dropped", "the critic does not find its fit again", LOST_FIT,
         {"explained_variance": lambda i: 0.1 if 40 <= i < 50 else 0.9}, WARN, 0, log=AT_LAST),
    Contrast("returns-constant", "the reward is not the most there is", {"explained_variance": NAN,
         **PERFECT}, {}, WARN, 0, differs_config=AT_500),
    Contrast("returns-changed", "a reward is logged", surprised(), NOWHERE, CRIT, 0),
    Contrast("returns-changed", "the reward did not fall before", surprised(), {"reward_mean":
         lambda i: rise(i) if i < 30 else rise(30) - 25.0 * (i - 29)}, CRIT, 0),
    Contrast("critic-same-value", "the script does not round", {"explained_variance": 0.0}, {},
         WARN, 0, otherwise_trainer="custom"),
    Contrast("value-loss-rising", "the reward was not gained before", CLIMBING, {"reward_mean":
         learned}, WARN, WATCH),
    Contrast("value-loss-rising", "the reward has not grown with its square", {**CLIMBING,
         "reward_mean": lambda i: 10.0 - 1.0 * i}, {"reward_mean": lambda i: 10.0 + 4.0 * i}, WARN,
         INFO),
    Contrast("value-loss-rising", "a critic is seen not to learn where reward was gained",
         {**UNFALLEN, "reward_mean": learned}, {"explained_variance": None}, WATCH, INFO),
    Contrast("value-loss-rising", "an update holds more than a few steps", UNFALLEN, {}, WATCH, 0,
         otherwise_log=RowLog(step=lambda row: 5 * (row + 1))),
    Contrast("value-loss-rising", "the log begins with the run", UNFALLEN, {}, WATCH, 0,
         otherwise_log=RowLog(step=lambda row: 10_000_000 + 1000 * row)),
    Contrast("value-loss-zero", "there is anything left to learn", {"value_loss": after(30, 0.0,
         5.0), **PERFECT}, {}, WARN, 0, differs_config=AT_500),
)

ENTROPY_PAIRS = (
    Contrast("action-noise-growing", "nothing is gained by it", {"policy_std": 1.0, "entropy":
         lambda i: 8.51 + 0.05 * i, **FLAT}, {"reward_mean": steady_gain}, WARN, 0),
    Contrast("action-noise-growing", "the reward is not the most there is", {"policy_std": 1.0,
         "entropy": lambda i: 8.51 + 0.05 * i, **PERFECT}, {}, WARN, 0, differs_config=AT_500),
    Contrast("entropy-swings", "actions are discrete", SWINGING, {"policy_std": 1.0}, WARN, 0),
    Contrast("entropy-swings", "it goes on", SWINGING, {"entropy": lambda i: 0.65 if i % 4 < 2 or i
         > 30 else 0.2}, WARN, 0, log=AT_LAST),
    Contrast("entropy-not-falling", "enough rewards are known", {"entropy": 0.692, **FLAT},
         {"reward_mean": lambda i: flat(i) if i % 20 == 0 else None}, WARN, 0,
         config={"total_timesteps": 60_000}),
    Contrast("entropy-collapsed", "it fell at once, and the reward crashed after it was gained",
         {"entropy": after(30, 0.002, 1.0), "reward_mean": fallen}, {"reward_mean": learned}, CRIT,
         WATCH),
)
# fmt: on

PAIRS = (*OUTCOME_PAIRS, *CRITIC_PAIRS, *ENTROPY_PAIRS)
