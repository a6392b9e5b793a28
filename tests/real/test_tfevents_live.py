"""Event files read while real writers write them: every point soon after its flush, once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.parsers.tensorboard.parser import TensorBoardParser
from tests.support.event_files import scalars_by_tensorboard
from tests.support.parser_harness import ParserOutput, parse_every_way

pytestmark = pytest.mark.real
torch = pytest.importorskip("torch")

SOON = 1.0
"""Seconds within which a flushed point must be read."""
WRITER = """
import sys
import torch
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    step = int(line)
    for number in range(5):
        writer.add_scalar(f"train/tag{number}", step + number / 8, step, new_style=number == 4)
    if step % 10 == 0:
        writer.add_histogram("weights", torch.arange(100.0) + step, step)
    writer.flush()
    print("flushed", flush=True)
writer.close()
"""


class Growing:
    """A writer in a new process and the parser that follows its file."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"
        (self.path,) = folder.iterdir()
        self.parser = TensorBoardParser()
        self.read = ParserOutput()
        self.place = 0

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def write(self, step: int) -> None:
        """Let it log one step and flush."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{step}\n")
        self.process.stdin.flush()

    def flushed(self) -> None:
        """Wait until it reports the flush."""
        assert self._answer() == "flushed"

    def look(self) -> None:
        """Feed what is new in the file."""
        with self.path.open("rb") as file:
            file.seek(self.place)
            data = file.read()
        self.place += len(data)
        self.read.add_batch(self.parser.feed(data))


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Growing]:
    """A real SummaryWriter at work."""
    found = Growing(tmp_path)
    yield found
    assert found.process.stdin is not None
    assert found.process.stdout is not None
    found.process.stdin.close()
    found.process.wait(30)
    found.process.stdout.close()


def test_every_point_is_seen_after_its_flush(growing: Growing) -> None:
    """Sixty steps, read during writes and after each flush."""
    for step in range(60):
        growing.write(step)
        growing.look()  # anywhere in a record
        growing.flushed()
        deadline = time.monotonic() + SOON
        while growing.read.steps("train/tag4")[-1:] != [step] and time.monotonic() < deadline:
            growing.look()
        for number in range(5):
            tag = f"train/tag{number}"
            assert growing.read.steps(tag) == list(range(step + 1))
            assert growing.read.values(tag)[-1] == step + number / 8
    assert growing.read.steps("weights@p50") == list(range(0, 60, 10))
    assert growing.read.values("weights@max") == [99.0 + step for step in range(0, 60, 10)]
    assert not growing.read.problems
    scalars = {tag: each for tag, each in growing.read.points.items() if "@" not in tag}
    assert scalars == scalars_by_tensorboard(growing.path)


def test_everything_a_summary_writer_can_write(tmp_path: Path) -> None:
    """Images, audio, curves, graphs and embeddings among scalars: no point lost, no problem."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(tmp_path), purge_step=3)
    writer.add_text("hyperparameters", "|param|value|\n|-|-|\n|learning_rate|0.0003|\n|cuda|True|")
    for step in range(5):
        writer.add_scalar("plain", step / 3, step)
        writer.add_scalar("double", step / 3, step, new_style=True, double_precision=True)
        writer.add_image("image", torch.rand(3, 9, 9), step)
        writer.add_pr_curve("curve", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.8, 0.3]), step)
        writer.add_histogram("weights", torch.randn(500), step)
    writer.add_scalar("missing", float("nan"), 9)
    writer.add_hparams({"lr": 0.1, "name": "adam", "fast": True}, {}, run_name=".")
    writer.close()
    config: dict[str, object] = {}
    for path in sorted(tmp_path.iterdir()):
        found = parse_every_way(TensorBoardParser, path.read_bytes())
        config |= found.config
        assert not found.problems
        if found.points:
            scalars = {tag: each for tag, each in found.points.items() if "@" not in tag}
            assert scalars == scalars_by_tensorboard(path)
            assert len(found.values("weights@p99")) == 5
    assert config["learning_rate"] == 0.0003
    assert (config["lr"], config["name"], config["cuda"]) == (0.1, "adam", True)


def test_tensorboardx(tmp_path: Path) -> None:
    """A writer that leaves half records on disk, and whose flush does not wait for its queue."""
    tensorboardx = pytest.importorskip("tensorboardX")
    writer = tensorboardx.SummaryWriter(str(tmp_path))
    (path,) = tmp_path.iterdir()
    parser, found, place = TensorBoardParser(), ParserOutput(), 0
    tag = "ray/tune/episode_reward_mean"
    for step in range(400):
        writer.add_scalar(tag, step / 7, step)
        wanted = step + 1 if step % 40 == 39 else 0
        if wanted:
            writer.flush()
        deadline = time.monotonic() + 20 * SOON  # its queue may be slow, on a busy machine
        while True:
            data = path.read_bytes()[place:]
            place += len(data)
            found.add_batch(parser.feed(data))
            if len(found.steps(tag)) >= wanted or time.monotonic() > deadline:
                break
            writer.flush()  # what has left the queue since
        assert found.steps(tag)[:wanted] == list(range(wanted))
    writer.close()
    found.add_batch(parser.feed(path.read_bytes()[place:]))
    assert found.points == scalars_by_tensorboard(path)
    assert not found.problems
