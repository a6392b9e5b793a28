"""JSON lines, against Python's own json module."""

from __future__ import annotations

import json
import math
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.model import Batch, State
from ppo_top.parsers import detect_format, json_lines
from ppo_top.parsers.base import Format
from ppo_top.parsers.json_lines import FORMAT, JsonLinesParser
from ppo_top.parsers.shared.documents.json_line_claims import claims_lines
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


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["nan", "0.25", "word", "config", "12/200", [1.0], {"mean": 2.0, "std": None}]),
)
TYPICAL_ROWS = st.fixed_dictionaries(
    {"global_step": st.integers(0, 1000), "train/loss": st.floats(allow_nan=False)},
    optional={"train/approx_kl": CELLS, "eval/mean_reward": st.floats(-9, 9), "timestamp": CELLS},
)
ODD_KEYS = [
    "type",
    "step",
    "global_step",
    "done",
    "config",
    "config/lr",
    "data",
    "train_runtime",
    "x",
    "Ä",
]
ODD_ROWS = st.dictionaries(st.sampled_from(ODD_KEYS), CELLS, max_size=5)


@pytest.mark.parametrize("reader", ["orjson", "json"])
@given(
    rows=st.lists(TYPICAL_ROWS, max_size=8) | st.lists(TYPICAL_ROWS | ODD_ROWS, max_size=8),
    rubbish=st.sampled_from(
        [
            *(b"", b"\n", b"[1]\n", b"3\n", b'{"a": \n', b'{"a": 1}\r', b"{}\n"),
            *(b'{"x": 1\n"y": 2}, {}\n', b'{"x": 1}, {}\n', b'{"x": "}\n{"}\n'),
        ]
    ),
)
def test_blocks_of_lines_hold_what_the_lines_hold(
    reader: str, rows: list[dict[str, object]], rubbish: bytes
) -> None:
    """Many lines are read together, with whatever reader there is; nobody can tell."""
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    data = b"".join([*lines, rubbish, *lines])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "json_reader", lambda _: import_module(reader).loads)
        together = JsonLinesParser().feed(data)
        patch.setattr(JsonLinesParser, "_add_block", lambda *_: False)
        one_by_one = JsonLinesParser().feed(data)
    assert content(together) == content(one_by_one)


def content(batch: Batch) -> str:
    """All that a batch holds, NaN equal to NaN; which metric came first says nothing."""
    by_tag = sorted(batch.points, key=attrgetter("tag"))
    points = [(each.tag, each.steps, each.times, each.values) for each in by_tag]
    return repr((points, batch.config, batch.problems, batch.ended))


