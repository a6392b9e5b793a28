"""Words of the field that are no metrics: policy, advantage, return, ..."""

from __future__ import annotations

from functools import cache

from ppo_top.catalogue.table import TABLES_FOLDER, table_rows
from ppo_top.model.named_tuple import NamedTuple


class Term(NamedTuple):
    """A word, what it means, and the metrics that show it."""

    name: str
    meaning: str
    metrics: tuple[str, ...]


def term(name: str) -> Term | None:
    """The term of this name (any case, blanks or underscores), or None."""
    return _terms().get(name.lower().replace("_", " "))


@cache
def _terms() -> dict[str, Term]:
    """Terms by each of their names."""
    text = (TABLES_FOLDER / "terms.tsv").read_text(encoding="utf-8")
    found = {}
    for _, (name, others, meaning, metrics) in table_rows(text):
        about = Term(name, meaning, tuple(metrics.split("|")))
        found.update(dict.fromkeys((name, *others.split("|")), about))
    return found
