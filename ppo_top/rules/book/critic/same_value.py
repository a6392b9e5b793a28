"""A critic that returns the same value for every state."""

from __future__ import annotations

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import ON_POLICY, WARN


def same_value_everywhere(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Explained variance has been 0 to the last digit since the first update.

    1 - Var(returns - values) / Var(returns) is exactly 0 where the values do not vary. Even a
    critic that knows nothing yet tells states apart by its random weights, if they differ to it.
    """
    history = run.histories["explained_variance"]
    if "rounded" in run.facts or history.size >= limits["exact"]:
        return None
    if run.reward is not None and run.reward.constant:
        return None  # some scripts write 0 where all returns are equal
    message = (
        "the critic returns the same value for every state: "
        "explained variance has been exactly 0 since the first update"
    )
    return Assessment(WARN, 0.0, None, message)


def _was_not_zero(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    history = run.histories.get("explained_variance")
    return history is not None and history.count > 0 and history.size >= limits["exact"]


RULES = (
    Rule(
        id="critic-same-value",
        title="Same value for every state",
        description="explained variance has been exactly 0 since the first update",
        concepts=("explained_variance",),
        related=("value_loss",),
        assess=same_value_everywhere,
        stays_calm=_was_not_zero,
        families=frozenset({ON_POLICY}),
        limits={"exact": 1e-6, "warmup": 12},
        persistence=k_of_n(3, 3),
        ranks_causes=True,
        causes=(
            "observations are constant, or never reach the critic",
            "the critic's units are dead",
        ),
        remedies=(
            "print a few observations as the critic gets them: do they vary?",
            "check that the critic's output depends on its input",
        ),
        source="labelled runs: observations that are always 0",
        grade="C",
    ),
)
