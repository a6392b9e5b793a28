"""Process control: continuous actions that hold a quantity at its level."""

from __future__ import annotations

from typing import Any

import numpy as np

from corpus.environments.base import SmallEnvironment, box


class Thermostat(SmallEnvironment):
    """Negative, in the ten thousands: hold a leaking room at a set temperature."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """Draw room, outside and wish."""
        self.room, self.outside = self.np_random.uniform(5, 30), self.np_random.uniform(-5, 10)
        self.wish = self.np_random.uniform(15, 25)

    def act(self, action: Any) -> tuple[float, bool]:
        """Heat or cool; the cost is the square of the error."""
        power = float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        self.room += 3.0 * power + 0.05 * (self.outside - self.room)
        self.room = min(60.0, max(-30.0, self.room))
        return -((self.room - self.wish) ** 2), False

    def observe(self) -> Any:
        """Error, outside and wish, scaled."""
        return np.array(
            [(self.room - self.wish) / 10, self.outside / 10, self.wish / 10], np.float32
        )


class Tank(SmallEnvironment):
    """Positive, hundreds, with a cliff: keep a tank level near 5; running dry or over ends it."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """Draw the level."""
        self.level, self.flow = self.np_random.uniform(3, 7), 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Turn the valve; a random demand drains."""
        self.flow += 0.3 * float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        self.flow = min(1.0, max(-1.0, self.flow))
        self.level += self.flow + self.np_random.normal(0, 0.1)
        return 5.0 - abs(self.level - 5.0), not 0 < self.level < 10

    def observe(self) -> Any:
        """Level and flow."""
        return np.array([self.level / 5 - 1, self.flow, 1.0], np.float32)


class Mixing(SmallEnvironment):
    """Positive, noisy, few and long episodes: keep two shares of a mixture right for 200 steps."""

    action_space = box(2, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """Draw the mixture and the recipe."""
        self.shares, self.recipe = self.np_random.uniform(-1, 1, (2, 2))

    def act(self, action: Any) -> tuple[float, bool]:
        """Add or take away; the product is sold."""
        self.shares = 0.95 * self.shares + 0.15 * np.clip(np.asarray(action, float), -1, 1)
        self.recipe = np.clip(self.recipe + self.np_random.normal(0, 0.05, 2), -1, 1)
        off = float(np.abs(self.shares - self.recipe).sum())
        return max(0.0, 5.0 - 5.0 * off) + self.np_random.normal(0, 2.0), False

    def observe(self) -> Any:
        """Mixture and recipe."""
        return np.concatenate([self.shares, self.recipe]).astype(np.float32)


class Kiln(SmallEnvironment):
    """Negative, in the thousands: follow a firing curve with a slow kiln; squared degrees count."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """Draw the kiln's heat and the curve's slope."""
        self.heat, self.wanted = self.np_random.uniform(0, 10), 20.0
        self.slope = self.np_random.uniform(-0.4, 0.6)

    def act(self, action: Any) -> tuple[float, bool]:
        """Burn more or less; warmth leaks."""
        burn = 1.0 + float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        self.heat += 2.5 * burn - 0.08 * self.heat + self.np_random.normal(0, 0.3)
        self.wanted += self.slope
        return -((self.heat - self.wanted) ** 2) / 2.0, False

    def observe(self) -> Any:
        """Heat, gap and slope."""
        gap = (self.wanted - self.heat) / 10.0
        return np.array([self.heat / 30.0, gap, self.slope], np.float32)


class Dam(SmallEnvironment):
    """Money, tens, with floods of -30: let water through turbines while it rains at random."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """A lake half full."""
        self.level, self.rain = self.np_random.uniform(3, 7), 0.5
        self.price = self.np_random.uniform(1, 5)

    def act(self, action: Any) -> tuple[float, bool]:
        """Let water out: it pays the day's price times the head of water; a full lake floods."""
        opened = 0.5 + 0.5 * float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        out = min(self.level, 1.5 * opened)
        paid = out * self.price * self.level / 10.0
        self.rain = max(0.0, 0.8 * self.rain + 0.1 + self.np_random.normal(0, 0.15))
        self.level += self.rain - out
        flood = self.level > 10.0
        self.level = min(10.0, self.level)
        self.price = float(np.clip(self.price + self.np_random.normal(0, 0.7), 1, 5))
        return paid - 30.0 * flood, False

    def observe(self) -> Any:
        """Level, rain and price."""
        return np.array([self.level / 5 - 1, 2 * self.rain - 1, self.price / 2 - 1.5], np.float32)
