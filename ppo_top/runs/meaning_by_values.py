"""Meanings that a name leaves open and the first values settle, or the names beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from ppo_top.catalogue import Meaning
from ppo_top.model import Axis, Sample
from ppo_top.parsers.shared.names.metric_names import normalise, step_axis
from ppo_top.text.lazy_pattern import lazy_pattern

MIN_START_ENTROPY = 0.3
"""Nats: an untrained policy has more, with two actions 0.69; less is weighted by a coefficient."""

_LENGTHS = ("ep_len", "resp_len_mean")
_LENGTH_NAMES = ("length", "lengths")
_SIGNS_OF_RL = {"entropy", "exploration_rate", "approx_kl", "ref_kl", "policy_loss", "value_loss"}
"""Beside one of these, `R` is no coefficient of a correlation and no recall."""
_PLAIN_KL = lazy_pattern(r"(?i)(.*/)?(mean[ _]?|avg[ _]?)?kl([ _](mean|avg|div(ergence)?))?")
_OF_GRPO = {"reward_mean", "total_loss", "approx_kl"}
_OF_CONTROL = {
    *("policy_loss", "value_loss", "critic_loss", "actor_loss", "entropy", "entropy_coef"),
    *("clip_fraction", "explained_variance", "policy_std", "value_mean", "exploration_rate"),
    *("ratio_mean", "episode", "ep_len", "eval_reward_mean"),
}

_NAMES_OF_OTHERS = (("mean", "policy_std", "std"), ("wins", "total_loss", "losses"))
"""A name, and what another one beside it does not mean then."""

_FRACTIONS = ("clip_fraction", "exploration_rate")
_BARE_REWARDS = ("reward", "rewards", "return", "score")
_REWARDS_OF_STEPS = ("reward", "rewards")
_MEAN = lazy_pattern(r"(?i)mean|av(?:era)?g|running|rolling|moving|smooth")
_LIST_OF_EPISODES = lazy_pattern(
    r"(?i)(?:.*[/ _(])?(?:per[_ ]?episode.*|episode[_ ]?(?:rewards|returns|scores|lengths))"
)
MIN_SINGLE_STEPS = 6
"""So many rows in a row, each of one step of the environment: a reward there is that step's."""

MIN_REPEATS = 2
"""So many rows with the number of the row before: a count of all steps would have grown."""


def settle_sign(guess: Meaning, values: Sequence[float]) -> Meaning | None:
    """`entropy_loss` with the sign that makes an untrained policy's entropy positive.

    SB3 and its like log minus the entropy, others the entropy itself; None where the first value
    is too small to tell, or no number.
    """
    first = values[0] if values else 0.0
    if not abs(first) >= MIN_START_ENTROPY:
        return None
    return guess._replace(scale=1.0 if first > 0.0 else -1.0)


def counts_one_episode(values: Sequence[float]) -> bool:
    """Whether "steps" beside a count of episodes are those of one episode, not of all so far.

    A mean over several episodes need not be whole.
    """
    if any(after < before for before, after in pairwise(values)):
        return True
    repeats = sum(after == before for before, after in pairwise(values))
    return repeats >= MIN_REPEATS or any(value % 1 for value in values)


def counts_a_batch(values: Sequence[float]) -> bool:
    """Whether "episodes" are those of each batch: a count of all would only fall to begin anew.

    And would not stay there.
    """
    if any(values[0] < after < before for before, after in pairwise(values)):
        return True
    triples = zip(values, values[1:], values[1 + MIN_REPEATS :], strict=False)
    return any(1 < after < before and after == later for before, after, later in triples)


def counts_single_steps(values: Sequence[float]) -> bool:
    """Whether each row is one step of the environment."""
    rises = all(after == before + 1.0 for before, after in pairwise(values))
    return rises and len(values) >= MIN_SINGLE_STEPS


