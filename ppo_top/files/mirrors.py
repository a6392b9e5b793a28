"""Folders that hold copies of the logs of another machine: what is shown in place of their paths.

The copy of `node3:/runs/a.csv` has the path `/tmp/ppo-top-mirror-.../node3:/runs/a.csv`: it tells
by itself, in a worker process too, whose log it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Protocol

MIRROR_PREFIX = "ppo-top-mirror-"
_MIRRORED = re.compile(rf"(?P<mirror>.*?/{MIRROR_PREFIX}\w+/)(?P<host>\[[^\]/]+\]|[^/:]+):")


class MirrorStatus(Protocol):
    """Something that keeps copies up to date; asked from any thread."""

    def problems(self) -> Iterable[str]:
        """What is wrong at the moment, one line each."""

    def unread(self) -> Iterable[str]:
        """Those of them by which logs are not here."""

    def lost_hosts(self) -> Iterable[tuple[str, float]]:
        """The hosts without a connection, each with the seconds since."""

    def are_settled(self) -> bool:
        """Whether everything that was there is here, or is known not to come."""


_mirrors: list[MirrorStatus] = []


def add_mirrors(status: MirrorStatus) -> None:
    """From now on ask this one, too."""
    _mirrors.append(status)


def remove_mirrors(status: MirrorStatus) -> None:
    """These copies are gone."""
    _mirrors.remove(status)


def mirror_problems() -> list[str]:
    """What is wrong with copies at the moment, one line each."""
    return [line for each in list(_mirrors) for line in each.problems()]


def unread_in_mirrors() -> list[str]:
    """What of the logs of other machines is not here, one line each."""
    return [line for each in list(_mirrors) for line in each.unread()]


def lost_hosts() -> list[tuple[str, float]]:
    """The hosts without a connection, each with the seconds since."""
    return [lost for each in list(_mirrors) for lost in each.lost_hosts()]


def mirrors_are_settled() -> bool:
    """Whether the first copies of all hosts are here, or are known not to come."""
    return all(each.are_settled() for each in list(_mirrors))


def shown_path(path: str | os.PathLike[str]) -> str:
    """The path as the user knows it: `host:path` for a copy."""
    text = os.fspath(path)
    found = _MIRRORED.match(text)
    return text[len(found["mirror"]) :] if found is not None else text


def mirrored_host(path: str | os.PathLike[str]) -> str:
    """The host whose log a path is a copy of; empty for a path of this machine."""
    found = _MIRRORED.match(os.fspath(path))
    return found["host"] if found is not None else ""
