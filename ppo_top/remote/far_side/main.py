"""Sends what the files below some paths gain; it opens them for reading and writes none.

It ends with its standard input, with the first write that fails, and when nobody has said a word
for a minute. The first line of its input is a request (`protocol.Request`), later bytes only say
that somebody is there. Its output is described in `protocol`.
"""

# ruff: noqa: PTH116
# Paths stay strings here: an object for each would cost more than the system call.

import json
import os
import select
import stat
import sys
import time
import zlib
from typing import Any, BinaryIO, Dict, Tuple

from ppo_top.remote.far_side.file_state import (
    FarLog,
    checksum,
    is_compared,
    is_in_transaction,
    stamp_at,
    stamp_of,
)
from ppo_top.remote.far_side.frames import (
    CHUNK_BYTES,
    MARKER,
    MOST_CHECKPOINTS,
    SILENCE_S,
    FrameWriter,
    from_wire,
    sent_time,
)
from ppo_top.remote.far_side.log_lister import Checkpoints, LogLister

DATABASE_HEAD = b"SQLite format 3\0"
RECENT_S = 600.0
"""Files written within this time are looked at in every round."""
ROUND_S, LONGEST_PAUSE_S = 0.5, 120.0
CPU_PAUSE, WALL_PAUSE = 100, 4
"""Seconds to pause per second of processor time, or of waiting, that a look took."""
DATABASE_S = 10.0
"""A database is sent as a whole, so not more often than this."""
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class FarSide:
    """Looks at the paths of a request and sends what is new."""

    def __init__(self, request: Dict[str, Any], out: BinaryIO) -> None:
        self.frames = FrameWriter(out)
        self.lister = LogLister(request, self.frames)
        self.space: int = request["space"]
        self.most_files: int = request["most_files"]
        self.known = {(root, from_wire(name)): known for root, name, *known in request["have"]}
        self.logs: Dict[Tuple[int, str], FarLog] = {}
        self.checkpoints: Dict[Tuple[int, str], Checkpoints] = {}

    def sweep(self) -> float:
        """Look at everything below the paths; returns the seconds to pause before the next time."""
        start, cpu = time.monotonic(), time.process_time()
        found = self.lister.look()
        pause = pause_after(start, cpu)
        for key in [*self.logs, *self.known]:
            if key not in found and not self.lister.is_unlisted(*key):
                self.space += self.logs.pop(key).room if key in self.logs else 0
                self.known.pop(key, None)
                self.frames.send("gone", r=key[0], p=key[1])
        for key in sorted(found, key=lambda key: found[key][1].st_size):
            if key not in self.logs:
                self.logs[key] = FarLog(key[0], key[1], found[key][0])
            self.look(self.logs[key], found[key][1])
        for key in {**self.checkpoints, **self.lister.checkpoints}:
            self.send_checkpoints(*key)
        return pause

    def look_at_recent(self) -> float:
        """Look at the files that were written lately; returns the seconds to pause."""
        start, cpu, since = time.monotonic(), time.process_time(), time.time() - RECENT_S
        changed = []
        for log in self.logs.values():
            if log.mtime > since:
                try:
                    changed.append((log, os.stat(log.path)))
                except OSError:  # gone: the next sweep says so
                    continue
        pause = pause_after(start, cpu)
        for log, info in changed:
            self.look(log, info)
        return pause

    # --- sending -----------------------------------------------------------------------------

    def send_checkpoints(self, number: int, folder: str) -> None:
        """Send which checkpoints are in a directory, if that has changed; of many evenly some."""
        found = self.lister.checkpoints.get((number, folder), [])
        if not found and self.lister.is_unlisted(number, folder):
            return
        found.sort(key=lambda each: (each["m"], each["p"]))
        found = found[:: 1 + len(found) // (MOST_CHECKPOINTS + 1)]
        before = self.checkpoints.pop((number, folder), [])
        if sum(map(len, self.checkpoints.values())) + len(found) > self.most_files:
            self.frames.report(number, folder, "too many checkpoints")
            found = []
        if found:
            self.checkpoints[number, folder] = found
        if found != before:
            body = zlib.compress(json.dumps(found, ensure_ascii=False).encode(), 1)
            self.frames.send("checkpoints", body, r=number, p=folder)

    def look(self, log: FarLog, info: os.stat_result) -> None:
        """Send what is new in a file."""
        log.mtime = info.st_mtime
        if time.monotonic() < log.next_look:
            return
        wal = stamp_at(log.path + "-wal") if log.next_look else None
        if stamp_of(info) == log.stamp and wal == log.wal_stamp:
            return
        try:
            with open(os.open(log.path, OPEN_FLAGS), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return
                if file.read(len(DATABASE_HEAD)) == DATABASE_HEAD:
                    self.send_database(log, file)
                else:
                    self.send_bytes(log, file)
        except OSError as error:
            self.frames.report(log.root, log.name, (error.strerror or str(error)).lower())

    def send_bytes(self, log: FarLog, file: BinaryIO) -> None:
        """Send what a file gained, or all of it if it does not begin with what was sent."""
        info = os.fstat(file.fileno())
        size, log.stamp = info.st_size, stamp_of(info)
        if not self.has_room(log, size):
            return
        known = self.known.pop((log.root, log.name), None)
        if known is not None:
            log.offset, log.check = known
        if size < log.offset or checksum(file, log.path, log.offset) != log.check:
            log.offset = 0
        self.send_rest(log, log.name, file, size)
        self.frames.send("complete", r=log.root, p=log.name, m=sent_time(info.st_mtime))
        log.check = checksum(file, log.path, log.offset)
        if is_compared(log.path, log.offset) and stamp_of(os.fstat(file.fileno())) != log.stamp:
            log.check = -1  # perhaps not of the bytes that were sent

    def send_rest(self, log: FarLog, name: str, file: BinaryIO, size: int) -> None:
        """Send the bytes from the offset up to a size."""
        file.seek(log.offset)
        while log.offset < size or not log.offset:
            data = file.read(min(CHUNK_BYTES, size - log.offset))
            self.frames.send("data", zlib.compress(data, 1), r=log.root, p=name, at=log.offset)
            log.offset += len(data)
            if not data:
                return

    def send_database(self, log: FarLog, file: BinaryIO) -> None:
        """Send a database and its write-ahead log; of one that changed meanwhile the next time."""
        self.known.pop((log.root, log.name), None)
        log.next_look = time.monotonic() + DATABASE_S
        info = os.fstat(file.fileno())
        stamp, wal = stamp_of(info), stamp_at(log.path + "-wal")
        size = stamp[1] + (wal[1] if wal is not None else 0)
        if is_in_transaction(log.path) or not self.has_room(log, size):
            return
        if stamp != log.stamp:
            log.offset = 0
            self.send_rest(log, log.name, file, info.st_size)
        if wal is not None:
            with open(os.open(log.path + "-wal", OPEN_FLAGS), "rb") as other:
                log.offset = 0
                self.send_rest(log, log.name + "-wal", other, wal[1])
        if stamp_at(log.path) == stamp:
            log.stamp, log.wal_stamp = stamp, wal
            newest = max(stamp[2], wal[2] if wal else 0) / 1e9
            self.frames.send(
                "complete", r=log.root, p=log.name, m=sent_time(newest), wal=wal is not None
            )

    def has_room(self, log: FarLog, size: int) -> bool:
        """Whether a file of this size fits into the space that is left."""
        if size <= self.space + log.room:
            self.space += log.room - size
            log.room = size
            return True
        self.frames.report(log.root, log.name, "too large for the space that is left for copies")
        return False

    # --- the whole ---------------------------------------------------------------------------

    def run(self, once: bool) -> None:
        """Send everything, then (unless `once`) what is new until nobody listens any more."""
        self.frames.out.write(MARKER)
        self.frames.send("hello", time=time.time())
        pause = self.sweep()
        self.frames.send("swept")
        if not once:
            self.follow(pause)

    def follow(self, pause: float) -> None:
        """Send what is new while somebody listens; the next sweep is due after a pause."""
        heard = time.monotonic()
        next_sweep, next_look = heard + pause, heard + ROUND_S
        while True:
            timeout = min(self.frames.next_beat, next_sweep, next_look) - time.monotonic()
            if select.select([0], [], [], max(0.0, timeout))[0]:
                if not os.read(0, 4096):
                    return
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                return
            self.frames.beat()
            if time.monotonic() >= next_sweep:
                next_sweep = self.sweep() + time.monotonic()
                next_look = time.monotonic() + ROUND_S
            elif time.monotonic() >= next_look:
                next_look = self.look_at_recent() + time.monotonic()


def pause_after(start: float, cpu: float) -> float:
    """How long to pause after looking since `start`, with `cpu` as processor time then."""
    busy, waited = time.process_time() - cpu, time.monotonic() - start
    return min(max(busy * CPU_PAUSE, waited * WALL_PAUSE, ROUND_S), LONGEST_PAUSE_S)


def main() -> None:
    """Answer the request on standard input."""
    request = json.loads(sys.stdin.buffer.readline().decode())
    try:
        FarSide(request, os.fdopen(os.dup(1), "wb")).run(request["once"])
    except BrokenPipeError:
        os._exit(0)
