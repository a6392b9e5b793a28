"""`check --follow`: a line for each change, while the logs are written and somebody reads them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ppo_top.files.follower import Follower
from ppo_top.output.hook_runner import HookCall, HookRunner
from ppo_top.output.hooks import Hooks
from ppo_top.output.run_events import ChangeReporter, event_line, only_moves
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.settings.hook import Hook
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.number_log import ManualClock

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "


def test_follow_prints_a_finding_when_it_opens(tmp_path: Path) -> None:
    """One line when the run starts, then one for each finding."""
    source = (DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log").read_bytes()
    log = tmp_path / "run" / "stdout.log"
    log.parent.mkdir()
    lines = source.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3]))
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", "--json", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert first["text"] == ""
        assert first["event"] == "run-started"
        with open(log, "ab") as file:
            file.write(b"".join(lines[3:]))
        rules = []
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] in ("opened", "changed"):  # depends on how much is read at a time
                rules.append((event["rule"], event["severity"]))
            if ("updates-too-large", "crit") in rules:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(10) == 1


def test_a_directory_may_be_made_after_follow_was_started(tmp_path: Path) -> None:
    """A job script starts it before the training: it says that it waits, and then finds the run."""
    command = [
        sys.executable,
        "-m",
        "ppo_top",
        "check",
        "--follow",
        "--json",
        str(tmp_path / "runs"),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        said = process.stderr.readline()
        assert said == f"ppo-top: {tmp_path}/runs: no such file or directory: waiting for it\n"
        shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_lr", tmp_path / "runs" / "one")
        assert json.loads(process.stdout.readline())["event"] == "run-started"
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(10) == 1


def test_a_finding_that_became_part_of_a_diagnosis_says_so(tmp_path: Path) -> None:
    """Otherwise its line would be the one before, word for word."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_lr", tmp_path / "run")
    read, events = changes(tmp_path)
    read()
    lines = [event_line(each) for each in events]
    (kl,) = (line for line in lines if "opened" in line and " kl-high " in line)
    # which of the two that it is part of depends on how much was read at a time
    assert re.search(r"\(part of (?:learning-rate-too-high|updates-too-large)\)$", kl)
    assert not any("part of" in line for line in lines if " updates-too-large since" in line)


