"""What came out of each last part: stored when it is judged, which happens once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

JUDGED_PARTS = Path(__file__).resolve().parent


class RefusedError(Exception):
    """The last part may not be trained or judged (again)."""


def judge_once(
    folder: Path, commit: str, environments: Iterable[str], judge: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Judge and store date, commit, environments and figures.

    Raises `RefusedError` if one of the environments stands in a part that has been judged.
    """
    names = sorted(set(environments))
    refuse_if_judged(folder, names)
    today = datetime.now(UTC).date().isoformat()
    stored = {"date": today, "commit": commit, "environments": names, "figures": judge()}
    folder.mkdir(exist_ok=True)
    text = json.dumps(stored, indent=1) + "\n"
    (folder / f"{today}-{commit[:8]}-{names[0]}.json").write_text(text, encoding="utf-8")
    return stored


def judged_parts(folder: Path = JUDGED_PARTS) -> list[dict[str, Any]]:
    """What is stored of the parts that have been judged, the newest first."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json")))
    return [json.loads(text) for text in texts][::-1]


def refuse_if_judged(folder: Path, environments: Iterable[str]) -> None:
    """Raise `RefusedError` if there are figures already."""
    for stored in judged_parts(folder):
        if not set(environments).isdisjoint(stored["environments"]):
            raise RefusedError(f"judged on {stored['date']} at commit {stored['commit']}")
