"""Compares what two checkouts say of the same logs: `python tools/compare_answers.py OLD [LOGS]`.

OLD is a folder with another version of the project (`git worktree add OLD COMMIT`); without LOGS
the shipped runs and the corpus are judged. Each value of `check --json` that differs is printed
with its path, and so is each command whose `export` differs. Prose (messages, evidence, causes,
advice, ranges in words, the text beside a state) and words that were renamed on purpose do not
count. The exit code is 1 where something differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROSE = {
    *("version", "message", "evidence", "causes", "try", "title", "source", "what", "healthy"),
    *("state_text", "note", "label", "members"),
}
"""Keys whose values are sentences."""


def run(tree: Path, *arguments: str) -> bytes:
    """The standard output of the program as it stands in a tree."""
    with tempfile.TemporaryDirectory() as home:
        names = ("CACHE", "CONFIG", "STATE")
        own = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in names}
        env = {**os.environ, **own, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "ppo_top", *arguments]
        return subprocess.run(
            command,
            cwd=tree,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        ).stdout


def differences(
    old: object, new: object, renamed: dict[str, str], path: str = ""
) -> Iterator[tuple[str, object, object]]:
    """Every value that differs, with where it stands."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted((old.keys() | new.keys()) - PROSE):
            yield from differences(old.get(key), new.get(key), renamed, f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        for number, (one, other) in enumerate(zip_longest(old, new)):
            yield from differences(one, other, renamed, f"{path}[{number}]")
    elif old != new and renamed.get(str(old), old) != new:
        yield path, old, new


def compare(old: Path, logs: str, renamed: dict[str, str]) -> Iterator[str]:
    """A line for each thing that the two versions say differently of some logs."""
    before, now = (json.loads(run(tree, "check", "--json", logs)) for tree in (old, ROOT))
    for path, one, other in differences(before, now, renamed):
        yield f"{logs}{path}: {one!r} -> {other!r}"
    for options in (("csv", "all"), ("csv", "best"), ("jsonl", "all")):
        command = ("export", "--format", options[0], "--source", options[1], logs)
        sums = {hashlib.sha256(run(tree, *command)).hexdigest() for tree in (old, ROOT)}
        if len(sums) > 1:
            yield f"{' '.join(command)} differs"


def main() -> int:
    """Print the differences, grouped by where in the object they stand."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path, help="a folder with another version of the project")
    parser.add_argument("logs", nargs="*", default=[f"{ROOT}/demo_logs", f"{ROOT}/corpus/runs"])
    parser.add_argument(
        "--renamed", action="append", default=[], metavar="OLD=NEW", help="a word, may be repeated"
    )
    options = parser.parse_args()
    renamed = {"unknown": "ended", **dict(pair.split("=", 1) for pair in options.renamed)}
    found = [
        line
        for logs in options.logs
        for line in compare(options.old.resolve(), str(Path(logs).resolve()), renamed)
    ]
    print("\n".join(found) or "the same answers")
    kinds = {re.sub(r"\[\d+\]", "[]", line.partition(":")[0]) for line in found}
    if kinds:
        print(f"{len(found)} differences in {len(kinds)} places", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
