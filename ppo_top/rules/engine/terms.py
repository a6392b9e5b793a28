"""Short names that every rule uses: kinds of trainers, and how bad a finding is."""

from __future__ import annotations

from ppo_top.model import Severity

CTRL, RLHF, GRPO, UNKNOWN = "ctrl", "rlhf", "grpo", "unknown"
KNOWN = frozenset({CTRL, RLHF, GRPO})
EVERY = KNOWN | {UNKNOWN}
LLM = frozenset({RLHF, GRPO})

NOT_ON_TEXT = {RLHF: "D", GRPO: "D"}
"""Grades of a rule whose thresholds were checked on control tasks, but not on language models."""

NAMES = {
    CTRL: "control tasks",
    RLHF: "RLHF with a critic",
    GRPO: "GRPO and its relatives",
    UNKNOWN: "unknown trainers",
}
"""What families are called in a sentence."""

PART = "reward_component_mean{"
"""How the concepts of one reward function among several begin."""

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
