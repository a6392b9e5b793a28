"""`ppo-top check`: the verdict as text, as JSON and as exit code."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.files.follower import Follower
from ppo_top.output.check import ChangeReporter
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.growing_logs import DEMO_LOGS_FOLDER, demo_runs

HEALTHY = ["sb3_cartpole", "torch_cartpole", "trl_grpo"]
FAULTS = {
    "sb3_cartpole_lr3e-2": {"learning-rate-too-high", "updates-too-large", "kl-high"},
    "torch_cartpole_lr": {"learning-rate-too-high", "updates-too-large", "kl-high"},
    "torch_cartpole_clip": {"clip-not-binding", "updates-too-large", "clip-too-wide"},
    "torch_cartpole_critic": {"critic-failing", "critic-not-learning"},
    "torch_cartpole_entropy": {"entropy-not-falling", "entropy-collapsed", "premature-convergence"},
    "torch_cartpole_nan": {"non-finite"},
    "trl_grpo_constant": {"no-learning-signal", "groups-tied", "reward-never-moves"},
    "trl_grpo_lr1e-1": {"learning-rate-extreme", "completions-truncated", "ref-kl-token-high"},
}

Json = dict[str, Any]


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Json]:
    """The exit code and the object that `check --json` prints."""
    code = main(["check", "--json", *arguments])
    found: Json = json.loads(capsys.readouterr().out)
    return code, found


def only(found: Json) -> Json:
    """The one run of an object."""
    run: Json
    (run,) = found["runs"]
    return run


def test_every_shipped_log_is_either_healthy_or_has_a_named_fault() -> None:
    """The two lists above cover all shipped logs."""
    assert {run.name for run in demo_runs()} == {*HEALTHY, *FAULTS}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_passes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, and no finding worse than information."""
    code, found = run_json(capsys, str(DEMO_LOGS_FOLDER / name), "--fail-on", "warn")
    assert code == 0
    assert only(found)["verdict"] in ("healthy", "info")


