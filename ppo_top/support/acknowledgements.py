"""Remembers which findings a user acknowledged or muted.

The notes are kept in the user's state directory, never where logs live.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ppo_top.paths import is_file, lies_among, state_directory

ACKNOWLEDGEMENTS_FILE = "acknowledged.json"
MAX_ACKNOWLEDGEMENTS = 5_000
"""Beyond this number the oldest notes are forgotten."""


@dataclass(frozen=True, slots=True)
class AckNote:
    """A user's note on a finding: run (its real path), rule and opening step, reason and time."""

    run: str
    rule: str
    step: int | None
    """None: every finding of the rule in this run"""
    reason: str
    time: float

    @property
    def word(self) -> str:
        """What was done."""
        return "muted" if self.step is None else "acknowledged"


class Acknowledgements:
    """Notes on findings, read once and written at each change.

    If the state directory lies inside one of the watched paths `logs`, nothing is kept on disk.
    """

    def __init__(
        self,
        logs: Iterable[Path] = (),
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
    ) -> None:
        folder = state_directory(environ)
        self.path = None if lies_among(folder, logs) else folder / ACKNOWLEDGEMENTS_FILE
        self.problem = ""
        self._clock = clock
        self._notes = {(note.run, note.rule, note.step): note for note in self._load()}

    @property
    def notes(self) -> list[AckNote]:
        """Every note, oldest first."""
        return sorted(self._notes.values(), key=lambda note: note.time)

    def find(self, run: str, rule: str, step: int) -> AckNote | None:
        """The note on a finding (by rule and opening step), or on the rule in this run."""
        return self._notes.get((run, rule, step)) or self._notes.get((run, rule, None))

    def acknowledge(self, run: str, rule: str, step: int, reason: str = "") -> None:
        """Acknowledge one finding; the next one of the same rule is reported again."""
        self._save(AckNote(run, rule, step, reason, self._clock()))

    def mute(self, run: str, rule: str, reason: str = "") -> None:
        """Report no more findings of this rule in this run."""
        self._save(AckNote(run, rule, None, reason, self._clock()))

    def revoke(self, run: str, rule: str) -> None:
        """Delete every note on a rule in a run."""
        self._notes = {k: note for k, note in self._notes.items() if k[:2] != (run, rule)}
        self._write()

    def _save(self, note: AckNote) -> None:
        self._notes[note.run, note.rule, note.step] = note
        self._write()

    def _load(self) -> list[AckNote]:
        if self.path is None or not is_file(self.path):
            return []
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
            return [AckNote(**entry) for entry in entries]
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self.problem = f"{self.path}: cannot read, left unchanged: {error}"
            self.path = None
            return []

    def _write(self) -> None:
        """Replace the whole file, so that a crash leaves the old one."""
        if self.path is None:
            return
        entries = [asdict(note) for note in self.notes[-MAX_ACKNOWLEDGEMENTS:]]
        fresh = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            fresh.replace(self.path)
        except OSError as error:
            self.problem = f"{self.path}: cannot write: {error}"