def counted_axis(tags: Iterable[str]) -> Axis:
    """What the rows of a log that states no step are, by its tags.

    Episodes, where each is a list with a number for every episode: `episode_rewards`.
    """
    lists = (_LIST_OF_EPISODES.fullmatch(tag) and not _MEAN.search(tag) for tag in tags)
    return Axis.EPISODE if all(lists) else Axis.UPDATE


class OpenCounts:
    """Lets counts of steps and of episodes, errors and fractions mean what their first values show.

    `are_steps`: whether those of a tag are the steps of its points. `counts_rows`: no row says its
    step.
    """

    def __init__(
        self,
        first_values: Callable[[str], Sequence[float]],
        are_steps: Callable[[str], bool],
        *,
        counts_rows: bool,
    ) -> None:
        self._first_values = first_values
        self._are_steps = are_steps
        self._counts_rows = counts_rows

    def settle(self, found: dict[str, Meaning]) -> None:
        """Change the meanings of tags whose values show another one."""
        for episodes in self._counts_of_batches(found):
            found[episodes] = found[episodes]._replace(concept="n_episodes")
            for steps in self._lengths(_guessed(found, "step")):
                del found[steps]
        for steps in self._lengths(self._open_steps(found)):
            found[steps] = found[steps]._replace(concept="ep_len")
        for tag in (*self._impossible(found), *self._rewards_of_steps(found)):
            del found[tag]

    def are_settled(self, found: Mapping[str, Meaning]) -> bool:
        """Whether no count so far has turned out to be that of each episode, or of each batch."""
        changed = self._lengths(self._open_steps(found)) or self._counts_of_batches(found)
        return not (changed or self._impossible(found) or self._rewards_of_steps(found))

    def are_open(self, found: Mapping[str, Meaning]) -> bool:
        """Whether only values show what a count is of."""
        others = ("episode", "ep_len", "critic_loss", *_FRACTIONS)
        counts = self._open_steps(found) or self._timesteps(found)
        return bool(counts or any(_guessed(found, name) for name in others))

    def _counts_of_batches(self, found: Mapping[str, Meaning]) -> list[str]:
        """`Episodes` that are those of each batch; `Episode` is a number, maybe out of order."""
        counts = [tag for tag in _guessed(found, "episode") if tag.lower().endswith("s")]
        return [tag for tag in counts if counts_a_batch(self._first_values(tag))]

    def _impossible(self, found: Mapping[str, Meaning]) -> list[str]:
        """`TD Error`s of either sign, as a loss has none below 0; a `clip_ratio` that is a setting,
        and an `e` that is no epsilon: no fraction is above 1; a `len` that is a bonus: no episode
        takes half a step, and before the first one is over loops print 0.
        """
        errors = [tag for tag in _guessed(found, "critic_loss") if "error" in tag.lower()]
        signed = [tag for tag in errors if any(value < 0.0 for value in self._first_values(tag))]
        fractions = [
            (tag, found[tag].scale) for name in _FRACTIONS for tag in _guessed(found, name)
        ]
        signed += [
            tag
            for tag in _guessed(found, "ep_len")
            if any(value < 1.0 and value != 0.0 for value in self._first_values(tag))
        ]
        return signed + [
            tag
            for tag, scale in fractions
            if any(scale * value > 1.0 for value in self._first_values(tag))
        ]

    def _rewards_of_steps(self, found: Mapping[str, Meaning]) -> list[str]:
        """`REWARD` beside a `TIMESTEP` of each row is not that of an episode, as a mean may be."""
        rewards = _guessed(found, "reward_mean")
        if not self._count_single_steps(self._timesteps(found)):
            return [tag for tag in rewards if self._sums_up_steps(tag, found)]
        return [tag for tag in rewards if normalise(tag) in _BARE_REWARDS]

    def _sums_up_steps(self, reward: str, found: Mapping[str, Meaning]) -> bool:
        """Whether the `EpisodeReward` of each row is that of the episode up to its step.

        The steps of one episode have rows of their own then; a mean is of others.
        """
        episodes = map(self._first_values, _guessed(found, "episode"))
        stays = any(len(each) >= MIN_SINGLE_STEPS and len({*each}) == 1 for each in episodes)
        if not stays or not self._count_single_steps(_guessed(found, "step")):
            return False
        values = self._first_values(reward)
        changes = all(after != before for before, after in pairwise(values))
        return changes and len(values) >= MIN_SINGLE_STEPS and not _MEAN.search(reward)

    def _count_single_steps(self, counts: Iterable[str]) -> bool:
        return any(counts_single_steps(self._first_values(tag)) for tag in counts)

    def _timesteps(self, found: Mapping[str, Meaning]) -> list[str]:
        return [tag for tag in _guessed(found, "step") if step_axis(tag) == "timesteps"]

    def _lengths(self, steps: Iterable[str]) -> list[str]:
        return [
            tag
            for tag in steps
            if counts_one_episode(self._first_values(tag)) and not self._are_steps(tag)
        ]

    def _open_steps(self, found: Mapping[str, Meaning]) -> list[str]:
        """The first guessed count of steps that may be those of an episode.

        So it is beside a count of episodes, or where rows are counted, and no length is logged.
        """
        concepts = {known.concept for known in found.values()}
        if not ("episode" in concepts or self._counts_rows) or "ep_len" in concepts:
            return []
        return _guessed(found, "step")[:1]


