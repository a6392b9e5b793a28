"""When a picture cannot be drawn: the program lives on, says so, and keeps what a report needs."""

from __future__ import annotations

import time
import traceback
from contextlib import suppress
from pathlib import Path

from ppo_top.tui.frame import Block
from ppo_top.tui.spans import Line, line, wrap
from ppo_top.words import clean

LARGEST = 256 * 1024
"""The file of mishaps is begun anew beyond this size."""


def keep(error: Exception, folder: Path | None) -> str:
    """Write the traceback to a file in a folder (None: nowhere); gives the words for the screen."""
    words = f"{type(error).__name__}: {error}"
    if folder is None:
        return words
    path = folder / "errors.log"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        mode = "w" if path.exists() and path.stat().st_size > LARGEST else "a"
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(time.strftime("%Y-%m-%d %H:%M:%S\n"))
            file.writelines(traceback.format_exception(error))
        return f"{words} (more in {path})"
    return words


def picture_of(words: str, cells: int, rows: int) -> Block:
    """A screen that says what went wrong and which keys lead on."""
    lines: list[Line] = [line((" ppo-top", "brand")), ()]
    text = f"This cannot be drawn, which is a fault of ppo-top. {words}"
    lines += [line(" ", (row, "crit")) for row in wrap(clean(text), max(cells - 2, 4))]
    lines += [(), line(" Esc leaves this view, , and . change the run, q quits.")]
    return Block([*lines[:rows], *[()] * (rows - len(lines))])
