"""The Hugging Face trainer's trainer_state.json: the whole log history inside each checkpoint.

The file is written once with its checkpoint, indented, with bare NaN and Infinity. It lags the
training, but has full precision, steps, and what the console never says (max_steps).
"""

from __future__ import annotations

import re

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Problem, RunEnd, State
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.documents.json_values import as_float, first_object
from ppo_top.parsers.shared.text.number_text import as_step

_MAX_FILE_BYTES = 256 << 20
_SETTING_KEYS = ("max_steps", "logging_steps", "num_train_epochs", "train_batch_size", "save_steps")
_MAX_TRIES = 8


class TrainerStateParser:
    """Waits for the end of the one JSON object, then returns its history."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._done = False
        self._tries = 0

    def feed(self, data: bytes) -> Batch:
        """All points, once the object is closed."""
        if self._done:
            return Batch()
        searched = max(len(self._data) - 2, 0)
        self._data += data
        if len(self._data) > _MAX_FILE_BYTES:
            what = f"larger than {_MAX_FILE_BYTES:,} bytes"
            return self._stop(Batch(problems=[Problem(0, what)]))
        # The object is indented, so its last brace is at the start of a line.
        if self._data.find(b"\n}", searched) < 0 or self._tries >= _MAX_TRIES:
            return Batch()
        self._tries += 1
        return self._parse() or Batch()

    def finish(self) -> Batch:
        """A file that was not indented, or is no complete JSON (perhaps not yet)."""
        if self._done or not self._data:
            return Batch()
        return self._parse() or self._stop(Batch(problems=[Problem(0, "not complete JSON")]))

    def _parse(self) -> Batch | None:
        state = first_object(self._data)
        return None if state is None else self._stop(read_history(state))

    def _stop(self, batch: Batch) -> Batch:
        self._done = True
        self._data = bytearray()
        return batch


def read_history(state: dict[str, object]) -> Batch:
    """The points and settings of a whole file."""
    history = state.get("log_history")
    if not isinstance(history, list):
        return Batch(problems=[Problem(0, "no log_history")])
    sheet = ColumnBuilder()
    ended = None
    for entry in history:
        if isinstance(entry, dict):
            _add_entry(entry, sheet)
            if "train_runtime" in entry:
                ended = RunEnd(State.FINISHED, "train_runtime")
    config: dict[str, ConfigValue] = {}
    for name in _SETTING_KEYS:
        value = state.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            config[name] = value
    return Batch(sheet.pop_points(), config, ended=ended)


def _add_entry(entry: dict[str, object], builder: ColumnBuilder) -> None:
    step = as_step(_float(entry.get("step")))
    if step is None:
        return
    for tag, value in entry.items():
        point = _float(value)
        if tag != "step" and point is not None:
            builder.add_point(tag.encode("utf-8", "replace").decode(), step, UNKNOWN_TIME, point)


def _float(value: object) -> float | None:
    return None if isinstance(value, bool | str) else as_float(value)


_SECOND_OBJECT = re.compile(rb"\{[^\n]*\}\s*\n\s*\{")
"""After a whole one on the first line: these are JSON lines."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether the file is an object with the trainer's keys; in a copy, with one of its own."""
    start = head.lstrip()
    if not start:
        return None
    if not start.startswith(b"{") or _SECOND_OBJECT.match(start):
        return False
    known = [b'"best_metric"', b'"best_global_step"', b'"best_model_checkpoint"', b'"log_history"']
    if name.startswith("trainer_state"):
        known += [b'"epoch"', b'"global_step"']
    if any(key in head for key in known):
        return True
    return None if len(head) < HEAD_BYTES and first_object(head) is None else False


FORMAT = Format(
    name="trainer-state",
    claims=claims,
    claim_order=10,
    precedence=15,  # whole and exact, but as old as the last checkpoint: a console is ahead of it
    cumulative=True,
    parser=TrainerStateParser,
    rewritten=True,
    document=True,
)
