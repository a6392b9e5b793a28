"""What `check` says of a run that is far below the other seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.remembered import Printed, age, opened_files
from tests.support.screens import write_seed

SEEDS = range(1, 7)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six seeds, one of which learns little; they ended two days ago."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for seed in SEEDS:
        height = 60.0 if seed == 4 else 400.0 + 4 * seed
        write_seed(tmp_path / "runs" / f"ppo_{seed}" / "progress.csv", seed, height)
    age(tmp_path / "runs")
    return tmp_path / "runs"


def said(printed: Printed) -> dict[str, dict[str, Any] | None]:
    """Run -> what is said of it beside its siblings."""
    return {run["name"]: run["siblings"] for run in json.loads(printed.out)["runs"]}


def test_the_low_one_is_named_and_no_other(runs: Path) -> None:
    """At *watch*, beside the run's own verdict and not in it."""
    first = Printed("check", "--json", runs)
    below = said(first)["ppo_4"]
    assert below is not None
    assert (below["severity"], below["others"]) == ("watch", 5)
    assert below["text"].startswith("below all of 5 others at this step, ")
    assert [name for name, found in said(first).items() if found] == ["ppo_4"]
    verdicts = {run["verdict"] for run in json.loads(first.out)["runs"]}
    assert verdicts == {"healthy"}
    assert first.code == 0


def test_the_overview_the_table_and_the_whole_report_say_it(runs: Path) -> None:
    """In the finding's column of a run that has none."""
    out = Printed("check", runs).out
    assert "✓ HEALTHY  ppo_4: Below all of 5 others\n" in out
    assert "    note   below all of 5 others at this step, " in out
    table = [line for line in out.splitlines() if line.startswith("✓ ppo_")]
    assert [line.split()[1] for line in table if "Below all of 5 others" in line] == ["ppo_4"]
    assert "\n  below all of 5 others at this step, " in Printed("check", "-v", runs).out


def test_a_remembered_answer_compares_again(runs: Path) -> None:
    """Without opening a log; and a run by itself has no siblings."""
    first = Printed("check", "--json", runs)
    with opened_files() as opened:
        assert Printed("check", "--json", runs) == first
    assert not opened
    assert said(Printed("check", "--json", runs / "ppo_4"))["ppo_4"] is None


def test_a_run_is_judged_the_same_beside_others_and_alone(runs: Path) -> None:
    """All but the remark."""
    beside = next(
        run
        for run in json.loads(Printed("check", "--json", runs).out)["runs"]
        if run["name"] == "ppo_4"
    )
    (alone,) = json.loads(Printed("check", "--json", runs / "ppo_4").out)["runs"]
    own = ("verdict", "findings", "checklist", "judged_by", "progress")
    assert [beside[key] for key in own] == [alone[key] for key in own]
