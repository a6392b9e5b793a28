"""Discrete answers to what is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from corpus.environments.base import SmallEnvironment, box


class Bandit(SmallEnvironment):
    """Noisy: ten contexts an episode, four actions; noise of twice what the choice is worth."""

    action_space = spaces.Discrete(4)
    observation_space = box(3)
    values = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-0.6, -0.6, -0.6]])

    def begin(self) -> None:
        """Draw the first context."""
        self.context = self.np_random.normal(0, 1, 3)

    def act(self, action: Any) -> tuple[float, bool]:
        """Pay the action's value in this context, and noise."""
        reward = float(self.values[int(action)] @ self.context) + self.np_random.normal(0, 2.0)
        self.begin()
        return reward, False

    def observe(self) -> Any:
        """The context."""
        return self.context.astype(np.float32)


class Recall(SmallEnvironment):
    """Memory: a sign at the start says what to answer five steps later, for 1 or -1."""

    action_space = spaces.Discrete(2)
    observation_space = box(3)

    def begin(self) -> None:
        """Draw the sign."""
        self.sign, self.age = int(self.np_random.integers(2)), 0

    def act(self, action: Any) -> tuple[float, bool]:
        """Wait, then answer."""
        self.age += 1
        if self.age < 5:
            return 0.0, False
        return (1.0 if int(action) == self.sign else -1.0), True

    def observe(self) -> Any:
        """The sign in the first step only, and whether to answer now."""
        shown = np.zeros(3, np.float32)
        shown[self.sign] = self.age == 0
        shown[2] = self.age == 4
        return shown


class Ranking(SmallEnvironment):
    """Zero on average, then positive: pick eight drawn numbers, each once, the largest first."""

    action_space = spaces.Discrete(8)
    observation_space = box(16)

    def begin(self) -> None:
        """Draw the numbers."""
        self.numbers = self.np_random.uniform(0, 10, 8)
        self.left = np.ones(8, bool)

    def act(self, action: Any) -> tuple[float, bool]:
        """Pick a number; early ones count, late ones cost."""
        weight = float(self.left.sum()) - 4.5
        value = self.numbers[int(action)] if self.left[int(action)] else 0.0
        self.left[int(action)] = False
        return weight * float(value), not self.left.any()

    def observe(self) -> Any:
        """The numbers that are left, and which."""
        return np.concatenate([self.numbers * self.left / 10, self.left]).astype(np.float32)

    def action_masks(self) -> Any:
        """Which numbers are left."""
        return self.left.copy()


class Harvest(SmallEnvironment):
    """Counts, positive: walk a ring of twelve places to where the next fruit grows, 40 steps."""

    action_space = spaces.Discrete(3)
    observation_space = box(12)

    def begin(self) -> None:
        """A fruit grows somewhere else."""
        self.apart = int(self.np_random.integers(1, 12))

    def act(self, action: Any) -> tuple[float, bool]:
        """Walk back, wait, or walk on; each fruit counts."""
        self.apart = (self.apart - (int(action) - 1)) % 12
        if self.apart:
            return 0.0, False
        self.begin()
        return 1.0, False

    def observe(self) -> Any:
        """How far the fruit is, one-hot."""
        return np.eye(12, dtype=np.float32)[self.apart]


class Ladder(SmallEnvironment):
    """A curriculum: telling four signals apart pays by the rung, and each rung is noisier.

    The rung is kept over episodes: one that was solved four times in five leads to the next.
    """

    action_space = spaces.Discrete(4)
    observation_space = box(4)

    def __init__(self) -> None:
        self.rung, self.solved = 1, [0.0]

    def begin(self) -> None:
        """Climb if the last ten episodes were good; show the first signal."""
        if len(self.solved) > 10 and np.mean(self.solved[-10:]) > 0.8 and self.rung < 6:
            self.rung, self.solved = self.rung + 1, []
        self.solved.append(0.0)
        self.show()

    def show(self) -> None:
        """The next signal."""
        self.signal = int(self.np_random.integers(4))
        self.seen = np.eye(4)[self.signal] + self.np_random.normal(0, 0.1 * self.rung, 4)

    def act(self, action: Any) -> tuple[float, bool]:
        """Name the signal."""
        right = int(action) == self.signal
        self.solved[-1] += right / 20
        self.show()
        return float(self.rung * right), False

    def observe(self) -> Any:
        """The noisy signal."""
        return self.seen.astype(np.float32)


class Ferry(SmallEnvironment):
    """Good from the start: any course brings 1 a step, the wrong one of three 0.6 less."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Draw the tide."""
        self.tide = self.np_random.uniform(-np.pi, np.pi)

    def act(self, action: Any) -> tuple[float, bool]:
        """Take a course; the tide drifts."""
        wrong = int(action) == int((self.tide + np.pi) / (2 * np.pi) * 3) % 3
        drifted = self.tide + self.np_random.normal(0, 0.4)
        self.tide = (drifted + np.pi) % (2 * np.pi) - np.pi
        return 1.0 - 0.6 * wrong + self.np_random.normal(0, 0.3), False

    def observe(self) -> Any:
        """The tide, as a point on a circle."""
        return np.array([np.cos(self.tide), np.sin(self.tide)], np.float32)


class Typing(SmallEnvironment):
    """Counts that grow together: a right key pays 1 to 5, the more were right before it."""

    action_space = spaces.Discrete(5)
    observation_space = box(6)

    def begin(self) -> None:
        """Draw a sign."""
        self.sign, self.streak = int(self.np_random.integers(5)), 0

    def act(self, action: Any) -> tuple[float, bool]:
        """Press the key for the sign: the next but one."""
        right = int(action) == (self.sign + 2) % 5
        self.streak = min(5, self.streak + 1) if right else 0
        self.sign = int(self.np_random.integers(5))
        return float(self.streak), False

    def observe(self) -> Any:
        """The sign, one-hot, and the streak."""
        return np.array([*np.eye(5)[self.sign], self.streak / 5.0], np.float32)


class Sorting(SmallEnvironment):
    """Negative and small, 0.1 a swap: the sooner five numbers are in order, the sooner it ends."""

    action_space = spaces.Discrete(4)
    observation_space = box(5)

    def begin(self) -> None:
        """Shuffle."""
        self.order = self.np_random.permutation(5)
        if self.sorted():
            self.order = self.order[::-1].copy()

    def sorted(self) -> bool:
        """Whether the numbers rise."""
        return bool((np.diff(self.order) > 0).all())

    def act(self, action: Any) -> tuple[float, bool]:
        """Swap two neighbours."""
        place = int(action)
        self.order[[place, place + 1]] = self.order[[place + 1, place]]
        return -0.1, self.sorted()

    def observe(self) -> Any:
        """The numbers."""
        return (self.order / 2.0 - 1.0).astype(np.float32)
