"""A tag for every sample: what a log of 100,000 names does to memory and to the screen."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

import pytest

from ppo_top.follow import Follower
from ppo_top.sources import MOST_TAGS
from tests.faults.answers import answered
from tests.faults.tool import PEAK, Tool
from tests.test_end_to_end import app_on, screen_text
from tests.test_end_to_end import until as seen


@pytest.fixture(scope="module")
def exploded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with 100,000 distinct tags, and one that stays."""
    root = tmp_path_factory.mktemp("tags")
    with open(root / "metrics.jsonl", "w") as file:
        for step in range(500):
            pairs = ", ".join(f'"sample/{step * 200 + n}": 1.0' for n in range(200))
            file.write(f'{{"step": {step}, "approx_kl": {0.001 * step}, {pairs}}}\n')
    return root


def test_a_tag_for_every_sample(tmp_path: Path, exploded: Path) -> None:
    """100,000 tags: memory is bounded, and it is said what is missing."""
    tool = Tool(tmp_path / "home", "check", exploded, before=(sys.executable, "-c", PEAK))
    assert tool.end(60) in (0, 1), tool.errors
    assert any("left out: only the first 20,000 tags" in line for line in tool.lines), tool.lines
    assert int(tool.errors[-1]) < 160 << 10  # KiB; 80 without the tags


async def test_the_screen_over_a_tag_for_every_sample(tmp_path: Path, exploded: Path) -> None:
    """It is drawn, keys are answered, and the page of the files says what is left out."""
    app = app_on(Follower([exploded]), tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await seen(pilot, app, lambda view: view.progress.step == 499)
        waits = []
        for key in ("down", "enter", "f", "escape", "escape", "i"):
            await pilot.press(key)
            waits.append(await answered(app))
        assert "values left out" in screen_text(app)
        (source,) = next(iter(app.desk.session.runs.values())).sources.values()
        assert len(source.series["approx_kl"]) == 500
        assert len(source.series) == MOST_TAGS
    assert median(waits) < 0.5
