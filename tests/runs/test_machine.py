"""What trackers measure of the machine: beside the training's rows, never among them."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import pytest

from ppo_top.model import Points, Series
from ppo_top.runs.run import Run
from ppo_top.runs.sources.machine_streams import MachineStream
from ppo_top.settings import Settings
from ppo_top.settings.custom_rule import CustomRule
from tests.support.growing_logs import WatchedDirectory
from tests.support.machine_logs import Measurement, gpu, inbox_lines
from tests.support.recordings import DATA_FOLDER
from tests.support.screens import read_session

IDLE_FROM_S = 200.0
UPDATES = 60


def samples(*measured: tuple[float, float], series: Series | None = None) -> Series:
    """A series of (time, value)."""
    found = Series("live.cpu") if series is None else series
    times, values = (array("d", column) for column in zip(*measured, strict=True))
    found.extend(Points(found.tag, array("q", [int(time) for time in times]), times, values))
    return found


def stream(*devices: Series, scale: float = 1.0) -> MachineStream:
    """A metric that was measured of some devices."""
    made = MachineStream("cpu_busy", "live.cpu", "log", scale, 0)
    for each in devices:
        made.add_part(each)
    return made


def written(folder: Path, measured: Measurement, updates: int = UPDATES) -> Path:
    """The log of a training with measurements."""
    path = folder / "r" / "inbox" / "0a" / "00000000.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(inbox_lines(updates, measured)))
    return path


def read(folder: Path) -> Run:
    """The one run below a folder."""
    (run,) = read_session([folder]).runs.values()
    return run


def goes_idle(time: float) -> dict[str, float]:
    """A GPU that works for a while and then waits, with the model still on it."""
    return gpu(85.0 if time < IDLE_FROM_S else 2.0)


def test_a_row_gets_the_mean_of_what_was_measured_since_the_one_before() -> None:
    """Nothing is counted twice, and a row without a measurement has no value."""
    made = stream(samples((1.0, 20.0), (2.0, 40.0), (11.0, 50.0)), scale=0.01)
    assert [made.pop_until(time) for time in (5.0, 6.0, 20.0)] == [pytest.approx(0.3), None, 0.5]


def test_of_several_devices_the_busiest_counts() -> None:
    """A training uses some GPUs of a node; the others idle and say nothing about it."""
    made = stream(samples((1.0, 5.0)), samples((1.0, 70.0), (2.0, 90.0)))
    assert made.pop_until(3.0) == 80.0
    assert made.newest() == 90.0


def test_a_late_measurement_counts_for_the_next_row() -> None:
    """It came after its row was judged for good."""
    series = samples((1.0, 10.0))
    made = stream(series)
    assert made.pop_until(10.0) == 10.0
    samples((5.0, 30.0), (12.0, 50.0), series=series)
    assert made.pop_until(20.0) == 40.0


def test_a_row_without_a_time_has_no_measurement() -> None:
    """Nothing tells which belong to it; they count for the first row that has a time."""
    made = stream(samples((1.0, 10.0)))
    assert made.pop_until(math.nan) is None
    assert made.pop_until(2.0) == 10.0


def test_measurements_add_no_row_and_change_none(tmp_path: Path) -> None:
    """Steps, updates and the training's values are those of a log without any of them."""
    written(tmp_path / "with", goes_idle)
    path = written(tmp_path / "without", goes_idle)
    rows = [line for line in path.read_bytes().splitlines(True) if b'"metric"' in line]
    path.write_bytes(b"".join(rows))
    measured, plain = read(tmp_path / "with"), read(tmp_path / "without")
    assert list(measured.timeline.steps) == list(plain.timeline.steps)
    assert list(measured.timeline.tracks["reward_mean"].values) == list(
        plain.timeline.tracks["reward_mean"].values
    )
    assert measured.timeline.tracks.keys() - plain.timeline.tracks.keys() == {
        "gpu_busy",
        "gpu_memory",
        "cpu_busy",
    }
    assert measured.points == plain.points


def test_a_gpu_that_waits_while_updates_go_on_is_a_line(tmp_path: Path) -> None:
    """Since the update at which it began to; the run is as healthy as without it."""
    written(tmp_path, goes_idle)
    (finding,) = (each for each in read(tmp_path).findings if each.rule == "gpu-idle")
    assert finding.severity.word == "info"
    assert finding.since.step == pytest.approx(100 * IDLE_FROM_S / 10, abs=200)
    assert finding.message == "the GPU is busy 2 % of the time: updates wait for something else"


def test_a_gpu_that_the_training_does_not_use_says_nothing(tmp_path: Path) -> None:
    """A training on the CPU, on a machine with a GPU."""
    written(tmp_path, lambda time: gpu(0.0, memory=0.004))
    assert not [each for each in read(tmp_path).findings if each.rule == "gpu-idle"]


def test_a_log_that_grows_byte_by_byte_gets_the_same_verdict(tmp_path: Path) -> None:
    """However it is cut: live and `check` agree."""
    (tmp_path / "live").mkdir()
    whole = written(tmp_path / "whole", goes_idle)
    watched = WatchedDirectory(tmp_path / "live")
    path = tmp_path / "live" / "00000000.jsonl"
    data = whole.read_bytes()
    for start in range(0, len(data), 997):
        with path.open("ab") as file:
            file.write(data[start : start + 997])
        watched.read_and_judge()
    watched.finish()
    (grown,) = watched.session.runs.values()
    found = read(tmp_path / "whole")
    for name in ("gpu_busy", "cpu_busy"):
        tracks = [each.timeline.tracks[name] for each in (grown, found)]
        assert list(tracks[0].rows) == list(tracks[1].rows)
        assert list(tracks[0].values) == list(tracks[1].values)
    assert [(each.rule, each.since) for each in grown.findings] == [
        (each.rule, each.since) for each in found.findings
    ]


@pytest.mark.parametrize(
    ("recording", "metrics"),
    [
        ("wandb_0.31.0/hf_like", {"memory_used", "process_memory"}),
        ("wandb_0.16.6/hf_like", {"cpu_busy", "memory_used", "process_memory"}),
        ("swanlab_0.6.13/finished", {"cpu_busy", "memory_used", "process_memory"}),
    ],
)
def test_what_trackers_recorded_of_the_machine_is_known(recording: str, metrics: set[str]) -> None:
    """Under each tracker's own names; shares lie between 0 and 1, a process has some MB."""
    evaluation = read(DATA_FOLDER / recording).evaluation
    newest = evaluation.newest_of_machine()
    assert newest.keys() == metrics
    assert all(0.0 <= newest[name] <= 1.0 for name in metrics - {"process_memory"})
    assert 0.01 < newest["process_memory"] < 10.0


def test_an_own_rule_may_judge_the_machine(tmp_path: Path) -> None:
    """Under the metric's name, whatever the tracker calls it."""
    written(tmp_path, lambda time: {"gpu/0/temp": 60.0 + time / 10})
    own = CustomRule("gpu-hot", "gpu_temperature", above=85.0)
    (run,) = read_session([tmp_path], Settings(rules=(own,))).runs.values()
    (finding,) = (each for each in run.findings if each.rule == "gpu-hot")
    assert finding.since.step == 2600
