"""Discrete environments of choices and quantities."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from corpus.environments.base import SmallEnvironment, box


class Inventory(SmallEnvironment):
    """Money, thousands of either sign: order 0 to 20 units a day for 50 days of random demand."""

    action_space = spaces.Discrete(5)
    observation_space = box(2)

    def begin(self) -> None:
        """Start with ten units."""
        self.stock, self.yesterday = 10.0, 6.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Order, sell, pay for storage and for what was asked for in vain."""
        self.stock = min(60.0, self.stock + 5.0 * int(action))
        demand = float(self.np_random.poisson(6))
        sold = min(self.stock, demand)
        self.stock, self.yesterday = self.stock - sold, demand
        money = 30.0 * sold - 12.0 * 5.0 * int(action) - 4.0 * self.stock
        return money - 20.0 * (demand - sold), False

    def observe(self) -> Any:
        """Stock and yesterday's demand."""
        return np.array([self.stock / 10.0, self.yesterday / 10.0], np.float32)


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


class Queue(SmallEnvironment):
    """Negative costs, hundreds: choose how many counters serve a queue for 80 minutes."""

    action_space = spaces.Discrete(4)
    observation_space = box(2)

    def begin(self) -> None:
        """Start empty."""
        self.waiting, self.rate = 0.0, self.np_random.uniform(1, 5)

    def act(self, action: Any) -> tuple[float, bool]:
        """Serve; waiting and counters cost."""
        arrivals = float(self.np_random.poisson(self.rate))
        self.waiting = min(50.0, max(0.0, self.waiting + arrivals - 2.0 * int(action)))
        self.rate = min(5.0, max(1.0, self.rate + self.np_random.normal(0, 0.2)))
        return -(self.waiting + 2.0 * int(action)), False

    def observe(self) -> Any:
        """Who waits, and how many come."""
        return np.array([self.waiting / 10, self.rate / 3], np.float32)


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


class Betting(SmallEnvironment):
    """Both signs, mostly luck: fifteen hands, each worth a stake of 0, 10 or 30, or not."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)
    stakes = (0.0, 10.0, 30.0)

    def begin(self) -> None:
        """Deal a hand that wins with this chance."""
        self.chance = float(self.np_random.random())

    def act(self, action: Any) -> tuple[float, bool]:
        """Win or lose the stake."""
        won = self.np_random.random() < self.chance
        self.begin()
        return self.stakes[int(action)] * (1.0 if won else -1.0), False

    def observe(self) -> Any:
        """How strong the hand is."""
        return np.array([2.0 * self.chance - 1.0, 1.0], np.float32)


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


class Prospect(SmallEnvironment):
    """Heavy tails, thousands: dig in one of four claims; what lies there is log-normal."""

    action_space = spaces.Discrete(4)
    observation_space = box(4)

    def begin(self) -> None:
        """Draw four claims."""
        self.claims = self.np_random.uniform(0, 1, 4)

    def act(self, action: Any) -> tuple[float, bool]:
        """Dig, and move on to four others."""
        worth = 100.0 * self.np_random.lognormal(2.0 * self.claims[int(action)], 1.2)
        self.claims = self.np_random.uniform(0, 1, 4)
        return worth, False

    def observe(self) -> Any:
        """How promising the claims look."""
        return self.claims.astype(np.float32)


class Cards(SmallEnvironment):
    """Mostly luck: 1, 0 or -1 an episode for drawing close to 21, after blackjack."""

    action_space = spaces.Discrete(2)
    observation_space = box(3)

    def begin(self) -> None:
        """Two cards, and one of the bank's."""
        self.soft = False
        self.total, self.bank = 0, min(10, int(self.np_random.integers(1, 14)))
        self.draw()
        self.draw()

    def draw(self) -> None:
        """One more card; an ace counts 11 where that is not too much."""
        card = min(10, int(self.np_random.integers(1, 14)))
        self.total += card
        if card == 1 and self.total + 10 <= 21:
            self.total, self.soft = self.total + 10, True
        if self.total > 21 and self.soft:
            self.total, self.soft = self.total - 10, False

    def act(self, action: Any) -> tuple[float, bool]:
        """Stay (0): the bank draws up to 17; or take a card (1)."""
        if int(action):
            self.draw()
            return (-1.0, True) if self.total > 21 else (0.0, False)
        bank = self.bank
        while bank < 17:
            bank += min(10, int(self.np_random.integers(1, 14)))
        return (1.0 if bank > 21 or self.total > bank else -1.0 * (self.total < bank)), True

    def observe(self) -> Any:
        """The total, the bank's card, and whether an ace counts 11."""
        return np.array([self.total / 10.0, self.bank / 5.0, float(self.soft)], np.float32)


class Farm(SmallEnvironment):
    """Both signs, hundreds: the year's weather decides more than watering three fields rightly."""

    action_space = spaces.Discrete(3)
    observation_space = box(4)

    def begin(self) -> None:
        """Draw the year's weather, and how dry the fields are."""
        self.weather = self.np_random.normal(0, 15.0)
        self.dryness = self.np_random.uniform(0, 1, 3)

    def act(self, action: Any) -> tuple[float, bool]:
        """Water a field: the driest one pays."""
        paid = 20.0 * (int(action) == int(self.dryness.argmax()))
        self.dryness = self.np_random.uniform(0, 1, 3)
        return self.weather + paid + self.np_random.normal(0, 5.0), False

    def observe(self) -> Any:
        """Dryness and weather."""
        return np.array([*(2.0 * self.dryness - 1.0), self.weather / 15.0], np.float32)


class Market(SmallEnvironment):
    """Money, tens of either sign: hold a share or not, or owe one; its price returns to 100."""

    action_space = spaces.Discrete(3)
    observation_space = box(2)

    def begin(self) -> None:
        """Draw a price."""
        self.price, self.held = 100.0 + self.np_random.normal(0, 5.0), 0

    def act(self, action: Any) -> tuple[float, bool]:
        """Owe (0), nothing (1) or hold (2) for a day; a trade costs."""
        held = int(action) - 1
        cost, self.held = 0.3 * abs(held - self.held), held
        change = 0.2 * (100.0 - self.price) + self.np_random.normal(0, 2.0)
        self.price += change
        return held * change - cost, False

    def observe(self) -> Any:
        """How far the price is from 100, and what is held."""
        return np.array([(self.price - 100.0) / 5.0, self.held], np.float32)


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
