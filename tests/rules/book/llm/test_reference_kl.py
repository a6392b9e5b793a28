"""How far a language model has moved from its reference."""

from __future__ import annotations

from tests.rules.courses import (
    RISES,
    STILL,
    after,
    at,
    back,
    flat,
    flat_reward,
    late,
    rising_reward,
    within,
)
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter


def up_and_down(column: float) -> DrawnColumns:
    """A KL to the reference in every other row, and one of a token in the others."""
    return {
        "ref_kl": lambda i: column if i % 2 else None,
        "ref_kl_token": lambda i: None if i % 2 else 0.01,
    }


JUDGED: DrawnColumns = {"reward_component_mean{reward-model}": 0.5}
"""A part of the reward that a model gives, which can be exploited."""


# fmt: off
class TestRefKlHigh(RuleTests):
    """KL to reference too high."""

    rule = "ref-kl-high"
    examples = (
        RuleCase({"ref_kl": lambda i: 0.5 * i}, {"ref_kl": lambda i: 8.0}, family="rlhf"),
        Contrast("the responses are long", {"ref_kl": 25.0, "resp_len_mean": 240.0},
            {"resp_len_mean": 260.0}, WARN, WATCH, family="rlhf"),
        Contrast("the longest response is known", {"ref_kl": 25.0, "resp_len_mean": None}, {}, WARN,
            WATCH, family="rlhf", differs_config={"max_completion_length": 260}),
        Contrast("it is half a nat a token", {"ref_kl": 15.0, "resp_len_mean": 29.0, **STILL},
            {"resp_len_mean": 31.0}, CRIT, WATCH, family="rlhf"),
        Contrast("the score is stuck", {"ref_kl": 60.0, "resp_len_mean": None, **STILL}, RISES,
            CRIT, WARN, family="rlhf"),
        Contrast("it accelerates threefold",
            {"ref_kl": lambda i: 11.0 + 0.163 * max(0, i - 35), "resp_len_mean": None},
            {"ref_kl": lambda i: 11.0 + 0.153 * max(0, i - 35)}, WARN, WATCH, family="rlhf"),
        Boundary("watch", late("ref_kl", 1.0, resp_len_mean=None), WATCH, family="rlhf"),
        Boundary("warn", lambda x: {"ref_kl": x, "resp_len_mean": None}, WARN, family="rlhf"),
        Boundary("token", lambda x: {"ref_kl": after(30, 300 * x, 1.0), "resp_len_mean": 300}, WARN,
            family="rlhf"),
        Boundary("crit", lambda x: {"ref_kl": x, "resp_len_mean": None, "reward_mean": flat}, CRIT,
            family="rlhf"),
    )


