"""The loop of `serve`: what is written to logs is in the next fleet, what is deleted is not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.files.mirrors import add_mirrors, remove_mirrors
from ppo_top.model import State
from ppo_top.serve.exporter import Exporter, summary_line
from ppo_top.serve.exposition import Exposition, ScrapeRequest
from ppo_top.serve.fleet import ExportLimits, Fleet
from ppo_top.serve.metric_families import ExportedValues, FleetCollector
from ppo_top.settings import Settings
from tests.support.installed_program import copy_of
from tests.support.scrapes import NEXT_LINE, look_until_complete, write_run

DAY_S = 86_400.0


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with one run that was just written."""
    write_run(tmp_path / "runs" / "sick")
    return tmp_path / "runs"


def exporter_of(path: Path, active_s: float = float("inf")) -> Exporter:
    """An exporter that looks as often as it is asked to, and retires nothing."""
    limits = ExportLimits(float("inf"))
    return Exporter([path], Settings(), limits, active_s, parallel=False)


def look_until(exporter: Exporter, expected: object, what: str) -> Fleet:
    """Look until a fact of the only run (or the number of runs) is as expected."""
    for _ in range(200):
        exporter.step()
        exporter.make_fleet(0.0)
        runs = exporter.fleet.runs
        found = len(runs) if what == "runs" else getattr(runs[0].facts, what) if runs else None
        if found == expected:
            return exporter.fleet
        exporter._follower.wait(0.1)
    raise AssertionError(f"{what} is not {expected}: {exporter.fleet}")


def test_a_new_line_is_in_the_next_fleet(runs: Path) -> None:
    """And so is a run that appears; one that is deleted is not."""
    exporter = exporter_of(runs)
    before = look_until_complete(exporter)
    assert before.runs[0].facts.open_rules[0].rule == "updates-too-large"
    with open(runs / "sick" / "stdout.log", "ab") as file:
        file.write(NEXT_LINE)
    after = look_until(exporter, 21, "step")
    assert after.look.read_bytes == before.look.read_bytes + len(NEXT_LINE)
    write_run(runs / "other")
    look_until(exporter, 2, "runs")
    (runs / "other" / "stdout.log").unlink()
    look_until(exporter, 1, "runs")
    exporter.close()