def test_a_line_says_since_which_step_or_at_which(tmp_path: Path) -> None:
    """Not that a rule fired there, which came later; of a run without a step neither."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_nan", tmp_path / "rows")
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "train.log").write_text(
        "Traceback (most recent call last):\nValueError: no such environment\n"
    )
    read, events = changes(tmp_path)
    read()
    said = "\n".join(map(event_line, events))
    assert "rows: opened crit non-finite since step 16,384: reward became NaN" in said
    assert "rows: opened crit crashed at step 16,384: ValueError" in said
    assert "none: opened crit crashed: ValueError: no such environment" in said


def changes_of_a_growing_log(folder: Path) -> list[dict[str, Any]]:
    """What `--follow` notices of a sick training as it prints one table after the other."""
    lines = (DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "stdout.log").read_text().splitlines(True)
    log = folder / "run" / "stdout.log"
    log.parent.mkdir()
    read, events = changes(folder)
    for end in range(15, len(lines) + 15, 15):
        log.write_text("".join(lines[:end]))
        read()
    return events


def test_a_changed_finding_says_what_has_changed(tmp_path: Path) -> None:
    """A line of text for a change is never the one before with another word in front."""
    events = changes_of_a_growing_log(tmp_path)
    changed = [each for each in events if each["event"] == "changed"]
    assert len(changed) > 5
    said = set()
    for event in changed:
        was, line = event["was"], event_line(event)
        if was["severity"] != event["severity"]:
            said.add("severity")
            assert f": changed from {was['severity']} to {event['severity']} " in line
        elif event["explained_by"] is not None:
            said.add("part")
            assert was["explained_by"] != event["explained_by"]
            assert line.endswith(f": part of {event['explained_by']}")
        else:
            said.add("alone")
            assert line.endswith(f": no longer part of {was['explained_by']}")
    assert said >= {"severity", "part"}


def test_a_sign_that_moves_to_a_wider_diagnosis_has_no_line_of_text(tmp_path: Path) -> None:
    """One fault is explained better and better; programs are told each time, readers once."""
    parts: Counter[str] = Counter()
    moves = 0
    for event in changes_of_a_growing_log(tmp_path):
        if event["event"] == "opened":
            parts[event["rule"]] = int("part of" in event_line(event))
        elif only_moves(event):
            moves += 1
        elif event["event"] == "changed":
            known = event["was"]["explained_by"] is not None
            parts[event["rule"]] += event["explained_by"] is not None and not known
    assert moves > 5
    assert max(parts.values()) == 1


def test_a_finding_is_opened_once_and_before_what_is_part_of_it(tmp_path: Path) -> None:
    """Though a diagnosis dates itself back to the first of its members, as these are found."""
    log = tmp_path / "run" / "progress.csv"
    log.parent.mkdir()
    names = "time/total_timesteps,train/approx_kl,train/clip_fraction,train/entropy_loss"
    lines = [f"{names},train/learning_rate,rollout/ep_rew_mean"]
    for row in range(1, 60):
        large = 20.0 if row < 4 else 0.0
        entropy, reward = (-0.6, 20.0) if row < 3 else (-1e-17, 9.3)
        lines.append(f"{512 * row},{large},{large / 40},{entropy},0.1,{reward + row % 3}")
        log.write_text("\n".join(lines) + "\n")
        if row == 1:
            read, events = changes(tmp_path)
        read()
    open_now: set[str] = set()
    for event in events:
        if event["event"] == "opened":
            assert event["rule"] not in open_now
            open_now.add(event["rule"])
        elif event["event"] == "cleared":
            open_now.discard(event["rule"])
        assert event.get("explained_by") in {None, *open_now}
    assert "policy-collapsed" in open_now


def test_what_a_diagnosis_takes_in_does_not_clear(tmp_path: Path) -> None:
    """A policy that is frozen has no large updates any more: that is no recovery from them."""
    lines = (DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "stdout.log").read_text().splitlines(True)
    log = tmp_path / "run" / "stdout.log"
    log.parent.mkdir()
    read, events = changes(tmp_path)
    for end in range(15, len(lines) + 15, 15):
        log.write_text("".join(lines[:end]))
        read()
    last = {each["rule"]: each for each in events if "rule" in each}
    assert last["policy-collapsed"]["event"] != "cleared"
    for rule in ("learning-rate-too-high", "updates-too-large"):
        assert last[rule]["event"] != "cleared"
        assert last[rule]["explained_by"] == "policy-collapsed"


def test_follow_prints_how_a_finished_run_ended(tmp_path: Path) -> None:
    """It started, and it died: two lines, each with the local time."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_nan", tmp_path / "run")
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started, died = process.stdout.readline(), process.stdout.readline()
        assert re.fullmatch(TIME + "· run: started\n", started)
        assert re.match(TIME + r"✗ run: died \(ValueError: Expected parameter", died)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(10) == 1


def test_follow_reports_a_run_as_soon_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many runs the first is reported while others are still being read; none by halves."""
    monkeypatch.setattr("ppo_top.runs.pipeline.MAX_POLL_POINTS", 100)
    for name in ("first", "second", "third"):
        shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_nan", tmp_path / name)
    session, follower = Session(Settings()), Follower([tmp_path])
    events: list[tuple[str, str, bool]] = []

    def emit(event: dict[str, object]) -> None:
        events.append((str(event["run"]), str(event["event"]), session.queue.reader_has_more))

    reporter = ChangeReporter(session, emit)
    read_to_end(follower, session, lambda _polled: reporter.report_changes(time.time()))
    follower.close()
    assert events[0][2], "more was to be read"
    for name in ("first", "second", "third"):
        said = [event for run, event, _ in events if run == name]
        assert said[0] == "run-started"
        assert "run-live" not in said, "it was reported before its end was read"


def changes(folder: Path) -> tuple[Callable[[], None], list[dict[str, Any]]]:
    """Reads a directory once more, and the events of all readings."""
    events: list[dict[str, Any]] = []
    clock = ManualClock()
    session, follower = Session(Settings()), Follower([folder], clock=clock)
    reporter = ChangeReporter(session, events.append)

    def read() -> None:
        clock.now += 60.0
        follower.sweep_soon()
        read_to_end(follower, session)
        reporter.report_changes(time.time())

    return read, events


@pytest.mark.parametrize(
    ("last", "said"), [("ValueError: boom", ["ValueError: boom"]), ("KeyboardInterrupt", [])]
)
def test_a_traceback_is_told_once_it_names_its_error(
    tmp_path: Path, last: str, said: list[str]
) -> None:
    """Not while it is written: a hook would be told of a crash by `Traceback`, or of Ctrl-C."""
    log = tmp_path / "run" / "stdout.log"
    log.parent.mkdir()
    table = (DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "stdout.log").read_text()
    read, events = changes(tmp_path)
    log.write_text(table + 'Traceback (most recent call last):\n  File "train.py", line 7\n')
    read()
    assert not [each for each in events if each.get("rule") == "crashed"]
    with log.open("a") as console:
        console.write(f"    model.learn(10_000)\n{last}\n")
    read()
    crashed = [each for each in events if each.get("rule") == "crashed"]
    assert [each["message"] for each in crashed if each["event"] == "opened"] == said
    assert not any("Traceback" in line for each in crashed for line in each["evidence"])


FAILING = (DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "progress.csv").read_bytes()


@pytest.mark.parametrize("is_removed", [False, True], ids=["written over", "removed"])
def test_a_training_in_the_place_of_another_starts_hooks_again(
    tmp_path: Path, is_removed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same fault at the same step, by the same name: it is told, and stopped, once more."""
    log = tmp_path / "run" / "progress.csv"
    log.parent.mkdir()
    started: list[HookCall] = []
    monkeypatch.setattr(HookRunner, "start", lambda _, call: started.append(call))
    hooks = Hooks([Hook("crit", ("true",))], print, existing=True)
    read, events = changes(tmp_path)

    def stopped() -> set[str]:
        """The rules of which a hook is told."""
        started.clear()
        read()
        for event in events:
            hooks.take(event)
        events.clear()
        return {call.variables["PPO_TOP_RULE"] for call in started}

    log.write_bytes(FAILING)
    first = stopped()
    assert first
    if is_removed:
        log.unlink()
        read()
        assert events[-1]["event"] == "run-gone"
    else:
        log.write_bytes(b"".join(FAILING.splitlines(keepends=True)[:2]))
        read()
        assert {each["event"] for each in events if "rule" in each} == {"cleared"}
    log.write_bytes(FAILING)
    assert stopped() == first


