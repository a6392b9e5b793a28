"""`--on EVENT COMMAND` and `[[on]]`: which events start a command, and what it is given."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.output import hooks as hooks_module
from ppo_top.output.hook_runner import HookCall
from ppo_top.output.hooks import MAX_VARIABLE_CHARS, Hooks
from ppo_top.settings import HOOK_EVENTS, Hook
from tests.support.documents import code_block
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tools.docs import ROOT

SICK = (DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log").read_bytes().splitlines(True)
DOCUMENT = (ROOT / "docs" / "hooks.md").read_text("utf-8")

JsonEvent = dict[str, Any]


def finding(word: str, severity: str = "crit", rule: str = "kl-high", **more: object) -> JsonEvent:
    """An event about a finding."""
    fields = {"run": "ppo_7", "path": "runs/ppo_7", "rule": rule, "severity": severity}
    rest = {"since_step": 4096, "message": "KL is 0.2", "explained_by": None}
    return {"event": word, **fields, **rest, **more}


def state(word: str) -> JsonEvent:
    """An event about the state of a run."""
    return {"event": f"run-{word}", "run": "ppo_7", "path": "runs/ppo_7", "state": word, "text": ""}


class RecordingRunner:
    """Stands for what runs the commands: only notes them."""

    calls: list[HookCall]

    def __init__(self, tell: object) -> None:
        RecordingRunner.calls = []

    def start(self, call: HookCall) -> None:
        self.calls.append(call)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command runs."""
    monkeypatch.setattr(hooks_module, "HookRunner", RecordingRunner)


def started_by(*events: JsonEvent, on: str = "any", existing: int = 0) -> list[int]:
    """The numbers of the events that start a hook; so many were there at first."""
    hooks, found = Hooks([Hook(on, ("true",))], print), []
    for number, event in enumerate(events):
        if number == existing:
            hooks.begin()
        before = len(RecordingRunner.calls)
        hooks.take(event)
        found += [number] * (len(RecordingRunner.calls) - before)
    return found


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("on", "started"),
    [("watch", [1, 2, 3]), ("warn", [2, 3]), ("crit", [3]), ("any", [0, 1, 2, 3])],
)
def test_a_severity_means_at_least_that(on: str, started: list[int]) -> None:
    """Findings of four rules, from information to critical."""
    events = [
        finding("opened", severity, rule)
        for rule, severity in zip("abcd", ("info", "watch", "warn", "crit"), strict=True)
    ]
    assert started_by(*events, on=on) == started


@pytest.mark.usefixtures("recorded")
def test_a_finding_counts_once_a_severity() -> None:
    """When it gets worse; not when it eases, nor when it is found again by a new evaluation."""
    events = [finding("opened", "watch"), finding("changed", "crit"), finding("changed", "warn")]
    events += [finding("opened", "crit"), finding("cleared", "crit"), finding("opened", "watch")]
    assert started_by(*events) == [0, 1, 4, 5]


@pytest.mark.usefixtures("recorded")
def test_what_was_there_at_first_starts_nothing() -> None:
    """But what it becomes does, and that it clears."""
    events = [finding("opened", "warn"), state("died"), finding("changed", "crit")]
    events += [finding("cleared", "crit"), state("finished")]
    assert started_by(*events, existing=2) == [2, 3, 4]


@pytest.mark.usefixtures("recorded")
def test_what_a_diagnosis_explains_starts_nothing() -> None:
    """Neither when it opens nor when it clears; it does once it surpasses the diagnosis."""
    explained = finding("opened", "warn", explained_by="updates-too-large")
    assert started_by(explained, finding("cleared", "warn")) == []
    assert started_by(explained, finding("changed", "crit")) == [1]


@pytest.mark.usefixtures("recorded")
def test_what_outlasts_its_diagnosis_starts_its_own_hook() -> None:
    """The diagnosis clears, and what it explained is as severe as before."""
    explained = finding("opened", "warn", explained_by="updates-too-large")
    assert started_by(explained, finding("changed", "warn")) == [1]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("word", ["stalled", "died", "finished"])
def test_a_state_starts_its_own_hook(word: str) -> None:
    """Others and beats do not."""
    events = [state(each) for each in ("started", "live", "stalled", "died", "finished", "ended")]
    events.append({"event": "beat", "time": 1.0})
    (number,) = started_by(*events, on=word)
    assert events[number]["state"] == word
    assert started_by(*events, on="crit") == []


