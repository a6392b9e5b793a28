"""Continuous actions that move a body."""

from __future__ import annotations

from typing import Any

import numpy as np

from corpus.environments.base import SmallEnvironment, box


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


class Beam(SmallEnvironment):
    """Falls cost 100, standing pays: keep a ball on a beam for 200 steps; effort costs."""

    action_space = box(1, 1.0)
    observation_space = box(3)

    def begin(self) -> None:
        """Put the ball near the middle."""
        self.place, self.speed = self.np_random.uniform(-0.3, 0.3), 0.0
        self.tilt = self.np_random.uniform(-0.2, 0.2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Tilt the beam; the ball rolls."""
        turn = float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        self.tilt = float(np.clip(self.tilt + 0.15 * turn, -0.6, 0.6))
        self.speed += 0.05 * self.tilt + 0.01 * self.place + self.np_random.normal(0, 0.003)
        self.place += self.speed
        if abs(self.place) > 1.0:
            return -100.0, True
        return 2.0 - abs(self.place) - 0.3 * turn**2, False

    def observe(self) -> Any:
        """Place, speed and tilt."""
        return np.array([self.place, 5.0 * self.speed, 2.0 * self.tilt], np.float32)


class Crane(SmallEnvironment):
    """From minus to plus hundreds: bring a swinging load over a drawn place and hold it there."""

    action_space = box(1, 1.0)
    observation_space = box(5)

    def begin(self) -> None:
        """Draw crane and goal; the load hangs still."""
        self.crane, self.goal = self.np_random.uniform(-1, 1, 2)
        self.speed, self.angle, self.swing = 0.0, 0.0, 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Drive; the load lags behind."""
        push = float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        self.speed = 0.9 * self.speed + 0.03 * push
        self.swing = 0.95 * self.swing - 0.15 * self.angle - 0.02 * push
        self.angle += self.swing
        self.crane = float(np.clip(self.crane + self.speed, -1.5, 1.5))
        off = abs(self.crane + self.angle - self.goal)
        return (8.0 if off < 0.1 else 0.0) - 2.0 * off, False

    def observe(self) -> Any:
        """Crane, speed, load, and where the goal lies."""
        gap = self.goal - self.crane
        return np.array(
            [self.crane, 10 * self.speed, 5 * self.angle, 10 * self.swing, gap], np.float32
        )


class Sailing(SmallEnvironment):
    """Both signs, hundreds: sail towards a mark, though not into the wind, for 80 steps."""

    action_space = box(1, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """Draw course, wind and where the mark lies; all are angles."""
        self.course, self.wind, self.mark = self.np_random.uniform(-np.pi, np.pi, 3)

    def act(self, action: Any) -> tuple[float, bool]:
        """Turn; across the wind a boat is fastest, against it it drifts back."""
        turn = float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        self.course += 0.4 * turn + self.np_random.normal(0, 0.05)
        self.wind += self.np_random.normal(0, 0.03)
        against = np.cos(self.course - self.wind)
        speed = -0.2 if against > 0.75 else 1.0 - 0.4 * abs(against)
        return 5.0 * speed * float(np.cos(self.course - self.mark)), False

    def observe(self) -> Any:
        """Wind and mark, as seen from the boat."""
        angles = np.array([self.wind - self.course, self.mark - self.course])
        return np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float32)


class Berth(SmallEnvironment):
    """Negative, from -200 to -20, and over the sooner the better: stop a boat at its berth."""

    action_space = box(2, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """Lie somewhere off the berth."""
        self.place, self.speed = self.np_random.uniform(-2, 2, 2), np.zeros(2)

    def act(self, action: Any) -> tuple[float, bool]:
        """Push; the way to go costs, and so does time."""
        push = np.clip(np.asarray(action, float), -1, 1)
        self.speed = 0.9 * self.speed + 0.05 * push + self.np_random.normal(0, 0.005, 2)
        self.place = np.clip(self.place + self.speed, -3, 3)
        apart = float(np.abs(self.place).sum())
        return -0.3 - apart, apart < 0.3 and float(np.abs(self.speed).sum()) < 0.2

    def observe(self) -> Any:
        """Place and speed."""
        return np.concatenate([self.place, 5.0 * self.speed]).astype(np.float32)


class Drone(SmallEnvironment):
    """Positive, tens, with an end: hover at a height on two rotors in gusts; tipping ends it."""

    action_space = box(2, 1.0)
    observation_space = box(4)

    def begin(self) -> None:
        """Hang near the height, slightly tilted."""
        self.height, self.rise = self.np_random.uniform(-1, 1), 0.0
        self.tilt, self.turn = self.np_random.uniform(-0.2, 0.2), 0.0

    def act(self, action: Any) -> tuple[float, bool]:
        """Drive the rotors; the nearer to the height, the more it pays."""
        left, right = np.clip(np.asarray(action, float), -1, 1)
        self.turn = 0.95 * self.turn + 0.06 * (right - left) + self.np_random.normal(0, 0.015)
        self.tilt += 0.2 * self.turn
        lift = 0.05 * (left + right) * np.cos(self.tilt)
        self.rise = 0.95 * self.rise + lift + self.np_random.normal(0, 0.02)
        self.height += self.rise
        ended = abs(self.tilt) > 1.2 or abs(self.height) > 4.0
        return 1.0 / (1.0 + self.height**2), ended

    def observe(self) -> Any:
        """Height, tilt, and how fast they change."""
        seen = [self.height, 5.0 * self.rise, 2.0 * self.tilt, 4.0 * self.turn]
        return np.array(seen, np.float32)