class TestRefKlTokenHigh(RuleTests):
    """Per-token KL to reference too high."""

    rule = "ref-kl-token-high"
    examples = (
        RuleCase({"ref_kl_token": after(20, 0.6, 0.02), "reward_mean": flat_reward},
            {"ref_kl_token": after(20, 0.09, 0.02)}, WATCH, family="grpo"),
        Contrast("rules are of a language model that groups its samples",
            {"ref_kl_token": after(30, 0.5, 0.06), **RISES}, {"ref_kl_token": after(30, 5.5, 0.06)},
            WATCH, CRIT, family="rlhf"),
        Contrast("rules pay for it", {"ref_kl_token": after(30, 0.5, 0.06), **STILL}, RISES, WARN,
            INFO, family="grpo"),
        Contrast("no reward pays for five nats", {"ref_kl_token": after(30, 5.1, 0.06), **RISES},
            {"ref_kl_token": after(30, 4.9, 0.06)}, WARN, INFO, family="grpo"),
        Contrast("it pays for a moment of more", {"ref_kl_token": after(30, 5.1, 0.06), **RISES},
            {"ref_kl_token": lambda i: 5.1 if i in (31, 35, 39) else 0.5 if i > 30 else 0.06},
            WARN, INFO, family="grpo"),
        Contrast("a learned model judges, which can be exploited",
            {"ref_kl_token": after(30, 0.5, 0.06), **RISES,
            "reward_component_mean{reward-model}": 0.5},
            {"reward_component_mean{reward-model}": None}, WATCH, INFO, family="grpo"),
        Contrast("a model with a version judges", {"ref_kl_token": after(30, 0.5, 0.06), **RISES,
            "reward_component_mean{judge1.5}": 0.5}, {"reward_component_mean{judge1.5}": None},
            WATCH, INFO, family="grpo"),
        Contrast("it leaps by half a nat", {"ref_kl_token": at(40, 0.62, 0.1), **STILL},
            {"ref_kl_token": at(40, 0.58, 0.1)}, WARN, 0, family="grpo"),
        Contrast("it leaps from the lowest of five",
            {"ref_kl_token": lambda i: 0.62 if i == 40 else 0.1 if i < 36 else 0.2, **STILL},
            {"ref_kl_token": lambda i: 0.62 if i == 40 else 0.1 if i < 35 else 0.2}, WARN, 0,
            family="grpo"),
        Contrast("it is ten times the usual", {"ref_kl_token": at(40, 0.33, 0.032), **STILL},
            {"ref_kl_token": at(40, 0.33, 0.034)}, WARN, 0, family="grpo"),
        Contrast("a leap ends above three tenths", {"ref_kl_token": at(40, 0.31, 0.02), **STILL},
            {"ref_kl_token": at(40, 0.29, 0.02)}, WARN, 0, family="grpo"),
        Contrast("the usual is that of twenty updates",
            {"ref_kl_token": lambda i: 0.33 if i == 40 else 0.02 if 20 <= i < 30 else 0.04,
            **STILL}, {"ref_kl_token": at(40, 0.33, 0.04)}, WARN, 0, family="grpo"),
        Contrast("the score is stuck beyond a nat", {"ref_kl_token": 1.03, **STILL, **JUDGED},
            RISES, CRIT, WARN, family="grpo"),
        Boundary("warn", lambda x: {"ref_kl_token": x, "reward_mean": flat}, WARN, family="grpo"),
        Boundary("crit", lambda x: {"ref_kl_token": x, "reward_mean": flat}, CRIT, family="grpo"),
        Boundary("once",
            lambda x: {"ref_kl_token": lambda i: x if i == 40 else 0.01, "reward_mean": flat}, CRIT,
            family="grpo"),
        Clearing("clear", back("ref_kl_token", 0.01, 0.9), family="grpo"),
    )


class TestRefKlNegative(RuleTests):
    """Negative KL to reference."""

    rule = "ref-kl-negative"
    examples = (
        RuleCase({"ref_kl": after(20, -0.5, 0.2)},
            {"ref_kl": lambda i: -0.02 if i % 4 == 0 else 0.05}, family="rlhf"),
        Contrast("the estimate of a token is never below 0", {"ref_kl_token": -1.1e-3},
            {"ref_kl_token": -0.9e-3}, CRIT, 0, family="grpo"),
        Contrast("an estimate that is negative by chance is so for long", {"ref_kl_token": -0.0103},
            {"ref_kl_token": -0.0097}, WARN, 0, family="grpo", trainer="verl"),
        Contrast("it is more than a moment", {"ref_kl": after(30, -0.5, 1.0)},
            {"ref_kl": lambda i: -0.5 if i > 30 and i % 3 == 0 else 1.0}, WARN, 0, family="rlhf"),
        Contrast("it stays negative", {"ref_kl": after(20, -0.5, 1.0)},
            {"ref_kl": within(20, 40, -0.5, 1.0)}, WARN, 0, family="rlhf", log=AT_LAST),
        Contrast("that of a sequence counts in rows that hold it", {**up_and_down(-2.0), **STILL},
            up_and_down(2.0), CRIT, 0, family="rlhf"),
        Boundary("crit", late("ref_kl", 1.0), CRIT, -1, "rlhf"),
        Boundary("noise", late("ref_kl", 1.0), WARN, -1, "rlhf"),
    )


