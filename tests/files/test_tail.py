"""What is new in a file, for all that writers do to their files."""

from __future__ import annotations

import os
import socket
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.tail import LAST_FINGERPRINT_BYTES, MIN_HOLE_BYTES, Tail
from tests.support.number_log import GrowingFile


@pytest.fixture
def log(tmp_path: Path) -> Iterator[GrowingFile]:
    """An empty log."""
    file = GrowingFile(tmp_path / "train.log")
    yield file
    file.close()


def tail_of(log: GrowingFile, rewritten: bool = False) -> Tail:
    """A tail of the log."""
    return Tail(str(log.path), rewritten)


def all_of(tail: Tail, limit: int = 1 << 20) -> tuple[bytes, bool]:
    """Everything that is new, and whether reading began again."""
    data, reset = b"", False
    while True:
        piece = tail.read_new_bytes(limit)
        if piece.reset:
            data, reset = b"", True
        data += piece.data
        if not piece.more:
            return data, reset


def test_only_new_bytes_are_given(log: GrowingFile) -> None:
    """Appended bytes are given once."""
    tail = tail_of(log)
    log.write("one")
    assert all_of(tail) == (b"one", False)
    log.write("two")
    assert tail.has_changed()
    assert all_of(tail) == (b"two", False)
    assert not tail.has_changed()
    assert all_of(tail) == (b"", False)


def test_chunks_are_bounded(log: GrowingFile) -> None:
    """A large file comes in several chunks, each saying whether there is more."""
    tail = tail_of(log)
    log.write("abcdefgh")
    assert tail.read_new_bytes(5) == (b"abcde", False, True)
    assert tail.read_new_bytes(5) == (b"fgh", False, False)


def test_a_truncated_file_begins_again(log: GrowingFile) -> None:
    """Truncation voids what was read."""
    tail = tail_of(log)
    log.write("a long first life\n")
    all_of(tail)
    log.truncate()
    log.write("second\n")
    assert all_of(tail) == (b"second\n", True)


def test_a_truncated_file_that_outgrew_the_offset_begins_again(
    log: GrowingFile,
) -> None:
    """Its size does not show it, but the bytes before the offset do."""
    tail = tail_of(log)
    log.write("first life\n")
    all_of(tail)
    log.truncate()
    log.write("second life, which is longer than the first\n")
    assert all_of(tail) == (b"second life, which is longer than the first\n", True)


def test_a_replaced_file_begins_again(log: GrowingFile) -> None:
    """By rename, with other content."""
    tail = tail_of(log)
    log.write("first\n")
    all_of(tail)
    log.replace("other\n")
    assert tail.has_changed()
    assert all_of(tail) == (b"other\n", True)


def test_a_longer_copy_of_the_file_continues(log: GrowingFile) -> None:
    """rsync replaces the file with a longer copy: only what is new is given."""
    tail = tail_of(log)
    log.write("first\n")
    all_of(tail)
    log.replace("first\nsecond\n")
    assert all_of(tail) == (b"second\n", False)


def test_a_file_deleted_and_recreated(log: GrowingFile) -> None:
    """While it is missing nothing is given, and that is no problem."""
    tail = tail_of(log)
    log.write("first\n")
    all_of(tail)
    log.path.unlink()
    assert not tail.has_changed()
    assert all_of(tail) == (b"", False)
    assert tail.problem == ""
    log.path.write_text("again\n")
    assert tail.has_changed()
    assert all_of(tail) == (b"again\n", True)


def test_a_longer_header_is_seen(log: GrowingFile) -> None:
    """SB3's progress.csv: the file is rewritten from its start and grows."""
    tail = tail_of(log, rewritten=True)
    log.write("a,b\n1,2\n")
    all_of(tail)
    log.write_at(0, "a,b,c\n1,2,\n3,4,5\n")
    assert all_of(tail) == (b"a,b,c\n1,2,\n3,4,5\n", True)


def test_a_rewritten_file_of_the_same_size_is_seen(log: GrowingFile) -> None:
    """A file that is saved whole may change without growing."""
    tail = tail_of(log, rewritten=True)
    log.write("x" * 3000 + "loss 1.5" + "y" * 3000)
    all_of(tail)
    log.write_at(3000, "loss 1.7")
    os.utime(log.path, (1, 2))
    assert tail.has_changed()
    data, reset = all_of(tail)
    assert reset and b"loss 1.7" in data


def test_a_touched_file_is_not_read_again(log: GrowingFile) -> None:
    """A new modification time alone means nothing."""
    for rewritten in (False, True):
        tail = tail_of(log, rewritten)
        log.write("first\n")
        all_of(tail)
        os.utime(log.path, (1, 2))
        assert all_of(tail) == (b"", False)
        assert not tail.has_changed()


def test_preallocated_space_is_not_read_as_zeros(log: GrowingFile) -> None:
    """A writer (or a network file system) may extend a file before its bytes arrive."""
    tail = tail_of(log)
    log.write("first\n")
    log.truncate(100_000)
    assert all_of(tail) == (b"first\n", False)
    assert tail.trailing_zeros == 100_000 - 6
    log.write_at(6, "second\n")
    os.utime(log.path, (1, 2))
    assert tail.has_changed()
    assert all_of(tail) == (b"second\n", False)


