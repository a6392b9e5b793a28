"""Diagnoses of stalled learning: no entropy, no critic, wrong reward scale or no learning rate."""

from __future__ import annotations

from ppo_top.rules.advice.rate_symptoms import is_cut
from ppo_top.rules.book.critic.explained_variance import MAY_LEARN
from ppo_top.rules.book.diagnoses.shared import (
    DIAGNOSIS_PERSISTENCE,
    last_value,
    last_value_text,
)
from ppo_top.rules.book.updates.learning_rate import rate_never_decayed
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import levels, start_level
from ppo_top.rules.engine.history import LEVEL_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import RESOLVED, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, INFO, POLICY_GRADIENT, UNCHECKED_ON_LLM, WARN, WATCH
from ppo_top.rules.engine.wording import num


def premature(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """No exploration left and the reward is stuck."""
    entropy, reward = run.severity_of("entropy-collapsed"), run.reward
    if not entropy or reward is None or reward.at_max:
        return None
    goal = run.profile.goal
    missed = goal is not None and run.severity_of("reward-plateau") and reward.best < goal
    if not ((entropy >= WARN and reward.stuck) or missed):
        return borderline(0.0)
    far = not (reward.gained or reward.is_up) or (
        goal is not None and reward.best < limits["far"] * goal
    )
    left, stuck = last_value_text(run, "entropy"), num(reward.smooth)
    message = f"entropy {left}, reward stuck at {stuck}"
    level = CRIT if far else WATCH if run.reward_pays and not missed else WARN
    return Assessment(level, last_value(run, "entropy"), None, message)


def critic_failing(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The critic explains nothing and its loss grows or the reward swings."""
    if run.severity_of("critic-not-learning") < WARN:
        return None
    loss = run.histories.get("value_loss")
    grown = loss is not None and loss.level > limits["times"] * loss.initial_level and loss.rising()
    if not grown and max(map(run.severity_of, ("value-loss-rising", "reward-swings"))) < WARN:
        return borderline(0.0)
    seen = f"explained variance {last_value_text(run, 'explained_variance')}"
    message = f"critic is failing ({seen}): policy gradients are noise"
    level = WARN if run.keeps_gain else CRIT
    return Assessment(level, last_value(run, "explained_variance"), 0.0, message)


def _has_not_grown(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether the loss has not grown in the block, nor in the row before: all are borderline."""
    if run.open_severities.get("critic-not-learning", 0) < WARN:
        return False
    if max(run.severity_of("value-loss-rising"), run.severity_of("reward-swings")) >= WARN:
        return False
    loss = run.histories.get("value_loss")
    if loss is None or "value_loss" not in block.columns:
        return False
    grown = limits["times"] * start_level(run, "value_loss", LEVEL_VALUES)
    return max(loss.level, *levels(run, block, "value_loss")) <= grown


def nothing_learns(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Updates change nothing; entropy and reward stay where they were."""
    if run.severity_of("no-op-updates") < WARN:
        return None
    if not (run.severity_of("entropy-not-falling") or run.severity_of("reward-never-moves")):
        return borderline(0.0)
    if run.severity_of("policy-collapsed"):
        return RESOLVED  # that says why nothing changes
    keeps_entropy = "entropy" in run.histories and not run.severity_of("entropy-collapsed")
    stays = "entropy and reward where they" if keeps_entropy else "reward where it"
    message = f"nothing is learning: KL 0, {stays} started"
    return Assessment(WARN, last_value(run, "approx_kl"), None, message)


def scale_too_large(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Rewards are too large for the policy to learn."""
    if run.severity_of("reward-scale") < WARN:
        return None
    if not (run.severity_of("entropy-not-falling") or run.severity_of("reward-never-moves")):
        return borderline(0.0)
    loss = last_value_text(run, "value_loss")
    message = f"reward scale too large for this learner: value loss {loss}"
    return Assessment(WARN, last_value(run, "value_loss"), None, message)


def decayed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Learning rate, KL and clipping go to zero together, with a stable reward."""
    rate = run.histories["lr"]
    if rate.count < limits["points"] or rate.last > limits["share"] * rate.high:
        return None
    if run.falling or is_cut(run, rate):
        return None
    kl, clip = run.value("approx_kl"), run.value("clip_fraction")
    if kl is None or abs(kl) > limits["kl"] or (clip is not None and clip > limits["clip"]):
        return None
    rate_now = num(rate.last)
    message = f"learning rate has decayed to {rate_now}, KL {num(kl)}: the normal end of training"
    return Assessment(INFO, rate.last, None, message)


RULES = (
    Rule(
        id="premature-convergence",
        title="Premature convergence",
        description="entropy is gone and the reward is stuck below its ceiling",
        concepts=("entropy", "reward_mean"),
        assess=premature,
        needs=("entropy-collapsed",),
        families=POLICY_GRADIENT,
        limits={"far": 0.5},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        inherits_causes=True,
        causes=(
            "too little exploration",
            "learning rate so high that the policy became deterministic early",
        ),
        remedies=(
            "raise the entropy bonus: {ent_coef:below 0.01}, to 0.01",
            "restart from a checkpoint before the fall",
            "lower {learning_rate}",
            "{in_groups}clip higher: {clip_range_high:below 0.28} to 0.28",
        ),
        source="entropy that drops to 0 too fast is premature convergence (SB3 practice, TRL)",
        grade="C",
        members=("entropy-collapsed", "reward-plateau", "reward-never-moves", "no-op-updates"),
    ),
    Rule(
        id="critic-failing",
        title="Critic failing",
        description="the critic explains nothing while its loss grows or the reward swings",
        concepts=("explained_variance", "value_loss"),
        assess=critic_failing,
        stays_calm=_has_not_grown,
        keeps_level=_has_not_grown,
        needs=("critic-not-learning",),
        families=POLICY_GRADIENT,
        limits={"times": 1.5},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("critic untrained or too small, or its targets too large",),
        remedies=MAY_LEARN,
        source="explained variance at or below 0 and a value loss that rises (SB3 practice)",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
        members=(
            "critic-not-learning",
            "value-loss-rising",
            "value-loss-spike",
            "reward-swings",
            "explained-variance-dropped",
        ),
    ),
    Rule(
        id="reward-scale-too-large",
        title="Reward scale too large",
        description="the value loss is huge, and neither entropy nor reward moves",
        concepts=("value_loss", "entropy", "reward_mean"),
        assess=scale_too_large,
        needs=("reward-scale",),
        families=POLICY_GRADIENT,
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("rewards far too large for the learner to fit",),
        remedies=("{normalised_rewards}", "lower {learning_rate}"),
        source="SB3#2240",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
        members=(
            "reward-scale",
            "entropy-not-falling",
            "reward-never-moves",
            "critic-not-learning",
        ),
    ),
    Rule(
        id="nothing-learns",
        title="Nothing is learned",
        description="KL is zero, and entropy and reward stay where they were",
        concepts=("approx_kl", "entropy", "reward_mean"),
        assess=nothing_learns,
        needs=("no-op-updates",),
        families=POLICY_GRADIENT,
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("learning rate too low", "frozen weights", "advantages are zero"),
        remedies=(
            "raise {learning_rate:, by 10 times}",
            "check which parameters are trained",
            "check the spread of advantages and rewards",
        ),
        source="KL that falls to 0 means under-training (TRL practice)",
        grade="C",
        asks_about=("policy-collapsed", "entropy-collapsed"),
        members=("no-op-updates", "entropy-not-falling", "reward-never-moves", "reward-plateau"),
    ),
    Rule(
        id="learning-rate-decayed",
        title="Learning rate fully decayed",
        description="learning rate, KL and clipping go to zero together",
        concepts=("lr", "approx_kl", "clip_fraction"),
        assess=decayed,
        stays_calm=rate_never_decayed,
        families=POLICY_GRADIENT,
        judged_at=("lr",),
        limits={"points": 10, "share": 0.05, "kl": 1e-3, "clip": 0.01},
        persistence=k_of_n(2, 2),
        causes=("the schedule reached its end",),
        remedies=(),
        source="linear decay ends with KL 0.0005 and 0 % clipped (a known run)",
        grade="A",
    ),
)
