"""Connections by a stand-in for ssh: complete, live, cut and resumed, refused with a remedy."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppo_top.files.mirrors import lost_hosts, mirror_problems
from ppo_top.remote import connection as connections
from ppo_top.remote.connection import ConnectionOptions
from ppo_top.remote.hosts import Hosts, connected
from tests.support.far_sides import python_of_a_slow_clock
from tests.support.installed_program import until
from tests.support.stand_in_ssh import __file__ as STAND_IN

Connect = Callable[..., Hosts]
NO_PYTHON = "/nonexistent"


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Connects to hosts through the stand-in, with options of that."""
    monkeypatch.setattr(connections, "RETRY_PAUSES_S", (0.05,))
    opened = []

    def start(
        *words: str | Path, ssh: str = "", once: bool = True, python: str = sys.executable
    ) -> Hosts:
        command = [sys.executable, STAND_IN, *shlex.split(ssh)]
        options = ConnectionOptions(command, python, 1 << 30, 1000, once, False)
        opened.append(connected([str(word) for word in words], options))
        hosts = opened[-1].__enter__()
        hosts.wait()
        return hosts

    yield start
    for each in opened:
        each.__exit__(None, None, None)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with a log."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "train.log").write_text("step 1\n")
    return folder


def text(folder: str, name: str = "train.log") -> str:
    """The text of a copy; empty if there is none."""
    path = Path(folder, name)
    return path.read_text() if path.exists() else ""


def test_what_is_there_is_here_when_waiting_ends(runs: Path, connect: Connect) -> None:
    """Of several hosts and paths at once, in the order of the words; local ones stay."""
    (runs / "b").mkdir()
    (runs / "b" / "train.log").write_text("b")
    hosts = connect(f"one:{runs}", runs, f"two:{runs}/b", f"two:{runs}/train.log")
    paths = hosts.complete_paths()
    assert [text(paths[0]), paths[1], text(paths[2])] == ["step 1\n", str(runs), "b"]
    assert Path(paths[3]).read_text() == "step 1\n"
    assert hosts.failures() == []


def test_a_path_inside_another_one_is_copied_once(runs: Path, connect: Connect) -> None:
    """As for paths of this machine."""
    hosts = connect(f"one:{runs}/train.log", f"one:{runs}")
    assert [Path(path).name for path in hosts.complete_paths()] == ["runs"]


def test_new_bytes_come_while_the_connection_lives(runs: Path, connect: Connect) -> None:
    """So do new files; deleted ones go."""
    hosts = connect(f"one:{runs}", once=False)
    (folder,) = hosts.all_paths()
    with open(runs / "train.log", "a") as log:
        log.write("step 2\n")
    assert until(lambda: text(folder) == "step 1\nstep 2\n")
    (runs / "new.log").write_text("new")
    assert until(lambda: text(folder, "new.log") == "new")
    (runs / "train.log").unlink()
    assert until(lambda: not Path(folder, "train.log").exists())


def test_a_lost_connection_is_made_again_and_goes_on(runs: Path, connect: Connect) -> None:
    """What is here stays here; what came meanwhile is brought; the header knows."""
    down = runs.parent / "down"
    hosts = connect(f"one:{runs}", once=False, ssh=f"--fail 'ssh: no route' --fail-while {down}")
    (folder,) = hosts.all_paths()
    down.touch()
    (pid,) = _stand_ins()
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: [host for host, _ in lost_hosts()] == ["one"])
    assert until(lambda: mirror_problems() == ["one: cannot connect: ssh: no route"])
    assert text(folder) == "step 1\n"
    with open(runs / "train.log", "a") as log:
        log.write("step 2\n")
    down.unlink()
    assert until(lambda: text(folder) == "step 1\nstep 2\n")
    assert (lost_hosts(), mirror_problems()) == ([], [])


