"""Which files of a directory are read: by name, and by content where a name says little."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.parsers import detect_format
from ppo_top.parsers.file_names import (
    ANY_FILE_NAME,
    ENDINGS,
    FILE_NAMES,
    formats_by_module,
    is_file_name,
)

RECORDS = "".join(f"Episode {step} | reward: {step}.5 | loss: 0.{step}\n" for step in range(1, 31))
PFRL = (
    "steps\tepisodes\telapsed\tmean\tmedian\tstdev\tmax\tmin\taverage_q\taverage_loss\n"
    + "".join(
        f"{n}00\t{n}\t{n}.25\t{n}.5\t{n}\t1.5\t{n + 2}\t{n - 2}\t0.5\t0.25\n" for n in range(1, 31)
    )
)
"""As pfrl/experiments/evaluator.py writes it."""
LOGZ = "Time\tIteration\tAverageReturn\tStdReturn\tEpLenMean\tTimestepsSoFar\n" + "".join(
    f"{n}.25\t{n}\t{n}.5\t1.5\t89.55\t{5015 * (n + 1)}\n" for n in range(30)
)
"""As logz.py of Berkeley's course on deep reinforcement learning writes it (homework 2 of 2017)."""
SURE = ("cout.txt", "nohup.out", "slurm-4711.out", "stdout.txt", "train.log")
UNSURE = (
    *("out.txt", "run.txt", "results.txt", "result_3.txt", "ppo.txt", "PPO_CartPole.txt", "log"),
    *("progress.txt", "rewards.txt", "episodes_1.txt"),
)


LOG_STEMS = (
    *("log", "out", "run", "progress", "0.monitor", "train_1", "slurm-7", "nohup", "rewards"),
    *("trainer_state", "events.out.tfevents.1", "wandb", "trackio", "mlflow"),
)
STEMS = st.text("aelmnoprst._-1", max_size=12) | st.sampled_from(LOG_STEMS)
ENDS = st.sampled_from(
    ("", ".csv", ".log", ".txt", ".json", ".jsonl", ".out", ".db", ".tsv", ".npy", ".wandb", ".py")
)


def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[int], str]:
    """The number of updates of every run, and what is said of files that gave nothing."""
    main(["check", "--json", "--no-cache", "-v", str(folder)])
    out, err = capsys.readouterr()
    return [run["progress"]["updates"] for run in json.loads(out or '{"runs": []}')["runs"]], err


@pytest.mark.parametrize("name", [*SURE, *UNSURE])
def test_a_console_is_found_under_this_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a directory, without being named."""
    (tmp_path / name).write_text(RECORDS)
    assert check(tmp_path, capsys) == ([30], "")


@pytest.mark.parametrize("name", [f"{name}.{kind}" for name in SURE for kind in ("gz", "xz")])
def test_a_compressed_console_is_found_too(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finished logs are often kept so."""
    pack = gzip.compress if name.endswith("gz") else lzma.compress
    (tmp_path / name).write_bytes(pack(RECORDS.encode()))
    assert check(tmp_path, capsys) == ([30], "")


