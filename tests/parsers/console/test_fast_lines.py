"""Lines with known words are read at once: the same as line by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from tests.parsers.console.test_line_templates import CONSOLES
from tests.support.parser_harness import assert_same, feed_parser

NEVER = re.compile("never seen")
"""A pattern of the user's, which makes the parser read line by line."""

NUMBERS = st.one_of(
    st.integers(-5, 100_000).map(str),
    st.floats(allow_nan=True, width=32).map(str),
    st.sampled_from(
        [
            "0",
            "0.0",
            "-0",
            "1,234",
            "1e5",
            "1e-05",
            "3.",
            "nan",
            "-inf",
            "12:30",
            "7x",
            "+4",
            "9k",
            "5,5",
            "9" * 20,
        ]
    ),
)
EVALUATION = "Eval num_timesteps={}, episode_reward={} +/- {}\nEpisode length: {} +/- 0.00"
LINES = st.sampled_from(
    (
        EVALUATION,
        f"{'-' * 12}\n| time/ | |\n|    total_timesteps | {{}} |\n|    fps | {{}} |\n{'-' * 12}",
        "Iteration {}/20 | Episodes: {} | Mean Reward: {} | KL: {}",
        "Iteration {} | Episodes: {} | Mean Reward: {} | KL: {}",
        "episode={} reward={} loss={}",
        "timestep {} reward {} length {}",
        "Update {}",
        "reward: {} kl: {}",
        "| Step | Training Loss | reward |",
        "| Epoch | Training Loss | kl | kl |",
        "| --- | --- | --- |",
        "| {} | {} | {} |",
        "|{}|{}|{}|",
        "| {} | {} | No Log |",
        "Episode {} | Step {} | Reward {}",
        "Episode: {}, Frame: {}, Reward: {}",
        "Episode: {}, Steps: {}, Reward: {}",
        "steps: {}, episodes: {}, mean episode reward: {}",
        "Epoch {} took {} s",
        "2026-11-21 00:40:41,295 - train - INFO - step: {} reward: {}",
        "2026-11-21 00:40:42,295 INFO train.py:33 step:{} reward:{}",
        "2026-11-21 00:40:43 - train - INFO - Iteration {} | Episodes: {} | Mean Reward: {}",
        "[2026-11-21T00:40:44] Iteration {} | Episodes: {} | Mean Reward: {}",
        "2026-13-21 00:40:43 - train - INFO - Iteration {} | Episodes: {} | Mean Reward: {}",
        "2026/11/21 00:40:45 Iteration {} | Episodes: {} | Mean Reward: {}",
        "2026-11-21 00:40:46 | INFO | train:main:7 - step: {} reward: {}",
        "Training complete! reward: {}",
        "step: {} | reward: {} saved",
        "{{'loss': {}, 'kl': {}}}",
        "------------",
        "Total steps: {}",
        "Total steps: {}, num_warmup_steps: {}",
        "trainer-1 | step: {} | reward: {}",
        "[Episode {}] reward = {}  loss = {}",
        "[Episode    {}] Reward:   {} | Loss:  {}",
        "[Update {}/4] reward={} kl={}",
        "Update {}/3 | reward: {} | kl: {}",
        "Ep [{}/400] reward: {} (avg {}) loss: {}",
        "Episode {} finished after {} steps. Total reward: {}, epsilon = {}",
        "Episode {} | Score: {} | Average reward of the last 100: {} | Eps: {}",
        "Episode: {} Reward = {} Time = {}s",
        "Iter [{}/60] ({}%): return {} | ent {}",
        "Epoch {}: policy loss {}, mean reward {} (best: {})",
        "Update #{} (step {}): mean_reward={}, entropy={}",
        "Step {} - actions [{}, {}] - reward -> {}",
        "[2026-11-21 00:40:44] [Episode {}] reward ({}) loss ({})",
        "Epoch:[{}/3]({}/9751) loss:{} kl:{}",
        "mean {} episode reward: {} in episode {}",
        "[Episode   {}] reward = {}  (mean of last {}: {})  buffer=20",
        "Update #{} (step {}): reward={} ({}%)",
        "Step {},000: reward={} kl={}",
        "2026-11-21 00:40:41,295 - train - INFO - step: {},000 reward: {}",
        "PID {} - Episode {}/1000",
        "Steps: {}, Reward: {}, Loss: {}",
        "Starting training iteration {}.",
        "Episode {} started",
        "{} steps completed",
        "Episodes: {}, Reward: {}, Loss: {}",
        "Epoch {} finished. Average return: {}",
        "T: {} R: {} L: {}",
        "gamma: {}",
        "  batch_size: {}",
        "  training_episode: {}",
        "model_params: {{'clip_ratio': {}}}",
        "Evaluating...",
        "EVALUATION RESULTS (100 episodes)",
        "mean score: {}",
        "[DQN Agent] : score: {}, reward: {}",
        "[Random Agent] : score: {}, reward: {}",
        "Episode {}, global step {}, rewards: {{'reward': {}, 'cost': {}}}",
    )
)


