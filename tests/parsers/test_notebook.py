"""Notebooks: every value of every training, each training its own run, crashes where they were."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.files.follower import Follower
from ppo_top.model import RunEnd, State
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format, Store
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.growing_logs import drain
from tests.support.parser_harness import ParserOutput
from tests.support.recordings import DATA_FOLDER, damaged_bytes, memory_folder, recorded_points

NOTEBOOK = DATA_FOLDER / "hf_notebook_5.23.0" / "bandit.ipynb"
RUNS = {
    "bandit-cell-4": "healthy",
    "bandit-cell-5-1": "seed2",
    "bandit-cell-5-2": "seed3",
    "bandit-cell-6": "sick",
    "bandit-cell-7": "crashed",
}
PRINTED = "bandit-cell-9"


def store_of(path: Path) -> Store:
    """The store that reads a notebook."""
    found = detect_format(path.name, path.read_bytes()[:4096])
    assert isinstance(found, Format)
    assert found.store is not None
    return found.store(path)


def read_all(store: Store) -> dict[str, ParserOutput]:
    """All that is new, by run."""
    runs: dict[str, ParserOutput] = {}
    while batch := store.poll(1000):
        runs.setdefault(batch.stored_run, ParserOutput()).add_batch(batch)
    return runs


def logged(training: str) -> dict[str, list[tuple[int, float]]]:
    """What the trainer logged, as its table prints it: floats with six digits after the point."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in recorded_points("hf_notebook_5.23.0"):
        if row["run"] == training:
            value = float(f"{row['value']:.6f}")
            found.setdefault(row["tag"], []).append((row["step"], value))
    return found


def notebook(*cells: list[dict[str, Any]]) -> bytes:
    """A notebook of code cells with these outputs."""
    written = [{"cell_type": "code", "source": "", "outputs": outputs} for outputs in cells]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": written}).encode()


def table(*rewards: float) -> dict[str, Any]:
    """The output of a training in progress, one row for each reward."""
    rows = "".join(
        f"<tr><td>{step}</td><td>0.1</td><td>{reward}</td></tr>"
        for step, reward in enumerate(rewards, 1)
    )
    head = "<tr><th>Step</th><th>Training Loss</th><th>reward</th></tr>"
    return {
        "output_type": "display_data",
        "data": {
            "text/html": [
                f"<progress value='{len(rewards)}' max='9'>",
                f"<table>{head}{rows}</table>",
            ]
        },
    }


def printed(text: str) -> dict[str, Any]:
    """What a cell printed."""
    return {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}


def check_json(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, dict[str, dict[str, Any]], str]:
    """The exit code, the runs by name and the lines on stderr of `check --json`."""
    code = main(["check", "--json", *arguments])
    out, err = capsys.readouterr()
    runs = {run["name"]: run for run in json.loads(out)["runs"]} if out else {}
    return code, runs, err


def test_every_value_of_every_training_is_read() -> None:
    """Equal to the trainers' own log history; the table of the one that raised lags behind it."""
    runs = read_all(store_of(NOTEBOOK))
    assert list(runs) == [*RUNS, PRINTED]
    for run, training in RUNS.items():
        points, history = runs[run].values_by_step(), logged(training)
        assert points.keys() == history.keys()
        for tag, values in history.items():
            assert points[tag] == values[: len(points[tag])], (run, tag)
            assert len(points[tag]) == len(values) or training == "crashed"
        assert runs[run].problems == []


def test_a_loop_that_prints_is_a_training_too() -> None:
    """A cell without a table is read as a console."""
    run = read_all(store_of(NOTEBOOK))[PRINTED]
    assert run.steps("reward") == list(range(1, 41))
    assert run.values("reward") == [float(f"{step * 0.5 - 3:.2f}") for step in range(1, 41)]


def test_an_error_ends_the_training_of_its_own_cell_only() -> None:
    """A full bar is a regular end; the cell that fails without a training is no run."""
    ends = {run: output.ended for run, output in read_all(store_of(NOTEBOOK)).items()}
    assert ends.pop("bandit-cell-7") == RunEnd(
        State.DIED, "RuntimeError: CUDA error: device-side assert triggered"
    )
    assert ends.pop(PRINTED) is None
    assert {end.state for end in ends.values() if end} == {State.FINISHED}


