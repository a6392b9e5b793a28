"""The command line: output, errors, exit codes, and what goes to which stream."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ppo_top import __version__
from ppo_top.cli import main
from ppo_top.cli.commands import COMMANDS, command_lines
from ppo_top.output.status_line import MAX_STATUS_CHARS
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.screens import write_unhealthy_run


def exit_code(*arguments: str) -> int:
    """The exit code of a call that argparse exits from."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_help_lists_every_command_and_the_options_of_the_monitor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`ppo-top --help` is the help of the monitor and the list of the commands."""
    assert exit_code("--help") == 0
    text = capsys.readouterr().out
    assert all(usage in text for _, _, usage in COMMANDS.values())
    assert all(flag in text for each in command_lines()["watch"].arguments for flag in each.flags)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`ppo-top COMMAND --help` works for each."""
    assert exit_code(name, "--help") == 0
    assert "usage: ppo-top" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "usage"), [(["help"], "ppo-top"), (["help", "check"], "check")])
def test_help_is_a_word_too(
    words: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the whole program or of a command; nobody waits for a directory called so."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert usage in capsys.readouterr().out.partition("\n")[0]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """For bug reports."""
    assert exit_code("--version") == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--no-such-option"],
        ["export", str(DEMO_LOGS_FOLDER)],
        ["replay"],
        ["replay", str(DEMO_LOGS_FOLDER), "--speed", "fast"],
        ["replay", str(DEMO_LOGS_FOLDER), "--speed", "0"],
        ["status", "--format", "html"],
        ["demo", "--fault", "none-such"],
        ["check", "--follow", "--json", "--beat", "often"],
        ["check", "--active", "long"],
        ["serve", "--most-runs", "all"],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[-2:]),
)
def test_wrong_usage_is_code_2_and_one_reason(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In a line on stderr: what is expected, by no name of a function, and where options are."""
    assert exit_code(*arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"ppo-top {arguments[0]}: error: ") and said.count("\n") == 1
    assert said.endswith(f"(`ppo-top {arguments[0]} --help` lists the options)\n")
    assert not re.search(r"invalid \w+ value", said)


def test_the_monitor_needs_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe or a job there is none: the error names the commands to use instead."""
    assert main([str(DEMO_LOGS_FOLDER)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "ppo-top check" in said.err


def test_without_a_terminal_nobody_waits_for_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt command or directory is named, not the terminal that is missing as well."""
    assert main(["/no/such/place"]) == 2
    assert capsys.readouterr().err == "ppo-top: /no/such/place: no such file or directory\n"


