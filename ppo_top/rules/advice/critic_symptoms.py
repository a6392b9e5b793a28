"""Facts about what a learner from a replay buffer believes: action values, their loss, exploration.

The return itself is the measure: a value of one step cannot exceed the largest return by much, has
its sign, and is that of more than one step's reward.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise

from ppo_top.rules.engine.history import LEVEL_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import ACTOR_LOSSES, CRITIC_LOSSES
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import GRPO, OFF_POLICY, ON_POLICY, PREFERENCE, VALUE_BASED

LIMITS: Mapping[str, float] = {
    "values_none": 0.1,  # of one step's reward
    "values_short": 1.0,
    "values_wrong": 1.0,
    "values_seen": 10,
    "values_kept": 0.5,  # of their largest
    "returns_noise": 3.0,
    "loss_grown": 30.0,  # times its start
    "loss_kept": 0.5,
    "loss_fallen": 0.01,
    "loss_large": 1.0,  # of the squared return
    "loss_never_large": 10.0,
    "loss_vast": 1e5,
    "loss_at_once": 10.0,  # of the squared return, or of 1
    "loss_unpaid": 0.01,  # of the squared reward of a step, or of 1
    "actor_loss_grown": 10.0,  # times its start
    "reward_large": 300.0,
    "bonus": 10.0,  # steps' rewards
    "bonus_nats": 10.0,  # the entropy of ten actions or so
    "coefficient_up": 2.0,
    "varies_less": 0.4,
    "varies_more": 2.5,
    "shorter": 0.7,
    "longer": 1.5,
}
"""Where each fact begins."""


def _action_values(run: JudgedRun) -> float | None:
    """The mean action value: minus the actor's loss is the value of the actor's actions."""
    values = run.histories.get("value_mean")
    if values is not None:
        return values.level
    loss = run.first_logged(ACTOR_LOSSES)
    return -loss.level if loss is not None and run.family == OFF_POLICY else None


def steps_rewarded(run: JudgedRun) -> float | None:
    """How many steps' rewards the action values amount to; negative if their signs differ."""
    value, each = _action_values(run), _reward_of_step(run)
    return value / each if value is not None and each else None


def _reward_of_step(run: JudgedRun) -> float | None:
    """The mean reward of a step, by return and length of the newest episodes."""
    length, reward = run.histories.get("ep_len"), run.reward
    if length is None or reward is None or reward.history.count < 3:
        return None
    return reward.history.level / max(1.0, length.level)


def rewards_large(run: JudgedRun) -> bool | None:
    """A step's reward is in the hundreds, of either sign: a network starts with values near 0.

    Of learners from a buffer; the others' rewards are often normalised, as their value loss shows.
    """
    each = _reward_of_step(run)
    if each is None or run.family not in (VALUE_BASED, OFF_POLICY):
        return None
    return abs(each) > LIMITS["reward_large"]


def returns_of_one_sign(run: JudgedRun) -> bool:
    """Whether all returns are of one sign, and so by more than noise."""
    reward = run.reward
    if reward is None or not reward.history.low * reward.history.high > 0.0:
        return False
    return abs(reward.smooth) > LIMITS["returns_noise"] * reward.noise > 0.0


def values_wrong(run: JudgedRun) -> bool | None:
    """Action values are of the other sign than all returns, not for the sake of entropy."""
    steps, each = steps_rewarded(run), _reward_of_step(run)
    bonus = run.histories.get("entropy_coef")
    if steps is None or each is None or not returns_of_one_sign(run):
        return None
    if coefficient_rises(run) or (bonus and LIMITS["bonus_nats"] * bonus.last > abs(each)):
        return None
    return steps < -LIMITS["values_wrong"]


def values_none(run: JudgedRun) -> bool | None:
    """Action values are next to nothing beside the rewards."""
    steps = steps_rewarded(run)
    return None if steps is None else abs(steps) < LIMITS["values_none"]


def values_short(run: JudgedRun) -> bool | None:
    """Action values do not even amount to the reward of one step."""
    steps = steps_rewarded(run)
    return None if steps is None else abs(steps) < LIMITS["values_short"]


def values_beyond(run: JudgedRun) -> bool | None:
    """Action values are larger than any return."""
    value, reward = _action_values(run), run.reward
    if value is None or reward is None or reward.history.count < 3:
        return None
    return abs(value) > reward.history.size


