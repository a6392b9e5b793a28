"""Our parsers read back what real writers print."""

from __future__ import annotations

import io
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.csv_table import CsvParser
from ppo_top.parsers.json_lines import JsonLinesParser
from tests.support.parser_harness import feed_parser

pytestmark = pytest.mark.real
logger = pytest.importorskip("stable_baselines3.common.logger")

names = st.text("abcdefgh_ij", min_size=1, max_size=12)
keys = st.one_of(
    names, st.tuples(st.sampled_from(["train", "rollout", "eval"]), names).map("/".join)
)
values = st.one_of(
    st.floats(-1e300, 1e300),
    st.integers(-(10**9), 10**9),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 3e-4]),
)
records = st.lists(st.dictionaries(keys, values, max_size=6), min_size=1, max_size=5)


def stepped(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """Rows as a trainer logs them, each with its number of timesteps."""
    return [{**row, "time/total_timesteps": 2048 * (k + 1)} for k, row in enumerate(rows)]


def close(seen: float, written: float, digits: float) -> bool:
    """Equal to the precision a writer prints."""
    if math.isnan(written):
        return math.isnan(seen)
    return seen == written or math.isclose(seen, written, rel_tol=digits)


def points(rows: list[dict[str, float]]) -> dict[str, list[tuple[int, float]]]:
    """The input, by tag."""
    table: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for tag, value in row.items():
            table.setdefault(tag, []).append((int(row["time/total_timesteps"]), float(value)))
    return table


def assert_close(
    seen: dict[str, list[tuple[int, float]]],
    written: dict[str, list[tuple[int, float]]],
    digits: float,
) -> None:
    """Tag by tag, step by step, value by value."""
    assert set(seen) == set(written)
    for tag, expected in written.items():
        assert [step for step, _ in seen[tag]] == [step for step, _ in expected]
        for (_, one), (_, other) in zip(seen[tag], expected, strict=True):
            assert close(one, other, digits), (tag, one, other)


@settings(max_examples=100, deadline=None)
@given(rows=records)
def test_sb3_tables_are_read_back(rows: list[dict[str, float]]) -> None:
    """Whatever SB3's logger puts into its tables comes out of them, to three digits."""
    rows = stepped(rows)
    stream = io.StringIO()
    writer = logger.HumanOutputFormat(stream)
    for row in rows:
        writer.write(row, dict.fromkeys(row, ()))
    read = feed_parser(ConsoleParser(), [stream.getvalue().encode()])
    assert_close(read.values_by_step(), points(rows), 0.006)


@settings(max_examples=50, deadline=None)
@given(rows=records)
def test_sb3_csv_and_json_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, float]]
) -> None:
    """Every bit of every number, however often a new key makes SB3 rewrite the CSV."""
    rows = stepped(rows)
    folder = tmp_path_factory.mktemp("sb3")
    table = logger.CSVOutputFormat(str(folder / "progress.csv"))
    lines = logger.JSONOutputFormat(str(folder / "progress.json"))
    for row in rows:
        table.write(row, dict.fromkeys(row, ()))
        lines.write(row, dict.fromkeys(row, ()))
    table.close()
    lines.close()
    for parser, name in ((CsvParser(), "progress.csv"), (JsonLinesParser(), "progress.json")):
        read = feed_parser(parser, [(folder / name).read_bytes()])
        assert_close(read.values_by_step(), points(rows), 0.0)


HUGGING_FACE = """
import sys
from types import SimpleNamespace
from transformers.trainer_callback import ProgressCallback, TrainerControl, TrainerState
every, steps = (int(word) for word in sys.argv[1:])
state = TrainerState(max_steps=steps, is_local_process_zero=True, is_world_process_zero=True)
args = SimpleNamespace(disable_tqdm=False)
control = TrainerControl()
bar = ProgressCallback()
bar.on_train_begin(args, state, control)
for step in range(1, steps + 1):
    state.global_step = step
    bar.on_step_end(args, state, control)
    if step % every == 0:
        logs = {"loss": f"{step / 7:.4g}", "grad_norm": "nan", "reward": step, "kl": None}
        bar.on_log(args, state, control, logs=logs)
state.global_step = steps
bar.on_log(args, state, control, logs={"train_runtime": "1.5", "train_loss": "0.1"})
bar.on_train_end(args, state, control)
"""


@pytest.mark.parametrize(("every", "steps"), [(1, 7), (10, 50), (3, 20)])
def test_hugging_face_steps_come_from_the_bar(tmp_path: Path, every: int, steps: int) -> None:
    """The trainer's own callback with tqdm, both streams in one: each record at its step."""
    pytest.importorskip("transformers")
    script = tmp_path / "train.py"
    script.write_text(HUGGING_FACE)
    command = [sys.executable, "-u", str(script), str(every), str(steps)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, timeout=300
    )
    read = feed_parser(ConsoleParser(), [done.stdout])
    assert read.steps("loss") == list(range(every, steps + 1, every))
    assert read.values("reward") == [float(step) for step in read.steps("loss")]
    assert all(math.isnan(value) for value in read.values("grad_norm"))
    assert read.config["max_steps"] == steps
    assert read.ended is not None
