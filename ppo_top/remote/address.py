"""Words such as `node3:/scratch/runs`: which of them mean another machine, and which machine."""

from __future__ import annotations

import os
import posixpath
import re

from ppo_top.model.named_tuple import NamedTuple

_SCP = re.compile(r"(?P<host>\[[^\]/]+\]|[^/:\[\]]+):(?P<path>.*)", re.DOTALL)
_URL = re.compile(r"ssh://(?P<host>[^/]+?)(?::(?P<port>\d{1,5}))?(?P<path>/.*)?", re.DOTALL)
_BRACKETS = re.compile(r"\[(?P<host>[^:\]]+):(?P<port>\d{1,5})\]|\[(?P<address>[^\]]+)\]")
_HOST = re.compile(r"(?!-)[^\s/'\"\\;&|<>$`*?()\x00-\x1f]+")
"""What is handed to ssh as a host: never an option, nothing that a shell would read."""


class RemotePathError(ValueError):
    """A path on another machine that cannot be used; its text says why."""


class RemotePath(NamedTuple):
    """A path on another machine: `host` is what ssh is told; `~` is the home there."""

    host: str
    port: str
    path: str

    @property
    def label(self) -> str:
        """The host, with its port if one was given."""
        if self.port:
            return f"[{self.host}:{self.port}]"
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_remote(word: str) -> RemotePath | None:
    """The path on another machine that a word means; None for a path on this one.

    The rule is that of scp: a colon before any slash, unless there is such a file here. Raises
    `RemotePathError` for a host that could not be one.
    """
    url = _URL.fullmatch(word)
    found = url or _SCP.fullmatch(word)
    if found is None or (url is None and os.path.lexists(word)):
        return None
    host, port = found["host"], (url["port"] or "") if url is not None else ""
    if (inner := _BRACKETS.fullmatch(host)) is not None:
        host, port = inner["host"] or inner["address"], inner["port"] or port
    if _HOST.fullmatch(host) is None:
        raise RemotePathError(f"{word}: not the name of a host; a local path is written ./{word}")
    path = found["path"] or "~"
    if url is not None and path.startswith("/~"):
        path = path[1:]
    if not path.startswith(("/", "~")):
        path = f"~/{path}"
    if "\0" in path or ".." in path.split("/"):
        raise RemotePathError(f"{word}: give the path without `..`")
    return RemotePath(host, port, posixpath.normpath(path))
