"""Small environments of the corpus, with rewards of different size, sign and shape.

Importing this module registers them with Gymnasium. All of them take a few microseconds a step.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def box(size: int, limit: float = np.inf) -> spaces.Box:
    """Numbers between -limit and limit."""
    return spaces.Box(-limit, limit, (size,), np.float32)


class SmallEnvironment(gymnasium.Env[Any, Any]):
    """What the small environments share: `begin` draws a state, `act` changes it."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.begin()
        return self.observe(), {}

    def step(self, action: Any) -> Step:
        """Act once; time limits are Gymnasium's."""
        reward, ended = self.act(action)
        return self.observe(), float(reward), bool(ended), False, {}

    def begin(self) -> None:
        """Draw the state at the start of an episode."""
        raise NotImplementedError

    def act(self, action: Any) -> tuple[float, bool]:
        """Change the state; the reward, and whether the episode ended."""
        raise NotImplementedError

    def observe(self) -> Any:
        """What the policy sees."""
        raise NotImplementedError


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


class PointMass(SmallEnvironment):
    """Dense, negative, in the hundreds: push a point in the plane towards a drawn target."""

    action_space = box(2, 1.0)
    observation_space = box(6)

    def begin(self) -> None:
        """Draw position and target."""
        self.place, self.target = self.np_random.uniform(-1, 1, (2, 2))
        self.speed = np.zeros(2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Accelerate; the cost is the distance."""
        push = np.clip(np.asarray(action, float), -1, 1)
        self.speed = 0.8 * self.speed + 0.1 * push
        self.place = np.clip(self.place + self.speed, -2, 2)
        return -10.0 * float(np.linalg.norm(self.place - self.target)), False

    def observe(self) -> Any:
        """Position, speed, and where the target lies from here."""
        return np.concatenate([self.place, self.speed, self.target - self.place]).astype(np.float32)


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


class Cruise(SmallEnvironment):
    """Dense, positive, at most 1 a step: hold a wished speed on a hilly road."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """Stand at a drawn place."""
        self.speed, self.place = 0.0, self.np_random.uniform(0, 6)
        self.wish = self.np_random.uniform(0.5, 1.5)

    def act(self, action: Any) -> tuple[float, bool]:
        """Give gas or brake; hills pull."""
        gas = float(np.clip(np.asarray(action, float).ravel()[0], -1, 1))
        self.speed += 0.2 * gas - 0.05 * self.speed + 0.05 * np.sin(self.place)
        self.place += 0.2 * self.speed
        return 1.0 / (1.0 + 20.0 * (self.speed - self.wish) ** 2), False

    def observe(self) -> Any:
        """Speed, wish and slope."""
        return np.array([self.speed, self.wish, np.sin(self.place)], np.float32)


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


class Arm(SmallEnvironment):
    """Small and negative: turn two joints so that the hand is at a drawn point; effort costs."""

    action_space = box(2, 1.0)
    observation_space = box(6)

    def begin(self) -> None:
        """Draw joints and target."""
        self.joints = self.np_random.uniform(-np.pi, np.pi, 2)
        turn, reach = self.np_random.uniform(-np.pi, np.pi), self.np_random.uniform(0.3, 1.8)
        self.target = reach * np.array([np.cos(turn), np.sin(turn)])

    def act(self, action: Any) -> tuple[float, bool]:
        """Turn the joints."""
        turn = np.clip(np.asarray(action, float), -1, 1)
        self.joints = self.joints + 0.3 * turn
        return -float(np.linalg.norm(self.gap())) / 10.0 - 0.01 * float(turn @ turn), False

    def gap(self) -> Any:
        """Where the target lies from the hand."""
        angles = np.cumsum(self.joints)
        return self.target - np.array([np.cos(angles).sum(), np.sin(angles).sum()])

    def observe(self) -> Any:
        """The joints' angles, and the gap."""
        return np.concatenate([np.cos(self.joints), np.sin(self.joints), self.gap()]).astype(
            np.float32
        )


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


class Glider(SmallEnvironment):
    """Staying in the air: 1 a step until the glider leaves its corridor, for 150 steps at most."""

    action_space = box(2, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """Start near the middle."""
        self.place = self.np_random.uniform(-0.3, 0.3, 2)
        self.speed = self.np_random.uniform(-0.05, 0.05, 2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Steer against gusts; the air pushes outwards."""
        steer = np.clip(np.asarray(action, float), -1, 1)
        gust = self.np_random.normal(0, 0.01, 2)
        self.speed = 0.85 * self.speed + 0.04 * steer + 0.02 * self.place + gust
        self.place = self.place + self.speed
        return 1.0, bool((np.abs(self.place) > 1.0).any())

    def observe(self) -> Any:
        """Place and speed."""
        return np.concatenate([self.place, 5.0 * self.speed]).astype(np.float32)


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


STEP_LIMITS = {
    Corridor: 40, Inventory: 50, PointMass: 60, Bandit: 10, Grid: 60, Thermostat: 100, Cruise: 100,
    Lander: 200, Recall: 10, Ranking: 8, Windy: 60, Queue: 80, Tank: 100, Harvest: 40, Betting: 15,
    Docking: 120, Maze: 60, Arm: 50, Mixing: 200,
    Kiln: 80, Glider: 150, Foraging: 60, Lift: 60,
}  # fmt: skip

for kind, limit in STEP_LIMITS.items():
    gymnasium.register(f"{kind.__name__}-v0", entry_point=kind, max_episode_steps=limit)
