"""One run of MLflow in files: `meta.yaml`, and beside it `metrics/<key>` and `params/<key>`.

A metric's file has a line for each point: milliseconds, value and step (and perhaps a data set).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ppo_top.model import Batch, ConfigValue, Problem, RunEnd
from ppo_top.parsers.mlflow.values import SYSTEM_TAG_PREFIX, MetricSteps, run_end, setting_of
from ppo_top.parsers.shared.columns import ColumnBuilder, MachineColumns
from ppo_top.parsers.shared.text.line_splitter import LineSplitter, Segment
from ppo_top.parsers.shared.text.number_text import parse_number

_MAX_META_BYTES = 1 << 16
_MAX_SETTING_BYTES = 1 << 16
_MAX_READ_BYTES = 1 << 20
"""Bytes read of one metric at once."""
_MAX_FILES = 20_000
_MAX_LINE_BYTES = 4096
_FIELD_COUNTS = (2, 3, 5)
"""Fields of a line: without a step (old), with it, and with the name and digest of a data set."""


class _MetricFile:
    def __init__(self, tag: str, path: str) -> None:
        self.tag = tag
        self.path = path
        self.offset = 0
        self.splitter = LineSplitter(_MAX_LINE_BYTES)
        self.steps = MetricSteps()


class MlflowRunFolder:
    """Follows the directory of one run; a metric that became shorter starts the run anew."""

    def __init__(self, path: Path) -> None:
        self._meta = path
        self._folder = path.parent
        self._stored_run = self._last_problem = ""
        self._restart()

    def _restart(self) -> None:
        self._metrics: dict[str, _MetricFile] = {}
        self._settings: dict[str, ConfigValue] = {}
        self._end: RunEnd | None = None
        self._folder_stamp: tuple[int, ...] = ()

    def poll(self, limit: int) -> Batch:
        """New points of as many metrics as fit into the limit; then settings, then the end."""
        try:
            about = _read_meta(self._meta)
            if not self._stored_run:
                self._stored_run = about.get("run_name", "").replace("/", "_")[:100]
            if about.get("lifecycle_stage") == "deleted":
                return Batch()
            return self._read(limit, about.get("status", ""))
        except FileNotFoundError:  # deleted meanwhile
            return Batch()
        except OSError as error:
            return self._report_problem(f"cannot be read: {error.strerror or error}")

    def _report_problem(self, what: str) -> Batch:
        """Report it once."""
        known, self._last_problem = self._last_problem, what
        problems = [] if what == known else [Problem(0, what)]
        return Batch(problems=problems, stored_run=self._name)

    @property
    def _name(self) -> str:
        """The name of the run, which is that of its directory if it has none or an odd one."""
        name = self._stored_run
        return name if name.strip(".") else self._folder.name

    def side_files_changed(self) -> bool:
        """Whether there are other files, or a metric has grown."""
        if self._stamp_of_folders() != self._folder_stamp:
            return True
        return any(_size(each.path) != each.offset for each in self._metrics.values())

    def close(self) -> None:
        """Nothing is held open."""

    def _stamp_of_folders(self) -> tuple[int, ...]:
        """When metrics and params (and the folders of metrics in them) last got a new file."""
        folders = {self._folder / "metrics", self._folder / "params"}
        folders.update(Path(each.path).parent for each in self._metrics.values())
        return tuple(_mtime_ns(path) for path in sorted(folders))

    def _read(self, limit: int, status: str) -> Batch:
        restarted = any(_size(each.path) < each.offset for each in self._metrics.values())
        if restarted:
            self._restart()
        if self._stamp_of_folders() != self._folder_stamp:
            self._find_files()
        batch = Batch(stored_run=self._name, restarted=restarted)
        builder, machine = ColumnBuilder(), MachineColumns()
        points = 0
        for metric in self._metrics.values():
            if points >= limit:
                break
            for segment in _new_lines(metric):
                points += 1
                _add_line(builder, machine, metric, segment, batch.problems)
            batch.problems += metric.splitter.pop_problems()
        batch.points, batch.machine = builder.pop_points(), machine.pop_points()
        logged = [self._metrics[each.tag].steps for each in batch.points]
        batch.counts_updates = bool(logged) and all(each.are_counted for each in logged)
        if not batch.points:
            self._add_rest(batch, status)
        return batch

    def _find_files(self) -> None:
        """Note new metrics; the folder's own time is taken before, so that none is missed."""
        stamp = self._stamp_of_folders()
        root = self._folder / "metrics"
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                path = os.path.join(folder, name)  # noqa: PTH118
                tag = os.path.relpath(path, root)
                if tag not in self._metrics and len(self._metrics) < _MAX_FILES:
                    self._metrics[tag] = _MetricFile(tag, path)
        after = self._stamp_of_folders()
        self._folder_stamp = after if len(after) != len(stamp) else stamp

    def _add_rest(self, batch: Batch, status: str) -> None:
        found = dict(_read_settings(self._folder / "params"))
        if found != self._settings:
            self._settings = found
            batch.config = dict(found)
        end = run_end(status)
        if end != self._end and self._metrics:
            self._end = batch.ended = end


def _new_lines(metric: _MetricFile) -> Iterator[Segment]:
    with open(metric.path, "rb") as file:
        file.seek(metric.offset)
        data = file.read(_MAX_READ_BYTES)
    metric.offset += len(data)
    yield from metric.splitter.complete_segments(data)


def _add_line(
    builder: ColumnBuilder,
    machine: MachineColumns,
    metric: _MetricFile,
    segment: Segment,
    problems: list[Problem],
) -> None:
    words = segment.data.decode("utf-8", "replace").split(" ")
    try:
        if len(words) not in _FIELD_COUNTS:
            raise ValueError
        time, step = int(words[0]) / 1000, int(words[2]) if len(words) > 2 else 0
        value = parse_number(words[1])
        if value is None or not -(2**63) <= step < 2**63:
            raise ValueError
    except (ValueError, OverflowError):
        if words != [""]:
            problems.append(Problem(segment.offset, f"{metric.tag}: not a point of a metric"))
        return
    if metric.tag.startswith(SYSTEM_TAG_PREFIX):
        machine.add_sample(metric.tag, time, value)
    else:
        builder.add_point(metric.tag, metric.steps.step_of(step), time, value)


def _read_meta(path: Path) -> dict[str, str]:
    """The plain values at the top level of a meta.yaml."""
    with path.open("rb") as file:
        text = file.read(_MAX_META_BYTES).decode("utf-8", "replace")
    pairs = (line.partition(": ") for line in text.splitlines() if line[:1].isalpha())
    return {key: value.strip().strip("'\"") for key, _, value in pairs}


def _read_settings(folder: Path) -> Iterator[tuple[str, ConfigValue]]:
    for found, _, names in os.walk(folder):
        for name in sorted(names)[:_MAX_FILES]:
            path = Path(found, name)
            try:
                with path.open("rb") as file:
                    text = file.read(_MAX_SETTING_BYTES).decode("utf-8", "replace")
            except OSError:
                continue
            yield path.relative_to(folder).as_posix(), setting_of(text.strip())


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
