"""Labels, stated causes and the part that is judged once: the corpus' own mechanics."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.diagnosis import accuracy_document, all_figures
from benchmarks.labelled_runs import judge_run
from corpus.causes import credit
from corpus.labels import healthy_runs, judge_harm, visible
from corpus.last.judged_parts import RefusedError, judge_once, judged_parts
from corpus.last_part import drawn_control_runs, frozen_commit
from corpus.table import CORPUS_RUNS, FAMILIES, run_family
from corpus.tasks import CONTROL_TASKS
from corpus.unseen_tasks import LAST_TASKS


def run(fault: str, onset: int = 0, **more: Any) -> dict[str, Any]:
    """A label."""
    usual = {"fault": fault, "onset_step": onset, "died": False, "rows": 60, "onset_row": 0}
    returns = {"start_return": 0.0, "healthy_start": 0.0, "healthy_return": 100.0}
    return usual | returns | {"episodes_since_onset": 50, "final_return": 10.0} | more


@pytest.mark.parametrize(
    ("meta", "sentence", "expected"),
    [
        (run("lr-x100"), "learning rate too high", 1.0),
        (run("lr-x100"), "learning rate too low", 0.0),
        (run("lr-1e-8"), "learning rate too low, or the same reward for every action", 0.5),
        (run("reward-zero"), "learning rate too low", 1 / 3),
        (run("reward-flipped-midway", 500), "the observations changed", 1 / 3),
        (run("reward-flipped"), "the observations changed", 0.0),
        (run("lr-x100"), "something went wrong", 0.0),
    ],
)
def test_a_stated_cause_counts(meta: dict[str, Any], sentence: str, expected: float) -> None:
    """All of it if it is the cause, a share if it names k causes or one of a class of k."""
    assert credit(meta, [sentence]) == pytest.approx(expected)


def test_naming_everything_counts_nothing() -> None:
    """More than three causes at once are no answer."""
    everything = "learning rate too high, wrong sign, gamma, reward scale, or a checkpoint"
    assert credit(run("gamma-0"), [everything]) == 0.0
    assert credit(run("gamma-0"), [everything, "discount"]) == 1.0


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        (run("lr-x100", final_return=65.0), True),
        (run("lr-x100", final_return=68.0), False),
        (run("lr-x100", final_return=68.0, died=True), True),
        (run("lr-x100", rows=9), False),
        (run("lr-x100", rows=10), True),
        (run("lr-x100", episodes_since_onset=19), False),
        (run("lr-x100", episodes_since_onset=20), True),
    ],
)
def test_harm_is_visible(meta: dict[str, Any], expected: bool) -> None:
    """With enough rows and episodes after the onset, and a third of the healthy gain missing."""
    assert visible(meta) is expected


def test_a_run_without_a_fault_may_fail() -> None:
    """One that gained less than half of the median gain is no measure for others."""
    runs = [run("none", final_return=value) for value in (100.0, 98.0, 102.0, 45.0)]
    healthy = healthy_runs(runs)
    assert [each["final_return"] for each in healthy] == [100.0, 98.0, 102.0]
    assert judge_harm(run("lr-x100", final_return=79.0), healthy)["harmful"]
    assert not judge_harm(run("lr-x100", final_return=91.0), healthy)["harmful"]


def test_the_last_part_is_drawn_from_the_commit() -> None:
    """The same commit draws the same runs, another one other seeds; no tune or check seed."""
    once, again, other = (drawn_control_runs(commit) for commit in ("a1", "a1", "b2"))
    assert once == again != other
    assert len(set(once)) == len(once)
    assert all(seed >= 1000 for _, _, seed in once)


def test_the_last_part_has_environments_of_its_own() -> None:
    """At least four, none of which stands in another part or has been judged in one.

    A part that has been judged is this one, if all of its environments are.
    """
    known = {task.environment for task in CONTROL_TASKS.values() if task not in LAST_TASKS}
    parts = [set(part["environments"]) for part in judged_parts()]
    judged = set().union(*(part for part in parts if part != {t.environment for t in LAST_TASKS}))
    stored = {
        json.loads(path.read_text())["environment"] for path in CORPUS_RUNS.glob("*/meta.json")
    }
    unseen = {task.environment for task in LAST_TASKS}
    assert len(unseen) >= 4
    assert not unseen & (known | judged | stored)


def test_the_last_part_has_enough_of_each_family() -> None:
    """34 are left where one run in seven fails to learn, and two faults in five do no harm."""
    healthy: Counter[str] = Counter()
    faulty: Counter[str] = Counter()
    for name, fault, _ in drawn_control_runs("a1"):
        task = CONTROL_TASKS[name]
        family = run_family({"producer": task.producer, "algorithm": task.algorithm})
        (healthy if fault == "none" else faulty)[family] += 1
    assert healthy.keys() == faulty.keys() == set(FAMILIES) - {"language model"}
    assert min(healthy.values()) * 6 / 7 >= 34
    assert min(faulty.values()) * 3 / 5 >= 34


def test_the_last_part_belongs_to_one_clean_commit(tmp_path: Path) -> None:
    """Changes or another commit are refused; the first commit may go on."""
    with pytest.raises(RefusedError, match="changes"):
        frozen_commit(tmp_path / "runs", "a1", " M ppo_top/rules/judge.py")
    assert frozen_commit(tmp_path / "runs", "a1", "") == "a1"
    assert frozen_commit(tmp_path / "runs", "a1", "") == "a1"
    with pytest.raises(RefusedError, match="a1"):
        frozen_commit(tmp_path / "runs", "b2", "")


def test_the_last_part_is_judged_once(tmp_path: Path) -> None:
    """Date, commit and figures are stored; the second time nothing is judged."""
    judged = []

    def judge() -> dict[str, Any]:
        judged.append(1)
        return {"last, all": {"runs": 2}}

    stored = judge_once(tmp_path, "a1", ["Maze-v0", "Arm-v0", "Maze-v0"], judge)
    assert judged_parts(tmp_path) == [stored]
    assert stored.keys() == {"date", "commit", "environments", "figures"}
    with pytest.raises(RefusedError, match="a1"):
        judge_once(tmp_path, "b2", ["Kiln-v0", "Maze-v0"], judge)
    assert judged == [1]
    other = judge_once(tmp_path, "b2", ["Kiln-v0"], judge)
    assert judged_parts(tmp_path) == [other, stored]
    third = judge_once(tmp_path, "b2", ["Lift-v0"], judge)
    assert judged_parts(tmp_path) == [third, other, stored]


def test_the_document_holds_what_is_stored_of_the_last_parts() -> None:
    """A table for the newest part of each set of families; a line for each, the newest first."""
    healthy = judge_run(CORPUS_RUNS / "cartpole-healthy-s1")
    assert healthy is not None
    figures = all_figures([healthy], ["tune", "check"])
    assert "Last parts" not in accuracy_document(figures, [])
    control = {"last, all": figures["tune, all"]}
    text = {"last, language model": figures["tune, all"], **control}
    parts = [
        {"date": "2026-02-03", "commit": "c3d4", "figures": control, "environments": ["Maze-v0"]},
        {"date": "2026-01-05", "commit": "e5f6", "figures": text, "environments": ["sorted"]},
        {"date": "2026-01-02", "commit": "a1b2", "figures": control, "environments": ["Arm-v0"]},
    ]
    parts[1]["afterwards"] = "Mended."
    document = accuracy_document(figures, parts)
    told = ["Judged on 2026-02-03 at commit c3d4.", "Judged on 2026-01-05 at commit e5f6. Mended."]
    lines = ["| 2026-02-03, c3d4 | Maze-v0 |", "| 2026-01-05, e5f6 |", "| 2026-01-02, a1b2 |"]
    places = [document.index(each) for each in (*told, *lines)]
    assert places == sorted(places)
    assert document.count("Judged on") == 2
    assert document.count("| runs, healthy | 1 |") == 3  # tune, and a table of each kind
