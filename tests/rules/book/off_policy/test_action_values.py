"""What a learner with a replay buffer thinks its actions are worth, beside what episodes return."""

from __future__ import annotations

from tests.rules.courses import UNGAINED, after, at, within
from tests.rules.specification import (
    AT_LAST,
    ENDED,
    WARN,
    WATCH,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter

WRONG: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2, "ep_len": 60.0, "critic_loss": 100.0,
    "actor_loss": 1.0, "entropy_coef": 0.01, "value_mean": None,
}  # fmt: skip
"""Action values of -1 where each step earns -10."""

ONE_STEP: DrawnColumns = {**WRONG, "actor_loss": 10.0, "critic_loss": 0.1}


def gained(i: int) -> float:
    """Returns that rise for 20 updates, and stay."""
    return -1400.0 + 60.0 * min(i, 20) + jitter(i, 5)


WRONG_VALUES: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2, "ep_len": 60.0, "critic_loss": 100.0,
    "actor_loss": 1.0, "entropy_coef": 0.01,
}  # fmt: skip

LOST: DrawnColumns = {"actor_loss": after(30, -12.0, -20.0), "critic_loss": at(30, 9.0, 3.0)}
"""Action values of 20 are 12 from one update on, where the critic errs once."""


# fmt: off
class TestActionValuesWrong(RuleTests):
    """Action values contradict the returns."""

    rule = "action-values-wrong"
    examples = (
        RuleCase({"actor_loss": lambda i: -30 - i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
            {"actor_loss": 4.0, "reward_mean": lambda i: -1400 + jitter(i, 20)}, WARN,
            "off-policy"),
        Contrast("nothing was gained", WRONG,
            {"reward_mean": lambda i: -2000.0 + 90.0 * min(i, 15) - i % 2}, WARN, 0, "off-policy"),
        Contrast("the reward is below its ceiling", WRONG, {}, WARN, 0, "off-policy",
            config={"reward_threshold": 500.0}, differs_config={"reward_threshold": -700.0}),
        Contrast("values are judged in rows that hold them",
            {**WRONG, "value_mean": lambda i: -1.0 if i % 5 else None},
            {"value_mean": lambda i: -200.0 if i % 5 else None}, WARN, 0, "off-policy"),
        Contrast("all returns are of one sign", WRONG_VALUES,
            {"reward_mean": lambda i: 1.0 if i == 2 else -600.0 - i % 2}, WARN, 0, "off-policy"),
        Contrast("they do not grow towards the returns", {**WRONG, "actor_loss": 3.0},
            {"actor_loss": lambda i: 0.1 * 1.08**i}, WARN, 0, "off-policy", count=45),
        Contrast("one of eleven returns is no higher than the one before",
            {**WRONG, "actor_loss": after(31, 1.0, 300.0)},
            {"reward_mean": lambda i: -600.0 + (0.01 * i if i > 19 else -i % 2)}, WARN, WATCH,
            "off-policy", count=45),
        Contrast("values of the other sign do not shrink", {**WRONG, "actor_loss": -100.0},
            {"actor_loss": lambda i: -300.0 * 0.93**i}, WARN, 0, "off-policy", count=45),
    )


class TestActionValuesShort(RuleTests):
    """Action values see one step only."""

    rule = "action-values-short"
    examples = (
        Contrast("they are worth one step to the end", ONE_STEP, {"actor_loss": 20.0}, WARN, 0,
            "off-policy", log=ENDED),
        Contrast("the run is over", ONE_STEP, {}, WARN, 0, "off-policy", log=ENDED,
            otherwise_log=RowLog()),
        Contrast("or it has had so many updates", ONE_STEP, {}, WARN, 0, "off-policy", count=70,
            otherwise_count=63),
        Contrast("the newer half of a long run stays so",
            {**ONE_STEP, "actor_loss": lambda i: 20.0 if i < 39 else 10.0},
            {"actor_loss": lambda i: 20.0 if i < 48 else 10.0}, WARN, 0, "off-policy", count=70),
        Contrast("values stay so to the newest row of a long run", ONE_STEP,
            {"actor_loss": lambda i: 10.0 if i < 64 else 20.0}, WARN, 0, "off-policy", count=70),
        Contrast("rewards are of a size that is soon learned", ONE_STEP,
            {"reward_mean": lambda i: -19_000.0 - i % 2, "actor_loss": 317.0}, WARN, 0,
            "off-policy", count=70),
        Contrast("a reward is logged", ONE_STEP, {"reward_mean": None}, WARN, 0, "off-policy",
            log=ENDED),
        Contrast("a length of episodes is logged", ONE_STEP, {"ep_len": None}, WARN, 0,
            "off-policy", log=ENDED),
        Contrast("the length is logged as often", ONE_STEP,
            {"ep_len": lambda i: 60.0 if i % 8 == 0 else None}, WARN, 0, "off-policy", log=ENDED),
        Contrast("the reward is below its ceiling at the end", ONE_STEP, {}, WARN, 0, "off-policy",
            log=ENDED, config={"reward_threshold": 500.0},
            differs_config={"reward_threshold": -700.0}),
        Contrast("an actor's loss is logged", {"actor_loss": lambda i: 7.0 + jitter(i, 0.1),
            "reward_mean": lambda i: -1400 + jitter(i, 20), "ep_len": 200.0},
            {"actor_loss": None, "value_mean": -7.0}, WARN, 0, "off-policy", log=ENDED),
        Contrast("episodes are of five steps or more",
            {**ONE_STEP, "ep_len": 5.1, "reward_mean": lambda i: -51.0 - 0.1 * (i % 2)},
            {"ep_len": 4.9, "reward_mean": lambda i: -49.0 - 0.1 * (i % 2)}, WARN, 0, "off-policy",
            log=ENDED),
        Contrast("the second half of a run is twenty updates", ONE_STEP, {}, WARN, 0, "off-policy",
            count=40, otherwise_count=39, log=ENDED),
        Contrast("they are worth no more in seven of ten rows, of which some may earn nothing",
            {**ONE_STEP, "reward_mean": lambda i: -600.0 * (i % 4 > 0)},
            {"reward_mean": lambda i: -600.0 * (i % 3 > 0)}, WARN, 0, "off-policy", log=ENDED),
    )


class TestActionValuesLost(RuleTests):
    """Action values lost at one update."""

    rule = "action-values-lost"
    examples = (
        RuleCase({"actor_loss": after(30, -13.0, -20.0), "critic_loss": at(30, 8.0, 3.0)},
            {"actor_loss": after(30, -15.0, -20.0), "critic_loss": at(30, 8.0, 3.0)}, WARN,
            "off-policy"),
        Contrast("they do not come back, though reward was gained", {**LOST, "reward_mean": gained},
            {"actor_loss": within(30, 40, -12.0, -20.0)}, WARN, 0, "off-policy", log=AT_LAST),
        Contrast("they come back to where the reward does not pay",
            {**LOST, **UNGAINED, "actor_loss": within(30, 40, -12.0, -20.0)},
            {"reward_mean": gained}, WARN, 0, "off-policy", log=AT_LAST),
        Contrast("the critic's loss jumps with them", {**LOST, "critic_loss": at(30, 7.7, 3.0)},
            {"critic_loss": at(30, 7.3, 3.0)}, WARN, 0, "off-policy"),
        Contrast("a third of them is lost", LOST, {"actor_loss": after(30, -14.3, -20.0)}, WARN, 0,
            "off-policy"),
        Contrast("without a jump of the loss, three in five are lost",
            {**LOST, "critic_loss": 3.0, "actor_loss": after(30, -7.7, -20.0)},
            {"actor_loss": after(30, -8.3, -20.0)}, WARN, 0, "off-policy"),
        Contrast("without a jump of the loss, they hardly moved by themselves", {**LOST,
            "critic_loss": 3.0, "actor_loss": lambda i: -20.0 - 4.9 * (i % 2) + 15.5 * (i >= 30)},
            {"actor_loss": lambda i: -20.0 - 7.0 * (i % 2) + 15.5 * (i >= 30)}, WARN, 0,
            "off-policy"),
        Contrast("they did not move as far by themselves", LOST,
            {"actor_loss": lambda i: -20.0 - 7.0 * (i % 2) + 10.0 * (i >= 30)}, WARN, 0,
            "off-policy"),
        Contrast("the learning rate stays", LOST, {"lr": after(29, 1e-2, 3e-4)}, WARN, 0,
            "off-policy"),
        Contrast("there are ten values of before and after",
            {"actor_loss": after(8, -12.0, -20.0), "critic_loss": at(8, 9.0, 3.0)},
            {"actor_loss": after(7, -12.0, -20.0), "critic_loss": at(7, 9.0, 3.0)}, WARN, 0,
            "off-policy"),
    )
