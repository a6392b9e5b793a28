"""Consoles redirected to a file: the bar is on stderr, the records come in blocks on stdout."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.console.record_reader import BLOCK_BUFFERED
from tests.support.parser_harness import (
    ParserOutput,
    assert_same,
    cut_at,
    feed_parser,
    parse_every_way,
)
from tests.support.training_console import TrainingConsole, print_training

Records = list[tuple[int, str]]


def training(total: int, every: int, rewards: int, epochs: float = 1.0) -> Records:
    """The dictionaries of a training that logs `every` so many steps; `true` is the step."""
    chance = random.Random(total)
    records = []
    for step in range(every, total + 1, every):
        values = {"loss": chance.random(), "num_tokens": 1000.0 * step, "true": step}
        values |= {f"rewards/f{number}/mean": chance.random() for number in range(rewards)}
        records.append((step, str({**values, "epoch": round(step / total * epochs, 2)})))
    return records


def steps_and_truth(read: ParserOutput) -> tuple[list[int], list[int]]:
    """The steps that were read, and the true ones."""
    return read.steps("true"), [int(value) for value in read.values("true")]


TRAININGS = st.builds(
    lambda every, count, rest: (every * count + min(rest, every - 1), every),
    st.sampled_from([1, 2, 3, 5, 7, 10, 25]),
    st.integers(5, 80),
    st.integers(0, 24),
)
BLOCKS = st.sampled_from([0, 1024, 4096, 8192, 16384, 65536])


@settings(max_examples=150, deadline=None)
@given(TRAININGS, BLOCKS, st.booleans(), st.integers(2, 30), st.integers(1, 4), st.data())
def test_each_record_has_the_step_at_which_it_was_logged(
    plan: tuple[int, int], block: int, whole: bool, rewards: int, redraws: int, data: st.DataObject
) -> None:
    """Whatever the buffer, wherever it ends: the bar was wiped when the record was logged."""
    total, every = plan
    records = training(total, every, rewards)
    log = print_training(TrainingConsole(total, block, whole), records, redraws)
    read = feed_parser(ConsoleParser(), [log])
    assert steps_and_truth(read) == ([step for step, _ in records],) * 2
    places = data.draw(st.lists(st.integers(0, len(log)), max_size=20))
    assert_same(feed_parser(ConsoleParser(), cut_at(log, places)), read)


@settings(max_examples=100, deadline=None)
@given(TRAININGS, BLOCKS, st.booleans(), st.integers(2, 30), st.sampled_from([0.5, 1.0, 3.0]))
def test_without_the_wiped_bar_steps_still_rise(
    plan: tuple[int, int], block: int, whole: bool, rewards: int, epochs: float
) -> None:
    """A copy that lost its blanks: no record is lost, and no step falls (that is a restart)."""
    total, every = plan
    records = training(total, every, rewards, epochs)
    read = feed_parser(
        ConsoleParser(),
        [print_training(TrainingConsole(total, block, whole, wipes=False), records)],
    )
    steps, truth = steps_and_truth(read)
    assert truth == [step for step, _ in records]
    assert steps == sorted(set(steps))


@pytest.mark.parametrize(("total", "every"), [(200, 5), (300, 10), (500, 25), (64, 1), (100, 2)])
@pytest.mark.parametrize("block", [8192, 65536])
def test_blocks_are_spaced_evenly_up_to_the_bar(total: int, every: int, block: int) -> None:
    """Without wiped bars the number of records, the bar and whole epochs tell the stride."""
    console = TrainingConsole(total, block, wipes=False)
    read = feed_parser(ConsoleParser(), [print_training(console, training(total, every, 8))])
    steps, truth = steps_and_truth(read)
    assert steps == truth
    assert read.notes == [BLOCK_BUFFERED]


def test_it_is_said_once_and_only_where_it_is_so() -> None:
    """An unbuffered console (`python -u`) says nothing."""
    records = training(200, 5, 8)
    buffered = feed_parser(ConsoleParser(), [print_training(TrainingConsole(200, 8192), records)])
    assert buffered.notes == [BLOCK_BUFFERED]
    live = feed_parser(ConsoleParser(), [print_training(TrainingConsole(200), records)])
    assert live.notes == []


def test_evaluations_share_the_step_of_their_training() -> None:
    """The trainer evaluates at a step that it also logs."""
    records = training(100, 10, 8)
    records += [(step, "{'eval_loss': 0.5, 'eval_runtime': 1.5}") for step in (50, 100)]
    for wipes in (True, False):
        console = TrainingConsole(100, 4096, wipes=wipes)
        read = feed_parser(ConsoleParser(), [print_training(console, records)])
        assert read.steps("eval_loss") == [50, 100]
        assert read.steps("true") == list(range(10, 101, 10))


@pytest.mark.parametrize("block", [0, 2048, 8192, 65536])
def test_an_evaluation_with_a_bar_of_its_own(block: int) -> None:
    """That bar is wiped for the evaluation's record, and the training's drawn where it was."""
    console = TrainingConsole(160, block)
    console.draw(0)
    for step, text in training(160, 10, 4):
        for done in range(step - 9, step + 1):
            console.draw(done)
        console.write(text)
        if step in (50, 100, 150):
            console.evaluate("{'eval_loss': 0.5, 'eval_runtime': 1.5}")
    read = feed_parser(ConsoleParser(), [console.close()])
    assert steps_and_truth(read) == ([*range(10, 161, 10)],) * 2
    assert read.steps("eval_loss") == [50, 100, 150]


def test_the_bar_of_an_evaluation_behind_the_training_is_not_its_length() -> None:
    """`trainer.evaluate()`, with the lines of `trainer.log_metrics`."""
    log = print_training(TrainingConsole(160, 8192), training(160, 10, 4))
    after = TrainingConsole(68)
    for done in range(69):
        after.draw(done)
    rest = b"\n***** eval metrics *****\n  epoch     =  1.0\n  eval_loss = 0.6752\n"
    read = feed_parser(ConsoleParser(), [log + after.content + rest])
    assert read.config["max_steps"] == 160
    again = print_training(TrainingConsole(80), training(80, 10, 4))
    assert feed_parser(ConsoleParser(), [log + again]).config["max_steps"] == 80


def test_a_line_without_a_step_is_at_that_of_the_bar() -> None:
    """What a reward function prints, and the lines of `trainer.log_metrics` at the end."""
    console = TrainingConsole(40)
    console.draw(0)
    for step, text in training(40, 10, 4):
        console.draw(step)
        console.write(text)
        console.print(f"Reward: {step}.5")
    rest = b"\n***** eval metrics *****\n  eval_loss = 0.6752\n"
    read = feed_parser(ConsoleParser(), [console.close() + rest])
    assert read.steps("Reward") == read.steps("true") == [10, 20, 30, 40]
    assert read.steps("eval_loss") == [40]
    assert not read.counts_updates


def test_text_beside_the_records_costs_nothing() -> None:
    """Warnings on stderr and prints on stdout stand between bars and records."""
    records = training(120, 4, 8)
    console = TrainingConsole(120, 8192)
    console.print("Loading the model ...")
    console.content += b"warnings.warn(message)\n"
    read = feed_parser(ConsoleParser(), [print_training(console, records)])
    assert read.steps("true") == [step for step, _ in records]


def test_a_resumed_training_in_the_same_file_falls_back() -> None:
    """Its bar begins at 0 and its epochs lie before those of the first."""
    first = print_training(TrainingConsole(200, 8192), training(200, 5, 8)[:20])
    second = print_training(TrainingConsole(200, 8192), training(200, 5, 8)[10:])
    read = feed_parser(ConsoleParser(), [first + second])
    assert read.steps("true") == [*range(5, 101, 5), *range(55, 201, 5)]


def test_a_bar_that_falls_back_alone_is_no_restart() -> None:
    """Several ranks draw their bars: the slower one is no training that began again."""
    records = training(60, 1, 4)
    log = print_training(TrainingConsole(60), records)
    slow = print_training(TrainingConsole(60), []).replace(b"\n", b"")
    states = [b"\r" + each for each in slow.split(b"\r")[1:]]
    lines = log.split(b"\n")
    mixed = b"\n".join(
        line + (states[max(number - 2, 0)] if 2 < number < 60 else b"")
        for number, line in enumerate(lines)
    )
    steps = feed_parser(ConsoleParser(), [mixed]).steps("true")
    assert len(steps) == 60
    assert steps == sorted(steps)


def test_a_bar_for_each_record_counts_records() -> None:
    """A loop with its own bar for each rollout says no step: records are counted."""
    bar = "\r{:4.0%}|##  | {}/50 [00:01<00:01, 9.1it/s]"
    log = "".join(
        "".join(bar.format(done / 50, done) for done in (0, 20, 50))
        + f"\n{{'reward': {number}.0, 'loss': 0.5}}\n"
        for number in range(8)
    )
    assert feed_parser(ConsoleParser(), [log.encode()]).steps("reward") == list(range(1, 9))


_SCRIPT = """
import sys
total, every = 60, 3
done = 0
def draw(step):
    global done
    done = step
    sys.stderr.write(f"\\r{step / total:4.0%}|##        | {step}/{total} [00:02<00:08, 2.0it/s]")
    sys.stderr.flush()