def _stand_ins() -> list[int]:
    """The processes of the stand-in that this process has started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if b"stand_in_ssh" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_connection_that_is_always_cut_comes_to_its_end(tmp_path: Path, connect: Connect) -> None:
    """Each one brings some files more."""
    content = {f"{number}.log": os.urandom(60_000) for number in range(6)}
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    hosts = connect(f"one:{tmp_path}", once=False, ssh="--cut 150000")
    (folder,) = hosts.all_paths()
    copies = [Path(folder, name) for name in content]
    assert until(lambda: all(path.exists() for path in copies))
    assert [path.read_bytes() for path in copies] == list(content.values())


@pytest.mark.parametrize(
    ("ssh", "python", "said"),
    [
        ("--only-host other", sys.executable, "cannot connect: ssh: Could not resolve hostname"),
        ("--fail 'me@one: Permission denied (publickey).'", "p", "needs a login: open a master"),
        ("--fail 'Host key verification failed.'", "p", "not a known host: log in once by hand"),
        (f"--path {NO_PYTHON}", "python3", "no python3 there: name one with --remote-python"),
        ("--shell /bin/false --banner 'No logins!'", "p", "its login shell prints something"),
        ("--cut 100", sys.executable, "connection lost"),
        ("--shell /bin/false", "p", "cannot connect: ssh ended with code 1"),
    ],
)
def test_a_host_that_cannot_be_read_says_why_and_what_to_do(
    runs: Path, connect: Connect, ssh: str, python: str, said: str
) -> None:
    """In one sentence that begins with the host; without a second attempt for a single look."""
    hosts = connect(f"one:{runs}", runs, ssh=ssh, python=python)
    (line,) = hosts.failures()
    assert line.startswith(f"one: {said}"), line
    assert hosts.complete_paths() == [str(runs)]


def test_a_python_that_is_too_old_is_told(tmp_path: Path, runs: Path, connect: Connect) -> None:
    """As the only thing wrong there."""
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\necho 'SyntaxError: invalid syntax' >&2; exit 1\n")
    old.chmod(0o755)
    (line,) = connect(f"one:{runs}", python=str(old)).failures()
    assert line == (
        f"one: {old} there is not Python 3.6 or newer: name one with --remote-python "
        "(SyntaxError: invalid syntax)"
    )


def test_an_error_of_ours_ends_one_connection_only(
    runs: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it."""
    monkeypatch.setattr("ppo_top.remote.mirror.Mirror.apply", lambda mirror, frame: 1 / 0)
    hosts = connect(f"one:{runs}", runs)
    (line,) = hosts.failures()
    assert line.startswith("one: ")
    assert "ZeroDivisionError" in line
    assert hosts.complete_paths() == [str(runs)]


def test_an_ssh_that_cannot_be_started_is_told(connect: Connect, runs: Path) -> None:
    """The command is the user's."""
    options = ConnectionOptions(["/nonexistent/ssh"], "python3", 1 << 30, 1000, False, False)
    with connected([f"one:{runs}"], options) as hosts:
        hosts.wait()
        what = "one: cannot start ssh (/nonexistent/ssh: no such file or directory)"
        assert hosts.failures() == [what]


def test_a_login_shell_that_prints_does_no_harm(runs: Path, connect: Connect) -> None:
    """As long as it runs the command after all."""
    hosts = connect(f"one:{runs}", ssh="--banner 'Welcome! ppo-top-0 {\"t\": 1}'")
    assert text(hosts.complete_paths()[0]) == "step 1\n"


def test_a_missing_path_is_a_failure_of_itself_only(runs: Path, connect: Connect) -> None:
    """Other paths of the host are read."""
    hosts = connect(f"one:{runs}", "one:/nonexistent/runs")
    assert hosts.failures() == ["one:/nonexistent/runs: no such file or directory"]
    assert [text(path) for path in hosts.complete_paths()] == ["step 1\n"]


@pytest.mark.parametrize(
    "program",
    [
        'printf \'ppo-top-1\\n{"t":"gone","n":0,"r":0,"p":"../../x.log"}\\n\'',
        "printf 'ppo-top-1\\n'; exec cat /dev/zero",
        "yes",
    ],
)
def test_a_hostile_far_side_ends_its_own_connection(
    tmp_path: Path, runs: Path, connect: Connect, program: str
) -> None:
    """It is not tried again, nothing is left behind, and other paths are read."""
    script = tmp_path / "hostile"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    hosts = connect(f"one:{runs}", runs, ssh="", python=str(script), once=False)
    (line,) = hosts.failures()
    assert "does not speak as ppo-top's script does" in line or "prints something" in line
    assert hosts.complete_paths() == [str(runs)]


def test_a_far_side_that_sends_without_end_has_to_wait(
    tmp_path: Path, runs: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it does not keep this machine busy."""
    monkeypatch.setattr("ppo_top.remote.transfer.MAX_FRAMES_PER_S", 5000.0)
    script = tmp_path / "flood"
    beats = """yes '{"t":"beat","n":0}' | head -12000"""
    script.write_text(f"""#!/bin/sh\necho ppo-top-1; {beats}; echo '{{"t":"swept","n":0}}'\n""")
    script.chmod(0o755)
    start = time.monotonic()
    connect(f"one:{runs}", python=str(script))
    assert time.monotonic() - start > 1.0


def test_far_sides_end_with_the_connection(runs: Path, connect: Connect) -> None:
    """No process is left there when ppo-top is left, or killed."""
    command = [sys.executable, STAND_IN]
    options = ConnectionOptions(command, sys.executable, 1 << 30, 1000, False, False)
    with connected([f"one:{runs}"], options) as hosts:
        hosts.wait()
        (pid,) = _stand_ins()
        (far,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    assert until(lambda: not Path(f"/proc/{far}").exists())


def test_a_clock_that_is_wrong_is_told(runs: Path, connect: Connect) -> None:
    """And times are corrected by it."""
    hosts = connect(f"one:{runs}", python=python_of_a_slow_clock(runs.parent))
    (line,) = hosts.problems()
    assert line.startswith("one: its clock is ")
    assert line.endswith(" behind")
    modified = Path(hosts.complete_paths()[0], "train.log").stat().st_mtime
    assert modified == pytest.approx((runs / "train.log").stat().st_mtime + 100, abs=5)
