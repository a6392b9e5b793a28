"""Episodes that end where they begin, or that were cut short at first."""

from __future__ import annotations

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import NOT_LLM, WARN
from ppo_top.rules.engine.wording import num
from ppo_top.text.format import plural

FIRST_EPISODES_CUT = "first-episodes-cut"
"""The fact that a trainer may begin with episodes that are cut short."""


class PaidForSteps(NamedTuple):
    """The mean reward of a step: of the first episodes, and of the newest."""

    first: float
    now: float


def paid_for_steps(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> PaidForSteps | None:
    """What a step is paid, where the first episodes were cut short; None where they were not.

    rsl_rl can begin with episodes that are over after a random time, as Isaac Lab has it do
    (`init_at_random_ep_len`): what a step costs adds up in longer ones.
    """
    lengths = run.histories.get("ep_len")
    if FIRST_EPISODES_CUT not in run.facts or lengths is None or not lengths.start > 0.0:
        return None
    if lengths.level < limits["longer"] * lengths.start:
        return None
    values = reward.history
    return PaidForSteps(values.start / lengths.start, values.level / lengths.level)


def one_step_episodes(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Every episode ends after one step, and nothing is learned from them.

    There are tasks of a single step, which may be learned all the same. A length that was never
    above 0 was never measured.
    """
    history = run.histories["ep_len"]
    if history.last > limits["steps"] or history.high <= 0.0:
        return None
    once_longer = history.high > 2.0 * limits["steps"]
    points = int(limits["points_after"] if once_longer else limits["points"])
    recent = history.recent[-points:]
    learned = run.learned
    if len(recent) < points or max(recent) > limits["steps"] or (learned and not once_longer):
        return borderline(history.last, limits["steps"])
    how_long = plural(len(recent), run.profile.row_kind)
    message = f"every episode ends after {num(history.last)} step, for {how_long}"
    return Assessment(WARN, history.last, limits["steps"], message)


def _episodes_stay_longer(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.low("ep_len") > limits["steps"]


RULES = (
    Rule(
        id="episodes-of-one-step",
        title="Episodes of one step",
        description="every episode ends after its first step, and the reward does not rise",
        concepts=("ep_len",),
        assess=one_step_episodes,
        stays_calm=_episodes_stay_longer,
        families=NOT_LLM,
        limits={"steps": 1.0, "points": 20, "points_after": 10},
        persistence=k_of_n(3, 3),
        causes=(
            "the environment reports its end at every step, or starts in a state that is one",
            "actions or observations out of their bounds",
        ),
        remedies=(
            "step through an episode by hand: terminated, truncated, info",
            "check the environment: gymnasium.utils.env_checker.check_env",
        ),
        source="labelled runs: an environment that ends at once still logs healthy losses",
        grade="B",
    ),
)