def test_while_no_log_says_anything_fleets_are_rare(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fleet that only waits costs next to nothing; what is written is shown without that wait."""
    monkeypatch.setattr("ppo_top.serve.exporter.MIN_PAUSE_S", 0.0)
    monkeypatch.setattr("ppo_top.serve.exporter.PAUSE_FACTOR", 0.0)
    made: list[Fleet] = []
    exporter = exporter_of(runs)
    look_until_complete(exporter)
    exporter.step(made.append)
    made.clear()
    for _ in range(20):
        exporter.step(made.append)
    assert not made
    with open(runs / "sick" / "stdout.log", "ab") as file:
        file.write(NEXT_LINE)
    while not made:
        exporter._follower.wait(0.1)
        exporter.step(made.append)
    exporter.close()
    assert [run.facts.step for run in made[-1].runs] == [21]


def test_a_path_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """A job's first line may come long after its exporter was started."""
    exporter = exporter_of(tmp_path / "runs")
    assert look_until_complete(exporter).look.is_complete
    write_run(tmp_path / "runs" / "a")
    look_until(exporter, 1, "runs")
    exporter.close()


class Host:
    """Another machine whose logs are being copied."""

    is_settled = False

    def problems(self) -> list[str]:
        return []

    def unread(self) -> list[str]:
        return []

    def lost_hosts(self) -> list[tuple[str, float]]:
        return []

    def are_settled(self) -> bool:
        return self.is_settled


def test_the_first_look_is_not_complete_before_the_logs_of_a_host_are_here(runs: Path) -> None:
    """Else hooks would start for what went wrong there long ago, and alerts resolve and return."""
    host = Host()
    add_mirrors(host)
    try:
        exporter = exporter_of(runs)
        assert not look_until_complete(exporter).look.is_complete
        write_run(runs / "copied")
        host.is_settled = True
        found = look_until_complete(exporter)
        exporter.close()
    finally:
        remove_mirrors(host)
    assert found.look.is_complete
    assert {run.name for run in found.runs} == {"sick", "copied"}


def test_the_first_look_is_complete_once_all_is_read(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before: an alert on what is missing would fire at each start."""
    monkeypatch.setattr("ppo_top.serve.exporter.MAX_POLL_POINTS", 100)
    for number in range(3):
        write_run(runs / str(number))
    exporter = exporter_of(runs)
    looks: list[bool] = []
    while not exporter.step(lambda fleet: looks.append(fleet.look.is_complete)):
        pass
    exporter.close()
    assert looks[0] is False
    assert looks[-1] is True


def test_the_count_of_bytes_never_falls(runs: Path) -> None:
    """It is a counter: a deleted log takes nothing away."""
    other = write_run(runs / "other")
    exporter = exporter_of(runs)
    before = look_until_complete(exporter).look.read_bytes
    assert before == 2 * other.stat().st_size
    other.unlink()
    after = look_until(exporter, 1, "runs").look.read_bytes
    exporter.close()
    assert after == before


def test_old_logs_are_not_opened_until_they_grow(runs: Path) -> None:
    """Of a fleet's thousands of finished runs only the folders are counted."""
    old = time.time() - 8 * DAY_S
    for name in ("old", "older"):
        log = write_run(runs / name)
        os.utime(log, (old, old))
    exporter = exporter_of(runs, active_s=7 * DAY_S)
    found = look_until_complete(exporter)
    assert [run.name for run in found.runs] == ["sick"]
    assert found.left_out["inactive"] == 2
    assert found.look.files == 3
    with open(runs / "old" / "stdout.log", "ab") as file:
        file.write(NEXT_LINE)
    grown = look_until(exporter, 2, "runs")
    exporter.close()
    assert grown.left_out["inactive"] == 1


def test_nothing_of_a_log_but_names_and_numbers_is_exported(tmp_path: Path) -> None:
    """A log may hold a key or a password: settings, console lines and messages stay here."""
    secret = "s3cr3t-t0ken"
    run = write_run(tmp_path / "run").parent
    (run / "config.yaml").write_text(f"api_key: {secret}\nwandb_key: {secret}\nseed: 4711\n")
    with open(run / "stdout.log", "a") as file:
        file.write(f"export HF_TOKEN={secret}\nRuntimeError: bad password {secret}\n")
    exporter = exporter_of(tmp_path)
    collector = FleetCollector(ExportedValues(True, True))
    collector.fleet = look_until_complete(exporter)
    exporter.close()
    body = Exposition(collector).answer(ScrapeRequest()).body
    assert b'run="' in body
    assert secret.encode() not in body
    assert b"4711" not in body
    assert b"RuntimeError" not in body


def test_the_summary_says_what_is_not_exported(runs: Path) -> None:
    """Whoever tries it on old logs learns which option shows them."""
    log = runs / "sick" / "stdout.log"
    old = time.time() - 8 * DAY_S
    os.utime(log, (old, old))
    exporter = Exporter([runs], Settings(), parallel=False)
    line = summary_line(look_until_complete(exporter), DAY_S)
    exporter.close()
    assert line == "0 runs, 0 in trouble; 1 more over for 1 d or longer (--retire)"
    unopened = exporter_of(runs, active_s=DAY_S)
    line = summary_line(look_until_complete(unopened), DAY_S)
    unopened.close()
    assert line == "0 runs, 0 in trouble; 1 folder of old logs not opened (--active)"


def test_a_run_that_died_says_so(tmp_path: Path) -> None:
    """The state is the one of `check`."""
    copy_of("torch_cartpole_nan", tmp_path / "run")
    exporter = exporter_of(tmp_path)
    (run,) = look_until_complete(exporter).runs
    exporter.close()
    assert run.state is State.DIED
    assert run.facts.severity == 4
