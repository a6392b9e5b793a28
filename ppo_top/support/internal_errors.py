"""Our own mistakes: a defect in a reader or a rule takes down that one thing and is written down.

The note in the user's state directory holds what a report needs: version, place, traceback. It
holds nothing of the log but what the error itself says. Where the state directory lies inside a
watched path nothing is written, for nothing ever is there.
"""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ppo_top import __version__
from ppo_top.paths import is_file, state_directory

ERROR_LOG_NAME = "errors.log"
MAX_ERROR_LOG_BYTES = 256 * 1024
"""A file that has grown beyond this begins anew."""
MAX_ERROR_REPORTS = 20
"""So many in one session: a defect that comes with every row is told often enough by then."""

_no_write_paths: list[Path] = []
_reported: dict[str, str] = {}
"""Place in the code -> where it was noted, in words."""


def forbid_writes_below(paths: Iterable[Path]) -> None:
    """From now on nothing may be written below these."""
    _no_write_paths.extend(
        path for path in map(Path.absolute, paths) if path not in _no_write_paths
    )


def report_internal_error(
    where: str, error: Exception, environ: Mapping[str, str] = os.environ
) -> str:
    """Write a defect down, once for each place in the code; gives it in words for the screen."""
    words = f"{where} failed: {error!r}"
    text = "".join(traceback.format_exception(error))
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f"{where} {last}"
    if place not in _reported and len(_reported) < MAX_ERROR_REPORTS:
        _reported[place] = _write_report(
            f"{words}\n{text}", state_directory(environ) / ERROR_LOG_NAME
        )
    return words + _reported.get(place, "")


def _write_report(text: str, path: Path) -> str:
    """Write a note; gives where it is, or nothing where it cannot be: it was told on the screen."""
    if any(path.resolve().is_relative_to(root.resolve()) for root in _no_write_paths):
        return ""
    try:
        _append(path, f"{_heading()}\n{text}\n")
    except OSError:
        return ""
    return f" (noted in {path})"


def _heading() -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S%z")
    return f"--- {when} ppo-top {__version__}, Python {platform.python_version()}"


def discard_stdout() -> None:
    """The reader of our output is gone (`| head`): that is its right, and no error of ours."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = is_file(path) and path.stat().st_size > MAX_ERROR_LOG_BYTES
    with open(path, "w" if fresh else "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
