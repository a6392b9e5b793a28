"""Runs one reader on one input for ingest.py and prints its time and memory as JSON.

    python -m benchmarks.ingest_readers READER FILE

Every reader keeps what it read until it is measured. Imports are not counted, except by
`ppo_top_cold`, which includes those of numpy and orjson for a large file.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

READ_CHUNK_BYTES = 4 << 20
"""Size of the chunks in which ppo-top reads a large file."""


class ReaderMissing(Exception):
    """The reader is not installed."""


def ppo_top(path: Path) -> Callable[[], int]:
    """Our parser, with the libraries that it uses already imported, as the others' are."""
    import numpy  # noqa: F401
    import orjson  # noqa: F401

    return ppo_top_cold(path)


def ppo_top_cold(path: Path) -> Callable[[], int]:
    """Our parser of the file's format, with all checksums; columns are kept."""
    from ppo_top.model import Series
    from ppo_top.parsers import detect_format

    head = path.read_bytes()[:4096]
    found = detect_format(path.name, head)
    assert found and not isinstance(found, bool) and found.parser
    parser = found.parser()
    series: dict[str, Series] = {}

    def read() -> int:
        with path.open("rb") as file:
            while data := file.read(READ_CHUNK_BYTES):
                for points in parser.feed(data).points:
                    series.setdefault(points.tag, Series(points.tag)).extend(points)
        return sum(map(len, series.values()))

    return read


def many(path: Path) -> Callable[[], int]:
    """Our parser on many copies of one small file, with a new parser for each."""
    from ppo_top.parsers import detect_format

    data = path.read_bytes()
    found = detect_format(path.name, data[:4096])
    assert found and not isinstance(found, bool) and found.parser
    make, copies = found.parser, copies_of(data)

    def read() -> int:
        return sum(len(points) for _ in range(copies) for points in make().feed(data).points)

    return read


def copies_of(data: bytes) -> int:
    """How many copies of a small file `many` reads."""
    return (8 << 20) // len(data)


def plain(path: Path) -> Callable[[], int]:
    """read() alone."""
    return lambda: len(path.read_bytes()) * 0


def splitlines(path: Path) -> Callable[[], int]:
    """str.splitlines on the decoded text."""
    text = path.read_text(errors="replace")
    return lambda: len(text.splitlines()) * 0


def event_accumulator(path: Path) -> Callable[[], int]:
    """TensorBoard's own reader, keeping every scalar."""
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError as error:
        raise ReaderMissing("pip install tensorboard") from error
    reader = EventAccumulator(str(path), {"scalars": 0})

    def read() -> int:
        reader.Reload()
        return sum(len(reader.Scalars(tag)) for tag in reader.Tags()["scalars"])

    return read


def tbparse(path: Path) -> Callable[[], int]:
    """tbparse: TensorBoard's reader into a pandas frame, with wall times like ours."""
    try:
        from tbparse import SummaryReader
    except ImportError as error:
        raise ReaderMissing("pip install tbparse") from error
    return lambda: len(SummaryReader(str(path), extra_columns={"wall_time"}).scalars)


def terminalboard(path: Path) -> Callable[[], int]:
    """terminalboard's own reader, which verifies no checksums."""
    try:
        from terminalboard.reader import LightReader
    except ImportError as error:
        raise ReaderMissing("pip install terminalboard") from error
    reader: Any = LightReader(str(path.parent))

    def read() -> int:
        runs = reader.poll()
        return sum(len(each) for run in runs.values() for each in run.series.values())

    return read


READERS = {
    each.__name__: each
    for each in (
        ppo_top,
        ppo_top_cold,
        many,
        plain,
        splitlines,
        event_accumulator,
        tbparse,
        terminalboard,
    )
}


def main() -> None:
    """Run one reader and print its figures."""
    name, path = sys.argv[1], Path(sys.argv[2])
    try:
        read = READERS[name](path)
    except ReaderMissing as missing:
        print(json.dumps({"missing": str(missing)}))
        return
    begun = time.perf_counter(), time.process_time()
    points = read()
    answer = {"seconds": time.perf_counter() - begun[0], "cpu": time.process_time() - begun[1]}
    answer["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**answer, "points": points}))


if __name__ == "__main__":
    main()
