"""The connection to one host: the user's own `ssh`, started again when it breaks.

A thread keeps it, and a mirror up to date. Nothing is asked on the terminal: ssh runs in batch mode
and in a session of its own.
"""

from __future__ import annotations

import re
import select
import shlex
import threading
import time
from collections.abc import Sequence

from ppo_top.files.wake_pipe import WakePipe
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.remote.address import RemotePath
from ppo_top.remote.far_script import far_script
from ppo_top.remote.mirror import Mirror
from ppo_top.remote.protocol import ProtocolError, Request
from ppo_top.remote.transfer import Transfer
from ppo_top.support.internal_errors import report_internal_error
from ppo_top.text.format import clean, duration

SSH_OPTIONS = (
    "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "RequestTTY=no",
    "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
    "-o", "ClearAllForwardings=yes",
)  # fmt: skip
RETRY_PAUSES_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Before each further attempt to connect; the last one is repeated."""
MAX_SHOWN = 80
"""Characters shown of what a login shell prints."""


class ConnectionOptions(NamedTuple):
    """How hosts are reached: the command and its first arguments, the Python there, the limits.

    With `once` the logs are read as they are, without a second attempt.
    """

    ssh: Sequence[str]
    python: str
    space: int
    most_files: int
    once: bool
    notebooks: bool


class ConnectionFailed(Exception):
    """Why there is no connection, as a sentence; `is_final`: trying again will not help."""

    def __init__(self, text: str, is_final: bool = False) -> None:
        super().__init__(text)
        self.is_final = is_final


class Connection:
    """Keeps the mirror of one host up to date in a thread of its own.

    `settled` is set when everything that was there is here, or the first attempt failed.
    `is_complete`: everything has been here once. `failure` says why there is no connection now;
    empty while there is one.
    """

    def __init__(self, remote: Sequence[RemotePath], options: ConnectionOptions) -> None:
        self._remote, self._options = remote[0], options
        self.mirror = Mirror(remote, options.space, options.most_files)
        self.settled = threading.Event()
        self.is_complete = False
        self.failure = ""
        self._attempts = 0
        self._lost_at = 0.0
        self._is_stopping = False
        self._wakeup = WakePipe()
        self._thread = threading.Thread(target=self._run, name="ppo-top-ssh", daemon=True)

    def start(self) -> None:
        """Connect."""
        self._thread.start()

    def problems(self) -> list[str]:
        """What is wrong at the moment, one line each."""
        lines = self.unread()
        if skew := self.mirror.skew:
            side = "behind" if skew > 0 else "ahead"
            lines.append(f"{self.mirror.label}: its clock is {duration(abs(skew))} {side}")
        return lines

    def unread(self) -> list[str]:
        """Why there is no connection, and what is left out: a wrong clock costs no log."""
        lines = [f"{self.mirror.label}: {self.failure}"] if self.failure else []
        return lines + list(self.mirror.troubles)

    def lost_for_s(self) -> float:
        """How long there has been no connection; 0 while there is one."""
        return time.monotonic() - self._lost_at if self.failure else 0.0

    def close(self) -> None:
        """End the connection and delete the copies."""
        self._is_stopping = True
        self._wakeup.wake()
        if self._thread.is_alive():
            self._thread.join()
        self._wakeup.close()
        self.mirror.close()

    # --- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._is_stopping and self._try_to_connect():
                self.settled.set()
                pause = RETRY_PAUSES_S[min(self._attempts, len(RETRY_PAUSES_S) - 1)]
                self._attempts += 1
                select.select([self._wakeup.handle], [], [], pause)
        except Exception as error:  # noqa: BLE001 (it takes down this connection only)
            self._fail(report_internal_error(f"copying from {self.mirror.label}", error))
        finally:
            self.settled.set()

    def _try_to_connect(self) -> bool:
        """Connect, until the connection ends; returns whether to try again."""
        try:
            self._connect()
        except ConnectionFailed as error:
            self._fail(str(error))
            return not (self._options.once or error.is_final)
        return False

    def _fail(self, why: str) -> None:
        self._lost_at = self._lost_at if self.failure else time.monotonic()
        self.failure = clean(why)

    def _connect(self) -> None:
        """One connection, until it ends; raises `ConnectionFailed` unless it ends as it should."""
        command = [*self._options.ssh, *SSH_OPTIONS, *self._target(), self._far_command()]
        try:
            transfer = Transfer(command, self._first_bytes(), self.mirror)
        except OSError as error:
            why = f"{command[0]}: {_reason(error)}"
            raise ConnectionFailed(f"cannot start ssh ({why})", is_final=True) from None
        try:
            transfer.run(self._wakeup.handle, self._on_swept)
        except ProtocolError as error:
            if not transfer.frames.has_begun:
                raise ConnectionFailed(_banner_text(transfer), is_final=True) from None
            what = f"it does not speak as ppo-top's script does ({error})"
            raise ConnectionFailed(what, is_final=True) from None
        except OSError as error:
            raise ConnectionFailed(f"cannot copy: {_reason(error)}", is_final=True) from None
        finally:
            transfer.close()
        if not self._is_stopping and not (self._options.once and self.is_complete):
            raise ConnectionFailed(self._why_ended(transfer))

    def _on_swept(self) -> None:
        self.is_complete = True
        self.failure, self._attempts = "", 0
        self.settled.set()

    def _target(self) -> list[str]:
        port = ["-p", self._remote.port] if self._remote.port else []
        return [*port, "--", self._remote.host]

    def _far_command(self) -> str:
        size = len(far_script())
        return f"exec {self._options.python} -u -c 'import sys;exec(sys.stdin.buffer.read({size}))'"

    def _first_bytes(self) -> bytes:
        """The script and the request."""
        options, mirror = self._options, self.mirror
        limits = options.space, options.most_files, options.once, options.notebooks
        return far_script() + Request(mirror.roots, *limits, mirror.have()).encode()

    def _why_ended(self, transfer: Transfer) -> str:
        """The reason in a sentence, with what to do."""
        said, host = transfer.last_words, shlex.quote(self._remote.host)
        if transfer.frames.has_begun:
            why = "no answer" if transfer.is_silent else said
            return f"connection lost ({why})" if why else "connection lost"
        if transfer.exit_code in (126, 127):
            python = self._options.python
            return f"no {python} there: name one with --remote-python, or copy the logs with rsync"
        if re.search("(?i)permission denied|too many authentication", said):
            return f"needs a login: open a master connection first: ssh -fNM {host} ({said})"
        if re.search("(?i)host key verification", said):
            return f"not a known host: log in once by hand: ssh {host} ({said})"
        if transfer.frames.banner.strip():
            return _banner_text(transfer)
        if transfer.is_silent:
            return "no answer"
        if transfer.exit_code == 1 and said:  # a Python that is too old says so
            python = self._options.python
            return (
                f"{python} there is not Python 3.6 or newer: name one with --remote-python ({said})"
            )
        return f"cannot connect: {said or f'ssh ended with code {transfer.exit_code}'}"


def _banner_text(transfer: Transfer) -> str:
    shown = transfer.frames.banner.decode(errors="replace").strip()[:MAX_SHOWN]
    return f"its login shell prints something and does not run python: {shown}"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
