"""The screen names the checkpoint to go back to, once it has been looked for."""

from __future__ import annotations

import queue
from pathlib import Path

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.app.checkpoint_lister import CheckpointLister
from ppo_top.tui.state.ui_state import UiState
from tests.support.running_app import screen, until
from tests.support.screens import write_unhealthy_run


async def test_the_checkpoint_is_named_in_the_findings(tmp_path: Path) -> None:
    """Beside the advice that asks for it; nothing is written where it lies."""
    write_unhealthy_run(tmp_path / "sick" / "progress.csv")
    (tmp_path / "sick" / "rl_model_36000_steps.zip").touch()
    before = sorted(tmp_path.rglob("*"))
    ui = UiState(session=Session(Settings()), acknowledgements=Acknowledgements())
    app = PpoTop(ui, Follower([tmp_path]))

    async with app.run_test(size=(140, 60)) as pilot:
        await until(lambda: ui.checkpoints.found)
        await pilot.press("f")
        await until(lambda: "resume from rl_model_36000_steps.zip" in screen(app))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_is_listed_once_in_a_few_seconds(sick: UiState) -> None:
    """However often the screen is drawn."""
    clock = iter((100.0, 102.0, 104.9, 105.1))
    answers: queue.Queue[object] = queue.Queue()
    lister = CheckpointLister(sick, answers.put, lambda: next(clock))
    for listed in (1, 1, 1, 2):
        lister.look()
        if lister.thread is not None:
            lister.thread.join()
        assert answers.qsize() == listed
