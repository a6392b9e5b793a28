"""Console lines in blocks equal the same lines one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.files.follower import Follower
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch, State
from ppo_top.model.console_lines import MAX_LINE_CHARS, ConsoleLine, ConsoleLines, LineBlock
from ppo_top.parsers import console_format
from ppo_top.runs.session import Session
from ppo_top.runs.sources.source import MAX_CONSOLE_LINES, SourceState
from ppo_top.settings import Settings

BLOCK = LineBlock(10, "one\ntwo\n\nfour", [None, 1, 1, 2])
SINGLE = [(10, "one", None), (14, "two", 1), (18, "", 1), (19, "four", 2)]


def plain(lines: list[ConsoleLine]) -> list[tuple[int, str, int | None]]:
    """Lines without their unknown times."""
    return [(line.offset, line.text, line.step) for line in lines]


def console() -> SourceState:
    """A console log of which nothing was read yet."""
    return SourceState(Source("train.log", Path("/r/train.log"), Path("/r"), console_format()))


def update(source: SourceState, *parts: ConsoleLine | LineBlock) -> SourceUpdate:
    """An update with nothing but lines."""
    batch = Batch()
    for part in parts:
        batch.lines.append(part)
    return SourceUpdate(source.source, batch, False, 0.0, 0)


def test_a_block_is_its_lines() -> None:
    """With the same offsets, texts and steps."""
    lines = ConsoleLines()
    lines.append(BLOCK)
    lines.append(ConsoleLine(24, "five"))
    assert plain(list(lines)) == [*SINGLE, (24, "five", None)]
    assert len(lines) == 5
    assert plain([BLOCK.first_line]) == SINGLE[:1]


@given(st.integers(0, 8))
def test_the_tail_is_the_end_of_all(count: int) -> None:
    """However many lines are asked for, within a block or across blocks."""
    lines = ConsoleLines()
    lines.extend([ConsoleLine(0, "zero")])
    lines.append(BLOCK)
    lines.append(BLOCK._replace(offset=24))
    whole = plain(list(lines))
    assert plain(lines.tail(count)) == (whole[-count:] if count else [])


def test_a_long_line_is_cut() -> None:
    """A block keeps the text; its lines have what a screen can show."""
    (line,) = LineBlock(0, "x" * (2 * MAX_LINE_CHARS), [1]).lines()
    assert len(line.text) == MAX_LINE_CHARS


def test_a_source_keeps_its_last_lines() -> None:
    """Of a large block only as many as the console view shows."""
    source = console()
    text = "\n".join(str(number) for number in range(2 * MAX_CONSOLE_LINES))
    source.add_update(update(source, LineBlock(0, text, [1] * (2 * MAX_CONSOLE_LINES))))
    assert len(source.lines) == MAX_CONSOLE_LINES
    assert source.lines[-1].text == str(2 * MAX_CONSOLE_LINES - 1)


def test_only_a_warning_is_evidence() -> None:
    """A block of dictionaries and the row of a table are not."""
    source = console()
    warning = "KL divergence is starting to become negative: -1.5 - this might be a precursor"
    row = ConsoleLine(200, "| Traceback (most recent call last) | 3 |")
    assert source.add_update(update(source, BLOCK, ConsoleLine(100, warning), row))
    assert [each.kind for _, each in source.evidence] == ["ref-kl-negative:crit"]


def test_a_block_with_evidence_in_its_first_line_is_searched() -> None:
    """The lines of a block differ only in their numbers."""
    source = console()
    line = "{'Early stopping at step 3 due to reaching max kl': %d}"
    source.add_update(
        update(source, LineBlock(0, "\n".join(line % n for n in range(3)), [1, 2, 3]))
    )
    assert len(source.evidence) == 3


@pytest.mark.parametrize("whole", [True, False])
def test_a_console_with_only_a_traceback_is_a_run(tmp_path: Path, whole: bool) -> None:
    """A crash before the first value shows at once."""
    log = tmp_path / "train.log"
    end = "ValueError: no such environment\n" if whole else ""
    log.write_text(f'Traceback (most recent call last):\n  File "train.py", line 3\n    x()\n{end}')
    follower, session = Follower([tmp_path]), Session(Settings())
    session.apply(follower.poll())
    session.judge()
    follower.close()
    (run,) = session.runs.values()
    ended = run.first_ended()
    assert (ended.ended.state if ended and ended.ended else None) is (State.DIED if whole else None)
