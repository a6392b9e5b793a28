"""Damage in a log costs nothing that stands before it, read as a whole or while it grew."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ppo_top.parsers import detect_format
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from tests.support.parser_harness import ParserOutput, feed_parser
from tests.support.recordings import DATA_FOLDER

DAMAGES = int(os.environ.get("PPO_TOP_DAMAGES", "20"))
"""How many damages are drawn for each format; four hundred take some minutes."""

MAX_BYTES = 30_000
"""Only so much of a recording is damaged, which keeps each try short."""

LOGS = {
    "tensorboard": "sb3_2.9.2/a2c/events.out.tfevents*",
    "tables": "sb3_2.9.2/a2c/stdout.log",
    "dictionaries": "trl_1.12.0/ppo/stdout.log",
    "blocks": "rsl_rl_5.5.1/ppo/console.log",
    "csv": "sb3_2.9.2/dqn/progress.csv",
    "monitor": "sb3_2.9.2/a2c/0.monitor.csv",
    "tabs": "spinup_038665d/ppo/progress.txt",
    "json lines": "swift_3.8/grpo/logging.jsonl",
    "wandb": "wandb_0.31.0/finished/*/*.wandb",
    "swanlab": "swanlab_0.10.3/finished/swanlog/*/*.swanlab",
}


def recorded(pattern: str) -> Path:
    """The recording of a format."""
    (path,) = DATA_FOLDER.glob(pattern)
    return path


def parser_of(name: str, data: bytes) -> Parser | None:
    """The parser of a file that begins like this; None if it is no log."""
    found = detect_format(name, data[:HEAD_BYTES])
    return found.parser() if isinstance(found, Format) and found.parser is not None else None


def damaged_once(data: bytes, draw: random.Random) -> tuple[int, bytes]:
    """Where the bytes are damaged, and the bytes after that: changed, lost, strange or zeros."""
    start = draw.randrange(len(data) - 1)
    stop = min(len(data), start + draw.choice((1, 3, 40, 600)))
    kinds = (
        bytes([data[start] ^ 1 << draw.randrange(8)]) + data[start + 1 :],
        data[stop:],
        draw.randbytes(stop - start) + data[start:],
        bytes(stop - start) + data[stop:],
    )
    return start, draw.choice(kinds)


def keeps(found: ParserOutput, before: ParserOutput) -> bool:
    """Whether all points of `before` are the first ones of their tags."""
    return all(
        found.points.get(tag, [])[: len(points)] == points for tag, points in before.points.items()
    )


@pytest.mark.parametrize("pattern", LOGS.values(), ids=LOGS)
def test_what_stands_before_a_damage_is_read(pattern: str) -> None:
    """From a file that was damaged when it was found, and from one that is followed."""
    path = recorded(pattern)
    data = path.read_bytes()[:MAX_BYTES]
    for seed in range(DAMAGES):
        start, rest = damaged_once(data, random.Random(f"{path.name} {seed}"))
        first = parser_of(path.name, data[:start])
        if first is None:
            continue
        before = ParserOutput()
        before.add_batch(first.feed(data[:start]))
        live = feed_parser(parser_of(path.name, data[:start]) or first, [data[:start], rest])
        assert keeps(live, before), seed
        whole = parser_of(path.name, data[:start] + rest)
        if any(before.points.values()):
            assert whole is not None, seed
            assert keeps(feed_parser(whole, [data[:start] + rest]), before), seed