def test_no_wait_fails_if_the_path_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    """Without it the monitor waits for the path; with it the call fails."""
    assert main(["--no-wait", "/no/such/place"]) == 2
    assert "no such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    "call",
    [
        *(["check"], ["status"], ["watch"], ["replay"], ["serve"], ["report", "-o", "-"]),
        ["export", "--format", "csv"],
    ],
    ids=lambda call: call[0],
)
def test_an_empty_path_is_not_the_current_directory(
    call: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`check "$RUN"` with no such variable must not pass for what lies about."""
    (tmp_path / "progress.csv").write_text("step,loss\n1,2\n2,2\n")
    monkeypatch.chdir(tmp_path)
    assert main([*call, ""]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "ppo-top: an empty PATH: is a variable of the shell unset?\n"


@pytest.mark.parametrize("call", [["watch", "--no-wait"], ["replay"], ["check", "--settings"]])
def test_a_name_in_an_error_is_nothing_that_a_terminal_obeys(
    call: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell completes names of files, which anybody may have made up."""
    assert main([*call, "/no/\x1b]0;title\x07\x9b2J\u202e"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ppo-top: /no/")
    assert said.removesuffix("\n").isprintable()


def test_a_replay_starts_at_a_place_that_there_may_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As `g` on the screen says; not silently at the beginning."""
    assert main(["replay", str(DEMO_LOGS_FOLDER), "--from", "abc"]) == 2
    assert "--from expects a step or a percentage, got 'abc'" in capsys.readouterr().err


def test_replay_needs_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A replay does not wait for its log."""
    assert main(["replay", "/no/such/place"]) == 2
    assert "no such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "status", "watch"])
def test_a_settings_file_that_is_named_and_missing_is_a_usage_error(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A CI job does not pass with other thresholds than it asked for."""
    (tmp_path / "progress.csv").write_text("step,loss\n1,2\n")
    assert main([command, "--settings", str(tmp_path / "no.toml"), str(tmp_path)]) == 2
    assert "no.toml: no such file" in capsys.readouterr().err
    assert main([command, "--settings", str(tmp_path), str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"ppo-top: {tmp_path}: not a file\n"


@pytest.mark.parametrize(
    ("option", "what"), [("--settings", "--settings FILE"), ("--output", "FILE to write")]
)
def test_an_option_with_an_empty_file_is_a_usage_error(
    option: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--settings "$FILE"` of a job that has not set it: own settings would be another verdict."""
    (tmp_path / "progress.csv").write_text("step,loss\n1,2\n")
    assert main(["check", option, "", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"ppo-top: an empty {what}: is a variable of the shell unset?\n"


def test_a_directory_called_like_a_command_can_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ppo-top watch check` watches ./check."""
    monkeypatch.chdir(tmp_path)
    assert main(["watch", "--no-wait", "check"]) == 2
    assert "check: no such file" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("command", ["check", "status", "explain"])
def test_an_old_encoding_gets_ascii_symbols(command: str, encoding: str) -> None:
    """Without UTF-8, symbols are written in ASCII."""
    target = "kl-high" if command == "explain" else str(DEMO_LOGS_FOLDER / "torch_cartpole_lr")
    said = subprocess.run(
        [sys.executable, "-m", "ppo_top", command, target],
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert said.returncode == (1 if command == "check" else 0), said.stderr
    assert not said.stderr
    if command != "explain":
        assert said.stdout.startswith(b"X torch_cartpole_lr")


@pytest.mark.parametrize(
    ("given", "meant"), [("--fromat", "--format"), ("--fail_on=crit", "--fail-on"), ("--zz", "")]
)
def test_a_misspelt_option_names_the_one_that_is_meant(
    given: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is guessed where nothing is near."""
    with pytest.raises(SystemExit):
        main(["check", ".", given])
    hint = f"; did you mean {meant}?" if meant else ""
    assert f"unrecognized arguments: {given}{hint} (`ppo-top " in capsys.readouterr().err


def test_a_misspelt_command_is_not_waited_for_as_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error suggests the command; a directory of that name is watched if there is one."""
    monkeypatch.chdir(tmp_path)
    assert main(["chekc", str(DEMO_LOGS_FOLDER)]) == 2
    assert "did you mean `ppo-top check`?" in capsys.readouterr().err
    (tmp_path / "chekc").mkdir()
    assert main(["chekc"]) == 2
    assert "stdout is not a terminal" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "replay"])
def test_only_the_monitor_and_check_read_standard_input(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is not reported as a missing file; the error says what to do."""
    assert main([command, "-"]) == 2
    assert "ppo-top -" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
@pytest.mark.parametrize("command", ["watch", "check", "status", "replay"])
def test_a_directory_without_permission_is_one_clear_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody else's logs: no traceback and no waiting."""
    inside = tmp_path / "closed" / "runs"
    inside.mkdir(parents=True)
    inside.parent.chmod(0)
    try:
        for path in (inside.parent, inside):
            assert main([command, str(path)]) == 2
            assert capsys.readouterr().err == f"ppo-top: {path}: permission denied\n"
    finally:
        inside.parent.chmod(0o700)


def test_a_mistake_in_the_settings_is_one_line_and_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the key and suggests the right one; the verdict is printed anyway."""
    file = tmp_path / "mine.toml"
    file.write_text("[rules.kl-hihg]\nwarn = 0.5\n")
    assert main(["check", "--settings", str(file), str(DEMO_LOGS_FOLDER / "sb3_cartpole")]) == 0
    said = capsys.readouterr()
    assert "kl-hihg" in said.err
    assert "kl-high" in said.err
    assert "sb3_cartpole" in said.out


@pytest.mark.parametrize(
    "text",
    [
        f"goal = 1{'0' * 5000}",
        f"goal = 1{'0' * 400}",
        f"[rules.kl-high]\nwarn = 1{'0' * 400}",
        f"[[rule]]\nid='x'\nmetric='loss'\nabove = 1{'0' * 400}",
    ],
    ids=["digits", "goal", "threshold", "rule"],
)
def test_a_number_too_large_beside_the_logs_is_one_line_and_no_failure(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Anybody may have written that file; the logs are judged without what it says."""
    (tmp_path / "ppo-top.toml").write_text(text)
    (tmp_path / "progress.csv").write_text("step,loss\n1,2\n2,2\n")
    assert main(["check", "--no-cache", str(tmp_path)]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ppo-top: {tmp_path}/ppo-top.toml: ")


@pytest.mark.parametrize("goal", ["nan", "inf", "1e999", "high"])
def test_a_goal_is_a_number_that_can_be_reached(
    goal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Others are a mistake in the call, not a goal that no run ever reaches."""
    assert exit_code("check", "--goal", goal, str(DEMO_LOGS_FOLDER / "sb3_cartpole")) == 2
    assert "--goal: expected a finite number" in capsys.readouterr().err


def test_settings_change_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A custom rule fires."""
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[rule]]\nid = "poor"\nmetric = "reward_mean"\nbelow = 600\nseverity = "crit"\n'
    )
    assert main(["check", "--settings", str(file), str(DEMO_LOGS_FOLDER / "sb3_cartpole")]) == 1
    assert "[poor]" in capsys.readouterr().out


def test_explain_suggests_similar_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A typo gets the right name."""
    assert main(["explain", "aprox_kl"]) == 2
    assert "approx_kl" in capsys.readouterr().err


def test_explain_without_a_name_prints_an_index(capsys: pytest.CaptureFixture[str]) -> None:
    """Of metrics and rules."""
    assert main(["explain"]) == 0
    text = capsys.readouterr().out
    assert "kl-high" in text
    assert "approx_kl" in text


def test_backtest_counts_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """How often and how early each rule fired on old runs; and what counts as a drop."""
    assert main(["check", "--backtest", str(DEMO_LOGS_FOLDER)]) == 0
    text = capsys.readouterr().out
    assert "\nA reward has dropped once more than 30 % of all that it gained is lost" in text
    assert "false alarms" not in text
    assert re.search(r"^kl-high +\d", text, re.MULTILINE)


@pytest.mark.parametrize("fmt", ["plain", "tmux"])
def test_status_is_one_line(fmt: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The worst run first, then the counts; tmux gets colours."""
    assert main(["status", "--format", fmt, str(DEMO_LOGS_FOLDER)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "✗" in line
    assert ("#[fg=red" in line) == (fmt == "tmux")


def test_status_cuts_a_long_name_and_counts_all_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What does not fit is seen to be cut; the numbers at the end are whole."""
    for name in ("torch_cartpole_lr", "sb3_cartpole"):
        shutil.copytree(DEMO_LOGS_FOLDER / name, tmp_path / f"{name}-{'long-' * 20}name")
    assert main(["status", str(tmp_path)]) == 0
    line = capsys.readouterr().out.rstrip()
    assert len(line) == 100 and line.endswith("… · 1 crit, 1 healthy")


@pytest.mark.parametrize("length", range(20, 50, 3))
def test_status_cuts_no_number(
    length: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no room for the step it is left out: `step 61…` would be another one."""
    write_unhealthy_run(tmp_path / "runs" / ("x" * length) / "progress.csv")
    write_unhealthy_run(tmp_path / "runs" / "well" / "progress.csv", broken_from=99)
    assert main(["status", str(tmp_path)]) == 0
    line = capsys.readouterr().out
    assert len(line) <= MAX_STATUS_CHARS + 1 and "…" not in line
    assert "step" not in line or " · step 81,920 · " in line


def test_status_on_a_healthy_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Symbol, name, verdict."""
    assert main(["status", str(DEMO_LOGS_FOLDER / "sb3_cartpole")]) == 0
    assert capsys.readouterr().out.startswith("✓ sb3_cartpole · healthy")


def test_a_closed_pipe_is_no_error() -> None:
    """`ppo-top export ... | head -1` ends without a traceback."""
    export = [sys.executable, "-m", "ppo_top", "export", "--format", "csv", str(DEMO_LOGS_FOLDER)]
    with subprocess.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"run,source,tag")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_closed_pipe_does_not_change_the_exit_code() -> None:
    """`check --json ... | head -c 10` in a job with `pipefail` still fails on a sick run."""
    check = [sys.executable, "-m", "ppo_top", "check", "--json", str(DEMO_LOGS_FOLDER)]
    with subprocess.Popen(check, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a full device")
@pytest.mark.parametrize("command", [["check", "--json"], ["export", "--format", "csv"]])
def test_a_full_disk_is_no_bug_of_ours(command: list[str]) -> None:
    """It is said in the system's words, without a file of errors to look into."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ppo_top", *command, str(DEMO_LOGS_FOLDER / "trl_grpo")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        2,
        "ppo-top: standard output: No space left on device\n",
    )


def test_demo_live_says_how_to_install_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without torch: one line with the command."""
    installed = {"textual", "plotext", "ppo_top.tui"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name in installed or None)
    assert main(["demo", "--live", "--fault", "lr"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install torch gymnasium tensorboard" in said


def test_check_looks_in_one_way_only(capsys: pytest.CaptureFixture[str]) -> None:
    """No option is passed over in silence."""
    for words in (["--ended", "--follow"], ["--follow", "--backtest"], ["--ended", "--backtest"]):
        assert main(["check", ".", *words]) == 2
        said = capsys.readouterr().err
        assert said == "ppo-top: choose one of --ended, --follow and --backtest\n"


@pytest.mark.parametrize("words", [("-",), (".", "--backtest")])
def test_active_is_for_a_look_at_files(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a pipe nor a backtest of old runs has logs that are too old."""
    assert main(["check", *words, "--active", "2d"]) == 2
    assert "--active is for logs in files" in capsys.readouterr().err


def test_an_age_has_a_unit(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says how it is written."""
    with pytest.raises(SystemExit) as ended:
        main(["check", ".", "--follow", "--active", "soon"])
    assert ended.value.code == 2
    assert "90s, 30m, 12h, 7d" in capsys.readouterr().err
