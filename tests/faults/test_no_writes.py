"""The log directory is never changed: traced system calls of whole sessions."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.support.installed_program import DEMO, Tool, copy_of
from tests.support.program_in_terminal import ProgramTerminal
from tests.support.stand_in_ssh import __file__ as STAND_IN

STRACE = shutil.which("strace")
CALLS = "trace=%file,flock,fcntl,ftruncate,fchmod,fchown,fallocate,write,pwrite64"
CHANGING = re.compile(
    r"^(?:\[pid +\d+\] |\d+ +)?"
    r"(?:creat|mkdir|mknod|unlink|rename|rmdir|link|symlink|truncate|chmod|chown|utime|fchmodat"
    r"|fchownat|setxattr|removexattr|mkdirat|unlinkat|renameat|linkat|symlinkat|utimensat"
    r"|write|pwrite64|ftruncate|fchmod|fchown|fallocate)\w*\("
)
WRITING = re.compile(r"\bopen(?:at2?)?\(.*(?:O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)")
LOCKING = re.compile(r"\bflock\(|F_SETLKW?|F_OFD_SETLKW?|F_SETLEASE")


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Every name below a folder with its mode, time of change and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
        found[str(path)] = (info.st_mode, info.st_mtime_ns, info.st_size, content)
    return found


def offences(trace: Path, folder: Path) -> list[str]:
    """Traced calls that change or lock something below a folder (descriptors show their paths)."""
    patterns = (CHANGING, WRITING, LOCKING)
    return [
        line
        for line in trace.read_text(errors="replace").splitlines()
        if str(folder) in line and any(pattern.search(line) for pattern in patterns)
    ]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two shipped runs, a store and a transaction log, in one directory."""
    folder = tmp_path / "runs"
    folder.mkdir()
    copy_of("sb3_cartpole", folder / "sb3")
    copy_of("torch_cartpole_lr", folder / "torch")
    data = DEMO.parent / "tests" / "data"
    for store in ("trackio_0.43.0/live", "swanlab_0.4.12/finished", "wandb_0.31.0/finished"):
        if (data / store).is_dir():
            shutil.copytree(data / store, folder / store.replace("/", "_"))
    return folder


@pytest.mark.skipif(STRACE is None, reason="needs strace")
@pytest.mark.parametrize("arguments", [["check"], ["check", "--json"], ["export"], ["status"]])
def test_nothing_is_written_or_locked(tmp_path: Path, runs: Path, arguments: list[str]) -> None:
    """No call of a whole session changes, creates or locks anything below the watched path."""
    before = snapshot(runs)
    trace = tmp_path / "trace"
    tracing = (str(STRACE), "-D", "-y", "-f", "-qq", "-s", "0", "-o", str(trace), "-e", CALLS)
    extra = ["--format", "csv"] if arguments == ["export"] else []
    tool = Tool(tmp_path / "home", *arguments, runs, *extra, before=tracing)
    assert tool.end(120) in (0, 1), tool.errors
    assert tool.lines
    assert f'{runs}/sb3/progress.csv", O_RDONLY' in trace.read_text(errors="replace")
    assert offences(trace, runs) == []
    assert snapshot(runs) == before


@pytest.mark.skipif(STRACE is None, reason="needs strace")
def test_nothing_is_written_while_following(tmp_path: Path, runs: Path) -> None:
    """The same for a session that watches, over growth, until it is interrupted."""
    trace = tmp_path / "trace"
    tracing = (str(STRACE), "-D", "-y", "-f", "-qq", "-s", "0", "-o", str(trace), "-e", CALLS)
    tool = Tool(tmp_path / "home", "check", "--follow", runs, before=tracing)
    assert tool.says("torch: ", 120), tool.errors
    copy_of("torch_cartpole", runs / "late")
    assert tool.says("late: ", 120), tool.errors
    before = snapshot(runs)
    tool.stop(signal.SIGTERM)
    assert offences(trace, runs) == []
    assert snapshot(runs) == before


