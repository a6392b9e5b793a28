"""Dictionaries that the Hugging Face trainers print, with their progress bars."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from ppo_top.model import State
from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.console.records.dicts import DictReader, parse_record
from tests.support.parser_harness import feed_parser, parse_every_way

HERE = Path(__file__).parents[3]
DATA = HERE / "tests" / "data"

OLD = b"{'loss': -0.109, 'grad_norm': 0.4883657991886139, 'reward': nan, 'epoch': 0.47}\n"
NEW = b"{'loss': '-0.003222', 'grad_norm': 'nan', 'reward': '1.012e+04', 'eps': 7, 'kl': None}\n"


def test_transformers_4_prints_numbers() -> None:
    """Raw floats, and a nan that neither JSON nor Python's literals know."""
    read = parse_every_way(ConsoleParser, OLD)
    assert read.values("grad_norm") == [0.4883657991886139]
    assert math.isnan(read.values("reward")[0])


def test_transformers_5_prints_strings() -> None:
    """Numbers as strings, integers as they are; what is None is absent."""
    read = parse_every_way(ConsoleParser, NEW)
    assert read.values("loss") == [-0.003222]
    assert read.values("reward") == [10120.0]
    assert read.values("eps") == [7.0]
    assert math.isnan(read.values("grad_norm")[0])
    assert "kl" not in read.points


def test_without_a_bar_records_are_counted() -> None:
    """With disable_tqdm, or with stderr elsewhere, the step is the record's number."""
    read = parse_every_way(ConsoleParser, OLD * 3)
    assert read.steps("loss") == [1, 2, 3]
    assert read.counts_updates


def bar(done: int, total: int = 50) -> bytes:
    """One state of the trainer's progress bar."""
    share = 100 * done // total
    return f"\r {share}%|##        | {done}/{total} [00:02<00:08,  2.00s/it]".encode()


def written(done: int, record: bytes) -> bytes:
    """A record as tqdm writes it above its bar: wiped, printed, drawn again."""
    return bar(done) + b"\r" + b" " * 50 + b"\r" + record + bar(done)


def test_the_step_is_the_bars() -> None:
    """With logging_steps=10 the bar drawn around a record tells its step."""
    data = bar(0) + bar(9) + written(10, OLD) + bar(13) + written(20, OLD) + b"\n"
    read = parse_every_way(ConsoleParser, data)
    assert read.steps("loss") == [10, 20]
    assert read.config == {"max_steps": 50}


def test_the_bar_after_a_record_wins_over_a_stale_one_before_it() -> None:
    """tqdm may skip a redraw, so the bar before the record lags; the one after it never does."""
    data = bar(0) + b"\r        \r" + OLD + bar(10) + b"\r        \r" + OLD + bar(20)
    assert parse_every_way(ConsoleParser, data).steps("loss") == [10, 20]


def test_a_record_is_given_as_soon_as_the_bar_is_recognised() -> None:
    """Nobody waits for the end of the bar that is drawn after a record."""
    parser = ConsoleParser()
    data = bar(0) + b"\r    \r" + OLD + bar(10)
    batch = parser.feed(data[:-20])
    assert list(batch.points[0].steps) == [10]


def test_records_without_a_bar_between_them_are_counted_on() -> None:
    """When stdout is buffered, records come in heaps: the last stride goes on."""
    data = bar(0) + written(10, OLD) + written(20, OLD) + b"\n" + OLD + OLD + bar(40)
    assert parse_every_way(ConsoleParser, data).steps("loss") == [10, 20, 30, 40]


def test_other_bars_are_not_the_training() -> None:
    """Loading and writing bars, and those of an evaluation, say nothing of the training."""
    loading = b"\rLoading weights: 100%|#####| 291/291 [00:00<00:00, 9.0it/s]\n"
    shards = b"\rWriting model shards: 100%|#####| 1/1 [00:00<00:00, 9.0it/s]\n"
    evaluation = b"\n\x1b[A\r 50%|#####     | 4/8 [00:00<00:00, 9.0it/s]"
    data = loading + bar(0) + evaluation + written(10, OLD) + shards + b"\n"
    read = parse_every_way(ConsoleParser, data)
    assert read.steps("loss") == [10]
    assert read.config == {"max_steps": 50}


