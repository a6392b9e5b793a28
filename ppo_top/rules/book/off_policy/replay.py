"""Algorithms that learn from a replay buffer: critic, temperature, epsilon, and whether they learn.

Sizes say nothing here: losses are in units of squared rewards, which nothing normalises. What
counts is growth by powers of ten.
"""

from __future__ import annotations

import math
from itertools import pairwise

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import COUNTED_UPDATES, JudgedRun
from ppo_top.rules.engine.logged_run import ACTOR_LOSSES, CRITIC_LOSSES, UPDATE_METRICS
from ppo_top.rules.engine.reward.measures import MIN_LOOKS
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, NOT_LLM, OFF_POLICY, VALUE_BASED, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct
from ppo_top.text.format import plural


def critic_loss_grows(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The critic's loss grows by powers of ten.

    With sparse rewards it starts near 0, and jumps when the first is found: what is below a
    hundredth of the rewards' size, squared, does not count, nor does a single jump. An error of
    several times the largest return is one whatever the reward does, of thousands of times also
    where no growth was seen: stable-baselines3's DQN takes Huber's loss (`smooth_l1_loss` in
    dqn.py), which is the error itself.
    """
    history = run.in_row(run.first_logged(CRITIC_LOSSES))
    if history is None:
        return None
    value, largest = history.level, _largest_return(run)
    size = value if _is_huber(run) else math.sqrt(max(0.0, value))
    if size > limits["absurd"] * largest > 0.0:
        message = f"critic loss {num(value)}: its errors are {num(size / largest)} times any return"
        return Assessment(CRIT, value, None, message)
    if history.count <= limits["grown"]:
        return None
    tiny = (limits["tiny"] * run.reward.scale) ** 2 if run.reward is not None else 0.0
    early = max(history.initial_level, tiny)
    if early <= 0.0 or value <= 0.0:
        return None
    decades = math.log10(value / early)
    level = CRIT if decades >= limits["crit"] or run.falling else WARN
    beyond = limits["returns"] * (largest if _is_huber(run) else largest**2)
    if value > max(beyond, limits["times"] * early) and beyond:
        message = (
            f"critic loss grew from {num(early)} to {num(value)}: its errors exceed any return"
        )
        return Assessment(level, value, beyond, message)
    if decades < limits["clear"] or value < limits["left"] * history.high:
        return None
    limit = early * 10 ** limits["decades"]
    if decades < limits["decades"] or (
        decades < limits["crit"] and not _goes_on(history, decades, limits)
    ):
        return borderline(value, limit)
    message = f"critic loss grew from {num(early)} to {num(value)}, {decades:.0f} powers of ten"
    if run.learned:
        level = WATCH
    return Assessment(level, value, limit, message)


def _goes_on(history: History, decades: float, limits: RuleLimits) -> bool:
    """Whether a loss has trebled within 30 values, and not most of its growth in one of them."""
    recent = history.newest(int(limits["points"]))
    ratios = (after / before for before, after in pairwise(recent) if before > 0.0)
    jump = max(ratios, default=1.0)
    return recent[-1] > limits["growth"] * recent[0] and jump < 10 ** (limits["jump"] * decades)


def _is_huber(run: JudgedRun) -> bool:
    """Whether the critic's loss is Huber's, which grows with the error itself, not its square."""
    return run.facts.get("huber-loss") == run.profile.algo


def _largest_return(run: JudgedRun) -> float:
    """The largest return so far, without its sign; 0 while too few episodes have ended."""
    reward = run.reward
    if reward is None or reward.looks < MIN_LOOKS:
        return 0.0
    return reward.history.size


def actor_loss_large(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Action values far beyond any return: minus the actor's loss is the value of its actions."""
    history = run.in_row(run.first_logged(ACTOR_LOSSES))
    largest = _largest_return(run)
    if history is None:
        return None
    value, early = history.level, abs(history.initial_level)
    most = largest * _windows_ahead(run)
    limit = limits["times"] * max(early, most)
    if abs(value) <= limit or not 0.0 < early <= most:
        return None  # beyond all returns from the start: rewards are normalised for the learner
    if run.learned:
        return borderline(value, limit)
    message = (
        f"actor loss {num(value)}, {num(early)} at the start: "
        f"action values are far beyond all returns (at most {num(largest)})"
    )
    return Assessment(CRIT if run.falling else WARN, value, limit, message)


def _windows_ahead(run: JudgedRun) -> float:
    """How many episodes' rewards an action value may hold: episodes cut short are seen through."""
    gamma, length = run.config_number("gamma"), run.histories.get("ep_len")
    gamma = USUAL_GAMMA if gamma is None or not 0.0 <= gamma < 1.0 else gamma
    steps = length.level if length is not None else 0.0
    return max(1.0, 1.0 / ((1.0 - gamma) * steps)) if steps > 0.0 else UNKNOWN_WINDOWS


USUAL_GAMMA = 0.99
"""The discount where the log does not name it: the default of all trainers."""

UNKNOWN_WINDOWS = 3.0
"""Assumed where the log holds no length of episodes."""


def entropy_coefficient(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """An automatic entropy coefficient runs away, or vanishes.

    It follows the size of the action values, so while the reward rises it may grow with them, and
    it may vanish from a policy that is certain of a good way.
    """
    history = run.histories["entropy_coef"]
    first, value = history.baseline(3), history.last
    if first <= 0.0:
        return None
    message = f"entropy coefficient went from {num(first)} to {num(value)}"
    limit = limits["learned_times" if run.learned else "times"] * first
    if value > limit and history.rising():
        words = f"{message} and rises: the entropy bonus outweighs the reward"
        far = value > limits["crit_times"] * first and not run.learned
        return Assessment(CRIT if far else WARN, value, limit, words)
    if value < limits["share"] * first and not run.learned:
        words = f"{message}: there is no entropy bonus any more"
        return Assessment(WARN, value, limits["share"] * first, words)
    return None


def epsilon_stays(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Actions stay random: epsilon does not fall, or too late for the run."""
    history, stated = run.histories["exploration_rate"], run.stated_progress
    budget, value = run.progress if stated is None else stated, history.last
    if value < limits["random"] or value > max(1.0, history.first[0]):
        return None  # what rises above 1 counts episodes: `Eps: 2`
    trained = any(name in run.histories for name in CRITIC_LOSSES)
    constant = trained and value > limits["share"] * history.high
    constant = constant and value >= history.newest(int(limits["points"]))[0]
    late = budget is not None and budget >= limits["budget"] and history.count > 1
    if not late and not (constant and history.count >= limits["points"]):
        return borderline(value, limits["random"])
    message = f"{pct(value)} of the actions are still random"
    if constant:
        message += ": epsilon has not fallen"
    elif stated is not None:
        message += f" at {pct(stated)} of the run"
    else:
        message += " at the end of the log"
    return Assessment(WARN, value, limits["random"], message, immediate=run.ended)


LOGGED_BESIDE_REWARDS = ("ep_len", "fps", "exploration_rate")
"""What trainers log from their first row, whether they train or not."""


def not_training(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Episodes are collected, but no loss is logged: never by a trainer that logs losses, or since.

    What stops with the rate or the count of updates was not left out for being NaN.
    """
    if run.updates_stopped:
        gone = run.rows_without_updates
        message = f"no loss or rate for {plural(gone, run.profile.row_kind)}: training has stopped"
        return Assessment(WARN, float(gone), None, message, immediate=run.ended)
    if not run.should_log_losses or run.has_updates:
        return None
    if any(map(run.profile.tags.__contains__, UPDATE_METRICS)):
        return None  # there is one, later in the log
    if not any(map(run.histories.__contains__, LOGGED_BESIDE_REWARDS)):
        return None  # the reward alone, as somebody exported it
    histories = (run.histories.get(name) for name in ("reward_mean", "ep_len"))
    rows = max((history.count for history in histories if history is not None), default=0)
    starts, budget = run.config_number("learning_starts"), run.progress
    never = starts is not None and budget is not None and run.mark.step < starts * budget
    soon = starts is not None and run.mark.step <= starts
    waited = rows >= limits["rows"] or (budget is not None and budget >= limits["budget"])
    waited = waited or _has_explored(run, limits)
    if rows < limits["few"] or not (never or (waited and not soon)):
        return None
    message = f"no loss is logged in {rows} updates ({run.mark.step:,} steps): nothing is trained"
    if never:
        message += f"; learning starts at step {num(starts or 0.0)}, beyond the end"
    return Assessment(WARN, float(rows), None, message, immediate=run.ended)


def _has_explored(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether epsilon has reached its end, which is long after learning starts."""
    epsilon = run.histories.get("exploration_rate")
    if epsilon is None or epsilon.last >= epsilon.high:
        return False
    newest = epsilon.newest(int(limits["settled"]))
    return max(newest) <= min(newest)


def _is_training(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether updates are logged in each row of the block, or none before and by the trainer."""
    if not run.has_updates:
        return not run.should_log_losses
    return not block.columns.keys().isdisjoint((*UPDATE_METRICS, *COUNTED_UPDATES))


SLOWER_CRITIC = (
    "lower {learning_rate:, by 3 to 10 times}",
    "scale or clip the rewards",
    "update the target network more slowly: {target_update_interval}",
    "update the target network more slowly: {tau}",
    "update the target network more slowly",
    "clip gradients: {max_grad_norm:above 0.1}",
)


RULES = (
    Rule(
        id="critic-loss-growing",
        title="Critic loss growing without bound",
        description="the loss of the action values grows by powers of ten",
        concepts=("critic_loss",),
        related=("actor_loss", "value_mean", "entropy_coef"),
        assess=critic_loss_grows,
        judged_at=CRITIC_LOSSES,
        families=frozenset({VALUE_BASED, OFF_POLICY}),
        limits={
            "decades": 3.0,
            "tiny": 0.01,
            "clear": 2.0,
            "crit": 6.0,
            "left": 0.1,
            "returns": 10.0,
            "times": 30.0,
            "points": 30,
            "growth": 3.0,
            "jump": 0.6,
            "absurd": 1e4,
            "grown": 8,
            "warmup": 2,
        },
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=(
            "action values feed on their own targets: learning rate or target updates too fast",
            "rewards of a very large or growing size",
        ),
        remedies=SLOWER_CRITIC,
        source="Deep RL and the deadly triad (van Hasselt et al. 2018): values that diverge",
        grade="B",
    ),
    Rule(
        id="actor-loss-large",
        title="Action values beyond the returns",
        description="the actor's loss grows far beyond any return, without reward",
        concepts=("actor_loss",),
        related=("critic_loss", "value_mean"),
        assess=actor_loss_large,
        judged_at=ACTOR_LOSSES,
        families=frozenset({OFF_POLICY}),
        limits={"times": 3.0, "warmup": 8},
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=("the critic overestimates the actions that the actor finds",),
        remedies=SLOWER_CRITIC,
        source="Fujimoto et al. 2018 (TD3): overestimation; no value exceeds the largest return",
        grade="B",
    ),
    Rule(
        id="entropy-coefficient",
        title="Entropy coefficient out of bounds",
        description="the automatic entropy coefficient rises without end, or vanishes",
        concepts=("entropy_coef",),
        related=("critic_loss", "actor_loss"),
        assess=entropy_coefficient,
        families=frozenset({OFF_POLICY}),
        limits={
            "times": 4.0,
            "learned_times": 20.0,
            "crit_times": 1000.0,
            "share": 1e-6,
            "warmup": 15,
        },
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=(
            "if it rises: a target entropy out of the policy's reach, or a learning rate too high",
            "if it vanishes: a target entropy far below that of the policy",
        ),
        remedies=(
            "set the target entropy to minus the number of action dimensions",
            "a fixed coefficient: {ent_coef}",
            "lower {learning_rate}",
        ),
        source="Haarnoja et al. 2018 (SAC): tuned until the entropy is at its target",
        grade="B",
    ),
    Rule(
        id="exploration-not-falling",
        title="Exploration rate not falling",
        description="most actions stay random although training goes on",
        concepts=("exploration_rate",),
        assess=epsilon_stays,
        families=frozenset({VALUE_BASED}),
        limits={"random": 0.5, "share": 0.99, "points": 50, "budget": 0.7},
        persistence=k_of_n(3, 3),
        at_end=True,
        ranks_causes=True,
        causes=("a final exploration rate or a decay far too large for this run",),
        remedies=("{low_exploration}",),
        source="Mnih et al. 2015: epsilon falls to 0.1 within the first fiftieth of the run",
        grade="B",
    ),
    Rule(
        id="not-training",
        title="Collecting, but not training",
        description="rollouts are logged, but no loss, or none any more",
        concepts=("critic_loss",),
        assess=not_training,
        stays_calm=_is_training,
        judged_at=(),
        families=NOT_LLM,
        limits={"rows": 100, "few": 10, "budget": 0.5, "settled": 5},
        persistence=k_of_n(3, 3),
        tells_duration=True,
        at_end=True,
        ranks_causes=True,
        causes=("learning starts only after more steps than the run has",),
        remedies=(
            "set learning_starts to 1000, in a long run to 1 % of its steps",
            "check that the update is called at all",
        ),
        source="SB3's documentation: learning_starts is how many steps are collected first",
        grade="A",
    ),
)
