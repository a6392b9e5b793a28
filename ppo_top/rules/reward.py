"""The reward itself: it crashes, never moves, swings, goes the wrong way, stops, or is at its ceiling."""

from __future__ import annotations

from ppo_top.rules.learning import Learning
from ppo_top.rules.rule import (
    AT_ONCE,
    CRIT,
    EVERY,
    INFO,
    WARN,
    WATCH,
    Limits,
    Reading,
    Rule,
    between,
    persist,
)
from ppo_top.rules.run import REWARDS, Run
from ppo_top.rules.say import num, pct
from ppo_top.rules.stats import swings


def _reward(run: Run) -> Learning | None:
    """The reward, when this row holds a new value of it."""
    reward = run.reward
    return reward if reward is not None and reward.history.row == run.mark.row else None


def reward_crash(run: Run, limits: Limits) -> Reading | None:
    """R1: a large share of what was learned is lost."""
    reward = _reward(run)
    if reward is None or not reward.gained or reward.gain <= 0.1 * abs(reward.base):
        return None
    lost, noise = reward.lost, reward.noise
    if lost < limits["clear"]:
        return None
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    message = f"reward fell from {num(reward.best)} to {num(reward.smooth)} ({share})"
    if lost > limits["crit"] and reward.drawdown > 8 * noise:
        return Reading(CRIT, reward.history.last, reward.best, message)
    if lost > limits["warn"] and reward.drawdown > 6 * noise:
        return Reading(WARN, reward.history.last, reward.best, message)
    return between(reward.history.last)


def never_moves(run: Run, limits: Limits) -> Reading | None:
    """R2: reward is still where it was at the start."""
    reward = _reward(run)
    if reward is None or reward.at_max or not _long_enough(run, limits, reward.count):
        return None
    budget = run.budget
    if reward.gain >= max(4 * reward.noise, 0.05 * abs(reward.base)):
        return None
    trend = reward.history.trend(25)
    if trend.tau > 0.3 and trend.z > 1.96:
        return between(reward.history.last)
    floor = reward.history.high <= reward.history.low
    seen = "no success seen yet" if floor else f"reward has not moved from {num(reward.base)}"
    late = budget is not None and budget >= limits["crit_budget"]
    message = f"{seen} in {reward.count} updates"
    return Reading(CRIT if late else WARN, reward.history.last, reward.base, message)


def _long_enough(run: Run, limits: Limits, count: int) -> bool:
    """Thirty updates and a fifth of the run; half of that in the second half of a short run."""
    budget = run.budget
    if budget is None:
        return count >= limits["points"]
    if count >= limits["points"]:
        return budget >= limits["budget"]
    return count >= 0.5 * limits["points"] and budget >= limits["crit_budget"]


def plateau(run: Run, limits: Limits) -> Reading | None:
    """R3: no new best for long; a fault only where something else says why."""
    reward = _reward(run)
    if reward is None or not reward.gained or reward.at_max or reward.lost > 0.3:
        return None
    waited = reward.count - reward.best_count
    if waited < max(limits["points"], limits["share"] * reward.count):
        return None
    message = f"no new best reward for {waited} updates (best {num(reward.best)})"
    goal = run.profile.goal
    if goal is not None:
        missed = f"{message}: the goal {num(goal)} is not reached"
        return Reading(WARN, reward.history.last, goal, missed)
    level = WATCH if _exhausted(run) else INFO
    return Reading(level, reward.history.last, reward.best, message)


def _exhausted(run: Run) -> bool:
    """Whether there is a reason why nothing more will come."""
    entropy, rate = run.histories.get("entropy"), run.histories.get("lr")
    ties = run.value("frac_zero_std")
    return (
        (entropy is not None and 0.0 < entropy.last < 0.1 * entropy.base(3))
        or "policy-still" in run.open
        or (ties is not None and ties > 0.8)
        or (rate is not None and rate.last < 0.01 * rate.high)
    )


def oscillates(run: Run, limits: Limits) -> Reading | None:
    """R4: reward goes up and down by a large share of its gain, without getting anywhere."""
    reward = _reward(run)
    if reward is None or reward.count < limits["points"] or reward.gain <= 0.0:
        return None
    leg = max(limits["leg"] * reward.gain, 4 * reward.noise)
    recent = reward.history.recent[-30:]
    if max(recent) - min(recent) <= leg or reward.history.trend(25).tau >= 0.2:
        return None
    turns = swings(recent, leg)
    if turns < limits["turns"]:
        return between(reward.history.last) if turns >= 2 else None
    message = (
        f"reward swings without converging: {turns} turns of more than {num(leg)} in 30 updates"
    )
    return Reading(WARN, reward.history.last, None, message)


