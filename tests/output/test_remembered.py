"""Judged runs are remembered: the same answer, without reading what has not changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.support import cache as cache_module
from tests.support.corpus_sample import corpus_sample
from tests.support.denied_files import deny_opening
from tests.support.installed_program import DEMO, PROGRAM, copy_of, environment
from tests.support.remembered import NAMES, Printed, age, finished_runs, opened_files

COMMANDS = (["check", "--json"], ["check"], ["status"], ["status", "--format", "tmux"])


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of its own for each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ppo-top"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs that ended two days ago."""
    return finished_runs(tmp_path / "runs")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_second_answer_is_the_first_without_reading(command: list[str], runs: Path) -> None:
    """Byte for byte, with the same exit code."""
    cold, first = Printed(*command, runs, "--no-cache"), Printed(*command, runs)
    with opened_files() as opened:
        assert Printed(*command, runs) == first == cold
    assert not opened


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_could_not_be_read_is_named_again(command: list[str], runs: Path) -> None:
    """A damaged line: both answers tell of the first that was met."""
    for log in runs.rglob("*.csv"):
        first, *rows = log.read_text().splitlines(keepends=True)
        log.write_text("".join([first, *rows[:3], "damaged, line\n", *rows[3:]]))
    age(runs)
    cold, first_time = Printed(*command, runs, "--no-cache"), Printed(*command, runs)
    with opened_files() as opened:
        assert Printed(*command, runs) == first_time == cold
    assert not opened
    assert "1 unreadable, first at" in f"{cold.out}{cold.err}" or "status" in command


