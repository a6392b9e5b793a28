"""What W&B's panels are exported as, as its `CSV export` writes it: all in quotes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.parsers.run_columns import claims_panel, panel_parser
from tests.support.parser_harness import chunks, feed_trainings


def exported(columns: Mapping[str, Sequence[float | None]], step: str = "global_step") -> str:
    """Each column with its range, a row every thousand steps."""
    header = [step, *(f"{name}{end}" for name in columns for end in ("", "__MIN", "__MAX"))]
    rows = [
        [str(1000 * n), *("" if value is None else str(value) for value in row for _ in range(3))]
        for n, row in enumerate(zip(*columns.values(), strict=True), 1)
    ]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [header, *rows])


TABLE = exported(
    {
        "sac - 1 - _step": [10, 20],
        "sac - 1 - eval/return": [1.5, 2.5],
        "sac - 1 - loss": [None, 0.25],
        "Group: td3, long - eval/return": [-3.5, None],
    }
).encode()


@pytest.mark.parametrize("size", [1, 7, len(TABLE)])
def test_each_run_has_its_columns(size: int) -> None:
    """Without the ranges, and W&B's own steps; what a run did not log at a step is left empty."""
    found = feed_trainings(panel_parser(), chunks(TABLE, size))
    assert found[""].values_by_step() == {
        "eval/return": [(1000, 1.5), (2000, 2.5)],
        "loss": [(2000, 0.25)],
    }
    other = found["Group_td3_long"]
    assert other.values_by_step() == {"eval/return": [(1000, -3.5)]}
    assert other.notes == ["training 2 in this table: the column of Group: td3, long"]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (TABLE, True),
        (TABLE[:60], None),
        (b"", None),
        (b"\n1,-9900.0\n", False),
        (exported({f"run-{n} - train/reward": [1.0] for n in range(100)}).encode()[:4096], True),
        (exported({"a - loss": [1.0]}, step="frame_count").encode(), True),
        (exported({"a - train/episode_len": [50.0]}).encode(), True),
        (exported({"a - cpu": [1.0]}).encode(), False),
        (exported({"a - loss": [1.0]}, step="Relative Time (Wall)").encode(), False),
        (b"step,loss,reward\n", False),
        (b'"Step","loss","loss__MIN"\n', False),
        (b'"Step","a - loss","b - loss"\n', False),
    ],
)
def test_the_header_says_so(head: bytes, answer: bool | None) -> None:
    """A step, runs with a metric, and their ranges; other tables are left to other formats."""
    assert claims_panel("wandb_export_2026-05-01T10_00_00.000+02_00.csv", head) is answer


def test_they_are_runs_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a reward each."""
    columns = {f"ppo-{n} - charts/episodic_return": [n * k for k in range(30)] for n in (1, 2)}
    (tmp_path / "export.csv").write_text(exported(columns))
    main(["check", "--json", "--no-cache", str(tmp_path)])
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(run["metrics"][0]["last"] for run in runs) == [29.0, 58.0]
    assert {run["metrics"][0]["concept"] for run in runs} == {"reward_mean"}
    assert {run["progress"]["step"] for run in runs} == {30_000}