def wrong_way(run: Run, limits: Limits) -> Reading | None:
    """R6: reward falls below where the run started."""
    reward = _reward(run)
    if reward is None or reward.gained:
        return None
    below = reward.base - reward.history.level(5)
    if below <= max(0.1 * abs(reward.base), 2 * reward.noise):
        return None
    trend = reward.history.trend(25)
    steep = trend.tau < -0.5 and trend.full and trend.z < -3.9
    if not steep or below <= max(limits["share"] * abs(reward.base), 4 * reward.noise):
        return between(reward.history.last)
    message = (
        f"reward is below where it started and falling: {num(reward.base)} -> {num(reward.smooth)}"
    )
    return Reading(WARN, reward.history.last, reward.base, message)


def at_ceiling(run: Run, limits: Limits) -> Reading | None:
    """R9: the reward has risen and then stabilised at its maximum."""
    reward = _reward(run)
    if reward is None or not reward.at_max:
        return None
    message = f"reward is at its ceiling ({num(reward.smooth)}): training has succeeded"
    return Reading(INFO, reward.history.last, reward.ceiling, message)


def no_reward(run: Run, limits: Limits) -> Reading | None:
    """R12: a trainer that logs losses, but no reward."""
    if run.updates <= limits["rows"] or run.reward is not None:
        return None
    message = "no episode reward in the log: no Monitor wrapper, or no episode has ended yet"
    return Reading(INFO, float(run.updates), None, message)


def spread_explodes(run: Run, limits: Limits) -> Reading | None:
    """R5: the spread of rewards grows far more than their mean."""
    history, reward = run.histories["reward_std"], run.reward
    base = history.base(10)
    if reward is None or base <= 0.0 or history.last <= 2.0 * base:
        return None
    mean = max(abs(reward.smooth), 1e-12)
    first = max(abs(reward.base), 1e-12)
    if history.last <= limits["times"] * base or history.last / mean <= 2.0 * base / first:
        return between(history.last)
    message = f"spread of rewards grew from {num(base)} to {num(history.last)}"
    level = WARN if reward.falling else WATCH
    return Reading(level, history.last, limits["times"] * base, message)


def length_parts(run: Run, limits: Limits) -> Reading | None:
    """R8: reward and episode length used to move together, and now move apart."""
    length, reward = run.histories["ep_len"], run.reward
    if reward is None or reward.history.row != run.mark.row or length.row != run.mark.row:
        return None
    usual = _together(run, reward.history.last, length.last)
    if length.count <= 30 or abs(usual) <= limits["tau"] or length.count % 5:
        return None if length.count % 5 == 0 else between(length.last)
    size = min(20, length.count)
    now = _correlation(length.recent[-size:], reward.history.recent[-size:])
    if now * usual >= 0.0 or abs(now) <= limits["tau"]:
        return None
    message = "reward and episode length now move apart; before, they moved together"
    if usual < 0:
        message = "reward and episode length now move together; before, one rose as the other fell"
    return Reading(WATCH, now, usual, message)


def _together(run: Run, reward: float, length: float) -> float:
    """The correlation of reward and length over all points so far, from running sums."""
    n, x, y, xx, yy, xy = run.memos.get("length-parts", (0.0,) * 6)
    n, dx, dy = n + 1.0, reward - x, length - y
    x, y = x + dx / n, y + dy / n
    xx, yy, xy = xx + dx * (reward - x), yy + dy * (length - y), xy + dx * (length - y)
    run.memos["length-parts"] = (n, x, y, xx, yy, xy)
    return xy / (xx * yy) ** 0.5 if xx > 0.0 and yy > 0.0 else 0.0


def _correlation(left: list[float], right: list[float]) -> float:
    size = min(len(left), len(right))
    left, right = left[-size:], right[-size:]
    a, b = sum(left) / size, sum(right) / size
    both = sum((x - a) * (y - b) for x, y in zip(left, right, strict=True))
    spread = sum((x - a) ** 2 for x in left) * sum((y - b) ** 2 for y in right)
    return float(both / spread**0.5) if spread > 0.0 else 0.0


