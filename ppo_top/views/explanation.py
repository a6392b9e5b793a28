"""A verdict in a few parts: what is wrong, what it has cost, its causes, its chain of findings."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from ppo_top.catalogue import concept
from ppo_top.model import NO_STEP, Finding, Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import compact, format_metric_value
from ppo_top.views.open_findings import OpenFinding
from ppo_top.views.run_view import RunView

MAX_CAUSES = 2
"""Causes that are named; the likeliest come first."""


class Explanation(NamedTuple):
    """Why a run is in trouble, by its worst open finding.

    `chain` are the other findings in the order they began, each once: `@12k Update KL too high
    (5.12)`. `remedies` are in order of promise.
    """

    worst: OpenFinding
    causes: tuple[str, ...]
    chain: tuple[str, ...]
    remedies: tuple[str, ...]


def explain_verdict(
    view: RunView, findings: Sequence[Finding], known: Container[str] = ()
) -> Explanation | None:
    """The explanation of a run's verdict at the row of the view; None if nothing is wrong.

    `known` are rules whose findings the user has acknowledged: they are left out.
    """
    if not view.open_findings:
        return None
    worst, shown = view.open_findings[0], [each for each in findings if each.rule not in known]
    chain = sorted(_chain(worst.finding, shown, view.row or 0), key=lambda each: each.since.row)
    return Explanation(
        worst=worst,
        causes=worst.finding.causes[:MAX_CAUSES],
        chain=tuple(map(_link, chain)),
        remedies=worst.finding.remedies,
    )


def _chain(worst: Finding, findings: Sequence[Finding], row: int) -> list[Finding]:
    """The findings of one metric that the worst one combines, and those that are open beside it."""
    found: dict[str, Finding] = {}
    for finding in findings:
        severity = finding.severity_at(row)
        if finding.opened.row > row or finding.rule == worst.rule:
            continue
        is_open = severity is not None and severity > Severity.INFO
        if not finding.members and (is_open or finding.rule in worst.members):
            found[finding.rule] = finding.as_of(row)
    return list(found.values())


def _link(finding: Finding) -> str:
    """`@12k Update KL too high (5.12)`: where it began, and the value where it has a limit."""
    step = finding.since.step
    value, has_limit = "", finding.limit is not None and math.isfinite(finding.value)
    is_in_title = finding.title.endswith(")")
    if has_limit and not is_in_title and len(finding.concepts) == 1:
        value = f" ({format_metric_value(finding.value, concept(finding.concepts[0]).fmt)})"
    return f"@{compact(step)} " * (step != NO_STEP) + finding.title + value
