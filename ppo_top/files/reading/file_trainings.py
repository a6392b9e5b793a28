"""The trainings that follow each other in one file, each of which is a source of its own."""

from __future__ import annotations

from pathlib import PurePath

from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch, RunEnd, State

NEXT_BEGAN = RunEnd(State.ENDED, "another training begins in the same file", is_said=False)


class FileTrainings:
    """Makes updates for the trainings of a file; the first one has the file's own source."""

    def __init__(self) -> None:
        self._others: dict[str, Source] = {}
        self._current = ""
        self._ended: set[str] = set()
        """The trainings that have said so, or that others follow."""

    @property
    def other_sources(self) -> list[Source]:
        """The sources of all trainings but the first."""
        return list(self._others.values())

    def updates(self, update: SourceUpdate) -> SourceUpdate:
        """The update with a batch for each training; only the last one may have more to come.

        None of them is remembered by the stamp of the file: it says nothing of the others.
        """
        batch = update.batch
        if update.reset:
            self._current, self._ended = "", set()
        if not (batch.stored_run or batch.rest or self._others):
            self._note_end(batch)
            return update
        batches = self._batches(batch)
        if update.reset:
            here = {each.stored_run for each in batches}
            batches[:0] = [Batch(stored_run=run) for run in ("", *self._others) if run not in here]
        made = [
            SourceUpdate(
                self._source_of(each.stored_run, update.source),
                each,
                update.reset,
                update.mtime,
                update.size,
                update.more and each is batches[-1],
            )
            for each in batches
        ]
        return made[0]._replace(others=made[1:])

    def _batches(self, batch: Batch) -> list[Batch]:
        """A batch for each training that goes on or begins; those before the last have ended."""
        found, batch.rest = [batch, *batch.rest], []
        last = found[-1]
        kept = [each for each in found if each or each is last or each.stored_run == self._current]
        for each in kept:
            self._current = each.stored_run
            self._note_end(each)
            goes_on = each is last or each.interleaved
            if not goes_on and each.stored_run not in self._ended:
                each.ended = NEXT_BEGAN
                self._ended.add(each.stored_run)
        return kept

    def close(self, update: SourceUpdate, ended: RunEnd) -> SourceUpdate:
        """The last update: what has not said that it is over has ended so."""
        made = self.updates(update)
        by_source = {each.source.key: each for each in (made, *made.others)}
        more = []
        for run in ("", *self._others):
            source = self._source_of(run, update.source)
            if source.key not in by_source:
                more.append(made._replace(source=source, batch=Batch(stored_run=run), others=()))
                by_source[source.key] = more[-1]
            if run not in self._ended:
                by_source[source.key].batch.ended = ended
        return made._replace(others=[*made.others, *more])

    def _note_end(self, batch: Batch) -> None:
        if batch.ended is not None:
            self._ended.add(batch.stored_run)
        elif batch.points:
            self._ended.discard(batch.stored_run)

    def _source_of(self, run: str, first: Source) -> Source:
        """The source of a training, as if its file lay in a folder of its own beside the file."""
        if not run:
            return first
        if run not in self._others:
            folder, _, file = first.key.rpartition("/")
            name = f"{PurePath(file).stem}-{run}"
            key, path = f"{folder}/{name}/{file}".lstrip("/"), first.path.parent / name / file
            self._others[run] = Source(key, path, first.root, first.format, first.path)
        return self._others[run]
