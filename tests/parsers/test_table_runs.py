"""One table, several trainings: a column tells them apart where steps begin anew."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.parsers.csv_table import CsvParser
from ppo_top.parsers.json_lines import JsonLinesParser
from tests.support.growing_logs import WatchedDirectory
from tests.support.parser_harness import ParserOutput, chunks, feed_trainings


def rows(seed: object, steps: range = range(10, 130, 10)) -> list[str]:
    """The rows of one training; its rewards tell which."""
    return [f"{seed},{step},{step}.5" for step in steps]


def table(lines: list[str], column: str = "seed") -> bytes:
    """A file of these rows."""
    return "\n".join([f"{column},step,reward", *lines, ""]).encode()


def read(data: bytes, size: int = 1 << 20) -> dict[str, ParserOutput]:
    """What is read of each training."""
    return feed_trainings(CsvParser(), chunks(data, size))


def steps_of(found: dict[str, ParserOutput]) -> dict[str, list[int]]:
    """The steps of each training's rewards."""
    return {name: list(each.steps("reward")) for name, each in found.items()}


@pytest.mark.parametrize(
    "column", ["seed", "Seed", "run", "run_id", "trial", "fold", "experiment", "PID"]
)
def test_trainings_one_after_the_other(column: str) -> None:
    """Those after the first are named by the cell, and say why they are trainings."""
    found = read(table([*rows(3), *rows("4a/b"), *rows(5)], column))
    name = column.lower().removesuffix("_id")
    expected = list(range(10, 130, 10))
    assert steps_of(found) == {"": expected, f"{name}-4a_b": expected, f"{name}-5": expected}
    (note,) = found[f"{name}-5"].notes
    assert note == f"training 3 in this table: another {name} (5), and steps begin anew"


@pytest.mark.parametrize("size", [1 << 20, 7])
def test_an_algorithm_behind_its_baselines_is_a_training_of_its_own(size: int) -> None:
    """They have a row each at the first step, after which the steps go on."""
    data = table(["random,0,1.5", "noop,0,0.5", *rows("dqn"), *rows("ppo")], "algo")
    found = read(data, size)
    expected = list(range(10, 130, 10))
    parts = {"": [0], "algo-noop": [0], "algo-dqn": expected, "algo-ppo": expected}
    assert steps_of(found) == parts
    assert found["algo-dqn"].notes == ["training 3 in this table: another algo (dqn)"]


def test_processes_that_write_one_table() -> None:
    """Each trains by itself: `multiprocessing` and `os.getpid()`."""
    lines = [f"{pid},{episode},{episode}.5" for episode in range(1, 40) for pid in (71, 70, 73)]
    found = read(table(lines, "PID"))
    expected = list(range(1, 40))
    assert steps_of(found) == {"": expected, "pid-70": expected, "pid-73": expected}


@pytest.mark.parametrize("column", ["AgentID", "agent_id", "policy_id"])
def test_agents_that_train_side_by_side(column: str) -> None:
    """Each ends its episodes when it can, as environments without a common clock do."""
    order = [(episode, agent) for episode in range(1, 40) for agent in (0, 2, 1)]
    order[10:13] = [order[12], *order[10:12]]  # one is an episode ahead
    found = read(table([f"{agent},{episode},{episode}.5" for episode, agent in order], column))
    name = column.lower().removesuffix("id").removesuffix("_")
    expected = list(range(1, 40))
    assert steps_of(found) == {"": expected, f"{name}-2": expected, f"{name}-1": expected}


@given(
    seeds=st.integers(2, 4),
    settings=st.integers(2, 3),
    length=st.integers(3, 40),
    size=st.integers(1, 4000),
)
def test_the_same_seeds_again(seeds: int, settings: int, length: int, size: int) -> None:
    """With other settings: whole trainings, each from its first step on."""
    lines = [row for _ in range(settings) for s in range(seeds) for row in rows(s, range(length))]
    found = read(table(lines), size)
    assert list(steps_of(found).values()) == [list(range(length))] * (seeds * settings)
    assert [each.config["seed"] for each in found.values()] == [*range(seeds)] * settings


@given(
    totals=st.lists(st.sampled_from([50, 100, 250]), min_size=1, max_size=4),
    first=st.sampled_from([0, 1]),
    left_out=st.integers(1, 49),
    size=st.integers(20, 4000),
)
def test_whole_loops_over_episodes(totals: list[int], first: int, left_out: int, size: int) -> None:
    """Appended to one file without anything between; the last one has not got to its end."""
    lengths = [*totals, 50 - left_out]
    lines = [
        f"{episode},{episode + n}.5"
        for n, length in enumerate(lengths)
        for episode in range(first, first + length)
    ]
    found = feed_trainings(
        CsvParser(), chunks("\n".join(["episode,reward", *lines, ""]).encode(), size)
    )
    assert [each.steps("reward") for each in found.values()] == [
        list(range(first, first + length)) for length in lengths
    ]
    assert all("a round" in each.notes[0] for each in [*found.values()][1:])