class TestRefKlZero(RuleTests):
    """Policy stuck at the reference."""

    rule = "ref-kl-zero"
    examples = (
        RuleCase({"ref_kl": 0.001, "reward_mean": flat_reward},
            {"ref_kl": lambda i: 0.05 * i, "reward_mean": flat_reward}, INFO, family="rlhf",
            count=80),
        Contrast("it was thirty times as much before",
            {"ref_kl": lambda i: 0.31 if i < 30 else 0.001, **STILL},
            {"ref_kl": lambda i: 0.29 if i < 30 else 0.001}, WATCH, 0, family="rlhf", count=48),
        Contrast("fifty updates have passed", {"ref_kl": 0.001, **STILL}, {}, INFO, 0,
            family="rlhf", count=58, otherwise_count=55),
        Contrast("the score moves", {"ref_kl": 0.001, **STILL}, RISES, INFO, 0, family="rlhf",
            count=70),
        Contrast("a hundred and fifty updates have passed", {"ref_kl": 0.001, **STILL}, {}, WATCH,
            INFO, family="rlhf", count=158, otherwise_count=155),
        Contrast("a reference is known to be there", {"ref_kl_token": 1e-9, **STILL},
            {"ref_kl_token": 0.0}, INFO, 0, family="grpo", trainer="openrlhf", count=70),
        Contrast("a KL of 0 says that there is no reference", {"ref_kl_token": 0.0, **STILL}, {},
            INFO, 0, family="grpo", trainer="verl", otherwise_trainer="openrlhf", count=70),
        Contrast("no reward was gained before", {"ref_kl_token": 0.0, **STILL},
            {"reward_mean": lambda i: min(i, 20) / 8 + jitter(i, 0.1)}, INFO, 0, family="grpo",
            count=70),
    )


class TestDriftWithoutGain(RuleTests):
    """KL to reference rising without reward."""

    rule = "drift-without-gain"
    examples = (
        RuleCase({"ref_kl": lambda i: 0.2 * i, "reward_mean": flat_reward},
            {"ref_kl": lambda i: 0.2 * i, "reward_mean": rising_reward}, WATCH, family="rlhf"),
        Contrast("five nats are reached", {"ref_kl": lambda i: 0.11 * max(0, i - 10), **STILL},
            {"ref_kl": lambda i: 0.1 * max(0, i - 10)}, WATCH, 0, family="rlhf"),
        Contrast("the score moves", {"ref_kl": lambda i: 1 + 0.15 * i, **STILL}, RISES, WATCH, 0,
            family="rlhf"),
        Contrast("it climbs at all", {"ref_kl": lambda i: 1 + 0.15 * i, **STILL},
            {"ref_kl": lambda i: 9.0 + jitter(i, 1)}, WATCH, 0, family="rlhf"),
        Contrast("it has reached five nats", {"ref_kl": lambda i: 0.1 + 0.089 * i, **STILL},
            {"ref_kl": lambda i: 0.1 + 0.079 * i}, WATCH, 0, family="rlhf"),
        Contrast("it climbed by two nats", {"ref_kl": lambda i: 8.0 + 0.087 * i, **STILL},
            {"ref_kl": lambda i: 8.0 + 0.080 * i}, WATCH, 0, family="rlhf"),
        Contrast("a token's KL doubles",
            {"ref_kl_token": lambda i: 0.06 * 2.06 ** (i / 24), **STILL},
            {"ref_kl_token": lambda i: 0.06 * 1.94 ** (i / 24)}, WATCH, 0, family="grpo"),
        Contrast("a token's KL has reached a tenth",
            {"ref_kl_token": lambda i: min(0.103, 0.01 * 1.08**i), **STILL},
            {"ref_kl_token": lambda i: min(0.097, 0.01 * 1.08**i)}, WATCH, 0, family="grpo"),
        Contrast("three pairs of four rise",
            {"ref_kl": lambda i: 6.0 + 0.1 * i + jitter(i, 1.6), **STILL},
            {"ref_kl": lambda i: 6.0 + 0.1 * i + jitter(i, 9.0)}, WATCH, 0, family="rlhf"),
    )
