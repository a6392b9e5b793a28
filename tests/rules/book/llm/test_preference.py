"""Preference training (DPO and its relatives): which answers gain, and what is learned."""

from __future__ import annotations

import math

from tests.rules.courses import at, back
from tests.rules.specification import (
    CRIT,
    ENDED,
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


def sinking(accuracy: float) -> DrawnColumns:
    """Rejected answers win more and more clearly, in as many pairs."""
    return {"preference_accuracy": accuracy, "preference_margin": lambda i: -0.01 * i}


# fmt: off
class TestPreferenceInverted(RuleTests):
    """Rejected answers preferred."""

    rule = "preference-inverted"
    examples = (
        RuleCase({"preference_accuracy": 0.2, "preference_margin": lambda i: -0.02 * i},
            {"preference_accuracy": 0.2, "preference_margin": lambda i: 0.02 * i},
            family="preference"),
        Contrast("no margin is logged that rises",
            {"preference_accuracy": 0.3, "preference_margin": None},
            {"preference_margin": lambda i: 0.1 + 0.01 * i}, WARN, 0, family="preference"),
        Contrast("it gets worse",
            {"preference_accuracy": 0.3, "preference_margin": lambda i: -0.01 * i},
            {"preference_margin": lambda i: -0.5 + 0.01 * i}, WARN, 0, family="preference"),
        Contrast("it does not rise",
            {"preference_accuracy": 0.3, "preference_margin": lambda i: -0.01 * i},
            {"preference_accuracy": lambda i: 0.2 + 0.002 * i}, WARN, 0, family="preference"),
        Contrast("the margin falls below 0",
            {"preference_accuracy": 0.3, "preference_margin": lambda i: 0.1 - 0.01 * i},
            {"preference_margin": lambda i: 1.0 - 0.01 * i}, WARN, 0, family="preference"),
        Boundary("warn", sinking, WARN, -1, family="preference"),
        Boundary("crit", sinking, CRIT, -1, family="preference"),
        Clearing("clear", back("preference_accuracy", 0.5, 0.2,
            preference_margin=lambda i: -0.05 * i), -1, "preference"),
    )


class TestPreferenceAtChance(RuleTests):
    """Answers told apart by chance."""

    rule = "preference-at-chance"
    examples = (
        RuleCase({"preference_accuracy": lambda i: 0.5 + jitter(i, 0.1)},
            {"preference_accuracy": lambda i: 0.6 + jitter(i, 0.1)}, WATCH, family="preference",
            config={"max_steps": 60_000}),
        Boundary("chance", lambda x: {"preference_accuracy": 0.5 + x}, WATCH, -1,
            family="preference", total=lambda x: 60_000),
        Boundary("errors",
            lambda x: {"preference_accuracy": lambda i: 0.5 + 0.215 * (-1) ** i * 2.0 / x}, WATCH,
            1, family="preference", total=lambda x: 60_000),
        Boundary("late", lambda x: {"preference_accuracy": 0.5}, WATCH, family="preference",
            total=lambda x: 60_000 / x, step=0.06),
    )


class TestPreferenceNotLearned(RuleTests):
    """Loss of preferences stays at its start."""

    rule = "preference-not-learned"
    examples = (
        RuleCase({"total_loss": lambda i: 0.693 + jitter(i, 0.002)},
            {"total_loss": lambda i: 0.693 - 0.001 * i}, WATCH, family="preference"),
        Contrast("the loss never left its start", {"total_loss": 0.693},
            {"total_loss": lambda i: 0.6 if i == 5 else 0.693}, WATCH, 0, family="preference"),
        Contrast("the run is over", {"total_loss": 0.693}, {}, WARN, WATCH, family="preference",
            log=ENDED, otherwise_log=RowLog()),
        Contrast("a run that is over has five records", {"total_loss": 0.693}, {}, WARN, 0,
            family="preference", count=5, otherwise_count=4, log=ENDED),
        Contrast("the loss did not rise either", {"total_loss": at(20, 0.703, 0.693)},
            {"total_loss": at(20, 0.71, 0.693)}, WATCH, 0, family="preference"),
        Boundary("near",
            lambda x: {"total_loss": lambda i: math.log(2) * (1 - x) if i == 20 else 0.693}, WATCH,
            -1, family="preference"),
        Boundary("late", lambda x: {"total_loss": 0.693}, WARN, family="preference",
            total=lambda x: 60_000 / x, step=0.06),
    )