def test_check_judges_each_training(capsys: pytest.CaptureFixture[str]) -> None:
    """By name: the sick one is found, the healthy one passes, the crashed one has died."""
    code, runs, err = check_json(capsys, str(NOTEBOOK))
    assert (code, err) == (1, "")
    assert {run["producer"] for name, run in runs.items() if name != PRINTED} == {"trl-grpo"}
    assert runs["bandit-cell-6"]["verdict"] == "crit"
    assert runs["bandit-cell-6"]["findings"][0]["rule"] == "reward-crash"
    assert runs["bandit-cell-4"]["verdict"] == "healthy"
    assert runs["bandit-cell-7"]["state"] == "died"


def test_cells_without_a_name_in_common_are_trainings_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reward model's table, and the lines of the loop that trains with it."""
    lines = printed("".join(f"objective/kl: 1{n}.5\nenv/reward_mean: 0.{n}\n" for n in range(9)))
    path = tmp_path / "rlhf.ipynb"
    path.write_bytes(notebook([table(1.0, 2.0, 3.0)], [lines]))
    _, runs, _ = check_json(capsys, str(path))
    assert {name: run["progress"]["updates"] for name, run in runs.items()} == {
        "rlhf-cell-1": 3,
        "rlhf-cell-2": 9,
    }


def test_a_cell_that_evaluates_what_was_trained_is_no_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of rewards and shares alone, or of the loss on other data."""
    lines = printed("".join(f"pass@1: 0.{n}\neval_loss: 1.{n}\n" for n in range(9)))
    path = tmp_path / "grpo.ipynb"
    path.write_bytes(notebook([table(1.0, 2.0, 3.0)], [lines]))
    _, runs, _ = check_json(capsys, str(path))
    assert list(runs) == ["grpo-cell-1"]


def test_a_kernel_that_died_is_told_in_its_own_words(tmp_path: Path) -> None:
    """VS Code stores no exception then, but a sentence with a link."""
    sentence = "The Kernel crashed while executing code in the current cell. Please <a>review</a>"
    died = {"output_type": "error", "ename": "", "evalue": "", "traceback": [sentence]}
    (tmp_path / "dead.ipynb").write_bytes(notebook([table(0.1, 0.2, 0.3), died]))
    (cell,) = read_all(store_of(tmp_path / "dead.ipynb")).values()
    assert cell.ended == RunEnd(
        State.DIED, "The Kernel crashed while executing code in the current cell"
    )


def test_a_cell_that_was_stopped_has_not_crashed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stop button of a notebook leaves a traceback, too."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    errors = [each for cell in cells for each in cell.get("outputs", ()) if "ename" in each]
    for each in errors:
        each.update(ename="KeyboardInterrupt", evalue="", traceback=["KeyboardInterrupt: "])
    notebook = {**json.loads(NOTEBOOK.read_text()), "cells": cells}
    (tmp_path / NOTEBOOK.name).write_text(json.dumps(notebook))
    _, runs, _ = check_json(capsys, str(tmp_path / NOTEBOOK.name))
    assert errors
    assert runs["bandit-cell-7"]["state"] == "ended"
    assert "crashed" not in {each["rule"] for each in runs["bandit-cell-7"]["findings"]}


def test_notebooks_in_directories_are_read_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without `--notebooks` one line says which were passed over."""
    shutil.copy(NOTEBOOK, tmp_path)
    shutil.copytree(DATA_FOLDER.parents[1] / "demo_logs" / "trl_grpo", tmp_path / "run")
    _, runs, err = check_json(capsys, str(tmp_path))
    assert len(runs) == 1
    assert err == (
        "ppo-top: 1 notebook passed over (name them, or use --notebooks): "
        f"{tmp_path / 'bandit.ipynb'}\n"
    )
    _, runs, err = check_json(capsys, str(tmp_path), "--notebooks")
    assert {*RUNS, PRINTED} <= runs.keys()
    assert len(runs) == len(RUNS) + 2
    assert err == ""


def save(path: Path, data: bytes) -> None:
    """Replace a file as editors do."""
    other = path.with_name("saving")
    other.write_bytes(data)
    other.replace(path)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Path, Follower, Session]]:
    """A notebook that is being watched."""
    path = tmp_path / "live.ipynb"
    save(path, notebook([table(1.0, 2.0)]))
    follower = Follower([path])
    yield path, follower, Session(Settings())
    follower.close()


