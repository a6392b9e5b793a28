"""A trainer's table: which of its tags means what, read from a file beside this one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

TABLES_FOLDER = Path(__file__).parent
"""The tables stand beside the code. They are read as plain files: importing a reader of package
resources would take longer than reading them all."""

SHARED_TABLES = {"concepts", "hyperparameters", "likeness"}
"""The tables that are about all trainers; every other one is a trainer's."""

NO_CONCEPT = "-"
"""The concept of a tag that is known and stands for none."""

AXIS_PREFIX = "axis:"
"""Begins the word that says that a tag counts its steps in something else than the run does."""

_SCALES = {"neg": (-1.0, 0.0), "pct": (0.01, 0.0), "ms": (0.001, 0.0), "1-x": (-1.0, 1.0)}


@dataclass(frozen=True, slots=True)
class TagEntry:
    """One line of a table: a tag (or a pattern), its concept, and how one becomes the other.

    `modifiers` are those of the third column: `=`, `neg`, `pct`, `ms` and `1-x` say what to do with
    the number, `bin` that there is a point an episode, `zero-missing` that 0 stands for "none",
    `axis:...` what the steps count, `ignore` that it is not worth a look; others (`k1`, `binding`,
    ...) say how the trainer computes it.
    """

    tag: str
    concept: str
    modifiers: tuple[str, ...]
    note: str
    line: int

    @property
    def scale(self) -> tuple[float, float]:
        """(factor, summand) that make the concept's value of the logged number."""
        return next((_SCALES[word] for word in self.modifiers if word in _SCALES), (1.0, 0.0))

    @property
    def axis(self) -> str | None:
        """What the steps count, where that is not what the run counts."""
        return next(
            (w.removeprefix(AXIS_PREFIX) for w in self.modifiers if w.startswith(AXIS_PREFIX)), None
        )


@dataclass(slots=True)
class TagTable:
    """All that is known of one trainer's names."""

    id: str
    label: str = ""
    family: str = "unknown"
    order: int = 1000
    prefix: str = ""
    ignore_case: bool = False
    like: str = ""
    total_options: tuple[str, ...] = ()
    missing_options: tuple[str, ...] = ()
    evidence: list[tuple[str, ...]] = field(default_factory=list)
    algorithms: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    entries: dict[str, TagEntry] = field(default_factory=dict)
    _patterns: list[tuple[re.Pattern[str], TagEntry]] | None = None

    def normalise_tag(self, tag: str) -> str:
        """A tag as the table spells it: without the prefix that some trackers put before it."""
        if self.prefix and tag.startswith(self.prefix):
            tag = tag[len(self.prefix) :]
        elif self.prefix and tag.startswith("eval_"):
            tag = "eval/" + tag[len("eval_") :]
        return tag.lower() if self.ignore_case else tag

    def find_entry(self, tag: str) -> tuple[TagEntry, str] | None:
        """The line for a tag and the text that its parameter stands for, or None."""
        plain = self.normalise_tag(tag)
        entry = self.entries.get(plain)
        if entry is not None:
            return entry, ""
        for pattern, entry in self.patterns():
            match = pattern.fullmatch(plain)
            if match:
                return entry, match[1]
        inherited = trainer_tables().get(self.like)
        return inherited.find_entry(tag) if inherited else None

    def patterns(self) -> list[tuple[re.Pattern[str], TagEntry]]:
        """The lines with a parameter, the more specific ones first."""
        if self._patterns is None:
            lines = [each for each in self.entries.values() if "{f}" in each.tag or "*" in each.tag]
            lines.sort(key=lambda entry: -len(entry.tag))
            self._patterns = [(_pattern(entry.tag), entry) for entry in lines]
        return self._patterns


def _pattern(tag: str) -> re.Pattern[str]:
    """`rewards/{f}/mean` as an expression; at the end of a tag the parameter is one component.

    `*` stands for anything.
    """
    before, parameter, after = tag.partition("{f}")
    inside = ("(.+)" if after else "([^/]+)") if parameter else "()"
    parts = (".*".join(map(re.escape, part.split("*"))) for part in (before, after))
    return re.compile(inside.join(parts))


@cache
def trainer_tables() -> dict[str, TagTable]:
    """Every trainer's table by its id, in the order in which they are tried on a log."""
    read = [
        _read_table(path) for path in TABLES_FOLDER.glob("*.tsv") if path.stem not in SHARED_TABLES
    ]
    return {table.id: table for table in sorted(read, key=lambda table: table.order)}


def table_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The numbered lines of a table as cells; comments and empty lines are left out."""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def _read_table(path: Path) -> TagTable:
    table = TagTable(path.stem)
    for number, cells in table_rows(path.read_text(encoding="utf-8")):
        if cells[0].startswith("!"):
            _apply_head_line(table, cells[0][1:], cells[1:])
            continue
        tag, concept, how, note = (*cells, "", "", "")[:4]
        key = tag.lower() if table.ignore_case else tag
        table.entries[key] = TagEntry(tag, concept, tuple(how.split()), note, number)
    return table


def _apply_head_line(table: TagTable, key: str, cells: list[str]) -> None:
    """Take one line of a table's head."""
    if key in ("label", "family", "prefix", "like"):
        setattr(table, key, cells[0])
    elif key == "order":
        table.order = int(cells[0])
    elif key == "fold":
        table.ignore_case = cells[0] == "case"
    elif key == "total":
        table.total_options = tuple(cells[0].split())
    elif key == "without":
        table.missing_options = tuple(cells[0].split())
    elif key == "evidence":
        table.evidence.append(tuple(cells[0].split(" & ")))
    elif key == "algorithm":
        table.algorithms.append((cells[0], tuple(cells[1].split(" & "))))
    else:
        raise ValueError(f"{table.id}: unknown head line {key!r}")
