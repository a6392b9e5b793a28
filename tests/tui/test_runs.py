"""The list of runs: order, filter, groups of seeds, sums."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ppo_top.model import State
from ppo_top.tui.desk import Desk
from ppo_top.tui.runs import Known, RunList, counts, newest_live
from ppo_top.tui.seeds import traits
from tests.tui.conftest import MakeDesk
from tests.tui.screens import write_sick


def known(
    name: str, verdict: str = "healthy", state: State = State.LIVE, newest: float = 0
) -> Known:
    """A run as the list knows it."""
    return Known(name, name, f"runs/{name}", verdict, state, newest, traits(name, {}))


@pytest.fixture
def seeds(tmp_path: Path, make_desk: MakeDesk) -> Desk:
    """Three seeds, one of them red, and a run of its own."""
    for name, broken in (("pole_seed1", 99), ("pole_seed2", 20), ("pole_seed3", 99), ("other", 99)):
        write_sick(tmp_path / "runs" / name / "progress.csv", broken_from=broken)
    return make_desk(tmp_path / "runs")


def test_trouble_comes_first_then_the_newest(tmp_path: Path, make_desk: MakeDesk) -> None:
    """A red run stands before a newer healthy one, and of two healthy ones the newer first."""
    ages = {"old": (99, 300), "red": (20, 900), "new": (99, 10)}
    for name, (broken, age) in ages.items():
        log = tmp_path / "runs" / name / "progress.csv"
        write_sick(log, broken_from=broken)
        os.utime(log, (1_799_999_000 - age, 1_799_999_000 - age))
    desk = make_desk(tmp_path / "runs")
    assert [each.name for each in desk.known()] == ["red", "new", "old"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pole", {"pole_seed1", "pole_seed2", "pole_seed3"}),
        ("POLE seed2", {"pole_seed2"}),
        ("crit", {"pole_seed2"}),
        ("!pole", {"other"}),
        ("nothing like it", set()),
    ],
)
def test_the_filter_knows_names_verdicts_and_states(
    seeds: Desk, words: str, found: set[str]
) -> None:
    """All words must be found; one with `!` must not."""
    seeds.roster.filter = words
    assert {each.name for each in seeds.roster.shown(seeds.known())} == found


def test_seeds_fold_into_one_line_that_tells_the_worst(seeds: Desk) -> None:
    """Three seeds are one line with the verdict of the worst; opened, they are three."""
    seeds.choose(next(run.id for run in seeds.session.runs.values() if run.name == "other"))
    entries = seeds.roster.entries(seeds.known(), seeds.chosen)
    assert [(entry.name, entry.size) for entry in entries] == [("pole", 3), ("other", 1)]
    assert entries[0].verdict == "crit"
    assert seeds.roster.unfold(seeds.session, seeds.clock(), entries[0].id)
    opened = seeds.roster.entries(seeds.known(), seeds.chosen)
    assert [entry.member for entry in opened] == [False, True, True, False]


def test_folding_can_be_switched_off(seeds: Desk) -> None:
    """Without folding each seed has its line."""
    seeds.roster.fold = False
    assert len(seeds.roster.entries(seeds.known(), seeds.chosen)) == 4


def test_sums_are_over_all_runs() -> None:
    """Live and over, red and amber, whatever the filter shows."""
    every = [
        known("a", "crit"),
        known("b", "warn", State.FINISHED),
        known("c", "watch", State.STALLED),
        known("d", "healthy", State.DIED),
        known("e", "unjudged", State.STARTING),
    ]
    assert counts(every, 1) == (1, 2, 1, 2, 5, 1, 1, 1)


def test_the_newest_live_run_is_looked_at_first() -> None:
    """Even where a finished one is in trouble; without a live one it is the first of the list."""
    over = known("red", "crit", State.FINISHED, 50)
    live = [known("old", newest=10), known("new", newest=20)]
    first = newest_live([over, *live])
    assert first is not None and first.name == "new"
    only = newest_live([over])
    assert only is not None and only.name == "red"
    assert newest_live([]) is None


def test_hundreds_of_runs_are_listed_quickly(seeds: Desk) -> None:
    """A list scrolls so that the chosen run is on it."""
    every = [known(f"run-{chr(97 + n % 26)}{n}x", newest=n) for n in range(500)]
    entries = RunList().entries(every, "run-a0x")
    assert len(entries) == 500
