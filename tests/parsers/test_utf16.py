"""Files in UTF-16, as `python train.py > log.csv` makes them in Windows PowerShell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ppo_top
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format, Parser
from tests.support.parser_harness import parse_every_way

ROWS = [{"step": 100 * n, "reward": n + 0.5, "loss": 0.25} for n in range(1, 13)]
CSV = "step,reward,loss\r\n" + "".join(
    f"{row['step']},{row['reward']},{row['loss']}\r\n" for row in ROWS
)
JSON_LINES = "".join(json.dumps(row) + "\r\n" for row in ROWS)
FILES = {
    "log.csv": CSV,
    "log.tsv": CSV.replace(",", "\t"),
    "log.jsonl": JSON_LINES,
    "log.json": json.dumps(ROWS),
}
EXPECTED = [(row["step"], row["reward"]) for row in ROWS]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_each_kind_of_text_is_read(tmp_path: Path, name: str, encoding: str) -> None:
    """As the same text in UTF-8, whatever the order of bytes."""
    path = tmp_path / name
    path.write_bytes(("\ufeff" + FILES[name]).encode(encoding))
    found = [(p.step, p.value) for p in ppo_top.points([path]) if p.tag == "reward"]
    assert found == EXPECTED


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
@pytest.mark.parametrize("rubbish", ["", "\x00\x07 no row\r\n"])
def test_wherever_the_bytes_are_cut(name: str, rubbish: str) -> None:
    """Whole, byte by byte and at random, also in the middle of a character, and with rubbish."""
    head, end = FILES[name][: len(FILES[name]) // 2], FILES[name][len(FILES[name]) // 2 :]
    line_end = head.rindex("\n") + 1
    data = ("\ufeff" + head[:line_end] + rubbish + head[line_end:] + end).encode("utf-16-le")
    found = detect_format(name, data)
    assert isinstance(found, Format)

    def make() -> Parser:
        assert found.parser is not None
        return found.parser()

    assert parse_every_way(make, data).values_by_step()["reward"] == EXPECTED


def test_a_mark_of_another_encoding_is_none_of_utf16() -> None:
    """UTF-32 begins with the same bytes."""
    assert not detect_format("log.csv", CSV.encode("utf-32"))
