"""What the rules know of a run at its newest row; a pure fold over the rows so far."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ppo_top.catalogue import Trainer, total_steps
from ppo_top.model import UNKNOWN_TIME, ConfigValue, Mark, Profile, Row, Severity
from ppo_top.rules.engine.history import MAX_RECENT_VALUES, History
from ppo_top.rules.engine.reward_course import SETTLING_REWARDS, RewardCourse
from ppo_top.rules.engine.terms import CTRL

REWARD_CONCEPTS = ("reward_mean", "rlhf_reward", "success_rate")
"""What counts as the reward, in order of preference."""

MAX_CONCEPTS = 512
"""Series beyond this many are not judged: a hostile log could name a new one in every row."""

TINY_UPDATE_STEPS = 200
"""Of so few samples an explained variance is anything between -100 and 0.9 (MountainCar, 8)."""

FULL_UPDATE_STEPS = 1000
"""Steps an update of which losses are a fair measure, and in which some episodes end."""

ROLLOUT_COUNTERS = ("iteration", "n_updates")
"""What counts rollouts, in order of preference."""

RESUMED_AFTER_ROWS = 20
"""A log whose first row is so many rows' steps from 0 goes on from an earlier state."""

MAX_ABS_VALUE = 1e60
"""Larger numbers are judged as this one, so that their squares and products are numbers, too."""

Memo = tuple[float, ...]


