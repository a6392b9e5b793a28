"""Which rules and diagnoses name each fault correctly: what a finding is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STEP_SIZE = (
    "kl-high",
    "kl-spike",
    "clip-high",
    "policy-loss-positive",
    "entropy-collapsed",
    "policy-collapsed",
    "entropy-swings",
    "reward-crash",
    "reward-swings",
    "updates-too-large",
    "learning-rate-too-high",
    "learning-rate-extreme",
    "premature-convergence",
)
NO_CLIP = (*STEP_SIZE, "clip-not-binding", "clip-too-wide")
STANDSTILL = (
    "no-op-updates",
    "entropy-constant",
    "entropy-not-falling",
    "learning-rate-extreme",
    "reward-never-moves",
    "nothing-learns",
)
ENTROPY_LOW = (
    "kl-high",
    "clip-high",
    "policy-loss-positive",
    "entropy-collapsed",
    "policy-collapsed",
    "action-spread-gone",
    "reward-crash",
    "reward-never-moves",
    "updates-too-large",
    "learning-rate-too-high",
    "premature-convergence",
)
ENTROPY_HIGH = (
    "entropy-not-falling",
    "action-spread",
    "reward-never-moves",
    "reward-wrong-way",
    "nothing-learns",
)
CRITIC = (
    "critic-not-learning",
    "explained-variance-dropped",
    "returns-changed",
    "value-loss-spike",
    "value-loss-rising",
    "reward-crash",
    "reward-never-moves",
    "critic-failing",
)
REWARD_SCALE = (
    "entropy-not-falling",
    "critic-not-learning",
    "reward-scale",
    "value-loss-spike",
    "reward-never-moves",
    "reward-scale-too-large",
)
BLIND_POLICY = (
    "critic-same-value",
    "no-op-updates",
    "entropy-collapsed",
    "entropy-not-falling",
    "critic-not-learning",
    "explained-variance-dropped",
    "returns-changed",
    "value-loss-spike",
    "reward-crash",
    "reward-never-moves",
    "reward-wrong-way",
    "environment-changed",
    "premature-convergence",
    "critic-failing",
    "nothing-learns",
)
REWARD_SIGN = (
    "entropy-collapsed",
    "policy-collapsed",
    "explained-variance-dropped",
    "returns-changed",
    "value-loss-spike",
    "reward-crash",
    "reward-never-moves",
    "reward-wrong-way",
    "environment-changed",
    "premature-convergence",
    "critic-failing",
)
STOPPED_LEARNING = (
    "no-op-updates",
    "learning-rate-zero",
    "learning-rate-cut",
    "learning-rate-jump",
    "reward-never-moves",
    "reward-plateau",
    "nothing-learns",
)
NOT_A_NUMBER = ("non-finite", "out-of-memory", "crashed", "numpy-warning", "diverged")
DRIFT = (
    "ref-kl-high",
    "ref-kl-token-high",
    "drift-without-gain",
    "reward-hacking",
    "kl-controller-saturated",
)
RUNAWAY_TEXT = (
    "entropy-explodes",
    "reward-crash",
    "reward-wrong-way",
    "completions-truncated",
    "length-runaway",
    "length-spread",
    "no-eos",
    "runaway-generation",
)
LARGE_STEP = (
    "kl-high",
    "kl-spike",
    "clip-high",
    "ratio-off",
    "grad-spike",
    "grad-high",
    "entropy-collapsed",
    "policy-collapsed",
    "reward-swings",
    "zero-variance-groups",
    "updates-too-large",
    "learning-rate-too-high",
    "learning-rate-extreme",
    "premature-convergence",
)
NO_LEARNING = (
    "no-op-updates",
    "grad-zero",
    "ref-kl-zero",
    "entropy-not-falling",
    "reward-never-moves",
    "zero-variance-groups",
    "reward-spread-gone",
    "nothing-learns",
    "no-learning-signal",
)

VALUES_GROW = ("actor-loss-large", "critic-loss-growing")
"""Of learners from a replay buffer: they have no other losses, and no explained variance."""

VALUES = ("action-values-wrong", *VALUES_GROW)

CONTROL_RULES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "lr-x100": (*STEP_SIZE, *VALUES_GROW),
    "lr-x30": (*STEP_SIZE, *VALUES_GROW),
    "lr-1e-8": (*STANDSTILL, "action-values-wrong"),
    "clip-off": NO_CLIP,
    "clip-off-lr-x10": NO_CLIP,
    "epochs-80": STEP_SIZE,
    "entropy-punished": ENTROPY_LOW,
    "entropy-bonus": ENTROPY_HIGH,
    "critic-untrained": CRITIC,
    "reward-x1000": REWARD_SCALE,
    "reward-zero": (*STANDSTILL, "critic-not-learning", "reward-wrong-way"),
    "reward-flipped": (*REWARD_SIGN, "action-values-wrong"),
    "observations-zero": BLIND_POLICY,
    "lr-x100-midway": (*STEP_SIZE, *VALUES_GROW, "learning-rate-jump"),
    "reward-flipped-midway": REWARD_SIGN,
    "reward-nan-midway": NOT_A_NUMBER,
    "observations-zero-midway": BLIND_POLICY,
    "critic-reset-midway": CRITIC,
    "reward-x1000-midway": (
        *REWARD_SCALE,
        "explained-variance-dropped",
        "returns-changed",
        "critic-failing",
    ),
    "gamma-0": (
        *STANDSTILL,
        "action-values-short",
        "returns-constant",
        "reward-wrong-way",
        "reward-plateau",
        "reward-swings",
    ),
    "gradient-tiny": (*STANDSTILL, "critic-not-learning"),
    "clip-tiny": (*STANDSTILL, "clip-high"),
    "value-clip-tiny": CRITIC,
    "advantages-raw": STEP_SIZE,
    "rollout-tiny": (*STEP_SIZE, "critic-not-learning", "reward-never-moves"),
    "observations-x1e4": (*BLIND_POLICY, *STEP_SIZE, *VALUES_GROW),
    "reward-noise": (
        *CRITIC,
        "entropy-not-falling",
        "reward-scale",
        "reward-swings",
        "critic-failing",
        "reward-scale-too-large",
    ),
    "lr-0-midway": STOPPED_LEARNING,
    "policy-frozen-midway": STOPPED_LEARNING,
    "actions-random-midway": BLIND_POLICY,
    "noise-raised-midway": (
        "kl-high",
        "clip-high",
        "action-spread",
        "entropy-swings",
        "explained-variance-dropped",
        "returns-changed",
        "value-loss-spike",
        "reward-crash",
        "updates-too-large",
        "environment-changed",
    ),
}
"""fault -> rules"""

NEVER_LEARNS = (*STANDSTILL, "critic-not-learning", "reward-wrong-way", "reward-plateau")
FELL = (*BLIND_POLICY, "kl-high", "clip-high", "entropy-swings", "updates-too-large")

OTHER_CONTROL_RULES: Mapping[str, tuple[str, ...]] = {
    "loss-reversed": (*REWARD_SIGN, *NEVER_LEARNS, *STEP_SIZE, *VALUES),
    "weights-reloaded-midway": (*FELL, "action-values-lost"),
    "kl-limit-x500": STEP_SIZE,
    "kl-limit-tiny": NEVER_LEARNS,
    "target-frozen": (*CRITIC, *NEVER_LEARNS, *VALUES, "action-values-short"),
    "target-copied": (*CRITIC, *NEVER_LEARNS, "reward-swings", *VALUES),
    "collecting-only": (*NEVER_LEARNS, "not-training", "updates-stuck"),
    "epsilon-stuck": (*ENTROPY_HIGH, *NEVER_LEARNS, "exploration-not-falling"),
    "epsilon-back-midway": (*ENTROPY_HIGH, "reward-crash", "exploration-not-falling"),
    "ent-coef-50": (*ENTROPY_HIGH, *NEVER_LEARNS, *REWARD_SCALE, *VALUES_GROW),
    "target-entropy-5": (
        *ENTROPY_HIGH,
        *NEVER_LEARNS,
        *REWARD_SCALE,
        *VALUES_GROW,
        "entropy-coefficient",
    ),
    "action-noise-5": (*ENTROPY_HIGH, *NEVER_LEARNS),
    "critic-frozen": (*CRITIC, *NEVER_LEARNS, *VALUES),
    "lr-x0.001": NEVER_LEARNS,
    "epsilon-short": NEVER_LEARNS,
    "reward-one": (*NEVER_LEARNS, "returns-constant"),
    "actions-weak": NEVER_LEARNS,
}
"""fault of other algorithms than PPO -> rules"""

LLM_FELL = (
    "reward-crash",
    "reward-wrong-way",
    "environment-changed",
    "entropy-swings",
    *RUNAWAY_TEXT,
)
"""What had been learned is lost."""

LLM_RULES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "lr-x0.001": (*NO_LEARNING, "preference-not-learned"),
    "beta-x1000": (*NO_LEARNING, "kl-penalty-dominates", "kl-penalty-too-strong"),
    "temperature-0.1": (
        *NO_LEARNING,
        "entropy-collapsed",
        "policy-collapsed",
        "premature-convergence",
        "reward-plateau",
    ),
    "temperature-5": (*NO_LEARNING, *RUNAWAY_TEXT),
    "reward-noise": (*NO_LEARNING, "reward-swings", "reward-scale", "reward-scale-too-large"),
    "clip-off-lr-x10": (*LARGE_STEP, *DRIFT, *RUNAWAY_TEXT, "clip-not-binding", "clip-too-wide"),
    "iterations-32": (*LARGE_STEP, *DRIFT, *RUNAWAY_TEXT, "reward-never-moves", "reward-plateau"),
    "loss-reversed": (
        *LLM_FELL,
        *DRIFT,
        *NO_LEARNING,
        "entropy-collapsed",
        "preference-inverted",
    ),
    "reward-flipped-midway": (*LLM_FELL, *DRIFT),
    "weights-reloaded-midway": (*LLM_FELL, "kl-spike", "kl-high", "ref-kl-zero"),
    "lr-x100": (*LARGE_STEP, *DRIFT, *RUNAWAY_TEXT, "non-finite"),
    "lr-x100-midway": (*LARGE_STEP, *DRIFT, *RUNAWAY_TEXT, "non-finite", "learning-rate-jump"),
    "reward-constant": NO_LEARNING,
    "limit-short": ("reward-never-moves", "completions-truncated", "no-eos"),
    "length-hack": (
        "ref-kl-high",
        "ref-kl-token-high",
        "drift-without-gain",
        "reward-parts-diverge",
        "completions-truncated",
        "length-runaway",
        "length-spread",
        "no-eos",
        "reward-hacking",
    ),
    "reward-nan-midway": (
        "non-finite",
        "hidden-nan",
        "out-of-memory",
        "crashed",
        "numpy-warning",
        "grad-zero",
        "zero-variance-groups",
        "reward-spread-gone",
        "diverged",
        "no-learning-signal",
    ),
}
"""fault -> rules"""


def accepted_rules(meta: Mapping[str, Any]) -> frozenset[str]:
    """The rules that name the fault of a run correctly, by its label.

    In algorithms without a clipped step, a fault shows in the reward before anything else: that
    nothing is learned, or that what was learned is lost, is right there too. PPO on a language
    model can show what a language model shows, and what PPO shows.
    """
    fault = meta["fault"]
    rules = CONTROL_RULES.get(fault) or OTHER_CONTROL_RULES.get(fault, ())
    if str(meta["producer"]).startswith("trl"):
        with_critic = meta["producer"] == "trl-ppo"
        return frozenset((*LLM_RULES.get(fault, ()), *(rules if with_critic else ())))
    if meta.get("algorithm", "PPO") == "PPO" or fault == "none":
        return frozenset(rules)
    by_onset = ("reward-crash", "reward-wrong-way") if meta["onset_step"] else NEVER_LEARNS
    return frozenset({*rules, *by_onset})
