"""Learning from a replay buffer: when what was found is over, and what a log must hold."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.cases import after, flat
from tests.rules.specifications import ENDED, Contrast, RowLog, within
from tests.rules.specifications_conditions import NOWHERE
from tests.rules.specifications_replay import LARGE_RETURNS, LOST, NO_LOSS, OFF, UNGAINED, VALUE
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, jitter

WATCH, WARN, CRIT = Severity.WATCH, Severity.WARN, Severity.CRIT
AT_LAST = RowLog(left_open=True)
"""What is open when the log ends."""

WRONG: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2, "ep_len": 60.0, "critic_loss": 100.0,
    "actor_loss": 1.0, "entropy_coef": 0.01, "value_mean": None,
}  # fmt: skip
"""Action values of -1 where each step earns -10."""

ONE_STEP: DrawnColumns = {**WRONG, "actor_loss": 10.0, "critic_loss": 0.1}
FALLING_EPSILON: DrawnColumns = {
    **UNGAINED, "exploration_rate": lambda i: 0.95 - 0.004 * i,
}  # fmt: skip


def until(last: int, value: float, every: int = 1) -> DrawnColumn:
    """A value at one row of so many, and none from a row on."""
    return lambda i: value if i < last and i % every == 0 else None


def stops(last: int, every: int = 1) -> DrawnColumns:
    """Whatever an update logs is logged until a row only."""
    names = ("critic_loss", "actor_loss", "entropy_coef", "n_updates", "lr", "total_loss")
    return {**UNGAINED, **dict.fromkeys(names, until(last, 0.5, every))}


UNTRAINED: DrawnColumns = {**NO_LOSS, "total_loss": None}


def gained(i: int) -> float:
    """Returns that rise for 20 updates, and stay."""
    return -1400.0 + 60.0 * min(i, 20) + jitter(i, 5)


def grown(i: int) -> float:
    """A critic loss that grows by four powers of ten in 30 updates."""
    return float(500.0 * 10.0 ** (min(i, 30) * 4 / 30))


def sinking(i: int) -> float:
    """Returns that fall, from where they were for 30 updates."""
    return -2000.0 - 60.0 * max(0, i - 30) + jitter(i, 20)


# fmt: off
LOSS_PAIRS = (
    Contrast("critic-loss-growing", "the reward falls", {**LARGE_RETURNS, "critic_loss": lambda i:
         500.0 * 1.2 ** i, "reward_mean": sinking}, {"reward_mean": lambda i: -2000.0 + jitter(i,
         20)}, CRIT, WARN, OFF, count=48),
    Contrast("critic-loss-growing", "the loss does not come back to its start", {**LARGE_RETURNS,
         "critic_loss": grown}, {"critic_loss": lambda i: grown(i) if i < 40 else 500.0}, WARN, 0,
         OFF, log=AT_LAST),
    Contrast("critic-loss-growing", "more than a tenth of its highest is left", {**LARGE_RETURNS,
         "critic_loss": lambda i: grown(i) if i < 40 else 1e6}, {"critic_loss": lambda i:
         grown(i) if i < 40 else 4e5}, WARN, 0, OFF, log=AT_LAST),
    Contrast("critic-loss-growing", "its errors stay beyond any return", {**UNGAINED,
         "critic_loss": after(20, 1e4, 300.0)}, {"critic_loss": lambda i: (300.0 if i < 20 else 1e4
         if i < 40 else 2000.0)}, WARN, 0, OFF, log=AT_LAST),
    Contrast("critic-loss-growing", "one jump by six powers of ten is enough where no return is "
         "known", {**NOWHERE, "critic_loss": after(30, 2e6, 1.0)}, {"critic_loss": after(30, 5e5,
         1.0)}, CRIT, 0, OFF),
    Contrast("critic-loss-growing", "it trebles within thirty updates, in a long run",
         {**LARGE_RETURNS, "critic_loss": lambda i: 500.0 * 1.045**i}, {"critic_loss": lambda i:
         500.0 * 1.032**i}, WARN, 0, OFF, count=240),
    Contrast("critic-loss-growing", "rewards are of a size that makes it large", {**UNGAINED,
         "critic_loss": lambda i: 1e-4 * 1.3**i}, {"reward_mean": lambda i: 10.0 * flat(i)}, WARN,
         0, OFF, count=58),
)

EXPLORATION_PAIRS = (
    Contrast("exploration-not-falling", "most of the run is over", FALLING_EPSILON, {}, WARN, 0,
         VALUE, config={"total_timesteps": 60_000}, differs_config={"total_timesteps": 600_000}),
    Contrast("not-training", "epsilon has come to its end", {**UNTRAINED, "exploration_rate": lambda
         i: max(0.05, 1.0 - 0.05 * i)}, {"exploration_rate": lambda i: 1.0 - 0.01 * i}, WARN, 0,
         VALUE, count=40),
    Contrast("not-training", "updates have stopped, and with them their rate", stops(45),
         {"lr": 3e-4}, WARN, 0, OFF),
    Contrast("not-training", "there has been none for ten rows and more", stops(47), stops(51),
         WARN, 0, OFF),
    Contrast("not-training", "that is far longer than it usually takes", stops(30, every=4),
         stops(46, every=4), WARN, 0, OFF),
    Contrast("hidden-nan", "others of the same update are logged", {**stops(45), "lr": 3e-4},
         {"lr": until(45, 3e-4)}, WATCH, 0, VALUE),
    Contrast("not-training", "epsilon ever was more", {**UNTRAINED, "exploration_rate": lambda i:
         max(0.05, 1.0 - 0.05 * i)}, {"exploration_rate": 0.05}, WARN, 0, VALUE, count=40),
)

VALUE_PAIRS = (
    Contrast("action-values-wrong", "nothing was gained", WRONG, {"reward_mean": lambda i: -2000.0
         + 90.0 * min(i, 15) - i % 2}, WARN, 0, OFF),
    Contrast("action-values-wrong", "the reward is below its ceiling", WRONG, {}, WARN, 0, OFF,
         config={"reward_threshold": 500.0}, differs_config={"reward_threshold": -700.0}),
    Contrast("action-values-wrong", "values are judged in rows that hold them", {**WRONG,
         "value_mean": lambda i: -1.0 if i % 5 else None}, {"value_mean": lambda i: -200.0 if i % 5
         else None}, WARN, 0, OFF),
    Contrast("action-values-short", "they are worth one step to the end", ONE_STEP, {"actor_loss":
         20.0}, WARN, 0, OFF, log=ENDED),
    Contrast("action-values-short", "the run is over", ONE_STEP, {}, WARN, 0, OFF, log=ENDED,
         otherwise_log=RowLog()),
    Contrast("action-values-short", "or it has had so many updates", ONE_STEP, {}, WARN, 0, OFF,
         count=70, otherwise_count=63),
    Contrast("action-values-short", "the newer half of a long run stays so", {**ONE_STEP,
         "actor_loss": lambda i: 20.0 if i < 39 else 10.0}, {"actor_loss": lambda i: 20.0 if i < 48
         else 10.0}, WARN, 0, OFF, count=70),
    Contrast("action-values-short", "values stay so to the newest row of a long run", ONE_STEP,
         {"actor_loss": lambda i: 10.0 if i < 64 else 20.0}, WARN, 0, OFF, count=70),
    Contrast("action-values-short", "rewards are of a size that is soon learned", ONE_STEP,
         {"reward_mean": lambda i: -19_000.0 - i % 2, "actor_loss": 317.0}, WARN, 0, OFF,
         count=70),
    Contrast("action-values-short", "a reward is logged", ONE_STEP, {"reward_mean": None}, WARN, 0,
         OFF, log=ENDED),
    Contrast("action-values-short", "a length of episodes is logged", ONE_STEP, {"ep_len": None},
         WARN, 0, OFF, log=ENDED),
    Contrast("action-values-short", "the length is logged as often", ONE_STEP, {"ep_len": lambda i:
         60.0 if i % 8 == 0 else None}, WARN, 0, OFF, log=ENDED),
    Contrast("action-values-short", "the reward is below its ceiling at the end", ONE_STEP, {},
         WARN, 0, OFF, log=ENDED, config={"reward_threshold": 500.0},
         differs_config={"reward_threshold": -700.0}),
    Contrast("action-values-lost", "they do not come back, though reward was gained", {**LOST,
         "reward_mean": gained}, {"actor_loss": within(30, 40, -12.0, -20.0)}, WARN, 0, OFF,
         log=AT_LAST),
    Contrast("action-values-lost", "they come back to where the reward does not pay", {**LOST,
         **UNGAINED, "actor_loss": within(30, 40, -12.0, -20.0)}, {"reward_mean": gained}, WARN, 0,
         OFF, log=AT_LAST),
)
# fmt: on

PAIRS = (*LOSS_PAIRS, *EXPLORATION_PAIRS, *VALUE_PAIRS)
