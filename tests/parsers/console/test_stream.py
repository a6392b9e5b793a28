"""The stream itself: ranks, colours, overwritten lines, floods, and how a run ends."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from ppo_top.model import RunEnd, State
from ppo_top.model.console_lines import MAX_LINE_CHARS
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import chunks, feed_parser, parse_every_way

LINE = b"Iteration 3/20 | Mean Reward: 20.8 | KL: 0.0047"
TABLE = b"""\
----------------------------
| time/              |      |
|    fps             | %d  |
|    total_timesteps | 2048 |
----------------------------
"""


@pytest.mark.parametrize(
    "prefix",
    [
        b"[default0]:",
        b"[rank0]: ",
        b"[rank0]:",
        b"(PPO pid=4711) ",
        b"(TaskRunner pid=123, ip=10.0.0.1) ",
        b"\x1b[36m(TaskRunner pid=123)\x1b[0m ",
        b"(PPO(env=CartPole-v1; env-runners=1; learners=0; multi-agent=False) pid=8929) ",
        b"0: ",
        b"INFO:root:",
        b"[INFO] ",
        b"2026-11-21 00:40:41,295 - trainer - INFO - ",
        b"2026-11-21 00:40:41.295 | INFO     | __main__:train:33 - ",
        b"[2026-11-21 00:40:41,295][09137] ",
        b"12:30:01 ",
        b"11/20/2026 12:30:01 - INFO - __main__ - ",
        b"20/11/2026 12:30:01 [INFO] ",
        b"2026-11-21 00:40:41: [INFO]: ",
        b"\x1b[32m",
    ],
)
def test_what_launchers_and_loggers_put_before_a_line(prefix: bytes) -> None:
    """Ranks, process numbers, clocks, levels and colours are taken off."""
    read = parse_every_way(ConsoleParser, prefix + LINE + b"\n")
    assert read.values("Mean Reward") == [20.8]
    assert read.steps("KL") == [3]


def test_colours_are_taken_off_the_shown_lines() -> None:
    """No escape sequence reaches the log pane, wherever a piece ends."""
    data = b"\x1b[1m\x1b[38;20mINFO\x1b[0m hello \x1b]0;title\x07world\x07\n"
    assert parse_every_way(ConsoleParser, data).texts() == ["INFO hello world"]


def test_ranks_keep_their_own_tables() -> None:
    """Tables of two ranks that are printed row by row into one another stay apart."""
    rows = [
        (b"[rank0]: " + zero + b"\n" + b"[rank1]: " + one + b"\n")
        for zero, one in zip((TABLE % 100).split(b"\n"), (TABLE % 200).split(b"\n"), strict=True)
    ]
    read = parse_every_way(ConsoleParser, b"".join(rows))
    assert read.values("time/fps") == [100.0]
    assert read.values("time/fps [rank1]") == [200.0]


def test_srun_labels_are_ranks_once_one_comes_twice() -> None:
    """`0: ` alone could be a list; the same number again is a label."""
    data = b"".join(b"%d: step %d | loss 0.%d\n" % (r, s, r) for s in (1, 2, 3) for r in (0, 1))
    read = parse_every_way(ConsoleParser, data)
    assert read.steps("loss")[-2:] == [2, 3]
    assert read.values("loss [rank1]")[-1] == 0.1


@pytest.mark.parametrize(
    "form", ["{}: done {} games, reward {}.5, eps 0.98", "{}: reward: {}.5, n: {}"]
)
def test_numbers_with_a_colon_that_rise_by_more_than_one_are_steps(form: str) -> None:
    """`210: done 1 games, reward 3.1, eps 0.98` of ptan; ranks come one after another."""
    lines = [form.format(210 * n, n, n) for n in range(1, 9)]
    read = parse_every_way(ConsoleParser, "\n".join([*lines, ""]).encode())
    assert read.steps("reward") == [210 * n for n in range(1, 9)]


def test_a_lone_rank_needs_no_mark() -> None:
    """Some launchers print from the last rank only: its tags are the run's."""
    read = parse_every_way(ConsoleParser, b"[default7]:" + LINE + b"\n")
    assert read.values("KL") == [0.0047]


def test_lines_are_those_that_stay_on_the_screen() -> None:
    """States that were drawn over are gone; the last one of a line stays."""
    data = b"start\r\nloading 1%\rloading 50%\rloading 100%\nblank below\n\n\r      \r\nend\n"
    read = parse_every_way(ConsoleParser, data)
    assert read.texts() == ["start", "loading 100%", "blank below", "", "end"]


