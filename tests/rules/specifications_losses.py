"""Value losses, entropies and their like: what rules say later, or of a run that has ended."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from tests.rules.cases import after, rise
from tests.rules.specifications import ENDED, FLAT, Contrast, RowLog, learned, steady_gain
from tests.rules.specifications_conditions import NOWHERE
from tests.rules.specifications_llm import STILL
from tests.rules.specifications_log import LEFT
from tests.rules.specifications_replay import OFF
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan


# fmt: off
def spiking(*rows: int) -> DrawnColumns:
    """A value loss with ever higher peaks."""
    peaks = {row: 60.0 * 4**number for number, row in enumerate(rows)}
    return {"value_loss": lambda i: peaks.get(i, 5.0)}


def highest(loss: float) -> DrawnColumns:
    """A value loss that was high once, and then leaves its usual level of 1."""
    return {"value_loss": lambda i: {1: loss, 40: 120.0}.get(i, 25.0 if i > 40 else 1.0)}


def climbs(first: float, last: float, falls_at: int = 999) -> DrawnColumns:
    """A reward that climbs to one level in fifteen rows, then to another one, and may be lost."""
    return {
        "reward_mean": lambda i: jitter(i, 0.02 * last)
        + (0.0 if i >= falls_at else first * min(i, 15) / 15 + (last - first) * (i >= 30)),
    }


HIGH_LOSS: DrawnColumns = {"value_loss": after(20, 60.0, 5.0)}

def stays_but_for(*rows: int) -> DrawnColumn:
    """A value loss that jumps twelvefold and stays there but for some rows."""
    return lambda i: 5.0 if i < 40 else 40.0 if i in rows else 60.0


LOSS_PAIRS = (
    Contrast("value-loss-spike", "the last three are near to each other", spiking(12, 32, 40, 48),
         spiking(12, 32, 40, 53), WARN, WATCH),
    Contrast("value-loss-spike", "it stays in a task of which half as much again was learned",
         {**HIGH_LOSS, **climbs(2.0, 3.2)}, climbs(2.0, 2.8), 0, WARN, log=LEFT),
    Contrast("value-loss-spike", "thirty updates showed that it belongs to the task", {**HIGH_LOSS,
         **climbs(2.0, 9.0)}, {}, WARN, 0, count=51, otherwise_count=54, log=LEFT),
    Contrast("value-loss-spike", "a language model's reward was lost after it", {**HIGH_LOSS,
         **climbs(2.0, 9.0, 55)}, climbs(2.0, 9.0), CRIT, WARN, "rlhf", count=70),
    Contrast("value-loss-spike", "it stays for thirty updates where no reward is logged",
         {**HIGH_LOSS, **NOWHERE}, {}, WARN, 0, count=51, otherwise_count=54, log=LEFT),
    Contrast("value-loss-spike", "it stays above a thirtieth of the highest", {**highest(700.0),
         **FLAT}, highest(1000.0), WARN, WATCH),
    Contrast("value-loss-spike", "eight of ten updates of 500 steps stay up", {"iteration": lambda
         i: 2.0 * i, "value_loss": lambda i: 5.0 if i < 40 or i in (42, 44) else 60.0},
         {"value_loss": lambda i: 5.0 if i < 40 or i % 3 == 2 else 60.0}, WARN, WATCH),
    Contrast("value-loss-spike", "the reward falls again though it has grown since",
         {**HIGH_LOSS, **climbs(2.0, 9.0, 48)}, climbs(2.0, 9.0), CRIT, 0, log=LEFT),
    Contrast("value-loss-spike", "there is more reward to get", {**HIGH_LOSS, "reward_mean":
         500.0}, {}, WARN, 0, config={"reward_threshold": 600.0},
         differs_config={"reward_threshold": 500.0}, log=LEFT),
    Contrast("value-loss-spike", "any reward was earned before it", {"value_loss": after(40, 60.0,
         5.0), "reward_mean": 0.0}, {"reward_mean": after(40, 1.0, 0.0)}, WARN, WATCH),
    Contrast("value-loss-spike", "sixteen of twenty updates of 222 steps stay up", {"iteration":
         lambda i: 4.5 * i, "value_loss": stays_but_for(45, 48, 51, 54), **FLAT}, {"value_loss":
         stays_but_for(45, 48, 51, 54, 57)}, WARN, WATCH),
    Contrast("value-loss-spike", "a rising reward has seen a fifth of it before", {"value_loss":
         lambda i: 60.0 if i >= 40 else 11.5 if i == 39 else 5.0, "reward_mean": steady_gain},
         {"value_loss": lambda i: 60.0 if i >= 40 else 12.5 if i == 39 else 5.0}, WARN, WATCH),
    Contrast("value-loss-spike", "the error is logged before it is clipped", {"value_error":
         after(40, 60.0, 5.0), **FLAT}, {}, WARN, 0, trainer="rllib", otherwise_trainer="sb3"),
    Contrast("non-finite", "losses are those of learning from rollouts, which has no start to wait "
         "for", {"value_loss": lambda i: NAN if i < 5 else 5.0, "policy_loss": None, "total_loss":
         None}, {"value_loss": 5.0}, CRIT, 0),
)



def rising_until(row: int) -> DrawnColumns:
    """A reward that rises up to a row and keeps nearly all of it."""
    return {"reward_mean": lambda i: 20 + 5.0 * min(i, row) - 0.5 * max(0, i - row) + jitter(i, 3)}


LATE_GAIN: DrawnColumns = {"reward_mean": lambda i: jitter(i, 0.05) + (0.1 if i < 4 else 0.6 if i
    < 11 else 0.9)}  # fmt: skip

SLIGHT: DrawnColumns = {"reward_mean": lambda i: jitter(i, 1) + 2.0 * (i >= 3)}
"""A gain of more than noise that might still be chance."""

FROZEN: DrawnColumns = {"entropy": after(20, 1e-5, 0.69), "approx_kl": after(20, 1e-9, 0.01),
    "clip_fraction": after(20, 0.0, 0.1)}  # fmt: skip


def raised_thrice(i: int, height: float, then: float) -> float:
    """A loss that fell, with three stretches far above its level; then the last one may stay."""
    if i < 8:
        return 4.0
    raised = i >= 30 and (i - 30) % 40 < 15 and i < 125
    return then if i >= 125 else 1.0 + (height if raised else 0.0) * min(1.0, (i - 30) % 40 / 12)


def there_and_back(slope: float) -> DrawnColumn:
    """An episode length that rises until row 60, and then falls by so much in each update."""
    return lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - slope * (i - 60)


def jumped_thrice(i: int, then: float) -> float:
    """A value that is 1, but for three stretches at 50; then the last one may stay."""
    return 50.0 * (1.0 if i >= 30 and (i - 30) % 40 < 12 and i < 122 else 0.02) if i < 122 else then


BACK_PAIRS = (
    Contrast("value-loss-rising", "it is still high", {**FLAT, "value_loss": lambda i:
         raised_thrice(i, 20.0, 21.0), "explained_variance": None}, {"value_loss": lambda i:
         raised_thrice(i, 20.0, 1.0)}, WARN, 0, count=215, log=RowLog(left_open=True)),
    Contrast("value-loss-spike", "it is still high", {**FLAT, "value_loss": lambda i:
         jumped_thrice(i, 50.0)}, {"value_loss": lambda i: jumped_thrice(i, 1.0)}, WARN, 0,
         count=215, log=RowLog(left_open=True)),
    Contrast("action-spread", "it is still large", {**FLAT, "policy_std": lambda i:
         jumped_thrice(i, 50.0)}, {"policy_std": lambda i: jumped_thrice(i, 1.0)}, CRIT, 0,
         count=215, log=RowLog(left_open=True)),
    Contrast("value-loss-spike", "the reward has a new best since, and losses were high before",
         {"reward_mean": learned, "value_loss": lambda i: 40.0 if i == 3 or i >= 40 else 1.0},
         {"reward_mean": lambda i: learned(i) + 12.0 * (41 <= i <= 44)}, WARN, WATCH, count=56),
)

ENTROPY_PAIRS = (
    Contrast("entropy-collapsed", "the rows hold an entropy", {"entropy": after(12, 0.05, 1.0),
         "seq_entropy": 50.0, **STILL}, {"entropy": lambda i: 1.0 if i < 12 else 0.05 if i == 12
         else None}, WARN, 0, family="rlhf"),
    Contrast("policy-collapsed", "the policy is discrete", {"entropy": after(20, 1e-5, 0.69),
         "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
         {"policy_std": 1.0}, CRIT, 0),
    Contrast("entropy-collapsed", "a language model's gain came with the loss", {"entropy":
         after(10, 0.05, 1.0), **LATE_GAIN}, {"reward_mean": lambda i: jitter(i, 0.05) + (0.1 if i
         < 4 else 0.6)}, INFO, WATCH, count=14, family="grpo"),
    Contrast("entropy-collapsed", "a control task's gain is more than noise, but pays for nothing",
         {"entropy": after(10, 0.05, 1.0), **LATE_GAIN}, FLAT, WATCH, WARN, count=14),
    Contrast("entropy-not-falling", "it is held after a fall at once, while reward stops rising",
         {"entropy": after(3, 0.64, 0.69), **rising_until(82)}, rising_until(99), WATCH, 0,
         count=100),
    Contrast("entropy-not-falling", "nothing was gained by a policy as random as at the start",
         {"entropy": 0.692, **FLAT}, rising_until(82), WATCH, 0, count=100),
    Contrast("entropy-not-falling", "the best of a long run is older than a quarter of it",
         {"entropy": 0.692, **rising_until(70)}, rising_until(80), WATCH, 0, count=100),
    Contrast("entropy-not-falling", "most of its fall came at once", {"entropy": after(3, 0.64,
         0.69), **rising_until(82)}, {"entropy": lambda i: 0.69 - 0.05 * (1 - math.exp(-i / 40))},
         WATCH, 0, count=100),
    Contrast("entropy-not-falling", "there is more reward to get", {"entropy": 0.692,
         "reward_mean": 500.0, "ep_len": 50.0}, {}, WATCH, 0, config={"reward_threshold": 600.0},
         differs_config={"reward_threshold": 500.0}),
    Contrast("entropy-not-falling", "a paste of a few rows proves nothing", {"entropy": 0.692,
         **FLAT}, {}, WARN, WATCH, count=13, otherwise_count=11, log=ENDED),
    Contrast("entropy-not-falling", "the first entropy is an untrained policy's", {"entropy":
         0.692, **FLAT}, {"entropy": 0.45}, WATCH, 0),
    Contrast("entropy-not-falling", "entropies are scaled, whatever they begin with", {"entropy":
         0.3, **FLAT}, {}, WATCH, 0, trainer="skrl", otherwise_trainer="sb3"),
    Contrast("entropy-not-falling", "the log begins with the training", {"entropy": 0.692, **FLAT},
         {}, WATCH, 0, otherwise_log=RowLog(step=lambda row: 100_000 + 1000 * row)),
    Contrast("entropy-not-falling", "the policy is discrete", {"entropy": 0.692, **FLAT},
         {"policy_std": 1.0}, WATCH, 0),
    Contrast("entropy-collapsed", "there was any entropy of responses", {"entropy": None,
         "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5}, {"seq_entropy": 0.0}, WARN, 0,
         family="rlhf"),
    Contrast("entropy-collapsed", "only language models have responses", {"entropy": after(12,
         0.05, 1.0), **FLAT}, {"entropy": None, "seq_entropy": after(12, 5.0, 100.0)}, WARN, 0),
    Contrast("entropy-collapsed", "there is more reward to get", {"entropy": after(12, 0.05, 1.0),
         "reward_mean": 500.0}, {}, WARN, INFO, config={"reward_threshold": 600.0},
         differs_config={"reward_threshold": 500.0}),
    Contrast("entropy-collapsed", "large steps were seen before, though the reward is up",
         {"entropy": after(15, 0.05, 1.0), **SLIGHT, "approx_kl": lambda i: 0.2 if 4 <= i < 10 else
         0.01}, {"approx_kl": 0.01}, WARN, WATCH, count=20),
    Contrast("entropy-collapsed", "nothing was gained until it fell", {"entropy": after(40, 0.05,
         1.0), **FLAT}, {"reward_mean": learned}, WARN, WATCH),
    Contrast("policy-collapsed", "there is more reward to get", {**FROZEN, "reward_mean": 500.0},
         {}, CRIT, 0, config={"reward_threshold": 600.0},
         differs_config={"reward_threshold": 500.0}),
)

COUNTER_PAIRS = (
    Contrast("updates-stuck", "a language model's episodes are those of its updates", {"episode":
         lambda i: 16.0 * min(i, 30), "num_tokens": None}, {"episode": lambda i: 16.0 * i}, WARN,
         0, family="rlhf"),
    Contrast("updates-stuck", "an episode of a control task may last for several updates",
         {"n_updates": None, "episode": lambda i: 16.0 * min(i, 30)}, {"n_updates": lambda i: 10.0
         * min(i, 30)}, 0, WARN),
    Contrast("learning-rate-pinned", "twenty updates are at the lower bound", {"lr": lambda i: 1e-5
         - 1e-6 * (i == 0)}, {}, WARN, 0, count=23, otherwise_count=19, trainer="rsl_rl"),
    Contrast("action-values-short", "an actor's loss is logged", {"actor_loss": lambda i: 7.0 +
         jitter(i, 0.1), "reward_mean": lambda i: -1400 + jitter(i, 20), "ep_len": 200.0},
         {"actor_loss": None, "value_mean": -7.0}, WARN, 0, OFF, log=ENDED),
    Contrast("reward-length-diverge", "the length moves notably", {"ep_len": there_and_back(3.0),
         "reward_mean": rise}, {"ep_len": there_and_back(0.3)}, WATCH, 0, count=100),
    Contrast("reward-length-diverge", "reward and length had to do with each other at first",
         {"ep_len": lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - 3.0 * (i - 60),
         "reward_mean": rise}, {"ep_len": lambda i: 50 + jitter(i, 20) if i < 30 else 20 + 3.0 * i
         if i < 60 else 200 - 3.0 * (i - 60)}, WATCH, 0, count=100),
)
# fmt: on

PAIRS = (*LOSS_PAIRS, *BACK_PAIRS, *ENTROPY_PAIRS, *COUNTER_PAIRS)
