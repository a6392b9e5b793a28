"""Walks from cell to cell of a grid, a ring or a corridor."""

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
