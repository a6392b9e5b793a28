"""What trackers measured of the machine, brought to the rows of a run by the times of both.

A row gets the mean of what was measured since the row before it. A measurement that is read after
its row was sealed counts for the next one; nothing is judged again for it.
"""

from __future__ import annotations

from collections.abc import Collection

from ppo_top.catalogue import machine_tag
from ppo_top.model import Series
from ppo_top.runs.sources.source import SourceState

SAME_MOMENT_S = 30.0
"""Devices are compared by measurements that are at most so far apart (seconds)."""


class MachineStream:
    """One metric of the machine, from one source; `parts` are its devices, which still grow."""

    def __init__(self, concept: str, tag: str, source: str, scale: float, rank: int) -> None:
        self.concept = concept
        self.tag = tag
        self.source = source
        self.scale = scale
        self.rank = rank
        self.parts: list[Series] = []
        self._read: list[int] = []
        """How many measurements of each part belong to rows so far."""

    def add_part(self, part: Series) -> None:
        """Add the measurements of another device, or of another file."""
        self.parts.append(part)
        self._read.append(0)

    def pop_until(self, time: float) -> float | None:
        """The mean of the measurements up to a time (unix seconds), of the busiest device.

        None if there is no new one, or if the time is unknown (NaN).
        """
        means = []
        for number, part in enumerate(self.parts):
            begin = at = self._read[number] - part.dropped
            while at < len(part.times) and part.times[at] <= time:
                at += 1
            if at > begin:
                means.append(sum(part.values[begin:at]) / (at - begin))
                self._read[number] = at + part.dropped
        return self.scale * max(means) if means else None

    def newest(self) -> float | None:
        """The newest measurement, of the busiest device; None without any."""
        ends = [(part.times[-1], part.values[-1]) for part in self.parts if part.times]
        last = max((time for time, _ in ends), default=0.0)
        now = [value for time, value in ends if time > last - SAME_MOMENT_S]
        return self.scale * max(now) if now else None

    def drop_read(self) -> None:
        """Drop the measurements that belong to rows, but for the newest."""
        for part, read in zip(self.parts, self._read, strict=True):
            part.drop_before(read)

    def copy(self) -> MachineStream:
        """The same measurements at the same position."""
        other = MachineStream(self.concept, self.tag, self.source, self.scale, self.rank)
        other.parts, other._read = self.parts, self._read.copy()
        return other


def machine_streams(sources: Collection[SourceState]) -> list[MachineStream]:
    """A stream for each metric of the machine, from the best kind of source that has it."""
    found: dict[str, MachineStream] = {}
    for source in sorted(sources, key=lambda each: (-each.rank, each.creation_order)):
        for tag in sorted(source.machine):
            known = machine_tag(tag)
            if known is None:
                continue
            stream = found.get(known.metric)
            if stream is None:
                stream = MachineStream(known.metric, tag, source.key, known.scale, source.rank)
                found[known.metric] = stream
            if (stream.scale, stream.rank) == (known.scale, source.rank):
                stream.add_part(source.machine[tag])
    return [found[name] for name in sorted(found)]