draw(0)
for step in range(1, total + 1):
    draw(step)
    if step % every == 0:
        sys.stderr.write("\\r" + " " * 60 + "\\r")
        print({"loss": 0.5, "reward": 0.1, "true": step, "padding": "x" * 600})
        sys.stderr.write("\\r")
        draw(step)
sys.stderr.write("\\n")
"""


@pytest.mark.parametrize("options", [[], ["-u"]])
def test_python_itself_behind_a_redirection(tmp_path: Path, options: list[str]) -> None:
    """`python train.py > log 2>&1` with Python's own buffer."""
    path = tmp_path / "log"
    with path.open("wb") as log:
        command = [sys.executable, *options, "-c", _SCRIPT]
        subprocess.run(command, stdout=log, stderr=log, env={}, check=True)
    read = feed_parser(ConsoleParser(), [path.read_bytes()])
    assert read.steps("true") == list(range(3, 61, 3))
    assert read.notes == ([] if options else [BLOCK_BUFFERED])


@pytest.mark.parametrize("every", [1, 10])
def test_a_bar_that_never_moved_is_over_at_the_summary(every: int) -> None:
    """W&B's output.log: the bar's first state, the dictionaries, the trainer's summary."""
    rows = [f"{{'loss': 0.{n}, 'epoch': {n / 6:.2f}}}" for n in range(1, 7)]
    summary = "{'train_runtime': 7.5, 'train_loss': 0.3, 'epoch': 1.0}"
    lines = [f"  0%|          | 0/{6 * every} [00:00<?, ?it/s]", *rows, summary, ""]
    found = parse_every_way(ConsoleParser, "\n".join(lines).encode())
    assert found.steps("loss") == [every * n for n in range(1, 7)]
    assert found.steps("train_runtime") == [6 * every]
