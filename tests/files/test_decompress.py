"""Compressed logs: the same as plain ones, in bounded memory, whatever is in them."""

from __future__ import annotations

import gzip
import json
import lzma
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading import decompress
from ppo_top.files.reading.decompress import MAX_EXPANSION, Decompressor
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.parsers import detect_format
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.parser_harness import ParserOutput, cut_at
from tests.support.recordings import damaged_bytes

LOG = (DEMO_LOGS_FOLDER / "trl_grpo" / "stdout.log").read_bytes()
TABLE = (DEMO_LOGS_FOLDER / "sb3_cartpole" / "progress.csv").read_bytes()
PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress}
LINES = b"".join(b"step: %d | reward: %d.5\n" % (step, step) for step in range(1, 4000))


def read(path: Path, size: int = 1 << 16) -> ParserOutput:
    """A file as the follower reads it, to its end."""
    output = ParserOutput()
    reader = LogReader(FoundFile(str(path), path.name, str(path.parent)), detect_format)
    while reader.has_changed() or reader.more:
        update = reader.read_update(size)
        if update is not None:
            output.add_batch(update.batch)
        if reader.rejected:
            break
    if (update := reader.finish()) is not None:
        output.add_batch(update.batch)
    return output


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize(("name", "data"), [("train.log", LOG), ("progress.csv", TABLE)])
def test_a_compressed_log_is_read_like_the_plain_one(
    kind: str, name: str, data: bytes, tmp_path: Path
) -> None:
    """Points, settings, lines and end; in pieces of any size."""
    plain, packed = tmp_path / name, tmp_path / f"{name}.{kind}"
    plain.write_bytes(data)
    packed.write_bytes(PACK[kind](data))
    expected = read(plain)
    assert expected.points
    for size in (100, 4096, 1 << 20):
        assert repr(read(packed, size)) == repr(expected)


@pytest.mark.parametrize("kind", PACK)
def test_several_streams_in_one_file_follow_each_other(kind: str, tmp_path: Path) -> None:
    """`cat a.gz b.gz`, with or without padding between them."""
    half = len(LINES) // 2
    path = tmp_path / f"train.log.{kind}"
    path.write_bytes(PACK[kind](LINES[:half]) + bytes(8) + PACK[kind](LINES[half:]))
    output = read(path)
    assert output.values("reward") == [step + 0.5 for step in range(1, 4000)]
    assert output.problems == []


@given(
    st.lists(st.integers(0, 1 << 20), max_size=12),
    st.integers(1, 5000),
    st.sampled_from(["gz", "xz"]),
)
@settings(max_examples=30, deadline=None)
def test_any_cut_gives_the_same(places: list[int], limit: int, kind: str) -> None:
    """However the compressed bytes arrive, and however many are asked for."""
    packed = PACK[kind](LINES)
    found = []
    unpack = Decompressor(kind)
    for piece in cut_at(packed, [place % (len(packed) + 1) for place in places]):
        unpack.add_bytes(piece)
        while unpack.has_more:
            found.append(unpack.read(limit))
    assert b"".join(found) == LINES
    assert all(len(part) <= limit for part in found)
    assert unpack.finish() == ""


@pytest.mark.parametrize("kind", PACK)
def test_a_file_that_is_still_being_written_grows(kind: str, tmp_path: Path) -> None:
    """What is there is read; the missing end is a problem only when nothing more will come."""
    packed, path = PACK[kind](LINES), tmp_path / f"train.log.{kind}"
    half = len(packed) // 2
    path.write_bytes(packed[:half])
    reader = LogReader(FoundFile(str(path), path.name, str(tmp_path)), detect_format)
    output = ParserOutput()
    for rest in (b"", packed[half:]):
        with path.open("ab") as file:
            file.write(rest)
        while reader.has_changed() or reader.more:
            if (update := reader.read_update()) is not None:
                output.add_batch(update.batch)
    assert len(output.values("reward")) == 3999
    assert output.problems == []
    path.write_bytes(packed[:half])
    cut = read(path)
    assert 0 < len(cut.values("reward")) < 3999
    assert [each.message for each in cut.problems] == ["ends in the middle of its compressed data"]


@given(st.integers(0, 10**9))
@example(6553)
@settings(max_examples=60, deadline=None)
def test_nothing_before_a_damage_is_lost(seed: int) -> None:
    """Up to a few bytes before the first changed one, which are decompressed together with it."""
    kind = random.Random(seed).choice(sorted(PACK))
    packed = PACK[kind](LINES)
    broken = damaged_bytes(packed, seed)
    pairs = enumerate(zip(packed, broken, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(packed), len(broken)))
    sound = packed[: max(0, same - 64)]
    before = zlib.decompressobj(31) if kind == "gz" else lzma.LZMADecompressor()
    unpack = Decompressor(kind)
    unpack.add_bytes(broken)
    found = []
    while unpack.has_more:
        found.append(unpack.read(10_000))
    assert b"".join(found).startswith(before.decompress(sound))
    is_padding = not broken.strip(b"\0")  # nothing is left that could be damaged
    assert unpack.finish() or b"".join(found) == LINES or is_padding


@pytest.mark.parametrize("kind", PACK)
def test_a_bomb_costs_a_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log that never ends: reading stops, memory does not grow, what came first is judged."""
    monkeypatch.setattr(decompress, "MIN_EXPANDED_BYTES", 4 << 20)
    path = tmp_path / f"train.log.{kind}"
    path.write_bytes(PACK[kind](LINES + b"x" * (64 << 20)))
    tracemalloc.start()
    assert main(["check", "--json", "--no-cache", str(path)]) == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    out, err = capsys.readouterr()
    (run,) = json.loads(out)["runs"]
    assert run["progress"]["updates"] == 3999
    assert f"expands to more than {MAX_EXPANSION} times its size: not read further" in err
    assert peak < 60 << 20


@pytest.mark.parametrize("name", ["train.log.gz", "mlflow.db.gz", "notes.gz", "progress.csv.xz"])
def test_what_is_not_compressed_or_no_log_is_left_alone(name: str, tmp_path: Path) -> None:
    """A name alone does not make a compressed log; a database is not unpacked."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"SQLite format 3\x00" + bytes(99)))
    assert read(path).points == {}
    path = tmp_path / "plain.log.gz"
    path.write_bytes(LINES)  # as a browser saves it that unpacks while it downloads
    assert len(read(path).values("reward")) == 3999
