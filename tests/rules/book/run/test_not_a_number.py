"""Non-finite numbers: NaN, infinities, losses that disappear instead, console errors."""

from __future__ import annotations

import math

from ppo_top.rules.engine.logged_run import TRAINING_LOSSES
from tests.rules.courses import NAN, after, at, rise, stops, until
from tests.rules.specification import AT_LAST, CRIT, WARN, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, jitter

UNTRAINED = dict.fromkeys(TRAINING_LOSSES)
"""No loss is logged."""

LOSSES_STOP: DrawnColumns = {
    **dict.fromkeys(("total_loss", "policy_loss", "value_loss", "approx_kl"), until(40, 0.5)),
    "lr": None, "n_updates": None,
}  # fmt: skip
"""No loss is logged from an update on; whether there are updates is not."""


# fmt: off
class TestNonFinite(RuleTests):
    """NaN/Inf in metrics."""

    rule = "non-finite"
    examples = (
        RuleCase({"value_loss": after(30, NAN, 5.0)}, {"explained_variance": NAN}, CRIT),
        Contrast("losses are those of learning from rollouts, which has no start to wait " "for",
            {"value_loss": lambda i: NAN if i < 5 else 5.0, "policy_loss": None,
            "total_loss": None}, {"value_loss": 5.0}, CRIT, 0),
        Contrast("no episode has ended for fifty updates",
            {"ep_len": None, "reward_mean": lambda i: rise(i) if i < 20 else NAN}, {}, CRIT, 0,
            count=71, otherwise_count=70),
        Contrast("ten episodes should have ended by now",
            {"ep_len": None, "reward_mean": lambda i: rise(i) if i % 8 == 0 and i <= 40 else NAN},
            {}, CRIT, 0, count=110, otherwise_count=109),
        Contrast("an evaluation is not to be expected",
            {"ep_len": None, "reward_mean": lambda i: rise(i) if i < 20 else NAN},
            {"reward_mean": rise, "eval_reward_mean": lambda i: rise(i) if i < 20 else NAN}, CRIT,
            0, count=90),
        Contrast("a counter counts, however damaged its line",
            {"value_loss": at(40, math.inf, 5.0)},
            {"value_loss": 5.0, "episode": at(40, math.inf, 7.0)}, CRIT, 0),
        Contrast("the reward has never been a number",
            {**UNTRAINED, "ep_len": None, "reward_mean": NAN}, {}, CRIT, 0, count=6,
            otherwise_count=5),
        Contrast("nothing but the reward tells of training",
            {**UNTRAINED, "ep_len": None, "reward_mean": NAN}, {"value_loss": 5.0}, CRIT, 0),
        Contrast("there were rewards before",
            {"eval_reward_mean": lambda i: NAN if i == 40 else 100.0},
            {"eval_reward_mean": lambda i: NAN if i == 40 else None}, CRIT, 0),
        Contrast("an episode ended in the update",
            {"reward_mean": lambda i: NAN if i == 40 else rise(i)},
            {"ep_len": lambda i: NAN if i == 40 else 100.0}, CRIT, 0),
        Contrast("an infinity is never the mean of nothing",
            {"reward_mean": lambda i: math.inf if i == 40 else rise(i),
            "ep_len": at(40, NAN, 100.0)}, {"reward_mean": lambda i: NAN if i == 40 else rise(i)},
            CRIT, 0),
        Contrast("a metric that nobody knows may be the best so far, which is infinite at first",
            {"tag:best": NAN}, {"tag:best": -math.inf}, CRIT, 0, family="grpo"),
        Contrast("training has begun, as another loss shows",
            {"critic_loss": 1.0, "actor_loss": lambda i: NAN if i < 3 else 1.0},
            {"critic_loss": lambda i: NAN if i < 3 else 1.0}, CRIT, 0, family="off-policy",
            config={"learning_starts": 5000}),
        Contrast("a replay buffer may still be filling",
            {"critic_loss": lambda i: NAN if i < 3 else 1.0, "actor_loss": None}, {}, CRIT, 0,
            family="off-policy", config={"learning_starts": 100},
            differs_config={"learning_starts": 5000}),
        Contrast("three updates in turn are finite",
            {"value_loss": lambda i: NAN if i == 40 or i == 43 else 5.0},
            {"value_loss": at(40, NAN, 5.0)}, CRIT, 0, count=45, log=AT_LAST),
        Contrast("more episodes are counted than before, so that one has ended",
            {"ep_len": NAN, "reward_mean": lambda i: NAN if i == 40 else rise(i),
            "episode": lambda i: 10.0 + i}, {"episode": 10.0}, CRIT, 0),
        Contrast("the trainer has counted an update",
            {"value_loss": lambda i: NAN if i < 5 else 5.0, "policy_loss": None,
            "total_loss": None}, {"n_updates": lambda i: max(0.0, i - 4.0)}, CRIT, 0),
    )


class TestHiddenNan(RuleTests):
    """Loss no longer logged (NaN dropped?)."""

    rule = "hidden-nan"
    examples = (
        RuleCase({"total_loss": lambda i: None if i > 40 else 2.0},
            {"eval_reward_mean": lambda i: 100.0 if i in (10, 20) else None}, WATCH),
        Contrast("others of the same update are logged", {**stops(45), "lr": 3e-4},
            {"lr": until(45, 3e-4)}, WATCH, 0, "value-based"),
        Contrast("the others go on", {"value_loss": lambda i: 5.0 if i < 40 else None},
            {"value_loss": lambda i: 5.0 if i % 5 == 0 else None}, WATCH, 0),
        Contrast("the reward goes on, where the rest of an update stops", LOSSES_STOP,
            {"reward_mean": until(40, 100.0)}, WATCH, 0),
        Contrast("another reward began two updates before it ended",
            {"reward_component_mean{a}": lambda i: 0.5 + jitter(i, 0.1) if i < 40 else None,
            "reward_component_mean{b}": lambda i: 0.5 + jitter(i, 0.1) if i >= 37 else None},
            {"reward_component_mean{b}": lambda i: 0.5 + jitter(i, 0.1) if i >= 38 else None}, WARN,
            WATCH, family="grpo"),
        Contrast("it had been there ten times", {"total_loss": lambda i: 2.0 if i < 10 else None},
            {"total_loss": lambda i: 2.0 if i < 9 else None}, WATCH, 0),
        Contrast("it is missing for two rows, where it was in every one before",
            {"total_loss": lambda i: 2.0 if i < 58 else None}, {"total_loss": lambda i: 2.0 if
            i < 59 else None}, WATCH, 0),
        Contrast("a language model's reward stops, of which it has one in each update",
            {"reward_mean": until(40, 0.5)}, {"reward_mean": 0.5, "entropy": until(40, 0.5)}, WARN,
            0, family="grpo"),
    )
