"""What a run has logged up to its newest row: histories, the reward's course, settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Self

from ppo_top.catalogue import (
    Trainer,
    facts_about,
    known_environment,
    names_self_play,
    total_steps,
)
from ppo_top.model import UNKNOWN_SAMPLE, UNKNOWN_TIME, ConfigValue, Mark, Profile, Row, as_number
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import BlockPosition, History
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.stand_in_zeros import may_hold_stand_ins, without_stand_ins
from ppo_top.rules.engine.terms import LLM_FAMILIES
from ppo_top.rules.engine.update_steps import RESUMED_BY_ROWS, UpdateSteps, begins_within

SELF_PLAY_MEASURES = ("elo", "eval_win_rate")
"""Metrics that serve as the reward in self-play, where rewards and wins need not increase."""

REWARD_CONCEPTS = (
    "reward_mean",
    "rlhf_reward",
    "eval_success_rate",
    "success_rate",
    "win_rate",
    *SELF_PLAY_MEASURES,
)
"""Metrics that serve as the reward, in order of preference.

Exploration can make every training episode fail, so the success of evaluation comes first.
"""

MAX_CONCEPTS = 512
"""Metrics beyond this many are not judged: a hostile log could add one in every row."""

TINY_UPDATE_STEPS = 200
"""Below this many samples, explained variance is noise: -100 to 0.9 (MountainCar, 8 steps)."""

FULL_UPDATE_STEPS = 1000
"""Steps per update from which losses are reliable and some episodes end in each update."""

ACTOR_LOSSES = ("actor_loss", "policy_loss")

CRITIC_LOSSES = ("value_loss", "critic_loss", "total_loss")
"""Names of the critic's loss, in order of preference; value-based algorithms have no other loss."""

TRAINING_LOSSES = (*ACTOR_LOSSES, *CRITIC_LOSSES)
"""Metrics that are logged once training has started."""

UPDATE_METRICS = (*TRAINING_LOSSES, "approx_kl", "clip_fraction")
"""Metrics of updates: where one of them is logged, something is trained."""

MAX_ABS_VALUE = 1e60
"""Larger values are clipped to this, so that squares and products stay finite."""


