"""The cursor on a run's timeline: live, in the past, or playing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline import Timeline

MAX_PAUSE_UPDATES = 10.0
"""The longest gap to play (a resume may be a day later), in usual update intervals."""

REPLAY_SPEEDS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)

REPLAY_S, MIN_SPEED = 30.0, 1e-6
"""How long a replay takes, whatever the log's length."""

MAX_SAMPLES = 2000
"""Pauses of a long log that are looked at to choose the speed."""


@dataclass(slots=True)
class Cursor:
    """The position on a timeline: `row` is None at the latest update.

    Playing follows the log's clock at `speed` times real time; without a clock, a row a second.
    """

    row: int | None = None
    playing: bool = False
    speed: float = 60.0
    replay: bool = False
    speed_chosen: bool = False
    """Whether the user changed the speed; else `REPLAY_S` decides, but for that of a replay."""
    _elapsed: float = 0.0
    _usual_pause_cache: tuple[int, float] = (-1, 1.0)

    def advance(self, timeline: Timeline, seconds: float) -> bool:
        """Advance by some seconds of real time; True if the cursor moved."""
        if not self.playing or self.row is None:
            return False
        last = len(timeline) - 1
        row = self.row
        self._elapsed += seconds * self.speed
        while row < last and self._elapsed >= (pause := self._pause(timeline, row + 1)):
            self._elapsed -= pause
            row += 1
        if row >= last:
            self._elapsed = 0.0
            self.playing = False
        moved = row != self.row
        self.row = row
        return moved

    def fit_speed(self, timeline: Timeline) -> None:
        """Play the whole timeline in `REPLAY_S`."""
        rows = range(1, len(timeline), max(1, len(timeline) // MAX_SAMPLES))
        pauses = [self._pause(timeline, row) for row in rows]
        spent = sum(pauses) / max(len(pauses), 1) * (len(timeline) - 1)
        self.speed = max(spent / REPLAY_S, MIN_SPEED)

    def wait_s(self, timeline: Timeline) -> float | None:
        """Seconds until the cursor moves, or None."""
        if not self.playing or self.row is None or self.row >= len(timeline) - 1:
            return None
        return max(0.0, (self._pause(timeline, self.row + 1) - self._elapsed) / self.speed)

    def _pause(self, timeline: Timeline, row: int) -> float:
        gap = timeline.times[row] - timeline.times[row - 1] if row else 0.0
        if not gap >= 0:
            return 1.0
        return min(gap, MAX_PAUSE_UPDATES * self._usual_pause(timeline))

    def _usual_pause(self, timeline: Timeline) -> float:
        amount = len(timeline) // 64
        if self._usual_pause_cache[0] != amount:
            times = timeline.times
            sample = range(1, len(times), max(1, len(times) // 500))
            gaps = [times[at] - times[at - 1] for at in sample if times[at] > times[at - 1]]
            self._usual_pause_cache = (amount, median(gaps) if gaps else 1.0)
        return self._usual_pause_cache[1]

    # --- moving --------------------------------------------------------------------------------

    def current_row(self, timeline: Timeline) -> int:
        """The row shown (-1 for an empty timeline)."""
        last = len(timeline) - 1
        return last if self.row is None else min(self.row, last)

    def move_by(self, timeline: Timeline, rows: int) -> None:
        """Move by some rows; past the end is live."""
        last = len(timeline) - 1
        target = self.current_row(timeline) + rows
        self._set(max(0, target) if target < last or self.replay else None, last)

    def go_to(self, timeline: Timeline, row: int | None) -> None:
        """Move to a row, or (None) to the end."""
        self._set(row, len(timeline) - 1)

    def _set(self, row: int | None, last: int) -> None:
        self._elapsed = 0.0
        self.row = None if row is None else max(0, min(row, last))
        if self.row is None:
            self.playing = False

    def toggle_playing(self, timeline: Timeline) -> None:
        """Play or pause; at the end, play from the start."""
        if self.playing:
            self.playing = False
            return
        last = len(timeline) - 1
        if self.row is None or self.row >= last:
            self.row = 0
        if not (self.replay or self.speed_chosen):
            self.fit_speed(timeline)
        self.playing = last > 0
        self._elapsed = 0.0

    def change_speed(self, direction: int) -> None:
        """The next faster (1) or slower (-1) speed."""
        self.speed_chosen = True
        if direction > 0:
            faster = (each for each in REPLAY_SPEEDS if each > self.speed)
            self.speed = min(faster, default=REPLAY_SPEEDS[-1])
        else:
            slower = (each for each in REPLAY_SPEEDS if each < self.speed)
            self.speed = max(slower, default=REPLAY_SPEEDS[0])


def find_row(timeline: Timeline, wanted: str) -> int | None:
    """The row of a step (`14336`, `14k`) or a percentage (`50%`); None if it is neither."""
    found = parse_destination(wanted)
    if found is None or not len(timeline):
        return None
    if not found.is_share:
        return first_row_at_step(timeline.steps, found.amount)
    percent = min(100.0, max(0.0, found.amount))
    return max(0, math.ceil(percent * len(timeline) / 100) - 1)


class Destination(NamedTuple):
    """Where to go: a step, or per cent of the rows."""

    amount: float
    is_share: bool


def parse_destination(wanted: str) -> Destination | None:
    """What the user means by `14336`, `14k` or `50%`; None if it is no place."""
    text = wanted.strip().replace(",", "").replace("_", "").lower()
    factor = {"k": 1e3, "m": 1e6}.get(text[-1:], 1.0)
    try:
        amount = float(text.rstrip("km") if factor > 1.0 else text.removesuffix("%")) * factor
    except ValueError:
        return None
    return None if amount != amount else Destination(amount, text.endswith("%"))


def first_row_at_step(steps: Sequence[int], step: float) -> int:
    """The first row that reaches a step, else the last one (steps may fall back at a restart)."""
    return next((row for row, each in enumerate(steps) if each >= step), len(steps) - 1)
