"""One charted series as CSV: in a file, never where logs are nor over another one, or as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ppo_top.output.export import track_points, write_csv
from ppo_top.paths import lies_among
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run

MAX_NAME_CHARS = 100


class SeriesFileError(Exception):
    """Why nothing was written."""


def write_series(run: Run, track: Track, seen: int, folder: Path, logs: Iterable[Path]) -> Path:
    """Write the first `seen` points of a series into a folder; the file's path.

    SeriesFileError if the folder lies in one of the watched paths `logs`, or cannot be written to.
    The columns are those of `ppo-top export`.
    """
    if lies_among(folder, (path if path.is_dir() else path.parent for path in logs)):
        raise SeriesFileError("nothing is written where logs are; start ppo-top elsewhere")
    stem = re.sub(r"[^\w.=+-]+", "_", f"{run.name}-{track.concept}")[:MAX_NAME_CHARS].strip("._")
    path, number = folder / f"{stem}.csv", 1
    while True:
        try:
            with open(path, "x", encoding="utf-8", newline="") as file:
                write_csv(track_points(run, track, seen), file)
            return path
        except FileExistsError:
            number += 1
            path = folder / f"{stem}-{number}.csv"
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise SeriesFileError(f"{path.name} cannot be written: {why}") from None


def series_text(track: Track, seen: int, most_chars: int) -> tuple[str, int]:
    """The newest of the first `seen` points that fit, as lines `step,value`, and their number."""
    head, rows = "step,value\n", list[str]()
    left = most_chars - len(head)
    for at in range(seen - 1, -1, -1):
        row = f"{track.steps[at]},{track.values[at]!r}\n"
        if len(row) > left:
            break
        left -= len(row)
        rows.append(row)
    return head + "".join(reversed(rows)), len(rows)