def test_follow_ends_when_its_reader_is_gone(tmp_path: Path) -> None:
    """An ssh session that dies leaves no process on the node, though the log says nothing new."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", tmp_path / "run")
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith("run: started\n")
        assert "finished" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0


def test_a_reader_that_goes_while_a_line_is_printed_is_no_error(tmp_path: Path) -> None:
    """The line that could not be written is not tried again when Python ends."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", tmp_path / "run")
    code = (
        "import sys; from ppo_top.cli import main; from ppo_top.output import follow\n"
        "follow.reader_is_gone = lambda _: False\n"  # as if it went just after that was asked
        "sys.exit(main(['check', '--follow', *sys.argv[1:]]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    buffered = {name: word for name, word in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_beats_tell_silence_from_death(tmp_path: Path) -> None:
    """Of a run with nothing to say, a line comes again and again, with the time."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", tmp_path / "run")
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", "--json", "--beat", "0.1"]
    begin = time.time()
    with subprocess.Popen([*command, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        events: list[dict[str, Any]] = []
        while sum(each["event"] == "beat" for each in events) < 4:
            events.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(10) == 0
    times = [each["time"] for each in events if each["event"] == "beat"]
    assert "run-finished" in [each["event"] for each in events]
    assert begin <= times[0]
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(times))


def test_it_may_end_once_all_runs_are_over(tmp_path: Path) -> None:
    """A job script waits for the answer: that of `check`, and the commands of hooks have run."""
    lines = (DEMO_LOGS_FOLDER / "torch_cartpole" / "stdout.log").read_bytes().splitlines(True)
    log, told = tmp_path / "run" / "stdout.log", tmp_path / "told"
    log.parent.mkdir()
    log.write_bytes(b"".join(lines[:3]))
    shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", tmp_path / "over")
    hook = ["--on", "finished", f"sh -c 'sleep 0.2; touch {told}'"]
    with followed_until_over(tmp_path, *hook) as process:
        assert process.stdout is not None
        seen = [process.stdout.readline() for _ in range(3)]
        assert sum("started" in line for line in seen) == 2, "one of them goes on"
        assert process.poll() is None
        with open(log, "ab") as file:
            file.write(b"".join(lines[3:]))
        assert "run: finished" in process.stdout.read()
        assert process.wait(30) == 0
    assert told.exists()


def test_or_once_one_is_as_bad_as_asked(tmp_path: Path) -> None:
    """The training that it watches may go on, and be stopped by who asked."""
    lines = (DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log").read_bytes().splitlines(True)
    log = tmp_path / "run" / "stdout.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(lines[:3]))
    with followed_until_over(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith("run: started\n")
        with open(log, "ab") as file:
            file.write(b"".join(lines[3:-1]))
        assert "opened crit" in process.stdout.read()
        assert process.wait(30) == 1


def followed_until_over(folder: Path, *options: str) -> subprocess.Popen[str]:
    """`check --follow --until-over`, started on the runs below a folder."""
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", "--until-over", *options]
    return subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True)
