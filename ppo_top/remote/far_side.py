"""Runs where the logs are: ssh hands this text to a Python there, which sends what files gain.

Python 3.6 or newer and its standard library suffice. It lists directories, opens files for reading
and writes to its standard output, nothing else. It ends with its standard input, with the first
write that fails, and when nobody has said a word for a minute.

The first line of its input is a request (`protocol.Request`), later bytes only say that somebody is
there. Its output is described in `protocol`.
"""

# ruff: noqa: PTH111, PTH112, PTH113, PTH116, PTH118, PTH119
# Paths stay strings here: an object for each would cost more than the system call.

import errno
import json
import os
import re
import select
import signal
import stat
import sys
import time
import zlib
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Set, Tuple

MARKER = b"ppo-top-1\n"
"""Begins the output, after whatever a login script prints."""
CHUNK_BYTES = 1 << 20
"""Most bytes of a file in one frame."""
EDGE_BYTES = 4096
"""Bytes at the beginning of a file, and before its offset, that show whether it only grew."""
REWRITTEN = re.compile(r"\.(json|csv|tsv|npz|ipynb|ya?ml)$")
"""Files that writers replace or change in the middle: all their bytes are compared."""
MOST_COMPARED_BYTES = 1 << 20
"""Larger ones are compared at their edges."""
DATABASE_HEAD = b"SQLite format 3\0"
RECENT_S = 600.0
"""Files written within this time are looked at in every round."""
ROUND_S, LONGEST_PAUSE_S = 0.5, 120.0
CPU_PAUSE, WALL_PAUSE = 100, 4
"""Seconds to pause per second of processor time, or of waiting, that a look took."""
DATABASE_S = 10.0
"""A database is sent as a whole, so not more often than this."""
BEAT_S = 5.0
SILENCE_S = 60
MOST_DEPTH, MOST_NAME_BYTES = 32, 2500
MOST_CHECKPOINTS, MOST_CHECKPOINT_BYTES = 1000, 120
"""Of a folder, and of a name: a list of them fits into a frame."""
MISSING = (errno.ENOENT, errno.ENOTDIR)
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

Checkpoints = List[Dict[str, Any]]
"""Each with its name `p`, its modification time `m` (unix seconds) and whether it is a folder."""
FarStamp = Tuple[int, int, int]
"""Inode, size and modification time (ns): whether a file may have changed."""


class FarLog:
    """A file: how many of its bytes were sent, and how they are recognised."""

    def __init__(self, root: int, name: str, path: str) -> None:
        self.root, self.name, self.path = root, name, path
        self.offset = 0
        self.check = 0
        self.room = 0
        self.stamp: Optional[FarStamp] = None
        self.side_stamp: Optional[FarStamp] = None
        self.mtime = 0.0
        self.next_look = 0.0


def is_compared(path: str, size: int) -> bool:
    """Whether all bytes of a file are compared, not only the edges."""
    return size <= MOST_COMPARED_BYTES and REWRITTEN.search(path) is not None


def checksum(file: BinaryIO, path: str, size: int) -> int:
    """What the first `size` bytes of a file are recognised by."""
    if is_compared(path, size):
        file.seek(0)
        return zlib.crc32(file.read(size))
    edge = min(size, EDGE_BYTES)
    file.seek(0)
    head = zlib.crc32(file.read(edge))
    file.seek(size - edge)
    return zlib.crc32(file.read(edge), head)


def stamp_of(found: os.stat_result) -> FarStamp:
    """The stamp of a file."""
    return found.st_ino, found.st_size, found.st_mtime_ns