@pytest.mark.parametrize("name", ["train", "results.dat", "table.txt", "log_3.bak"])
@pytest.mark.parametrize(
    "text",
    [
        RECORDS,
        "epoch\treturn\n" + "".join(f"{n}\t{n}.5\n" for n in range(1, 31)),
        "step;reward\n" + "".join(f"{n};{n}.5\n" for n in range(1, 31)),
        "".join(f'{{"step": {n}, "reward": {n}.5}}\n' for n in range(1, 31)),
        json.dumps([{"step": n, "reward": n + 0.5} for n in range(1, 31)]),
    ],
    ids=["console", "tabs", "semicolons", "JSON lines", "JSON document"],
)
def test_a_file_that_is_given_may_have_any_name(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who gives a file says that it is a log; what kind of one is told by its content."""
    (tmp_path / name).write_text(text)
    assert check(tmp_path / name, capsys) == ([30], "")


def test_a_copy_of_a_monitor_file_may_be_named_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file manager calls it `monitor 2.csv`."""
    log = tmp_path / "monitor 2.csv"
    rows = "".join(f"{n}.5,200,{n}.25\n" for n in range(1, 31))
    log.write_text('#{"t_start": 1766304136.5, "env_id": "CartPole-v1"}\nr,l,t\n' + rows)
    main(["check", "--json", "--no-cache", str(log)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["producer"], run["progress"]["updates"]) == ("monitor", 30)


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("evaluations (1).npz", "sb3-evaluations"),
        ("progress(2).csv", "sb3-csv"),
        ("trainer_state (12).json", "trainer-state"),
    ],
)
def test_a_second_download_is_what_the_first_one_is(name: str, format_: str) -> None:
    """A browser puts a number behind the name."""
    assert format_ in [each for _, each in formats_by_module(name)]
    assert is_file_name(name)
    assert re.search(ANY_FILE_NAME, name)


def test_a_table_with_tabs_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PFRL writes its evaluations to scores.txt, at environment steps."""
    (tmp_path / "scores.txt").write_text(PFRL)
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["producer"] == "pfrl"
    assert run["progress"]["step"] == 3000
    rewards = [each for each in run["metrics"] if each["concept"] == "reward_mean"]
    assert [(each["tag"], each["first"], each["last"]) for each in rewards] == [("mean", 1.5, 30.5)]


def test_a_log_txt_may_be_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its rows stand at the environment steps so far, not at iterations."""
    (tmp_path / "log.txt").write_text(LOGZ)
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["progress"]["updates"], run["progress"]["step"]) == (30, 150450)
    rewards = [each["tag"] for each in run["metrics"] if each["concept"] == "reward_mean"]
    assert rewards == ["AverageReturn"]


@pytest.mark.parametrize("name", UNSURE)
@pytest.mark.parametrize(
    "text",
    [
        "reward: 210.3\nloss: 0.1\n",
        "The results of this paper were obtained with three seeds.\n" * 40,
        "",
    ],
)
def test_another_text_with_such_a_name_is_no_run(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A summary, prose, an empty file: passed over, with a reason."""
    (tmp_path / name).write_text(text)
    (tmp_path / "train.log").write_text(RECORDS)
    reason = "unrecognised log format" if text else "empty"
    assert check(tmp_path, capsys) == ([30], f"ppo-top: passed over {tmp_path / name}: {reason}\n")


def test_a_text_that_becomes_a_log_is_read() -> None:
    """Until there are records it may still become one."""
    assert detect_format("results.txt", b"Using CUDA\n") is None
    assert detect_format("results.txt", b"Using CUDA\n" + RECORDS.encode())
    assert detect_format("results.txt", b"PK\x00\x01") is False


@pytest.mark.parametrize(
    "name",
    ["requirements.txt", "notes.txt", "wiki.txt", "blog", "log.txt.py", "catalog", "run.py.txt"],
)
def test_other_texts_are_not_opened(name: str) -> None:
    """Data sets, notes, and names that only contain such a word."""
    assert not formats_by_module(name)
    assert not is_file_name(name)


@given(
    st.builds("".join, st.tuples(STEMS, ENDS, ENDS, st.sampled_from(("", ".gz", ".xz", ".zip"))))
)
def test_another_machine_sends_what_is_read_here(name: str) -> None:
    """It is asked for names by one pattern, where here each format has its own."""
    assert (re.search(ANY_FILE_NAME, name) is not None) is is_file_name(name)


@pytest.mark.parametrize("module", sorted(ENDINGS))
@given(data=st.data())
def test_a_pattern_is_tried_on_every_name_that_it_matches(module: str, data: st.DataObject) -> None:
    """Only those that have none of its endings are passed over."""
    format_, pattern = data.draw(st.sampled_from(sorted(FILE_NAMES[module].items())))
    drawn = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assert (module, format_) in formats_by_module(drawn.removesuffix("\n"))
