"""A tag for every sample: what a log of 100,000 names does to memory and to the screen."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

import pytest

from ppo_top.cli import main
from ppo_top.files.follower import Follower
from ppo_top.runs.sources.source import MAX_TAGS_KEPT
from tests.support.installed_program import PEAK, Tool
from tests.support.key_delays import key_delay
from tests.support.running_app import app_on, drawn_now, until_run


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
    """100,000 tags: memory is bounded, and what is missing is reported."""
    tool = Tool(tmp_path / "home", "check", exploded, before=(sys.executable, "-c", PEAK))
    assert tool.end(60) in (0, 1), tool.errors
    assert any("left out: only the first 20,000 tags" in line for line in tool.lines), tool.lines
    assert int(tool.errors[-1]) < 160 << 10  # KiB; 80 without the tags


def test_json_and_export_report_what_is_missing(
    exploded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON counts the values that were not kept; `export` reports them on stderr."""
    main(["check", "--json", str(exploded)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (source,) = run["sources"]
    samples = MAX_TAGS_KEPT - len(("step", "approx_kl"))
    assert source["points"] == 500 + 500 + samples
    assert source["left_out"] == 100_000 - samples
    main(["export", "--format", "csv", str(exploded)])
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1 + source["points"]
    assert f"ppo-top: metrics.jsonl: {source['left_out']:,} values left out: " in printed.err


async def test_the_screen_over_a_tag_for_every_sample(tmp_path: Path, exploded: Path) -> None:
    """It is drawn, keys are answered, and the files page shows what is left out."""
    app = app_on(Follower([exploded]), tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_run(pilot, app, lambda view: view.progress.step == 499)
        waits = []
        for key in ("down", "enter", "f", "escape", "escape", "6"):
            await pilot.press(key)
            waits.append(await key_delay(app))
        assert "values left out" in drawn_now(app)
        (source,) = next(iter(app.ui_state.session.runs.values())).sources.values()
        assert len(source.series["approx_kl"]) == 500
        assert len(source.series) == MAX_TAGS_KEPT
    assert median(waits) < 0.5