def test_values_of_overwritten_lines_count() -> None:
    """A loop may print its records over one another."""
    data = b"\rstep: 1 | loss: 0.5\rstep: 2 | loss: 0.4\rstep: 3 | loss: 0.3\n"
    assert parse_every_way(ConsoleParser, data).values_by_step()["loss"] == [
        (1, 0.5),
        (2, 0.4),
        (3, 0.3),
    ]


def test_carriage_return_line_ends() -> None:
    """Windows and terminals end lines with two characters, at any cut."""
    data = (TABLE % 100).replace(b"\n", b"\r\n") + LINE + b"\r\n"
    read = parse_every_way(ConsoleParser, data)
    assert read.values("time/fps") == [100.0]
    assert read.texts() == data.decode().split("\r\n")[:-1]


def test_other_line_ends_are_none() -> None:
    """Form feeds and Unicode's line separators do not end a line."""
    data = "step 1 | loss 0.5\x0c\x0b\x85\u2028 words\n".encode()
    assert len(parse_every_way(ConsoleParser, data).lines) == 1


def test_shown_lines_are_bounded() -> None:
    """A line is cut to what a screen could ever need."""
    read = parse_every_way(ConsoleParser, b"x" * 10_000 + b"\n")
    assert read.texts() == ["x" * MAX_LINE_CHARS]


def test_a_line_without_an_end_is_searched_once() -> None:
    """Ten megabytes in small pieces take linear time; what follows is read."""
    parser = ConsoleParser()
    began = time.process_time()
    for piece in chunks(b"x" * 10_000_000, 4096):
        parser.feed(piece)
    batch = parser.feed(b"\n" + LINE + b"\n")
    assert time.process_time() - began < 5
    assert [points.tag for points in batch.points] == ["Iteration", "Mean Reward", "KL"]


def test_a_line_that_is_too_long_is_skipped_and_reported() -> None:
    """Beyond the limit nothing is kept; the problem says where the line began."""
    data = b"step 1 | loss 0.5\n" + b"y" * 5000 + b"\nstep 2 | loss 0.4\n"
    read = parse_every_way(lambda: ConsoleParser(max_line_bytes=1000), data)
    assert read.steps("loss") == [1, 2]
    assert [problem.offset for problem in read.problems] == [18]
    assert "1,000 bytes" in read.problems[0].message


def test_memory_is_bounded() -> None:
    """A stream that never ends its line is not kept."""
    parser = ConsoleParser(max_line_bytes=1 << 20)
    tracemalloc.start()
    try:
        for _ in range(2000):
            parser.feed(b"z" * 10_000)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


TRACEBACK = b"""\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    loss = 0.5
    ^^^^^^^^^^
ValueError: Expected parameter logits to satisfy the constraint
"""


def test_a_complete_traceback_is_a_death() -> None:
    """The error's own line ends it and is reported."""
    read = parse_every_way(
        ConsoleParser, LINE + b"\n" + TRACEBACK + b"tensor([[nan, nan],\n        [nan]])\n"
    )
    assert read.ended is not None
    assert read.ended.state is State.DIED
    assert read.ended.text.startswith("ValueError: Expected")
    assert "loss" not in read.points


def test_a_run_that_is_stopped_by_hand_has_not_died() -> None:
    """Ctrl-C prints a traceback, too."""
    stopped = TRACEBACK[: TRACEBACK.index(b"ValueError")] + b"KeyboardInterrupt\n"
    read = parse_every_way(ConsoleParser, LINE + b"\n" + stopped)
    assert read.ended == RunEnd(State.ENDED, "stopped by hand (KeyboardInterrupt)")
    assert parse_every_way(ConsoleParser, LINE + b"\n^C" + stopped).ended == read.ended


def test_a_launcher_that_is_sent_a_signal_is_stopped() -> None:
    """As torchrun's is where its terminal is closed: the training did not fail."""
    error = b"torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: "
    stop = LINE + b"\n" + TRACEBACK[: TRACEBACK.rindex(b"ValueError")] + error
    closed = parse_every_way(ConsoleParser, stop + b"1\n").ended
    assert closed == RunEnd(State.ENDED, "stopped by a signal (SIGHUP: its terminal closed)")
    aborted = parse_every_way(ConsoleParser, stop + b"6\n").ended
    assert aborted is not None and aborted.state is State.DIED


