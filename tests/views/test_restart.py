"""Which checkpoint to resume from, and what is looked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from ppo_top.files.checkpoints import Checkpoint, list_checkpoints
from ppo_top.views.checkpoint_search import checkpoint_search
from ppo_top.views.restart import CheckpointSearch, find_restart
from ppo_top.views.run_view import make_run_view
from tests.support.event_files import EVENT_TIME, scalar_record
from tests.support.screens import read_session

DATA = Path(__file__).parents[1] / "data"
BEGAN = 1_800_000_000.0


def checkpoint(number: int, written: float = BEGAN + 60.0) -> Checkpoint:
    """As listed."""
    return Checkpoint(f"checkpoint-{number}", f"out/checkpoint-{number}", number, written)


def search(before: float = 460.0, fault: str = "KL spike") -> CheckpointSearch:
    """For a run whose fault began at step 460."""
    return CheckpointSearch(["out"], r"checkpoint-(\d+)", "step", BEGAN, fault, before)


def test_the_distance_to_the_fault_is_said() -> None:
    """In what the number counts."""
    found = find_restart(search(), [checkpoint(200), checkpoint(400), checkpoint(460)])
    assert found is not None
    assert found.checkpoint == checkpoint(400)
    assert found.text == 'resume from checkpoint-400 (step 400, 60 before "KL spike" began)'


def test_one_from_an_earlier_training_is_said_to_be_older() -> None:
    """The folder may have been used before, or the run was resumed from it."""
    found = find_restart(search(), [checkpoint(400, written=BEGAN - 86_400.0)])
    assert found is not None
    assert found.text.endswith(", written before this log began")


def test_clocks_that_differ_a_little_make_none_older() -> None:
    """A file server's clock may be late."""
    found = find_restart(search(), [checkpoint(400, written=BEGAN - 300.0)])
    assert found is not None
    assert "written" not in found.text


def test_nothing_is_said_where_no_fault_asks_for_it() -> None:
    """Checkpoints alone are no news."""
    assert find_restart(search(fault=""), [checkpoint(400)]) is None


def test_recorded_checkpoints_of_a_trainer_are_found_beside_its_logs() -> None:
    """TRL 1.12 wrote its event file to out/runs/DATE_HOST, its checkpoints to out."""
    (run,) = read_session([DATA / "trl_1.12.0" / "ppo" / "out"]).runs.values()
    found = checkpoint_search(run, make_run_view(run))
    assert found is not None
    listed = list_checkpoints(found.folders, found.pattern)
    assert [each.number for each in listed] == [3, 6, 9, 12]


def broken_off(epoch: int) -> dict[str, float]:
    """From epoch 40 on the updates are too large, and reward and entropy are lost."""
    return {
        "rewards/step": 5.0 if epoch >= 40 else 10.0 + 2.0 * epoch,
        "losses/c_loss": 1.0,
        "losses/entropy": 0.001 if epoch >= 40 else 1.0,
        "info/kl": 0.5 if epoch >= 40 else 0.008,
    }


def diverged(epoch: int) -> dict[str, float]:
    """From epoch 40 on the updates are too large, from 50 on the critic's loss is not a number."""
    return {
        "rewards/step": 10.0 + 2.0 * epoch,
        "losses/c_loss": math.nan if epoch >= 50 else 1.0,
        "losses/entropy": 1.0,
        "info/kl": 0.5 if epoch >= 40 else 0.008,
    }


def write_frames(folder: Path, course: Callable[[int], dict[str, float]]) -> None:
    """60 epochs of rl_games in an event file: its steps are frames, 1,024 an epoch."""
    log = folder / "Ant" / "summaries" / "events.out.tfevents.1.host"
    log.parent.mkdir(parents=True)
    records = b""
    for epoch in range(1, 61):
        values = {**course(epoch), "losses/a_loss": 0.0, "info/epochs": float(epoch)}
        for tag, value in values.items():
            records += scalar_record(tag, epoch * 1024, value, EVENT_TIME + epoch)
    log.write_bytes(records)


def test_a_number_that_counts_epochs_is_compared_with_the_epoch(tmp_path: Path) -> None:
    """Not with the log's steps, which are frames."""
    write_frames(tmp_path, broken_off)
    (run,) = read_session([tmp_path]).runs.values()
    found = checkpoint_search(run, make_run_view(run))
    assert found is not None
    assert found.unit == "iteration"
    assert found.fault
    assert 38 <= found.before <= 45


def test_a_checkpoint_from_before_the_first_sign_is_looked_for(tmp_path: Path) -> None:
    """Between what led to a fault and what it is named after, the weights went wrong already."""
    write_frames(tmp_path, diverged)
    (run,) = read_session([tmp_path]).runs.values()
    found = checkpoint_search(run, make_run_view(run))
    assert found is not None
    assert found.fault == "Diverged (NaN/Inf)"
    assert 38 <= found.before <= 42


def test_a_console_that_counts_its_records_places_nothing() -> None:
    """A step of transformers' console is not always a step of the trainer."""
    console = DATA / "trl_1.12.0" / "ppo" / "stdout.log"
    (run,) = read_session([console]).runs.values()
    assert run.evaluation.trainer.id == "trl-ppo"
    assert checkpoint_search(run, make_run_view(run)) is None
