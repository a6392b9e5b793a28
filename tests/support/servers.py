"""Programs of other projects that tests marked `servers` start, each in a directory of its own."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn

import pytest

REQUIRED = "PPO_TOP_SERVERS_REQUIRED"
"""Set where the programs have just been installed: a missing one is no reason to skip."""

PATIENCE_S = 60.0


def program(*names: str) -> str:
    """The path of a program by one of its names; without it the test is skipped."""
    return next(filter(None, map(shutil.which, names)), None) or missing(names[0])


def library(name: str) -> Any:
    """A module of another project; without it the tests of the file are skipped."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(name)


def missing(name: str) -> NoReturn:
    """Skip, or fail where the program has just been installed."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"needs {name}")
    pytest.skip(f"needs {name}", allow_module_level=True)


def free_address() -> str:
    """An address of this machine on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return f"127.0.0.1:{found.getsockname()[1]}"


@contextmanager
def started(command: Sequence[str | Path], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A server while the block runs; what it says is in a file in its folder."""
    with open(folder / f"{Path(command[0]).name}.log", "w+") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, text=True)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(20)


def get(url: str) -> bytes:
    """The body of a page."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        body: bytes = answer.read()
        return body


def eventually(found: Callable[[], Any], what: str) -> Any:
    """The first true result of a function that asks a server; fails after a minute."""
    end, result = time.monotonic() + PATIENCE_S, None
    while time.monotonic() < end:
        try:
            result = found()
        except OSError:  # it does not listen yet
            result = None
        if result:
            return result
        time.sleep(0.1)
    pytest.fail(f"no {what} after {PATIENCE_S:.0f} s; last: {result!r}")


class Webhook:
    """Receives what Alertmanager sends."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        messages = self.messages

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                messages.append(json.loads(self.rfile.read(size)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def alerts(self, status: str, name: str) -> list[dict[str, Any]]:
        """The alerts of a name that were sent as `firing` or `resolved`."""
        sent = [alert for message in list(self.messages) for alert in message["alerts"]]
        return [a for a in sent if a["status"] == status and a["labels"]["alertname"] == name]

    def close(self) -> None:
        """Receive no more."""
        self._server.shutdown()
        self._server.server_close()
