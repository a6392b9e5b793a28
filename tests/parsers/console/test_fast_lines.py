"""Lines with known words are read at once: the same as line by line."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import assert_same, feed_parser

NEVER = re.compile("never seen")
"""A pattern of the user's, which makes the parser read line by line."""

NUMBERS = st.one_of(
    st.integers(-5, 100_000).map(str),
    st.floats(allow_nan=True, width=32).map(str),
    st.sampled_from(
        ["0", "0.0", "-0", "1,234", "1e5", "1e-05", "3.", "nan", "-inf", "12:30", "7x"]
    ),
)
LINES = st.sampled_from(
    (
        "Iteration {}/20 | Episodes: {} | Mean Reward: {} | KL: {}",
        "Iteration {} | Episodes: {} | Mean Reward: {} | KL: {}",
        "episode={} reward={} loss={}",
        "timestep {} reward {} length {}",
        "Update {}",
        "reward: {} kl: {}",
        "Epoch {} took {} s",
        "2026-11-21 00:40:41,295 - train - INFO - step: {} reward: {}",
        "2026-11-21 00:40:42,295 INFO train.py:33 step:{} reward:{}",
        "Training complete! reward: {}",
        "step: {} | reward: {} saved",
        "{{'loss': {}, 'kl': {}}}",
        "------------",
        "Total steps: {}, num_warmup_steps: {}",
        "trainer-1 | step: {} | reward: {}",
    )
)


@given(st.lists(st.tuples(LINES, st.lists(NUMBERS, min_size=4, max_size=4)), max_size=60))
@settings(deadline=None, max_examples=400)
def test_known_lines_read_like_unknown_ones(lines: list[tuple[str, list[str]]]) -> None:
    """Points, steps, notes and ends are those of the long way."""
    data = "".join(line.format(*numbers) + "\n" for line, numbers in lines).encode()
    fast = feed_parser(ConsoleParser(), [data])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))
