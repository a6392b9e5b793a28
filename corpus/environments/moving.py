"""Discrete actions on bodies and vehicles in motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from corpus.environments.base import SmallEnvironment, box


class Lander(SmallEnvironment):
    """Seldom and large: fall from 10 m with little fuel; 100 for a soft landing, else -100."""

    action_space = spaces.Discrete(2)
    observation_space = box(3)

    def begin(self) -> None:
        """Start high."""
        self.height, self.speed, self.fuel = self.np_random.uniform(8, 12), 0.0, 25.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Fall, or burn fuel."""
        burns = bool(action) and self.fuel > 0
        self.fuel -= burns
        self.speed += 0.16 if burns else -0.1
        self.height += self.speed
        if 0 < self.height <= 20:
            return -0.3 * burns, False
        return (100.0 if self.height <= 0 and self.speed > -0.8 else -100.0), True

    def observe(self) -> Any:
        """Height, speed, fuel."""
        return np.array([self.height / 10, self.speed, self.fuel / 25], np.float32)


class Docking(SmallEnvironment):
    """Seldom and of both signs: 50 for touching the quay slowly, -20 for hitting it; 0.1 a push."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Lie off the quay."""
        self.way, self.speed = self.np_random.uniform(3, 6), 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Push back, drift, or push on; a current drives."""
        push = int(action) - 1
        self.speed = 0.95 * self.speed + 0.1 * push + self.np_random.normal(0, 0.02)
        self.way -= self.speed
        if self.way > 10.0:
            return -20.0, True
        if self.way > 0.0:
            return -0.1 * abs(push), False
        return (50.0 if self.speed < 0.3 else -20.0), True

    def observe(self) -> Any:
        """Way and speed."""
        return np.array([self.way / 5, 2.0 * self.speed], np.float32)


class Lift(SmallEnvironment):
    """Negative, hundreds: bring people to six floors; everyone who waits costs 1 a step."""

    action_space = spaces.Discrete(3)
    observation_space = box(13)

    def begin(self) -> None:
        """Start below, with nobody waiting."""
        self.floor, self.waiting, self.inside = 0, np.zeros(6), 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Go down, stay, or go up; people enter where it stands, and leave at the ground."""
        self.floor = min(5, max(0, self.floor + int(action) - 1))
        if self.np_random.random() < 0.35:
            self.waiting[self.np_random.integers(1, 6)] += 1
        self.inside += self.waiting[self.floor]
        self.waiting[self.floor] = 0
        if self.floor == 0:
            self.inside = 0.0
        return -float(self.waiting.sum() + 0.5 * self.inside), False

    def observe(self) -> Any:
        """Where it stands, who waits, who is inside."""
        here = np.eye(6)[self.floor]
        return np.concatenate([here, self.waiting / 3, [self.inside / 3]]).astype(np.float32)


class Bridge(SmallEnvironment):
    """Episodes of 4 to 120 steps, 0.5 a step: cross bridges of any length; a fall costs 5."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Draw the bridge's length: short ones are as frequent as long ones."""
        self.left = int(np.exp(self.np_random.uniform(np.log(4), np.log(120))))
        self.lean, self.drift = self.np_random.uniform(-0.3, 0.3), 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Lean left, not at all, or right; the wind leans, too."""
        push = 0.15 * (int(action) - 1)
        self.drift = 0.8 * self.drift + push + 0.03 * self.lean + self.np_random.normal(0, 0.06)
        self.lean += self.drift
        self.left -= 1
        return (-5.0, True) if abs(self.lean) > 1.0 else (0.5, self.left <= 0)

    def observe(self) -> Any:
        """Lean and drift."""
        return np.array([self.lean, 3.0 * self.drift], np.float32)


class Catch(SmallEnvironment):
    """Success or not: 1 for catching a leaf that falls ten rows, at first with the wind."""

    action_space = spaces.Discrete(3)
    observation_space = box(3)

    def begin(self) -> None:
        """Let a leaf fall; stand in the middle."""
        self.leaf, self.hand, self.height = int(self.np_random.integers(9)), 4, 10

    def act(self, action: Any) -> tuple[float, bool]:
        """Step left, wait, or step right."""
        self.hand = min(8, max(0, self.hand + int(action) - 1))
        if self.height > 5:
            self.leaf = min(8, max(0, self.leaf + int(self.np_random.integers(-1, 2))))
        self.height -= 1
        return float(self.height == 0 and self.leaf == self.hand), self.height == 0

    def observe(self) -> Any:
        """How far the leaf is, hand and height."""
        apart = (self.leaf - self.hand) / 4
        return np.array([apart, self.hand / 4 - 1, self.height / 5 - 1], np.float32)


class Parking(SmallEnvironment):
    """At the end: 10 less ten times the distance to the line where a car stops, -10 for a crash."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Drive towards the line."""
        self.way, self.speed = self.np_random.uniform(4.0, 8.0), self.np_random.uniform(0.4, 0.8)

    def act(self, action: Any) -> tuple[float, bool]:
        """Brake (0), roll (1) or press on (2); who stands has parked."""
        self.speed = max(0.0, self.speed + 0.08 * (int(action) - 1))
        self.way -= self.speed
        if self.way < -0.5:
            return -10.0, True
        parked = self.speed == 0.0
        return (10.0 - 10.0 * min(2.0, abs(self.way)), True) if parked else (-0.1, False)

    def observe(self) -> Any:
        """The way to the line and the speed."""
        return np.array([self.way / 4.0 - 1.0, 2.0 * self.speed - 1.0], np.float32)
