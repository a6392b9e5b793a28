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


class Fishing(SmallEnvironment):
    """Money, tens: fish that grow back the slower, the fewer are left."""

    action_space = spaces.Discrete(4)
    observation_space = box(2)

    def begin(self) -> None:
        """A lake half full."""
        self.fish, self.price = self.np_random.uniform(4, 7), 1.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Send 0 to 3 boats; each costs 0.6 and takes a share of the fish."""
        caught = self.fish * 0.14 * int(action)
        reward = self.price * caught - 0.6 * int(action)
        self.fish = max(0.3, self.fish - caught)
        self.fish += 0.5 * self.fish * (1.0 - self.fish / 10.0) * self.np_random.uniform(0.6, 1.4)
        self.price = float(np.clip(self.price + self.np_random.normal(0, 0.15), 0.5, 1.8))
        return reward, False

    def observe(self) -> Any:
        """How many fish are seen, and what they fetch today."""
        seen = self.fish + self.np_random.normal(0, 0.3)
        return np.array([seen / 5.0 - 1.0, 2.0 * self.price - 2.0], np.float32)


class Painting(SmallEnvironment):
    """Counts, up to 35: a floor of six by six tiles; each pays when it is first walked on."""

    action_space = spaces.Discrete(4)
    observation_space = box(11)

    def begin(self) -> None:
        """Somewhere on a clean floor."""
        self.floor = np.zeros((8, 8))
        self.floor[[0, -1], :] = self.floor[:, [0, -1]] = 1.0
        self.at = self.np_random.integers(1, 7, 2)
        self.floor[tuple(self.at)] = 1.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Walk left, right, up or down; a wall keeps one where one is."""
        step = np.array([(0, -1), (0, 1), (-1, 0), (1, 0)][int(action)])
        self.at = np.clip(self.at + step, 1, 6)
        new = self.floor[tuple(self.at)] == 0.0
        self.floor[tuple(self.at)] = 1.0
        return float(new), bool(self.floor.all())

    def observe(self) -> Any:
        """What is painted around, where one stands, and how much is painted."""
        row, column = self.at
        around = self.floor[row - 1 : row + 2, column - 1 : column + 2].ravel()
        share = self.floor[1:7, 1:7].mean()
        centre = np.array([*(self.at / 3.5 - 1.0), share])
        return np.concatenate([np.delete(around, 4), centre]).astype(np.float32)


class Hunting(SmallEnvironment):
    """Both signs, tens: catch what flees on a field of seven by seven without borders."""

    action_space = spaces.Discrete(4)
    observation_space = box(2)

    def begin(self) -> None:
        """Somewhere, the prey elsewhere."""
        self.offset = self.np_random.integers(-3, 4, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """A step to one of four sides; the prey flees every other time."""
        steps = np.array([(0, -1), (0, 1), (-1, 0), (1, 0)])
        self.offset = self.offset - steps[int(action)]
        if self.np_random.random() < 0.5:
            self.offset = self.offset + steps[self.np_random.integers(4)]
        self.offset = (self.offset + 3) % 7 - 3
        if self.offset.any():
            return -0.2, False
        self.begin()
        return 3.0, False

    def observe(self) -> Any:
        """Where the prey is, seen from the hunter."""
        return (self.offset / 2.0).astype(np.float32)


class Swing(SmallEnvironment):
    """Positive, up to hundreds: pump a swing with small pushes; its height pays."""

    action_space = box(1, 1.0)
    observation_space = box(2)

    def begin(self) -> None:
        """Hanging nearly still."""
        self.angle, self.pace = self.np_random.uniform(-0.1, 0.1, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Push forwards or backwards; a swing that goes over the top is out of order."""
        push = float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        self.pace += 0.1 * (-9.0 * np.sin(self.angle) / 2.0 + 0.5 * push - 0.05 * self.pace)
        self.angle += 0.1 * self.pace
        energy = 0.5 * self.pace**2 + 4.5 * (1.0 - np.cos(self.angle))
        over = abs(self.angle) > 2.6
        return (-20.0 if over else float(energy) - 0.05 * push * push), over

    def observe(self) -> Any:
        """The angle and the pace."""
        return np.array([self.angle, self.pace / 2.0], np.float32)


class Tracking(SmallEnvironment):
    """Negative, hundreds: a camera that follows a bird on two axes."""

    action_space = box(2, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """The bird flies somewhere in the picture."""
        self.camera, self.bird = np.zeros(2), self.np_random.uniform(-1, 1, 2)
        self.heading = self.np_random.uniform(-np.pi, np.pi)

    def act(self, action: Any) -> tuple[float, bool]:
        """Turn the camera; the bird turns as it likes."""
        self.camera = self.camera + 0.25 * np.clip(np.asarray(action, float), -1, 1)
        self.heading += self.np_random.normal(0, 0.3)
        self.bird = self.bird + 0.12 * np.array([np.cos(self.heading), np.sin(self.heading)])
        self.bird = np.clip(self.bird, -2.0, 2.0)
        return -4.0 * float(np.abs(self.bird - self.camera).sum()), False

    def observe(self) -> Any:
        """Where the bird is in the picture, and where the camera points."""
        return np.concatenate([self.bird - self.camera, 0.5 * self.camera]).astype(np.float32)
