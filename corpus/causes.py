"""The cause behind each fault, and what a sentence must say to name it: fixed before judging.

A finding lists its causes as sentences, most likely first. A sentence names each cause whose words
it holds. Naming k causes at once counts 1/k, and so does naming another cause of a class of k that
leave the same trace; more than `MOST_NAMED` at once count nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MOST_NAMED = 3

CAUSE_WORDS: Mapping[str, str] = {
    "step too large": r"rate (far )?(too|so) (high|large)|rate an order|too many epochs|too few "
    r"steps|(update|step)s? (is |are )?(far )?too large|range too wide|not normalised|overshoot|"
    r"batch(es)? (is |are )?too small|no optimiser survives|target too high",
    "step too small": r"rate (far )?too (low|small)|frozen|clipped to almost|range far too narrow|"
    r"(never|not|no longer|nothing is) (being )?(trained|updated)|learning_starts|still fills|"
    r"learner is not running|learning rate (is |of )?(0|zero)|schedule|target too low|"
    r"penalty (far )?(too strong|larger)",
    "too much exploration": r"too much exploration|(bonus|coefficient) (far )?too (high|large)|"
    r"epsilon|exploration (rate|noise|stays|is)|random actions|noise too|std.* (unbounded|grow)|"
    r"target entropy|temperature (too|runs|ran)",
    "too little exploration": r"too little exploration|bonus too small|too small or negative|"
    r"deterministic",
    "constant reward": r"never changes|same reward|constant|never reached|one value|reward is "
    r"always|independent of the actions",
    "sign": r"\bsign\b",
    "scale": r"reward scale|different scales|not scaled|far too large for|returns too large|"
    r"reward outlier|extreme reward|noise in the reward|rewards? (far )?too large",
    "observations or environment": r"observation|environment|the input data changed|statistics",
    "weights lost": r"checkpoint|reload|weights (were|are|of|lost|reset|drawn)|resume",
    "critic": r"critic (is |was )?(not trained|untrained|too small|frozen|never|lags|cannot)|value "
    r"coefficient|target network|\btau\b|value clip|critic.s targets|targets too large",
    "horizon": r"discount|gamma",
    "not a number": r"\bnan\b|infinite|overflow|exploding|division by zero|unhandled",
    "length": r"length limit|length bias|does not learn to stop|until the length",
    "over-optimisation": r"shortcut|over-optimi|exploit|favours drift|easier component|penalty too "
    r"weak",
}
"""cause -> what names it in a sentence (a regular expression, without regard to case)"""

FAULTS_BY_CAUSE: Mapping[str, Sequence[str]] = {
    "step too large": (
        "lr-x100", "lr-x30", "lr-x100-midway", "clip-off", "clip-off-lr-x10", "epochs-80",
        "advantages-raw", "rollout-tiny", "kl-limit-x500", "iterations-32",
    ),
    "step too small": (
        "lr-1e-8", "gradient-tiny", "clip-tiny", "lr-0-midway", "policy-frozen-midway",
        "kl-limit-tiny", "collecting-only", "lr-x0.001", "beta-x1000",
    ),
    "too much exploration": (
        "entropy-bonus", "noise-raised-midway", "epsilon-stuck", "epsilon-back-midway",
        "ent-coef-50", "target-entropy-5", "action-noise-5", "temperature-5",
    ),
    "too little exploration": ("entropy-punished", "epsilon-short", "temperature-0.1"),
    "constant reward": ("reward-zero", "reward-one", "reward-constant"),
    "sign": ("reward-flipped", "reward-flipped-midway", "loss-reversed"),
    "scale": ("reward-x1000", "reward-x1000-midway", "reward-noise"),
    "observations or environment": (
        "observations-zero", "observations-zero-midway", "observations-x1e4",
        "actions-random-midway", "actions-weak",
    ),
    "weights lost": ("weights-reloaded-midway", "critic-reset-midway"),
    "critic": (
        "critic-untrained", "value-clip-tiny", "target-frozen", "target-copied", "critic-frozen",
    ),
    "horizon": ("gamma-0",),
    "not a number": ("reward-nan-midway",),
    "length": ("limit-short",),
    "over-optimisation": ("length-hack",),
}  # fmt: skip
CAUSE_BY_FAULT = {fault: cause for cause, faults in FAULTS_BY_CAUSE.items() for fault in faults}

SAME_TRACE_FROM_START = (
    frozenset({"step too small", "constant reward", "observations or environment"}),
    frozenset({"scale", "critic"}),
    frozenset({"step too large", "too little exploration"}),
)
"""A policy that never improves, a critic that cannot fit, a policy that commits too early."""

SAME_TRACE_MIDWAY = (
    frozenset({"sign", "observations or environment", "weights lost"}),
    frozenset({"scale", "critic"}),
)
"""A fall of what had been learned, a critic that is suddenly wrong."""


def named_causes(sentence: str) -> frozenset[str]:
    """The causes that a sentence names."""
    text = sentence.lower()
    return frozenset(cause for cause, words in CAUSE_WORDS.items() if re.search(words, text))


def credit(meta: Mapping[str, Any], sentences: Iterable[str]) -> float:
    """How right the best of the sentences is about a run: 1, 1/k, or 0."""
    return max((_credit_of(meta, named_causes(each)) for each in sentences), default=0.0)


def _credit_of(meta: Mapping[str, Any], named: frozenset[str]) -> float:
    truth = CAUSE_BY_FAULT[meta["fault"]]
    if not 1 <= len(named) <= MOST_NAMED:
        return 0.0
    if truth in named:
        return 1.0 / len(named)
    classes = SAME_TRACE_MIDWAY if meta["onset_step"] else SAME_TRACE_FROM_START
    alike = next((each for each in classes if truth in each), frozenset[str]())
    return 1.0 / max(len(alike), len(named)) if alike & named else 0.0
