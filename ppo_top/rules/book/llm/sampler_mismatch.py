"""The sampler's probabilities against those of the trainer."""

from __future__ import annotations

import math

from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.terms import CRIT, GRPO, WARN, WATCH
from ppo_top.rules.engine.wording import num

MISMATCH_CONCEPTS = ("logp_diff_mean", "is_ratio_mean", "rollout_kl", "ess", "staleness")


def sampler_differs(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Log-probs, importance ratios or KL between sampler and trainer are off."""
    assessments = [
        assessment
        for concept, check in _CHECKS
        if (value := run.value(concept, 0)) is not None
        and (assessment := check(run, limits, value)) is not None
    ]
    return max(assessments, key=lambda each: each.level, default=None)


def _gap(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment | None:
    scale = limits["of_probabilities"] if "logp-diff-of-probabilities" in run.facts else 1.0
    value_in = abs(value) / scale
    if value_in <= limits["clear_share"] * limits["gap"]:
        return None
    message = f"sampler and trainer disagree: mean gap of log-probs {num(value)}"
    bad, worst = value_in > limits["gap"], value_in > limits["gap_crit"]
    return _graded(value, limits["gap"] * scale, message, bad, worst)


def _graded(value: float, limit: float, message: str, bad: bool, worst: bool) -> Assessment:
    if not bad:
        return borderline(value)
    return Assessment(CRIT if worst else WARN, value, limit, message)


def _ratio(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment | None:
    message = f"mean importance ratio of trainer to sampler {num(value)} (should be 1)"
    if _masked_sequences(run):
        gap = run.value("logp_diff_mean")
        bad = value < limits["sequences"] and gap is not None and gap > limits["sequence_gap"]
        return Assessment(WARN, value, limits["sequences"], message) if bad else None
    far = max(value, 1.0 / value) if value > 0.0 else math.inf
    if far > limits["ratio_crit"]:
        return Assessment(CRIT, value, 1.0, message)
    return Assessment(WARN, value, 1.0, message) if far > limits["ratio"] else None


SEQUENCE_CAP = 3.0
"""TRL's default cap of the ratios of whole sequences."""


def _masked_sequences(run: JudgedRun) -> bool:
    """Ratios of whole sequences are far from 1 by construction, and capped at 3."""
    mode = run.config.get("importance_sampling_mode")
    if isinstance(mode, str):
        return mode.startswith("sequence")
    low, high = run.histories.get("is_ratio_min"), run.histories.get("is_ratio_max")
    if "is-ratio-unmasked" in run.facts or low is None or high is None:
        return False
    return low.low <= 0.0 and high.high <= SEQUENCE_CAP


def _kl(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment | None:
    size = abs(value)
    if size <= limits["clear_share"] * limits["kl"]:
        return None
    message = f"KL between sampler and trainer {num(value)} (healthy below 0.01)"
    limit = limits["kl"]
    return _graded(value, limit, message, size > limit, size > limits["kl_crit"])


def _samples(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment | None:
    if value >= limits["ess_clear"]:
        return None
    message = f"effective sample size {num(value)} (healthy above 0.5)"
    limit = limits["ess"]
    return _graded(value, limit, message, value < limit, value < limits["ess_crit"])


def _stale(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment | None:
    history = run.histories["staleness"]
    start = history.initial_level
    if history.count < limits["stale_points"] or not history.rising():
        return None
    if value < limits["stale_times"] * max(start, limits["stale"]):
        return None
    words = f"samples grow stale: {num(value)} updates old, {num(start)} at the start"
    return Assessment(WATCH, value, None, words)


_CHECKS = (
    ("logp_diff_mean", _gap),
    ("is_ratio_mean", _ratio),
    ("rollout_kl", _kl),
    ("ess", _samples),
    ("staleness", _stale),
)

RULES = (
    Rule(
        id="sampler-mismatch",
        title="Sampler/trainer mismatch",
        description="the sampler's probabilities differ from the trainer's",
        concepts=("logp_diff_mean",),
        related=MISMATCH_CONCEPTS[1:],
        assess=sampler_differs,
        judged_at=MISMATCH_CONCEPTS,
        families=frozenset({GRPO}),
        limits={
            "clear_share": 0.5,
            "sequences": 0.2,
            "sequence_gap": 0.05,
            "ratio": 2.0,
            "ratio_crit": 10.0,
            "ess_clear": 0.5,
            "gap": 0.1,
            "gap_crit": 0.5,
            "of_probabilities": 0.1,
            "kl": 0.1,
            "kl_crit": 0.5,
            "ess": 0.3,
            "ess_crit": 0.1,
            "stale_points": 20,
            "stale_times": 2.0,
            "stale": 1.0,
            "warmup": 2,
        },
        persistence={WATCH: (4, 5), WARN: (4, 5), CRIT: (3, 5)},
        causes=(
            "different numerics in the sampler (dtype, kernels, quantised cache)",
            "stale sampler weights, or a different temperature, top-p or top-k",
        ),
        remedies=(
            "the same dtype in both; a full-precision output layer",
            "refresh the sampler's weights after every update",
            "correct for it: see that {importance_sampling_correction:off} is on",
            "the same {temperature:name}, top_p and top_k in both",
        ),
        source="verl's documentation on rollout correction; When Speed Kills Stability; trl#4159",
        grade="A",
    ),
)