def test_the_evaluation_after_the_last_step_is_no_other_training() -> None:
    """Its bar is drawn beside the full one, as in the evaluations before."""
    evaluation = (
        b"\n  0%|          | 0/8 [00:00<?, ?it/s]\x1b[A\n 62%|#| 5/8 [00:00<00:00, 9.0it/s]"
    )
    measured = b"{'eval_loss': 0.25, 'eval_runtime': 0.5, 'epoch': 1.5}\n"
    summary = b"{'train_runtime': 12.5, 'train_loss': 0.1, 'epoch': 1.5}\n"
    data = bar(0)
    for done in (25, 50):
        data += written(done, OLD) + evaluation + b"\x1b[A\r     \r" + measured + bar(done)
    read = parse_every_way(ConsoleParser, data + b"\r      \r" + summary + bar(50) + b"\n")
    assert read.steps("eval_loss") == [25, 50]
    assert read.steps("train_runtime") == [50]


def test_the_summary_ends_the_run() -> None:
    """The Hugging Face trainer's last record has train_runtime."""
    data = OLD + b"{'train_runtime': 12.5, 'train_loss': 0.1, 'epoch': 1.0}\n"
    read = parse_every_way(ConsoleParser, data)
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


def test_a_closed_dictionary_needs_no_line_end() -> None:
    """A killed process leaves no newline; half a number is never given."""
    assert parse_every_way(ConsoleParser, OLD[:-1]).values("epoch") == [0.47]
    assert parse_every_way(ConsoleParser, OLD[:-2]).points == {}


def test_a_dictionary_after_a_logger_prefix() -> None:
    """A logging prefix, and a step in words (OpenRLHF), do not hide it."""
    prefix = b"INFO 11-21 00:48:06 ppo_trainer.py:551] \xe2\x9c\xa8 Global step 5: "
    read = parse_every_way(
        ConsoleParser, prefix + b"{'policy_loss': -0.01, 'kl': 0.002, 'reward': 1.5}\n"
    )
    assert read.values_by_step()["policy_loss"] == [(5, -0.01)]


def test_fields_before_a_dictionary_belong_to_it() -> None:
    """A step and values may stand before the dictionary, which has a label of its own."""
    text = "".join(
        f"Episode {n}, global step {n}00, loss: 0.{n}, Rewards: {{'reward': {n}.5, 'cost': 1}}\n"
        f"Episode {n + 7} finished in environment 3 with total reward -{n}.0 after 60 steps.\n"
        for n in (3, 4, 5, 6)
    )
    found = parse_every_way(ConsoleParser, text.encode())
    assert found.steps("loss") == found.steps("cost") == [300, 400, 500, 600]
    assert found.values("loss") == [0.3, 0.4, 0.5, 0.6]


def test_json_objects_are_dictionaries_too() -> None:
    """A loop that prints JSON with its step needs no other format."""
    read = parse_every_way(
        ConsoleParser, b'{"step": 300, "loss": 0.25, "reward": NaN, "note": "ok"}\n'
    )
    assert read.values_by_step()["loss"] == [(300, 0.25)]
    assert math.isnan(read.values("reward")[0])


def test_records_that_count_their_own_steps() -> None:
    """LLaMA-Factory's `trainer_log.jsonl`, as it is pasted among other text."""
    lines = "".join(
        f'{{"current_steps": {step}, "total_steps": 1287, "loss": -0.5, "eval_loss": null, '
        f'"reward": 0.{step}, "epoch": 0.1, "elapsed_time": "0:11:19"}}\n'
        for step in (10, 20, 30)
    )
    found = parse_every_way(ConsoleParser, f"PPO looks odd:\n{lines}".encode())
    assert found.steps("reward") == [10, 20, 30]
    assert found.config == {"max_steps": 1287}


def test_nested_values_are_passed_over() -> None:
    """Lists and maps inside a record cost only themselves."""
    read = parse_every_way(
        ConsoleParser, b"{'loss': 0.5, 'hist': [1, 2, {'a': 3}], 'reward': 2.0}\n"
    )
    assert read.values_by_step() == {"loss": [(1, 0.5)], "reward": [(1, 2.0)]}