def eval_gap(run: Run, limits: Limits) -> Reading | None:
    """R7: evaluation lags behind the training reward, or falls while that rises."""
    history, reward = run.histories["eval_reward_mean"], run.reward
    if reward is None or not reward.gained:
        return None
    last = history.recent[-3:]
    falls = len(last) == 3 and last[0] > last[1] > last[2]
    if falls and reward.rising and last[0] - last[2] > 0.2 * reward.gain:
        message = f"evaluation falls ({num(last[0])} -> {num(last[2])}) while training reward rises"
        return Reading(WARN, last[2], last[0], message)
    if reward.smooth - history.last > limits["share"] * reward.gain:
        message = f"evaluation ({num(history.last)}) lags training reward ({num(reward.smooth)})"
        return Reading(WATCH, history.last, reward.smooth, message)
    return None


def long_tails(run: Run, limits: Limits) -> Reading | None:
    """R10: a histogram leans far to one side."""
    for name in ("reward", "adv"):
        low, mid, high = (run.value(f"{name}_{part}", 0) for part in ("p1", "p50", "p99"))
        if low is None or mid is None or high is None or mid <= low or high <= mid:
            continue
        skew = (high - mid) / (mid - low)
        if not 1.0 / limits["skew"] <= skew <= limits["skew"]:
            what = "rewards" if name == "reward" else "advantages"
            return Reading(
                INFO, skew, limits["skew"], f"the distribution of {what} has a long tail"
            )
    return None


def advantages_off(run: Run, limits: Limits) -> Reading | None:
    """A1: whitened advantages should have mean 0."""
    value = run.values["adv_mean"]
    if abs(value) <= limits["mean"]:
        return None
    message = f"advantages are not centred: mean {num(value)}"
    return Reading(INFO, value, limits["mean"], message)


ROLL_BACK = (
    "go back to the best checkpoint",
    "lower {learning_rate}, or let it decay",
    "set {target_kl:name} to 0.02",
    "fewer passes over the same data: {n_epochs}",
    "check whether the environment or the reward changed",
)

RULES = (
    Rule(
        id="reward-crash",
        title="Reward crashed",
        codes=("R1",),
        sees="a large share of the reward that was gained is lost",
        concepts=("reward_mean",),
        read=reward_crash,
        on=REWARDS,
        families=EVERY,
        limits={"clear": 0.15, "warn": 0.3, "crit": 0.5, "warmup": 8},
        persist=persist(2, 3),
        causes=("policy collapse, learning rate too high", "a changed environment or reward"),
        tries=ROLL_BACK,
        source="'sudden crash to 0': critical (SB3 practice); dips such as 319 -> 239 are normal",
        grade="C",
    ),
    Rule(
        id="reward-never-moves",
        title="Reward never moves",
        codes=("R2",),
        sees="the reward is still where it was at the start",
        concepts=("reward_mean",),
        beside=("entropy",),
        read=never_moves,
        on=REWARDS,
        limits={"points": 30, "budget": 0.2, "crit_budget": 0.5},
        persist=persist(5, 5),
        causes=(
            "the policy does not learn: learning rate, reward scale or exploration",
            "reward is never reached, or not wired to what the policy does",
        ),
        tries=(
            "raise {learning_rate} by 3",
            "check that reward can be reached: shaping, more environments, longer rollouts ({rollouts})",
            "check how observations and rewards are wired",
            "see whether a random policy ever scores",
        ),
        source="'never moves': critical (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="reward-plateau",
        title="Reward has stopped rising",
        codes=("R3",),
        sees="no new best for a quarter of the run",
        concepts=("reward_mean",),
        beside=("entropy",),
        read=plateau,
        on=REWARDS,
        limits={"points": 30, "share": 0.25},
        persist=persist(3, 3),
        causes=("converged, or stuck in a local optimum: insufficient exploration",),
        tries=(
            "raise the entropy bonus: {ent_coef}",
            "larger batches: {batches}",
            "let {learning_rate} decay",
            "more varied starts; or stop: it may be finished",
        ),
        source="TRL practice: 'plateau -> stagnation'; stable at the maximum is success",
        grade="C",
    ),
    Rule(
        id="reward-swings",
        title="Reward oscillates",
        codes=("R4",),
        sees="large swings of the reward without an upward trend",
        concepts=("reward_mean",),
        read=oscillates,
        on=REWARDS,
        families=EVERY,
        limits={"points": 40, "leg": 0.25, "turns": 4},
        persist=persist(2, 3),
        causes=("training is unstable: learning rate too high, batches too small", "sparse reward"),
        tries=(
            "lower {learning_rate}",
            "more environments or larger batches: {rollouts}",
            "{gae_lambda}",
            "set {target_kl:name} to 0.02",
        ),
        source="'severe oscillation without convergence': moderate (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="reward-wrong-way",
        title="Reward goes down",
        codes=("R6",),
        sees="the reward falls below where it started, and goes on falling",
        concepts=("reward_mean",),
        read=wrong_way,
        on=REWARDS,
        limits={"share": 0.2, "warmup": 25},
        persist=persist(3, 3),
        causes=("the sign of the reward or of the advantage is wrong", "learning rate too high"),
        tries=("check the sign of the reward", "lower {learning_rate}"),
        source="a curve that falls means a problem in training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="at-ceiling",
        title="Reward is at its ceiling",
        codes=("R9",),
        sees="the reward rose and then stabilised at its maximum",
        concepts=("reward_mean",),
        read=at_ceiling,
        on=REWARDS,
        families=EVERY,
        limits={"clear_after": 3},
        persist=AT_ONCE,
        causes=("the task is solved",),
        tries=("stop here, or make the task harder",),
        source="'rises and then stabilizes': successful training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="no-reward",
        title="No reward in the log",
        codes=("R12", "S7"),
        sees="losses are logged, but no reward",
        concepts=("reward_mean",),
        read=no_reward,
        families=frozenset({"ctrl"}),
        limits={"rows": 5},
        persist=persist(3, 3),
        causes=("the environment has no Monitor wrapper", "no episode has ended yet"),
        tries=(
            "wrap the environment: Monitor(env), or make_vec_env of SB3",
            "wait for an episode's end",
        ),
        source="SB3's logger documentation",
        grade="A",
    ),
)

