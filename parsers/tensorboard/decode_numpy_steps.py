"""Small pieces of event files by numpy: whole steps of a writer as rows, all tags at once.

A writer logs the same tags in the same order at every step. As long as all lengths repeat, a step
is a row of bytes as long as the others; one comparison, one look-up of checksums and a few copies
read all rows, however few there are of each tag. Everything else is left to the standard library's
columns. Worth while where thousands of small files are read; import it when numpy is paid for.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppo_top.parsers.tensorboard import decode_stdlib
from ppo_top.parsers.tensorboard.crc32c import MASK_DELTA, byte_contributions
from ppo_top.parsers.tensorboard.decode_numpy import find_period
from ppo_top.parsers.tensorboard.file_order import DecodedPoints
from ppo_top.parsers.tensorboard.templates import EventTemplate, TemplateCache
from ppo_top.parsers.tensorboard.tfrecord import HEADER_BYTES

ByteArray = NDArray[np.uint8]
IndexArray = NDArray[np.intp]

_MIN_STEP_ROWS = 4
"""Fewer rows than this are not worth the calls."""


class StepRun(NamedTuple):
    """Records from `start` to `stop` (numbers) whose lengths repeat after `period` records."""

    start: int
    stop: int
    period: int


class StepLayout(NamedTuple):
    """One step's row of bytes, of records with known templates, and what changes in it."""

    template_bytes: ByteArray
    mask: ByteArray
    """Bits that are the same in all rows."""
    changing: IndexArray
    contributions: NDArray[np.uint32]
    """For each changing byte what its value adds to the checksum."""
    edges: IndexArray
    """Where each record's changing bytes begin among all."""
    fixed: NDArray[np.uint32]
    checksums: IndexArray
    times: IndexArray
    steps: IndexArray
    values: IndexArray
    code: str


def decode_columns(
    data: bytes, bounds: array[int], templates: TemplateCache
) -> tuple[list[DecodedPoints], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i stands in `data[bounds[i]:bounds[i + 1]]`.
    """
    edges = np.frombuffer(bounds, np.int64)
    run = _find_step_run(edges[1:] - edges[:-1])
    pieces = _decode_run(data, bounds, templates, run) if run else None
    if run is None or pieces is None:
        return decode_stdlib.decode_columns(data, bounds, templates)
    rest: list[int] = []
    for first, last in ((0, run.start), (run.stop, len(bounds) - 1)):
        if first == last:
            continue
        found, left = decode_stdlib.decode_columns(data, bounds[first : last + 1], templates)
        pieces += [
            piece._replace(
                record_numbers=array("q", [first + number for number in piece.record_numbers])
            )
            for piece in found
        ]
        rest += [first + number for number in left]
    return pieces, rest


def _find_step_run(sizes: NDArray[np.int64]) -> StepRun | None:
    """The longest stretch of records whose lengths repeat, in whole periods."""
    period = find_period(sizes)
    if not period:
        return None
    breaks = np.flatnonzero(sizes[period:] != sizes[:-period]) + period
    edges = np.concatenate(([0], breaks, [len(sizes)]))
    longest = int(np.diff(edges).argmax())
    start = int(edges[longest])
    rows = (int(edges[longest + 1]) - start) // period
    return StepRun(start, start + rows * period, period) if rows >= _MIN_STEP_ROWS else None


def _decode_run(
    data: bytes, bounds: array[int], templates: TemplateCache, run: StepRun
) -> list[DecodedPoints] | None:
    """All records of a run; None when one is not what its template says, or damaged."""
    found = []
    for number in range(run.start, run.start + run.period):
        payload = data[bounds[number] + HEADER_BYTES : bounds[number + 1] - 4]
        template = templates.find_by_tag(payload) or templates.learn_template(payload)
        if template is None:
            return None
        found.append(template)
    step = _step_layout(tuple(found))
    if step is None:
        return None
    width, begin = len(step.template_bytes), bounds[run.start]
    rows = np.frombuffer(data[begin : bounds[run.stop]], np.uint8).reshape(-1, width)
    if ((rows ^ step.template_bytes) & step.mask).any() or not _are_intact(rows, step):
        return None
    count, period = len(rows), run.period
    times = rows.take(step.times, 1).view("<f8")
    values = rows.take(step.values, 1).view(f"<{step.code}").astype(np.float64)
    steps = np.zeros((count, period), np.int64)
    for byte in reversed(step.steps.reshape(-1, period) if len(step.steps) else ()):
        steps <<= 7
        steps |= rows.take(byte, 1) & 127
    order = np.arange(run.start, run.stop).reshape(count, period)
    columns = (np.ascontiguousarray(each.T, each.dtype) for each in (order, steps, times, values))
    orders, all_steps, all_times, all_values = columns
    return [
        DecodedPoints(template.tag, orders[at], all_steps[at], all_times[at], all_values[at])
        for at, template in enumerate(found)
    ]


def _are_intact(rows: ByteArray, step: StepLayout) -> bool:
    """Whether all checksums are right."""
    found = step.contributions[np.arange(len(step.changing)), rows.take(step.changing, 1)]
    sums = np.bitwise_xor.reduceat(found, step.edges, axis=1) ^ step.fixed
    masked = (sums >> np.uint32(15) | sums << np.uint32(17)) + np.uint32(MASK_DELTA)
    stored = rows.take(step.checksums, 1).view("<u4")
    return bool((masked == stored).all())


@lru_cache(maxsize=256)
def _step_layout(templates: Sequence[EventTemplate]) -> StepLayout | None:
    """The row of a step; None when its records differ in how they write a number."""
    layouts = [template.layout for template in templates]
    code, size = layouts[0].code, layouts[0].step_size
    if any(layout.code != code or layout.step_size != size for layout in layouts):
        return None
    starts = np.cumsum([0] + [HEADER_BYTES + layout.length + 4 for layout in layouts])
    like, mask = np.zeros(starts[-1], np.uint8), np.zeros(starts[-1], np.uint8)
    changing: list[int] = []
    tables: list[tuple[int, ...]] = []
    edges: list[int] = []
    for start, template in zip((starts + HEADER_BYTES).tolist(), templates, strict=False):
        layout = template.layout
        like[start : start + layout.length] = np.frombuffer(template.fixed_bytes, np.uint8)
        mask[[start + place for place in layout.fixed_places]] = 255
        steps = slice(start + layout.step, start + layout.step + size)
        mask[steps], like[steps] = 128, 128
        like[steps.stop - 1 : steps.stop] &= 127 if size else 255
        edges.append(len(changing))
        changing += [start + place for place in layout.changing_places]
        tables += [
            byte_contributions(layout.length - 1 - place) for place in layout.changing_places
        ]
    begins = (starts[:-1] + HEADER_BYTES).tolist()
    value_size = layouts[0].value_size

    def places(firsts: Sequence[int], count: int) -> IndexArray:
        each = zip(begins, firsts, strict=True)
        return np.array([at + first + n for at, first in each for n in range(count)], np.intp)

    steps_first = places([layout.step for layout in layouts], size).reshape(len(layouts), size)
    return StepLayout(
        like,
        mask,
        np.array(changing, np.intp),
        np.array(tables, np.uint32),
        np.array(edges, np.intp),
        np.array([template.checksum for template in templates], np.uint32),
        places([layout.length for layout in layouts], 4),
        places([layout.time for layout in layouts], 8),
        steps_first.T.ravel(),
        places([layout.value for layout in layouts], value_size),
        code,
    )
