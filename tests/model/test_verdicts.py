"""The words for a verdict, a row's mark and a run's state, and their order."""

from __future__ import annotations

import pytest

from ppo_top.model import Severity, State, Status, Verdict


def test_verdicts_go_from_the_least_to_the_worst() -> None:
    """A run that nothing is known of comes before a healthy one, that before a sick one."""
    words = ["unjudged", "warming-up", "healthy", "info", "watch", "warn", "crit"]
    assert [each.value for each in sorted(Verdict, key=lambda each: each.rank)] == words


@pytest.mark.parametrize("severity", Severity)
def test_a_severity_is_a_verdict_and_a_mark(severity: Severity) -> None:
    """One finding: the verdict on the run and the mark of the row have its name."""
    assert severity.verdict.value == severity.status.value == severity.word
    assert severity.verdict.status is severity.status


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict.UNJUDGED, Status.MISSING),
        (Verdict.WARMING_UP, Status.WARMING_UP),
        (Verdict.HEALTHY, Status.OK),
        (Verdict.CRIT, Status.CRIT),
    ],
)
def test_a_verdict_has_the_mark_of_a_value_in_that_state(verdict: Verdict, status: Status) -> None:
    """A healthy run has the sign of a value in its range."""
    assert verdict.status is status


def test_trouble_begins_at_watch() -> None:
    """Information is no trouble."""
    troubled = ["watch", "warn", "crit"]
    assert [each.value for each in Verdict if each.is_trouble] == troubled
    assert [each.value for each in Status if each.is_trouble] == troubled


def test_a_word_is_written_without_hyphens_in_a_sentence() -> None:
    """JSON says `warming-up`, people read `warming up`."""
    assert Verdict.WARMING_UP.words == "warming up"
    assert State.ENDED.words == "ended"
