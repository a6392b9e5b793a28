"""How far a language model has moved from its reference."""

from __future__ import annotations

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_most
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    CRIT,
    GRPO,
    INFO,
    LLM_FAMILIES,
    RLHF,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num


def reference_kl(run: JudgedRun) -> History | None:
    """The KL to the reference, per sequence or per token, whichever is logged."""
    return run.first_logged(("ref_kl", "ref_kl_token"))


def drifted(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL to the reference is high for a whole sequence.

    The sum grows with the length: a small KL per token is no fault, however long the answers are.
    """
    history = run.histories["ref_kl"]
    value = history.last
    if value <= limits["watch"]:
        return None
    message = f"policy has drifted {num(value)} nats from the reference (healthy <= 10)"
    length = run.value("resp_len_mean") or run.config_number("max_completion_length")
    each = value / length if length else None
    if each is not None and each <= limits["token"]:
        return Assessment(WATCH, value, limits["watch"], f"{message}, {num(each)} a token")
    far = value > limits["crit"] or (each is not None and each > limits["token_crit"])
    if far and run.stuck:
        return Assessment(CRIT, value, limits["watch"], message)
    level = WARN if value > limits["warn"] or _accelerates(history) else WATCH
    return Assessment(level, value, limits["watch"], message)


def _accelerates(history: History) -> bool:
    """Whether the last 20 points rose three times as far as the 20 before them."""
    if history.count < 40:
        return False
    recent = history.recent
    late, early = recent[-1] - recent[-20], recent[-20] - recent[-40]
    return late > 3 * max(early, 1.0)


def drifted_token(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL to the reference is high per token."""
    history = run.histories["ref_kl_token"]
    value = history.last
    if value <= limits["clear"]:
        return None
    message = f"policy has drifted {num(value)} nats per token from the reference (healthy <= 0.1)"
    limit = limits["clear"]
    if run.learned and run.rewarded_by_rules:  # drift is what the reward costs, within bounds
        if value > limits["once"]:
            return Assessment(WARN, value, limit, message)
        return Assessment(INFO, value, limit, f"{message}, and the reward pays for it")
    if value > limits["once"]:
        return Assessment(CRIT, value, limit, message, immediate=True)
    before = history.previous(20)
    if value > limits["warn"] and (
        value - min(before[-5:]) > limits["leap"] or value > limits["times"] * median(before)
    ):
        return Assessment(WARN, value, limit, message, immediate=True)
    if value > limits["crit"] and run.stuck:
        return Assessment(CRIT, value, limit, message)
    if value > limits["warn"]:
        return Assessment(WATCH if run.rising else WARN, value, limit, message)
    return borderline(value, limit)


def negative(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL to the reference is below zero, which only an estimate can be."""
    history = run.in_row(reference_kl(run))
    if history is None or history.last >= 0.0:
        return None
    value = history.last
    if "ref_kl" not in run.histories:
        return _negative_token(run, limits, history)
    message = (
        f"KL to the reference is negative ({num(value)}): "
        "the sampler's settings are being optimised, not the policy"
    )
    if value < limits["crit"]:
        return Assessment(CRIT, value, 0.0, message, immediate=True)
    if value < limits["noise"]:
        return Assessment(WARN, value, 0.0, message)
    return borderline(value)


def _negative_token(run: JudgedRun, limits: RuleLimits, history: History) -> Assessment | None:
    """A mean per token: k1 (log p - log q) is negative by chance, k3 never but for rounding."""
    value, is_k1 = history.last, run.facts.get("ref-kl-estimator") == "k1"
    if not is_k1 and value < limits["token_rounding"]:
        message = f"KL to the reference is {num(value)} a token: this estimate cannot be below 0"
        return Assessment(CRIT, value, 0.0, message)
    if history.level < limits["token_noise"]:
        message = (
            f"KL to the reference is negative ({num(value)} a token): "
            "text is not sampled from the policy that is trained"
        )
        return Assessment(WARN, value, 0.0, message)
    return borderline(value)


def stays_zero(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The policy never leaves its reference."""
    history = run.in_row(reference_kl(run))
    if history is None:
        return None
    if "ref-kl-0-without-reference" in run.facts and history.size == 0.0:
        return None
    small = limits["sequence"] if "ref_kl" in run.histories else limits["token"]
    if abs(history.level) >= small:
        return None
    if history.high > limits["left"] * small:
        message = f"KL to the reference fell from {num(history.high)} to {num(history.last)}"
        return Assessment(WATCH, history.last, small, f"{message}: back at the reference")
    if history.count < limits["points"] or not run.flat or run.gained:
        return None  # a policy that earns more has left it: such a KL is not measured
    late = history.count >= limits["late_points"]
    words = f"policy has not left its reference in {history.count} updates (KL {num(history.last)})"
    return Assessment(WATCH if late else INFO, history.last, small, words)


def drift_for_nothing(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL to the reference rises, the reward does not."""
    history = run.in_row(reference_kl(run))
    if history is None or not run.stuck:
        return None
    trend = history.trend(int(limits["points"]))
    early, late = trend.values[0], trend.values[-1]
    if trend.tau <= limits["tau"]:
        return None
    if "ref_kl" in run.histories:
        far = late >= limits["floor"] and late - early >= limits["nats"]
    else:
        far = late >= limits["token_floor"] and late > limits["times"] * early
    if not far:
        return None
    message = f"KL to the reference climbs ({num(early)} -> {num(late)}) and reward does not"
    return Assessment(WARN, late, None, message)


def _kl_never_negative(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return min(block.low("ref_kl"), block.low("ref_kl_token")) >= 0.0


REFERENCE_KL_REMEDIES = (
    "raise the KL penalty: {kl_penalty}",
    "lower {learning_rate}",
    "stop at the best evaluated checkpoint",
    "a better reward model, or several",
)


TRL_RANGE = "TRL: KL to the reference 0 to 10; adaptive target 6"


RULES = (
    Rule(
        id="ref-kl-high",
        title="KL to reference too high",
        description="the KL to the reference, summed over a sequence, is high",
        concepts=("ref_kl",),
        related=("kl_coef", "resp_len_mean"),
        assess=drifted,
        families=LLM_FAMILIES,
        limits={
            "token_crit": 0.5,
            "watch": 10.0,
            "warn": 20.0,
            "crit": 50.0,
            "token": 0.1,
            "warmup": 3,
        },
        ranks_causes=True,
        causes=("KL penalty too weak for the learning rate", "the reward model favours drift"),
        remedies=REFERENCE_KL_REMEDIES,
        source=TRL_RANGE,
        grade="A",
    ),
    Rule(
        id="ref-kl-token-high",
        title="Per-token KL to reference too high",
        description="the KL to the reference per token is high",
        concepts=("ref_kl_token",),
        related=("entropy", "resp_len_mean"),
        assess=drifted_token,
        stays_calm=at_most("ref_kl_token", "clear"),
        families=LLM_FAMILIES,
        limits={
            "times": 10,
            "clear": 0.1,
            "warn": 0.3,
            "leap": 0.5,
            "crit": 1.0,
            "once": 5.0,
            "warmup": 2,
        },
        ranks_causes=True,
        causes=("KL penalty too weak for the learning rate", "the reward model favours drift"),
        remedies=REFERENCE_KL_REMEDIES,
        source="TRL's GRPO guide: see that the policy does not stray too far; verl's target is 0.1",
        grade="C",
    ),
    Rule(
        id="ref-kl-negative",
        title="Negative KL to reference",
        description="the estimated KL to the reference stays below zero, or falls far below it",
        concepts=("ref_kl",),
        assess=negative,
        stays_calm=_kl_never_negative,
        judged_at=("ref_kl", "ref_kl_token"),
        families=LLM_FAMILIES,
        limits={
            "token_rounding": -0.001,
            "crit": -1.0,
            "noise": -0.05,
            "token_noise": -0.01,
            "warmup": 2,
        },
        persistence={WARN: (5, 5), CRIT: (3, 5)},
        causes=(
            "sampling differs from the policy's distribution (top-k, top-p, min length)",
            "padding tokens counted, or dropout active",
        ),
        remedies=(
            "sample with top_k=0, top_p=1, temperature 1, no minimum length",
            "mask padding; policy in eval mode while log-probs are computed",
            "the same dtype for policy and reference",
        ),
        source="TRL's guide: objective/kl 'should stay positive'; its own warning below -1",
        grade="A",
    ),
    Rule(
        id="ref-kl-zero",
        title="Policy stuck at the reference",
        description="the KL to the reference stays near zero, or returns there",
        concepts=("ref_kl",),
        assess=stays_zero,
        judged_at=("ref_kl", "ref_kl_token"),
        families=LLM_FAMILIES,
        limits={
            "points": 50,
            "late_points": 150,
            "sequence": 0.01,
            "token": 1e-4,
            "left": 30.0,
            "warmup": 20,
        },
        persistence=k_of_n(8, 10),
        causes=(
            "learning rate too low, or KL penalty too strong",
            "adapter not trainable",
            "weights or reference loaded anew",
        ),
        remedies=(
            "raise {learning_rate}",
            "lower the KL penalty: {kl_penalty}",
            "check that the adapter is on and the reference does not share weights",
        ),
        source="TRL practice: KL that falls means under-training",
    ),
    Rule(
        id="drift-without-gain",
        title="KL to reference rising without reward",
        description="the KL to the reference climbs while the reward does not",
        concepts=("ref_kl",),
        related=("ref_kl_token",),
        assess=drift_for_nothing,
        judged_at=("ref_kl", "ref_kl_token"),
        families=frozenset({RLHF, GRPO}),
        limits={
            "points": 25,
            "tau": 0.5,
            "times": 2,
            "nats": 2.0,
            "floor": 5.0,
            "token_floor": 0.1,
            "warmup": 25,
        },
        persistence=k_of_n(3, 3),
        ranks_causes=True,
        causes=("reward over-optimisation, or a learning rate that only adds noise",),
        remedies=REFERENCE_KL_REMEDIES[:3],
        source="TRL practice: KL that rises means over-optimisation; Gao et al. 2210.10760",
    ),
)
