"""When a finding opens, eases and clears, counted point by point."""

from __future__ import annotations

import pytest

from ppo_top.model import Mark, Severity
from ppo_top.rules.book import BY_ID
from ppo_top.rules.engine.persistence import Persistence
from ppo_top.rules.engine.rule import RESOLVED, Assessment, borderline

WATCH, WARN, CRIT = 2, 3, 4
STEPS = ((CRIT, 3, 5), (WARN, 4, 5))


def bad(level: int, *, immediate: bool = False) -> Assessment:
    """A point of this severity."""
    return Assessment(level, 1.0, None, "bad", immediate=immediate)


def fed(levels: str, persistence: Persistence | None = None) -> list[int]:
    """What is called for at each point: digits are severities, `.` is calm."""
    memory = persistence or Persistence(STEPS)
    points = [None if each == "." else bad(int(each)) for each in levels]
    return [memory.add_point(point, Mark(row, row, 0.0)) for row, point in enumerate(points)]


@pytest.mark.parametrize(
    ("levels", "called"),
    [
        ("333", [0, 0, 0]),
        ("3333", [0, 0, 0, WARN]),
        ("3.333", [0, 0, 0, 0, WARN]),
        ("3.3.33", [0, 0, 0, 0, 0, 0]),
        ("444", [0, 0, CRIT]),
        ("4.4.4", [0, 0, 0, 0, CRIT]),
        ("4..4.4", [0, 0, 0, 0, 0, 0]),
        ("3434", [0, 0, 0, WARN]),
        ("22222", [0, 0, 0, 0, 0]),
    ],
)
def test_k_of_the_last_n_points_raise_it(levels: str, called: list[int]) -> None:
    """Worse points count for what is milder as well."""
    assert fed(levels) == called


def test_what_is_immediate_waits_for_nothing() -> None:
    """One point is enough."""
    assert Persistence(STEPS).add_point(bad(CRIT, immediate=True), Mark(0, 0, 0.0)) == CRIT


def test_a_rule_that_is_asked_again_at_a_row_corrects_its_point() -> None:
    """As at the end of a run: three bad points stay three."""
    memory = Persistence(STEPS)
    assert fed("333", memory)[-1] == 0
    assert memory.add_point(bad(3), Mark(2, 2, 0.0)) == 0
    assert memory.add_point(bad(3), Mark(3, 3, 0.0)) == WARN


def test_a_finding_began_at_the_first_bad_point_of_its_window() -> None:
    """Not at the point that raised it, nor at one before the window."""
    memory = Persistence(STEPS)
    fed("0.33333", memory)
    assert memory.first_bad_point(Mark(9, 9, 0.0)).row == 2
    assert Persistence(STEPS).first_bad_point(Mark(9, 9, 0.0)).row == 9


@pytest.mark.parametrize(("levels", "pending"), [("3", 0), ("33", 3), ("34", 3), ("3.", 0)])
def test_two_points_in_turn_are_pending(levels: str, pending: int) -> None:
    """They count where no more will come; the milder of both is what they agree on."""
    memory = Persistence(STEPS)
    fed(levels, memory)
    newest = Mark(len(levels) - 1, len(levels) - 1, 0.0)
    assert memory.pending_level(newest) == pending
    assert memory.pending_level(Mark(50, 50, 0.0)) == 0
    memory.open_finding(0, 5)
    assert memory.pending_level(newest) == 0


def calm_points_to_clear(times: int, age: int, *, is_event: bool = False) -> int:
    """How many calm points clear the finding that opened at this age, the so-many-th one."""
    memory = Persistence(STEPS)
    for _ in range(times):
        memory.open_finding(0, age)
    count = 0
    while not memory.has_cleared(3, is_event):
        memory.add_point(None, Mark(count, count, 0.0))
        count += 1
    return count


