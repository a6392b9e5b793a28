"""Our own bugs: one in a reader or a rule disables only that, and is logged.

The log in the user's state directory has what a bug report needs: version and traceback, but
nothing of the training log except what the error itself quotes. If that directory lies inside a
watched path nothing is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ppo_top import __version__
from ppo_top.paths import is_file, lies_among, make_own_directory, state_directory

ERROR_LOG_NAME = "errors.log"
MAX_ERROR_LOG_BYTES = 256 * 1024
"""A larger log is overwritten."""
MAX_ERROR_REPORTS = 20
"""At most this many per session: by then a bug in every row has been reported often enough."""

_no_write_paths: list[Path] = []
_reported: dict[str, str] = {}
"""line of code -> where its report was written, in words"""


def forbid_writes_below(paths: Iterable[Path]) -> None:
    """Write nothing below these paths, until each is allowed again as often as it is forbidden."""
    _no_write_paths.extend(map(Path.absolute, paths))


def allow_writes_below(paths: Iterable[Path]) -> None:
    """Take `forbid_writes_below` back, once nothing of these paths is at work any more."""
    for path in map(Path.absolute, paths):
        with suppress(ValueError):
            _no_write_paths.remove(path)


def report_internal_error(
    where: str, error: Exception, environ: Mapping[str, str] = os.environ
) -> str:
    """Log a bug, once for each line of code; return the message for the screen."""
    import traceback

    message = f"{where} failed: {error!r}"
    text = "".join(traceback.format_exception(error))
    last = traceback.extract_tb(error.__traceback__)[-1:]
    line = f"{where} {last}"
    if line not in _reported and len(_reported) < MAX_ERROR_REPORTS:
        path = state_directory(environ) / ERROR_LOG_NAME
        _reported[line] = _write_report(f"{message}\n{text}", path)
    return message + _reported.get(line, "")


def _write_report(text: str, path: Path) -> str:
    """Append a report; return where it is, or nothing if it cannot be written."""
    if lies_among(path, _no_write_paths):
        return ""
    import platform

    when = time.strftime("%Y-%m-%d %H:%M:%S%z")
    heading = f"--- {when} ppo-top {__version__}, Python {platform.python_version()}"
    try:
        _append(path, f"{heading}\n{text}\n")
    except OSError:
        return ""
    return f" (see {path})"


def _append(path: Path, text: str) -> None:
    make_own_directory(path.parent)
    fresh = is_file(path) and path.stat().st_size > MAX_ERROR_LOG_BYTES
    with open(path, "w" if fresh else "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
