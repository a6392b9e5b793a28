"""Which runs are exported, and when they are examined again."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ppo_top.model import State, Verdict
from ppo_top.runs.run import Run
from ppo_top.serve.fleet import ExportLimits, FleetWatch, Look, chosen_runs
from ppo_top.views.gather_facts import gather_facts
from ppo_top.views.run_facts import RunFacts
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory
from tests.support.scrapes import NEXT_LINE, exported_run, write_run

DAY_S = 86_400.0


def test_runs_that_are_over_are_retired_after_a_while() -> None:
    """They are counted by state and among those left out; live and stalled runs stay."""
    runs = [exported_run(state.value, state, last_change=0.0) for state in State]
    kept = chosen_runs(runs, DAY_S - 1, ExportLimits(), Look())
    assert len(kept.runs) == 6
    later = chosen_runs(runs, DAY_S + 1, ExportLimits(), Look())
    assert {run.state for run in later.runs} == {State.STARTING, State.LIVE, State.STALLED}
    assert later.left_out["retired"] == 3
    assert later.states == dict.fromkeys(State, 1)


def test_beyond_the_limit_the_worst_and_newest_stay() -> None:
    """Those in trouble first, whatever their age; information is no trouble."""
    runs = [
        exported_run("old and sick", State.ENDED, verdict=Verdict.CRIT, last_change=1.0),
        exported_run("newest", State.ENDED, verdict=Verdict.HEALTHY, last_change=9.0),
        exported_run("new", State.ENDED, verdict=Verdict.INFO, last_change=8.0),
        exported_run("to watch", State.ENDED, verdict=Verdict.WATCH, last_change=2.0),
    ]
    found = chosen_runs(runs, 10.0, ExportLimits(math.inf, 3), Look())
    assert {run.path for run in found.runs} == {"old and sick", "to watch", "newest"}
    assert found.left_out["limit"] == 1


def test_only_runs_that_have_changed_are_examined_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a thousand runs that rest none costs anything but its state."""
    for name in ("resting", "growing"):
        write_run(tmp_path / name)
    watched, watch = WatchedDirectory(tmp_path), FleetWatch(ExportLimits(math.inf))
    watched.read_and_judge()
    examined: list[str] = []

    def counted(run: Run) -> RunFacts:
        examined.append(run.name)
        return gather_facts(run)

    monkeypatch.setattr("ppo_top.serve.fleet.gather_facts", counted)
    watch.fleet(watched.session.runs, 0.0, Look())
    assert sorted(examined) == ["growing", "resting"]
    with open(tmp_path / "growing" / "stdout.log", "ab") as file:
        file.write(NEXT_LINE)
    watched.read_and_judge()
    examined.clear()
    again = watch.fleet(watched.session.runs, 0.0, Look())
    watched.follower.close()
    assert examined == ["growing"]
    assert len(again.runs) == 2


def test_a_run_that_is_half_read_is_as_it_was_before(tmp_path: Path) -> None:
    """Half of a log tells half a story: nothing at first, then what was known of it."""
    write_run(tmp_path / "run")
    watched, watch = WatchedDirectory(tmp_path), FleetWatch(ExportLimits(math.inf))
    watched.read_new()
    assert not watch.fleet(watched.session.runs, 0.0, Look()).runs
    watched.session.judge()
    (judged,) = watch.fleet(watched.session.runs, 0.0, Look()).runs
    with open(tmp_path / "run" / "stdout.log", "ab") as file:
        file.write(NEXT_LINE)
    watched.read_new()
    (unjudged,) = watch.fleet(watched.session.runs, 0.0, Look()).runs
    watched.follower.close()
    assert unjudged.facts == judged.facts


def test_the_findings_are_those_on_the_screen() -> None:
    """A diagnosis stands for its members: they raise no alert of their own."""
    watched = WatchedDirectory(DEMO_LOGS_FOLDER / "torch_cartpole_lr")
    watched.finish()
    (run,) = watched.session.runs.values()
    members = {rule for each in run.findings for rule in each.members if each.cleared is None}
    fleet = FleetWatch(ExportLimits(math.inf)).fleet(watched.session.runs, 0.0, Look())
    exported = {each.rule for each in fleet.runs[0].facts.open_rules}
    assert members, "a diagnosis is open"
    assert "updates-too-large" in exported
    assert not exported & members
