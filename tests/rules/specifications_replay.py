"""Learning from a replay buffer: what rules about it depend on."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.cases import after, at, flat, rise
from tests.rules.specifications import Contrast
from tests.support.drawn_runs import DrawnColumns

WATCH, WARN, CRIT = Severity.WATCH, Severity.WARN, Severity.CRIT

OFF, VALUE = "off-policy", "value-based"
UNGAINED: DrawnColumns = {"reward_mean": flat, "ep_len": 200.0}
"""Nothing is learned, in episodes of equal length."""

NO_LOSS: DrawnColumns = {
    **UNGAINED, "critic_loss": None, "actor_loss": None, "entropy_coef": None, "n_updates": None,
}  # fmt: skip
"""Episodes are collected, and nothing else is logged."""


LOST: DrawnColumns = {"actor_loss": after(30, -12.0, -20.0), "critic_loss": at(30, 9.0, 3.0)}
"""Action values of 20 are 12 from one update on, where the critic errs once."""

LARGE_RETURNS: DrawnColumns = {**UNGAINED, "reward_mean": lambda i: 100.0 * flat(i)}
"""No critic loss below is beyond them."""


def growing(rate: float) -> DrawnColumns:
    """A critic loss that grows by a factor in each update."""
    return {"critic_loss": lambda i: 500.0 * rate**i}


# fmt: off
PAIRS = (
    Contrast("critic-loss-growing", "reward was gained", {**UNGAINED, **growing(1.4)},
         {"reward_mean": lambda i: 10.0 * rise(i)}, WARN, WATCH, OFF, count=34),
    Contrast("critic-loss-growing", "it trebles within thirty updates", {**LARGE_RETURNS,
         **growing(1.05)}, growing(1.036), WARN, 0, OFF, count=200),
    Contrast("critic-loss-growing", "most of it is one jump", {**LARGE_RETURNS, **growing(1.2)},
         {"critic_loss": after(30, 500.0 * 1.2**45, 500.0)}, WARN, 0, OFF, count=46),
    Contrast("critic-loss-growing", "it began at the size of the rewards, squared",
         {**UNGAINED, "critic_loss": lambda i: 1e-4 * 1.3**i}, {"critic_loss": lambda i: 10.0 *
         1.3**i}, 0, WARN, OFF, count=40),
    Contrast("actor-loss-large", "reward was gained", {**UNGAINED, "actor_loss": lambda i: 10.0 *
         1.15**i}, {"reward_mean": rise, "actor_loss": lambda i: 200.0 * 1.15**i}, WARN, 0, OFF),
    Contrast("actor-loss-large", "it was beyond all returns from the start", {**UNGAINED,
         "actor_loss": lambda i: 10.0 * 1.15**i}, {"actor_loss": lambda i: 1000.0 * 1.15**i},
         WARN, 0, OFF),
    Contrast("action-values-lost", "the critic's loss jumps with them", {**LOST,
         "critic_loss": at(30, 7.7, 3.0)}, {"critic_loss": at(30, 7.3, 3.0)}, WARN, 0, OFF),
    Contrast("action-values-lost", "a third of them is lost", LOST,
         {"actor_loss": after(30, -14.3, -20.0)}, WARN, 0, OFF),
    Contrast("action-values-lost", "without a jump of the loss, three in five are lost", {**LOST,
         "critic_loss": 3.0, "actor_loss": after(30, -7.7, -20.0)},
         {"actor_loss": after(30, -8.3, -20.0)}, WARN, 0, OFF),
    Contrast("action-values-lost", "without a jump of the loss, they hardly moved by themselves",
         {**LOST, "critic_loss": 3.0, "actor_loss": lambda i: -20.0 - 4.9 * (i % 2) + 15.5 *
         (i >= 30)}, {"actor_loss": lambda i: -20.0 - 7.0 * (i % 2) + 15.5 * (i >= 30)}, WARN, 0,
         OFF),
    Contrast("action-values-lost", "they did not move as far by themselves", LOST,
         {"actor_loss": lambda i: -20.0 - 7.0 * (i % 2) + 10.0 * (i >= 30)}, WARN, 0, OFF),
    Contrast("action-values-lost", "the learning rate stays", LOST,
         {"lr": after(29, 1e-2, 3e-4)}, WARN, 0, OFF),
    Contrast("action-values-lost", "there are ten values of before and after",
         {"actor_loss": after(8, -12.0, -20.0), "critic_loss": at(8, 9.0, 3.0)},
         {"actor_loss": after(7, -12.0, -20.0), "critic_loss": at(7, 9.0, 3.0)}, WARN, 0, OFF),
    Contrast("entropy-coefficient", "it is more than a constant", {**UNGAINED,
         "entropy_coef": lambda i: 0.5 * 1.1**i}, {"entropy_coef": 0.5}, WARN, 0, OFF),
    Contrast("entropy-coefficient", "it is a thousand times its first value", {**UNGAINED,
         "entropy_coef": lambda i: 0.5 * 1.14**i}, {"entropy_coef": lambda i: 0.5 * 1.11**i},
         CRIT, WARN, OFF),
    Contrast("entropy-coefficient", "reward was gained while it ran away", {**UNGAINED,
         "entropy_coef": lambda i: 0.5 * 1.04**i}, {"reward_mean": rise}, WARN, 0, OFF),
    Contrast("entropy-coefficient", "reward was gained while it vanished", {**UNGAINED,
         "entropy_coef": lambda i: 0.5 * 0.7**i}, {"reward_mean": rise}, WARN, 0, OFF),
    Contrast("exploration-not-falling", "anything is trained", {**UNGAINED, "exploration_rate":
         0.9}, {"total_loss": None, "n_updates": None}, WARN, 0, VALUE),
    Contrast("exploration-not-falling", "it has fallen at all", {**UNGAINED, "exploration_rate":
         0.9}, {"exploration_rate": lambda i: 0.95 - 0.004 * i}, WARN, 0, VALUE),
    Contrast("exploration-not-falling", "it stays within a hundredth, and has not fallen lately",
         {**UNGAINED, "exploration_rate": lambda i: 0.9}, {"exploration_rate": lambda i: 0.9 -
         1e-5 * i}, WARN, 0, VALUE),
    Contrast("exploration-not-falling", "the run is nearly over", {**UNGAINED,
         "exploration_rate": lambda i: 0.95 - 0.004 * i}, {}, 0, WARN, VALUE,
         differs_config={"total_timesteps": 60_000}),
    Contrast("not-training", "a loss is logged", NO_LOSS, {"critic_loss": 0.5}, WARN, 0, OFF,
         count=120),
    Contrast("not-training", "a hundred rows have been logged", NO_LOSS, {}, WARN, 0, OFF,
         count=104, otherwise_count=96),
    Contrast("not-training", "more than rewards are logged", NO_LOSS, {"ep_len": None},
         WARN, 0, OFF, count=120),
    Contrast("not-training", "learning starts later", NO_LOSS, {}, WARN, 0, OFF, count=120,
         differs_config={"learning_starts": 1e9}),
    Contrast("not-training", "learning starts beyond the end", NO_LOSS, {}, 0, WARN, OFF,
         config={"total_timesteps": 240_000}, differs_config={"learning_starts": 1e9}, count=30),
    Contrast("not-training", "half of the budget is used", NO_LOSS, {}, 0, WARN, OFF,
         config={"total_timesteps": 400_000}, differs_config={"total_timesteps": 60_000},
         count=40),
)
# fmt: on