def test_a_log_call_that_failed_stops_nothing() -> None:
    """As `handleError` of Python's logging prints it, also with a cause; what follows may."""
    chained = b"\nDuring handling of the above exception, another exception occurred:\n\n"
    failed = b"--- Logging error ---\n" + TRACEBACK + chained + TRACEBACK
    failed += b"Call stack:\n  File \"a.py\", line 3\nMessage: 'step %d'\nArguments: ('a',)\n"
    assert parse_every_way(ConsoleParser, LINE + b"\n" + failed).ended is None
    ended = parse_every_way(ConsoleParser, LINE + b"\n" + failed + TRACEBACK).ended
    assert ended is not None and ended.state is State.DIED


def test_a_thread_that_failed_stops_nothing() -> None:
    """As that of an old tqdm, which went on without it; the traceback of the run still counts."""
    failed = b"Exception in thread Thread-6:\n" + TRACEBACK
    assert parse_every_way(ConsoleParser, LINE + b"\n" + failed).ended is None
    ended = parse_every_way(ConsoleParser, LINE + b"\n" + failed + TRACEBACK).ended
    assert ended is not None and ended.state is State.DIED


def test_half_a_traceback_is_none_yet() -> None:
    """As long as the error's line has not come, nothing is said."""
    half = TRACEBACK[: TRACEBACK.index(b"ValueError")]
    assert feed_parser(ConsoleParser(), [half], finish=False).ended is None


def test_chained_tracebacks_tell_the_last_error() -> None:
    """What was raised last ended the run."""
    chain = b"\nDuring handling of the above exception, another exception occurred:\n\n"
    read = parse_every_way(
        ConsoleParser, TRACEBACK + chain + TRACEBACK.replace(b"ValueError", b"OSError")
    )
    assert read.ended is not None
    assert read.ended.text.startswith("OSError")


def test_a_traceback_that_was_survived_is_no_death() -> None:
    """Training lines after it withdraw the report."""
    assert parse_every_way(ConsoleParser, TRACEBACK + LINE + b"\n").ended is None


@pytest.mark.parametrize(
    "printed",
    [
        b"\r 10%|#         | 5/50 [00:05<00:45, 1.0s/it]\n{'loss': 0.5, 'reward': 2.0}\n",
        b"score=-0.986 | trades=19.0\n",
        b"Episode 3 | Reward: 7.5\n",
    ],
    ids=["a dictionary without a step", "a record that is counted", "a single episode"],
)
def test_what_was_printed_before_a_death_is_no_sign_of_life(printed: bytes) -> None:
    """Records wait for others that tell their steps, or for a bar: here none comes."""
    read = parse_every_way(ConsoleParser, printed + TRACEBACK)
    assert read.ended is not None
    assert read.ended.state is State.DIED
    assert read.points


@pytest.mark.parametrize(
    "stop", [TRACEBACK, b"Killed\n", TRACEBACK.replace(b"ValueError: ", b"KeyboardInterrupt: ")]
)
def test_a_run_that_goes_on_has_not_ended(stop: bytes) -> None:
    """Whatever stopped it."""
    assert parse_every_way(ConsoleParser, LINE + b"\n" + stop + LINE + b"\n").ended is None


@pytest.mark.parametrize(
    "line",
    [
        b"Killed",
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        b"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.",
        b"srun: error: node1: task 0: Out Of Memory",
        b"Segmentation fault (core dumped)",
        b"/tmp/job.sh: line 3:  4242 Killed                  python train.py",
        b"Fatal Python error: Segmentation fault",
        b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        b"[rank1]: RuntimeError: CUDA error: an illegal memory access was encountered",
    ],
)
def test_last_words(line: bytes) -> None:
    """Killed, out of memory, and what schedulers say of it."""
    read = parse_every_way(ConsoleParser, LINE + b"\n" + line + b"\n")
    assert read.ended is not None
    assert read.ended.state is State.DIED


CANCELLED = (
    b"slurmstepd: error: *** STEP 4711.0 ON gpu-7 CANCELLED AT 2026-11-02T03:04:05 "
    b"DUE TO TIME LIMIT ***"
)
CONSEQUENCES = b"""\
slurmstepd: error: *** JOB 4711 ON gpu-7 CANCELLED AT 2026-11-02T03:04:05 DUE TO TIME LIMIT ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: gpu-7: task 0: Killed
"""


def test_a_cancelled_job_has_not_failed() -> None:
    """Slurm's time limit ends a job; what its processes say then is no failure of their own."""
    read = parse_every_way(ConsoleParser, LINE + b"\n" + CANCELLED + b"\n" + CONSEQUENCES)
    assert read.ended is not None
    assert read.ended.state is State.ENDED
    assert "DUE TO TIME LIMIT" in read.ended.text