def look(follower: Follower, session: Session) -> dict[str, tuple[list[float], list[str]]]:
    """The rewards and problems of every source after reading what is new."""
    follower.sweep_soon()
    drain(follower, session)
    session.assign_pending_logs()
    return {
        run.name: (
            [
                value
                for source in run.sources.values()
                if "reward" in source.series
                for value in source.series["reward"].values
            ],
            [each.message for source in run.sources.values() for each in source.problems],
        )
        for run in session.runs.values()
    }


def test_a_notebook_that_is_saved_again_is_read_again(
    live: tuple[Path, Follower, Session],
) -> None:
    """Further rows, a second training, and a cell that was run anew."""
    path, follower, session = live
    assert look(follower, session) == {"live-cell-1": ([1.0, 2.0], [])}
    save(path, notebook([table(1.0, 2.0, 3.0)], [table(7.0)]))
    assert look(follower, session) == {
        "live-cell-1": ([1.0, 2.0, 3.0], []),
        "live-cell-2": ([7.0], []),
    }
    save(path, notebook([table(5.0)], [table(7.0, 8.0)]))
    assert look(follower, session) == {
        "live-cell-1": ([5.0], []),
        "live-cell-2": ([7.0, 8.0], []),
    }


def test_a_damaged_notebook_keeps_its_last_good_reading(
    live: tuple[Path, Follower, Session],
) -> None:
    """It says so, once, and not any more when it can be read again."""
    path, follower, session = live
    good = look(follower, session)
    data = path.read_bytes()
    save(path, data[:-30])
    ((rewards, problems),) = look(follower, session).values()
    assert rewards == [1.0, 2.0]
    assert len(problems) == 1
    assert problems[0].startswith("cannot be read now: ")
    save(path, data[:-20])
    assert [len(found[1]) for found in look(follower, session).values()] == [1]
    save(path, data)
    assert look(follower, session) == good


def test_text_belongs_to_the_training_before_it(tmp_path: Path) -> None:
    """Two tables in a cell, text around them; numbers in it do not mix with the table's."""
    path = tmp_path / "two.ipynb"
    outputs = [
        printed("before\n"),
        table(1.0),
        printed("reward: 9\nmiddle\n"),
        table(2.0),
        printed("after\n"),
    ]
    path.write_bytes(notebook(outputs))
    runs = read_all(store_of(path))
    assert {run: output.texts() for run, output in runs.items()} == {
        "two-cell-1-1": ["before", "reward: 9", "middle"],
        "two-cell-1-2": ["after"],
    }
    assert [output.values("reward") for output in runs.values()] == [[1.0], [2.0]]


def test_a_table_that_is_shown_again_as_it_grows_is_one(tmp_path: Path) -> None:
    """Colab keeps what was shown before other output; another training begins with other rows."""
    path = tmp_path / "grown.ipynb"
    outputs = [table(1.0, 2.0), printed("saved\n"), table(1.0, 2.0, 3.0), table(4.0, 5.0)]
    path.write_bytes(notebook(outputs))
    found = [output.values("reward") for output in read_all(store_of(path)).values()]
    assert found == [[1.0, 2.0, 3.0], [4.0, 5.0]]


def test_records_printed_for_each_row_have_its_step(tmp_path: Path) -> None:
    """TRL's table of the losses alone, with dictionaries below it that state no step."""
    path = tmp_path / "losses.ipynb"
    rows = "".join(f"<tr><td>{step}</td><td>0.1</td></tr>" for step in (10, 20, 30))
    page = f"<table><tr><th>Step</th><th>Training Loss</th></tr>{rows}</table>"
    shown = {"output_type": "display_data", "data": {"text/html": page}}
    records = "".join(f"{{'loss': 0.12345678, 'reward': {n}.5}}\n" for n in (1, 2, 3))
    path.write_bytes(notebook([shown, printed(records + "{'train_runtime': 9.0}\n")]))
    (only,) = read_all(store_of(path)).values()
    assert only.values_by_step() == {
        "loss": [(10, 0.1), (20, 0.1), (30, 0.1)],
        "reward": [(10, 1.5), (20, 2.5), (30, 3.5)],
    }


