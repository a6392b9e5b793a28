"""Short names that every rule uses: trainer families and severities."""

from __future__ import annotations

from ppo_top.model import Severity

CTRL, RLHF, GRPO, UNKNOWN_FAMILY = "ctrl", "rlhf", "grpo", "unknown"
KNOWN_FAMILIES = frozenset({CTRL, RLHF, GRPO})
ALL_FAMILIES = KNOWN_FAMILIES | {UNKNOWN_FAMILY}
LLM_FAMILIES = frozenset({RLHF, GRPO})

UNCHECKED_ON_LLM = {RLHF: "D", GRPO: "D"}
"""Grades of a rule whose thresholds were checked on control tasks but not on language models."""

FAMILY_NAMES = {
    CTRL: "control tasks",
    RLHF: "RLHF with a critic",
    GRPO: "GRPO and variants",
    UNKNOWN_FAMILY: "unknown trainers",
}
"""Names of the families in a sentence."""

REWARD_COMPONENT_PREFIX = "reward_component_mean{"
"""Prefix of the metrics of one reward function among several."""

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
