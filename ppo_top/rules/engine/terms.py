"""Short names that every rule uses: kinds of trainers, and how bad a finding is."""

from __future__ import annotations

from ppo_top.model import Severity

CTRL, RLHF, GRPO, UNKNOWN_FAMILY = "ctrl", "rlhf", "grpo", "unknown"
KNOWN_FAMILIES = frozenset({CTRL, RLHF, GRPO})
ALL_FAMILIES = KNOWN_FAMILIES | {UNKNOWN_FAMILY}
LLM_FAMILIES = frozenset({RLHF, GRPO})

UNCHECKED_ON_LLM = {RLHF: "D", GRPO: "D"}
"""Grades of a rule whose thresholds were checked on control tasks, but not on language models."""

FAMILY_NAMES = {
    CTRL: "control tasks",
    RLHF: "RLHF with a critic",
    GRPO: "GRPO and its relatives",
    UNKNOWN_FAMILY: "unknown trainers",
}
"""What families are called in a sentence."""

REWARD_COMPONENT_PREFIX = "reward_component_mean{"
"""How the concepts of one reward function among several begin."""

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
