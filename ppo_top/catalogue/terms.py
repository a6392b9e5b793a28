"""Words of the field that are no metrics: policy, advantage, return, ..."""

from __future__ import annotations

from functools import cache

from ppo_top.catalogue.table import shared_table
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
    found = {}
    for name, others, meaning, metrics in shared_table("terms"):
        about = Term(name, meaning, tuple(metrics.split("|")))
        found.update(dict.fromkeys((name, *others.split("|")), about))
    return found
