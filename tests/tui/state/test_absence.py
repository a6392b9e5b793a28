"""Who comes back after hours is told what happened to the runs since the last key."""

from __future__ import annotations

import time

import pytest

from ppo_top.model import State
from ppo_top.tui.state.absence import AWAY_S, Absence
from ppo_top.tui.state.listed_run import ListedRun
from tests.tui.state.test_run_list import known

LEFT = 1_800_000_000.0
HOURS = 3 * 3600.0 + 1200.0


def said_after(before: list[ListedRun], after: list[ListedRun], away: float = HOURS) -> str:
    """What is told after so many seconds without a key."""
    absence = Absence()
    absence.note_input(LEFT, before)
    assert absence.is_long(LEFT + away) == (away >= AWAY_S)
    return absence.summary(LEFT + away, after)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("healthy", State.LIVE), ("crit", State.LIVE), "1 turned red (a)"),
        (("healthy", State.LIVE), ("crit", State.DIED), "1 turned red (a); 1 died (a)"),
        (("warming-up", State.LIVE), ("watch", State.LIVE), "1 worse (a)"),
        (("crit", State.LIVE), ("healthy", State.LIVE), "1 better (a)"),
        (("healthy", State.LIVE), ("healthy", State.FINISHED), "1 finished (a)"),
        (("healthy", State.LIVE), ("healthy", State.STALLED), "1 stalled (a)"),
        (("warming-up", State.STARTING), ("healthy", State.LIVE), ""),
        (None, ("healthy", State.LIVE), "1 new (a)"),
        (None, ("crit", State.LIVE), "1 turned red (a); 1 new (a)"),
        (("healthy", State.LIVE), None, "1 gone (a)"),
    ],
)
def test_what_happened_is_told_by_verdict_and_state(
    before: tuple[str, State] | None, after: tuple[str, State] | None, told: str
) -> None:
    """What is worst comes first; a run that merely went on is no news."""
    then, now = ([known("a", *each)] if each is not None else [] for each in (before, after))
    left = time.strftime("%H:%M", time.localtime(LEFT))
    assert said_after(then, now) == (f"Since {left} (3 h 20 min): {told}" if told else "")


def test_many_are_counted_and_few_are_named() -> None:
    """After a day the date is told, too."""
    then = [known(name) for name in "abcdef"]
    now = [*(known(name, "crit") for name in "ab"), *(known(n, state=State.ENDED) for n in "cdef")]
    said = said_after(then, now, 86_400.0)
    assert said.startswith(time.strftime("Since %d %b %H:%M (1 d", time.localtime(LEFT)))
    assert said.endswith("): 2 turned red (a, b); 4 ended")
