"""Returns as the critic sees them: all equal, or changed."""

from __future__ import annotations

from ppo_top.rules.book.critic.explained_variance import critic_loss
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import always, near_bounds
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import POLICY_GRADIENT, UNCHECKED_ON_LLM, WARN, WATCH
from ppo_top.rules.engine.wording import num


def returns_constant(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """All returns are equal, so no action is better than another.

    Once a task of short episodes is solved, they are; not before, and not from the start on.
    """
    if "explained_variance" not in run.non_finite_now:
        return None
    defined = run.histories.get("explained_variance")
    never_defined = defined is None or defined.count < limits["defined"] * run.updates
    if run.at_max or (run.gained and not never_defined):
        return borderline(0.0)
    words = "all returns are equal (explained variance is undefined)"
    if run.gained:
        return Assessment(WATCH, 0.0, None, f"{words}: what comes after a step is not learned")
    return Assessment(WARN, 0.0, None, f"{words}: no action is better or worse")


def returns_changed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The critic fails at once, learns again, and the reward falls.

    A learner that now optimises something else looks healthy in all other metrics.
    """
    history, reward = run.histories["explained_variance"], run.reward
    loss = run.in_row(critic_loss(run))
    if loss is None or run.tiny_updates or reward is None:
        return None
    before = history.previous(int(limits["points"]))
    if _surprised(history.last, before, loss, limits) and not run.falling:
        now = (float(history.count), history.last, median(before), reward.smooth)
        run.memos["returns-changed"] = now
    memo = run.memos.get("returns-changed")
    if memo is None or history.count - memo[0] > limits["within"]:
        return None
    fallen = max(memo[3], reward.best - limits["near"] * reward.gain) - reward.smooth
    least = max(limits["noise"] * reward.sd, limits["share"] * reward.gain)
    if not reward.gained or fallen < least:
        return borderline(history.last) if fallen > 0.0 else None  # it has recovered
    seen = f"{num(memo[2])} -> {num(memo[1])}"
    message = f"returns are no longer what they were (explained variance {seen}), and reward falls"
    level = max(WARN, run.severity_of("reward-crash"))
    return Assessment(level, memo[1], limits["good"], message)


def _surprised(value: float, before: list[float], loss: History, limits: RuleLimits) -> bool:
    """A good critic that fails badly from one update to the next."""
    usual = median(before)
    return (
        usual >= limits["good"]
        and value < usual - limits["drop"]
        and loss.last > limits["times"] * median(loss.previous(int(limits["points"])))
    )


def _no_surprise(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No explained variance of the block is far below those before it."""
    memo, history = run.memos.get("returns-changed"), run.histories.get("explained_variance")
    if history is None or (memo is not None and history.count - memo[0] <= limits["within"]):
        return False
    low, high = near_bounds(run, block, "explained_variance", 10)
    return high < limits["good"] or high - low <= limits["drop"]


RULES = (
    Rule(
        id="returns-constant",
        title="All returns equal",
        description="explained variance is undefined because all returns are the same",
        concepts=("explained_variance",),
        related=("value_loss",),
        assess=returns_constant,
        stays_calm=always,
        families=POLICY_GRADIENT,
        judged_at=("value_loss",),
        limits={"defined": 0.1, "warmup": 3},
        persistence=k_of_n(5, 5),
        causes=("discount (gamma) 0 and equal rewards at each step", "a reward that never changes"),
        remedies=(
            "check the discount: {gamma}",
            "check that the reward depends on what the policy does",
        ),
        source="1 - Var(returns - values) / Var(returns) is 0/0; labelled run with a discount of 0",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="returns-changed",
        title="Returns changed",
        description="the critic fails within one update, learns again, and the reward falls",
        concepts=("explained_variance", "reward_mean"),
        related=("value_loss", "approx_kl"),
        assess=returns_changed,
        stays_calm=_no_surprise,
        families=POLICY_GRADIENT,
        judged_at=("explained_variance",),
        limits={
            "points": 10,
            "good": 0.8,
            "drop": 0.5,
            "times": 5.0,
            "near": 0.1,
            "noise": 2.0,
            "share": 0.05,
            "within": 25,
            "warmup": 10,
        },
        persistence=k_of_n(3, 4),
        ranks_causes=True,
        causes=(
            "the training reward no longer matches the logged one (sign, scale)",
            "the environment or observations changed",
        ),
        remedies=(
            "check what changed at that step: the reward, a wrapper, the environment",
            "go back to the checkpoint before it",
        ),
        source="labelled runs: the reward's sign turned in mid-run",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
        members=("reward-crash", "explained-variance-dropped", "value-loss-spike"),
    ),
)
