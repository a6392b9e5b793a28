"""`ppo-top serve` and `ppo-top status --format json|prometheus`, as they are called."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.model import Severity
from ppo_top.serve.textfile import KEEP_ALIVE_S, WRITE_INTERVAL_S, TextFile
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.scrapes import NEXT_LINE, names, series, value, write_run

NAN_RUN = str(DEMO_LOGS_FOLDER / "torch_cartpole_nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "here"], "--listen here: expected HOST:PORT"),
        (["--no-listen"], "--no-listen needs --textfile"),
        (["--textfile", "a.txt"], "names that end in .prom"),
        (["--textfile", "{logs}/a.prom"], "lies among the logs; give another directory"),
        (["--textfile", "/nowhere/a.prom"], "no such directory"),
        (["--listen", "unix:{logs}/s"], "lies among the logs; give another directory"),
        (["--tls-key", "k.pem"], "need --tls-cert"),
        (["--tls-cert", "/nowhere/c.pem"], "cannot use the certificate /nowhere/c.pem: No such"),
        (["--token-file", "/nowhere/t"], "--token-file /nowhere/t: No such file"),
        (["--label", "user"], "expected NAME=VALUE"),
        (["--label", "run=a"], "run has a meaning already"),
        (["--label", "a=1", "--label", "a=2"], "a has a meaning already"),
        ([f"--label=l{number}=v" for number in range(9)], "at most 8 labels"),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    """Before a log is read; the exit code is 2."""
    given = [each.format(logs=tmp_path) for each in arguments]
    assert main(["serve", str(tmp_path), *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ppo-top: ")
    assert message in line


def test_without_the_client_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is an extra: who only watches does not need it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert "pip install prometheus_client" in capsys.readouterr().err
    assert main(["status", "--format", "prometheus"]) == 2
    assert "pip install prometheus_client" in capsys.readouterr().err


def test_a_path_that_is_not_there_is_named_and_waited_for(tmp_path: Path) -> None:
    """A misspelt one would be silent for ever: no run is no alert."""
    command = [sys.executable, "-m", "ppo_top", "serve", str(tmp_path / "rnus")]
    options = ["--listen", f"127.0.0.1:{free_port()}"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said == f"ppo-top: {tmp_path}/rnus: no such file or directory: waiting for it\n"
        assert process.stderr.readline().startswith("ppo-top: listening on ")
        process.terminate()
        assert process.wait(10) == 0


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_a_written_line_is_soon_in_the_metrics(tmp_path: Path) -> None:
    """From start to end: it listens, shows a new line, writes its file, and ends at once."""
    log, textfile = write_run(tmp_path / "runs" / "sick"), tmp_path / "ppo_top.prom"
    url = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "ppo_top", "serve", str(tmp_path / "runs")]
    options = ["--listen", url.removeprefix("http://"), "--textfile", str(textfile)]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"ppo-top: listening on {url}/metrics\n"
        assert process.stderr.readline() == "ppo-top: 1 run, 1 in trouble\n"
        assert 'rule="updates-too-large"' in textfile.read_text()
        with open(log, "ab") as file:
            file.write(NEXT_LINE)
        run = str(tmp_path / "runs" / "sick")
        steps = []
        end = time.monotonic() + 20
        while 21.0 not in steps and time.monotonic() < end:
            with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
                steps.append(value(series(answer.read()), "ppo_top_run_step", run=run))
            threading.Event().wait(0.1)
        assert steps[-1] == 21.0
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == ""
        assert process.wait(10) == 0
    assert not textfile.exists()


def test_status_as_json_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    """Who, how bad, how far, and the three worst findings; no text from a log."""
    assert main(["status", NAN_RUN, "--format", "json"]) == 0
    text = capsys.readouterr().out
    assert len(text) < 500
    assert json.loads(text) == {
        "schema": 1,
        "runs": [
            {
                "name": "torch_cartpole_nan",
                "path": NAN_RUN,
                "verdict": "crit",
                "state": "died",
                "step": 16384,
                "total": None,
                "open": [
                    {"rule": "non-finite", "severity": "crit", "since_step": 16384},
                    {"rule": "crashed", "severity": "crit", "since_step": 16384},
                ],
            }
        ],
    }


def test_status_names_the_findings_that_check_does(capsys: pytest.CaptureFixture[str]) -> None:
    """The same runs in the same order, whether they are remembered or not; at most three each."""
    for extra in (["--no-cache"], [], []):
        assert main(["status", str(DEMO_LOGS_FOLDER), "--format", "json", *extra]) == 0
        short = json.loads(capsys.readouterr().out)["runs"]
        main(["check", str(DEMO_LOGS_FOLDER), "--json", *extra])
        whole = json.loads(capsys.readouterr().out)["runs"]
        assert [run["path"] for run in short] == [run["path"] for run in whole]
        for mine, theirs in zip(short, whole, strict=True):
            still = [each for each in theirs["findings"] if each["cleared_step"] is None]
            known = {each["rule"]: each["severity"] for each in still}
            assert mine["verdict"] == theirs["verdict"]
            assert len(mine["open"]) <= 3
            assert all(known[each["rule"]] == each["severity"] for each in mine["open"])
            worst = max((Severity[word.upper()] for word in known.values()), default=None)
            if worst is not None:
                assert mine["open"][0]["severity"] == worst.word


def test_status_for_prometheus_is_what_serve_says_of_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """For a Pushgateway at the end of a job: every run, nothing of a process that looks again."""
    assert main(["status", NAN_RUN, "--format", "prometheus"]) == 0
    found = series(capsys.readouterr().out)
    assert value(found, "ppo_top_run_severity", run=NAN_RUN) == 4
    assert value(found, "ppo_top_run_state", run=NAN_RUN, state="died") == 1
    assert value(found, "ppo_top_finding_severity", run=NAN_RUN, rule="non-finite") == 4
    assert all("run" in dict(labels) for _, labels in found)
    assert not names(found) & {"ppo_top_last_look_timestamp_seconds", "process_cpu_seconds_total"}


def age_of(file: TextFile) -> float:
    """When it was written, in unix seconds."""
    return file.path.stat().st_mtime


def test_a_textfile_is_always_whole_and_shows_that_its_writer_lives(tmp_path: Path) -> None:
    """Written when there is news, seldom otherwise; nothing but the file is left behind."""
    now = [0.0]
    file = TextFile(tmp_path / "a.prom", clock=lambda: now[0])
    due = [file.is_due]
    file.write(b"one\n")
    due.append(file.is_due)
    now[0] = WRITE_INTERVAL_S
    assert [*due, file.is_due] == [True, False, True]
    os.utime(file.path, (0, 0))
    file.write(b"one\n")
    assert age_of(file) == 0, "nothing new"
    now[0] = KEEP_ALIVE_S
    file.write(b"one\n")
    assert age_of(file) > 0, "its age shows that somebody writes it"
    file.write(b"two\n")
    assert file.path.read_bytes() == b"two\n"
    assert list(tmp_path.iterdir()) == [file.path]
    file.remove()
    file.remove()
    assert not list(tmp_path.iterdir())