@pytest.mark.parametrize(
    "lines",
    [
        CANCELLED.replace(b"TIME LIMIT", b"NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"),
        CANCELLED + b"\n" + LINE + b"\nsrun: error: gpu-8: task 0: Segmentation fault",
    ],
    ids=["its node failed", "it failed after it was requeued"],
)
def test_a_job_that_fails_has_died_though_slurm_cancelled_it(lines: bytes) -> None:
    """A node that fails takes its job along; a requeued job writes into the same console."""
    read = parse_every_way(ConsoleParser, LINE + b"\n" + lines + b"\n")
    assert read.ended is not None
    assert read.ended.state is State.DIED


@pytest.mark.parametrize(
    "line",
    [
        b"Training complete! 20-episode evaluation: 500.0 +/- 0.0",
        b"Training completed.",
        b"MAX EPOCHS NUM!",
    ],
)
def test_farewells(line: bytes) -> None:
    """Some loops say that they are done."""
    read = parse_every_way(ConsoleParser, LINE + b"\n" + line + b"\n")
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


HOSTILE = (
    b" ",
    b"\xe2\x80\x83",
    b"\t",
    b"a ",
    b"a: ",
    b"1,111,",
    b"1,",
    b"[",
    b"[1/2",
    b"(",
    b"np.float64(",
    b"tensor([",
    b"\x1b]",
    b"\x1b[",
    b"|",
    b"- ",
    b"'",
    b"a=1 ",
    b"a=1,",
    b"reward ",
    b"reward 1 ",
    b"1:",
    b"%|",
    b"{'a': ",
    b"{'a': 1, ",
    b"\\",
    b"Error.",
    b"(a pid=1) ",
    b"[rank0]: ",
    b"INFO:",
    b"2026-11-21 00:40:41 ",
)


@pytest.mark.parametrize("prefix", [b"", b"step 1 | ", b"{'a': '", b"Namespace(", b"x {'a': "])
@pytest.mark.parametrize("unit", HOSTILE)
def test_no_line_costs_a_square_of_its_length(unit: bytes, prefix: bytes) -> None:
    """What repeats in a line never makes a search start over and over again."""
    parser = ConsoleParser()
    began = time.process_time()
    for size in (2_000, 8_000, 200_000):
        parser.feed(prefix + unit * (size // len(unit)) + b"x\n")
    assert time.process_time() - began < 1.5


def test_an_array_over_several_lines_is_not_searched_in_every_way() -> None:
    """numpy breaks what it prints at 75 characters, so no bracket closes the list of the first."""
    began = time.process_time()
    data = b"".join(
        b"episode: %d000 | action taken: [51.13 39.57 36.88 48.4  54.53 58.8  48.48 50.43 36.45 24"
        b" 32.44 38.29\n 42.97 51.13]\nepisode: %d000 | loss: 0.%d5\n" % (number, number, number)
        for number in range(1, 9)
    )
    read = feed_parser(ConsoleParser(), [data])
    assert time.process_time() - began < 1
    assert read.values("loss") == [float(f"0.{number}5") for number in range(1, 9)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_text_as_powershell_writes_it(encoding: str) -> None:
    """`python train.py > log.txt` makes UTF-16 there, with a mark before and carriage returns."""
    mark = "\ufeff" if encoding.endswith(("-le", "-be")) else ""
    lines = "Iteration 1/20 | Mean Reward: 20.5 │ KL: 0.25\r\n{'loss': 0.5}\r\n\r\nbye\r\n"
    data = (mark + lines).encode(encoding)
    got = parse_every_way(ConsoleParser, data)
    assert got.values_by_step()["Mean Reward"] == [(1, 20.5)]
    assert got.values_by_step()["KL"] == [(1, 0.25)]
    assert got.values_by_step()["loss"] == [(1, 0.5)]
    assert got.texts() == lines.split("\r\n")[:-1]
    found = detect_format("log.txt", data[:21])
    assert isinstance(found, Format)
    assert found.name == "console"


def test_a_mark_alone_is_no_text() -> None:
    """Half a character is waited for; bytes that look like half a mark are kept."""
    assert parse_every_way(ConsoleParser, b"\xff\xfe").texts() == []
    assert parse_every_way(ConsoleParser, b"\xff\xfea").texts() == []
    assert parse_every_way(ConsoleParser, b"\xffa\nloss: 0.5\n").values("loss") == [0.5]


def test_a_row_of_numbers_that_is_none_is_searched_once() -> None:
    """Numbers after a line number are looked at for a table: the search never goes back."""
    parser = ConsoleParser()
    for cells in (b"1" * 4000, b"1 " * 2000, b"1,1.1e-1|" * 400):
        assert not parser.feed(b"1 " + cells + b"x\n").points