def test_written_zeros_at_the_end_are_held_back_too(log: GrowingFile) -> None:
    """They look the same, in chunks of any size."""
    for limit in (1 << 20, MIN_HOLE_BYTES, 5000):
        tail = tail_of(log)
        log.truncate()
        log.write("first\n" + "\0" * 3 * MIN_HOLE_BYTES)
        assert all_of(tail, limit)[0].rstrip(b"\0") == b"first\n"
        assert not tail.has_changed()
        log.write("second\n")
        assert all_of(tail, limit)[0].lstrip(b"\0") == b"second\n"
        assert tail.offset == tail.size and tail.trailing_zeros == 0


def test_a_hole_between_data_is_part_of_the_log(log: GrowingFile) -> None:
    """When data follows nothing is held back, so offsets stay those of the file."""
    tail = tail_of(log)
    log.write("first\n")
    log.truncate(1_000_000)
    log.write("last\n")
    assert all_of(tail, 100_000)[0] == b"first\n" + bytes(999_994) + b"last\n"


def test_a_gap_that_is_filled_later_is_read(log: GrowingFile) -> None:
    """NFS may show the end of a file before its middle: nothing of it is lost."""
    tail = tail_of(log)
    log.write("first\n")
    log.write_at(4096, "last\n")
    assert all_of(tail)[0] == b"first\n" + bytes(4090) + b"last\n"
    log.write_at(6, "x" * 4089 + "\n")
    os.utime(log.path, (1, 2))
    assert tail.has_changed()
    assert all_of(tail) == (b"first\n" + b"x" * 4089 + b"\nlast\n", True)
    log.write("more\n")
    assert all_of(tail) == (b"more\n", False)


def test_a_few_zeros_at_the_end_are_data(log: GrowingFile) -> None:
    """Records of binary formats may end in zeros and must not wait."""
    tail = tail_of(log)
    log.write("record\0\0\0\0\0\0\0\0")
    assert all_of(tail) == (b"record" + bytes(8), False)


def test_a_huge_sparse_file_costs_nothing(log: GrowingFile) -> None:
    """The file system says where data is: a hole of 5 GB is not read."""
    tail = tail_of(log)
    log.write("first\n")
    log.truncate(5 << 30)
    assert all_of(tail, 1 << 16) == (b"first\n", False)
    assert tail.trailing_zeros == (5 << 30) - 6


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_reported(log: GrowingFile) -> None:
    """It is tried again."""
    log.write("first\n")
    log.path.chmod(0)
    tail = tail_of(log)
    assert all_of(tail) == (b"", False)
    assert tail.problem == "cannot read: permission denied"
    log.path.chmod(0o600)
    assert all_of(tail) == (b"first\n", False)
    assert tail.problem == ""


def test_a_read_error_is_reported(log: GrowingFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a disk error the next poll tries again."""

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    log.write("first\n")
    tail = tail_of(log)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", fail)
        assert tail.read_new_bytes() == (b"", False, False)
        assert tail.problem == "cannot read: input/output error"
        assert tail.has_changed()
    assert all_of(tail) == (b"first\n", False)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """A named pipe would block its writer, a device may have effects: neither is opened."""
    fifo, door = tmp_path / "a.log", tmp_path / "b.log"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(door))
        for path in (fifo, door, Path("/dev/zero")):
            tail = Tail(str(path))
            assert not tail.has_changed()
            assert tail.read_new_bytes() == (b"", False, False)
            assert tail.problem == "not a regular file"
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_nothing_stays_open(log: GrowingFile) -> None:
    """A tail holds no descriptor between two reads."""
    tails = [tail_of(log) for _ in range(10)]
    log.write("first\n")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for tail in tails:
        all_of(tail)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


RANDOM_TEXT = st.text("ab\n", min_size=1, max_size=40)
WRITER_ACTIONS = st.one_of(
    st.tuples(st.just("write"), RANDOM_TEXT),
    st.tuples(st.just("truncate"), st.integers(0, 30)),
    st.tuples(st.just("replace"), RANDOM_TEXT),
    st.tuples(st.just("recreate"), RANDOM_TEXT),
    st.tuples(st.just("look"), st.integers(1, 50)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WRITER_ACTIONS, max_size=25), st.booleans())
def test_any_history_of_a_file_gives_its_content(
    tmp_path_factory: pytest.TempPathFactory,
    actions: list[tuple[str, str | int]],
    rewritten: bool,
) -> None:
    """Whatever happens between the reads, the bytes since the last reset are the file."""
    log = GrowingFile(tmp_path_factory.mktemp("life") / "train.log")
    tail = tail_of(log, rewritten)
    given_ = b""
    for number, (action, what) in enumerate([*actions, ("look", 1000)]):
        if action != "look":
            # Equal lives cannot be told apart, so each writes its own mark.
            getattr(log, action)(f"{number}{what}" if isinstance(what, str) else what)
            continue
        data, reset = all_of(tail, int(what))
        given_ = data if reset else given_ + data
    assert given_ == log.path.read_bytes()
    log.close()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=3 * LAST_FINGERPRINT_BYTES), min_size=1, max_size=8))
def test_appending_is_never_a_reset(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    """A file that only grows is read exactly once."""
    path = tmp_path_factory.mktemp("append") / "x.bin"
    tail, crc = Tail(str(path), rewritten=True), 0
    for piece in pieces:
        with open(path, "ab") as file:
            file.write(piece)
        data, reset = all_of(tail)
        assert not reset
        crc = zlib.crc32(data, crc)
    assert crc == zlib.crc32(path.read_bytes())