@pytest.mark.skipif(STRACE is None, reason="needs strace")
def test_nothing_is_written_by_the_exporter(tmp_path: Path, runs: Path) -> None:
    """`serve` writes its textfile, and removes it, and changes nothing where logs are."""
    trace, textfile = tmp_path / "trace", tmp_path / "ppo_top.prom"
    tracing = (str(STRACE), "-D", "-y", "-f", "-qq", "-s", "0", "-o", str(trace), "-e", CALLS)
    options = ("--no-listen", "--textfile", textfile, "--active", "0", "--retire", "0")
    before = snapshot(runs)
    tool = Tool(tmp_path / "home", "serve", runs, *options, before=tracing)
    assert tool.complains("in trouble", 120), tool.errors
    assert b"ppo_top_run_severity" in textfile.read_bytes()
    tool.stop(signal.SIGTERM)
    assert not textfile.exists()
    assert f'{runs}/sb3/progress.csv", O_RDONLY' in trace.read_text(errors="replace")
    assert offences(trace, runs) == []
    assert snapshot(runs) == before


@pytest.mark.skipif(STRACE is None, reason="needs strace")
def test_nothing_is_written_where_logs_of_another_machine_are(tmp_path: Path, runs: Path) -> None:
    """The script that runs there opens logs for reading, and only that."""
    trace, python = tmp_path / "trace", tmp_path / "python"
    tracing = f"{STRACE} -y -f -qq -s 0 -o {trace} -e '{CALLS},%network'"
    python.write_text(f'#!/bin/sh\nexec {tracing} {sys.executable} "$@"\n')
    python.chmod(0o755)
    ssh = ("--ssh", f"{sys.executable} {STAND_IN}", "--remote-python", str(python))
    before = snapshot(runs)
    tool = Tool(tmp_path / "home", "check", "--follow", f"node3:{runs}", *ssh)
    assert tool.says("node3: torch: ", 120), tool.errors
    tool.stop(signal.SIGINT)
    text = trace.read_text(errors="replace")
    assert re.search(rf'{runs}/sb3/progress.csv", O_RDONLY', text)
    assert offences(trace, runs) == []
    assert not re.search(r"O_WRONLY|O_RDWR|O_CREAT|connect\(", text)
    assert snapshot(runs) == before


@pytest.mark.skipif(STRACE is None, reason="needs strace")
def test_nothing_is_written_by_the_screen(tmp_path: Path, runs: Path) -> None:
    """The live monitor is drawn, used and closed; no connection is opened."""
    trace = tmp_path / "trace"
    calls = f"{CALLS},%network"
    tracing = (str(STRACE), "-D", "-y", "-f", "-qq", "-s", "0", "-o", str(trace), "-e", calls)
    before = snapshot(runs)
    screen = ProgramTerminal(tmp_path / "home", runs, command_prefix=tracing)
    for name in ("torch", "sb3"):  # the first page comes before all is read
        assert screen.wait_for_text(name, 120), screen.output[-2000:]
    for key in (b"\r", b"e", b"\x1b", b"f", b"\x1b", b"q"):
        os.write(screen.terminal, key)
        screen.read_output(0.3)
    assert screen.wait_for_exit(60) == 0
    screen.close()
    assert f'{runs}/sb3/progress.csv", O_RDONLY' in trace.read_text(errors="replace")
    assert offences(trace, runs) == []
    assert snapshot(runs) == before
    assert not re.search(r"connect\(.*AF_INET", trace.read_text(errors="replace"))


def test_the_trace_shows_offences(tmp_path: Path) -> None:
    """Offending calls are found in a trace; reading is not one of them."""
    folder = tmp_path / "runs"
    trace = tmp_path / "trace"
    bad = [
        f'12 openat(AT_FDCWD, "{folder}/x.db-shm", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 3',
        f'12 unlink("{folder}/x.log") = 0',
        f'13 renameat2(AT_FDCWD, "{folder}/a", AT_FDCWD, "{folder}/b", 0) = 0',
        f"12 fcntl(5<{folder}/x.db>, F_SETLK, {{l_type=F_RDLCK}}) = 0",
        f"12 flock(3<{folder}/x.db>, LOCK_EX) = 0",
        f'12 write(3<{folder}/x.log>, "1", 1) = 1',
    ]
    good = [
        f'12 openat(AT_FDCWD, "{folder}/x.log", O_RDONLY|O_CLOEXEC|O_NONBLOCK) = 3',
        f'12 newfstatat(AT_FDCWD, "{folder}/x.log", {{}}, 0) = 0',
        f'12 readlink("{folder}/latest", "run-1", 1023) = 5',
        '12 openat(AT_FDCWD, "/tmp/copy", O_RDWR|O_CREAT, 0600) = 3',
        "12 fcntl(3</tmp/copy>, F_SETLK, {l_type=F_RDLCK}) = 0",
    ]
    trace.write_text("\n".join(bad + good))
    assert offences(trace, folder) == bad
