"""Numbers read by the hundred, with orjson and without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.shared import float_batches
from ppo_top.parsers.shared.float_batches import parse_floats
from tests.support.parser_harness import assert_same, feed_parser, float_bytes

HERE = Path(__file__).parents[3]
LOGS = (
    HERE / "demo_logs" / "sb3_cartpole" / "stdout.log",
    HERE / "demo_logs" / "trl_grpo" / "stdout.log",
    HERE / "tests" / "data" / "trl_0.11.4" / "ppov2" / "stdout.log",
    HERE / "tests" / "data" / "trl_1.12.0" / "ppo" / "stdout.log",
)

words = st.one_of(
    st.floats().map(repr),
    st.floats().map(lambda value: f"{value:.4g}"),
    st.integers().map(str),
    st.sampled_from(["-0", "-0.0", "nan", "inf", "1e999", " 0.5  ", "0.5\n", ".5", "5.", "+1"]),
    st.sampled_from(["true", "null", "", "abc", "1,2", "[1]", "1_0", "0x1", "--1", "1e"]),
)


def by_python(numbers: list[bytes]) -> list[float] | None:
    """What `float` makes of the words."""
    try:
        return [float(word) for word in numbers]
    except ValueError:
        return None


@settings(max_examples=500, deadline=None)
@given(st.lists(words, max_size=8))
def test_every_bit_is_what_python_reads(texts: list[str]) -> None:
    """Words that are numbers give Python's own floats; one that is none spoils the heap."""
    numbers = [text.encode() for text in texts]
    expected, seen = by_python(numbers), parse_floats(numbers)
    if expected is None or seen is None:
        assert seen is expected
    else:
        assert [float_bytes(float(value)) for value in seen] == [
            float_bytes(value) for value in expected
        ]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.parent.name)
def test_consoles_are_the_same_without_orjson(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """orjson only makes it faster."""
    data = path.read_bytes().replace(b"\r", b"\n") * 5
    fast = feed_parser(ConsoleParser(), [data])
    monkeypatch.setattr(float_batches, "orjson_loads", lambda: None)
    assert_same(feed_parser(ConsoleParser(), [data]), fast)
