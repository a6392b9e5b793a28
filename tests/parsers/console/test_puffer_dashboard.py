"""PufferLib's console: a dashboard of nested tables, as `print_dashboard` of 3.0 draws it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import rich.box
from rich.console import Console
from rich.table import Table

import ppo_top
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way

LOSSES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac", "explained_variance")


def two_columns(head: str, rows: Mapping[str, str], *widths: int) -> Table:
    """Names on the left, values on the right, without borders."""
    table = Table(box=None, expand=True)
    table.add_column(f"[cyan]{head}", justify="left", vertical="top", width=widths[0])
    table.add_column("[cyan]Value", justify="right", vertical="top", width=widths[1])
    for name, value in rows.items():
        table.add_row(f"[white]{name}", f"[bright_white]{value}")
    return table


def frame(steps: str, losses: Mapping[str, float], stats: Mapping[str, float]) -> str:
    """One dashboard, with the sequence that puts the cursor in the corner."""
    dashboard = Table(box=rich.box.ROUNDED, expand=True, show_header=False)
    title = Table(box=None, expand=True, show_header=False)
    title.add_row("PufferLib 3.0  :blowfish:", "CPU: 97.5%", "GPU: 0.0%", "DRAM: 9.2%")
    summary = {"Env": "CartPole-v1", "Params": "515", "Steps": steps, "SPS": "13.3K"}
    summary |= {"Epoch": "72", "Uptime": "7s", "Remaining": "A hair past a freckle"}
    spent = Table(box=None, expand=True, show_header=False)
    for width in (10, 8, 4):
        spent.add_column(width=width)
    for part in ("Evaluate", "  Forward", "  Env", "Train"):
        spent.add_row(part, "0s", "24%")
    lost = two_columns("Losses", {name: f"{value:.3f}" for name, value in losses.items()}, 16, 8)
    monitor = Table(box=None, expand=True, pad_edge=False)
    monitor.add_row(two_columns("Summary", summary, 10, 14), spent, lost)
    told = list(stats.items())
    sides = [{name: f"{value:.3f}" for name, value in told[start::2]} for start in (0, 1)]
    below = Table(box=None, expand=True, pad_edge=False)
    below.add_row(*(two_columns("User Stats", side, 20, 10) for side in sides))
    for table in (title, monitor, below):
        dashboard.add_row(table)
    text = io.StringIO()
    Console(file=text, width=80).print(dashboard)
    return f"\033[0;0H{text.getvalue()}\n"


def made_up(number: int, reward: float) -> str:
    """The frame of an update."""
    entropy, kl = 0.68 - number / 200, 0.004 + 0.001 * (number % 3)
    losses = dict(zip(LOSSES, (-0.004, 6.5 / number, entropy, kl, 0.05, 0.75), strict=True))
    stats = {"episode_return": reward, "episode_length": reward, "score": -1.0}
    return frame(f"{20 * number}.5K", losses, stats)


def test_a_frame_has_the_names_that_trackers_get() -> None:
    """A console of eighty columns cuts the longest one."""
    read = parse_every_way(ConsoleParser, (made_up(1, 21.5) + made_up(2, 30.25)).encode())
    values = read.values_by_step()
    assert values["environment/episode_return"] == [(20_500, 21.5), (40_500, 30.25)]
    assert values["environment/score"] == [(20_500, -1.0), (40_500, -1.0)]
    assert values["losses/value_loss"] == [(20_500, 6.5), (40_500, 3.25)]
    assert values["losses/explained_var…"] == [(20_500, 0.75), (40_500, 0.75)]
    assert values["SPS"] == [(20_500, 13_300.0), (40_500, 13_300.0)]
    assert set(values) == {
        *(f"losses/{name}" for name in LOSSES[:-1]),
        *(f"environment/{name}" for name in ("episode_return", "episode_length", "score")),
        *("losses/explained_var…", "SPS", "epoch"),
    }


def test_a_frame_at_the_same_step_says_no_more() -> None:
    """Steps are printed with four digits, and frames drawn four times a second."""
    read = parse_every_way(ConsoleParser, (made_up(1, 21.5) * 3 + made_up(2, 22.5)).encode())
    assert read.values_by_step()["environment/episode_return"] == [(20_500, 21.5), (40_500, 22.5)]


def test_the_dashboard_of_1_0() -> None:
    """`clean_pufferl.py` rounds the steps so that several epochs may have the same."""
    frames = [made_up(1, 21.5), made_up(1, 30.25).replace(" 72 ", " 73 ")]
    older = {"PufferLib 3.0  🐡 ": "🐡 PufferLib 1.0.0", "Steps      ": "Agent Steps", "K ": "k "}
    text = "".join(frames)
    for new, old in older.items():
        text = text.replace(new, old)
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()["environment/episode_return"] == [(20_500, 21.5), (20_500, 30.25)]
    assert read.values("SPS") == [13_300.0, 13_300.0]


def test_before_the_first_update_there_is_nothing_to_read() -> None:
    """And what follows a frame is read as ever."""
    text = frame("0", {}, {}) + "Epoch 3 | reward 5.5 | loss 0.25\n"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()["reward"] == [(3, 5.5)]


def test_a_training_is_judged_by_its_dashboards(tmp_path: Path) -> None:
    """`puffer train puffer_breakout 2>&1 | tee train.log`."""
    text = "".join(made_up(number, 20.0 + 5 * number) for number in range(1, 61))
    (tmp_path / "train.log").write_text(text, encoding="utf-8")
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["family"], run["verdict"]) == ("pufferlib", "on-policy", "healthy")
    assert (run["progress"]["axis"], run["progress"]["step"]) == ("step", 1_200_500)
    assert run["progress"]["updates"] == 60