def test_plain_lines_are_read_as_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large flat log no line is read by itself, though some lack a metric."""
    data = b"".join(path.read_bytes() for path in SB3) * 20
    monkeypatch.setattr(JsonLinesParser, "_add_line", lambda *_: pytest.fail("one line"))
    assert sum(map(len, JsonLinesParser().feed(data).points)) > 20_000


def test_rllib_results() -> None:
    """Nested objects get paths, settings are configuration, `done` ends the run."""
    path = next((HERE / "tests/data/rllib_2.60.0").rglob("result.json"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    read = parse_every_way(JsonLinesParser, path.read_bytes())
    tag = "learners/default_policy/entropy"
    exact = [row["learners"]["default_policy"]["entropy"] for row in rows]
    assert read.values(tag) == exact
    assert read.steps(tag) == [row["num_env_steps_sampled_lifetime"] for row in rows]
    assert read.times(tag) == [float(row["timestamp"]) for row in rows]
    assert read.config["lr"] == rows[-1]["config"]["lr"]
    assert not any(each.startswith("config") for each in read.points)
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


def test_rllib_counts_environment_steps_like_its_event_files() -> None:
    """`timesteps_total` where it is logged, else what the new stack has instead."""
    old = b'{"episode_reward_mean": 1.5, "timesteps_total": 4000, "training_iteration": 1}\n'
    assert parse_every_way(JsonLinesParser, old).steps("episode_reward_mean") == [4000]
    none = b'{"episode_reward_mean": 1.5, "timesteps_total": null, "training_iteration": 7}\n'
    assert parse_every_way(JsonLinesParser, none).steps("episode_reward_mean") == [7]


def test_nested_records_get_paths() -> None:
    """Objects in objects, the step beside them; recognised without the help of a name."""
    data = b'{"frames": 1000, "train": {"loss": 0.1, "kl": {"mean": 0.5}}, "eval": {"reward": 2}}\n'
    assert claims_lines("metrics.jsonl", data) is True
    assert parse_every_way(JsonLinesParser, data).values_by_step() == {
        "frames": [(1000, 1000.0)],
        "train/loss": [(1000, 0.1)],
        "train/kl/mean": [(1000, 0.5)],
        "eval/reward": [(1000, 2.0)],
    }


def llama_factory_log(rewards: list[float]) -> bytes:
    """trainer_log.jsonl as LogCallback writes it (src/llamafactory/train/callbacks.py)."""
    rows = [
        {
            "current_steps": 10 * step,
            "total_steps": 10 * len(rewards),
            "loss": round(0.5 / step, 4),
            "reward": reward,
            "lr": 1e-05,
            "epoch": round(step / len(rewards), 2),
            "percentage": round(100 * step / len(rewards), 2),
            "elapsed_time": f"0:00:{step:02d}",
            "remaining_time": "0:00:00",
        }
        for step, reward in enumerate(rewards, 1)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_llama_factory_log() -> None:
    """`current_steps` is the step, `total_steps` the total; clocks are no values."""
    read = parse_every_way(JsonLinesParser, llama_factory_log([0.25, 0.5]))
    assert read.values_by_step()["reward"] == [(10, 0.25), (20, 0.5)]
    assert read.config["max_steps"] == 20
    assert not {"elapsed_time", "remaining_time"} & read.points.keys()


def test_llama_factory_is_named_and_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reward that rises passes; one that collapses is found."""
    rise = [0.1 * step + 0.05 * math.sin(step) for step in range(40)]
    for name, rewards in (("well", rise), ("sick", [*rise[:25], *[0.1] * 15])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_log.jsonl").write_bytes(llama_factory_log(rewards))
    main(["check", "--json", str(tmp_path)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert {run["producer"] for run in runs.values()} == {"llama-factory"}
    assert {name: run["verdict"] for name, run in runs.items()} == {
        "well": "healthy",
        "sick": "crit",
    }
    assert runs["well"]["progress"]["total"] == 400


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


def test_a_dictionary_that_was_printed_into_a_text() -> None:
    """`json.dumps({"step": n, "metrics": str(metrics)})`, beside records that measure nothing."""
    lines = [json.dumps({"event": "step_begin", "step": 0, "memory": str({"rss_mb": 730.5})})]
    for step, reward in enumerate((1.5, math.nan, math.inf, -math.inf)):
        metrics = {"reward": reward, "kl": None, "ok": True}
        lines.append(json.dumps({"event": "step_end", "step": step, "metrics": str(metrics)}))
    data = "".join(f"{line}\n" for line in lines).encode()
    assert claims_lines("monitoring.jsonl", data) is True
    read = parse_every_way(JsonLinesParser, data)
    assert read.steps("metrics/reward") == [0, 1, 2, 3]
    assert repr(read.values("metrics/reward")) == "[1.5, nan, inf, -inf]"
    assert set(read.points) == {"step", "memory/rss_mb", "metrics/reward"}
    prose = b'{"step": 1, "reward": 0.5, "text": "{\'a\': it\'s}"}\n'
    assert set(parse_every_way(JsonLinesParser, prose).points) == {"step", "reward"}


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


@pytest.mark.parametrize("name", ["metrics.json", "run_log.json", "logs.json.gz"])
def test_lines_of_json_may_stand_in_a_file_called_json(name: str) -> None:
    """Their first bytes tell them from one document."""
    found = detect_format(name, b'{"step": 1, "reward": 2.5}\n{"step": 2, "reward": 3.5}\n')
    assert found is FORMAT
    document = detect_format(name, b'{"step": [1, 2, 3], "reward": [1.5, 2.5, 3.5]}\n')
    assert isinstance(document, Format) and document.name == "json-document"


@pytest.mark.parametrize(
    ("name", "head", "answer"),
    [
        ("metrics.jsonl", b"", None),
        ("metrics.jsonl", b'{"step": 1, "lo', None),
        ("metrics.jsonl", b'{"step": 1, "loss": 0.5}\n', True),
        ("train.jsonl", b'{"prompt": "a", "completion": "b"}\n', False),
        ("rows.jsonl", b'{"id": 7, "text": "a"}\n', False),
        ("7.jsonl", b'{"input": "a", "output": "b", "score": 1.0, "step": 7}\n', False),
        (
            "train_rollout_summaries.jsonl",
            b'{"iteration": 7, "group_idx": 0, "traj_idx": 1, "total_reward": 1}\n',
            False,
        ),
        ("result.json", b'{"a": {' + b'"b": 1, ' * 600, True),
        ("rows.jsonl", b'{"a": {' + b'"b": 1, ' * 600, False),
        ("export.jsonl", b'{"run":"a","tag":"loss","step":1,"value":0.5}\n', False),
        ("progress.json", b"[\n", False),
        ("inbox.jsonl", b'{"v":1,"kind":"metric","metrics":{"loss":1},"step":1}\n', False),
    ],
)
def test_which_files_are_logs(name: str, head: bytes, answer: bool | None) -> None:
    """A step and a metric in the first object; data sets and scored samples are left alone.

    verl (`trainer.rollout_data_dir`) and tinker-cookbook write a file of samples at each step.
    """
    assert claims_lines(name, head) is answer


def test_a_log_may_begin_with_its_settings(tmp_path: Path) -> None:
    """A first line that is no record yet is asked again when the file has grown."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"config": {"lr": 0.1, "gamma": 0.9}}\n')
    file = LogReader(FoundFile(str(path), "log.jsonl", str(tmp_path)), detect_format)
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
    assert claims_lines("metrics.jsonl", data) is True
    assert parse_every_way(JsonLinesParser, data).steps("reward") == [10, 20]


@pytest.mark.parametrize(
    "record",
    [
        '{"type": "config", "lr": 0.1, "steps": 400, "gamma": 0.9}',
        '{"event": "hparams", "argv": ["x.py", "--lr"], "args": {"lr": 0.1, "gamma": 0.9}}',
        '{"args": {"lr": 0.1, "gamma": 0.9}}',
    ],
)
def test_a_record_of_settings_is_no_row(record: str) -> None:
    """It measures nothing: the next record is the first."""
    found = parse_every_way(JsonLinesParser, f'{record}\n{{"reward": 3.5}}\n'.encode())
    assert list(found.points) == ["reward"]
    assert found.steps("reward") == [1]
    assert (found.config["lr"], found.config["gamma"]) == (0.1, 0.9)


def test_settings_may_stand_in_each_record() -> None:
    """Beside the metrics, of which they are none."""
    line = b'{"step": 7, "loss": 0.5, "args": {"lr": 0.1}}\n'
    found = parse_every_way(JsonLinesParser, line)
    assert (list(found.points), found.config) == (["step", "loss"], {"lr": 0.1})


def test_bare_steps_that_rise_evenly_are_those_of_the_training() -> None:
    """As a callback of SB3 writes them: `steps` alone might be the length of an episode."""
    text = "".join(
        f'{{"ts": {1786424574 + n}, "steps": {2048 * n}, "ep_rew": {n / 10}, "ep_len": 15.7}}\n'
        for n in range(1, 21)
    ).encode()
    assert claims_lines("training_log.jsonl", text)
    found = parse_every_way(JsonLinesParser, text)
    assert found.steps("ep_rew") == [2048 * n for n in range(1, 21)]
    lengths = "".join(f'{{"steps": {7 * n % 50}, "reward": {n}.5}}\n' for n in range(1, 21))
    assert not claims_lines("training_log.jsonl", lengths.encode())


def test_roll_groups_its_step() -> None:
    """`metrics["system/step"]`, in lines that an own tracker writes."""
    row = '{{"actor/lr": 1e-06, "critic/score/mean": 0.25, "system/step": {step}.0}}\n'
    text = "".join(row.format(step=step) for step in (1, 5, 9))
    found = parse_every_way(JsonLinesParser, text.encode())
    assert found.steps("critic/score/mean") == [1, 5, 9]
    assert not found.counts_updates
