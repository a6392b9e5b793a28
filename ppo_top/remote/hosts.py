"""All hosts of a call: paths such as `node3:/runs` become paths of copies here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ppo_top.files.mirrors import add_mirrors, remove_mirrors
from ppo_top.remote.address import RemotePath, RemotePathError, parse_remote
from ppo_top.remote.connection import Connection, ConnectionOptions
from ppo_top.remote.mirror import remove_abandoned


class Hosts:
    """The connections of a call, one for each host that its words name.

    Words that name a path of this machine are kept as they are.
    """

    def __init__(self, words: Sequence[str], options: ConnectionOptions) -> None:
        self._words = words
        self._remote = {word: found for word in words if (found := parse_remote(word)) is not None}
        hosts: dict[tuple[str, str], list[RemotePath]] = {}
        for path in self._remote.values():
            hosts.setdefault((path.host, path.port), []).append(path)
        self._connections = {name: Connection(paths, options) for name, paths in hosts.items()}

    def start(self) -> None:
        """Connect to all at once."""
        for connection in self._connections.values():
            connection.start()

    def wait(self) -> None:
        """Wait until everything that was there is here, or is known not to come."""
        for connection in self._connections.values():
            connection.settled.wait()

    def are_settled(self) -> bool:
        """Whether `wait` would return at once."""
        return all(each.settled.is_set() for each in self._connections.values())

    def close(self) -> None:
        """End all connections and delete the copies."""
        for connection in self._connections.values():
            connection.close()

    def problems(self) -> list[str]:
        """What is wrong at the moment, one line each."""
        return [line for each in self._connections.values() for line in each.problems()]

    def unread(self) -> list[str]:
        """Those of them by which logs are not here."""
        return [line for each in self._connections.values() for line in each.unread()]

    def lost_hosts(self) -> list[tuple[str, float]]:
        """The hosts without a connection, each with the seconds since."""
        every = self._connections.values()
        return [(each.mirror.label, each.lost_for_s()) for each in every if each.failure]

    def all_paths(self) -> list[str]:
        """The words, with paths of copies in place of those on another machine."""
        return [path for word in self._words for path in self._copies(word)]

    def complete_paths(self) -> list[str]:
        """As `all_paths`, without those that could not be read."""
        return [path for word in self._words if not self._why(word) for path in self._copies(word)]

    def failures(self) -> list[str]:
        """Why paths could not be read, one line each."""
        return list(dict.fromkeys(why for word in self._words if (why := self._why(word))))

    def _copies(self, word: str) -> list[str]:
        """The path of a word's copy; none if it lies inside that of another word."""
        if (remote := self._remote.get(word)) is None:
            return [word]
        mirror = self._connections[remote.host, remote.port].mirror
        pairs = zip(mirror.roots, mirror.paths, strict=True)
        return [str(path) for root, path in pairs if root == remote.path]

    def _why(self, word: str) -> str:
        """Why the path of a word could not be read; empty if it could."""
        if (remote := self._remote.get(word)) is None:
            return ""
        connection = self._connections[remote.host, remote.port]
        mirror = connection.mirror
        if not connection.is_complete:
            return f"{mirror.label}: {connection.failure}"
        number = mirror.roots.index(remote.path) if remote.path in mirror.roots else None
        state = mirror.root_states.get(number) if number is not None else None
        return f"{mirror.label}:{remote.path}: {state.why}" if state and state.why else ""

    def create_missing(self) -> None:
        """Make an empty folder for each path of a host that may answer later."""
        for connection in self._connections.values():
            connection.mirror.create_roots()


@contextmanager
def connected(words: Sequence[str], options: ConnectionOptions) -> Iterator[Hosts]:
    """Connections to the hosts of some words, inside the block; raises `RemotePathError`."""
    remove_abandoned()
    try:
        hosts = Hosts(words, options)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise RemotePathError(f"{tempfile.gettempdir()}: no room for copies: {why}") from None
    add_mirrors(hosts)
    try:
        hosts.start()
        yield hosts
    finally:
        remove_mirrors(hosts)
        hosts.close()
