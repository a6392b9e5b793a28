"""Algorithms with a replay buffer: critic, temperature, epsilon, and whether they learn."""

from __future__ import annotations

from ppo_top.model import Sample
from tests.rules.courses import FLAT, NO_LOSS, NOWHERE, UNGAINED, after, flat, rise, stops
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter

FALLING_EPSILON: DrawnColumns = {
    **UNGAINED, "exploration_rate": lambda i: 0.95 - 0.004 * i,
}  # fmt: skip

UNTRAINED: DrawnColumns = {**NO_LOSS, "total_loss": None}


def grown(i: int) -> float:
    """A critic loss that grows by four powers of ten in 30 updates."""
    return float(500.0 * 10.0 ** (min(i, 30) * 4 / 30))


def sinking(i: int) -> float:
    """Returns that fall, from where they were for 30 updates."""
    return -2000.0 - 60.0 * max(0, i - 30) + jitter(i, 20)


LARGEST = max(abs(flat(row)) for row in range(60))
"""The largest return of a run without gain."""

LARGE_RETURNS: DrawnColumns = {**UNGAINED, "reward_mean": lambda i: 100.0 * flat(i)}
"""No critic loss below is beyond them."""


def growing(rate: float) -> DrawnColumns:
    """A critic loss that grows by a factor in each update."""
    return {"critic_loss": lambda i: 500.0 * rate**i}


LOSING: DrawnColumns = {"reward_mean": lambda i: -1400 + jitter(i, 20)}


def grows_by(jump: float) -> DrawnColumns:
    """A loss that grows by so many powers of ten at once, and to 3.6 of them in thirty updates."""
    rest = (3.6 - jump) / 30
    return {"critic_loss": lambda i: 10.0 ** (jump + rest * min(30, i - 20) if i >= 20 else 0.0)}