@pytest.mark.parametrize("total", [87, 40])
def test_episodes_that_begin_anew_at_another_number_go_on(total: int) -> None:
    """A training that crashed and was started again as it was."""
    lines = [f"{episode},{episode}.5" for episode in range(total)] * 2
    (only,) = read("\n".join(["episode,reward", *lines, ""]).encode()).values()
    assert len(only.steps("reward")) == 2 * total


def test_the_seed_is_a_setting_of_its_training() -> None:
    """So seeds of one set-up are grouped."""
    found = read(table([*rows(3), *rows(4)]))
    assert [each.config for each in found.values()] == [{"seed": 3.0}, {"seed": 4.0}]


@given(
    lengths=st.lists(st.integers(2, 12), min_size=2, max_size=4),
    draw=st.randoms(use_true_random=False),
    size=st.integers(1, 400),
)
def test_trainings_that_run_at_once(lengths: list[int], draw: random.Random, size: int) -> None:
    """Rows are in any order between trainings, bytes cut anywhere: each has all of its own."""
    left = {seed: rows(seed, range(1, length + 1)) for seed, length in enumerate(lengths)}
    mixed = [left[seed].pop(0) for seed in left]
    while any(left.values()):
        mixed.append(left[draw.choice([seed for seed in left if left[seed]])].pop(0))
    found = steps_of(read(table(mixed), size))
    assert sorted(found.values()) == sorted(list(range(1, length + 1)) for length in lengths)


def as_json_lines(data: bytes) -> bytes:
    """The same table with an object a row; numbers as numbers."""
    header, *lines = data.decode().splitlines()
    objects = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    plain = [{k: json.loads(v) if v[0].isdigit() else v for k, v in x.items()} for x in objects]
    return "".join(json.dumps(each) + "\n" for each in plain).encode()


@given(
    lengths=st.lists(st.integers(2, 400), min_size=1, max_size=4),
    names=st.permutations([7, "a", 12, "b/c"]),
    column=st.sampled_from(["seed", "run_id", "other"]),
    size=st.integers(1, 1 << 17),
)
def test_json_lines_hold_the_same_trainings(
    lengths: list[int], names: list[object], column: str, size: int
) -> None:
    """Long ones too, of which many lines are read at once."""
    pairs = zip(names, lengths, strict=False)
    data = table([row for name, length in pairs for row in rows(name, range(length))], column)
    expected = read(data, size)
    found = feed_trainings(JsonLinesParser(), chunks(as_json_lines(data), size))
    assert steps_of(found) == steps_of(expected)
    assert [each.config for each in found.values()] == [each.config for each in expected.values()]


@given(size=st.integers(1, 300), rubbish=st.binary(max_size=40))
def test_rubbish_between_them_costs_its_own_line(size: int, rubbish: bytes) -> None:
    """Wherever the bytes are cut."""
    hurt = bytes(byte for byte in rubbish if byte not in b'"\r\n,0123456789')
    data = table(rows(1)) + hurt + b"\n" + table(rows(2)).partition(b"\n")[2]
    assert steps_of(read(data, size)) == steps_of(read(table([*rows(1), *rows(2)])))


@pytest.mark.parametrize(
    ("column", "lines"),
    [
        ("seed", rows(3) + rows(3)),
        ("seed", [f"{n * 7919},{n},{n}.5" for n in range(1, 30)]),
        ("run", [f"{n},{n * 200},{n}.5" for n in range(1, 30)]),
        ("seed", rows(1) + rows(2, range(130, 250, 10))),
        ("seed", rows(1) + rows(2, range(100, 250, 10))),
    ],
    ids=["resumed", "a seed an episode", "run counts episodes", "goes on", "a step back"],
)
def test_one_training_is_one_run(column: str, lines: list[str]) -> None:
    """Another seed alone is no other training, nor are steps alone that begin anew."""
    assert read(table(lines, column)).keys() == {""}


