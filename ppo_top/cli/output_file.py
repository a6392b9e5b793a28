"""The file that a command writes, which is never among the logs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ppo_top.cli.options import UsageError
from ppo_top.paths import is_folder, lies_among

STDOUT = "-"


def refuse_among_logs(output: str, paths: Sequence[Path]) -> None:
    """UsageError if the file to write lies among the logs, or in no directory."""
    if output == STDOUT:
        return
    if not output:
        raise UsageError("an empty FILE to write: is a variable of the shell unset?")
    if lies_among(output, paths):
        why = "lies among the logs; give another directory"
        raise UsageError(f"{output}: {why}{_place_beside(output, paths)}")
    if not is_folder(Path(output).parent):
        raise UsageError(f"{output}: no such directory")


def _place_beside(output: str, paths: Sequence[Path]) -> str:
    """A place for a file beside one of the directories with logs: `, such as ../report.html`."""
    for path in paths:
        beside = os.path.relpath(path.absolute().parent / Path(output).name)
        if not lies_among(beside, paths):
            return f", such as {beside}"
    return ""


def write_output(output: str, text: str) -> None:
    """Write a file so that nobody sees half of it, or to stdout; UsageError if it cannot be."""
    data = text.encode("utf-8", "replace")
    if output == STDOUT:
        sys.stdout.buffer.write(data)
        return
    path = Path(output).resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a named pipe
            path.write_bytes(data)
            return
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"{output}: {error.strerror or error}") from None
