"""Discrete environments in which something moves about."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from corpus.environments.base import SmallEnvironment, box


class Corridor(SmallEnvironment):
    """Sparse: 1 for reaching the right end of ten cells in 40 steps, else 0. One step in ten slips.

    `action_masks` forbids walking against the left wall.
    """

    cells = 10
    action_space = spaces.Discrete(2)
    observation_space = box(cells)

    def begin(self) -> None:
        """Start in the leftmost cell."""
        self.cell = 0

    def act(self, action: Any) -> tuple[float, bool]:
        """Walk left (0) or right (1)."""
        right = bool(action) != (self.np_random.random() < 0.1)
        self.cell = max(0, self.cell + (1 if right else -1))
        reached = self.cell == self.cells - 1
        return float(reached), reached

    def observe(self) -> Any:
        """The cell, one-hot."""
        return np.eye(self.cells, dtype=np.float32)[self.cell]

    def action_masks(self) -> Any:
        """Which actions are valid."""
        return np.array([self.cell > 0, True])


class Grid(SmallEnvironment):
    """Both signs: -1 a step, -10 in one of two pits, 20 at the goal of a 5 x 5 grid."""

    action_space = spaces.Discrete(4)
    observation_space = box(25)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    pits = ((1, 3), (3, 1))

    def begin(self) -> None:
        """Start in the corner."""
        self.cell = (0, 0)

    def act(self, action: Any) -> tuple[float, bool]:
        """Move; walls stop."""
        down, right = self.moves[int(action)]
        self.cell = (min(4, max(0, self.cell[0] + down)), min(4, max(0, self.cell[1] + right)))
        if self.cell in self.pits:
            return -10.0, True
        return (20.0, True) if self.cell == (4, 4) else (-1.0, False)

    def observe(self) -> Any:
        """The cell, one-hot."""
        return np.eye(25, dtype=np.float32)[5 * self.cell[0] + self.cell[1]]


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


class Windy(SmallEnvironment):
    """Negative, one a step: cross a 7 x 5 field with a side wind, 60 steps at most."""

    action_space = spaces.Discrete(4)
    observation_space = box(2)

    def begin(self) -> None:
        """Start at the left edge."""
        self.x, self.y = 0, 2

    def act(self, action: Any) -> tuple[float, bool]:
        """Move; the wind blows up in the middle columns."""
        dx, dy = Grid.moves[int(action)]
        wind = int(3 <= self.x <= 5 and self.np_random.random() < 0.5)
        self.x = min(6, max(0, self.x + dx))
        self.y = min(4, max(0, self.y + dy + wind))
        return -1.0, (self.x, self.y) == (6, 1)

    def observe(self) -> Any:
        """Where it is."""
        return np.array([self.x / 3 - 1, self.y / 2 - 1], np.float32)


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


class Maze(SmallEnvironment):
    """Small: -0.02 a step, 1 for finding the way out around two walls in 60 steps."""

    action_space = spaces.Discrete(4)
    observation_space = box(25)
    walls = frozenset({(1, 0), (1, 1), (1, 2), (3, 4), (3, 3), (3, 2)})

    def begin(self) -> None:
        """Start anywhere above the second wall."""
        self.cell = (int(self.np_random.choice((0, 2))), int(self.np_random.integers(5)))

    def act(self, action: Any) -> tuple[float, bool]:
        """Move, where no wall is."""
        down, right = Grid.moves[int(action)]
        cell = (min(4, max(0, self.cell[0] + down)), min(4, max(0, self.cell[1] + right)))
        self.cell = self.cell if cell in self.walls else cell
        return (1.0, True) if self.cell == (4, 4) else (-0.02, False)

    def observe(self) -> Any:
        """The cell, one-hot."""
        return np.eye(25, dtype=np.float32)[5 * self.cell[0] + self.cell[1]]


class Foraging(SmallEnvironment):
    """Positive, tens: walk on a ring of twelve fields whose fruit grow again; poison costs 3."""

    action_space = spaces.Discrete(3)
    observation_space = box(12)

    def begin(self) -> None:
        """Draw what grows where."""
        self.fruit = self.np_random.choice([0.0, 1.0, 2.0, -3.0], 12, p=[0.4, 0.3, 0.15, 0.15])

    def act(self, action: Any) -> tuple[float, bool]:
        """Step left, eat what is here, or step right."""
        move = int(action) - 1
        reward = 0.0
        if move == 0:
            reward, self.fruit[0] = float(self.fruit[0]), 0.0
        self.fruit = np.roll(self.fruit, -move)
        bare = self.np_random.integers(1, 12)
        if self.fruit[bare] == 0.0 and self.np_random.random() < 0.3:
            self.fruit[bare] = self.np_random.choice([1.0, 2.0, -3.0], p=[0.5, 0.25, 0.25])
        return reward, False

    def observe(self) -> Any:
        """What grows, from here on."""
        return self.fruit.astype(np.float32)


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


class Cliff(SmallEnvironment):
    """Large negative, then -13: a grid of 4 times 12 with a cliff, after Sutton and Barto."""

    action_space = spaces.Discrete(4)
    observation_space = box(48)

    def begin(self) -> None:
        """Start in the lower left corner."""
        self.cell = (3, 0)

    def act(self, action: Any) -> tuple[float, bool]:
        """Move; who falls pays 100 and is back at the start."""
        down, right = Grid.moves[int(action)]
        self.cell = (min(3, max(0, self.cell[0] + down)), min(11, max(0, self.cell[1] + right)))
        if self.cell[0] == 3 and 0 < self.cell[1] < 11:
            self.cell = (3, 0)
            return -100.0, False
        return -1.0, self.cell == (3, 11)

    def observe(self) -> Any:
        """The cell, one-hot."""
        return np.eye(48, dtype=np.float32)[12 * self.cell[0] + self.cell[1]]


class Patrol(SmallEnvironment):
    """Both signs, long episodes: visit four posts of a yard in turn, 5 each; walls cost 0.5."""

    action_space = spaces.Discrete(4)
    observation_space = box(8)
    posts = ((0, 0), (0, 6), (6, 6), (6, 0))

    def begin(self) -> None:
        """Start in the middle."""
        self.place, self.next = np.array([3, 3]), int(self.np_random.integers(4))

    def act(self, action: Any) -> tuple[float, bool]:
        """Walk."""
        wanted = self.place + Grid.moves[int(action)]
        self.place = np.clip(wanted, 0, 6)
        if tuple(self.place) == self.posts[self.next]:
            self.next = (self.next + 1) % 4
            return 5.0, False
        return -0.1 - 0.5 * float((wanted != self.place).any()), False

    def observe(self) -> Any:
        """The place, the way to the next post, and which it is."""
        way = np.array(self.posts[self.next]) - self.place
        return np.concatenate([self.place / 3 - 1, way / 3, np.eye(4)[self.next]]).astype(
            np.float32
        )


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


class Delivery(SmallEnvironment):
    """Both signs, tens: fetch parcels in a 5 x 5 town and bring them home; -0.2 a step."""

    action_space = spaces.Discrete(4)
    observation_space = box(5)

    def begin(self) -> None:
        """Start at home, in the corner."""
        self.place, self.loaded = np.array([0, 0]), False
        self.parcel = self.np_random.integers(1, 5, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Walk; a parcel pays 1 where it lies and 4 at home."""
        self.place = np.clip(self.place + Grid.moves[int(action)], 0, 4)
        if not self.loaded and (self.place == self.parcel).all():
            self.loaded = True
            return 1.0, False
        if self.loaded and not self.place.any():
            self.loaded, self.parcel = False, self.np_random.integers(1, 5, 2)
            return 4.0, False
        return -0.2, False

    def observe(self) -> Any:
        """The place, the way to where to go, and whether a parcel is carried."""
        way = (np.zeros(2) if self.loaded else self.parcel) - self.place
        return np.array([*(self.place / 2.0 - 1.0), *(way / 4.0), self.loaded], np.float32)