def test_what_cannot_be_opened_costs_the_others_nothing(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not judged again; what is missing is said each time."""
    closed = runs / "closed" / "progress.csv"
    shutil.copytree(runs / NAMES[0], closed.parent)
    age(runs)
    deny_opening(closed, monkeypatch)
    first = Printed("check", runs)
    with opened_files() as opened:
        assert Printed("check", runs) == first
    assert f"{closed}: cannot read: permission denied" in first.err
    assert {Path(each).parent for each in opened} <= {closed.parent}


def test_a_log_given_by_itself_is_called_anew_where_another_came_beside_it(runs: Path) -> None:
    """By then its folder does not tell one run from another."""
    log = runs / "by-hand" / "one.log"
    log.parent.mkdir()
    shutil.copy(DEMO / "trl_grpo" / "stdout.log", log)
    age(runs)
    assert Printed("status", log).out == Printed("status", log).out
    shutil.copy2(log, log.with_name("two.log"))
    assert Printed("status", log) == Printed("status", log, "--no-cache")


@pytest.mark.parametrize("first", COMMANDS, ids=" ".join)
def test_what_one_command_judged_the_others_need_not(first: list[str], runs: Path) -> None:
    """`check` after `status`, JSON after text, and so on."""
    Printed(*first, runs)
    with opened_files() as opened:
        warm = [Printed(*command, runs) for command in COMMANDS]
    assert not opened
    assert warm == [Printed(*command, runs, "--no-cache") for command in COMMANDS]


def test_corpus_runs_are_remembered_as_they_were_judged(tmp_path: Path) -> None:
    """A sample of the labelled runs, restored one by one: one of them has changed."""
    folder = tmp_path / "runs"
    for run in corpus_sample(30):
        shutil.copytree(run, folder / run.name)
    age(folder)
    Printed("status", folder)
    newest = sorted(folder.iterdir())[0]
    age(newest, 3600.0)
    with opened_files() as opened:
        warm = Printed("check", "--json", folder)
    assert {Path(path).relative_to(folder).parts[0] for path in opened} == {newest.name}
    assert warm == Printed("check", "--json", folder, "--no-cache")


# --- what makes a remembered verdict invalid ---------------------------------------------------


def grow(run: Path) -> None:
    """More updates, an hour later."""
    log = run / "train.log"
    log.write_bytes(log.read_bytes() + log.read_bytes()[-3000:])


def shrink(run: Path) -> None:
    """Fewer updates."""
    log = run / "train.log"
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])


def replace_with_same_size(run: Path) -> None:
    """Another file of the same size and time under the old name."""
    log = run / "train.log"
    found = log.stat()
    other = run / "other"
    other.write_bytes(log.read_bytes().replace(b"Iteration 1", b"Iteration 2"))
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(log)


def touch(run: Path) -> None:
    """The same bytes, written again."""
    age(run, 3600.0)


def delete(run: Path) -> None:
    """The log is gone."""
    (run / "train.log").unlink()


def add_a_log(run: Path) -> None:
    """A second log joins the run."""
    (run / "hparams.yaml").write_text("learning_rate: 0.5\n")


def remove_the_run(run: Path) -> None:
    """The whole directory is gone."""
    shutil.rmtree(run)


def replace_by_something_else(run: Path) -> None:
    """The name of the log now belongs to a file that is none."""
    (run / "train.log").write_bytes(bytes(range(256)) * 40)


def console_run(runs: Path) -> Path:
    """The run whose only log is its console."""
    run = runs / "torch_cartpole_lr"
    next(run.glob("*tfevents*")).unlink()
    (run / "stdout.log").rename(run / "train.log")
    age(runs)
    return run


CHANGES = (
    grow,
    shrink,
    replace_with_same_size,
    touch,
    delete,
    add_a_log,
    remove_the_run,
    replace_by_something_else,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("command", (["check", "--json"], ["status"]), ids=" ".join)
def test_a_changed_run_is_judged_again_and_no_other(
    change: Callable[[Path], None], command: list[str], runs: Path
) -> None:
    """Whatever happens to one run, the others are not read."""
    run = console_run(runs)
    Printed(*command, runs)
    change(run)
    with opened_files() as opened:
        answer = Printed(*command, runs)
    assert {Path(path).parent for path in opened} <= {run}
    assert answer == Printed(*command, runs, "--no-cache")


def test_a_new_run_is_read_and_the_others_are_not(runs: Path) -> None:
    """Names may change with it, for they are the shortest that are unique."""
    Printed("check", "--json", runs)
    copy_of(NAMES[0], runs / "more" / NAMES[0])
    with opened_files() as opened:
        answer = Printed("check", "--json", runs)
    assert {Path(path).relative_to(runs).parts[0] for path in opened} == {"more"}
    assert answer == Printed("check", "--json", runs, "--no-cache")
    assert len(json.loads(answer.out)["runs"]) == len(NAMES) + 1


def test_a_log_that_joins_a_remembered_run_is_judged_with_it(tmp_path: Path) -> None:
    """A console that is copied next to the event file of its run."""
    runs = tmp_path / "runs"
    run = copy_of("torch_cartpole", runs / "a")
    console = (run / "stdout.log").rename(tmp_path / "train.log")
    age(runs)
    (alone,) = json.loads(Printed("check", "--json", runs).out)["runs"]
    console.rename(run / "train.log")
    answer = Printed("check", "--json", runs)
    assert answer == Printed("check", "--json", runs, "--no-cache")
    (together,) = json.loads(answer.out)["runs"]
    assert [len(each["sources"]) for each in (alone, together)] == [1, 2]


@pytest.mark.parametrize("changed", ["a.log", "b.log", "c.csv"])
def test_logs_side_by_side_are_grouped_as_without_a_cache(tmp_path: Path, changed: str) -> None:
    """Which of them belong together depends on all of them: a changed one has all read again."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, log in (("a", "torch_cartpole"), ("b", "torch_cartpole_nan"), ("d", "trl_grpo")):
        shutil.copy(DEMO / log / "stdout.log", runs / f"{name}.log")
    shutil.copy(DEMO / "sb3_cartpole" / "progress.csv", runs / "c.csv")
    age(runs)
    Printed("status", runs)
    newer = time.time() - 36 * 3600
    os.utime(runs / changed, (newer, newer))
    warm = Printed("check", "--json", runs)
    assert warm == Printed("check", "--json", runs, "--no-cache")


def test_files_that_are_no_logs_do_not_matter(runs: Path) -> None:
    """They are remembered, too; a changed one may have become a log."""
    for place in (runs, runs / NAMES[1]):
        (place / "notes.txt").write_text("remember the milk\n" * 300)
        (place / "empty.log").touch()
    age(runs)
    Printed("status", runs)
    age(runs / NAMES[0], 36 * 3600.0)
    with opened_files() as opened:
        Printed("status", runs)
    used = {Path(path).parent.name for path in opened if Path(path).suffix not in (".txt",)}
    assert used - {"runs"} <= {NAMES[0], NAMES[1]}
    assert not [path for path in opened if NAMES[1] in path and "stdout" in path]


def test_two_roots_with_the_same_names_inside(tmp_path: Path) -> None:
    """Each run is its own, and both are named by their paths."""
    roots = [finished_runs(tmp_path / name) for name in ("one", "two")]
    cold = Printed("check", "--json", *roots, "--no-cache")
    assert Printed("check", "--json", *roots) == cold
    assert Printed("check", "--json", *roots) == cold
    assert Printed("check", "--json", roots[0]) == Printed(
        "check", "--json", roots[0], "--no-cache"
    )


def test_a_run_that_was_just_written_is_not_remembered(runs: Path) -> None:
    """It may still be training; the others are."""
    age(runs / NAMES[1], 20.0)
    Printed("status", runs)
    with opened_files() as opened:
        Printed("status", runs)
    assert {Path(path).parent.name for path in opened} == {NAMES[1]}


def test_other_settings_judge_again(runs: Path, tmp_path: Path) -> None:
    """Thresholds, muted rules, a goal: findings depend on them."""
    Printed("check", "--json", runs)
    own = tmp_path / "own.toml"
    own.write_text("[rules.kl-high]\nwarn = 5.0\n")
    for options in (["--goal", "10"], ["--curriculum"], ["--settings", str(own)]):
        with opened_files() as opened:
            answer = Printed("check", "--json", runs, *options)
        assert opened
        assert answer == Printed("check", "--json", runs, *options, "--no-cache")
    own.write_text("[display]\nascii = true\n")
    with opened_files() as opened:
        Printed("check", "--json", runs, "--settings", own)
    assert not opened  # nothing that is judged depends on it


def test_another_version_judges_again(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rules are not those that the remembered verdict comes from."""
    Printed("status", runs)
    monkeypatch.setattr(cache_module, "program_version", lambda: "0.0.0")
    with opened_files() as opened:
        Printed("status", runs)
    assert opened


def test_problems_are_repeated(runs: Path) -> None:
    """What could not be read is said each time, with the same words."""
    damaged = next((runs / NAMES[0]).rglob("*tfevents*"))
    damaged.write_bytes(damaged.read_bytes()[:-7] + b"\0\0\0\0\0\0\0")
    age(runs)
    first = Printed("check", runs)
    with opened_files() as opened:
        assert Printed("check", runs) == first
    assert not opened
    assert "unreadable" in first.err or first.err == Printed("check", runs, "--no-cache").err


# --- the cache itself ----------------------------------------------------------------------------


def test_only_its_owner_can_read_it(runs: Path, cache_folder: Path) -> None:
    """Logs of others may be in there."""
    Printed("status", runs)
    assert cache_folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in cache_folder.iterdir()] == [0o600]


def test_nothing_is_written_without_it(runs: Path, cache_folder: Path) -> None:
    """`--no-cache` neither reads nor writes."""
    Printed("check", "--no-cache", runs)
    assert not cache_folder.exists()


def test_nothing_is_written_below_a_watched_path(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the user's own cache lies below it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(runs / "cache"))
    first = Printed("check", runs)
    assert Printed("check", runs) == first
    assert not first.err
    assert not (runs / "cache").exists()


def test_a_damaged_cache_is_made_anew(runs: Path, cache_folder: Path) -> None:
    """Any bytes may stand there."""
    cold = Printed("check", runs)
    (database,) = cache_folder.iterdir()
    whole = database.read_bytes()
    for damage in (b"no database at all" * 500, whole[:5000], whole[:2000] + b"\xff" * 9000):
        database.write_bytes(damage)
        assert Printed("check", runs) == cold
        with opened_files() as opened:
            assert Printed("check", runs) == cold
        assert not opened


def test_a_cache_that_cannot_be_made_costs_a_line(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that is no directory, say."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    answer, cold = Printed("check", runs), Printed("check", runs, "--no-cache")
    assert (answer.code, answer.out) == (cold.code, cold.out)
    assert answer.err.count("\n") == 1
    assert answer.err.startswith("ppo-top: cache off: ")


def test_a_full_disk_costs_a_line(
    runs: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reports it at the first page that it cannot write."""
    connect = sqlite3.connect

    def tiny(path: Path, timeout: float) -> object:
        database = connect(path, timeout=timeout)
        database.execute("PRAGMA max_page_count = 2")
        return database

    monkeypatch.setattr(sqlite3, "connect", tiny)
    answer, cold = Printed("check", runs), Printed("check", runs, "--no-cache")
    assert (answer.code, answer.out) == (cold.code, cold.out)
    assert answer.err.count("\n") == 1
    assert "full" in answer.err


def test_a_locked_cache_is_not_waited_for(runs: Path, cache_folder: Path) -> None:
    """Another program holds it: judged without it, and nothing is said."""
    cold = Printed("check", runs)
    (path,) = cache_folder.iterdir()
    with sqlite3.connect(path) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert Printed("check", runs) == cold
        holder.rollback()


def test_two_at_once(runs: Path, tmp_path: Path) -> None:
    """Four programs judge and remember the same runs; each has the right answer."""
    command = [*PROGRAM, "check", "--json", str(runs)]
    started = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
        )
        for _ in range(4)
    ]
    outputs = [process.communicate(timeout=120) for process in started]
    assert all(not err for _, err in outputs)
    verdicts = [[run["verdict"] for run in json.loads(out)["runs"]] for out, _ in outputs]
    assert all(each == verdicts[0] for each in verdicts)
    after = subprocess.run(command, capture_output=True, env=environment(tmp_path), check=False)
    assert [run["verdict"] for run in json.loads(after.stdout)["runs"]] == verdicts[0]


