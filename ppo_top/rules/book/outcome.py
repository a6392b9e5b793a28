"""How a run comes out: at its ceiling, or stopped too early. Said only beside no other finding."""

from __future__ import annotations

from ppo_top.catalogue import total_steps
from ppo_top.rules.book.reward import reward_now
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.context import REWARD_CONCEPTS, RuleContext
from ppo_top.rules.engine.rule import AT_ONCE, RESOLVED, Assessment, Rule, RuleLimits
from ppo_top.rules.engine.terms import ALL_FAMILIES, INFO, WATCH
from ppo_top.rules.engine.wording import num


def _beside_findings(run: RuleContext) -> bool:
    """Whether anything is to be watched: success and its opposite are not said beside it."""
    return any(severity >= WATCH for severity in run.open_severities.values())


def at_ceiling(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward has risen and levelled off at its maximum."""
    reward = reward_now(run)
    if reward is None or not reward.at_max:
        return None
    if _beside_findings(run):
        return RESOLVED
    message = f"reward is at its ceiling ({num(reward.smooth)}): training has succeeded"
    return Assessment(INFO, reward.history.last, reward.ceiling, message)


def ended_early(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward is still rising near the end of the run."""
    reward, budget = run.reward if run.ended else reward_now(run), run.progress
    if reward is None or budget is None or reward.at_max or budget < limits["budget"]:
        return None
    if _beside_findings(run):
        return RESOLVED
    if not (reward.rising and reward.gained):
        return None
    rise = f"{num(reward.trend.values[0])} -> {num(reward.smooth)}"
    message = f"reward still rises at the end ({rise}): train longer"
    return Assessment(INFO, reward.history.last, None, message)


def _far_from_end(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether the block ends before the run's last updates."""
    if run.ended:
        return False
    steps = total_steps(run.config, run.trainer, run.mark.step)
    return steps is None or block.steps[-1] < limits["budget"] * steps


RULES = (
    Rule(
        id="at-ceiling",
        title="Reward at its ceiling",
        description="the reward rose and then levelled off at its maximum",
        concepts=("reward_mean",),
        assess=at_ceiling,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={"clear_after": 3},
        persistence=AT_ONCE,
        causes=("the task is solved",),
        remedies=("stop here, or make the task harder",),
        source="'rises and then stabilizes': successful training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="still-improving",
        title="Stopped while still improving",
        description="the reward is still rising as the run comes to its end",
        concepts=("reward_mean",),
        assess=ended_early,
        stays_calm=_far_from_end,
        limits={"budget": 0.95},
        persistence=AT_ONCE,
        at_end=True,
        causes=("too few training steps",),
        remedies=("train longer: {training_length}",),
        source="too few timesteps end a run before it converges (SB3 practice)",
        grade="C",
    ),
)
