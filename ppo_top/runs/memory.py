"""Remembers judged runs whose logs have not changed since, in the user's cache directory.

What is kept is what a closed run holds (`SavedRun`, `ClosedRun`), as JSON. It is valid while every
file of the run has the size, time and inode that it had when it was read, and no other log is new
or changed in its directories or above them: it could belong to the run. A remembered run is shown
as one whose points were dropped: opening it, or a change of one of its logs, reads them again.
"""

# ruff: noqa: PTH112, PTH118
# Paths stay strings here: an object for each would cost more than the system call.

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ppo_top.files.directory_tree import FoundFile, may_be_log
from ppo_top.files.tail import FileStamp, file_stamp
from ppo_top.files.update import KnownLog, SavedRun, SavedSource, Source, source_of
from ppo_top.model import State
from ppo_top.model.plain import from_plain, to_plain
from ppo_top.parsers.base import Format, claims_nothing
from ppo_top.parsers.file_names import is_file_name
from ppo_top.paths import join_key
from ppo_top.runs.evaluation import ClosedRun
from ppo_top.runs.liveness import LAST_STATES, StateFacts, state_facts, status_at
from ppo_top.runs.run import KEEP_ROWS, Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings
from ppo_top.support.cache import RUN_PART, Cache, CachedText, verdict_scope

MIN_REST_S = 60.0
"""A run that is over is remembered once its logs were not written for this many seconds."""

MAX_UNWRITTEN_TEXTS = 200
"""Texts that are written together."""

CLOSED_PART, UNUSED_PART = "closed", "unused"


class RunMemory:
    """Remembered runs below some roots, judged by the same program with the same settings.

    With `text_parts` these texts are all that is wanted of a remembered run.

    `known_log` may be called from another thread than the rest.
    """

    def __init__(self, cache: Cache, scope: str, text_parts: Sequence[str] = ()) -> None:
        self.cache = cache
        self.text_parts = text_parts
        self._read_texts: dict[tuple[str, str], Mapping[str, str]] = {}
        self._scope = scope
        self._saved: dict[str, dict[str, SavedRun]] = {}
        self._stamps: dict[str, dict[str, FileStamp]] = {}
        self._known_folders: dict[tuple[str, str], bool] = {}
        self._unused_texts: dict[str, str] = {}
        self._unwritten: list[CachedText] = []
        self._valid: dict[tuple[str, str], bool] = {}

    # --- recalling ---------------------------------------------------------------------------

    def known_log(self, found: FoundFile) -> KnownLog | None:
        """What is remembered of a file, if the whole run that it belongs to is unchanged."""
        if found.root not in self._saved:
            self._saved[found.root] = self._load(found.root)
        run = self._saved[found.root].get(found.key)
        if run is None or not self._is_valid(run, found):
            return None
        saved = next(each for each in run.sources if each.key == found.key)
        return KnownLog(_restored_source(saved, found), saved, run)

    def _load(self, root: str) -> dict[str, SavedRun]:
        """The remembered runs of a root, by the key of each of their logs."""
        runs, stamps = {}, {}
        scope = root_scope(self._scope, root)
        for text in self.cache.read_part(scope, UNUSED_PART).values():
            stamps.update({key: tuple(stamp) for key, stamp in json.loads(text).items()})
        saved = []
        for text in self.cache.read_part(scope, RUN_PART).values():
            with suppress(ValueError, TypeError):
                saved.append(from_plain(SavedRun, json.loads(text)))
        for run in sorted(saved, key=lambda each: len(each.sources)):  # a larger one came later
            runs.update({source.key: run for source in run.sources})
            stamps.update({source.key: source.stamp for source in run.sources})
        self._stamps[root] = stamps
        return runs

    def _is_valid(self, run: SavedRun, found: FoundFile) -> bool:
        """Whether all logs of a run are as they were, and it is still over."""
        name = (run.scope, run.id)
        if name not in self._valid:
            folder = found.path.removesuffix(found.key)
            around = {above for source in run.sources for above in _folders_above(source.key)}
            logs = [(folder + source.key, source) for source in run.sources]
            unchanged = all(file_stamp(path) == source.stamp for path, source in logs)
            last = max(source.mtime for source in run.sources)
            opened = [(path, source.kept_open) for path, source in logs]
            facts = StateFacts(run.settled, run.limit, last, opened, run.is_trainer_known)
            is_over = status_at(facts, time.time()).state in LAST_STATES
            self._valid[name] = (
                unchanged and is_over and all(self._is_known(found.root, each) for each in around)
            )
        return self._valid[name]

    def _is_known(self, root: str, key: str) -> bool:
        """Whether a directory holds no log that is new or changed: it could belong to any run."""
        if not os.path.isdir(root):  # the PATH is a file: no other joins it
            return True
        folder = os.path.join(root, key)
        if (root, folder) not in self._known_folders:
            known = self._stamps[root]
            try:
                with os.scandir(folder) as entries:
                    names = [each.name for each in entries if each.is_file()]
            except OSError:
                return False
            logs = [each for each in names if may_be_log(each) and is_file_name(each)]
            self._known_folders[root, folder] = all(
                known.get(join_key(key, each)) == file_stamp(f"{folder}/{each}") for each in logs
            )
        return self._known_folders[root, folder]

    def has_texts(self, run: SavedRun) -> bool:
        """Whether each of the wanted texts of a run is there."""
        return all(run.id in self._texts(run.scope, part) for part in self.text_parts)

    def text(self, run: SavedRun, part: str) -> str:
        """A text that was saved with a run."""
        return self._texts(run.scope, part)[run.id]

    def _texts(self, scope: str, part: str) -> Mapping[str, str]:
        """run -> text; those of a scope are read together."""
        if (scope, part) not in self._read_texts:
            self._read_texts[scope, part] = self.cache.read_part(scope, part)
        return self._read_texts[scope, part]

    def closed_run(self, run: SavedRun) -> ClosedRun | None:
        """What a run held when it was closed; None if that is lost."""
        try:
            text = self.cache.read_key(run.scope, run.id)[CLOSED_PART]
            return from_plain(ClosedRun, json.loads(text))
        except (KeyError, ValueError, TypeError):
            return None

    # --- saving ------------------------------------------------------------------------------

    def save(self, run: Run, texts: Mapping[str, str] | None = None) -> SavedRun | None:
        """Remember a run (and texts by part) if it is at rest; None if it is not remembered."""
        if not self.cache.is_on:
            return None
        roots = {str(source.source.root) for source in run.sources.values()}
        now, facts = time.time(), state_facts(run)
        if len(roots) != 1 or not run.is_settled or now - run.last_change < MIN_REST_S:
            return None
        state = status_at(facts, now).state
        was_whole = run.is_over or state is State.DIED or not len(run.timeline)
        if state not in LAST_STATES or not was_whole:
            return None
        sources = [_saved_source(source) for source in run.sources.values()]
        if not all(source.stamp for source in sources):
            return None
        saved = SavedRun(
            root_scope(self._scope, roots.pop()),
            ascii(run.id),
            run.is_over,
            facts.settled,
            facts.limit,
            sources,
            facts.is_trainer_known,
        )
        closed = run.evaluation.saved(KEEP_ROWS)
        parts = {RUN_PART: _json(saved), CLOSED_PART: _json(closed), **(texts or {})}
        self._unwritten += [(saved.scope, part, saved.id, text) for part, text in parts.items()]
        if len(self._unwritten) >= MAX_UNWRITTEN_TEXTS:
            self.flush()
        run.saved = saved
        return saved

    def save_unused(self, root: str, stamps: Mapping[str, FileStamp]) -> None:
        """Remember the files below a root, by key, that belong to no run."""
        text = json.dumps(stamps, sort_keys=True)
        if self._unused_texts.get(root) != text:
            self._unused_texts[root] = text
            self._unwritten.append((root_scope(self._scope, root), UNUSED_PART, "", text))

    def flush(self) -> None:
        """Write what was saved."""
        texts, self._unwritten = self._unwritten, []
        self.cache.write(texts)


