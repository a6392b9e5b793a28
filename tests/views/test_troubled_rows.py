"""Where a metric was in trouble: colours belong to the rows where something was true."""

from __future__ import annotations

import math

from ppo_top.model import Finding, Mark, Severity, SeverityChange, Status
from ppo_top.rules.engine.ranges import Band
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.views.troubled_rows import RowStatus, column_statuses, meaningful, troubled_rows

OK, WATCH, WARN, CRIT = Status.OK, Status.WATCH, Status.WARN, Status.CRIT
KL_BAND = Band(None, 0.02, None, 0.03, "practice")


def mark(row: int) -> Mark:
    """A point of the timeline."""
    return Mark(row, row * 2048, math.nan)


def finding(
    since: int,
    changes: dict[int, Severity],
    cleared: int | None = None,
    concepts: tuple[str, ...] = ("approx_kl",),
    rule: str = "kl-high",
    members: tuple[str, ...] = (),
) -> Finding:
    """A finding with its severity from each row on."""
    return Finding(
        rule,
        "title",
        concepts,
        mark(since),
        [SeverityChange(mark(row), severity) for row, severity in changes.items()],
        0.1,
        0.02,
        "message",
        cleared=None if cleared is None else mark(cleared),
        members=members,
    )


def test_a_finding_colours_from_its_first_bad_row_until_it_cleared() -> None:
    """It was raised at row 7 because of what began at row 5; it got worse at 9, ended at 12."""
    found = finding(5, {7: Severity.WARN, 9: Severity.CRIT}, cleared=12)
    assert troubled_rows([found], "approx_kl", 20) == (
        RowStatus(5, 8, WARN),
        RowStatus(9, 11, CRIT),
    )


def test_the_past_is_coloured_as_it_was_known_then() -> None:
    """Before it was raised a finding colours nothing; while open it reaches to the cursor."""
    found = finding(5, {7: Severity.WARN, 9: Severity.CRIT}, cleared=12)
    assert troubled_rows([found], "approx_kl", 6) == ()
    assert troubled_rows([found], "approx_kl", 8) == (RowStatus(5, 8, WARN),)
    assert troubled_rows([found], "approx_kl", 10)[-1] == RowStatus(9, 10, CRIT)


def test_only_findings_on_the_metric_colour_it() -> None:
    """Others do not; a diagnosis colours only the setting that it blames; a remark nothing."""
    other = finding(0, {1: Severity.CRIT}, concepts=("entropy",))
    diagnosis = finding(0, {1: Severity.CRIT}, concepts=("approx_kl", "lr"), members=("kl-high",))
    remark = finding(0, {1: Severity.INFO})
    found = [other, diagnosis, remark]
    assert troubled_rows(found, "approx_kl", 9) == ()
    assert troubled_rows(found, "lr", 9) == (RowStatus(0, 9, CRIT),)


def test_a_value_beyond_its_limit_colours_its_own_column() -> None:
    """Amber beyond the limit and red beyond the critical one, without any finding."""
    extremes = [(0.01, 0.01), (0.01, 0.025), None, (0.001, 5.0)]
    assert column_statuses([0, 1, 2, 3], extremes, KL_BAND, ()) == [OK, WATCH, OK, CRIT]


def test_the_worse_of_value_and_finding_is_shown() -> None:
    """Healthy values under an open finding have its colour; worse values keep their own."""
    extremes = [(0.01, 0.01), (0.01, 0.01), (5.0, 5.0)]
    statuses = column_statuses([0, 1, 2], extremes, KL_BAND, [RowStatus(1, 2, WARN)])
    assert statuses == [OK, WARN, CRIT]


def test_a_column_of_many_rows_has_the_colour_of_a_single_bad_one() -> None:
    """Rows 10 to 19 share the second column: one bad row is enough to colour it, and no other."""
    calm = [(0.0, 0.0)] * 3
    for row in (10, 14, 19):
        assert column_statuses([0, 10, 20], calm, None, [RowStatus(row, row, CRIT)]) == [
            OK,
            CRIT,
            OK,
        ]


def test_a_row_of_many_columns_is_coloured_whole() -> None:
    """Two columns a row: the bad row has both of them."""
    statuses = column_statuses([0, 0, 1, 1, 2, 2], [(0.0, 0.0)] * 6, None, [RowStatus(1, 1, WARN)])
    assert statuses == [OK, OK, WARN, WARN, OK, OK]


def test_explained_variance_is_not_judged_once_the_value_loss_is_next_to_nothing() -> None:
    """The loss falls to a thousandth of its highest at row 6: only the columns before count."""
    timeline = Timeline()
    loss = timeline.tracks["value_loss"] = Track("value_loss", "tag", "source")
    for row, value in enumerate([50.0, 60.0, 30.0, 10.0, 5.0, 1.0, 0.01, 0.01]):
        loss.append(mark(row), value)
    pairs = [(0.1, 0.1)] * 4
    last_rows = [1, 3, 5, 7]
    assert meaningful("explained_variance", pairs, last_rows, timeline) == [*pairs[:3], None]
    assert meaningful("approx_kl", pairs, last_rows, timeline) == pairs


def test_explained_variance_of_constant_returns_has_no_colour() -> None:
    """While the reward is at its ceiling, the values mean nothing."""
    ceiling = finding(1, {1: Severity.INFO}, concepts=("reward_mean",), rule="at-ceiling")
    band = Band(0.5, None, None, None, "practice")
    troubled = troubled_rows([ceiling], "explained_variance", 2)
    extremes = [(0.1, 0.1), (0.1, 0.1), (0.1, 0.1)]
    assert column_statuses([0, 1, 2], extremes, band, troubled) == [WATCH, OK, OK]
