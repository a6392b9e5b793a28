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
from typing import Any

from ppo_top.paths import is_file, lies_among, make_own_directory, state_directory

ACKNOWLEDGEMENTS_FILE = "acknowledged.json"
NoteKey = tuple[str, str, int | None]
"""Run, rule and step of a note."""
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
    def key(self) -> NoteKey:
        """What it is a note on; a newer one with the same key replaces it."""
        return self.run, self.rule, self.step

    @property
    def word(self) -> str:
        """What was done."""
        return "muted" if self.step is None else "acknowledged"


class Acknowledgements:
    """Notes on findings, written at each change to what other monitors have written since.

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
        self._notes: dict[NoteKey, AckNote] = {}
        self._unwritten: dict[NoteKey, AckNote | None] = {}
        """changes that are not in the file yet; None: the note was deleted"""
        self._load()

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
        self._load()
        self._change({key: None for key in self._notes if key[:2] == (run, rule)})

    def _save(self, note: AckNote) -> None:
        self._load()
        self._change({note.key: note})

    def _change(self, changes: Mapping[NoteKey, AckNote | None]) -> None:
        self._unwritten.update(changes)
        self._take(changes)
        self._write()

    def _take(self, changes: Mapping[NoteKey, AckNote | None]) -> None:
        for key, note in changes.items():
            if note is not None:
                self._notes[key] = note
            else:
                self._notes.pop(key, None)

    def _load(self) -> None:
        """Take what the file holds now, and on top what could not be written to it."""
        if self.path is None or not is_file(self.path):
            return
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
            if not isinstance(entries, list):
                raise ValueError("no list of notes")
            self._notes = {note.key: note for note in map(_read_note, entries)}
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self.problem = f"{self.path}: cannot read, left unchanged: {error}"
            self.path = None
            return
        self._take(self._unwritten)

    def _write(self) -> None:
        """Replace the whole file, so that a crash leaves the old one."""
        if self.path is None:
            return
        entries = [asdict(note) for note in self.notes[-MAX_ACKNOWLEDGEMENTS:]]
        fresh = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            make_own_directory(self.path.parent)
            fresh.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            fresh.replace(self.path)
            self._unwritten.clear()
            self.problem = ""
        except OSError as error:
            self.problem = f"{self.path}: cannot write: {error.strerror or error}"


def _read_note(entry: Mapping[str, Any]) -> AckNote:
    """A note from the file; ValueError or TypeError if it is none."""
    note = AckNote(**entry)
    are_texts = all(isinstance(text, str) for text in (note.run, note.rule, note.reason))
    has_step = note.step is None or type(note.step) is int
    if not (are_texts and has_step and type(note.time) in (int, float)):
        raise ValueError("a note holds values of other types")
    return note
