"""Everything that a console can hold, mixed by chance and cut by chance."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from tests.parsers.console.test_tables import FIRST, SECOND
from tests.support.parser_harness import assert_same, chunks, cut_at, feed_parser

SNIPPETS = (
    FIRST,
    SECOND,
    *(line + b"\n" for line in FIRST.split(b"\n")),
    b"------------------------------\n",
    b"{'loss': 0.5, 'reward': 1.5, 'kl': 0.1}\n",
    b"{'loss': 0.25, 'reward': nan, 'kl': 0.1}\n",
    b"{'loss': '0.5', 'reward': '1.5', 'kl': '0.1'}\n",
    b"{'loss': 7, 'reward': '-0', 'kl': '0.1'}\n",
    b"{'loss': '0.5', 'reward': 'true', 'kl': None}\n",
    b"{'loss': 1, 'reward': True}\n",
    b"{'reward': 1.5}{'loss': 2}\n",
    b"{'loss': 0.5, 'reward': 1.5\n",
    b"{'train_runtime': 12.5, 'train_loss': 0.1}\n",
    b"{'objective/kl': '0.5', 'loss': '1'}\n",
    b"\r 20%|##        | 10/50 [00:02<00:08,  2.00s/it]",
    b"\r 40%|####      | 20/50 [00:02<00:08,  2.00s/it]",
    b"\r100%|##########| 50/50 [00:02<00:00,  2.00s/it]\n",
    b"Loading weights: 100%|####| 3/3 [00:00<00:00]\n",
    b"\r                \r",
    b"\r",
    b"\n",
    b"\r\n",
    b"   \n",
    b"\x1b[A",
    b"\x1b[1m bold \x1b[0m",
    b"[rank0]: ",
    b"[rank1]: ",
    b"0: ",
    b"1: ",
    b"(PPO pid=12) ",
    b"2026-11-21 00:40:41,295 INFO ",
    b"Iteration 3/20 | Episodes: 0 | Mean Reward: 0.0 | KL: 0.0047\n",
    b"step=12 loss=0.5\n",
    b"Learning iteration 3/80\n",
    b"         Mean reward: 1.5\n",
    b"reward: 3.5\n",
    b"Epoch 7\n",
    b"Traceback (most recent call last):\n",
    b'  File "a.py", line 3, in f\n',
    b"ValueError: bad\n",
    b"Killed\n",
    b"Training complete! 20-episode evaluation: 500.0 +/- 0.0\n",
    b"Using cpu device\n",
    b"learning_rate: 0.0003\n",
    b"prose of 3 words\n",
    b"x" * 70,
    b"\xe2\x96\x88",
    b"\xff\x00",
)


@settings(max_examples=400, deadline=None)
@given(
    parts=st.lists(st.sampled_from(SNIPPETS), max_size=25),
    places=st.lists(st.integers(0, 3000), max_size=8),
)
def test_any_mixture_in_any_cut(parts: list[bytes], places: list[int]) -> None:
    """Whole, cut anywhere, and byte by byte: the same points, lines, settings and end."""
    data = b"".join(parts)
    whole = feed_parser(ConsoleParser(max_line_bytes=200), [data])
    assert_same(feed_parser(ConsoleParser(max_line_bytes=200), cut_at(data, places)), whole)
    assert_same(feed_parser(ConsoleParser(max_line_bytes=200), chunks(data, 1)), whole)


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(st.sampled_from(SNIPPETS), min_size=1, max_size=4),
    times=st.integers(2, 40),
    places=st.lists(st.integers(0, 9000), max_size=8),
)
def test_repetitions_in_any_cut(parts: list[bytes], times: int, places: list[int]) -> None:
    """What repeats takes the quick ways; they agree with the careful one."""
    data = b"".join(parts) * times
    assert_same(
        feed_parser(ConsoleParser(), cut_at(data, places)),
        feed_parser(ConsoleParser(), chunks(data, 13)),
    )
