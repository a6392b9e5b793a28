"""One training is one run, whichever directory is watched and however its logs are laid out."""

from __future__ import annotations

import io
import json
import os
import random
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

from ppo_top.model import Severity
from ppo_top.output.answers import answer_parts, answer_text
from ppo_top.output.check import judge_paths
from ppo_top.output.export import export
from ppo_top.output.reports.overview import JSON, overview
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.tui.state.run_list import RunList
from tests.support.drawn_trees import (
    METRICS,
    DrawnTree,
    TreeWriter,
    draw_training,
    draw_tree,
    draw_trees,
)
from tests.support.growing_logs import WatchedDirectory, grow_logs, judged_objects

TREES = int(os.environ.get("PPO_TOP_DRAWN_TREES", "60"))
"""How many trees are drawn; a thousand take a minute or two."""


def read_session(root: Path) -> Session:
    """Everything below a directory, as `check` has it before it judges."""
    watched = WatchedDirectory(root)
    watched.read_to_end()
    return watched.session


def partition(session: Session, known: Iterable[Path]) -> set[frozenset[Path]]:
    """The logs of each run, of those that are `known`."""
    wanted = set(known)
    runs = [{each.source.path for each in run.sources.values()} for run in session.runs.values()]
    return {frozenset(paths & wanted) for paths in runs}


def described(tree: DrawnTree, parts: Iterable[frozenset[Path]]) -> list[list[str]]:
    """A partition as text, to be read when a test fails."""
    return sorted(
        sorted(f"{path.relative_to(tree.root)} ({tree.owner[path]})" for path in part)
        for part in parts
    )


@pytest.mark.parametrize("seed", range(TREES))
def test_each_training_of_a_drawn_tree_is_one_run(seed: int, tmp_path: Path) -> None:
    """None is split, no two are joined, and a copy is another run that says so."""
    tree = draw_tree(seed, tmp_path / "project")
    session = read_session(tree.root)
    assert described(tree, partition(session, tree.owner)) == described(tree, tree.partition())
    marked = {run.copy_of != "" for run in session.runs.values()}
    assert marked == {False, True} if tree.copies else marked == {False}


