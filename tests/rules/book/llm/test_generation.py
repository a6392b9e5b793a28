"""Completions of a language model: too long, truncated, without EOS, or drifting in length."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.courses import RISES, STILL, after, back, flat_reward, late, rising_reward
from tests.rules.specification import (
    CRIT,
    ENDED,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)


# fmt: off
class TestCompletionsTruncated(RuleTests):
    """Completions truncated."""

    rule = "completions-truncated"
    examples = (
        RuleCase({"truncated_frac": lambda i: min(0.95, 0.03 * i)},
            {"truncated_frac": lambda i: 0.2}, WATCH, family="grpo"),
        Contrast("it was so from the start", {"truncated_frac": 0.5},
            {"truncated_frac": after(10, 0.5, 0.05)}, WATCH, WARN, family="grpo"),
        Contrast("it grew by a tenth", {"truncated_frac": after(10, 0.406, 0.3)},
            {"truncated_frac": after(10, 0.394, 0.3)}, WARN, WATCH, family="grpo"),
        Contrast("all of them are", {"truncated_frac": 1.0}, {"truncated_frac": 0.99}, CRIT, WATCH,
            family="grpo"),
        Contrast("nine of ten are for twenty updates", {"truncated_frac": 0.95, **STILL}, {}, WARN,
            WATCH, family="grpo", count=23, otherwise_count=20),
        Contrast("more than nine of ten are", {"truncated_frac": 0.91, **STILL},
            {"truncated_frac": 0.89}, WARN, WATCH, family="grpo"),
        Contrast("the reward does not rise beside it", {"truncated_frac": 0.95, **STILL}, RISES,
            WARN, WATCH, family="grpo"),
        Contrast("nearly all text was always cut, and no reward comes of it",
            {"truncated_frac": 0.95, **STILL}, RISES, WARN, WATCH, family="grpo"),
        Contrast("text is cut in more than the very last updates",
            {"truncated_frac": after(55, 0.5, 0.05)}, {"truncated_frac": after(58, 0.5, 0.05)},
            WARN, 0, family="grpo", log=ENDED),
        Contrast("three of ten are", {"truncated_frac": after(10, 0.31, 0.1)},
            {"truncated_frac": after(10, 0.29, 0.1)}, WARN, 0, family="grpo"),
        Contrast("the last five rows were cut off whole", {"truncated_frac": 1.0},
            {"truncated_frac": lambda i: 0.9 if i % 5 == 0 else 1.0}, CRIT, WATCH, family="grpo"),
        Boundary("warn", late("truncated_frac", 0.05), WARN, family="grpo"),
        Boundary("crit", late("truncated_frac", 0.05, reward_mean=0.2), CRIT, family="grpo"),
        Clearing("clear", back("truncated_frac", 0.05, 0.6), family="grpo"),
    )


class TestLengthRunaway(RuleTests):
    """Completion length drifting."""

    rule = "length-runaway"
    examples = (
        RuleCase({"resp_len_mean": lambda i: 100 + 8.0 * i, "reward_mean": flat_reward},
            {"resp_len_mean": lambda i: 100 + 8.0 * i, "reward_mean": rising_reward}, WATCH,
            family="grpo"),
        Contrast("the reward does not rise", {"resp_len_mean": after(30, 250.0, 120.0), **STILL},
            RISES, WATCH, 0, family="grpo"),
        Contrast("it doubled", {"resp_len_mean": after(30, 246.0, 120.0), **STILL},
            {"resp_len_mean": after(30, 234.0, 120.0)}, WATCH, 0, family="grpo"),
        Contrast("three tenths are left", {"resp_len_mean": after(30, 35.0, 120.0), **STILL},
            {"resp_len_mean": after(30, 37.0, 120.0)}, WATCH, 0, family="grpo"),
        Contrast("longer answers have gained nothing",
            {"resp_len_mean": lambda i: 100.0 + 5.0 * i, **STILL},
            {"reward_mean": lambda i: 0.1 * min(i, 20)}, WATCH, 0, family="grpo"),
        Contrast("short answers are no shortcut to rewards",
            {"resp_len_mean": after(30, 30.0, 120.0), **STILL}, {"resp_len_mean": 120.0}, WATCH, 0,
            family="grpo"),
        Contrast("ten lengths make the usual one",
            {"resp_len_mean": lambda i: 100.0 if i < 4 else 110.0 if i < 10 else 223.0, **STILL},
            {"resp_len_mean": lambda i: 100.0 if i < 4 else 110.0 if i < 10 else 217.0}, WATCH, 0,
            family="grpo"),
    )


class TestLengthSpread(RuleTests):
    """Completion length std rising."""

    rule = "length-spread"
    examples = (
        RuleCase({"resp_len_std": lambda i: 8 + 2.0 * max(0, i - 15)},
            {"resp_len_std": lambda i: 8 + 0.2 * i}, WATCH, family="rlhf"),
        Contrast("it was not 0 at the start", {"resp_len_std": after(30, 90.0, 5.0)},
            {"resp_len_std": after(30, 90.0, 0.0)}, WATCH, 0, family="grpo"),
        Boundary("times", lambda x: {"resp_len_std": after(30, 8 * x, 8.0)}, WATCH, family="rlhf"),
    )


class TestNoEos(RuleTests):
    """No EOS in any completion."""

    rule = "no-eos"
    examples = (
        RuleCase({"truncated_frac": 1.0, "term_len_mean": None},
            {"truncated_frac": 0.9, "term_len_mean": 12.0}, WATCH, family="grpo"),
        Contrast("no completion ended", {"eos_count": None, "term_len_mean": 0.0},
            {"term_len_mean": 1.0}, WARN, 0, family="grpo"),
        Contrast("all were cut off", {"truncated_frac": 1.0}, {"truncated_frac": 0.99}, WARN, 0,
            family="grpo"),
        Contrast("none holds the token", {"eos_count": 0.0}, {"eos_count": 1.0}, WARN, 0,
            family="rlhf"),
    )


class TestPromptsChanged(RuleTests):
    """Prompt length changed."""

    rule = "prompts-changed"
    examples = (
        RuleCase({"query_len_mean": after(30, 80.0, 30.0)},
            {"query_len_mean": after(30, 40.0, 30.0)}, INFO, family="rlhf"),
        Contrast("they became shorter by half", {"query_len_mean": after(30, 14.6, 30.0)},
            {"query_len_mean": after(30, 15.4, 30.0)}, INFO, 0, family="rlhf"),
        Contrast("prompts had any length at the start", {"query_len_mean": after(30, 60.0, 30.0)},
            {"query_len_mean": after(30, 60.0, 0.0)}, INFO, 0, family="rlhf"),
        Contrast("ten prompts of each time are compared",
            {"query_len_mean": lambda i: 20.0 if i < 6 else 31.0},
            {"query_len_mean": lambda i: 20.0 if i < 5 else 31.0}, INFO, 0, family="rlhf"),
        Boundary("share", lambda x: {"query_len_mean": after(40, 30 * (1 + x), 30)}, Severity.INFO,
            family="rlhf"),
    )


class TestLogprobsShift(RuleTests):
    """Log-probs shifted."""

    rule = "logprobs-shift"
    examples = (
        RuleCase({"logprobs_p50": -2.0, "ref_logprobs_p50": lambda i: -2.4 - 0.03 * i},
            {"logprobs_p50": -2.0, "ref_logprobs_p50": lambda i: -2.4 - 0.016 * i}, WATCH,
            family="rlhf"),
        Contrast("the reference moves",
            {"logprobs_dist": -1.0, "ref_logprobs_dist": after(30, -3.05, -2.0)},
            {"ref_logprobs_dist": after(30, -2.95, -2.0)}, WATCH, 0, family="rlhf"),
        Contrast("it moves against the reference",
            {"logprobs_dist": after(30, -1.0, -2.05), "ref_logprobs_dist": -2.0},
            {"logprobs_dist": after(30, -1.0, -1.95)}, WATCH, 0, family="rlhf"),
        Contrast("it is nearly certain", {"logprobs_dist": -0.048, "ref_logprobs_dist": -0.5},
            {"logprobs_dist": -0.052}, INFO, 0, family="rlhf"),
        Contrast("the policy's own log-probs are logged",
            {"logprobs_dist": -1.0, "ref_logprobs_dist": after(30, -3.1, -2.0)},
            {"logprobs_dist": None}, WATCH, 0, family="rlhf"),
        Contrast("the reference's log-probs are logged",
            {"logprobs_dist": after(30, -1.0, -2.1), "ref_logprobs_dist": -2.0},
            {"ref_logprobs_dist": None}, WATCH, 0, family="rlhf"),
        Contrast("the reference is far less certain",
            {"logprobs_dist": -0.01, "ref_logprobs_dist": -0.35}, {"ref_logprobs_dist": -0.05},
            INFO, 0, family="rlhf"),
    )


class TestToolsFail(RuleTests):
    """Tool calls failing."""

    rule = "tools-fail"
    examples = (
        RuleCase({"tool_fail_freq": 0.8}, {"tool_fail_freq": 0.2}, WATCH, family="grpo"),
        Boundary("share", late("tool_fail_freq", 0.05), WATCH, family="grpo"),
    )