def test_inner_names_follow_the_outer_ones() -> None:
    """JSON loggers group their metrics; the step is what the record says it counts."""
    read = parse_every_way(
        ConsoleParser,
        b'{"iteration": 3, "timesteps": 6144, "train": {"return": 21.5, "loss": {"pi": -0.25}}}\n',
    )
    assert read.values_by_step()["train/return"] == [(6144, 21.5)]
    assert read.values_by_step()["train/loss/pi"] == [(6144, -0.25)]


def test_an_epoch_is_a_fraction() -> None:
    """The Hugging Face trainer's records count their steps in the bar; TRL's episodes are none."""
    read = parse_every_way(
        ConsoleParser, b"{'objective/kl': 0.5, 'episode': 32, 'epoch': 0.25}\n" * 2
    )
    assert read.steps("objective/kl") == [1, 2]


def test_settings_are_configuration() -> None:
    """A dictionary of hyperparameters is no record."""
    read = parse_every_way(
        ConsoleParser, b"{'learning_rate': 0.0003, 'n_steps': 2048, 'env': 'CartPole-v1'}\n"
    )
    assert read.points == {}
    assert read.config == {"learning_rate": 0.0003, "n_steps": 2048.0, "env": "CartPole-v1"}


def expected(path: Path) -> dict[str, list[tuple[int, float]]]:
    """What the recorded run handed to its trainer's callbacks."""
    table: dict[str, list[tuple[int, float]]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if row["value"] is not None:
            value = float(row["value"])
            table.setdefault(row["tag"], []).append((row["step"], value))
    return table


@pytest.mark.parametrize(
    ("log", "oracle"),
    [
        ("trl_1.12.0/ppo/console.log", "trl_1.12.0/ppo/expected.points"),
        ("trl_1.12.0/ppo/stdout.log", "trl_1.12.0/ppo/expected_single.points"),
        ("trl_0.11.4/ppov2/console.log", "trl_0.11.4/ppov2/expected.points"),
        ("trl_0.11.4/ppov2/stdout.log", "trl_0.11.4/ppov2/expected_single.points"),
    ],
)
def test_recorded_runs_agree_with_what_they_logged(log: str, oracle: str) -> None:
    """Both PPO trainers of TRL, one stream or two: every value at its step."""
    read = feed_parser(ConsoleParser(), [(DATA / log).read_bytes()])
    for tag, points in expected(DATA / oracle).items():
        seen = read.values_by_step()[tag]
        assert [step for step, _ in seen] == [step for step, _ in points], tag
        for (_, value), (_, exact) in zip(seen, points, strict=True):
            # transformers 4 rounds the epoch to two decimals
            loose = 0.0051 if tag == "epoch" else 1e-12
            assert value == pytest.approx(exact, rel=6e-4, abs=loose, nan_ok=True), tag


@pytest.mark.parametrize("demo", sorted((HERE / "demo_logs").glob("trl_grpo*/stdout.log")))
def test_grpo_console_agrees_with_trainer_state(demo: Path) -> None:
    """Every record of the checkpoint's history is on the console at its step."""
    table = feed_parser(ConsoleParser(), [demo.read_bytes()]).values_by_step()
    state = json.loads(next(demo.parent.glob("checkpoint-*/trainer_state.json")).read_text())
    for entry in state["log_history"]:
        for tag, exact in entry.items():
            if tag == "step" or exact is None:
                continue
            seen = dict(table[tag])[entry["step"]]
            assert seen == pytest.approx(exact, rel=6e-4, nan_ok=True), tag


ODD_LINES = [
    b"{'loss': -0, 'reward': nan}",
    b"{'loss': 0.5, 'reward': None}",
    b"{'loss': 0.5, 'loss': 0.25, 'reward': 1}",
    b"{'loss': '1_0', 'reward': 'nan'}",
    b"{'loss': 'high', 'reward': 1.0}",
    b"{'loss': 1e400, 'reward': -inf}",
    b"{'loss': 123456789012345678901234567890, 'reward': 1" + b"0" * 400 + b"}",
    b"{'loss': True, 'reward': 2}",
    b"{'lo\\u0073s': 1, 'reward': 2}",
    b'{"loss": 0.1, "reward": "0.30000000000000004"}',
    b"{'loss': {'a': 1}, 'reward': [0.5]}",
    b"{'loss': 0.5, 'step': 0.5}",
    b"{'loss': 0.5, 'step': 300}",
    b"{'loss': 0.5, 'reward': 1",
]


@pytest.mark.parametrize("loads", [json.loads, orjson.loads], ids=["json", "orjson"])
def test_the_fast_reader_reads_exactly_what_the_grammar_reads(loads: Any) -> None:
    """With either JSON parser a line is read to the same numbers, or left to the grammar."""
    reader = DictReader()
    reader._loads = loads
    ordinary = [
        b"{'loss': %.17g, 'reward': %d}" % (number / 7, number) for number in range(-50, 50)
    ]
    fast = 0
    for line in (*ordinary, *ODD_LINES, *ordinary):
        found = reader.parse_line(line)
        if found is not None:
            fast += 1
            record = parse_record(line.decode())
            assert record is not None
            assert record.step is None
            assert repr(list(zip(*found, strict=True))) == repr(record.values)
    assert fast > len(ordinary)


def test_a_carriage_return_inside_a_dictionary_cuts_it() -> None:
    """JSON allows it between tokens; on a console what comes after it is drawn over the line."""
    read = parse_every_way(ConsoleParser, OLD + OLD.replace(b", 'grad", b",\r 'grad") + OLD)
    assert read.steps("loss") == [1, 2]


def test_a_dictionary_of_settings_is_no_record_for_a_yes_or_no_that_is_called_like_a_metric() -> (
    None
):
    """DeepSpeed prints how pipelines are set up behind `pipeline ....`."""
    text = (
        "pipeline ..................... {'stages': 'auto', 'partition': 'best',"
        " 'seed_layers': False, 'activation_checkpoint_interval': 0,"
        " 'pipe_partitioned': True, 'grad_partitioned': True}"
    )
    assert parse_every_way(ConsoleParser, text.encode() + b"\n").points == {}


def test_a_line_may_hold_several_dictionaries() -> None:
    """Each behind a label; the tensors in them are on a device."""
    line = (
        "rl_loss: 0.5, time: 9.5, reward_data: {'total': 256, 'reward': 0.25},"
        " metadata: {'clamped': tensor(0.125, device='cuda:0')}\n"
    )
    read = parse_every_way(ConsoleParser, (line + line.replace("0.5", "0.75")).encode())
    assert {tag: list(read.values(tag)) for tag in ("rl_loss", "reward", "clamped")} == {
        "rl_loss": [0.5, 0.75],
        "reward": [0.25, 0.25],
        "clamped": [0.125, 0.125],
    }


def test_an_array_or_an_object_in_a_dictionary_is_no_number_and_hides_none() -> None:
    """numpy's arrays of several numbers, and whatever else prints as a call."""
    line = (
        "{'step': 3, 'kl_dist': array([0., 0.5], dtype=float32), 'path': PosixPath('out'),"
        " 'reward': array(0.25, dtype=float32), 'loss': 0.5}\n"
    )
    read = parse_every_way(ConsoleParser, line.encode())
    assert read.values_by_step() == {
        "step": [(3, 3.0)],
        "reward": [(3, 0.25)],
        "loss": [(3, 0.5)],
    }


@pytest.mark.parametrize(
    "line",
    [
        "Loaded checkpoints/best.pt  meta={'iteration': 27, 'train_loss': 1.5, 'policy_loss': 1.4}",
        "  meta: {'iteration': 27, 'best_val_loss': 1.5, 'rehearsal_frac': 0.5}",
        "Resuming from best.pt: {'step': 27, 'best_reward': 21.5}",
    ],
)
def test_what_a_loaded_checkpoint_says_of_itself_is_no_record(line: str) -> None:
    """`print(f"Loaded {args.ckpt}  meta={meta}")`."""
    rows = "".join(f"epoch {n}/6  loss={n}.5\n" for n in (1, 2, 3))
    found = parse_every_way(ConsoleParser, f"{line}\n{rows}".encode())
    assert found.values_by_step().keys() == {"epoch", "loss"}
    assert found.steps("loss") == [1, 2, 3]