def test_the_grandparent_of_many_shows_the_same_runs(tmp_path: Path) -> None:
    """Whether a project, or a directory of projects, is watched."""
    trees = list(draw_trees(range(2000, 2000 + TREES // 4), tmp_path))
    everything = read_session(tmp_path)
    for tree in trees:
        whole = {part for part in partition(everything, tree.owner) if part}
        assert described(tree, whole) == described(tree, tree.partition())


@pytest.mark.parametrize("seed", range(3000, 3000 + TREES // 20))
def test_a_directory_of_one_run_shows_that_run(seed: int, tmp_path: Path) -> None:
    """Watched from any folder in the tree, logs are together that are together in the whole."""
    tree = draw_tree(seed, tmp_path / "project")
    folders = {folder for path in tree.owner for folder in path.parents}
    for folder in sorted(each for each in folders if each.is_relative_to(tree.root)):
        seen = {path for path in tree.owner if path.is_relative_to(folder)}
        expected = {part & seen for part in tree.partition() if part & seen - tree.silent}
        found = partition(read_session(folder), seen)
        assert described(tree, found) == described(tree, expected)


@pytest.mark.parametrize("seed", range(4000, 4000 + TREES // 30))
def test_live_comes_to_the_same_runs(seed: int, tmp_path: Path) -> None:
    """Logs that grow in turn are put together anew until they are as `check` has them."""
    tree = draw_tree(seed, tmp_path / "project")
    live = tmp_path / "live" / "project"
    watched = WatchedDirectory(live)
    for _ in grow_logs(tree.root, live, parts=3, seed=seed):
        watched.read_and_judge()
    watched.finish()
    expected = read_session(tree.root)
    expected.judge()
    assert judged_objects(watched.session) == judged_objects(expected)
    assert len(expected.runs) == len(tree.partition())


@pytest.mark.parametrize("evicted", [False, True])
def test_a_console_that_prints_its_folder_later_changes_runs(evicted: bool, tmp_path: Path) -> None:
    """What is found then is what is found by reading everything at once, points dropped or not."""
    write = TreeWriter(random.Random(1), tmp_path)
    for seed in (1, 2):
        write.events(f"PPO_{seed}", draw_training(random.Random(seed), str(seed), False))
    log = tmp_path / "job.log"
    log.write_text("".join(f"note: {seed * seed}.5 step: {seed}\n" for seed in range(1, 9)))
    watched = WatchedDirectory(tmp_path)
    watched.read_and_judge()
    names = ["PPO_1", "PPO_2", tmp_path.name]
    assert sorted(run.name for run in watched.session.runs.values()) == names
    if evicted:
        for run in watched.session.runs.values():
            run.drop_history()
    with log.open("a") as file:
        file.write("Logging to PPO_2\nRuntimeError: CUDA error\n")
    watched.read_and_judge()
    while keys := watched.session.sources_to_reread(watched.session.runs):
        watched.follower.reread(keys)
        watched.read_and_judge()
    watched.finish()
    assert sorted(run.name for run in watched.session.runs.values()) == ["PPO_1", "PPO_2"]
    expected = read_session(tmp_path)
    expected.judge()
    assert judged_objects(watched.session) == judged_objects(expected)


def test_of_folders_of_add_scalars_the_training_is_charted(tmp_path: Path) -> None:
    """`add_scalars("reward", {"eval": ..., "train": ...})` writes the same tag twice."""
    write = TreeWriter(random.Random(1), tmp_path)
    run, other = (draw_training(random.Random(seed), "run", False) for seed in (2, 3))
    other.process = run.process
    write.events("exp", run, dict.fromkeys(METRICS[1:2], "loss"))
    write.events("exp/reward_train", run, {METRICS[0]: "reward"})
    write.events("exp/reward_eval", other, {METRICS[0]: "reward"})
    session = read_session(tmp_path)
    session.judge()
    (only,) = session.runs.values()
    track = only.timeline.tracks["reward_mean"]
    assert (track.tag, "reward_train" in track.source) == ("reward", True)
    assert len({key for key, reason in only.joined_by.items() if reason}) == 2


def test_many_folders_of_one_process_are_one_run(tmp_path: Path) -> None:
    """`add_scalars` writes a folder a tag, of which a long list has more than forty."""
    write = TreeWriter(random.Random(1), tmp_path)
    run = draw_training(random.Random(2), "run", False)
    for number in range(50):
        write.events(f"exp/part_{number}", run, {METRICS[number % 4]: f"part/{number}"})
    assert described(write.tree, partition(read_session(tmp_path), write.tree.owner)) == described(
        write.tree, write.tree.partition()
    )


def test_names_tie_within_each_of_many_projects(tmp_path: Path) -> None:
    """`ppo_s1` of one project is not that of the next, however many have one."""
    write = TreeWriter(random.Random(1), tmp_path)
    for project, seed in product(range(21), (1, 2)):
        run = draw_training(random.Random(seed), f"{project}/{seed}", False)
        write.monitor(f"project{project}/monitors/ppo_s{seed}.monitor.csv", run)
        write.console(f"project{project}/consoles/ppo_s{seed}.log", run, silent=True)
    assert described(write.tree, partition(read_session(tmp_path), write.tree.owner)) == described(
        write.tree, write.tree.partition()
    )


def test_every_command_counts_the_same_runs(tmp_path: Path) -> None:
    """The list on the screen, `check`, `status` and `export`; a copy is marked everywhere."""
    write = TreeWriter(random.Random(1), tmp_path)
    for seed in (1, 2, 3):
        run = draw_training(random.Random(seed), str(seed), shared_start=True)
        write.events(f"tb/PPO_{seed}", run)
        write.console(f"PPO_{seed}.log", run)
    write.copy("tb/PPO_1", "tb/PPO_1_copy")
    err, table = io.StringIO(), io.StringIO()
    answer = judge_paths([tmp_path], Settings(), None, answer_parts(JSON), err)
    assert answer is not None
    printed = json.loads(answer_text(answer, Severity.CRIT, JSON))
    report = {run["name"]: run for run in printed["runs"]}
    assert report.keys() == {"PPO_1", "PPO_2", "PPO_3", "PPO_1_copy"}
    assert [name for name, run in report.items() if run["copy_of"]] == ["PPO_1_copy"]
    reasons = {source["path"]: source["joined_by"] for source in report["PPO_2"]["sources"]}
    assert set(reasons.values()) == {None, "same values at the same steps"}
    status = judge_paths([tmp_path], Settings(), None, [], err)
    assert status is not None and len(status.reports) == len(report)
    assert "copy of PPO_1" in overview(status.reports)
    session = read_session(tmp_path)
    listed = RunList().listed_runs(session, now=0.0)
    assert {each.name: each.copy_of for each in listed if each.copy_of} == {"PPO_1_copy": "PPO_1"}
    assert len(listed) == len(report)
    export(session.sorted_runs(), table, "csv", "all")
    assert {line.split(",")[0] for line in table.getvalue().splitlines()[1:]} == report.keys()