MORE = (
    Rule(
        id="reward-spread",
        title="Spread of rewards explodes",
        codes=("R5",),
        sees="the spread of rewards grows far more than their mean",
        concepts=("reward_std",),
        read=spread_explodes,
        on=("reward_std",),
        limits={"times": 3.0, "warmup": 10},
        causes=("outliers in the reward", "the policy behaves very differently from case to case"),
        tries=("clip or normalise rewards", "lower {learning_rate}"),
        source="TRL practice: reward std 'moderate; not exploding'",
        grade="D",
    ),
    Rule(
        id="length-parts",
        title="Reward and episode length part ways",
        codes=("R8",),
        sees="reward and episode length begin to move against their usual relation",
        concepts=("ep_len",),
        read=length_parts,
        on=("ep_len",),
        limits={"tau": 0.6},
        persist=persist(2, 10),
        causes=("the policy found a shortcut, or the task changed",),
        tries=("watch some episodes", "check the reward for a shortcut"),
        source="episode length: 'trend diverges from reward' is a warning sign (SB3 practice)",
        grade="D",
    ),
    Rule(
        id="eval-gap",
        title="Evaluation lags training",
        codes=("R7",),
        sees="evaluation rewards stay below training, or fall while it rises",
        concepts=("eval_reward_mean",),
        read=eval_gap,
        on=("eval_reward_mean",),
        limits={"share": 0.3},
        persist=persist(2, 2),
        causes=(
            "the deterministic policy is worse than the sampled one",
            "normalisation statistics are not shared with the evaluation environment",
            "over-fitting to the training reward",
        ),
        tries=("share VecNormalize's statistics with evaluation", "look at evaluation episodes"),
        source="evaluation is the better measure of a policy (SB3 practice)",
        grade="D",
    ),
    Rule(
        id="long-tails",
        title="Long tails",
        codes=("R10",),
        sees="the distribution of rewards or advantages leans far to one side",
        concepts=("reward_dist",),
        beside=("adv_dist",),
        read=long_tails,
        on=("reward_p50", "adv_p50"),
        limits={"skew": 5.0},
        causes=("a few samples carry most of the reward",),
        tries=("clip or normalise rewards", "look at the samples with extreme rewards"),
        source="TRL practice: reward and advantage distributions are balanced, without long tails",
        grade="D",
    ),
    Rule(
        id="advantages-off",
        title="Advantages are not centred",
        codes=("A1",),
        sees="the mean of whitened advantages is not 0",
        concepts=("adv_mean",),
        read=advantages_off,
        on=("adv_mean",),
        families=frozenset({"rlhf"}),
        limits={"mean": 0.1},
        causes=("advantages are not normalised",),
        tries=("{whiten_rewards:name} on", "check the advantage normalisation"),
        source="TRL practice: advantages centred near 0",
        grade="D",
    ),
)
