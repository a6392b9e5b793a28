"""Short names that every rule uses: families of algorithms and severities."""

from __future__ import annotations

from ppo_top.catalogue import (
    GRPO,
    OFF_POLICY,
    ON_POLICY,
    PREFERENCE,
    RLHF,
    UNKNOWN_FAMILY,
    VALUE_BASED,
)
from ppo_top.model import Severity

__all__ = [
    "ALL_FAMILIES",
    "CONTROL",
    "CRIT",
    "FAMILY_NAMES",
    "GRPO",
    "INFO",
    "LLM_FAMILIES",
    "NOT_LLM",
    "OFF_POLICY",
    "ON_POLICY",
    "POLICY_GRADIENT",
    "PREFERENCE",
    "REINFORCEMENT_LEARNING",
    "REWARD_COMPONENT_PREFIX",
    "RLHF",
    "UNCHECKED_ON_LLM",
    "UNKNOWN_FAMILY",
    "VALUE_BASED",
    "WARN",
    "WATCH",
]

CONTROL = frozenset({ON_POLICY, VALUE_BASED, OFF_POLICY})
"""Learning from episodes of an environment."""

NOT_LLM = CONTROL | {UNKNOWN_FAMILY}
"""Control, and runs that log too little to tell: most of these are control tasks."""

LLM_FAMILIES = frozenset({RLHF, GRPO})
"""Reinforcement learning of language models; preference training is none."""

POLICY_GRADIENT = LLM_FAMILIES | {ON_POLICY}
"""Families whose updates have a probability ratio, an update KL and an entropy."""

REINFORCEMENT_LEARNING = NOT_LLM | LLM_FAMILIES
"""Where there is a reward that should rise."""

ALL_FAMILIES = REINFORCEMENT_LEARNING | {PREFERENCE}

UNCHECKED_ON_LLM = {RLHF: "D", GRPO: "D"}
"""Grades of a rule whose thresholds were checked on control tasks but not on language models."""

FAMILY_NAMES = {
    ON_POLICY: "on-policy actor-critics",
    VALUE_BASED: "value-based algorithms",
    OFF_POLICY: "off-policy actor-critics",
    RLHF: "language models with a critic",
    GRPO: "language models without a critic",
    PREFERENCE: "preference training",
    UNKNOWN_FAMILY: "runs of an unknown kind",
}
"""Names of the families in a sentence."""

REWARD_COMPONENT_PREFIX = "reward_component_mean{"
"""Prefix of the metrics of one reward function among several."""

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