class LoggedRun:
    """Histories of all metrics of the current segment, and the course of its reward.

    `resumed`: the log (or this segment) starts long after the training did, so its first values are
    not those of an untrained policy.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.family = profile.family
        self.config: Mapping[str, ConfigValue] = profile.config
        self.trainer = Trainer(profile.trainer_id, "", profile.family, "")
        self.facts = facts_about(profile.trainer_id, profile.algo)
        self.plays_itself = names_self_play(profile.config)
        self.mark = Mark(-1, 0, UNKNOWN_TIME)
        self.previous = self.mark
        self.segment = 0
        self.first_step = 0
        """The step at which the log began."""
        self.ended = False
        self.restart()

    def restart(self) -> None:
        """Start a new segment: the run was resumed from a checkpoint."""
        self.histories: dict[str, History] = {}
        self._values: Mapping[str, float] = {}
        self._block: RowBlock | None = None
        self.reward: RewardCourse | None = None
        self.reward_concept = ""
        self.start_step = 0
        self.updates = 0
        self.resumed = False
        self.update_steps = UpdateSteps(self.facts, self.config_number("n_epochs"))
        self.non_finite: dict[str, int] = {}
        self.non_finite_now: tuple[str, ...] = ()

    def copy(self) -> Self:
        """An independent copy."""
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__)
        other.histories = {name: history.copy() for name, history in self.histories.items()}
        other.non_finite = self.non_finite.copy()
        other.update_steps = self.update_steps.copy()
        if self.reward is not None:
            other.reward = self.reward.copy(other.histories[self.reward_concept])
        return other

    def add_row(self, row: Row) -> None:
        """Add a row's values to the histories; NaN and infinities are only noted."""
        values = without_stand_ins(row.values)
        counter = self.update_steps.counter(values)
        if counter:
            self._count_steps(counter, row.mark, values.get(counter))
        self._begin_row(row.mark)
        self._values = values
        number, histories = row.mark.row, self.histories
        bad: list[str] = []
        for concept, value in values.items():
            if value - value != 0.0:  # NaN and infinities only
                bad.append(concept)
                continue
            if not -MAX_ABS_VALUE < value < MAX_ABS_VALUE:
                value = MAX_ABS_VALUE if value > 0 else -MAX_ABS_VALUE
            history = histories.get(concept)
            if history is None:
                if len(histories) >= MAX_CONCEPTS:
                    continue
                history = histories[concept] = History()
            history.push(number, value)
        self.non_finite_now = tuple(bad)
        self._choose_reward()
        reward = self.reward
        if reward is not None and reward.history.last_row == number:
            step = self.value("step", 0)
            logged = 0 if step is None or step < histories["step"].high else int(step)
            self._add_reward(reward, self.value("ep_len", 0), self.value("episode", 0), logged)

    def fits(self, block: RowBlock) -> bool:
        """Whether `add_block` may be used: no value needs a second look."""
        if may_hold_stand_ins(block.columns):
            return False
        new = sum(concept not in self.histories for concept in block.columns)
        return len(self.histories) + new <= MAX_CONCEPTS and block.is_within(MAX_ABS_VALUE)

    def add_block(self, block: RowBlock) -> Iterator[Mark]:
        """Add the rows of a block one after the other, as `add_row` would; yields their marks.

        Until the first is asked for, everything is as it was before the block.
        """
        position = BlockPosition()
        for concept, column in block.columns.items():
            self.histories.setdefault(concept, History()).begin_block(column, position)
        self.non_finite_now = ()
        self._choose_reward()
        reward = self.reward if self.reward_concept in block.columns else None
        counter = self.update_steps.counter(block.columns)
        counts, lengths, episodes = map(block.optional_column, (counter, "ep_len", "episode"))
        logged = self._logged_steps(block)
        for index, mark in enumerate(block.marks()):
            position.rows, position.row = index + 1, mark.row
            if counter:
                self._count_steps(counter, mark, counts[index])
            self._begin_row(mark)
            self._block = block
            if reward is not None:
                self._add_reward(reward, lengths[index], episodes[index], logged[index])
            yield mark
        self._values, self._block = self.values, None
        for concept in block.columns:
            self.histories[concept].end_block(*block.bounds(concept))

    @property
    def values(self) -> Mapping[str, float]:
        """The values of the newest row."""
        if self._block is None:
            return self._values
        return self._block.row(self.mark.row - self._block.first_row)

    def _begin_row(self, mark: Mark) -> None:
        """Go to the next row; the second one tells whether the log begins within a training."""
        if self.updates == 1 or (self.resumed and self.updates < RESUMED_BY_ROWS):
            first, logged = self.start_step or self.first_step, self.profile.first_step
            begun = first if self.segment or logged is None else min(first, logged)
            self.resumed = begins_within(begun, mark.step - self.mark.step)
        self.previous, self.mark = self.mark, mark
        self.updates += 1
        if self.updates > 1:
            return
        if self.segment:
            self.start_step = mark.step
        else:
            self.first_step = mark.step

    def _count_steps(self, counter: str, mark: Mark, count: float | None) -> None:
        """Follow how many steps an update takes, by a counter; without a count, by updates."""
        if count is None:
            count = float(self.updates)
        self.update_steps.add(counter, float(mark.step), count)

    def _choose_reward(self) -> None:
        """The reward: the first of its measures logged; a better one may appear later."""
        measures = SELF_PLAY_MEASURES if self.in_self_play else REWARD_CONCEPTS
        if self.reward_concept == measures[0]:
            return
        found = next((name for name in measures if name in self.histories), "")
        if found == self.reward_concept:
            return
        self.reward_concept, self.reward = found, None
        if found:
            sample = self.profile.samples.get(found, UNKNOWN_SAMPLE)
            of_episodes = found == REWARD_CONCEPTS[0]
            known = known_environment(self.config.get("env_id")) if of_episodes else None
            self.reward = RewardCourse(self.histories[found], self.ceiling, sample, known)

    def _add_reward(
        self, reward: RewardCourse, length: float | None, episodes: float | None, logged: int
    ) -> None:
        """Follow the reward of the newest row, with the `ep_len` and `episode` that it logs.

        `logged`: the environment's steps by a metric of their own; rows may go by something else.
        """
        step = self.mark.step - self.start_step
        if self.segment:
            episodes = None
        else:
            step = max(step, logged)
        if (evaluated := self.histories.get("eval_reward_mean")) is not None:
            reward.highest_evaluation = evaluated.high
        reward.add_reward(self.mark, step, length, episodes)

    @property
    def in_self_play(self) -> bool:
        """Whether the policy plays against its past selves: the settings say so, or a rating."""
        return self.plays_itself or SELF_PLAY_MEASURES[0] in self.histories

    def _logged_steps(self, block: RowBlock) -> Sequence[int]:
        """The steps that a metric of their own counts at each row of a block; 0 where it falls."""
        column = block.columns.get("step")
        if column is None:
            return [0] * len(block.steps)
        highest = accumulate(column, max, initial=self.histories["step"].high)
        next(highest)  # that of the rows before
        return [
            int(step) if step >= high else 0 for step, high in zip(column, highest, strict=True)
        ]

    def judged_as(self, concepts: tuple[str, ...]) -> tuple[str, ...]:
        """Those of these metrics that are logged; for the mean reward, what serves as reward."""
        own = self.reward_concept or REWARD_CONCEPTS[0]
        named = (own if name == REWARD_CONCEPTS[0] else name for name in concepts)
        return tuple(name for name in named if name in self.histories)

    @property
    def ceiling(self) -> float | None:
        """The highest possible reward, from the user or the run's configuration."""
        if self.profile.goal is not None:
            return self.profile.goal
        best = self.reward_concept == REWARD_CONCEPTS[0]
        return self.config_number("reward_threshold") if best else None

    def config_number(self, name: str) -> float | None:
        """A hyperparameter as a number, or None if unknown."""
        return as_number(self.config.get(name))

    def value(self, concept: str, age: int = 1) -> float | None:
        """The newest finite value of a metric, or None if older than `age` rows."""
        history = self.histories.get(concept)
        if history is None or self.mark.row - history.last_row > age:
            return None
        return history.last

    def in_row(self, history: History | None) -> History | None:
        """A history, if the newest row holds a value of it."""
        return history if history is not None and history.last_row == self.mark.row else None

    def first_logged(self, concepts: Iterable[str]) -> History | None:
        """The history of the first of some metrics that is logged."""
        return next((self.histories[name] for name in concepts if name in self.histories), None)

    def setting(self, name: str) -> float | None:
        """A hyperparameter from the configuration, or its logged value."""
        known, history = self.config_number(name), self.histories.get(name)
        return history.last if known is None and history is not None else known

    @property
    def speed(self) -> float | None:
        """Steps a second since the previous row; None where they or their times do not rise."""
        steps, seconds = self.mark.step - self.previous.step, self.mark.time - self.previous.time
        return steps / seconds if self.updates > 1 and steps > 0 and seconds > 0.0 else None

    def rises(self, concept: str) -> bool:
        """Whether a metric is logged and has risen significantly."""
        history = self.histories.get(concept)
        return history is not None and history.rising()

    @property
    def progress(self) -> float | None:
        """The completed share of the run, if its length or its end is known."""
        return 1.0 if self.ended else self.stated_progress

    @property
    def total_steps(self) -> int | None:
        """How many steps the run will take, in its own counter; None if the log states none."""
        counted = self.histories.get("step")
        high = counted.high if counted is not None else None
        return total_steps(self.config, self.trainer, self.mark.step, high, self.profile.axis)

    @property
    def stated_progress(self) -> float | None:
        """The completed share of the length that the log states; None if it states none."""
        steps = self.total_steps
        return min(1.0, self.mark.step / steps) if steps else None

    @property
    def steps_per_update(self) -> float:
        """Environment steps of the newest update; 0.0 while unknown."""
        return self.update_steps.each

    @property
    def tiny_updates(self) -> bool:
        """Whether updates hold so few steps that losses and fractions are mostly noise."""
        return 0.0 < self.steps_per_update < TINY_UPDATE_STEPS

    def few_episodes(self, enough: float) -> bool:
        """Whether a control task has had fewer episodes, judging by the episode length."""
        length = self.histories.get("ep_len")
        if self.family in LLM_FAMILIES or length is None:
            return False
        if self.reward is not None and self.reward.source.has_other_unit:
            return False
        return self.mark.step < enough * length.last

    @property
    def small_updates(self) -> bool:
        """Whether updates hold so few steps that hardly an episode ends in each."""
        return 0.0 < self.steps_per_update < FULL_UPDATE_STEPS

    @property
    def has_new_lesson(self) -> bool:
        """Whether a curriculum has moved on: the task is not the one of the start."""
        lessons = self.histories.get("curriculum_stage")
        return lessons is not None and lessons.count > 0 and lessons.high > lessons.first[0]