# fmt: off
class TestCriticLossGrowing(RuleTests):
    """Critic loss growing without bound."""

    rule = "critic-loss-growing"
    examples = (
        RuleCase({"critic_loss": lambda i: 10.0 ** (i / 6),
            "reward_mean": lambda i: -1400 + jitter(i, 20)},
            {"critic_loss": lambda i: 400 * 10.0 ** min(i / 20, 2.9),
            "reward_mean": lambda i: -1400 + jitter(i, 20)}, CRIT, "off-policy"),
        Contrast("the reward falls",
            {**LARGE_RETURNS, "critic_loss": lambda i: 500.0 * 1.2 ** i, "reward_mean": sinking},
            {"reward_mean": lambda i: -2000.0 + jitter(i, 20)}, CRIT, WARN, "off-policy", count=48),
        Contrast("the loss does not come back to its start",
            {**LARGE_RETURNS, "critic_loss": grown},
            {"critic_loss": lambda i: grown(i) if i < 40 else 500.0}, WARN, 0, "off-policy",
            log=AT_LAST),
        Contrast("more than a tenth of its highest is left",
            {**LARGE_RETURNS, "critic_loss": lambda i: grown(i) if i < 40 else 1e6},
            {"critic_loss": lambda i: grown(i) if i < 40 else 4e5}, WARN, 0, "off-policy",
            log=AT_LAST),
        Contrast("its errors stay beyond any return",
            {**UNGAINED, "critic_loss": after(20, 1e4, 300.0)},
            {"critic_loss": lambda i: (300.0 if i < 20 else 1e4 if i < 40 else 2000.0)}, WARN, 0,
            "off-policy", log=AT_LAST),
        Contrast("one jump by six powers of ten is enough where no return is " "known",
            {**NOWHERE, "critic_loss": after(30, 2e6, 1.0)}, {"critic_loss": after(30, 5e5, 1.0)},
            CRIT, 0, "off-policy"),
        Contrast("it trebles within thirty updates, in a long run",
            {**LARGE_RETURNS, "critic_loss": lambda i: 500.0 * 1.045**i},
            {"critic_loss": lambda i: 500.0 * 1.032**i}, WARN, 0, "off-policy", count=240),
        Contrast("rewards are of a size that makes it large",
            {**UNGAINED, "critic_loss": lambda i: 1e-4 * 1.3**i},
            {"reward_mean": lambda i: 10.0 * flat(i)}, WARN, 0, "off-policy", count=58),
        Contrast("it was above 0 at the start",
            {**NOWHERE, "critic_loss": lambda i: 1e-3 if i < 20 else 500 * 1.4 ** (i - 20)},
            {"critic_loss": lambda i: 0.0 if i < 20 else 500 * 1.4 ** (i - 20)}, CRIT, 0,
            "off-policy"),
        Contrast("it is above 0", {**UNGAINED, **growing(1.4)},
            {"critic_loss": after(20, 0.0, 3.0)}, CRIT, 0, "off-policy"),
        Contrast("any return is known", {**UNGAINED, "critic_loss": after(20, 1e4, 300.0)}, NOWHERE,
            WARN, 0, "off-policy"),
        Contrast("reward was gained", {**UNGAINED, **growing(1.4)},
            {"reward_mean": lambda i: 10.0 * rise(i)}, WARN, WATCH, "off-policy", count=34),
        Contrast("it trebles within thirty updates", {**LARGE_RETURNS, **growing(1.05)},
            growing(1.036), WARN, 0, "off-policy", count=200),
        Contrast("most of it is one jump", {**LARGE_RETURNS, **growing(1.2)},
            {"critic_loss": after(30, 500.0 * 1.2**45, 500.0)}, WARN, 0, "off-policy", count=46),
        Contrast("it began at the size of the rewards, squared",
            {**UNGAINED, "critic_loss": lambda i: 1e-4 * 1.3**i},
            {"critic_loss": lambda i: 10.0 * 1.3**i}, 0, WARN, "off-policy", count=40),
        Contrast("its errors are thousands of times any return, from the start",
            {**UNGAINED, "critic_loss": 1.05e8 * LARGEST**2}, {"critic_loss": 0.95e8 * LARGEST**2},
            CRIT, 0, "off-policy"),
        Contrast("four evaluations with such errors are enough", {**UNGAINED, "critic_loss": 1e24},
            {"critic_loss": 5.0}, CRIT, 0, "off-policy", count=4,
            log=RowLog(sample=Sample("evaluation"), ended=True)),
        Contrast("growth is told after eight values",
            {**UNGAINED, "critic_loss": after(5, 2e6, 1.0)}, {}, CRIT, 0, "off-policy", count=12,
            otherwise_count=11),
        Clearing("clear", lambda x: {"critic_loss": lambda i: 10.0 ** (x if i >= 50 else
            max(0.0, min(3.04, 0.1 * i - 1.0))), **FLAT}, family="off-policy"),
        Contrast("most of its growth was no single jump", {**UNGAINED, **grows_by(1.9)},
            grows_by(2.4), WARN, 0, "off-policy", count=49),
    )


class TestActorLossLarge(RuleTests):
    """Action values beyond the returns."""

    rule = "actor-loss-large"
    examples = (
        RuleCase({"actor_loss": lambda i: 10 * 1.2**i, "reward_mean": lambda i: -20 + jitter(i, 2)},
            {"actor_loss": lambda i: 19 + 0.6 * i, "reward_mean": lambda i: -20 + jitter(i, 2)},
            WARN, "off-policy"),
        Contrast("a discount of 1 is none",
            {**UNGAINED, "ep_len": 20.0, "actor_loss": after(30, 300.0, 20.0)}, {}, WARN, 0,
            "off-policy", config={"gamma": 0.9}, differs_config={"gamma": 1.0}),
        Contrast("reward was gained", {**UNGAINED, "actor_loss": lambda i: 10.0 * 1.15**i},
            {"reward_mean": rise, "actor_loss": lambda i: 200.0 * 1.15**i}, WARN, 0, "off-policy"),
        Contrast("it was beyond all returns from the start",
            {**UNGAINED, "actor_loss": lambda i: 10.0 * 1.15**i},
            {"actor_loss": lambda i: 1000.0 * 1.15**i}, WARN, 0, "off-policy"),
    )