def stamp_at(path: str) -> Optional[FarStamp]:
    """The stamp of a path; None if there is nothing."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


class FarSide:
    """Looks at the paths of a request and sends what is new."""

    def __init__(self, request: Dict[str, Any], out: BinaryIO) -> None:
        self.out = out
        self.roots = [os.path.expanduser(from_wire(root)) for root in request["roots"]]
        self.wanted = re.compile(request["wanted"])
        self.checkpoint = re.compile(request["checkpoint"])
        self.others: Set[str] = set(request["other_suffixes"])
        self.skipped: Set[str] = set(request["skipped_folders"])
        self.space, self.most_files = request["space"], request["most_files"]
        self.known = {(root, from_wire(name)): known for root, name, *known in request["have"]}
        self.logs: Dict[Tuple[int, str], FarLog] = {}
        self.kinds: Dict[int, Tuple[str, str]] = {}
        self.told: Set[Tuple[int, str, str]] = set()
        self.unlisted: Set[Tuple[int, str]] = set()
        self.listed: Dict[Tuple[int, str], Checkpoints] = {}
        self.checkpoints: Dict[Tuple[int, str], Checkpoints] = {}
        self.next_beat = time.monotonic() + BEAT_S

    def send(self, frame: str, body: bytes = b"", **fields: Any) -> None:
        """Send a frame; a write that nobody takes for a minute ends the process."""
        fields.update(t=frame, n=len(body))
        if "p" in fields:
            fields["p"] = to_wire(fields["p"])
        signal.alarm(SILENCE_S)
        self.out.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n" + body)
        if not body:
            self.out.flush()
        signal.alarm(0)

    def beat(self) -> None:
        """Say from time to time that all is well."""
        if time.monotonic() >= self.next_beat:
            self.next_beat = time.monotonic() + BEAT_S
            self.send("beat")

    def tell(self, root: int, name: str, why: str) -> None:
        """Send once why a path is left out."""
        if (root, name, why) not in self.told and len(self.told) < 1000:
            self.told.add((root, name, why))
            self.send("trouble", r=root, p=name, why=why)

    # --- looking -----------------------------------------------------------------------------

    def sweep(self) -> float:
        """Look at everything below the paths; returns the seconds to pause before the next time."""
        start, cpu = time.monotonic(), time.process_time()
        found: Dict[Tuple[int, str], Tuple[str, os.stat_result]] = {}
        self.unlisted.clear()
        self.listed.clear()
        for number, root in enumerate(self.roots):
            for name, path, info in self.files(number, root):
                if len(found) >= self.most_files:
                    self.tell(number, "", f"more than {self.most_files} files")
                elif len(os.fsencode(name)) <= MOST_NAME_BYTES:
                    found[number, name] = path, info
        pause = pause_after(start, cpu)
        for key in [*self.logs, *self.known]:
            if key not in found and not self.is_unlisted(*key):
                self.space += self.logs.pop(key).room if key in self.logs else 0
                self.known.pop(key, None)
                self.send("gone", r=key[0], p=key[1])
        for key in sorted(found, key=lambda key: found[key][1].st_size):
            if key not in self.logs:
                self.logs[key] = FarLog(key[0], key[1], found[key][0])
            self.look(self.logs[key], found[key][1])
        for key in {**self.checkpoints, **self.listed}:
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

    def files(self, number: int, root: str) -> Iterator[Tuple[str, str, os.stat_result]]:
        """(path below the root, path, stat) of each file that may be a log."""
        kind, why = "", ""
        try:
            info = os.stat(root)
            kind = "folder" if stat.S_ISDIR(info.st_mode) else "file"
            why = "" if os.access(root, os.R_OK) else "permission denied"
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            if error.errno not in MISSING:
                self.unlisted.add((number, ""))
                kind = self.kinds.get(number, ("", ""))[0]
        if self.kinds.get(number) != (kind, why):
            self.kinds[number] = kind, why
            self.send("root", r=number, kind=kind, why=why)
        if kind == "file" and not why and stat.S_ISREG(info.st_mode):
            yield "", root, info
        elif kind == "folder" and not why:
            yield from self.walk(number, root)

    def walk(self, number: int, root: str) -> Iterator[Tuple[str, str, os.stat_result]]:
        """The files below a directory; links last, to keep what needs none under its own path."""
        covered = [os.path.realpath(root)]
        waiting: List[Tuple[str, int]] = [("", 0)]
        links: List[Tuple[str, int]] = []
        while waiting or links:
            if waiting:
                name, depth = waiting.pop()
                yield from self.list_folder(number, root, name, depth, waiting, links)
                continue
            name, depth = links.pop()
            path = os.path.join(root, name)
            real = os.path.realpath(path)
            if any(is_inside(real, each) or is_inside(each, real) for each in covered):
                continue
            if os.path.isdir(real) and depth <= MOST_DEPTH:
                covered.append(real)
                waiting.append((name, depth))
            elif os.path.isfile(real) and self.is_wanted(os.path.basename(name)):
                yield name, path, os.stat(real)

    def list_folder(
        self,
        number: int,
        root: str,
        folder: str,
        depth: int,
        folders: List[Tuple[str, int]],
        links: List[Tuple[str, int]],
    ) -> Iterator[Tuple[str, str, os.stat_result]]:
        """The files in a directory below a root; what is in it is added to folders and links."""
        self.beat()
        checkpoints: Checkpoints = []
        try:
            for entry in os.scandir(os.path.join(root, folder)):
                name = folder + "/" + entry.name if folder else entry.name
                if self.is_checkpoint(entry.name):
                    checkpoints.append(checkpoint_entry(entry))
                if entry.is_symlink():
                    links.append((name, depth + 1))
                elif entry.is_dir():
                    if entry.name not in self.skipped and depth < MOST_DEPTH:
                        folders.append((name, depth + 1))
                elif self.is_wanted(entry.name) and entry.is_file():
                    yield name, entry.path, entry.stat()
            if checkpoints and len(os.fsencode(folder)) <= MOST_NAME_BYTES:
                self.listed[number, folder] = checkpoints
        except OSError as error:
            if error.errno not in MISSING:
                self.unlisted.add((number, folder))
                self.tell(number, folder, (error.strerror or str(error)).lower())

    def is_unlisted(self, number: int, name: str) -> bool:
        """Whether a file is in a directory that could not be listed: it need not be gone."""
        return any(number == root and is_inside(name, folder) for root, folder in self.unlisted)

    def is_wanted(self, name: str) -> bool:
        """Whether a file may be a log by its name."""
        stem, _, suffix = name.rpartition(".")
        return (suffix not in self.others or "." in stem) and bool(self.wanted.search(name))

    def is_checkpoint(self, name: str) -> bool:
        """Whether an entry of a directory is a checkpoint by its name."""
        if not self.checkpoint.fullmatch(name) or self.is_wanted(name):
            return False
        sent = to_wire(name)
        return sent.isprintable() and len(sent.encode()) <= MOST_CHECKPOINT_BYTES

    # --- sending -----------------------------------------------------------------------------

    def send_checkpoints(self, number: int, folder: str) -> None:
        """Send which checkpoints are in a directory, if that has changed; of many evenly some."""
        found = self.listed.get((number, folder), [])
        if not found and self.is_unlisted(number, folder):
            return
        found.sort(key=lambda each: (each["m"], each["p"]))
        found = found[:: 1 + len(found) // (MOST_CHECKPOINTS + 1)]
        before = self.checkpoints.pop((number, folder), [])
        if sum(map(len, self.checkpoints.values())) + len(found) > self.most_files:
            self.tell(number, folder, "too many checkpoints")
            found = []
        if found:
            self.checkpoints[number, folder] = found
        if found != before:
            body = zlib.compress(json.dumps(found, ensure_ascii=False).encode(), 1)
            self.send("checkpoints", body, r=number, p=folder)

    def look(self, log: FarLog, info: os.stat_result) -> None:
        """Send what is new in a file."""
        log.mtime = info.st_mtime
        if time.monotonic() < log.next_look:
            return
        side = stamp_at(log.path + "-wal") if log.next_look else None
        if stamp_of(info) == log.stamp and side == log.side_stamp:
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
            self.tell(log.root, log.name, (error.strerror or str(error)).lower())

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
        self.send("place", r=log.root, p=log.name, m=sent_time(info.st_mtime))
        log.check = checksum(file, log.path, log.offset)
        if is_compared(log.path, log.offset) and stamp_of(os.fstat(file.fileno())) != log.stamp:
            log.check = -1  # perhaps not of the bytes that were sent

    def send_rest(self, log: FarLog, name: str, file: BinaryIO, size: int) -> None:
        """Send the bytes from the offset up to a size."""
        file.seek(log.offset)
        while log.offset < size or not log.offset:
            data = file.read(min(CHUNK_BYTES, size - log.offset))
            self.send("data", zlib.compress(data, 1), r=log.root, p=name, at=log.offset)
            log.offset += len(data)
            if not data:
                return

    def send_database(self, log: FarLog, file: BinaryIO) -> None:
        """Send a database and its write-ahead log; of one that changed meanwhile the next time."""
        self.known.pop((log.root, log.name), None)
        log.next_look = time.monotonic() + DATABASE_S
        info = os.fstat(file.fileno())
        stamp, side = stamp_of(info), stamp_at(log.path + "-wal")
        size = stamp[1] + (side[1] if side is not None else 0)
        if is_in_transaction(log.path) or not self.has_room(log, size):
            return
        if stamp != log.stamp:
            log.offset = 0
            self.send_rest(log, log.name, file, info.st_size)
        if side is not None:
            with open(os.open(log.path + "-wal", OPEN_FLAGS), "rb") as other:
                log.offset = 0
                self.send_rest(log, log.name + "-wal", other, side[1])
        if stamp_at(log.path) == stamp:
            log.stamp, log.side_stamp = stamp, side
            newest = max(stamp[2], side[2] if side else 0) / 1e9
            self.send("place", r=log.root, p=log.name, m=sent_time(newest), side=side is not None)

    def has_room(self, log: FarLog, size: int) -> bool:
        """Whether a file of this size fits into the space that is left."""
        if size <= self.space + log.room:
            self.space += log.room - size
            log.room = size
            return True
        self.tell(log.root, log.name, "too large for the space that is left for copies")
        return False

    # --- the whole ---------------------------------------------------------------------------

    def run(self, once: bool) -> None:
        """Send everything, then (unless `once`) what is new until nobody listens any more."""
        self.out.write(MARKER)
        self.send("hello", time=time.time())
        pause = self.sweep()
        self.send("swept")
        if not once:
            self.follow(pause)

    def follow(self, pause: float) -> None:
        """Send what is new while somebody listens; the next sweep is due after a pause."""
        heard = time.monotonic()
        next_sweep, next_look = heard + pause, heard + ROUND_S
        while True:
            timeout = min(self.next_beat, next_sweep, next_look) - time.monotonic()
            if select.select([0], [], [], max(0.0, timeout))[0]:
                if not os.read(0, 4096):
                    return
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                return
            self.beat()
            if time.monotonic() >= next_sweep:
                next_sweep = self.sweep() + time.monotonic()
                next_look = time.monotonic() + ROUND_S
            elif time.monotonic() >= next_look:
                next_look = self.look_at_recent() + time.monotonic()


def checkpoint_entry(entry: "os.DirEntry[str]") -> Dict[str, Any]:
    """A checkpoint as it is sent; it is not opened."""
    mtime = sent_time(entry.stat(follow_symlinks=False).st_mtime)
    return {"p": to_wire(entry.name), "m": mtime, "folder": entry.is_dir()}


def sent_time(mtime: float) -> float:
    """A modification time as it is sent; file systems may hold any number."""
    return min(max(mtime, 0.0), 1e10)


def from_wire(text: str) -> str:
    """A path of the request as this system writes it, whatever its locale."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def to_wire(path: str) -> str:
    """A path of this system as it is sent."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def pause_after(start: float, cpu: float) -> float:
    """How long to pause after looking since `start`, with `cpu` as processor time then."""
    busy, waited = time.process_time() - cpu, time.monotonic() - start
    return min(max(busy * CPU_PAUSE, waited * WALL_PAUSE, ROUND_S), LONGEST_PAUSE_S)


def is_in_transaction(path: str) -> bool:
    """Whether a database without a write-ahead log is just being changed, by its journal."""
    try:
        with open(path + "-journal", "rb") as file:
            is_young = time.time() - os.fstat(file.fileno()).st_mtime < SILENCE_S
            return is_young and file.read(1) not in (b"", b"\0")
    except OSError:
        return False


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")


def main() -> None:
    """Answer the request on standard input."""
    request = json.loads(sys.stdin.buffer.readline().decode())
    try:
        FarSide(request, os.fdopen(os.dup(1), "wb")).run(request["once"])
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
