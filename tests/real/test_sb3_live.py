"""Every point that Stable-Baselines3's own logger writes is seen soon, and once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings

pytestmark = pytest.mark.real
logger_module = pytest.importorskip("stable_baselines3.common.logger")

SOON_S = 1.0
"""A flushed point must be seen within this time."""
SLOW_MACHINE = 5.0
"""On a loaded test machine the test waits this many times as long."""
FILES = {"log.txt", "progress.csv", "progress.json"}


class Watching:
    """A follower that is woken by events, and its session."""

    def __init__(self, folder: Path) -> None:
        self.follower = Follower([folder])
        self.session = Session(Settings())

    def until_seen(self, tag: str, step: int) -> float:
        """Wait until every file has a point; return the seconds it took."""
        begun = time.monotonic()
        while not self._seen(tag, step):
            if time.monotonic() - begun > SOON_S * SLOW_MACHINE:
                pytest.fail(f"{tag} at {step} was not seen")
            self.follower.wait(0.1)
            piece = self.follower.poll()
            self.session.apply(piece)
        return time.monotonic() - begun

    def _seen(self, tag: str, step: int) -> bool:
        found = self.columns(tag)
        return len(found) >= 4 and all(steps and steps[-1] == step for steps, _ in found.values())

    def columns(self, tag: str) -> dict[str, tuple[list[int], list[float]]]:
        """file name -> steps and values of a tag."""
        return {
            Path(source.key).name: (list(series.steps), list(series.values))
            for run in self.session.runs.values()
            for source in run.sources.values()
            if (series := source.series.get(tag)) is not None
        }


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    """Watch a folder that is empty at first."""
    made = Watching(tmp_path)
    yield made
    made.follower.close()


def test_every_point_of_every_output_is_seen_soon_and_once(
    tmp_path: Path, watching: Watching
) -> None:
    """Table, CSV (rewritten when a key appears), JSON and event file, dump by dump."""
    logger = logger_module.configure(str(tmp_path / "run"), ["log", "csv", "json", "tensorboard"])
    delays = []
    for number in range(1, 25):
        step = number * 2048
        logger.record("time/total_timesteps", step, exclude="tensorboard")
        logger.record("rollout/ep_rew_mean", 10.0 + number)
        if number > 6:
            logger.record("train/approx_kl", 0.001 * number)
        if number == 15:
            logger.record("train/value_loss", math.nan)
        logger.dump(step)
        delays.append(watching.until_seen("rollout/ep_rew_mean", step))
    logger.close()
    steps = [number * 2048 for number in range(1, 25)]
    for name, (seen, values) in watching.columns("rollout/ep_rew_mean").items():
        assert seen == steps, name
        assert values == [10.0 + number for number in range(1, 25)], name
    for name, (seen, _) in watching.columns("train/approx_kl").items():
        assert seen == steps[6:], name
    assert set(watching.columns("train/value_loss")) >= FILES
    assert sorted(delays)[len(delays) // 2] < SOON_S