@given(
    st.lists(
        st.tuples(
            LINES, st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=1, max_size=4)
        ),
        max_size=30,
    )
)
@example(
    [
        ("| Step | Training Loss | reward |", [["0"] * 4]),
        ("Update #{} (step {}): reward={} ({}%)", [["0"] * 4] * 4),
        ("Iteration {}/20 | Episodes: {} | Mean Reward: {} | KL: {}", [["1", "0", "0", "0"]]),
        ("Training complete! reward: {}", [["0"] * 4]),
        ("| {} | {} | {} |", [["1", "0", "0", "0"]]),
    ]
)
@settings(deadline=None, max_examples=400)
def test_known_lines_read_like_unknown_ones(lines: list[tuple[str, list[list[str]]]]) -> None:
    """Points, steps, notes and ends are those of the long way, of one line or several in turn."""
    filled = [line.format(*numbers) + "\n" for line, rows in lines for numbers in rows]
    data = "".join(filled).encode()
    fast = feed_parser(ConsoleParser(), [data])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))


DICTIONARIES = (
    "{{'loss': {}, 'kl': {}}}",
    "{{'loss': '{}', 'kl': '{}', 'epoch': {}}}",
    "{{'eval_reward': {}, 'epoch': {}}}",
    '{{"loss": {}, "reward": {}}}',
    "{{'loss': {}, 'reward': None, 'kl': {}}}",
    "{{'loss': {}, 'loss': {}}}",
    "{{'loss: a': {}, 'reward': {}}}",
    "{{'step': {}, 'reward': {}}}",
    "{{'seed': {}, 'reward': {}, 'loss': {}}}",
    "{{'train_runtime': {}, 'train_loss': {}}}",
    "{{'reward': {}}}, {{'reward': {}}}",
    "{{'reward': [{}, {}]}}",
    "{{'loss': {}, 'kl': {}",
    "{{'rewärd': {}, 'kl': {}}}",
    "reward: {}",
    "",
)
"""Those that are read at once, and what may stand between them."""


@given(st.lists(st.tuples(st.sampled_from(DICTIONARIES), NUMBERS, NUMBERS, NUMBERS)))
@settings(deadline=None, max_examples=400)
def test_dictionaries_are_read_like_line_by_line(rows: list[tuple[str, ...]]) -> None:
    """Whichever follow each other, and wherever one has to be read by itself."""
    data = "".join(form.format(*numbers) + "\n" for form, *numbers in rows).encode()
    fast = feed_parser(ConsoleParser(), [data])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))


@given(
    LINES,
    st.lists(st.tuples(*[st.one_of(st.integers(0, 999).map(str), NUMBERS)] * 3), min_size=8),
    st.sampled_from(["", "evaluated: fine\n", "reward: 0.5\n", "Episode 3\n"]),
)
@settings(deadline=None, max_examples=400)
def test_a_line_again_and_again(form: str, rows: list[tuple[str, ...]], between: str) -> None:
    """With rising steps, and now and then with a number that is none, or another line."""
    lines = [form.format(step, *row) + "\n" for step, row in enumerate(rows, 1)]
    data = between.join(("".join(lines[:5]), "".join(lines[5:]))).encode()
    fast = feed_parser(ConsoleParser(), [data])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))