def values_kept(run: JudgedRun) -> bool | None:
    """The mean action value has not shrunk to half of what it was: the weights are there still."""
    history = run.histories.get("value_mean")
    if history is None or history.count < LIMITS["values_seen"]:
        return None
    sizes = [abs(value) for value in history.recent]
    return all(
        size >= LIMITS["values_kept"] * most
        for size, most in zip(sizes, accumulate(sizes, max), strict=True)
    )


def critic_loss(run: JudgedRun) -> History | None:
    """The critic's loss; what trains a language model without a critic is none.

    A total loss is the critic's where there is no other: of learners from a replay buffer.
    """
    if run.family in (GRPO, PREFERENCE):
        return None
    from_buffer = run.family in (VALUE_BASED, OFF_POLICY)
    return run.first_logged(CRITIC_LOSSES if from_buffer else CRITIC_LOSSES[:-1])


def _loss_growth(run: JudgedRun) -> float | None:
    """The critic's loss, as a multiple of its first values."""
    loss = critic_loss(run)
    if loss is None or loss.count < 10 or not loss.initial_level > 0.0:
        return None
    return loss.level / loss.initial_level


def loss_grown(run: JudgedRun) -> bool | None:
    """The critic's loss is many times that of the start."""
    growth = _loss_growth(run)
    return None if growth is None else growth > LIMITS["loss_grown"]


def loss_kept(run: JudgedRun) -> bool | None:
    """The critic's loss is still at least half of that at the start."""
    growth = _loss_growth(run)
    return None if growth is None else growth > LIMITS["loss_kept"]


def loss_fallen(run: JudgedRun) -> bool | None:
    """The critic's loss is a small part of that at the start."""
    growth = _loss_growth(run)
    return None if growth is None else growth < LIMITS["loss_fallen"]


def _loss_share(run: JudgedRun) -> float | None:
    """The critic's loss as a share of the largest return, squared.

    On-policy learners often normalise rewards: their losses have another unit.
    """
    loss, reward = critic_loss(run), run.reward
    if run.family not in (OFF_POLICY, VALUE_BASED) or loss is None:
        return None
    if reward is None or reward.history.count < 3:
        return None
    largest = reward.history.size
    return loss.level / largest**2 if largest else None


def loss_large(run: JudgedRun) -> bool | None:
    """The critic's error is larger than any return."""
    share = _loss_share(run)
    return None if share is None else share > LIMITS["loss_large"]


def loss_never_large(run: JudgedRun) -> bool | None:
    """The critic's error was never more than a few: rewards are not too large to fit."""
    loss = critic_loss(run)
    return None if loss is None or loss.count < 5 else loss.high < LIMITS["loss_never_large"]


def loss_vast(run: JudgedRun) -> bool | None:
    """The critic is off by hundreds, by its squared error."""
    loss = critic_loss(run)
    return None if loss is None or loss.count < 5 else loss.level > LIMITS["loss_vast"]


def loss_beyond_at_once(run: JudgedRun) -> bool | None:
    """The first error is far beyond any return, though a new network's values are near 0.

    It is of the size of a reward, in some losses squared, unless observations or rewards are huge.
    """
    loss, reward = critic_loss(run), run.reward
    if run.family not in (OFF_POLICY, VALUE_BASED) or loss is None:
        return None
    if reward is None or reward.history.count < 3:
        return None
    return loss.first[0] > LIMITS["loss_at_once"] * max(1.0, reward.history.size**2)


def learner_unpaid(run: JudgedRun) -> bool | None:
    """There was next to nothing to predict at the first update, though rewards are logged.

    Rewards that are normalised leave an error of a tenth or so.
    """
    loss, each = critic_loss(run), _reward_of_step(run)
    if run.family != ON_POLICY or loss is None or each is None:
        return None
    return loss.first[0] < LIMITS["loss_unpaid"] * min(1.0, each * each)


def actor_loss_grown(run: JudgedRun) -> bool | None:
    """The actor's loss, an action value, is many times that of the start."""
    loss = run.histories.get("actor_loss")
    if loss is None or loss.count < 10:
        return None
    return abs(loss.level) > LIMITS["actor_loss_grown"] * abs(loss.initial_level)