@pytest.mark.parametrize(
    ("times", "age", "points"), [(1, 50, 3), (2, 50, 6), (3, 5, 12), (3, 50, 50), (3, 5000, 64),
                                 (4, 5, 24), (9, 5, 24)]
)  # fmt: skip
def test_a_finding_that_comes_again_needs_longer_to_clear(
    times: int, age: int, points: int
) -> None:
    """Twice as long each time, up to eight times; from the third on as long as the run was.

    But for no more than 64 points: a value that has been back for so long is over it.
    """
    assert calm_points_to_clear(times, age) == points


def test_an_event_is_over_soon_however_often_it_came() -> None:
    """It tells of one update."""
    assert calm_points_to_clear(9, 50, is_event=True) == 3


def test_a_point_between_the_limits_is_not_calm() -> None:
    """It neither raises nor clears; one that resolves clears at once."""
    memory = Persistence(STEPS)
    memory.open_finding(0, 5)
    fed("..", memory)
    memory.add_point(borderline(1.0), Mark(2, 2, 0.0))
    fed("..", memory)
    assert not memory.has_cleared(3, False)
    memory.add_point(RESOLVED, Mark(5, 5, 0.0))
    assert memory.has_cleared(3, False)


def test_twenty_milder_points_in_turn_ease_a_finding() -> None:
    """One that is as bad begins the count anew."""
    memory = Persistence(STEPS)
    assert not any(memory.has_eased(True) for _ in range(19))
    assert not memory.has_eased(False)
    assert [memory.has_eased(True) for _ in range(20)] == [False] * 19 + [True]
    assert not memory.has_eased(True)


def test_only_three_findings_are_opened_for_a_remark() -> None:
    """After that a value that oscillates around its limit is known."""
    memory = Persistence(STEPS)
    seen = []
    for _ in range(3):
        memory.open_finding(0, 5)
        seen.append(memory.repeats_too_often)
    assert seen == [False, False, True]


def test_calm_points_matter_only_beside_trouble() -> None:
    """While a finding is open, or was about to."""
    memory, alert = Persistence(STEPS), []
    for levels in ("..", "3", "....."):
        fed(levels, memory)
        alert.append(memory.is_alert)
    memory.open_finding(0, 5)
    alert.append(memory.is_alert)
    memory.close_finding()
    alert.append(memory.is_alert)
    assert alert == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("levels", "steady"),
    [("3333", False), ("33333", True), ("43333", False), ("443333", False), ("3333333", True)],
)
def test_a_finding_is_steady_once_its_longest_window_holds_one_level(
    levels: str, steady: bool
) -> None:
    """Until then another point may change it, and before a finding nothing is steady."""
    memory = Persistence(STEPS)
    fed(levels, memory)
    assert not memory.is_steady
    memory.open_finding(0, len(levels))
    assert memory.is_steady is steady
    fed(".", memory)
    assert not memory.is_steady


@pytest.mark.parametrize(
    ("own", "k", "n"),
    [({"k": 3.0}, 3, 3), ({"n": 5.0}, 1, 5), ({"k": 7.0, "n": 5.0}, 5, 5), ({"k": 0.0}, 1, 1)],
)
def test_settings_say_how_many_points_raise_a_finding(
    own: dict[str, float], k: int, n: int
) -> None:
    """One number is enough, and at least one of one is meant."""
    steps = BY_ID["kl-high"].persistence_steps(own)
    assert steps == tuple((severity, k, n) for severity in (CRIT, WARN, WATCH, 1))


@pytest.mark.parametrize(
    ("level", "immediate", "eased"),
    [(CRIT, False, WARN), (WARN, False, WATCH), (WATCH, False, WATCH), (CRIT, True, CRIT)],
)
def test_what_the_reward_pays_for_is_a_level_less_severe(
    level: int, immediate: bool, eased: int
) -> None:
    """Down to what may still be watched; what is told at once stays as it is."""
    assert Assessment(level, 1.0, None, "", immediate).eased(Severity.WATCH).level == eased
