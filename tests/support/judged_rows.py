"""The rows of a run as they were judged."""

from __future__ import annotations

from ppo_top.model import Row
from ppo_top.runs.rows.timeline import Timeline


def rows_of(timeline: Timeline) -> list[Row]:
    """The rows of a timeline, with what each track holds at them."""
    values: list[dict[str, float]] = [{} for _ in range(len(timeline))]
    for name, track in timeline.tracks.items():
        for row, value in zip(track.rows, track.values, strict=True):
            values[row][name] = value
    return [Row(timeline.mark(number), cells) for number, cells in enumerate(values)]