def test_two_numbers_that_become_one() -> None:
    """`5,5` are two numbers, which `1,234` is not, though both have digits around a comma."""
    lines = [f"Episode {at} | Step 0 | Reward 5,5\n" for at in range(1, 9)]
    data = "".join([*lines, "Episode 9 | Step 0 | Reward 1,234\n"]).encode()
    fast = feed_parser(ConsoleParser(), [data])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))
    assert fast.values_by_step()["Reward"][-1] == (9, 1234.0)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-1, 3), st.floats(width=32).map(str))),
    st.integers(1, 9),
    st.sampled_from(["", "----- Evaluation -----\n", "timesteps: 9 reward: 0.5\n", "Episode 3\n"]),
    st.integers(0, 1000),
)
@settings(deadline=None, max_examples=400)
def test_evaluations_between_tables(
    parts: list[tuple[bool, int, str]], unit: int, between: str, cut: int
) -> None:
    """As SB3 prints them, whose steps rise, stay or fall, with another line, in two pieces."""
    rule, step, filled = "-" * 12 + "\n", 0, []
    for is_table, more, number in parts:
        step = max(0, step + more * unit)
        rows = f"{rule}| total_timesteps | {step} |\n| reward | {number} |\n{rule}"
        evaluation = EVALUATION.format(step, number, number, number) + "\n"
        filled.append(rows if is_table else evaluation)
    filled.insert(len(filled) // 2, between)
    data = "".join(filled).encode()
    fast = feed_parser(ConsoleParser(), [data[:cut], data[cut:]])
    assert_same(fast, feed_parser(ConsoleParser([NEVER]), [data]))


@pytest.mark.parametrize("path", CONSOLES, ids=lambda path: path.parent.name)
def test_recorded_consoles_are_read_like_line_by_line(path: Path) -> None:
    """All that trainers and scripts have printed."""
    data = path.read_bytes()
    assert_same(feed_parser(ConsoleParser(), [data]), feed_parser(ConsoleParser([NEVER]), [data]))


@pytest.mark.parametrize(
    "line",
    [
        "Iteration {} | Reward: {}.5 | KL: 0.01\n",
        "Episode {} | Reward: {}.5 | Steps: 21\n",
        "2026-11-21 00:40:41,295 - train - INFO - Episode {} | Reward: {}.5 | KL: 0.01\n",
        "[2026-11-21 00:40:41] Episode {} | Reward: {}.5 | KL: 0.01\n",
        "[Episode {:5}] Reward = {:8}.5  (best: 20.1)  Time = 0.1s\n",
        "[Episode {:5}] reward = {:8}.5  took 0.5s\n",
        "Train step {} | reward {}.5 | len 20\n",
        "Step {},000: Reward={}.5 KL=0.01\n",
        "Ep [{}/500] | Reward {}.5 | mean of the last 100: 3.5\n",
        "[2026-11-21 00:40:41] Episode {} finished after 12 steps. Total Reward: {}.5\n",
        "{{'loss': {}, 'reward': '{}.5'}}\n",
    ],
)
def test_lines_with_the_same_words_are_read_together(line: str) -> None:
    """A long log of one kind of line takes a few steps, not one a line."""
    lines = [line.format(number, number) for number in range(1, 501)]
    batch = ConsoleParser().feed("".join(lines).encode())
    assert {each.tag.lower(): len(each) for each in batch.points}["reward"] == len(lines)
    assert len(batch.lines) == len(lines)
    assert len(batch.lines.parts) < len(lines) / 50


def test_each_line_has_the_time_of_its_own_clock() -> None:
    """Also where lines are read together."""
    lines = [f"2026-11-21 00:40:{n:02},5 - INFO - step: {n} reward: {n}.5\n" for n in range(60)]
    found = feed_parser(ConsoleParser(), ["".join(lines).encode()])
    assert found.times("reward") == [found.times("reward")[0] + n for n in range(60)]


def test_another_training_begins_among_lines_with_the_same_words() -> None:
    """Where the step falls, reading together stops: two trainings stay two."""
    line = "Iteration {}/20 | Seed: {} | Mean Reward: 0.5\n"
    lines = [line.format(number, seed) for seed in (1, 2) for number in range(1, 21)]
    batch = ConsoleParser().feed("".join(lines).encode())
    assert [len(part.points[0]) for part in (batch, *batch.rest)] == [20, 20]


def test_lines_that_name_their_training_first_stay_apart() -> None:
    """Interleaved trainings with the same words: each line goes to its own."""
    line = "seed={} | iteration={} | reward={}.5\n"
    lines = [line.format(seed, number, seed) for number in range(1, 21) for seed in (1, 2)]
    batch = ConsoleParser().feed("".join(lines).encode())
    rewards = [
        set(points.values)
        for part in (batch, *batch.rest)
        for points in part.points
        if points.tag == "reward"
    ]
    assert rewards == [{1.5}, {2.5}]
