"""The cursor: playing by the log's own clock, moving, jumping to a step or share."""

from __future__ import annotations

import math

import pytest

from ppo_top.runs.rows.timeline import Timeline
from ppo_top.tui.state.cursor import REPLAY_S, Cursor, find_row


def timeline(*times: float) -> Timeline:
    """A timeline with a row every 1,000 steps at these times."""
    made = Timeline()
    for row, time in enumerate(times):
        made.steps.append(1000 * (row + 1))
        made.times.append(time)
    return made


def test_it_plays_by_the_clock_of_the_log() -> None:
    """At 60x a row that came a minute later comes after a second."""
    line = timeline(0, 60, 120, 180)
    cursor = Cursor(row=0, playing=True, speed=60)
    assert not cursor.advance(line, 0.5)
    assert cursor.advance(line, 0.6)
    assert cursor.row == 1
    assert cursor.wait_s(line) == pytest.approx(0.9)


def test_a_long_pause_is_not_sat_through() -> None:
    """A run that was resumed a day later goes on after ten usual updates."""
    line = timeline(*range(0, 300, 10), 86_400, 86_410)
    cursor = Cursor(row=29, playing=True, speed=10)
    cursor.advance(line, 10.1)
    assert cursor.row == 30


def test_without_a_clock_a_row_is_a_second() -> None:
    """A log without times plays one row per second, times the speed."""
    line = timeline(*[math.nan] * 10)
    cursor = Cursor(row=0, playing=True, speed=2)
    cursor.advance(line, 1.0)
    assert cursor.row == 2


def test_it_stops_at_the_end() -> None:
    """At the newest row playing is over."""
    line = timeline(0, 1, 2)
    cursor = Cursor(row=0, playing=True, speed=100)
    cursor.advance(line, 10)
    assert (cursor.row, cursor.playing) == (2, False)


def test_past_the_end_is_live_again() -> None:
    """Moving on from the last past row follows the run again; a replay stays where it is."""
    line = timeline(0, 1, 2)
    cursor = Cursor(row=1)
    cursor.move_by(line, 1)
    assert cursor.row is None
    replay = Cursor(row=1, replay=True)
    replay.move_by(line, 5)
    assert replay.row == 2


def test_back_from_the_end() -> None:
    """One step back from live is the row before the newest; before the first there is nothing."""
    line = timeline(0, 1, 2)
    cursor = Cursor()
    cursor.move_by(line, -1)
    assert cursor.row == 1
    cursor.move_by(line, -9)
    assert cursor.row == 0


@pytest.mark.parametrize(
    ("wanted", "row"),
    [
        ("50%", 4),
        ("51%", 5),
        ("0%", 0),
        ("100%", 9),
        ("3000", 2),
        ("3,500", 3),
        ("4k", 3),
        ("1e9", 9),
    ],
)
def test_targets_are_steps_or_shares(wanted: str, row: int) -> None:
    """`50%` is half of the updates, `3,500` the first update at or after that step."""
    assert find_row(timeline(*range(10)), wanted) == row


def test_a_whole_percentage_goes_to_its_own_row() -> None:
    """Of a hundred rows each has one, also where a share of 1 is not exact."""
    rows = timeline(*range(100))
    assert [find_row(rows, f"{percent}%") for percent in range(1, 101)] == list(range(100))


@pytest.mark.parametrize("wanted", ["", "abc", "%", "nan", "k"])
def test_nonsense_is_no_target(wanted: str) -> None:
    """What is neither is refused."""
    assert find_row(timeline(*range(10)), wanted) is None


def test_speeds_go_up_and_down_in_round_numbers() -> None:
    """Faster and slower end at 10000x and 1x."""
    cursor = Cursor(speed=60)
    cursor.change_speed(1)
    assert cursor.speed == 100
    for _ in range(30):
        cursor.change_speed(-1)
    assert cursor.speed == 1
    for _ in range(30):
        cursor.change_speed(1)
    assert cursor.speed == 10_000


def test_play_takes_half_a_minute_unless_a_speed_was_chosen() -> None:
    """Of a run that one watches, too: a log of forty seconds is not over in the blink of an eye."""
    line = timeline(*(1e9 + row for row in range(600)))
    cursor = Cursor()
    cursor.toggle_playing(line)
    assert cursor.speed == pytest.approx(599 / REPLAY_S)
    cursor.toggle_playing(line)
    cursor.change_speed(1)
    cursor.toggle_playing(line)
    assert cursor.playing
    assert cursor.speed == 20
    replay = Cursor(row=0, replay=True, speed=5.0)
    replay.toggle_playing(line)
    assert replay.speed == 5.0


@pytest.mark.parametrize("rows", [2, 30, 500, 20_000])
@pytest.mark.parametrize("pause", [0.01, 1.0, 3600.0])
def test_a_replay_takes_half_a_minute(rows: int, pause: float) -> None:
    """Whatever the length of the log, and however slowly it was written."""
    line = timeline(*(1e9 + pause * row for row in range(rows)))
    cursor = Cursor(row=0, playing=True)
    cursor.fit_speed(line)
    spent = 0.0
    while cursor.playing:
        cursor.advance(line, 0.25)
        spent += 0.25
    assert 0.9 * REPLAY_S <= spent <= 1.1 * REPLAY_S