class RuleContext:
    """Histories of all concepts of the present segment, and which rules are open.

    `memos` is where a rule keeps the few numbers that it must remember, under its own id. `resumed`
    says that the log (or its present segment) begins long after the training did, so that its first
    values are not those of an untrained policy.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.family = profile.family
        self.trainer_id = profile.trainer_id
        self.config: Mapping[str, ConfigValue] = profile.config
        self.trainer = Trainer(profile.trainer_id, "", profile.family, "")
        self.open_severities: dict[str, Severity] = {}
        self.closed_rows: dict[str, int] = {}
        self.last_severities: dict[str, int] = {}
        self.opened_rows: dict[str, int] = {}
        self.mark = Mark(-1, 0, UNKNOWN_TIME)
        self.segment = 0
        self.restart()

    def restart(self) -> None:
        """Forget what is known: the run goes on from an earlier state."""
        self.histories: dict[str, History] = {}
        self.values: Mapping[str, float] = {}
        self.reward: RewardCourse | None = None
        self.reward_concept = ""
        self.memos: dict[str, Memo] = {}
        self.updates = 0
        self.resumed = False
        self.steps_per_update = 0.0
        self.last_counts: dict[str, tuple[float, float]] = {}
        self.non_finite: dict[str, int] = {}
        self.non_finite_now: tuple[str, ...] = ()

    def copy(self) -> RuleContext:
        """An independent copy."""
        other = RuleContext.__new__(RuleContext)
        other.__dict__.update(self.__dict__)
        other.histories = {name: history.copy() for name, history in self.histories.items()}
        other.open_severities, other.closed_rows = (
            self.open_severities.copy(),
            self.closed_rows.copy(),
        )
        other.last_severities, other.opened_rows = (
            self.last_severities.copy(),
            self.opened_rows.copy(),
        )
        other.memos, other.non_finite = self.memos.copy(), self.non_finite.copy()
        if self.reward is not None:
            other.reward = self.reward.copy(other.histories[self.reward_concept])
        return other

    def add_row(self, row: Row) -> None:
        """Add a row's values to the histories; numbers that are none are only noted."""
        if self.updates == 1:
            self.resumed = (
                self.mark.step > RESUMED_AFTER_ROWS * (row.mark.step - self.mark.step) > 0
            )
        self._count_steps(row)
        self.mark, self.values = row.mark, row.values
        self.updates += 1
        number, histories = row.mark.row, self.histories
        bad: list[str] = []
        for concept, value in row.values.items():
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
        self._follow_reward(number)

    def _count_steps(self, row: Row) -> None:
        """Environment steps an update, where the log counts its rollouts or its epochs.

        Rows of an evaluation lie between those of rollouts and may hold the epochs, too.
        """
        counter = next(
            (c for c in ROLLOUT_COUNTERS if c in row.values or c in self.last_counts), ""
        )
        now = row.values.get(counter)
        if not counter and self.trainer_id == "cleanrl" and "value_loss" in row.values:
            counter, now = "losses", float(self.updates)  # a row with losses is an update
        if now is None or (counter == "n_updates" and self.trainer_id != "sb3"):
            return
        step = float(row.mark.step)
        before, last = self.last_counts.get(counter, (step, now))
        self.last_counts = {**self.last_counts, counter: (step, now)}
        steps, passed = step - before, now - last
        if counter == "n_updates":  # SB3's event files count only the epochs
            passed = (
                passed / (self.config_number("n_epochs") or 10.0) if passed > 40 else passed > 0
            )
        if not (0.0 < passed < math.inf and steps > passed):
            return  # where a step is a rollout nobody knows what that holds
        self.steps_per_update = steps / passed
        if self.reward is not None:
            patience = FULL_UPDATE_STEPS / self.steps_per_update if self.small_updates else 1.0
            self.reward.settling_rewards = min(MAX_RECENT_VALUES, int(SETTLING_REWARDS * patience))

    def _follow_reward(self, number: int) -> None:
        """The reward: the first of `REWARD_CONCEPTS` in the log; a better one may come later."""
        if self.reward_concept != REWARD_CONCEPTS[0]:
            found = next((name for name in REWARD_CONCEPTS if name in self.histories), "")
            if found != self.reward_concept:
                self.reward_concept = found
                self.reward = RewardCourse(self.histories[found], self.ceiling)
        reward = self.reward
        if reward is not None and reward.history.last_row == number:
            reward.add_reward(number)

    @property
    def ceiling(self) -> float | None:
        """The highest reward there is, where the user or the run's configuration says so."""
        if self.profile.goal is not None:
            return self.profile.goal
        return (
            self.config_number("reward_threshold")
            if self.reward_concept == REWARD_CONCEPTS[0]
            else None
        )

    def config_number(self, name: str) -> float | None:
        """A hyperparameter as a number, or None where it is not known."""
        value = self.config.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value)

    def value(self, concept: str, age: int = 1) -> float | None:
        """The newest finite value of a concept, unless it is older than `age` rows."""
        history = self.histories.get(concept)
        if history is None or self.mark.row - history.last_row > age:
            return None
        return history.last

    def setting(self, name: str, concept: str) -> float | None:
        """A hyperparameter from the configuration, or as the log itself reports it."""
        known = self.config_number(name)
        if known is not None:
            return known
        history = self.histories.get(concept)
        return history.last if history is not None else None

    def severity_of(self, rule: str, within: int = 3) -> int:
        """How severe a rule's finding is: 0 when it is not open and was not in the last rows."""
        severity = self.open_severities.get(rule)
        if severity is not None:
            return severity
        closed = self.closed_rows.get(rule)
        if closed is not None and self.mark.row - closed <= within:
            return self.last_severities.get(rule, 0)
        return 0

    @property
    def progress(self) -> float | None:
        """The share of the run that is done, where its length is known."""
        steps = total_steps(self.config, self.trainer, self.mark.step)
        return min(1.0, self.mark.step / steps) if steps else None

    @property
    def tiny_updates(self) -> bool:
        """Whether an update sees so few steps that its losses and shares are mostly chance."""
        return 0.0 < self.steps_per_update < TINY_UPDATE_STEPS

    def few_episodes(self, enough: float) -> bool:
        """Whether a control task has seen fewer episodes, as far as the log tells their length."""
        length = self.histories.get("ep_len")
        if self.family != CTRL or length is None or length.last <= 0.0:
            return False
        return self.mark.step < enough * length.last

    @property
    def small_updates(self) -> bool:
        """Whether so few steps lie between two rows that hardly an episode ends between them."""
        return 0.0 < self.steps_per_update < FULL_UPDATE_STEPS

    @property
    def falling(self) -> bool:
        """Whether the reward falls."""
        return self.reward is not None and self.reward.falling

    @property
    def flat(self) -> bool:
        """Whether the reward is flat (not at its ceiling), with enough points to tell."""
        return self.reward is not None and self.reward.flat

    @property
    def stuck(self) -> bool:
        """Whether the reward is flat or falling."""
        return self.reward is not None and self.reward.stuck

    @property
    def at_max(self) -> bool:
        """Whether the reward sits at its ceiling."""
        return self.reward is not None and self.reward.at_max

    @property
    def gained(self) -> bool:
        """Whether anything was learned that noise does not explain."""
        return self.reward is not None and self.reward.gained

    @property
    def rising(self) -> bool:
        """Whether the reward rises now."""
        return self.reward is not None and self.reward.rising