def coefficient_rises(run: JudgedRun) -> bool | None:
    """The entropy coefficient of SAC is above its start."""
    history = run.histories.get("entropy_coef")
    if history is None or history.count < LEVEL_VALUES:
        return None
    return history.last > LIMITS["coefficient_up"] * history.start


def bonus_outweighs(run: JudgedRun) -> bool | None:
    """A fixed entropy coefficient makes a nat of entropy worth far more than a step's reward."""
    history, each = run.histories.get("entropy_coef"), _reward_of_step(run)
    if history is None or each is None:
        return None
    fixed = history.high <= history.low
    return fixed and history.last > LIMITS["bonus"] * abs(each)


def _length_share(run: JudgedRun) -> float | None:
    """The length of episodes as a share of that at the start."""
    history = run.histories.get("ep_len")
    if history is None or history.count < 10 or not history.initial_level > 0.0:
        return None
    return history.level / history.initial_level


def episodes_shorter(run: JudgedRun) -> bool | None:
    """Episodes end sooner than at the start."""
    share = _length_share(run)
    return None if share is None else share < LIMITS["shorter"]


def episodes_longer(run: JudgedRun) -> bool | None:
    """Episodes last longer than at the start."""
    share = _length_share(run)
    return None if share is None else share > LIMITS["longer"]


def stuck_at_one_value(run: JudgedRun) -> bool | None:
    """The reward has been one and the same value for most of the run, after others."""
    reward = run.reward
    if reward is None or reward.count < 10 or reward.constant:
        return None
    return reward.source.same > 0.5 * reward.count


def _spread_share(run: JudgedRun) -> float | None:
    """How far rewards differ from row to row, as a share of that at the start."""
    reward = run.reward
    if reward is None:
        return None
    if reward.source.blocks is not None:
        errors = [block.error for block in reward.source.blocks.blocks]
        return median(errors[-3:]) / errors[0] if len(errors) > 3 and errors[0] else None
    if reward.history.count < 40 or reward.source.sample.kind == "window":
        return None
    early, late = _row_to_row(reward.history.first), _row_to_row(reward.history.newest(20))
    return late / early if early else None


def _row_to_row(values: Sequence[float]) -> float:
    return median([abs(after - before) for before, after in pairwise(values)])


def varies_less(run: JudgedRun) -> bool | None:
    """Rewards vary far less than at the start."""
    share = _spread_share(run)
    return None if share is None else share < LIMITS["varies_less"]


def varies_more(run: JudgedRun) -> bool | None:
    """Rewards vary far more than at the start."""
    share = _spread_share(run)
    return None if share is None else share > LIMITS["varies_more"]


def at_lowest(run: JudgedRun) -> bool | None:
    """The reward is about as low as it ever was."""
    reward = run.reward
    if reward is None or reward.points < 6 or reward.constant:
        return None
    low, high = reward.history.low, reward.history.high
    return reward.history.level < low + 0.1 * (high - low)


Fact = Callable[[JudgedRun], bool | None]

CRITIC_FACTS: Mapping[str, Fact] = {
    "action values of the other sign than the returns": values_wrong,
    "action values near 0 beside the rewards": values_none,
    "action values below one step's reward": values_short,
    "action values beyond all returns": values_beyond,
    "action values never shrank": values_kept,
    "critic loss 30 times its start": loss_grown,
    "critic loss not halved since its start": loss_kept,
    "critic loss a hundredth of its start": loss_fallen,
    "critic loss beyond the squared returns": loss_large,
    "critic loss never above 10": loss_never_large,
    "critic loss above 100,000": loss_vast,
    "critic loss beyond all returns from the first": loss_beyond_at_once,
    "critic loss next to 0 from the first, though rewards are logged": learner_unpaid,
    "rewards of hundreds a step": rewards_large,
    "actor loss ten times its start": actor_loss_grown,
    "entropy coefficient above its start": coefficient_rises,
    "entropy coefficient fixed far above the rewards": bonus_outweighs,
    "episodes shorter than at the start": episodes_shorter,
    "episodes longer than at the start": episodes_longer,
    "reward stuck at one value": stuck_at_one_value,
    "reward at its lowest": at_lowest,
    "reward varies less than at the start": varies_less,
    "reward varies more than at the start": varies_more,
}
"""What a reader calls it -> how it is seen."""
