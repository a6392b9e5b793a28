"""Logs, sessions and drawn screens for the tests of the screen."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from ppo_top.files.follower import Follower
from ppo_top.model import Finding
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.ui_state import UiState

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"

PROGRESS_CSV_HEADER = "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/clip_fraction"


@dataclass
class FakeClock:
    """A clock that is moved by hand."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def write_unhealthy_run(
    path: Path, updates: int = 40, broken_from: int = 20, first_reward: int = 20
) -> None:
    """A progress.csv whose policy updates become far too large; seeds have rewards of their own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [PROGRESS_CSV_HEADER]
    for number in range(1, updates + 1):
        sick = number >= broken_from
        reward = first_reward + 4 * number if not sick else max(5, 100 - 8 * (number - broken_from))
        rows.append(f"{number * 2048},{reward},{0.2 if sick else 0.008},{0.6 if sick else 0.1}")
    path.write_text("\n".join(rows) + "\n")


def reword(finding: Finding) -> None:
    """Words that stay: these pictures are about the screen, not about what the rules say."""
    finding.title = "Destructively large updates"
    finding.message = "each update moves the policy too far"
    finding.evidence = ("approx KL 0.2 (healthy <= 0.02)", "60 % of the samples hit the clip")
    finding.causes = ("the learning rate is too high",)
    finding.remedies = ("lower learning_rate", "set target_kl to 0.02", "fewer n_epochs")
    finding.source = "common practice"


def write_unhealthy_console(path: Path, step: str = "") -> Path:
    """A console whose policy updates become far too large at number 20 of 40.

    `step` begins each line, with `{step}` filled in: by itself the log states none.
    """
    lines = []
    for number in range(1, 41):
        sick = number >= 20
        reward = 100 + number / 7 if not sick else max(5, 100 - 8 * (number - 20))
        lines.append(
            step.format(step=number * 2048)
            + f"mean reward: {reward:.2f} | approx kl: {0.4 if sick else 0.01}"
            + f" | clip fraction: {0.7 if sick else 0.1}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def write_failed_console(path: Path) -> Path:
    """The console of a healthy training that ends with a traceback."""
    lines = [
        f"step: {number * 2048} | mean reward: {100 + number} | approx kl: 0.01"
        for number in range(1, 20)
    ]
    lines += ["Traceback (most recent call last):", '  File "train.py", line 7, in <module>']
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "RuntimeError: the simulator is gone"]) + "\n")
    return path


def write_seed(log: Path, seed: int, height: float) -> None:
    """A healthy log whose reward rises to a height."""
    draw, rows = random.Random(seed), [PROGRESS_CSV_HEADER]
    for number in range(1, 81):
        reward = 20 + (height - 20) * (1 - 0.85**number) + draw.gauss(0, 3)
        rows.append(f"{number * 2048},{reward},{0.008 + draw.gauss(0, 0.0005)},0.1")
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(rows) + "\n")


def read_session(paths: list[Path], settings: Settings | None = None) -> Session:
    """A session over everything in some paths, judged."""
    session = Session(settings or Settings())
    follower = Follower(paths)
    while True:
        result = follower.poll()
        session.apply(result)
        if not result.more:
            break
    session.apply(follower.finish())
    follower.close()
    assert session.judge()
    return session


def drawn_text(ui: UiState, cells: int, rows: int) -> list[str]:
    """The screen as lines of characters."""
    return [plain_text(row) for row in draw_screen(ui, cells, rows).lines]
