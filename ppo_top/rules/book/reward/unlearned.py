"""Rewards that never rise."""

from __future__ import annotations

from ppo_top.rules.advice.critic_symptoms import bonus_outweighs
from ppo_top.rules.advice.exploration_symptoms import entropy_rises
from ppo_top.rules.advice.rate_symptoms import rate_low
from ppo_top.rules.book.reward.crash import reward_now
from ppo_top.rules.book.reward.episodes import FIRST_EPISODES_CUT, paid_for_steps
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import AT_CEILING, JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.reward.course import UNLEARNED, RewardCourse
from ppo_top.rules.engine.reward.measures import GAIN_NOISE, MIN_POINTS
from ppo_top.rules.engine.reward.ranks import left_its_start, rose_at_once
from ppo_top.rules.engine.rule import RESOLVED, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CRIT,
    GRPO,
    INFO,
    LLM_FAMILIES,
    OFF_POLICY,
    POLICY_GRADIENT,
    RLHF,
    VALUE_BASED,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num
from ppo_top.text.format import plural

NEVER_LEARNED = "reward-never-moves"

NEAR_START, NEAR_NOISE = 0.1, 2.0
"""A reward that is lower than it began by more than this share of its size, and so many times its
noise, has moved: down."""


def never_learned(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward has not risen above its start, though a run of its budget should have."""
    reward = reward_now(run)
    if reward is None or reward.pays_alike:
        return None
    if reward.at_max or run.was_at_ceiling:  # its swings may be too large for a sure gain
        return None
    if reward.gained and not (run.ended and _hardly_gained(reward, limits)):
        return RESOLVED
    rises = _rises(run, reward, limits) or _steps_cost_less(run, reward, limits)
    proven = (rises or run.ended) and bool(rate_low(run) or bonus_outweighs(run))
    was_lost = "reward-crash" in run.open_severities  # that tells of what was gained
    level = _unlearned_level(run, reward, limits) if proven or not (rises or was_lost) else 0
    if proven and run.ended and reward.episodes >= limits["constant"]:
        level = max(level, WARN)
    is_excerpt = run.resumed and reward.count < limits["paste_rows"] and not reward.constant
    if not level or is_excerpt:
        return borderline(reward.history.last)
    message = f"{_unlearned(run, reward)} in the first {plural(reward.count, run.profile.row_kind)}"
    if _may_have_gained(reward, limits) and not proven:
        if not run.ended:
            return borderline(reward.history.last)
        level = min(level, WATCH)
        message = f"{run.reward_words} rose above {num(reward.baseline)}, but by no more than noise"
    if _rose_before(run) or (run.may_be_part(limits["paste_rows"]) and not proven):
        level = min(level, WATCH)
    if run.resumed:
        late = "since it was resumed" if run.segment else "in a log that begins midway"
        level, message = INFO, f"{message}, {late}"
    return Assessment(level, reward.history.last, reward.baseline, message, immediate=run.ended)


def _rises(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether the reward rises: at the end of a run, not from below to where it began."""
    if not run.ended:
        return reward.rising
    above = reward.rising and reward.smooth > reward.baseline
    return above or reward.rise > limits["end_rise"]


def _steps_cost_less(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether longer episodes hide what each step has gained since they were cut short."""
    paid = paid_for_steps(run, reward, limits)
    share = 1.0 - limits["cheaper"]
    return paid is not None and paid.now > paid.first + share * abs(paid.first)


def _may_have_gained(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether the reward was mostly far above its start, or has climbed up to its end.

    Far is a share of all that it ranged over; the few points of a short run may climb by rank. It
    may be by chance, but to say that nothing was gained would be wrong.
    """
    climbs = reward.climbs_by_rank and reward.smooth > reward.baseline
    at_once = reward.began_lowest or rose_at_once(reward, limits)
    if climbs or at_once or left_its_start(reward, limits):
        return True
    span = reward.history.high - reward.history.low
    near_sure = reward.gain > limits["above_noise"] * reward.sd
    share = limits["above_near"] if near_sure else limits["above"]
    return median(reward.recent) - reward.baseline > share * span


def _hardly_gained(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether what was gained in a whole run is small beside the noise, by both measures of it.

    On the way, `RewardCourse.gained` asks for less: what is gained early is small.
    """
    return reward.rise <= limits["end_rise"] and reward.gain <= limits["end_gain"] * reward.sd


def _rose_before(run: JudgedRun) -> bool:
    """Whether the rule was once taken back in this segment: the reward rose by more than noise."""
    return run.was_cleared(NEVER_LEARNED)


def _unlearned_level(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> int:
    """Severity by evidence and budget; 0 while it is too early to tell."""
    budget = run.progress
    if reward.constant:
        return _constant_level(run, reward, limits)
    if reward.points < (limits["end_points"] if run.ended else MIN_POINTS):
        return 0
    looks, episodes = ("end_looks", "end_episodes") if run.ended else ("points", "episodes")
    enough = reward.looks >= limits[looks] and _episodes(run, reward) >= limits[episodes]
    if run.family in LLM_FAMILIES:
        enough = reward.points >= limits["points"]
    if budget is None:
        if not enough or reward.points < limits["long_points"]:
            return 0
        endless = _measurements(reward) >= limits["endless_points"]
        return WARN if endless and reward.looks >= limits["looks"] else WATCH
    if budget < limits["budget"]:
        return 0
    if not enough:
        return INFO if budget >= limits["end"] else 0
    near_end = budget >= limits["end"] and not reward.rise > limits["end_rise"]
    if run.family in LLM_FAMILIES and reward.points < limits["warn_points"]:
        return WATCH  # so few batches of completions can hardly show a gain
    return WARN if near_end else WATCH


def _measurements(reward: RewardCourse) -> int:
    """How often the reward was measured: rows, also those that are in blocks for their noise."""
    blocks = reward.source.blocks
    return reward.count if blocks is not None and blocks.by_rows else reward.points


def _episodes(run: JudgedRun, reward: RewardCourse) -> float:
    """Episodes behind the rewards; some scripts print how many ended in each rollout."""
    each = run.histories.get("n_episodes")
    if each is None:
        return reward.episodes
    so_far = each.last == each.high > 2.0 * each.first[0]  # some count on from the start
    return max(reward.episodes, each.last if so_far else each.recent_median(20) * each.count)


def _constant_level(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> int:
    """Severity of a reward that is the same in every episode.

    Above 0 it may be the most there is. A sparse reward that nobody has found yet is the same, too,
    so a run of known length is given a share of it. Not so one above 0 that random actions got, by
    which a replay buffer begins to fill.
    """
    long, budget = reward.count >= limits["constant_rows"], run.progress
    if run.family in LLM_FAMILIES:
        needed = "constant_rows" if reward.start_pays else "long_points"
        return WARN if reward.count >= limits[needed] else 0
    episodes = _episodes(run, reward)
    if episodes < limits["constant"] or reward.count < MIN_POINTS:
        return 0
    paid = reward.start_pays > 0 and run.family in (VALUE_BASED, OFF_POLICY)
    enough = episodes >= limits["constant" if paid else "constant_episodes"]
    learned = reward.start_pays > 0 and _may_be_learned(run)
    sure = long and (enough or run.ended) and not learned
    if not sure or (budget is not None and budget < limits["constant_budget"]):
        return WATCH
    return CRIT if enough and budget is not None and budget >= limits["budget"] else WARN


def _stays_unlearned(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Rows are points, and so many that only a gain will count, or too few to be without end.

    Not of a run of known length, where its share counts, nor where that of its episodes does.
    """
    reward, rows = run.reward, len(block.steps)
    if reward is None or run.reward_concept not in block.columns or reward.constant:
        return False
    if reward.source.may_be_in_blocks(rows) or "n_episodes" in run.histories:
        return False
    endless = reward.points >= limits["endless_points"] and reward.looks >= limits["looks"]
    begins = reward.points + rows < limits["endless_points"]
    known = run.stated_progress is not None or FIRST_EPISODES_CUT in run.facts
    return not known and (endless or begins)


def _may_be_learned(run: JudgedRun) -> bool:
    """Whether all episodes take as long: a policy that was learned before may do its best.

    Not if actions become more random, nor with a replay buffer: it begins with random ones.
    """
    if entropy_rises(run) or "action-noise-growing" in run.open_severities:
        return False
    lengths = run.histories.get("ep_len")
    return lengths is not None and lengths.high <= lengths.low and run.family in POLICY_GRADIENT


def _unlearned(run: JudgedRun, reward: RewardCourse) -> str:
    """What is said of a reward that stays where it was, or falls below."""
    began, what = num(reward.baseline), run.reward_words
    if not reward.constant:
        below = reward.points >= MIN_POINTS and reward.below > GAIN_NOISE * reward.sd
        if below:
            return f"{what} has not risen above {began}, where it began,"
        if max(reward.recent) - min(reward.recent) > 0.5 * reward.scale:
            low, high = num(reward.history.low), num(reward.history.high)
            gain = "no sure gain" if median(reward.recent) > reward.baseline else "no gain"
            return f"reward swings between {low} and {high}, with {gain} over its start ({began}),"
        if reward.baseline - reward.smooth > max(NEAR_START * reward.scale, NEAR_NOISE * reward.sd):
            return f"{what} has not risen above {began}, where it began,"
        return f"{what} has not moved from {began}"
    if run.family in LLM_FAMILIES and reward.start_pays:
        return f"every completion gets the same reward, {began},"
    return f"reward is exactly {began}" if reward.start_pays > 0 else "no success seen yet"


REPLAY_LIMITS = {"end_points": 4, "end_episodes": 40}
"""A replay buffer is learned from many times: few episodes do."""


RULES = (
    Rule(
        id=NEVER_LEARNED,
        title="No gain in reward",
        description="the reward is still where it was at the start",
        concepts=("reward_mean",),
        related=("entropy",),
        assess=never_learned,
        keeps_level=_stays_unlearned,
        reward_states=UNLEARNED,
        judged_at=REWARD_CONCEPTS,
        tells_duration=True,
        families=ALL_FAMILIES,
        limits={
            "points": 8,
            "episodes": 120,
            "end_looks": 3,
            "end_rise": 2.5,
            "end_gain": 4.0,
            "above": 0.75,
            "above_near": 0.65,
            "above_noise": 2.5,
            "apart_points": 6,
            "rank_points": 15,
            "rank_overlap": 2.0,
            "rank_kept": 0.5,
            "end_points": 6,
            "end_episodes": 60,
            "paste_rows": 12,
            "warn_points": 20,
            "long_points": 30,
            "endless_points": 500,
            "looks": 25,
            "budget": 0.5,
            "end": 0.9,
            "longer": 1.5,
            "cheaper": 0.75,
            "constant": 20,
            "constant_episodes": 200,
            "constant_rows": 10,
            "constant_budget": 0.1,
        },
        limit_overrides={
            RLHF: {"long_points": 60},
            GRPO: {"long_points": 60},
            VALUE_BASED: REPLAY_LIMITS,
            OFF_POLICY: REPLAY_LIMITS,
        },
        persistence=k_of_n(3, 3),
        asks_about=(AT_CEILING, "reward-crash", "action-noise-growing"),
        at_end=True,
        ranks_causes=True,
        causes=(
            "the policy is not learning (learning rate, reward scale or exploration)",
            "reward never reached, or independent of the actions",
        ),
        remedies=(
            "{in_control}check that rewards differ at all between good and bad episodes",
            "{in_text}check that rewards differ at all between good and bad completions",
            "{in_control}check how observations and rewards are wired",
            "{in_control}see whether a random policy ever scores; if not: shaping, longer episodes",
            "{in_text}see whether any completion scores; if none: easier prompts, partial credit",
            "more samples an update: {rollouts}",
            "raise {learning_rate:, by 3 times}",
        ),
        source="'never moves': critical (SB3 practice)",
        grade="C",
    ),
)
