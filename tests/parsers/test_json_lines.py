"""JSON lines, against Python's own json module."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ppo_top.files.log_reader import LogReader
from ppo_top.model import State
from ppo_top.parsers import detect_format, json_lines
from ppo_top.parsers.json_lines import JsonLinesParser
from tests.support.parser_harness import parse_every_way

HERE = Path(__file__).parents[2]
SB3 = sorted((HERE / "demo_logs").rglob("progress.json")) + sorted(
    (HERE / "tests" / "data").glob("sb3*/*/progress.json")
)


@pytest.mark.parametrize("path", SB3, ids=lambda path: path.parent.name)
def test_sb3_agrees_with_the_json_module(path: Path) -> None:
    """Every number of every line, at the line's own number of timesteps."""
    expected: dict[str, list[tuple[int, float]]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        for tag, value in row.items():
            expected.setdefault(tag, []).append((row["time/total_timesteps"], float(value)))
    assert repr(parse_every_way(JsonLinesParser, path.read_bytes()).values_by_step()) == repr(
        expected
    )


def test_rllib_results() -> None:
    """Nested objects get paths, settings are configuration, `done` ends the run."""
    path = next((HERE / "tests/data/rllib_2.60.0").rglob("result.json"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    read = parse_every_way(JsonLinesParser, path.read_bytes())
    tag = "learners/default_policy/entropy"
    exact = [row["learners"]["default_policy"]["entropy"] for row in rows]
    assert read.values(tag) == exact
    assert read.steps(tag) == [row["training_iteration"] for row in rows]
    assert read.times(tag) == [float(row["timestamp"]) for row in rows]
    assert read.config["lr"] == rows[-1]["config"]["lr"]
    assert not any(each.startswith("config") for each in read.points)
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


def test_verl_wraps_its_metrics() -> None:
    """`data` holds the tags; null stands for a number that JSON cannot say."""
    data = b'{"step":1,"data":{"actor/pg_loss":0.5,"actor/ppo_kl":null}}\n'
    read = parse_every_way(JsonLinesParser, data)
    assert read.values_by_step()["actor/pg_loss"] == [(1, 0.5)]
    assert math.isnan(read.values("actor/ppo_kl")[0])


def test_recorded_verl_file() -> None:
    """verl's own file logger, line by line."""
    path = HERE / "tests/data/verl_0.9.1/tracking/ppo/tiny.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    read = parse_every_way(JsonLinesParser, path.read_bytes())
    for tag in rows[0]["data"]:
        steps = [row["step"] for row in rows if tag in row["data"]]
        assert read.steps(tag) == steps
        for seen, row in zip(read.values(tag), rows, strict=True):
            value = row["data"][tag]
            assert math.isnan(seen) if value is None else seen == value


def test_numbers_that_are_not_finite() -> None:
    """Bare (Python), as strings (Trackio, SwanLab), and null for what is missing."""
    data = b'{"step":1,"a":NaN,"b":"NaN","c":-Infinity,"d":"Infinity","e":null,"f":"word"}\n'
    read = parse_every_way(JsonLinesParser, data)
    assert math.isnan(read.values("a")[0])
    assert math.isnan(read.values("b")[0])
    assert read.values("c") == [-math.inf]
    assert read.values("d") == [math.inf]
    assert set(read.points) == {"step", "a", "b", "c", "d"}


def test_numbers_beyond_a_float() -> None:
    """Gigantic integers and exponents become infinite, gigantic steps are none."""
    data = b'{"step":1,"a":1e999,"b":%s}\n{"step":%s,"a":1}\n' % (b"9" * 400, b"9" * 30)
    read = parse_every_way(JsonLinesParser, data)
    assert read.values("b") == [math.inf]
    assert read.steps("a") == [1, 2]


def test_bad_lines_are_problems_and_nothing_else() -> None:
    """A broken line is reported with its offset; its neighbours are read."""
    data = b'{"step":1,"loss":0.5}\n{"step":2,"lo\n[1,2]\n{"step":3,"loss":0.25}\n'
    read = parse_every_way(JsonLinesParser, data)
    assert read.values_by_step()["loss"] == [(1, 0.5), (3, 0.25)]
    assert [problem.offset for problem in read.problems] == [22, 36]


def test_depth_is_survived() -> None:
    """Brackets without end, and objects in objects, cost only their line."""
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    data = b"[" * 100_000 + b"\n" + deep + b'\n{"step":1,"loss":0.5}\n'
    assert every_way_lightly(data) == [(1, 0.5)]


def every_way_lightly(data: bytes) -> list[tuple[int, float]]:
    """Read whole only: byte by byte would take long here."""
    parser = JsonLinesParser()
    batch = parser.feed(data)
    return [
        (step, value)
        for points in batch.points
        if points.tag == "loss"
        for step, value in zip(points.steps, points.values, strict=True)
    ]


def test_a_last_line_without_its_end() -> None:
    """A closed object counts at the end of the log, an open one does not."""
    assert parse_every_way(JsonLinesParser, b'{"step":1,"loss":0.5}').steps("loss") == [1]
    assert parse_every_way(JsonLinesParser, b'{"step":1,"loss":0.5').points == {}


def test_half_surrogates_in_names() -> None:
    """A name that cannot be encoded would break every later print."""
    tag = next(iter(parse_every_way(JsonLinesParser, b'{"step":1,"\\ud800loss":0.5}\n').points))
    assert [name.encode() for name in (tag,)]


def test_iso_times() -> None:
    """Structured loggers write their clock as text."""
    data = b'{"timestamp":"2026-11-21T00:40:41+00:00","step":1,"loss":0.5}\n'
    assert parse_every_way(JsonLinesParser, data).times("loss") == [1795221641.0]


@pytest.mark.parametrize(
    ("name", "head", "answer"),
    [
        ("metrics.jsonl", b"", None),
        ("metrics.jsonl", b'{"step": 1, "lo', None),
        ("metrics.jsonl", b'{"step": 1, "loss": 0.5}\n', True),
        ("train.jsonl", b'{"prompt": "a", "completion": "b"}\n', False),
        ("rows.jsonl", b'{"id": 7, "text": "a"}\n', False),
        ("result.json", b'{"a": {' + b'"b": 1, ' * 600, True),
        ("rows.jsonl", b'{"a": {' + b'"b": 1, ' * 600, False),
        ("export.jsonl", b'{"run":"a","tag":"loss","step":1,"value":0.5}\n', False),
        ("progress.json", b"[\n", False),
        ("inbox.jsonl", b'{"v":1,"kind":"metric","metrics":{"loss":1},"step":1}\n', False),
    ],
)
def test_which_files_are_logs(name: str, head: bytes, answer: bool | None) -> None:
    """A step and a metric in the first object; data sets of prompts are left alone."""
    assert json_lines.claims(name, head) is answer


def test_a_log_may_begin_with_its_settings(tmp_path: Path) -> None:
    """A first line that is no record yet is asked again when the file has grown."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"config": {"lr": 0.1, "gamma": 0.9}}\n')
    file = LogReader(str(path), "log.jsonl", str(tmp_path), detect_format)
    assert file.read_update() is None
    assert not file.rejected
    with path.open("a") as log:
        log.write('{"step": 1, "loss": 0.5}\n')
    gain = file.read_update()
    assert gain is not None
    assert [points.tag for points in gain.batch.points if points.values[0] == 0.5] == ["loss"]
    assert gain.batch.config == {"lr": 0.1, "gamma": 0.9}


@pytest.mark.parametrize("name", ["iter", "env_steps", "Update", "train/itr", "Total Steps"])
def test_a_script_may_spell_its_step_as_it_likes(name: str) -> None:
    """Without one of the loggers' own names the words of the name decide."""
    data = b"".join(b'{"%s": %d, "reward": 0.5}\n' % (name.encode(), at) for at in (10, 20))
    assert json_lines.claims("metrics.jsonl", data) is True
    assert parse_every_way(JsonLinesParser, data).steps("reward") == [10, 20]
