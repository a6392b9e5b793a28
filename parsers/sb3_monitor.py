"""Stable-Baselines3's monitor.csv: one row per episode, with the environment's own clock.

The first line is `#{"t_start": <unix seconds>, "env_id": ...}` (older ones have a blank after the
hash), then the header `r,l,t` (return,
length, seconds since t_start; more columns may follow). The step is the sum of the lengths; of
Atari games it is a quarter of that: the monitor stands below the wrapper that repeats each action
four times (`AtariWrapper`, `make_atari_env`), so that it counts frames.
"""

from __future__ import annotations

import json
import re
from array import array
from itertools import accumulate

from ppo_top.model import UNKNOWN_TIME, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_MAX_ROW_BYTES = 1 << 20
_NUMBER = r"[-+.\de]+"
"""Rows of nothing else but for the length, which are most, are read column by column."""

_FRAMES_A_STEP = 4
"""What `frame_skip` is of SB3's and Baselines' wrappers of Atari games."""


class MonitorParser(RowParser):
    """Reads the episodes of one environment."""

    def __init__(self) -> None:
        super().__init__(_MAX_ROW_BYTES)
        self._start_time = UNKNOWN_TIME
        self._tags: list[str] = []
        self._plain_rows: re.Pattern[str] | None = None
        self._length = 0
        """The sum of the episodes' lengths."""
        self._frames_a_step = 1

    @property
    def _expects_row(self) -> bool:
        return bool(self._tags)

    def _add_block(self, block: bytes) -> bool:
        text = block.decode("utf-8", "replace")
        if self._plain_rows is None or not self._plain_rows.fullmatch(text):
            return False
        cells, width = text.replace("\n", ",").split(",")[:-1], len(self._tags)
        try:
            columns = [array("d", map(float, cells[at::width])) for at in range(width)]
        except ValueError:
            return False
        lengths = list(map(int, cells[1::width]))
        if self._length + sum(lengths) >= 2**63:
            return False
        ends = list(accumulate(lengths, initial=self._length))[1:]
        self._length = ends[-1]
        steps = array("q", [end // self._frames_a_step for end in ends])
        times = array("d", [self._start_time + seconds for seconds in columns[2]])
        for tag, values in zip(self._tags, columns, strict=True):
            self._builder.add_column(tag, steps, times, values)
        return True

    def _add_line(self, segment: Segment) -> None:
        text = segment.data.decode("utf-8", "replace").strip()
        if not text:
            return
        if text.startswith("#"):
            self._read_heading(text, segment.offset)
        elif text.startswith("r,l,t"):
            self._tags = text.split(",")
            more = rf"(?:,{_NUMBER}){{{len(self._tags) - 3}}}"
            self._plain_rows = re.compile(rf"(?:{_NUMBER},\d{{1,15}},{_NUMBER}{more}\n)+")
        elif not self._add_episode(text.split(",")):
            self._problems.append(Problem(segment.offset, f"not an episode: {text[:40]!r}"))

    def _read_heading(self, text: str, offset: int) -> None:
        """A resumed monitor writes its heading again and restarts its clock."""
        try:
            found = json.loads(text[1:])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self._problems.append(Problem(offset, "heading is not JSON"))
            return
        start = found.get("t_start")
        if isinstance(start, float | int) and not isinstance(start, bool):
            self._start_time = float(start) if abs(start) < 1e12 else UNKNOWN_TIME
        if isinstance(found.get("env_id"), str):
            self._config["env_id"] = found["env_id"]
            self._frames_a_step = _FRAMES_A_STEP if "NoFrameskip" in found["env_id"] else 1

    def _add_episode(self, cells: list[str]) -> bool:
        if not self._tags or len(cells) < len(self._tags):
            return False
        values = [parse_number(cell) for cell in cells]
        length, since = as_step(values[1]), values[2]
        if length is None or length < 0 or since is None or self._length + length >= 2**63:
            return False
        self._length += length
        step = self._length // self._frames_a_step
        for tag, value in zip(self._tags, values, strict=False):
            if value is not None:
                self._builder.add_point(tag, step, self._start_time + since, value)
        return True


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the file starts with the heading that SB3's (and Gym's) monitor writes."""
    if not head:
        return None
    is_heading = head.startswith((b"#{", b"# {"))
    return is_heading and (b"t_start" in head or b"\n" not in head)


FORMAT = Format(
    name="sb3-monitor",
    claims=claims,
    claim_order=10,
    precedence=40,
    parser=MonitorParser,
    per_environment=True,
    by_lines=True,
    kept_open=True,
)
