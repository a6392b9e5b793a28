"""What the rules know of a run at its newest row; a pure fold over the rows so far."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ppo_top.catalogue import Producer, total
from ppo_top.model import UNKNOWN_TIME, ConfigValue, Mark, Profile, Row, Severity
from ppo_top.rules.engine.history import KEPT, History
from ppo_top.rules.engine.reward_course import SETTLING, Learning
from ppo_top.rules.engine.terms import CTRL

REWARDS = ("reward_mean", "rlhf_reward", "success_rate")
"""What counts as the reward, in order of preference."""

MOST_CONCEPTS = 512
"""Series beyond this many are not judged: a hostile log could name a new one in every row."""

FEW_SAMPLES = 200
"""Of so few samples an explained variance is anything between -100 and 0.9 (MountainCar, 8)."""

ENOUGH_SAMPLES = 1000
"""Steps an update of which losses are a fair measure, and in which some episodes end."""

COUNTERS = ("iteration", "n_updates")
"""What counts rollouts, in order of preference."""

RESUMED = 20
"""A log whose first row is so many rows' steps from 0 goes on from an earlier state."""

HUGE = 1e60
"""Larger numbers are judged as this one, so that their squares and products are numbers, too."""

Memo = tuple[float, ...]


class Run:
    """Histories of all concepts of the present segment, and which rules are open.

    `memos` is where a rule keeps the few numbers that it must remember, under its own id. `resumed`
    says that the log (or its present segment) begins long after the training did, so that its first
    values are not those of an untrained policy.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.family = profile.family
        self.producer = profile.producer.replace("_", "-")
        self.config: Mapping[str, ConfigValue] = profile.config
        self.trainer = Producer(profile.producer, "", profile.family, "")
        self.open: dict[str, Severity] = {}
        self.closed: dict[str, int] = {}
        self.told: dict[str, int] = {}
        self.opened: dict[str, int] = {}
        self.mark = Mark(-1, 0, UNKNOWN_TIME)
        self.segment = 0
        self.restart()

    def restart(self) -> None:
        """Forget what is known: the run goes on from an earlier state."""
        self.histories: dict[str, History] = {}
        self.values: Mapping[str, float] = {}
        self.reward: Learning | None = None
        self.reward_concept = ""
        self.memos: dict[str, Memo] = {}
        self.updates = 0
        self.resumed = False
        self.samples = 0.0
        self.counted: dict[str, tuple[float, float]] = {}
        self.bad: dict[str, int] = {}
        self.new_bad: tuple[str, ...] = ()

    def copy(self) -> Run:
        """An independent copy."""
        other = Run.__new__(Run)
        other.__dict__.update(self.__dict__)
        other.histories = {name: history.copy() for name, history in self.histories.items()}
        other.open, other.closed = self.open.copy(), self.closed.copy()
        other.told, other.opened = self.told.copy(), self.opened.copy()
        other.memos, other.bad = self.memos.copy(), self.bad.copy()
        if self.reward is not None:
            other.reward = self.reward.copy(other.histories[self.reward_concept])
        return other

    def take(self, row: Row) -> None:
        """Add a row's values to the histories; numbers that are none are only noted."""
        if self.updates == 1:
            self.resumed = self.mark.step > RESUMED * (row.mark.step - self.mark.step) > 0
        self._count_samples(row)
        self.mark, self.values = row.mark, row.values
        self.updates += 1
        number, histories = row.mark.row, self.histories
        bad: list[str] = []
        for concept, value in row.values.items():
            if value - value != 0.0:  # NaN and infinities only
                bad.append(concept)
                continue
            if not -HUGE < value < HUGE:
                value = HUGE if value > 0 else -HUGE
            history = histories.get(concept)
            if history is None:
                if len(histories) >= MOST_CONCEPTS:
                    continue
                history = histories[concept] = History()
            history.push(number, value)
        self.new_bad = tuple(bad)
        self._follow_reward(number)

    def _count_samples(self, row: Row) -> None:
        """Environment steps an update, where the log counts its rollouts or its epochs.

        Rows of an evaluation lie between those of rollouts and may hold the epochs, too.
        """
        counter = next((c for c in COUNTERS if c in row.values or c in self.counted), "")
        now = row.values.get(counter)
        if not counter and self.producer == "cleanrl" and "value_loss" in row.values:
            counter, now = "losses", float(self.updates)  # a row with losses is an update
        if now is None or (counter == "n_updates" and self.producer != "sb3"):
            return
        step = float(row.mark.step)
        before, last = self.counted.get(counter, (step, now))
        self.counted = {**self.counted, counter: (step, now)}
        steps, passed = step - before, now - last
        if counter == "n_updates":  # SB3's event files count only the epochs
            passed = passed / (self.number("n_epochs") or 10.0) if passed > 40 else passed > 0
        if not (0.0 < passed < math.inf and steps > passed):
            return  # where a step is a rollout nobody knows what that holds
        self.samples = steps / passed
        if self.reward is not None:
            patience = ENOUGH_SAMPLES / self.samples if self.few_steps else 1.0
            self.reward.settling = min(KEPT, int(SETTLING * patience))

    def _follow_reward(self, number: int) -> None:
        """The reward is the first of `REWARDS` that the log holds; a better one may come later."""
        if self.reward_concept != REWARDS[0]:
            found = next((name for name in REWARDS if name in self.histories), "")
            if found != self.reward_concept:
                self.reward_concept = found
                self.reward = Learning(self.histories[found], self.ceiling)
        reward = self.reward
        if reward is not None and reward.history.row == number:
            reward.update(number)

    @property
    def ceiling(self) -> float | None:
        """The highest reward there is, where the user or the run's configuration says so."""
        if self.profile.goal is not None:
            return self.profile.goal
        return self.number("reward_threshold") if self.reward_concept == REWARDS[0] else None

    def number(self, name: str) -> float | None:
        """A hyperparameter as a number, or None where it is not known."""
        value = self.config.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value)

    def value(self, concept: str, age: int = 1) -> float | None:
        """The newest finite value of a concept, unless it is older than `age` rows."""
        history = self.histories.get(concept)
        if history is None or self.mark.row - history.row > age:
            return None
        return history.last

    def setting(self, name: str, concept: str) -> float | None:
        """A hyperparameter from the configuration, or as the log itself reports it."""
        known = self.number(name)
        if known is not None:
            return known
        history = self.histories.get(concept)
        return history.last if history is not None else None

    def level(self, rule: str, within: int = 3) -> int:
        """How severe a rule's finding is: 0 when it is not open and was not in the last rows."""
        severity = self.open.get(rule)
        if severity is not None:
            return severity
        closed = self.closed.get(rule)
        if closed is not None and self.mark.row - closed <= within:
            return self.told.get(rule, 0)
        return 0

    @property
    def budget(self) -> float | None:
        """The share of the run that is done, where its length is known."""
        steps = total(self.config, self.trainer, self.mark.step)
        return min(1.0, self.mark.step / steps) if steps else None

    @property
    def few_samples(self) -> bool:
        """Whether an update sees so few steps that its losses and shares are mostly chance."""
        return 0.0 < self.samples < FEW_SAMPLES

    def few_episodes(self, enough: float) -> bool:
        """Whether a control task has seen fewer episodes, as far as the log tells their length."""
        length = self.histories.get("ep_len")
        if self.family != CTRL or length is None or length.last <= 0.0:
            return False
        return self.mark.step < enough * length.last

    @property
    def few_steps(self) -> bool:
        """Whether so few steps lie between two rows that hardly an episode ends between them."""
        return 0.0 < self.samples < ENOUGH_SAMPLES

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
    def learned(self) -> bool:
        """Whether the reward rises now."""
        return self.reward is not None and self.reward.rising
