"""A page of a few runs compares their rewards in one chart."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev

import pytest

from ppo_top.cli import main
from tests.output.test_html_report import ParsedPage, report
from tests.support.screens import write_seed


def write_seeds(folder: Path, count: int) -> Path:
    """Logs of some seeds, of 80 updates each."""
    for seed in range(1, count + 1):
        write_seed(folder / f"pole_seed{seed}" / "progress.csv", seed, 150.0 + 10 * seed)
    return folder


def curves_of(page: ParsedPage) -> list[list[tuple[float, float]]]:
    """The points of each compared curve, on the drawing."""
    paths = [seen for tag, seen in page.elements if tag == "path"]
    drawn = [each["d"] or "" for each in paths if (each["class"] or "").startswith("run")]
    numbers = r"(-?[\d.]+) (-?[\d.]+)"
    return [[(float(x), float(y)) for x, y in re.findall(numbers, path)] for path in drawn]


def test_seeds_are_one_chart_with_their_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A curve and a number for each, as `check` gives it; their mean and how far they are apart."""
    logs = write_seeds(tmp_path / "runs", 3)
    page = report(tmp_path, logs)
    capsys.readouterr()
    main(["check", str(logs), "--json"])
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert "reward of 3 runs by step" in page.text
    assert '::before{content:"━━ "' in page.text  # each name behind the line of its curve
    rewards = {
        run["name"]: row["value"]
        for run in runs
        for row in run["checklist"]
        if row["concept"] == "reward_mean"
    }
    assert all(f"{name} {reward:.4g}" in page.text for name, reward in rewards.items())
    around = f"{mean(rewards.values()):.4g} ± {stdev(rewards.values()):.4g}"
    said = f"at step 163,840: {around} (mean and standard deviation of 3 seeds)"
    assert said in page.text
    curves = curves_of(page)
    assert [len(curve) for curve in curves] == [80, 80, 80]
    assert all(x < next_x for curve in curves for (x, _), (next_x, _) in pairwise(curve))


def test_a_long_run_is_drawn_by_means_and_told_by_its_last_value(tmp_path: Path) -> None:
    """Twenty thousand episodes are 240 points on a page."""
    for name in ("a", "b"):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        rows = "".join(f"{n},{n % 7}\n" for n in range(1, 20_001))
        last = {"a": 900, "b": 800}[name]
        (folder / "progress.csv").write_text(f"step,reward\n{rows}20001,{last}\n")
    page = report(tmp_path, tmp_path / "runs")
    assert [len(curve) for curve in curves_of(page)] == [240, 240]
    assert "a 900" in page.text and "b 800" in page.text
    assert "standard deviation" not in page.text  # nothing says that they are seeds


@pytest.mark.parametrize("count", [1, 11])
def test_one_run_and_very_many_are_not_compared(tmp_path: Path, count: int) -> None:
    """Nobody can tell so many curves apart."""
    page = report(tmp_path, write_seeds(tmp_path / "runs", count))
    assert "Compared" not in page.text
    assert curves_of(page) == []


def test_runs_that_count_differently_are_not_compared(tmp_path: Path) -> None:
    """Episodes are no steps; a run without a reward has no curve."""
    logs = write_seeds(tmp_path / "runs", 1)
    (logs / "other").mkdir()
    (logs / "other" / "metrics.jsonl").write_text(
        "".join(f'{{"step": {n}, "loss": {1 / n}}}\n' for n in range(1, 40))
    )
    assert "Compared" not in report(tmp_path, logs).text
