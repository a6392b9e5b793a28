"""Discrete choices that chance pays: stakes, stocks and services."""

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
