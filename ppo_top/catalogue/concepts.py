"""The metrics that training logs hold, whatever the trainer, and their table."""

from __future__ import annotations

import re
from functools import cache

from ppo_top.catalogue.table import shared_table
from ppo_top.model.named_tuple import NamedTuple

LABEL_WIDTH = 18
"""Longest label in characters, so that a narrow checklist can hold them."""

MACHINE_GROUP = "Machine"
"""The group of what trackers measure of the machine, not of the training."""

METRIC_GROUPS = (
    "Reward",
    "Policy step",
    "Exploration",
    "KL to reference",
    "Critic",
    "Generation",
    "Optimiser",
    "Mismatch",
    "Progress",
    "Speed",
    MACHINE_GROUP,
)
"""The groups of metrics, in drawing order."""

OTHER_GROUP = "Other"
"""The group of tags that map to no metric."""

TAG_PREFIX = "tag:"
"""Prefix of the name of a track whose tag maps to no metric."""


DISTRIBUTION_SUFFIX = "_dist"
"""Suffix of histograms; `reward_p50` is a quantile of `reward_dist`."""

MAX_NAME_CHARS = 40
"""No name of a metric is longer."""

_QUANTILE = re.compile(r"(.+)_(p\d+)")


class Concept(NamedTuple):
    """One metric.

    `direction`: `up`, `down` (better), `band`, `near 0`, `near 1`, `flat`, `info`, `mono` (a
    counter). `fmt`: `4g`, `pct`, `int`, `lr` or `s`. `meaning` is one sentence, `why` what it
    says about a run (may be empty), `order` its position in the table.
    """

    name: str
    group: str
    direction: str
    unit: str
    fmt: str
    label: str
    meaning: str
    why: str
    order: int


@cache
def concepts() -> dict[str, Concept]:
    """All metrics by name, in order; those with a parameter are spelt with `{f}`."""
    lines = enumerate(shared_table("concepts"))
    found = (Concept._make((*[*cells, ""][:8], order)) for order, cells in lines)
    return {each.name: each for each in found}


def concept_stem(name: str) -> str:
    """A metric's name without its parameter."""
    return name.partition("{")[0]


def is_concept(name: str) -> bool:
    """Whether a name is that of a metric, with or without its parameter filled in."""
    return name in concepts() or _template(name) is not None


def concept_like(name: str) -> str:
    """The name itself if it is that of a metric, else the nearest one; empty if none is near."""
    if is_concept(name):
        return name
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:MAX_NAME_CHARS], list(concepts()), 1)), "")


def concept(name: str) -> Concept:
    """The metric of a name, parameter filled in; other names get an unjudged one in `Other`."""
    found = concepts().get(name)
    if found is not None:
        return found
    template = _template(name)
    if template is None:
        tag = name.removeprefix(TAG_PREFIX)
        return Concept(
            name, OTHER_GROUP, "info", "", "4g", shorten_label(tag), f"Logged as {tag}.", "", 9999
        )
    parameter = _parameter(name)
    label = template.label.replace("{f}", parameter)
    if label == template.label:
        label = f"{label.removesuffix(' histogram')} {parameter}"
    return template._replace(name=name, label=shorten_label(label))


def _template(name: str) -> Concept | None:
    """The table entry whose parameter or quantile a name fills in."""
    stem, brace, _ = name.partition("{")
    if brace and name.endswith("}"):
        whole = stem if stem.endswith(DISTRIBUTION_SUFFIX) else stem + "{f}"
        return concepts().get(whole)
    quantile = _QUANTILE.fullmatch(name)
    return concepts().get(quantile[1] + DISTRIBUTION_SUFFIX) if quantile else None


def _parameter(name: str) -> str:
    return name[name.index("{") + 1 : -1] if name.endswith("}") else name.rpartition("_")[2]


def shorten_label(label: str) -> str:
    """A label of at most `LABEL_WIDTH` characters, cut at the front: the end says more."""
    return label if len(label) <= LABEL_WIDTH else "…" + label[-LABEL_WIDTH + 1 :]