@pytest.mark.parametrize(("name", "named"), FAULTS.items())
def test_a_sick_run_fails_and_its_fault_is_named(
    name: str, named: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, and the findings name the fault."""
    code, found = run_json(capsys, str(DEMO_LOGS_FOLDER / name), "--fail-on", "warn")
    findings = {each["rule"] for each in only(found)["findings"]}
    assert code == 1
    assert findings & named


def test_the_json_keeps_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    """Other programs rely on these keys."""
    _, found = run_json(capsys, str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2"))
    assert found["schema"] == 1
    run = only(found)
    assert {
        "name", "path", "producer", "family", "state", "verdict", "sources", "progress", "metrics",
        "checklist", "findings", "problems",
    } <= set(run)  # fmt: skip
    assert run["producer"] == "sb3"
    assert run["family"] == "on-policy"
    assert set(run["progress"]) == {"step", "total", "updates", "first_time", "last_time"}
    for metric in run["metrics"]:
        assert set(metric) == {
            "tag", "concept", "source", "points", "non_finite", "first_step", "last_step", "first",
            "last", "min", "max", "row", "episodes_a_row", "noise",
        }  # fmt: skip
    for finding in run["findings"]:
        assert {
            "rule", "severity", "concepts", "tags", "since_step", "since_time", "cleared_step",
            "value", "limit", "message", "evidence", "causes", "try", "source",
        } <= set(finding)  # fmt: skip
        assert len(finding["try"]) >= 2 or finding["severity"] in ("info", "watch")


def test_metrics_say_what_a_row_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An SB3 reward is a mean of 100 episodes; its noise is told, whatever its trend."""
    rows = [f"{1000 * i},{10 * i + (3 if i % 2 else -3)},5" for i in range(1, 40)]
    head = "time/total_timesteps,rollout/ep_rew_mean,custom/answer"
    (tmp_path / "progress.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    _, found = run_json(capsys, str(tmp_path))
    metrics = {metric["tag"]: metric for metric in only(found)["metrics"]}
    reward, own = metrics["rollout/ep_rew_mean"], metrics["custom/answer"]
    assert (reward["row"], reward["episodes_a_row"]) == ("window", 100)
    assert reward["noise"] == pytest.approx(1.4826 * 12 / 6**0.5)
    assert (own["row"], own["episodes_a_row"], own["noise"]) == (None, None, 0.0)


def test_non_finite_numbers_are_strings(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has no NaN."""
    main(["check", "--json", str(DEMO_LOGS_FOLDER / "torch_cartpole_nan")])
    text = capsys.readouterr().out
    json.loads(text, parse_constant=lambda word: pytest.fail(f"bare {word}"))
    assert '"nan"' in text


def test_the_report_names_the_run_the_fault_and_what_to_try(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Verdict first, then why and what to try, with this run's own values."""
    assert main(["check", str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2")]) == 1
    text = capsys.readouterr().out
    assert text.startswith("✗ sb3_cartpole_lr3e-2: crit")
    assert "learning_rate (0.03 now; SB3's default is 0.0003)" in text
    assert "skipped" in text
    assert "best reward" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("threshold", "code"), [("crit", 1), ("warn", 1), ("watch", 1)], ids=lambda each: str(each)
)
def test_fail_on_is_the_lowest_severity_that_fails(threshold: str, code: int) -> None:
    """A critical finding fails at every threshold."""
    assert (
        main(
            ["check", "--json", "--fail-on", threshold, str(DEMO_LOGS_FOLDER / "torch_cartpole_lr")]
        )
        == code
    )


def test_several_paths_are_judged_together(capsys: pytest.CaptureFixture[str]) -> None:
    """One bad run among several fails the call, and comes first."""
    code, found = run_json(
        capsys, str(DEMO_LOGS_FOLDER / "sb3_cartpole"), str(DEMO_LOGS_FOLDER / "torch_cartpole_lr")
    )
    assert code == 1
    assert [run["name"] for run in found["runs"]] == ["torch_cartpole_lr", "sb3_cartpole"]


def test_several_runs_end_with_a_table_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Reports, worst first, then one row per run: a terminal shows the end."""
    assert (
        main(
            [
                "check",
                str(DEMO_LOGS_FOLDER / "sb3_cartpole"),
                str(DEMO_LOGS_FOLDER / "torch_cartpole_lr"),
            ]
        )
        == 1
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "✗ torch_cartpole_lr: crit"
    assert "✓ sb3_cartpole: healthy" in lines
    assert lines[-4].split() == ["run", "verdict", "state", "reward", "since", "finding"]
    assert lines[-3].split() == [
        "✗", "torch_cartpole_lr", "crit", "finished", "404.2", "12,288",
        "Destructively", "large", "updates",
    ]  # fmt: skip
    assert lines[-2].split()[:3] == ["✓", "sb3_cartpole", "healthy"]
    assert lines[-1] == "2 runs: 1 crit, 1 healthy"


def test_hundreds_of_runs_are_not_hundreds_of_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The ten worst get a report, every run a row; the last line shows how to get the others."""
    for number in range(14):
        name = "torch_cartpole_nan" if number < 12 else "sb3_cartpole"
        shutil.copytree(DEMO_LOGS_FOLDER / name, tmp_path / f"run-{chr(97 + number)}x")
    assert main(["check", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith(": crit") for line in lines) == 10
    assert not any(line.endswith(": healthy") for line in lines)
    assert sum(line.startswith(("✗ run-", "✓ run-")) for line in lines) == 10 + 14
    assert lines[-2] == "14 runs: 12 crit, 2 healthy"
    assert lines[-1].startswith("2 more runs with findings, reports omitted: ppo-top check ")


# --- what cannot be read ---------------------------------------------------------------------


def test_a_missing_path_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, nothing on standard output."""
    assert main(["check", "/no/such/place"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "ppo-top: /no/such/place: no such file or directory\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing here", None),
        ("events.out.tfevents.1700000000.host.1.0", b""),
        ("events.out.tfevents.1700000000.host.1.0", bytes(10_000)),
        ("train.log", bytes(range(256)) * 40),
        ("notes.txt", b"Dear diary, training went well today.\n"),
        ("progress.csv", b"\xff\xfe\x00\x00"),
    ],
    ids=["empty-directory", "empty-event-file", "zeros", "binary", "prose", "half-header"],
)
def test_where_nothing_can_be_read_the_code_is_2(
    name: str, content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty directory, an empty file, zeros and rubbish: a clear line and no traceback."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "nothing here that I can read as a training log" in said.err
    assert "tee run.log" in said.err


def test_a_damaged_file_costs_only_what_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the file is read, and the offset of the damage is reported."""
    run = tmp_path / "run"
    shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", run)
    for file in run.iterdir():
        if "tfevents" not in file.name:
            file.unlink()
    (events,) = run.iterdir()
    data = bytearray(events.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4] = b"\xde\xad\xbe\xef"
    events.write_bytes(data)
    code, found = run_json(capsys, str(run))
    assert code == 0
    metrics = only(found)["metrics"]
    assert max(metric["points"] for metric in metrics) >= 38
    (problem,) = only(found)["problems"]
    assert abs(problem["offset"] - middle) < 200


def test_an_unreadable_file_is_reported_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file without permission does not hide its neighbours."""
    shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", tmp_path / "run")
    closed, opens = tmp_path / "run" / "progress.csv", os.open
    closed.chmod(0)

    def refusing(path: str, *how: int) -> int:
        if path == str(closed):  # as it is for everybody but root
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opens(path, *how)

    monkeypatch.setattr(os, "open", refusing)
    assert main(["check", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.err == f"ppo-top: {closed}: cannot read: permission denied\n"
    assert said.out.startswith("✓ run: healthy")


def test_wrong_usage_is_code_2() -> None:
    """argparse's own code and ours: could not check."""
    with pytest.raises(SystemExit) as stop:
        main(["check", "--fail-on", "never"])
    assert stop.value.code == 2


# --- follow ----------------------------------------------------------------------------------


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


def test_follow_prints_how_a_finished_run_ended(tmp_path: Path) -> None:
    """It started, and it died: two lines."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_nan", tmp_path / "run")
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "run: started\n"
        assert process.stdout.readline().startswith("run: died (ValueError: Expected parameter")
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
    read_to_end(follower, session, lambda: reporter.report_changes(time.time()))
    follower.close()
    assert events[0][2], "more was to be read"
    for name in ("first", "second", "third"):
        said = [event for run, event, _ in events if run == name]
        assert said[0] == "run-started"
        assert "run-live" not in said, "it was reported before its end was read"


def test_follow_ends_when_its_reader_is_gone(tmp_path: Path) -> None:
    """An ssh session that dies leaves no process on the node, though the log says nothing new."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", tmp_path / "run")
    command = [sys.executable, "-m", "ppo_top", "check", "--follow", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "run: started\n"
        assert "finished" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0