class TestEntropyCoefficient(RuleTests):
    """Entropy coefficient out of bounds."""

    rule = "entropy-coefficient"
    examples = (
        RuleCase({"entropy_coef": lambda i: 1.1**i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
            {"entropy_coef": lambda i: 1.02**i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
            WARN, "off-policy"),
        Contrast("it was above 0 at the start",
            {**UNGAINED, "entropy_coef": lambda i: 1e-3 if i < 3 else 0.01 * i},
            {"entropy_coef": lambda i: 0.0 if i < 3 else 0.01 * i}, WARN, 0, "off-policy"),
        Contrast("it rises still",
            {**UNGAINED, "entropy_coef": lambda i: 0.5 if i < 3 else 5.0 + 0.05 * i},
            {"entropy_coef": after(3, 5.0, 0.5)}, WARN, 0, "off-policy"),
        Contrast("it is more than a constant", {**UNGAINED, "entropy_coef": lambda i: 0.5 * 1.1**i},
            {"entropy_coef": 0.5}, WARN, 0, "off-policy"),
        Contrast("it is a thousand times its first value",
            {**UNGAINED, "entropy_coef": lambda i: 0.5 * 1.14**i},
            {"entropy_coef": lambda i: 0.5 * 1.11**i}, CRIT, WARN, "off-policy"),
        Contrast("reward was gained while it ran away",
            {**UNGAINED, "entropy_coef": lambda i: 0.5 * 1.04**i}, {"reward_mean": rise}, WARN, 0,
            "off-policy"),
        Contrast("reward was gained while it vanished",
            {**UNGAINED, "entropy_coef": lambda i: 0.5 * 0.7**i}, {"reward_mean": rise}, WARN, 0,
            "off-policy"),
        Boundary("times",
            lambda x: {"entropy_coef": lambda i: min(x, 1.1 ** max(0, i - 40)), **LOSING}, WARN,
            family="off-policy"),
        Boundary("learned_times",
            lambda x: {"entropy_coef": lambda i: min(x, 1.2 ** max(0, i - 20)), "reward_mean":
                lambda i: 20 + 5.0 * i + jitter(i, 3)}, WARN, family="off-policy"),
        Boundary("crit_times",
            lambda x: {"entropy_coef": lambda i: min(x, 1.5 ** max(0, i - 20)), **LOSING}, CRIT,
            family="off-policy"),
        Contrast("a policy that has learned may be certain",
            {**UNGAINED, "entropy_coef": after(20, 1e-7, 1.0)},
            {"reward_mean": lambda i: -1400.0 + 60.0 * min(i, 20) + jitter(i, 5)}, WARN, 0,
            "off-policy"),
    )


class TestExplorationNotFalling(RuleTests):
    """Exploration rate not falling."""

    rule = "exploration-not-falling"
    examples = (
        RuleCase({"exploration_rate": 1.0}, {"exploration_rate": lambda i: 1.0 - 0.0089 * i}, WARN,
            "value-based"),
        Contrast("most of the run is over", FALLING_EPSILON, {}, WARN, 0, "value-based",
            config={"total_timesteps": 60_000}, differs_config={"total_timesteps": 600_000}),
        Contrast("there is more than one value", {"reward_mean": flat, "exploration_rate": 1.0}, {},
            WARN, 0, "value-based", count=2, otherwise_count=1, log=RowLog(ended=True)),
        Contrast("it is a share, not a count of episodes", {"exploration_rate": 100.0},
            {"exploration_rate": lambda i: 1.0 + i}, WARN, 0, "value-based"),
        Contrast("anything is trained", {**UNGAINED, "exploration_rate": 0.9},
            {"total_loss": None, "n_updates": None}, WARN, 0, "value-based"),
        Contrast("it has fallen at all", {**UNGAINED, "exploration_rate": 0.9},
            {"exploration_rate": lambda i: 0.95 - 0.004 * i}, WARN, 0, "value-based"),
        Contrast("it stays within a hundredth, and has not fallen lately",
            {**UNGAINED, "exploration_rate": lambda i: 0.9},
            {"exploration_rate": lambda i: 0.9 - 1e-5 * i}, WARN, 0, "value-based"),
        Contrast("the run is nearly over",
            {**UNGAINED, "exploration_rate": lambda i: 0.95 - 0.004 * i}, {}, 0, WARN,
            "value-based", differs_config={"total_timesteps": 60_000}),
        Boundary("random", lambda x: {"exploration_rate": x}, WATCH, family="value-based"),
        Contrast("it is its highest but for a hundredth",
            {**FLAT, "exploration_rate": after(5, 0.992, 1.0)},
            {"exploration_rate": after(5, 0.988, 1.0)}, WARN, 0, "value-based"),
    )


class TestNotTraining(RuleTests):
    """Collecting, but not training."""

    rule = "not-training"
    examples = (
        RuleCase({"critic_loss": None, "actor_loss": None},
            {"critic_loss": lambda i: 1.0 if i > 90 else None, "actor_loss": None}, WARN,
            "off-policy", count=120),
        Contrast("epsilon has come to its end",
            {**UNTRAINED, "exploration_rate": lambda i: max(0.05, 1.0 - 0.05 * i)},
            {"exploration_rate": lambda i: 1.0 - 0.01 * i}, WARN, 0, "value-based", count=40),
        Contrast("updates have stopped, and with them their rate", stops(45), {"lr": 3e-4}, WARN, 0,
            "off-policy"),
        Contrast("there has been none for ten rows and more", stops(47), stops(51), WARN, 0,
            "off-policy"),
        Contrast("that is far longer than it usually takes", stops(30, every=4), stops(46, every=4),
            WARN, 0, "off-policy"),
        Contrast("epsilon ever was more",
            {**UNTRAINED, "exploration_rate": lambda i: max(0.05, 1.0 - 0.05 * i)},
            {"exploration_rate": 0.05}, WARN, 0, "value-based", count=40),
        Contrast("the trainer logs losses at all", NO_LOSS, {}, WARN, 0, "off-policy", count=120,
            otherwise_trainer="custom"),
        Contrast("learning starts within the run", NO_LOSS, {}, 0, WARN, "off-policy",
            config={"total_timesteps": 240_000, "learning_starts": 1000},
            differs_config={"learning_starts": 1e9}, count=30),
        Contrast("learning should have started", NO_LOSS, {}, WARN, 0, "off-policy",
            config={"learning_starts": 1000}, differs_config={"learning_starts": 1e9}, count=120),
        Contrast("a loss is logged", NO_LOSS, {"critic_loss": 0.5}, WARN, 0, "off-policy",
            count=120),
        Contrast("a hundred rows have been logged", NO_LOSS, {}, WARN, 0, "off-policy", count=104,
            otherwise_count=96),
        Contrast("more than rewards are logged", NO_LOSS, {"ep_len": None}, WARN, 0, "off-policy",
            count=120),
        Contrast("learning starts later", NO_LOSS, {}, WARN, 0, "off-policy", count=120,
            differs_config={"learning_starts": 1e9}),
        Contrast("learning starts beyond the end", NO_LOSS, {}, 0, WARN, "off-policy",
            config={"total_timesteps": 240_000}, differs_config={"learning_starts": 1e9}, count=30),
        Contrast("half of the budget is used", NO_LOSS, {}, 0, WARN, "off-policy",
            config={"total_timesteps": 400_000}, differs_config={"total_timesteps": 60_000},
            count=40),
        Contrast("ten rows hold none", NO_LOSS, {}, WARN, 0, "off-policy", count=13,
            otherwise_count=11, config={"total_timesteps": 60_000, "learning_starts": 1e9}),
    )
