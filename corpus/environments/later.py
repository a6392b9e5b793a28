"""Environments that were made after the rules had met all others."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from corpus.environments.base import SmallEnvironment, box


class Balance(SmallEnvironment):
    """Steps survived, up to 150: hold a load that drifts off ever faster between two edges."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Near the middle, nearly at rest."""
        self.off, self.pace = self.np_random.uniform(-0.3, 0.3, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Push left, wait or push right; the load falls over an edge."""
        self.pace += 0.12 * self.off + 0.15 * (int(action) - 1) + self.np_random.normal(0, 0.03)
        self.off += self.pace
        return 1.0, abs(self.off) > 2.0

    def observe(self) -> Any:
        """Where the load is, and how fast it moves."""
        return np.array([self.off, 2.0 * self.pace], np.float32)


class Auction(SmallEnvironment):
    """Both signs, tens: bid in 25 auctions, knowing what a thing is worth and who else bids."""

    action_space = spaces.Discrete(5)
    observation_space = box(2)

    def begin(self) -> None:
        """Draw a thing's worth and the highest bid of the others."""
        self.worth, self.rivals = self.np_random.uniform(0, 10, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Bid 0, 3, 6, 9 or 12; the highest bid wins and is paid."""
        bid = 3.0 * int(action)
        reward = self.worth - bid if bid > self.rivals else 0.0
        self.begin()
        return reward, False

    def observe(self) -> Any:
        """The worth, and a guess at the others' bid."""
        guess = self.rivals + self.np_random.normal(0, 0.5)
        return np.array([self.worth / 5.0 - 1.0, guess / 5.0 - 1.0], np.float32)


class Dodge(SmallEnvironment):
    """0.1 a step and 1 a coin, -5 at the end: five lanes with stones and coins coming down."""

    action_space = spaces.Discrete(3)
    observation_space = box(5)

    def begin(self) -> None:
        """In the middle lane."""
        self.lane = 2
        self._next()

    def _next(self) -> None:
        """A row with one or two stones and a coin."""
        self.row = np.zeros(5)
        places = self.np_random.permutation(5)
        self.row[places[: 1 + int(self.np_random.integers(2))]] = -1.0
        self.row[places[-1]] = 1.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Left, ahead or right; a stone ends the run."""
        self.lane = min(4, max(0, self.lane + int(action) - 1))
        met = self.row[self.lane]
        self._next()
        return (-5.0, True) if met < 0 else (0.1 + float(met), False)

    def observe(self) -> Any:
        """The next row, seen from the lane; walls are stones."""
        seen = np.full(9, -1.0)
        seen[2:7] = self.row
        return seen[self.lane : self.lane + 5].astype(np.float32)


class Crossing(SmallEnvironment):
    """Negative, hundreds: the lights of a crossing of a wide street and a narrow one."""

    action_space = spaces.Discrete(3)
    observation_space = box(3)

    def begin(self) -> None:
        """Few wait; all lights are red."""
        self.waiting, self.green = self.np_random.uniform(0, 6, 2), 0

    def act(self, action: Any) -> tuple[float, bool]:
        """All red (0), or green for one of the streets; changing costs a step of it."""
        if int(action) == self.green and self.green:
            self.waiting[self.green - 1] -= 4.0 if self.green == 1 else 3.0
        self.green = int(action)
        self.waiting += self.np_random.poisson([1.6, 0.6])
        self.waiting = np.clip(self.waiting, 0.0, 30.0)
        return -0.3 * float(self.waiting.sum()), False

    def observe(self) -> Any:
        """Who waits in each street, and which light is green."""
        return np.array([*self.waiting / 8.0 - 1.0, self.green - 1.0], np.float32)


class Steering(SmallEnvironment):
    """Up to 1 a step: keep a car that never brakes in the middle of a winding lane."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """In the lane, not quite straight."""
        self.off, self.heading = self.np_random.uniform(-0.2, 0.2, 2)
        self.bend = self.np_random.uniform(-0.1, 0.1)

    def act(self, action: Any) -> tuple[float, bool]:
        """Steer; beside the lane the drive is over."""
        turn = float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        self.heading += 0.2 * turn - self.bend
        self.off += 0.4 * self.heading
        self.bend = float(np.clip(0.95 * self.bend + self.np_random.normal(0, 0.03), -0.15, 0.15))
        return 1.0 - abs(self.off), abs(self.off) > 1.0

    def observe(self) -> Any:
        """Distance from the middle, heading and the bend ahead."""
        return np.array([self.off, 2.0 * self.heading, 8.0 * self.bend], np.float32)


class Battery(SmallEnvironment):
    """Money, both signs, tens: buy power for a store when it is cheap, sell it when it is dear."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """A store half full, at some hour of the day."""
        self.stored, self.hour = self.np_random.uniform(3, 7), self.np_random.uniform(0, 24)

    def act(self, action: Any) -> tuple[float, bool]:
        """Buy (up to 1) or sell (down to -1) at this hour's price; a tenth is lost on the way."""
        wanted = float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        amount = float(np.clip(wanted, -self.stored, 10.0 - self.stored))
        price = 2.0 + 1.5 * np.sin(2 * np.pi * self.hour / 24) + self.np_random.normal(0, 0.2)
        self.stored += amount
        self.hour = (self.hour + 1.0) % 24
        return -amount * price * (1.0 if amount < 0 else 1.1), False

    def observe(self) -> Any:
        """What is stored, and the hour as a clock's hand."""
        angle = 2 * np.pi * self.hour / 24
        return np.array([self.stored / 5 - 1, np.sin(angle), np.cos(angle)], np.float32)