def _tell_steps_apart(found: dict[str, Meaning]) -> None:
    """Let `Reward` be that of a single step, and not the reward where something else is."""
    rewards = _guessed(found, "reward_mean")
    single = [tag for tag in rewards if normalise(tag) in _REWARDS_OF_STEPS]
    for tag in single:
        if len(single) < len(rewards):
            del found[tag]
        else:
            found[tag] = found[tag]._replace(sample=Sample("step"))


def settle_by_others(found: dict[str, Meaning], tags: Sequence[str], *, is_known: bool) -> None:
    """Let names mean what those beside them show.

    Unless the trainer `is_known`, `R` beside an entropy or the like is the reward, if nothing else
    is, and `length` beside a reward that of an episode. `Std` beside `Mean` is of the same numbers,
    `losses` beside `wins` are games. `alpha` beside an exploration rate is a learning rate or the
    exponent of priorities: who explores so has no entropy bonus. `Reward` beside an `Action` is
    that of one step. `kl` beside a loss and a reward, and nothing that an actor or a critic for
    control logs, is that of a GRPO loop of one's own.
    """
    concepts = {known.concept for known in found.values()}
    if not is_known and "reward_mean" not in concepts and not concepts.isdisjoint(_SIGNS_OF_RL):
        found |= {tag: Meaning("reward_mean", fallback=True) for tag in tags if tag in ("R", "r")}
        concepts = {known.concept for known in found.values()}
    if not is_known and "reward_mean" in concepts and concepts.isdisjoint(_LENGTHS):
        lengths = [tag for tag in tags if tag.lower() in _LENGTH_NAMES]
        found |= {tag: Meaning("ep_len", fallback=True) for tag in lengths[:1]}
    if "exploration_rate" in concepts and "entropy" not in concepts:
        _forget(found, "entropy_coef", "alpha")
    if not is_known and concepts >= _OF_GRPO and concepts.isdisjoint(_OF_CONTROL):
        for tag in filter(_PLAIN_KL.fullmatch, _guessed(found, "approx_kl")):
            found[tag] = found[tag]._replace(concept="ref_kl_token")
    names = {tag.lower() for tag in tags}
    if not is_known and "action" in names:
        _tell_steps_apart(found)
    for other, concept, name in _NAMES_OF_OTHERS:
        if other in names:
            _forget(found, concept, name)


def _forget(found: dict[str, Meaning], concept: str, name: str) -> None:
    """Let tags of this name mean nothing that they are guessed to mean."""
    for tag in _guessed(found, concept):
        if tag.lower() == name:
            del found[tag]


def _guessed(meanings: Mapping[str, Meaning], concept: str) -> list[str]:
    """The tags that mean this by their name alone."""
    return [t for t, known in meanings.items() if known.fallback and known.concept == concept]
