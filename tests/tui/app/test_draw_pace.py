"""New data is drawn soon, but drawing takes little of the time."""

from __future__ import annotations

import pytest

from ppo_top.tui.app.draw_pace import MAX_PAUSE_S, MIN_PAUSE_S, DrawPace
from tests.support.screens import FakeClock


def share_of_time(cost_s: float, updates_per_s: float) -> float:
    """The share of a minute that drawing takes where each redraw costs so much."""
    clock = FakeClock(0.0)
    pace, drawn = DrawPace(clock), 0
    while clock.now < 60.0:
        clock.now += pace.delay + cost_s
        pace.record(cost_s, is_read=True)
        drawn += 1
        clock.now += 1 / updates_per_s  # until the next update
    return drawn * cost_s / clock.now


@pytest.mark.parametrize("updates_per_s", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("cost_s", [0.002, 0.015, 0.03])
def test_drawing_takes_less_than_a_sixtieth(cost_s: float, updates_per_s: float) -> None:
    """On a fast and on a slow machine, at any rate of updates."""
    assert share_of_time(cost_s, updates_per_s) < 1 / 60


def test_after_a_pause_an_update_is_drawn_at_once() -> None:
    """What came before does not count any more; several records of one update come together."""
    clock = FakeClock()
    pace = DrawPace(clock)
    pace.record(0.01, is_read=True)
    assert pace.delay == pytest.approx(1.2)
    clock.now += 1.2
    assert pace.delay == MIN_PAUSE_S


def test_nothing_waits_for_long() -> None:
    """However slow the machine."""
    pace = DrawPace(FakeClock())
    pace.record(5.0, is_read=True)
    assert pace.delay == pytest.approx(MAX_PAUSE_S)


def test_while_a_backlog_is_read_the_screen_keeps_up() -> None:
    """Several times a second."""
    pace = DrawPace(FakeClock())
    pace.record(0.02, is_read=False)
    assert pace.delay == pytest.approx(0.16)
