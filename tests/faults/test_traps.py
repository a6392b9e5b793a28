"""Malicious files: none does harm, and the run among them is judged."""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import sqlite3
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.files import build_swanlab_store, build_trackio_database, seed_of_swanlab_store
from tests.fuzz.framed import RECORD_SEPARATOR
from tests.support.installed_program import PEAK, Tool, copy_of

NESTING_DEPTH = 100_000
DIGIT_COUNT = 50_000
"""Digits of a number."""


class PickleBomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def archive(path: Path, **members: bytes) -> None:
    """An evaluations.npz with these bytes as arrays."""
    path.mkdir(parents=True)
    with zipfile.ZipFile(path / "evaluations.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)


def array(values: object, **how: bool) -> bytes:
    """An array as numpy saves it."""
    file = io.BytesIO()
    np.save(file, np.asarray(values), **how)
    return file.getvalue()


def archives(runs: Path, owned: Path) -> None:
    """A bomb, a pickle as an array, a bare pickle, and a header that promises too much."""
    header = np.lib.format.magic(1, 0)
    promise = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }\n"
    evil = np.array([PickleBomb(owned)], dtype=object)
    steps = array([1, 2])
    archive(runs / "bomb", timesteps=steps, results=array(np.zeros((2, 20_000_000))))
    archive(runs / "pickle", timesteps=steps, results=array(evil, allow_pickle=True))
    archive(runs / "bare", timesteps=pickle.dumps(PickleBomb(owned)), results=steps)
    lies = header + len(promise).to_bytes(2, "little") + promise
    archive(runs / "promise", timesteps=lies, results=lies)


def documents(runs: Path, owned: Path) -> None:
    """Settings and states that name constructors, refer to themselves or are endlessly deep."""
    laughs = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    call = f"run: !!python/object/apply:os.system ['touch {owned}']\nlr: 0.1\n"
    entity = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>\n'
    texts = {
        "yaml/config.yaml": laughs + call + "k: " + "[" * NESTING_DEPTH + "\n",
        "json/config.json": "[" * NESTING_DEPTH,
        "json/trainer_state.json": '{"log_history": ' + "[" * NESTING_DEPTH,
        "json/metrics.jsonl": '{"step": 0, "loss": 1}\n'
        + f'{{"step": 1, "loss": {"9" * DIGIT_COUNT}}}\n{"[" * NESTING_DEPTH}\n'
        f'{{"step": {"9" * DIGIT_COUNT}, "loss": 1e999999}}\n{{"step": 1e300, "loss": -1e400}}\n',
        "csv/progress.csv": f"step,loss\n{'9' * DIGIT_COUNT},1\n"
        f"1e308,{'9' * DIGIT_COUNT}\n-1,1e-999999\n2,nan\n",
        "xml/train.log": entity + f"Iteration {'9' * DIGIT_COUNT}/9 | KL: {'9' * DIGIT_COUNT}\n",
        "xml/config.yaml": entity,
    }
    for name, text in texts.items():
        (runs / name).parent.mkdir(parents=True, exist_ok=True)
        (runs / name).write_text(text)


def stores(runs: Path) -> None:
    """Databases whose runs are named after paths outside the folder."""
    for number, name in enumerate(("../../../../etc/cron.d/x", "/etc/passwd", "..", "a/../../b")):
        folder = runs / f"db{number}"
        folder.mkdir(parents=True)
        build_trackio_database(
            folder, RECORD_SEPARATOR.join([f'2026-01-01\0{name}\x001\0{{"loss": 1}}'.encode()] * 3)
        )
        lines = seed_of_swanlab_store().split(b"\0", 3)[3]
        build_swanlab_store(
            folder, b"\0".join([name.encode(), b"loss", f"../{name}".encode(), lines])
        )
        base = sqlite3.connect(folder / "view.db")
        base.execute("CREATE TABLE t (x)")
        base.execute("CREATE VIEW metrics AS SELECT 1 AS timestamp, 2 AS run_name, 3 AS step,"
                     " load_extension('/tmp/x') AS metrics FROM t")  # fmt: skip
        base.commit()
        base.close()


def no_files(runs: Path) -> None:
    """Log names for things that are no logs: an idle pipe, a socket, folders, loops, a device."""
    folder = runs / "odd"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "train.log")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/stdout.log")
        os.close(here)
    (folder / "progress.csv").mkdir()
    (folder / "loop.log").symlink_to("loop.log")
    (folder / "up").symlink_to("..")
    (folder / "zero.log").symlink_to("/dev/zero")
    (folder / "metrics.jsonl").symlink_to("nowhere")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """All of that, and a healthy run."""
    runs = tmp_path / "runs"
    copy_of("torch_cartpole", runs / "good")
    archives(runs, tmp_path / "owned")
    documents(runs, tmp_path / "owned")
    stores(runs)
    no_files(runs)
    return runs


@pytest.mark.parametrize("arguments", [["check", "--json"], ["export", "--format", "csv"]])
def test_no_trap_works(tmp_path: Path, runs: Path, arguments: list[str]) -> None:
    """Nothing is executed, expanded or waited for; no name leads out of its folder."""
    tool = Tool(tmp_path / "home", *arguments, runs, before=(sys.executable, "-c", PEAK))
    assert tool.end(60) in (0, 1), tool.errors
    assert not any("Traceback" in line for line in tool.errors), tool.errors
    assert not (tmp_path / "owned").exists()
    assert int(tool.errors[-1]) < 300 << 10  # KiB
    if arguments[0] == "check":
        found = json.loads("".join(tool.lines))["runs"]
        good = next(each for each in found if each["name"] == "good")
        assert good["state"] == "finished"
        assert all(Path(each["path"]).is_relative_to(runs) for each in found)
        assert all(".." not in Path(each["path"]).parts for each in found)


def test_a_trap_is_reported(tmp_path: Path, runs: Path) -> None:
    """What could not be read is a problem, not silently ignored."""
    tool = Tool(tmp_path / "home", "check", runs)
    assert tool.end(60) in (0, 1), tool.errors
    errors = "".join(tool.errors)
    for name in ("bomb/", "pickle/", "bare/", "promise/"):
        assert f"{name}evaluations.npz: 1 unreadable" in errors, errors
    assert "json/metrics.jsonl" in errors
