"""Severity, status, verdict and state: their words, their order, and how they correspond."""

from __future__ import annotations

import pytest

from ppo_top.model import Severity, State, Status, Verdict


def test_verdicts_are_ordered_from_unjudged_to_crit() -> None:
    """A worse verdict has a higher rank."""
    names = ["unjudged", "warming-up", "healthy", "info", "watch", "warn", "crit"]
    assert [each.value for each in sorted(Verdict, key=lambda each: each.rank)] == names


@pytest.mark.parametrize("severity", Severity)
def test_severity_verdict_and_status_share_a_name(severity: Severity) -> None:
    """A finding gives its run the verdict, and its row the status, of its own name."""
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
def test_a_verdict_has_a_status_with_the_same_symbol(verdict: Verdict, status: Status) -> None:
    """A healthy run looks like a value in its range."""
    assert verdict.status is status


def test_trouble_starts_at_watch() -> None:
    """`info` is no trouble."""
    troubled = ["watch", "warn", "crit"]
    assert [each.value for each in Verdict if each.is_trouble] == troubled
    assert [each.value for each in Status if each.is_trouble] == troubled


def test_sentences_have_no_hyphen() -> None:
    """JSON has `warming-up`, texts have `warming up`."""
    assert Verdict.WARMING_UP.words == "warming up"
    assert State.ENDED.words == "ended"