@pytest.mark.usefixtures("recorded")
def test_a_command_gets_the_event_and_no_text_in_its_arguments() -> None:
    """Variables hold no control characters and are bounded; JSON holds what it was."""
    evil = "\x1b[31m\0$(reboot)\n" + "x" * 5_000
    event = finding("opened", run=evil, message=evil, since_step=None)
    started_by(event, on="crit")
    (call,) = RecordingRunner.calls
    assert call.command == ("true",)
    assert json.loads(call.stdin) == event
    assert call.stdin.count(b"\n") == 1
    assert call.variables.keys() == {
        f"PPO_TOP_{name}"
        for name in ("EVENT", "RUN", "PATH", "RULE", "SEVERITY", "STEP", "MESSAGE")
    }
    assert call.variables["PPO_TOP_STEP"] == ""
    assert call.variables["PPO_TOP_RULE"] == "kl-high"
    for value in call.variables.values():
        assert value.isprintable()
        assert len(value) <= MAX_VARIABLE_CHARS


# --- through the door --------------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A directory with a run that has begun well, and stand-ins for programs in `bin`."""
    log = tmp_path / "runs" / "lr" / "stdout.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(SICK[:3]))
    (tmp_path / "bin").mkdir()
    program(tmp_path, "ppo-top", f'exec {sys.executable} -m ppo_top "$@"')
    os.mkfifo(tmp_path / "called")
    return tmp_path


def program(bench: Path, name: str, text: str) -> None:
    """Put a shell script into `bin`."""
    path = bench / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def fall_sick(bench: Path) -> None:
    """Write the rest of the log."""
    with open(bench / "runs" / "lr" / "stdout.log", "ab") as file:
        file.write(b"".join(SICK[3:]))


def block(name: str) -> str:
    """A code block of docs/hooks.md."""
    return code_block("hooks.md", name)


class Shell:
    """A script that runs in a directory with its own `bin` first; ended with all its children."""

    def __init__(self, bench: Path, script: str, **variables: str) -> None:
        path = f"{bench / 'bin'}:{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
        self.process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=bench,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> subprocess.Popen[str]:
        return self.process

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def read_line(stream: Any) -> str:
    """The next line of a stream, without its line break."""
    return str(stream.readline()).rstrip("\n")


def test_the_example_stops_a_slurm_job(bench: Path) -> None:
    """The job's script as documented; `scancel` ends the training as Slurm would."""
    program(bench, "scancel", 'echo "$@" > called')
    program(bench, "python", "echo training; read signal < called; echo stopped by $signal")
    with Shell(bench, block("slurm"), SLURM_JOB_ID="4711") as job:
        assert job.stdout is not None
        started = [read_line(job.stdout), read_line(job.stdout)]
        assert any("run: started" in line or "lr: started" in line for line in started), started
        fall_sick(bench)
        lines = iter(lambda: read_line(job.stdout), "")
        assert "stopped by --signal=TERM --batch 4711" in lines


def test_the_example_sends_a_message(bench: Path) -> None:
    """By the script and the settings as documented: a title, and a text on standard input."""
    program(bench, "rl-message", block("message").removeprefix("#!/bin/sh\n"))
    program(bench, "apprise", '{ echo "$@"; cat; } > called')
    settings = bench / "home" / ".config" / "ppo-top" / "ppo-top.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(block("settings"))
    (bench / "home" / "bin").symlink_to(bench / "bin")
    home = {"HOME": str(bench / "home"), "XDG_CONFIG_HOME": "", "APPRISE_URL": "slack://x"}
    with Shell(bench, "exec ppo-top check runs/ --follow", **home) as watching:
        assert "started" in read_line(watching.stdout)
        fall_sick(bench)
        with open(bench / "called") as called:
            assert read_line(called) == "--title ppo-top slack://x"
            assert re.fullmatch(r"lr: (warn|crit) [\w-]+, step \d+", read_line(called))
            assert read_line(called)