def test_a_count_that_goes_on_is_one_training() -> None:
    """Several episodes an update, each with a seed of its own."""
    lines = [f"{n // 4},{n},{10000 + n},{n}.5" for n in range(40)]
    found = read("\n".join(["update,episode,seed,return", *lines, ""]).encode())
    (only,) = found.values()
    records = [
        json.dumps({"update": n // 4, "episode": n, "seed": 10000 + n, "return": n + 0.5})
        for n in range(40)
    ]
    data = ("\n".join(records) + "\n").encode()
    (same,) = feed_trainings(JsonLinesParser(), [data]).values()
    assert same.values_by_step()["return"] == only.values_by_step()["return"]
    assert only.values("return") == [n + 0.5 for n in range(40)]
    assert only.steps("return") == [n // 4 for n in range(40)]


def test_a_count_that_begins_anew_is_another_training() -> None:
    """The same columns, where each seed is trained by itself."""
    lines = [f"{n // 4},{n},{seed},{n}.5" for seed in (1, 2) for n in range(12)]
    found = read("\n".join(["update,episode,seed,return", *lines, ""]).encode())
    assert [len(each.values("return")) for each in found.values()] == [12, 12]


def test_without_steps_nothing_begins_anew() -> None:
    """Rows are counted then."""
    data = b"seed,reward\n" + b"".join(b"%d,%d.5\n" % (n // 5, n) for n in range(20))
    assert read(data).keys() == {""}


def test_agents_and_their_seeds_are_trainings() -> None:
    """Both columns tell; the loss of the policy tells nothing."""
    cells = [("DQN (ours)", 1), ("DQN (ours)", 2), ("SB3 DQN", 1)]
    table = "".join(f"{name},{seed},{n},{n}.5\n" for name, seed in cells for n in range(1, 13))
    found = read(f"agent,seed,episode,reward\n{table}".encode())
    assert found.keys() == {"", "agent-DQN_ours_-seed-2", "agent-SB3_DQN-seed-1"}
    assert {tuple(each.steps("reward")) for each in found.values()} == {tuple(range(1, 13))}
    losses = "".join(f"{n},0.{n},{n}.5\n" for n in (*range(1, 13), *range(1, 13)))
    assert read(f"episode,policy,reward\n{losses}".encode()).keys() == {""}


def test_each_training_is_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Listed under the file, with as many updates as it has rows, and no restart."""
    (tmp_path / "results.csv").write_bytes(table([*rows(1), *rows(2), *rows(3)]))
    main(["check", "--json", str(tmp_path)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert runs.keys() == {tmp_path.name, "results-seed-2", "results-seed-3"}
    assert {run["progress"]["updates"] for run in runs.values()} == {12}
    assert not [run for run in runs.values() if "restart" in json.dumps(run["findings"])]


def test_a_training_that_begins_while_one_looks(tmp_path: Path) -> None:
    """As when the file is read afterwards."""
    watched, data = WatchedDirectory(tmp_path), table([*rows(1), *rows(2)])
    for part in (data[:90], data[90:200], data[200:]):
        with (tmp_path / "results.csv").open("ab") as file:
            file.write(part)
        watched.read_new()
    assert watched.session.judge()
    lengths = {run.name: len(run.timeline) for run in watched.session.sorted_runs()}
    assert lengths == {tmp_path.name: 12, "results-seed-2": 12}
    watched.follower.close()


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_the_steps_of_rounds_count_on(size: int) -> None:
    """One training goes through them: `round,step,reward`."""
    lines = [f"{n},{step},{n}.5" for n in (1, 2, 3) for step in range(2000, 22_000, 2000)]
    data = table(lines, "round")
    found = read(data, size), feed_trainings(JsonLinesParser(), chunks(as_json_lines(data), size))
    for (output,) in (each.values() for each in found):
        assert output.steps("reward") == [*range(2000, 62_000, 2000)]
        assert output.values("reward") == [1.5] * 10 + [2.5] * 10 + [3.5] * 10


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("rows_each", [4, 3000])
def test_each_value_of_a_column_before_the_step_is_a_training(size: int, rows_each: int) -> None:
    """`matrix_size,episode,reward`: it changes where the episodes begin anew, and only there."""
    if rows_each > 4 and size < 64:
        return
    steps = range(1, rows_each + 1)
    text = "".join(f"{n},{step},{n}.5\n" for n in (128, 256, 512) for step in steps)
    outputs = read(f"matrix_size,episode,reward\n{text}".encode(), size)
    assert len(outputs) == 3
    for output, value in zip(outputs.values(), (128.5, 256.5, 512.5), strict=True):
        assert output.steps("reward") == [*steps]
        assert set(output.values("reward")) == {value}


def test_a_column_that_changes_elsewhere_too_tells_of_no_training() -> None:
    """A size that rises while the episodes go on, and while they begin anew."""
    sizes = [5] * 5 + [6] * 5 + [7] * 5
    lines = [f"{size},{step},0.5" for size, step in zip(sizes, [*range(8)] * 2, strict=False)]
    (output,) = read(("size,episode,reward\n" + "\n".join(lines) + "\n").encode()).values()
    assert output.steps("reward") == [*range(8), *range(7)]


def test_what_a_logger_writes_left_of_the_step_tells_of_no_training() -> None:
    """A row that lost some bytes looks like a first one, with another learning rate."""
    rows = [f"0.05,{step},{step / 10}" for step in range(210, 2000, 100)]
    rows.insert(9, "1739,170,9.4")
    text = "train/learning_rate,time/total_timesteps,rollout/ep_rew_mean\n" + "\n".join(rows) + "\n"
    (output,) = read(text.encode()).values()
    assert len(output.values("rollout/ep_rew_mean")) == len(rows)
