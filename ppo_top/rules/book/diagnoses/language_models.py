"""Diagnoses for language models: reward hacking, runaway text, no signal, sampler mismatch."""

from __future__ import annotations

import math

from ppo_top.rules.book.diagnoses.shared import (
    BEST_CHECKPOINT_REMEDY,
    DIAGNOSIS_PERSISTENCE,
    last_value,
)
from ppo_top.rules.book.llm.generation import LENGTH_VALUES
from ppo_top.rules.book.llm.grpo_signal import SOLVED, is_nearly_solved
from ppo_top.rules.book.llm.reference_kl import reference_kl
from ppo_top.rules.book.updates.optimiser import gradient_trebled
from ppo_top.rules.engine.judged_run import RECENT_ROWS, JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, GRPO, LLM_FAMILIES, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct


def hacking(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Reward and KL rise together while length, evaluation or a reward component drifts."""
    kl = reference_kl(run)
    high = max(run.severity_of("ref-kl-high"), run.severity_of("ref-kl-token-high")) >= WATCH
    climbs = kl is not None and kl.count >= limits["points"] and kl.rising()
    if not (climbs or high):
        return None
    if not (run.rising or run.keeps_gain):
        return None
    worse = run.severity_of("eval-gap") >= WARN
    length = run.histories.get("resp_len_mean")
    start = length.baseline(LENGTH_VALUES) if length is not None else 0.0
    moved = 0.0
    if length is not None and length.count >= limits["points"] and start > 0.0:
        moved = length.level / start - 1.0
    signs = []
    if worse:
        signs.append("evaluation falls")
    # longer answers that rules reward, near the reference, are how a model learns to reason
    if abs(moved) >= limits["length"] and (high or not run.rewarded_by_rules):
        signs.append(f"completion length {moved:+.0%}")
    if run.severity_of("reward-parts-diverge") >= WATCH:
        signs.append("one part of the reward falls")
    if not signs:
        return borderline(0.0)
    words = " and ".join(signs)
    message = f"likely reward hacking or over-optimisation: reward and KL rise while {words}"
    return Assessment(CRIT if worse else WARN, kl.last if kl is not None else 0.0, None, message)


def no_signal(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """All groups have zero reward variance and the gradient is zero."""
    share = run.value("frac_zero_std", RECENT_ROWS)
    worst = max(run.severity_of("zero-variance-groups"), run.severity_of("reward-spread-gone"))
    if worst < WARN:
        return None
    gradient, gone = run.histories.get("grad_norm"), False
    if gradient is not None and gradient.high > 0.0:
        usual = gradient.recent_median(int(limits["points"]))
        gone = gradient.last < max(limits["share"] * usual, limits["gradient"])
    if (share is not None and share < 1.0) or not (gone or share is not None):
        return borderline(0.0)
    message = "all rewards are equal" + (" within each group" if share is not None else "")
    message += ", the gradient is zero" if gone else ""
    level = CRIT if gone or worst >= CRIT else WARN
    if is_nearly_solved(run, SOLVED):
        level, message = WATCH, message + " (most are solved)"
    return Assessment(level, last_value(run, "frac_zero_std"), None, message)


def mismatch_collapse(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Sampler and trainer disagree while gradients, entropy or reward go wrong."""
    if run.severity_of("sampler-mismatch") < WARN:
        return None
    if not (gradient_trebled(run) or run.rises("entropy") or run.falling):
        return borderline(0.0)
    gap = last_value(run, "logp_diff_mean")
    words = "" if math.isnan(gap) else f" (log-probs differ by {num(gap)})"
    message = f"the mismatch of sampler and trainer{words} is driving a collapse"
    return Assessment(CRIT, gap, None, message)


def runaway(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Entropy rises, completions are truncated and the reward falls."""
    if run.severity_of("entropy-explodes") < WATCH:
        return None
    cut = run.histories.get("truncated_frac")
    longer = run.severity_of("completions-truncated") >= WARN or (
        cut is not None and cut.level > limits["cut"] and cut.rising()
    )
    if not (longer and (run.falling or gradient_trebled(run))):
        return borderline(0.0)
    share = last_value(run, "truncated_frac")
    message = f"entropy rises, {pct(share)} of the text runs to the limit"
    return Assessment(CRIT, share, None, message)


RULES = (
    Rule(
        id="reward-hacking",
        title="Possible reward hacking",
        description="reward and KL rise together while another metric drifts or falls",
        concepts=("reward_mean", "ref_kl", "ref_kl_token"),
        assess=hacking,
        families=LLM_FAMILIES,
        limits={"points": 25, "length": 0.3},
        persistence=k_of_n(3, 5),
        causes=("the policy exploits the reward instead of the intended task",),
        remedies=(
            "read samples now",
            "raise the KL penalty: {kl_penalty}",
            "punish length, or combine several rewards",
            "stop at the best evaluated checkpoint",
        ),
        source="TRL's guide on over-optimisation; Gao et al. 2210.10760",
        members=(
            "ref-kl-high",
            "ref-kl-token-high",
            "length-runaway",
            "eval-gap",
            "reward-parts-diverge",
            "rlhf-reward-falls",
        ),
    ),
    Rule(
        id="no-learning-signal",
        title="No learning signal",
        description="all groups have zero reward variance and the gradient is zero",
        concepts=("frac_zero_std", "grad_norm"),
        assess=no_signal,
        needs=("zero-variance-groups", "reward-spread-gone"),
        families=frozenset({GRPO}),
        limits={"share": 0.01, "points": 30, "gradient": 1e-06},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("every completion gets the same reward",),
        remedies=(
            "prompts of mixed difficulty, partial credit",
            "more completions a prompt: {num_generations}",
            "check that the reward function returns more than one value",
        ),
        source="autocontext#1067; DAPO",
        grade="B",
        members=("zero-variance-groups", "reward-spread-gone", "grad-zero", "reward-never-moves"),
    ),
    Rule(
        id="mismatch-collapse",
        title="Collapse from sampler mismatch",
        description="sampler and trainer disagree while gradients, entropy or reward go wrong",
        concepts=("logp_diff_mean", "reward_mean"),
        assess=mismatch_collapse,
        needs=("sampler-mismatch",),
        families=frozenset({GRPO}),
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("the data do not come from the policy being trained",),
        remedies=(
            "the same dtype in sampler and trainer",
            "refresh the sampler's weights after every update",
            "correct for it: see that {importance_sampling_correction:off} is on",
        ),
        source="verl's documentation; When Speed Kills Stability",
        grade="B",
        members=("sampler-mismatch", "grad-high", "grad-spike", "entropy-explodes", "reward-crash"),
    ),
    Rule(
        id="runaway-generation",
        title="Runaway generation",
        description="entropy rises, completions are truncated and the reward falls",
        concepts=("entropy", "truncated_frac", "reward_mean"),
        assess=runaway,
        needs=("entropy-explodes",),
        families=LLM_FAMILIES,
        limits={"cut": 0.1},
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("the policy rambles until the length limit",),
        remedies=(
            BEST_CHECKPOINT_REMEDY,
            "lower {learning_rate}",
            "see that {mask_truncated_completions:off} is on",
            "raise the KL penalty: {kl_penalty}",
        ),
        source="verl#1051, verl#1066",
        grade="B",
        members=(
            "entropy-explodes",
            "completions-truncated",
            "length-runaway",
            "reward-crash",
            "grad-high",
        ),
    ),
)