def test_its_size_is_told_and_it_can_be_cleared(runs: Path, cache_folder: Path) -> None:
    """`ppo-top cache`, `ppo-top cache clear`."""
    assert ": 0 remembered runs, 0.0 MB" in Printed("cache").out
    Printed("status", runs)
    assert f": {len(NAMES)} remembered runs, " in Printed("cache").out
    assert ": 0 remembered runs, 0.0 MB" in Printed("cache", "clear").out
    assert not list(cache_folder.iterdir())


HEAVY = (
    *("numpy", "textual", "rich"),
    *("ppo_top.catalogue", "ppo_top.rules", "ppo_top.runs.run", "ppo_top.parsers.console"),
)


@pytest.mark.parametrize("command", (["status"], ["check", "--json"], ["check"]), ids=" ".join)
def test_a_remembered_answer_loads_neither_parsers_nor_rules_nor_tables(
    command: list[str], runs: Path, tmp_path: Path
) -> None:
    """tmux asks every few seconds."""
    arguments = [*command, str(runs)]
    code = (
        f"import ppo_top.cli, sys; ppo_top.cli.main({arguments!r}); "
        "print('@', *sorted(sys.modules), file=sys.stderr)"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment(tmp_path),
        )
    loaded = done.stderr.rsplit("@", 1)[1].split()
    assert "ppo_top.output.answers" in loaded
    assert not [name for name in loaded if name.startswith(HEAVY)]