@pytest.mark.parametrize(("printed_rows", "found"), [(12, range(1, 13)), (11, ())])
def test_rewards_printed_in_each_step_beside_a_table(
    tmp_path: Path, printed_rows: int, found: Sequence[int]
) -> None:
    """By GRPO's reward function, where the trainer logs the loss of each fourth step."""
    path = tmp_path / "rewards.ipynb"
    rows = "".join(f"<tr><td>{step}</td><td>0.1</td></tr>" for step in (4, 8, 12))
    page = f"<table><tr><th>Step</th><th>Training Loss</th></tr>{rows}</table>"
    page = f"<progress value='12' max='12'>{page}"
    shown = {"output_type": "display_data", "data": {"text/html": page}}
    first, *others = (f"  Batch: mean_reward=0.{n}\n" for n in range(printed_rows))
    path.write_bytes(notebook([printed(first), shown, printed("".join(others))]))
    (only,) = read_all(store_of(path)).values()
    assert (only.steps("loss"), only.steps("mean_reward")) == ([4, 8, 12], list(found))


@pytest.mark.parametrize(("last", "found"), [(200, [50, 100, 150, 200]), (300, []), (100, [])])
def test_records_that_say_their_step_beside_a_table(
    tmp_path: Path, last: int, found: Sequence[int]
) -> None:
    """`print(f"[log][step {step}] loss={loss:.4f} reward={reward:.3f}")` of a trainer's callback.

    Those that go beyond the trainer's bar, or end long before it, count something else.
    """
    path = tmp_path / "callback.ipynb"
    rows = "".join(f"<tr><td>{step}</td><td>0.1</td></tr>" for step in (100, 200))
    page = f"<table><tr><th>Step</th><th>Training Loss</th></tr>{rows}</table>"
    page = f"<progress value='200' max='200'>{page}"
    shown = {"output_type": "display_data", "data": {"text/html": page}}
    steps = [last * n // 4 for n in (1, 2, 3, 4, 4)]
    records = (f"[log][step {step}] loss=0.2000 reward=0.{step} kl=0.0027\n" for step in steps)
    path.write_bytes(notebook([shown, printed("".join(records))]))
    (only,) = read_all(store_of(path)).values()
    assert only.steps("loss") == [100, 200]
    assert sorted({*only.steps("reward")}) == found


SB3_TABLE = """\
----------------------------
| rollout/        |        |
|    ep_rew_mean  | {reward}   |
| time/           |        |
|    total_timesteps | {step} |
----------------------------
"""


def test_two_tables_of_a_trainer_are_a_training(tmp_path: Path) -> None:
    """One may be a result; so may numbers between bars."""
    first, second = (SB3_TABLE.format(reward=n + 0.5, step=2048 * n) for n in (1, 2))
    bars = "| reward | 1.5 |\n| reward | 2.5 |\n"
    path = tmp_path / "few.ipynb"
    path.write_bytes(notebook([printed(first)], [printed(first + second)], [printed(bars)]))
    found = read_all(store_of(path))
    assert list(found) == ["few-cell-2"]
    assert found["few-cell-2"].values_by_step()["rollout/ep_rew_mean"] == [(2048, 1.5), (4096, 2.5)]


@pytest.mark.parametrize(
    ("bar", "steps", "total"),
    [
        ("value='387' max='387'></progress> [387/387 35:27, Epoch 3/3]", [129, 258], 387),
        (
            "value='300' max='387'></progress> [300/387 27:00 < 7:50, Epoch 2.33/3]",
            [129, 258],
            387,
        ),
        ("value='300' max='300'></progress> [300/300 27:00, Epoch 2.33/3]", [1, 2], None),
        ("value='300' max='400'></progress> [300/400 27:00 < 9:00]", [1, 2], None),
    ],
)
def test_rows_of_epochs_stand_at_the_steps_of_the_bar(
    tmp_path: Path, bar: str, steps: list[int], total: int | None
) -> None:
    """Where the bar tells how many an epoch has; else the bar's total is not theirs."""
    rows = "".join(f"<tr><td>{n}</td><td>0.{n}</td><td>0.5</td></tr>" for n in (1, 2))
    head = "<tr><th>Epoch</th><th>Training Loss</th><th>Validation Loss</th></tr>"
    page = f"<progress {bar}<table>{head}{rows}</table>"
    path = tmp_path / "epochs.ipynb"
    path.write_bytes(notebook([{"output_type": "display_data", "data": {"text/html": [page]}}]))
    (found,) = read_all(store_of(path)).values()
    assert found.values_by_step()["loss"] == list(zip(steps, (0.1, 0.2), strict=True))
    assert found.config.get("max_steps") == total


def test_a_figure_between_printed_lines_is_a_line_of_its_own(tmp_path: Path) -> None:
    """So that the heading of the test behind it is seen (joyrl-book's notebooks)."""
    figure = {
        "output_type": "display_data",
        "data": {"text/plain": ["<Figure size 640x480 with 1 Axes>"]},
    }
    rounds = "".join(f"回合：{n}/12，奖励：{n}.50\n" for n in range(1, 13))
    tested = "开始测试！\n" + "".join(f"回合：{n}/3，奖励：90.00\n" for n in range(1, 4))
    path = tmp_path / "tested.ipynb"
    path.write_bytes(notebook([printed(f"开始训练！\n{rounds}"), figure, printed(tested)]))
    (found,) = read_all(store_of(path)).values()
    assert found.values_by_step()["奖励"] == [(n, n + 0.5) for n in range(1, 13)]
    assert found.values_by_step()["eval/奖励"] == [(12, 90.0)] * 3


def test_a_cell_that_shows_what_was_trained_is_no_training(tmp_path: Path) -> None:
    """If it says so first, and another cell is one; alone it is all that there is."""
    trained = "".join(f"Episode {10 * n} | reward: {n}.5\n" for n in range(1, 9))
    shown = "Visualizing agent for 3 episodes...\n" + "".join(
        f"Episode {n}:\n  Total reward: {n}00.0\n" for n in range(1, 4)
    )
    path = tmp_path / "shown.ipynb"
    path.write_bytes(notebook([printed(trained)], [printed(shown)]))
    assert list(read_all(store_of(path))) == ["shown-cell-1"]
    path.write_bytes(notebook([printed(shown)]))
    assert list(read_all(store_of(path))) == ["shown-cell-1"]


def test_an_evaluation_comes_after_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Episodes of random play in a cell above it are none of it."""
    played = printed("".join(f"Episode:{n} Score:-{80 + n}\n" for n in range(1, 9)))
    trained = printed("".join(f"step {100 * n} reward: {n}.5 loss: 0.5\n" for n in range(1, 9)))
    before, after = tmp_path / "before.ipynb", tmp_path / "after.ipynb"
    before.write_bytes(notebook([played], [trained]))
    after.write_bytes(notebook([trained], [played]))
    assert sorted(check_json(capsys, str(before))[1]) == ["before-cell-1", "before-cell-2"]
    assert sorted(check_json(capsys, str(after))[1]) == ["after-cell-1"]


def test_results_that_are_printed_once_are_no_training(tmp_path: Path) -> None:
    """One accuracy is a result; so are two."""
    path = tmp_path / "few.ipynb"
    path.write_bytes(notebook([printed("reward: 1\n")], [printed("loss: 1\nloss: 2\n")]))
    assert read_all(store_of(path)) == {}


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"cells": 3}', '{"cells": [3, {"outputs": [3]}]}']
)
def test_other_json_is_no_notebook(text: str, tmp_path: Path) -> None:
    """At most a line says that there are no cells; nothing is raised."""
    path = tmp_path / "odd.ipynb"
    path.write_text(text)
    found = read_all(notebook_store(path))
    assert all(not output.points for output in found.values())


def notebook_store(path: Path) -> Store:
    """The store of a file whatever its first bytes are."""
    form = detect_format("a.ipynb", b"{")
    assert isinstance(form, Format)
    assert form.store is not None
    return form.store(path)


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_random_damage_is_reported_or_harmless(seed: int) -> None:
    """Nothing is raised, and nothing is lost without a word: a cut of cells leaves the others."""
    with memory_folder() as folder:
        path = folder / "bandit.ipynb"
        path.write_bytes(damaged_bytes(NOTEBOOK.read_bytes(), seed))
        found = read_all(notebook_store(path))
        problems = [each for output in found.values() for each in output.problems]
        assert problems or any(output.points for output in found.values())


def test_a_cell_of_several_trainings_is_several_runs(tmp_path: Path) -> None:
    """A search over settings, each under its title; what has too few rows is none."""
    path = tmp_path / "search.ipynb"
    text = "".join(
        f"Training Configuration {run}/3: hid_{run}\n"
        + "".join(f"  Episode {n}/{rows} | Reward: {run}.5\n" for n in range(1, rows + 1))
        for run, rows in ((1, 9), (2, 8), (3, 2))
    )
    path.write_bytes(notebook([printed(text)]))
    runs = read_all(store_of(path))
    assert {name: output.steps("Reward") for name, output in runs.items()} == {
        "search-cell-1-1": [*range(1, 10)],
        "search-cell-1-2": [*range(1, 9)],
    }