def run_memory(paths: Sequence[Path], settings: Settings) -> RunMemory:
    """What is remembered of the runs below these paths, for a session that goes on."""
    return RunMemory(Cache(paths), verdict_scope(settings.judging_text, final=False))


def root_scope(scope: str, root: str) -> str:
    """The scope of the runs below a root."""
    return json.dumps([scope, os.path.abspath(root)])  # noqa: PTH100


def _folders_above(key: str) -> list[str]:
    """The keys of the directories from that of a log up to the root, which is empty."""
    parts = key.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _json(value: object) -> str:
    return json.dumps(to_plain(value), separators=(",", ":"))


def _saved_source(state: SourceState) -> SavedSource:
    """A source as it is remembered; without a stamp if it cannot be."""
    source, kind = state.source, state.source.format
    is_own_file = str(source.path) in (f"{source.root}/{source.key}", str(source.root))
    return SavedSource(
        key=source.key,
        stamp=state.stamp if is_own_file else (),
        mtime=state.mtime,
        format=kind.name,
        precedence=kind.precedence,
        chained=kind.chained,
        cumulative=kind.cumulative,
        kept_open=kind.kept_open,
        points=state.points,
        newest_step=state.newest_step,
        problem_count=state.problem_count,
        first_problems=state.problems[:1],
        left_out_values=state.left_out_values,
        notes=state.notes,
        counts_updates=state.counts_updates,
        ended=state.ended,
        facts=state.facts,
    )


def _restored_source(saved: SavedSource, found: FoundFile) -> Source:
    """The source of a file that need not be opened; its format cannot parse."""
    kind = Format(
        name=saved.format,
        claims=claims_nothing,
        precedence=saved.precedence,
        chained=saved.chained,
        cumulative=saved.cumulative,
        kept_open=saved.kept_open,
    )
    return source_of(found, kind)
