"""A real sshd of the test's own: its own keys, port and client configuration, nothing of yours."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.installed_program import until
from tests.support.stand_in_ssh import __file__ as RELAY

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
SERVER_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/id.pub
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin yes
"""
CLIENT_CONFIG = """
Host behind
    ProxyJump node3
Host shared no-key
    ControlPath {folder}/master
Host no-key
    PubkeyAuthentication no
Host stranger
    UserKnownHostsFile /dev/null
    StrictHostKeyChecking yes
Host *
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/id
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    StrictHostKeyChecking accept-new
"""


def needs_sshd() -> str:
    """The path of sshd; the test is skipped without, or fails where it must be there."""
    if SSHD is None:
        if os.environ.get("PPO_TOP_SERVERS_REQUIRED"):
            pytest.fail("no sshd")
        pytest.skip("no sshd")
    return SSHD


@contextmanager
def running_sshd(folder: Path) -> Iterator[str]:
    """An sshd while the block runs; gives the command that reaches it under any host name."""
    program = needs_sshd()
    for name in ("host_key", "id"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = {"folder": folder, "port": port, "user": getpass.getuser()}
    (folder / "sshd_config").write_text(SERVER_CONFIG.format(**words))
    (folder / "config").write_text(CLIENT_CONFIG.format(**words))
    command = [program, "-D", "-e", "-f", str(folder / "sshd_config")]
    with open(folder / "log", "wb") as log, subprocess.Popen(command, stderr=log) as server:
        try:
            assert until((folder / "sshd.pid").exists), (folder / "log").read_text()
            yield f"ssh -F {folder}/config"
        finally:
            server.terminate()


def delayed(ssh: str, seconds: float, *options: str) -> str:
    """A command of ssh whose bytes take half of `seconds` in each direction."""
    relay = [sys.executable, RELAY, "--connect", "127.0.0.1:%p", "--delay", str(seconds), *options]
    return shlex.join([*shlex.split(ssh), "-o", f"ProxyCommand={shlex.join(relay)}"])


def old_python() -> str:
    """The oldest Python that the far side may have, if pyenv has it here."""
    paths = sorted(Path.home().glob(".pyenv/versions/3.6.*/bin/python3.6"))
    return str(paths[-1]) if paths else ""
