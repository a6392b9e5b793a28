"""A trainer's table of tags, read from a TSV file in this folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.model import UNKNOWN_SAMPLE, Sample
from ppo_top.model.named_tuple import NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def _tables_folder() -> Traversable:
    """The folder of this module, also in a zip file.

    Importing importlib.resources takes longer than reading all tables, so that is for a zip only.
    """
    folder = Path(__file__).parent
    if folder.is_dir():
        return folder
    from importlib.resources import files

    return files("ppo_top.catalogue")


TABLES_FOLDER = _tables_folder()

TABLE_SUFFIX = ".tsv"
SHARED_TABLES = {
    "algorithms", "cause_counts", "causes", "checkpoints", "concepts", "crucial", "environments",
    "families", "hyperparameters", "likeness", "limits", "machine", "printed_runs", "terms",
}  # fmt: skip
"""The tables shared by all trainers; every other table is one trainer's."""

NO_CONCEPT = "-"
"""Marks a known tag that maps to no metric."""

_SCALES = {"neg": (-1.0, 0.0), "pct": (0.01, 0.0), "ms": (0.001, 0.0), "1-x": (-1.0, 1.0)}


class TagEntry(NamedTuple):
    """One line of a table: a tag (or a pattern), its metric, and how to convert it.

    `modifiers` (third column): `=`, `neg`, `pct`, `ms` and `1-x` convert the number, `bin` means
    one point per episode, `window:100` a mean of the last 100 episodes, `update` a mean of what one
    update collected, `step` a mean of its steps, `zero-missing` that 0 is no measurement, `ignore`
    neither drawn nor judged (such as the same curve on another axis).
    """

    tag: str
    concept: str
    modifiers: tuple[str, ...]
    note: str
    line: int

    @property
    def scale(self) -> tuple[float, float]:
        """(scale, offset) from the logged number to the metric."""
        return next((_SCALES[word] for word in self.modifiers if word in _SCALES), (1.0, 0.0))

    @property
    def sample(self) -> Sample:
        """What one point is; unknown unless a modifier says so."""
        for word in self.modifiers:
            kind, _, episodes = word.partition(":")
            if kind in ("bin", "window", "update", "step"):
                return Sample("episode" if kind == "bin" else kind, int(episodes or 0))
        return UNKNOWN_SAMPLE


class TagTable:
    """One trainer's table: head lines and tags.

    `families` are those that tags prove, whatever the algorithm. `facts` are what its code does, by
    name, for rules and advice; `missing` says of a metric why this trainer does not log it.
    """

    def __init__(self, id_: str, text: str) -> None:
        self.id = id_
        self._text = text
        self.label = ""
        self.order = 1000
        self.prefix = ""
        self.ignore_case = False
        self.like = ""
        self.total_options: tuple[str, ...] = ()
        self.missing_options: tuple[str, ...] = ()
        self.evidence: list[tuple[str, ...]] = []
        self.algorithms: list[tuple[str, tuple[str, ...]]] = []
        self.families: list[tuple[str, tuple[str, ...]]] = []
        self.facts: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    @cached_property
    def entries(self) -> dict[str, TagEntry]:
        """The lines by tag; a run needs those of its own trainer only."""
        found: dict[str, TagEntry] = {}
        for number, cells in table_rows(self._text):
            if not cells[0].startswith("!"):
                tag, concept, how, note = (*cells, "", "", "")[:4]
                key = tag.lower() if self.ignore_case else tag
                found[key] = TagEntry(tag, concept, tuple(how.split()), note, number)
        return found

    @cached_property
    def flat_tags(self) -> dict[str, str]:
        """The tags by their spelling with `_` for `/`, as columns of databases and scripts have."""
        return {tag.replace("/", "_"): tag for tag in self.entries if "/" in tag}

    def normalise_tag(self, tag: str) -> str:
        """A tag as the table spells it, without a tracker's prefix."""
        if self.prefix and tag.startswith(self.prefix):
            tag = tag[len(self.prefix) :]
        elif self.prefix and tag.startswith("eval_"):
            tag = "eval/" + tag[len("eval_") :]
        return tag.lower() if self.ignore_case else tag

    def find_entry(self, tag: str) -> tuple[TagEntry, str] | None:
        """The line for a tag and the value of its parameter, or None."""
        plain = self.normalise_tag(tag)
        entry = self.entries.get(plain) or self.entries.get(self.flat_tags.get(plain, ""))
        if entry is not None:
            return entry, ""
        for pattern, entry in self._patterns:
            match = pattern.fullmatch(plain)
            if match:
                return entry, match[1]
        inherited = trainer_tables().get(self.like)
        return inherited.find_entry(tag) if inherited else None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], TagEntry]]:
        """The lines with a parameter, most specific first."""
        lines = [each for each in self.entries.values() if "{f}" in each.tag or "*" in each.tag]
        lines.sort(key=lambda entry: -len(entry.tag))
        return [(_pattern(entry.tag), entry) for entry in lines]


def _pattern(tag: str) -> re.Pattern[str]:
    """`rewards/{f}/mean` as a regex; a final parameter is one path component, `*` anything."""
    before, parameter, after = tag.partition("{f}")
    inside = ("(.+)" if after else "([^/]+)") if parameter else "()"
    parts = (".*".join(map(re.escape, part.split("*"))) for part in (before, after))
    return re.compile(inside.join(parts))


@cache
def trainer_tables() -> dict[str, TagTable]:
    """Every trainer's table by id (the file name), in the order they are tried on a log."""
    tables = (path for path in TABLES_FOLDER.iterdir() if path.name.endswith(TABLE_SUFFIX))
    own = (path for path in tables if path.name.removesuffix(TABLE_SUFFIX) not in SHARED_TABLES)
    return {table.id: table for table in sorted(map(_read_table, own), key=lambda each: each.order)}


def table_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The numbered lines of a table as cells, without comments and empty lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def shared_table(name: str) -> Iterator[list[str]]:
    """The lines of a table that all trainers share, as cells."""
    text = (TABLES_FOLDER / f"{name}{TABLE_SUFFIX}").read_text(encoding="utf-8")
    return (cells for _, cells in table_rows(text))


def _read_table(path: Traversable) -> TagTable:
    text = path.read_text(encoding="utf-8")
    table = TagTable(path.name.removesuffix(TABLE_SUFFIX), text)
    for line in text.splitlines():
        if line.startswith("!"):
            key, *cells = line[1:].split("\t")
            _apply_head_line(table, key, cells)
    return table


def _apply_head_line(table: TagTable, key: str, cells: list[str]) -> None:
    """Apply one head line; ValueError if unknown."""
    if key in ("label", "prefix", "like"):
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
    elif key == "fact":
        table.facts[cells[0]] = cells[1] if len(cells) > 1 else "yes"
    elif key == "missing":
        table.missing[cells[0]] = cells[1]
    elif key in ("algorithm", "family"):
        proven = table.algorithms if key == "algorithm" else table.families
        proven.append((cells[0], tuple("".join(cells[1:] or "*").split(" & "))))
    else:
        raise ValueError(f"{table.id}: unknown head line {key!r}")
