"""How long until a rule speaks wrongly: `python -m benchmarks.false_alarms`.

Healthy courses of the reward are drawn (shapes, noise from 1 % to 300 % of the gain, lengths, and
what a row is: an episode, a moving mean, an update's mean), with KL, clip fraction, entropy,
explained variance and losses as healthy runs have them. Every *warn* or *crit* is then wrong, and
the updates judged for each are its run length. Beside it stands the delay to planted faults, so
that silence does not win.

    python -m benchmarks.false_alarms [--courses N] [--rows N] [--seed N]
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ppo_top.model import Mark, Profile, Row, Sample, Severity
from ppo_top.rules.judge import Judge

WARN, CRIT = Severity.WARN, Severity.CRIT

MIN_UPDATES_TO_WARN, MIN_UPDATES_TO_CRIT = 5_000, 50_000
"""Over all rules together."""

Shape = Callable[[float], float]
"""The share of the gain that a healthy run has reached at a share of its length."""

SHAPES: Mapping[str, Shape] = {
    "jump": lambda t: float(t > 0.25),
    "ramp": lambda t: t,
    "sigmoid": lambda t: 1.0 / (1.0 + math.exp(-14.0 * (t - 0.35))),
    "plateau": lambda t: 1.0 - math.exp(-12.0 * t),
    "saturated": lambda t: min(1.0, 12.0 * t),
    "curriculum": lambda t: min(1.0, 3.0 * t) - 0.25 * (t > 0.4) * max(0.0, 1.0 - 12.0 * (t % 0.2)),
    "late": lambda t: max(0.0, (t - 0.4) / 0.6) ** 0.7,
}

FAULTS: Mapping[str, Callable[[Shape, float], float]] = {
    "never learns": lambda _, t: 0.0,
    "falls back": lambda shape, t: shape(t) if t < 0.6 else 0.05 * shape(0.6),
    "falls below its start": lambda _, t: -max(0.0, min(1.0, 3.0 * (t - 0.2))),
}
FAULT_SETS = {"never learns": 0.0, "falls back": 0.6, "falls below its start": 0.2}
"""The share of the run at which a fault sets in."""


class Course(NamedTuple):
    """A drawn training: what the reward does, and how it is logged."""

    shape: str
    rewards: str
    sample: Sample
    rows: int
    episodes_a_row: float
    noise: float
    scale: float
    start: float
    seed: int
    known_length: bool
    off_policy: bool


def draw_course(seed: int, max_rows: int) -> Course:
    """A course by its seed: lengths and noise are drawn evenly on a logarithmic scale."""
    draw = random.Random(seed)
    kind = draw.choice(("episode", "window", "window", "update", "off-policy"))
    off_policy = kind == "off-policy"
    kind = "window" if off_policy else kind
    least = 300 if kind == "episode" else 20
    rows = int(least * (max(max_rows, 2 * least) / least) ** draw.random())
    rows = draw.randint(30, 70) if off_policy else rows
    each = {
        "episode": 1.0,
        "window": 2.0 * 20.0 ** draw.random(),
        "update": 8.0 * 8.0 ** draw.random(),
    }
    if off_policy:
        each["window"] = 4.0  # SB3's log_interval
    scale = 10.0 ** draw.uniform(-1.0, 3.5)
    return Course(
        shape=draw.choice(list(SHAPES)),
        rewards=draw.choice(("normal", "normal", "heavy-tailed", "sparse", "length")),
        sample=Sample(kind, 100 if kind == "window" else 0),
        rows=rows,
        episodes_a_row=each[kind],
        noise=0.01 * 300.0 ** draw.random(),
        scale=scale,
        start=draw.choice((0.0, 0.0, -1.0, -5.0, 1.0)) * scale,
        seed=seed,
        known_length=draw.random() < 0.5,
        off_policy=off_policy,
    )


def _episode(course: Course, level: float, draw: random.Random) -> float:
    """The return of one episode of a policy that has reached a share of the gain."""
    if course.rewards == "sparse":
        return float(draw.random() < 0.02 + 0.9 * max(0.0, level))
    if course.rewards == "length":  # every step is rewarded: the spread grows with the mean
        return (20.0 + 400.0 * level) * max(0.1, draw.gauss(1.0, min(0.5, course.noise)))
    spread = draw.gauss(0.0, 1.0)
    if course.rewards == "heavy-tailed":  # Student's t with 3 degrees of freedom
        spread /= math.sqrt(draw.gammavariate(1.5, 2.0) / 3.0)
    return course.start + course.scale * (level + course.noise * spread)


def _mean_return(course: Course, level: float) -> float:
    """What an episode returns on average."""
    if course.rewards == "sparse":
        return 0.02 + 0.9 * max(0.0, level)
    return (
        20.0 + 400.0 * level if course.rewards == "length" else course.start + course.scale * level
    )


class _Rollout(NamedTuple):
    """What a row says of its episodes: mean reward, mean length; and the steps it took."""

    reward: float | None
    length: float | None
    steps: int


def _rollouts(course: Course, level: Shape) -> Iterator[_Rollout]:
    draw = random.Random(course.seed + 1)
    window: deque[tuple[float, int]] = deque(maxlen=course.sample.episodes or None)
    owed = 0.0
    for row in range(course.rows):
        owed += course.episodes_a_row
        returns = [_episode(course, level(row / course.rows), draw) for _ in range(int(owed))]
        owed -= len(returns)
        new = [(value, _length(course, value, draw)) for value in returns]
        if course.sample.kind == "window":
            window.extend(new)
        seen = window if course.sample.kind == "window" else new
        steps = sum(length for _, length in new)
        if not seen:
            yield _Rollout(None, None, 200)
            continue
        reward = sum(value for value, _ in seen) / len(seen)
        yield _Rollout(reward, sum(length for _, length in seen) / len(seen), steps)


def _length(course: Course, value: float, draw: random.Random) -> int:
    """The steps of an episode; each is rewarded by 1 in some tasks."""
    return max(1, int(value if course.rewards == "length" else draw.gauss(200.0, 30.0)))


def _other_metrics(course: Course) -> Iterator[dict[str, float]]:
    """What a healthy PPO logs beside the reward."""
    draw = random.Random(course.seed + 2)
    for row in range(course.rows):
        reached = SHAPES[course.shape](row / course.rows)
        kl = 0.008 * math.exp(draw.gauss(0.0, 0.35))
        yield {
            "approx_kl": kl,
            "clip_fraction": min(0.2, 9.0 * kl * math.exp(draw.gauss(0.0, 0.25))),
            "entropy": 1.38 * (0.88 + 0.12 * math.exp(-row / 25.0) - 0.4 * reached)
            + draw.gauss(0.0, 0.01),
            "explained_variance": min(0.97, 0.3 + 0.6 * row / (row + 5.0)) + draw.gauss(0.0, 0.03),
            "value_loss": (1.0 + 9.0 * math.exp(-0.1 * row)) * math.exp(draw.gauss(0.0, 0.2)),
            "policy_loss": -0.012 + draw.gauss(0.0, 0.003),
            "lr": 3e-4,
            "clip_range": 0.2,
        }


def _replay_metrics(course: Course) -> Iterator[dict[str, float]]:
    """What a healthy SAC logs beside the reward.

    The critic learns the reward of a step first, in the end those of 100 steps: half an episode.
    """
    draw = random.Random(course.seed + 3)
    for row in range(course.rows):
        reached = SHAPES[course.shape](row / course.rows)
        seen = 0.5 * (1.0 - math.exp(-6.0 * (row + 1) / course.rows))
        yield {
            "critic_loss": (1.0 + 9.0 * reached) * math.exp(draw.gauss(0.0, 0.4)),
            "actor_loss": -seen * _mean_return(course, reached) * (1.0 + draw.gauss(0.0, 0.05)),
            "entropy_coef": 0.02 + 0.98 * math.exp(-8.0 * row / course.rows),
            "lr": 3e-4,
            "n_updates": 500.0 * (row + 1),
        }


def draw_rows(course: Course, fault: str = "") -> Iterator[Row]:
    """The rows of a course, healthy or with a planted fault in its reward."""
    healthy = SHAPES[course.shape]
    level: Shape = healthy
    if fault:
        planted = FAULTS[fault]
        level = lambda t: planted(healthy, t)  # noqa: E731 (a closure, once a run)
    alone = course.sample.kind == "episode"
    logged = _replay_metrics if course.off_policy else _other_metrics
    others = iter(()) if alone else logged(course)
    step = 0
    for row, rollout in enumerate(_rollouts(course, level)):
        step += rollout.steps
        values = next(others, {})
        if rollout.reward is not None and rollout.length is not None:
            values |= {"reward_mean": rollout.reward, "ep_len": rollout.length}
        yield Row(Mark(row, step, 1e9 + 3.0 * row), values)


def profile_of(course: Course, last_step: int) -> Profile:
    """What is known of a course: its trainer, what a row is, in half of them the length."""
    trainer = "monitor" if course.sample.kind == "episode" else "sb3"
    config = {"total_timesteps": last_step} if course.known_length else {}
    family, algo = ("off-policy", "SAC") if course.off_policy else ("on-policy", "PPO")
    if trainer == "monitor":
        family, algo = "unknown", ""
    return Profile(trainer, family, config, samples={"reward_mean": course.sample}, algo=algo)


def judge_course(course: Course, fault: str = "") -> Judge:
    """A course, judged to its end; the judge is told that it is complete."""
    rows = list(draw_rows(course, fault))
    judge = Judge(profile_of(course, rows[-1].mark.step))
    for row in rows:
        judge.add_row(row)
    judge.end_run()
    return judge


@dataclass
class FalseAlarms:
    """Wrong findings on healthy courses."""

    updates: int = 0
    courses: int = 0
    warn: Counter[str] = field(default_factory=Counter)
    crit: Counter[str] = field(default_factory=Counter)
    by_course: list[tuple[Course, str, int]] = field(default_factory=list)

    def add(self, course: Course) -> None:
        """Judge one more course."""
        self.courses += 1
        self.updates += course.rows
        for finding in judge_course(course).findings:
            if finding.severity >= WARN:
                self.warn[finding.rule] += 1
                self.by_course.append((course, finding.rule, finding.since.row))
            if finding.severity >= CRIT:
                self.crit[finding.rule] += 1

    def updates_per(self, alarms: Counter[str]) -> float:
        """Updates judged for each wrong finding; infinite if there is none."""
        return self.updates / alarms.total() if alarms else math.inf


def measure_false_alarms(courses: int, max_rows: int, seed: int = 0) -> FalseAlarms:
    """Judge healthy courses."""
    found = FalseAlarms()
    for number in range(courses):
        found.add(draw_course(seed + number, max_rows))
    return found


def measure_delays(courses: int, max_rows: int, seed: int = 0) -> dict[str, list[float]]:
    """Fault -> delays of the first *warn* about the reward, in shares of the run; inf if missed."""
    delays = defaultdict(list)
    for fault, onset in FAULT_SETS.items():
        for number in range(courses):
            course = draw_course(seed + number, max_rows)
            if course.rewards in ("sparse", "length") or course.shape in ("late", "curriculum"):
                continue
            found = judge_course(course, fault).findings
            rows = [
                change.mark.row
                for finding in found
                for change in finding.changes
                if finding.rule.startswith("reward-") and change.severity >= WARN
            ]
            since = [row - onset * course.rows for row in rows if row >= onset * course.rows]
            delays[fault].append(min(since, default=math.inf) / course.rows)
    return dict(delays)


def main() -> None:
    """Print run lengths and delays."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--courses", type=int, default=300)
    parser.add_argument("--rows", type=int, default=3000, help="rows of the longest course")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print each wrong finding")
    options = parser.parse_args()
    found = measure_false_alarms(options.courses, options.rows, options.seed)
    print(f"{found.courses} healthy courses, {found.updates:,} updates")
    for name, alarms, least in (
        ("warn", found.warn, MIN_UPDATES_TO_WARN),
        ("crit", found.crit, MIN_UPDATES_TO_CRIT),
    ):
        print(f"updates to a wrong {name}  {found.updates_per(alarms):>12,.0f}   target {least:,}")
        for rule, count in alarms.most_common():
            print(f"  {rule:<28} {count:>4}  {found.updates / count:>12,.0f}")
    for course, rule, row in found.by_course if options.show else ():
        print(f"  {rule} at {row}: {course}")
    delays = measure_delays(max(20, options.courses // 4), options.rows, options.seed)
    for fault, shares in delays.items():
        missed = sum(share == math.inf for share in shares)
        print(
            f"{fault:<24} found {len(shares) - missed}/{len(shares)}, "
            f"median delay {median(shares):.1%} of the run"
        )


if __name__ == "__main__":
    main()
