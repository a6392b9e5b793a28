"""Diagnoses around the KL to the reference: sampler, controller, penalty, old log-probs."""

from __future__ import annotations

from ppo_top.rules.book.diagnoses.shared import DIAGNOSIS_PERSISTENCE, last_value
from ppo_top.rules.book.llm.reference_kl import reference_kl
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.terms import CRIT, LLM_FAMILIES, RLHF, WARN, WATCH
from ppo_top.rules.engine.wording import num


def sampler_exploited(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Reward rises while the KL to the reference is negative."""
    if run.severity_of("ref-kl-negative") < WARN:
        return None
    if not run.rising:
        return borderline(0.0)
    kl = reference_kl(run)
    value = kl.last if kl is not None else 0.0
    message = f"reward rises by exploiting the sampler: KL to the reference is {num(value)}"
    return Assessment(CRIT, value, 0.0, message)


def controller_saturated(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL controller cannot limit the KL."""
    if run.severity_of("kl-coef-rising") < WARN:
        return None
    if run.severity_of("ref-kl-high") < WATCH:
        return borderline(0.0)
    value = last_value(run, "ref_kl")
    coefficient = last_value(run, "kl_coef")
    message = f"KL controller is saturated: coefficient {num(coefficient)}, KL {num(value)}"
    return Assessment(CRIT, value, None, message)


def penalty_blocks(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL penalty prevents learning."""
    if run.severity_of("kl-penalty-dominates") < WARN:
        return None
    if not run.flat:
        return borderline(0.0)
    cost = last_value(run, "non_score_reward")
    message = f"KL penalty {num(cost)} stops learning: it outweighs the score, and reward is flat"
    return Assessment(WARN, cost, None, message)


def disagree_at_start(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Old and new log-probs differ before anything is learned."""
    ratio, rate = run.histories["ratio_mean"], run.histories.get("lr")
    if limits["low"] <= ratio.last <= limits["high"]:
        return None
    if rate is not None and rate.high >= limits["rate"]:
        return None  # one such update moves the ratio as far
    if ratio.count > limits["updates"]:
        return borderline(ratio.last)
    message = (
        f"ratio {num(ratio.last)} in update {ratio.count}: old and new log-probs disagree "
        "before there was an update to speak of"
    )
    return Assessment(CRIT, ratio.last, 1.0, message)


RULES = (
    Rule(
        id="sampler-exploited",
        title="Reward gain may be a sampler-mismatch artefact",
        description="the reward rises while the KL to the reference is negative",
        concepts=("ref_kl", "reward_mean"),
        assess=sampler_exploited,
        needs=("ref-kl-negative",),
        families=LLM_FAMILIES,
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("the gain comes from generation settings, not from the policy",),
        remedies=("sample with top_k=0, top_p=1, temperature 1", "no minimum length, mask padding"),
        source="TRL's guide: KL should stay positive; trl#235",
        grade="A",
        members=("ref-kl-negative",),
    ),
    Rule(
        id="kl-controller-saturated",
        title="KL controller saturated",
        description="the KL coefficient rises, and so does the KL",
        concepts=("kl_coef", "ref_kl"),
        assess=controller_saturated,
        needs=("kl-coef-rising",),
        families=LLM_FAMILIES,
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("updates too large for the controller",),
        remedies=("lower {learning_rate}", "start with a larger {kl_penalty}"),
        source="TRL's guide: kl_coef 'often increases before numerical instabilities'",
        members=("kl-coef-rising", "ref-kl-high", "drift-without-gain"),
    ),
    Rule(
        id="kl-penalty-too-strong",
        title="KL penalty too strong",
        description="the KL penalty outweighs the score, and the reward is flat",
        concepts=("non_score_reward", "reward_mean"),
        assess=penalty_blocks,
        needs=("kl-penalty-dominates",),
        families=frozenset({RLHF}),
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("KL penalty larger than any gain in score",),
        remedies=("lower the KL penalty: {kl_penalty}", "lower {learning_rate} if the KL is large"),
        source="TRL practice: the KL penalty 'should not dominate rewards'",
        members=("kl-penalty-dominates", "reward-never-moves", "reward-plateau"),
    ),
    Rule(
        id="logprobs-disagree",
        title="Log-prob mismatch from the start",
        description="the probability ratio is off 1 in the very first updates",
        concepts=("ratio_mean",),
        assess=disagree_at_start,
        judged_at=("ratio_mean",),
        families=LLM_FAMILIES,
        limits={"updates": 3, "low": 0.9, "high": 1.1, "rate": 1e-3},
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("dropout, dtype, padding or temperature differ between old and new log-probs",),
        remedies=(
            "policy in eval mode while old log-probs are computed",
            "the same code path, dtype and temperature for both",
        ),
        source="The N implementation details of RLHF with PPO",
        grade="B",
        members=("ratio-off",),
    ),
)