def test_the_example_writes_a_stop_file(bench: Path) -> None:
    """Into the run's own directory."""
    program(bench, "touch", 'command -p touch "$@"; echo "$@" > called')
    with Shell(bench, f"exec {block('stop-file')}") as watching:
        assert "started" in read_line(watching.stdout)
        fall_sick(bench)
        assert (bench / "called").read_text() == "runs/lr/STOP\n"
        assert (bench / "runs" / "lr" / "STOP").exists()


def test_a_hook_that_fails_is_a_line_and_changes_nothing_else(bench: Path) -> None:
    """The watching goes on, and its exit code is that of `check`."""
    program(bench, "fails", "echo why >&2; exit 3")
    script = "exec ppo-top check runs/ --follow --on crit fails"
    with Shell(bench, script) as watching:
        assert "started" in read_line(watching.stdout)
        fall_sick(bench)
        assert re.fullmatch(
            r"ppo-top: hook fails \(lr, crit [\w-]+\): exit code 3: why", read_line(watching.stderr)
        )
        watching.send_signal(signal.SIGINT)
        watching.communicate()
        assert watching.returncode == 1


def test_what_is_there_at_first_starts_a_hook_on_demand(bench: Path) -> None:
    """With `--on-existing`."""
    fall_sick(bench)
    program(bench, "note", "echo $PPO_TOP_SEVERITY $PPO_TOP_EVENT > called")
    with Shell(bench, "exec ppo-top check runs/ --follow --on crit note --on-existing"):
        assert (bench / "called").read_text() == "crit opened\n"


def test_serve_starts_hooks_as_well(bench: Path) -> None:
    """For what happens after everything has been read."""
    program(bench, "note", "echo $PPO_TOP_SEVERITY $PPO_TOP_EVENT > called")
    with Shell(bench, "exec ppo-top serve runs/ --listen unix:socket --on crit note") as serving:
        lines = iter(lambda: read_line(serving.stderr), "")
        assert any("1 run, 0 in trouble" in line for line in lines)
        fall_sick(bench)
        assert (bench / "called").read_text() == "crit opened\n"


def test_a_log_directory_can_start_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings are told to be ignored; nothing reaches what runs commands."""
    (tmp_path / "stdout.log").write_bytes(b"".join(SICK))
    (tmp_path / "ppo-top.toml").write_text('[[on]]\nevent = "any"\ncommand = ["touch", "x"]\n')
    hooks: list[tuple[Hook, ...]] = []

    def record(paths: object, settings: Any, **_: object) -> int:
        hooks.append(settings.hooks)
        return 0

    monkeypatch.setattr("ppo_top.output.follow.follow", record)
    main(["check", "--follow", str(tmp_path)])
    assert hooks == [()]
    assert "ppo-top.toml: on: allowed only in your own settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("event", "command", "why"),
    [
        ("red", "true", f"the events are {', '.join(HOOK_EVENTS)}"),
        ("crit", "no-such-program --now", "no such program"),
        ("crit", "", "no such program"),
        ("crit", "echo 'half", "no closing quotation"),
    ],
)
def test_a_hook_that_cannot_run_is_a_usage_error(
    event: str, command: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is watched: not at three in the morning."""
    assert main(["check", str(DEMO_LOGS_FOLDER), "--follow", "--on", event, command]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "unread"),
    [
        ("echo hit >> hits.txt", ">>"),
        ("echo hit 2>&1", "2>&1"),
        ("echo hit; date", "hit;"),
        ("echo '$PPO_TOP_RUN'", "$PPO_TOP_RUN"),
        ("sh -c 'echo hit >> hits.txt'", ""),
        ("sh -c 'echo $0' '$1'", ""),
        ("echo a>b 5$ x|y", ""),
    ],
)
def test_words_that_only_a_shell_would_read_are_told(
    command: str, unread: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that starts, and does something else than it says, is noticed at once."""
    monkeypatch.setattr("ppo_top.output.follow.follow", lambda *_args, **_named: 0)
    main(["check", str(DEMO_LOGS_FOLDER), "--follow", "--on", "crit", command])
    said = f"ppo-top: --on crit: {unread} is given to echo as it is, no shell reads it"
    assert (said in capsys.readouterr().err) is bool(unread)


def test_hooks_need_follow(capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise nothing would ever run."""
    assert main(["check", str(DEMO_LOGS_FOLDER), "--on", "crit", "true"]) == 2
    assert "need --follow" in capsys.readouterr().err
