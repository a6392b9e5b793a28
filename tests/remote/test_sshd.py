"""Over a real ssh to a real sshd: aliases, jump hosts, master connections, cuts, an old Python."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.files.mirrors import lost_hosts
from ppo_top.remote import connection as connections
from ppo_top.remote.connection import ConnectionOptions
from ppo_top.remote.hosts import Hosts, connected
from tests.support.installed_program import Tool, until
from tests.support.scrapes import NEXT_LINE, series, value, write_run
from tests.support.servers import eventually, free_address, get
from tests.support.sshd import delayed, old_python, running_sshd

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The command of ssh that reaches a server of ours."""
    with running_sshd(tmp_path_factory.mktemp("sshd")) as command:
        yield command


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with a log whose name and bytes are of any kind."""
    folder = tmp_path / "ru ns'$(x)"
    folder.mkdir()
    (folder / "träin.log").write_bytes(bytes(range(256)) * 1000)
    return folder


def options(ssh: str, once: bool = True, python: str = sys.executable) -> ConnectionOptions:
    """How to reach the server."""
    return ConnectionOptions(shlex.split(ssh), python, 1 << 30, 1000, once, False)


def copies(hosts: Hosts) -> list[bytes]:
    """The bytes of the log of each path."""
    return [Path(path, "träin.log").read_bytes() for path in hosts.complete_paths()]


def test_hosts_are_what_ssh_understands(ssh: str, runs: Path) -> None:
    """An alias, a user, a port, a host behind another one."""
    words = [f"node3:{runs}", f"behind:{runs}"]
    with connected(words, options(ssh)) as hosts:
        hosts.wait()
        assert hosts.failures() == []
        assert copies(hosts) == [(runs / "träin.log").read_bytes()] * 2


def test_a_master_connection_is_used(ssh: str, runs: Path) -> None:
    """Which is the way where only the user can log in; without one that is what is said."""
    words = [f"no-key:{runs}"]
    with connected(words, options(ssh)) as hosts:
        hosts.wait()
        (line,) = hosts.failures()
        assert line.startswith("no-key: needs a login: open a master connection first: ssh -fNM")
    subprocess.run([*shlex.split(ssh), "-fNM", "shared"], check=True, stderr=subprocess.DEVNULL)
    try:
        with connected(words, options(ssh)) as hosts:
            hosts.wait()
            assert (hosts.failures(), len(copies(hosts))) == ([], 1)
    finally:
        leave = [*shlex.split(ssh), "-O", "exit", "shared"]
        subprocess.run(leave, check=True, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("host", "said"),
    [("stranger", "not a known host: log in once"), ("node3 -p 1", "cannot connect: ssh: connect")],
)
def test_what_ssh_says_is_told_with_a_remedy(ssh: str, runs: Path, host: str, said: str) -> None:
    """A key that nobody has accepted, a port where nobody listens."""
    name, *more = host.split()
    with connected([f"{name}:{runs}"], options(shlex.join([*shlex.split(ssh), *more]))) as hosts:
        hosts.wait()
        assert [line.startswith(f"{name}: {said}") for line in hosts.failures()] == [True]


def test_a_killed_ssh_is_started_again(
    ssh: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The far side is gone soon, what is here stays, and the rest is brought."""
    monkeypatch.setattr(connections, "RETRY_PAUSES_S", (1.0,))
    others = _far_sides()
    with connected([f"node3:{runs}"], options(ssh, once=False)) as hosts:
        hosts.wait()
        (folder,) = hosts.all_paths()
        copy = Path(folder, "träin.log")
        (far,) = _far_sides() - others
        (local,) = _children()
        os.kill(local, signal.SIGKILL)
        assert until(lambda: [host for host, _ in lost_hosts()] == ["node3"])
        assert copy.exists()
        assert until(lambda: not Path(f"/proc/{far}").exists(), 10)
        with open(runs / "träin.log", "ab") as log:
            log.write(b"more")
        assert until(lambda: copy.read_bytes().endswith(b"more"))
        assert until(lambda: lost_hosts() == [])  # said once all has been brought
    assert until(lambda: _far_sides() <= others)


def test_a_line_with_delay_brings_the_same(ssh: str, runs: Path) -> None:
    """25 ms each way, as between continents: all files, then a new line."""
    for number in range(100):
        (runs / f"{number}.log").write_text(f"reward: {number}\n")
    with connected([f"node3:{runs}"], options(delayed(ssh, 0.05), once=False)) as hosts:
        hosts.wait()
        assert hosts.failures() == []
        folder = Path(*hosts.all_paths())
        assert {path.name for path in folder.iterdir()} == {path.name for path in runs.iterdir()}
        with open(runs / "7.log", "ab") as log:
            log.write(b"reward: 8\n")
        assert until(lambda: (folder / "7.log").read_bytes() == b"reward: 7\nreward: 8\n")


def test_serve_shows_the_runs_of_a_host(ssh: str, tmp_path: Path) -> None:
    """Their names begin with the host's, and a line that is written there is soon in them."""
    log, address = write_run(tmp_path / "runs" / "sick"), free_address()
    arguments = ("--listen", address, "--ssh", ssh, "--remote-python", sys.executable)
    tool = Tool(tmp_path / "home", "serve", f"node3:{tmp_path / 'runs'}", *arguments)

    def step() -> float:
        found = series(get(f"http://{address}/metrics"))
        return value(found, "ppo_top_run_step", run=f"node3:{tmp_path / 'runs' / 'sick'}")

    try:
        assert tool.complains("1 run, 1 in trouble"), tool.errors
        assert step() == 20.0
        with open(log, "ab") as file:
            file.write(NEXT_LINE)
        eventually(lambda: step() == 21.0, "step 21 in /metrics")
    finally:
        code = tool.stop(signal.SIGTERM)
    assert code == 0


def _children() -> list[int]:
    """The processes that this one has started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [
        int(pid)
        for file in children
        for pid in file.read_text().split()
        if b"BatchMode" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def _far_sides() -> set[int]:
    """The processes of the far side's script."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if b"-u" in words and any(b"exec(sys.stdin" in word for word in words[:4]):
            found.add(int(path.parent.name))
    return found


def test_an_old_python_is_enough(ssh: str, runs: Path) -> None:
    """The script runs from Python 3.6 on; a name in any locale."""
    python = old_python()
    if not python:
        pytest.skip("no Python 3.6")
    with connected([f"node3:{runs}"], options(ssh, python=f"env LC_ALL=C {python}")) as hosts:
        hosts.wait()
        assert hosts.failures() == []
        assert copies(hosts) == [(runs / "träin.log").read_bytes()]
