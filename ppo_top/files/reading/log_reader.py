"""Reads one log file: finds its format, then turns its new bytes or rows into updates."""

# ruff: noqa: PTH119
# Paths stay strings here: an object for each would cost more than the system call.

from __future__ import annotations

import os
from functools import partial

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.file_trainings import FileTrainings
from ppo_top.files.reading.log_bytes import LogBytes
from ppo_top.files.reading.parser_guard import guarded
from ppo_top.files.reading.store_reader import StoreReader
from ppo_top.files.tail import MAX_READ_BYTES, FileStamp
from ppo_top.files.update import KnownLog, Source, SourceUpdate, source_of
from ppo_top.model import Batch, Points, Problem
from ppo_top.parsers import FormatDetector, detect_by_content
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from ppo_top.parsers.file_names import without_compression

MAX_HEAD_BYTES = 16 * HEAD_BYTES
"""How much of a file is kept while no format claims it: a log may begin with pages of warnings."""
FIRST_CHUNK_BYTES = 1 << 15
"""Size of the first read: enough to recognise a log, and little where there are thousands."""


class LogReader:
    """A file in a directory: a stream of bytes for a parser, or a store."""

    def __init__(self, found: FoundFile, detector: FormatDetector) -> None:
        self.key = found.key
        self.found_file = found
        self.source: Source | None = None
        self.rejected = False
        self.changed_at = 0.0
        self.chunk_size = FIRST_CHUNK_BYTES
        self._bytes = LogBytes(found.path)
        self.tail = self._bytes.tail
        self.has_reappeared = False
        """Whether an earlier file with this key was deleted: the first update is then a reset."""
        self._detector = detector
        self._head = b""
        self._parser: Parser | None = None
        self._store: StoreReader | None = None
        self._failed = False
        self._finished = False
        self._is_skipped = False
        self._trainings = FileTrainings()
        self._document_problems: list[Problem] = []
        """What was said about a document that cannot be read; nothing while it can."""

    @property
    def sources(self) -> list[Source]:
        """What was found in the file so far: a source for each run in it."""
        runs = self._store.run_sources if self._store is not None else {}
        own = [self.source, *self._trainings.other_sources] if self.source else []
        return list(runs.values()) or own

    @property
    def more(self) -> bool:
        """Whether there is more to read at once."""
        return self._store.more if self._store is not None else self._bytes.more

    @property
    def size(self) -> int:
        """Bytes of the file, as last seen."""
        return self.tail.size

    @property
    def offset(self) -> int:
        """Bytes that need not be read again."""
        all_read = self._failed or self._is_skipped or self._store is not None
        return self.tail.size if all_read else self.tail.offset

    @property
    def mtime(self) -> float:
        """When the file was last written, in unix seconds."""
        return self.tail.mtime

    @property
    def read_stamp(self) -> FileStamp:
        """What the file was like when all of it had been read; empty if that is not certain."""
        return self._store.read_stamp if self._store is not None else self.tail.read_stamp

    def skip(self, known: KnownLog) -> None:
        """Leave the file unread until it changes; its first update is then a reset."""
        self.source = known.source
        self.has_reappeared = self._is_skipped = True
        self.tail.skip(known.saved.stamp)

    def has_changed(self) -> bool:
        """Whether the file (or the write-ahead log of a store) changed since it was read."""
        if self._finished:
            return False
        changed = self.tail.has_changed() or self._line_is_overdue()
        return changed if self._store is None else self._store.has_changed()

    def _line_is_overdue(self) -> bool:
        """Whether the last line is to be taken for complete, though it has no end."""
        by_lines = self.source is not None and self.source.format.by_lines
        return by_lines and self._bytes.ends_in_a_quiet_line()

    def _end_line(self) -> Batch:
        """End the last line; should it be continued after all, the file is read again."""
        self._bytes.end_here()
        return self._feed_parser(b"\n")

    def read_update(self, size: int = MAX_READ_BYTES, limit: int = 100_000) -> SourceUpdate | None:
        """Read on; None if there is nothing new (not even a new source)."""
        was_skipped, self._is_skipped = self._is_skipped, False
        store = self._store
        update = self._read_bytes(size, limit) if store is None else store.read_update(limit)
        if update is None and was_skipped:  # it is no log any more
            update = self._make_update(Batch())
        if update is not None and self.has_reappeared:
            self.has_reappeared = False
            return update._replace(reset=True)
        return update

    def _read_bytes(self, size: int, limit: int) -> SourceUpdate | None:
        had_more = self.more
        chunk = self._bytes.read(size if self.source else MAX_HEAD_BYTES)
        ended = had_more and not chunk.more
        if chunk.reset:
            self._restart_parser()
        if self._failed:
            return None
        if self._parser is None:
            return self._detect_format(chunk.data, size, limit)
        if self._is_document:
            return self._read_document(chunk.data)
        batch = self._feed_parser(chunk.data) if chunk.data else Batch()
        self._add_problem(batch, self._bytes.pop_problem())
        if not chunk.more and self._parser is not None and self._line_is_overdue():
            batch.add(self._end_line())
        return self._make_update(batch, chunk.reset) if batch or chunk.reset or ended else None

    def _restart_parser(self) -> None:
        """The file is a new one with the old name, perhaps in another format."""
        self._head = b""
        self._failed = False
        if self.source is not None and self.source.format.parser is not None:
            self._parser = self.source.format.parser()

    def _detect_format(self, data: bytes, size: int, limit: int) -> SourceUpdate | None:
        """Ask the formats, with all first bytes there are."""
        self._head += data
        name = without_compression(os.path.basename(self.tail.path))
        found = self._detector(name, self._head[:HEAD_BYTES])
        if found is None and len(self._head) > HEAD_BYTES:
            found = self._detector(name, self._head)
        if found is False and (self.found_file.is_explicit or self.found_file.by_content):
            found = detect_by_content(self._detector, self._head)
        if isinstance(found, Format):
            tag = found.tag_of_path
            is_ours = tag is None or tag(without_compression(self.tail.path))
            if is_ours and not (found.store and self._bytes.is_compressed):
                return self._open_format(found, size, limit)
            found = False
        self.rejected = found is False or len(self._head) >= MAX_HEAD_BYTES
        if self.rejected:
            self._head = b""
            self._bytes.reject()
        return None

    def _open_format(self, format_: Format, size: int, limit: int) -> SourceUpdate | None:
        self.source = source_of(self.found_file, format_)
        self.tail.rewritten = format_.rewritten
        if format_.store is not None:
            self._store = StoreReader(self.source, self.tail, format_.store)
            return self._store.read_update(limit)
        assert format_.parser is not None
        self._parser = format_.parser()
        head, self._head = self._head, b""
        if self._is_document:
            return self._read_document(head) or self._make_update(Batch())
        if self.more and size > len(head):  # once, as a parser is slowest with its first bytes
            chunk = self._bytes.read(size)
            head = chunk.data if chunk.reset else head + chunk.data
        return self._make_update(self._feed_parser(head))

    @property
    def _is_document(self) -> bool:
        return self.source is not None and self.source.format.document

    def _read_document(self, data: bytes) -> SourceUpdate | None:
        """A reading in place of the last one, or why there is none: the last one stays then.

        The end of the file ends the document. Should it go on after all, it is read again.
        """
        batch = self._feed_parser(data) if data else Batch()
        if not self.more and self._parser is not None:
            self._bytes.end_here()
            batch.add(guarded(self._parser.finish, self.tail.offset, self._fail))
        if not batch or (batch.problems and batch.problems == self._document_problems):
            return None
        self._document_problems = batch.problems
        return self._make_update(batch, reset=not batch.problems)

    def reread(self) -> None:
        """Read from the beginning again."""
        self._finished = False
        self.tail.reread()
        if self._is_document:
            self.has_reappeared, self._document_problems = True, []
        if self._store is not None:
            self._store.reread()

    def _feed_parser(self, data: bytes) -> Batch:
        assert self._parser is not None
        return guarded(partial(self._parser.feed, data), self.tail.offset, self._fail)

    def _fail(self) -> None:
        self._parser, self._failed = None, True
        self._bytes.more = False

    def _make_update(self, batch: Batch, reset: bool = False) -> SourceUpdate:
        assert self.source is not None
        self._name_series(batch)
        stamp = self.read_stamp if not self.more else ()
        read = self.source, batch, reset, self.mtime, self.size, self.more, stamp
        return self._trainings.updates(SourceUpdate(*read))

    def _name_series(self, batch: Batch) -> None:
        """Give the points that name nothing, of each training, the tag that the path says."""
        assert self.source is not None
        if (tag_of := self.source.format.tag_of_path) is None:
            return
        tag, unnamed = tag_of(without_compression(self.tail.path)), self.source.format.unnamed_tag
        if tag != unnamed:
            for each in (batch, *batch.rest):
                each.points = [
                    Points(tag, one.steps, one.times, one.values) if one.tag == unnamed else one
                    for one in each.points
                ]

    def finish(self) -> SourceUpdate | None:
        """No more will come: what is certain of an unfinished end, and whether any is missing."""
        if self._parser is None or self._finished:
            return None
        self._finished = True
        last = self._end_line() if self._line_is_overdue() else Batch()
        finish = Batch if self._failed else self._parser.finish
        last.add(guarded(finish, self.tail.offset, self._fail))
        self._parser = None  # reading again begins with a new one
        self._add_problem(last, self._bytes.finish())
        return self._make_update(last) if last else None

    def _add_problem(self, batch: Batch, what: str) -> None:
        if what:
            batch.problems.append(Problem(self.tail.offset, what))

    def close(self) -> None:
        """Close a store's private copy."""
        if self._store is not None:
            self._store.close()
