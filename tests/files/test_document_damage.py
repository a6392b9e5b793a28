"""A document that is damaged while it is followed: it says so, and its last good reading stays."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.growing_logs import DEMO_LOGS_FOLDER, drain
from tests.support.recordings import DATA_FOLDER, damaged_bytes

DAMAGES = int(os.environ.get("PPO_TOP_DAMAGES", "20"))
"""How many damages are drawn for each document; see `tests/parsers/test_stream_damage.py`."""

DocumentReading = tuple[dict[str, str], int]
"""The values of each tag as text (NaN equals NaN there), and the number of problems."""

ROWS = [{"step": 10 * n, "reward": n + 0.5, "kl": 0.01 * n} for n in range(1, 30)]
DOCUMENTS = {
    "history.json": json.dumps(ROWS).encode(),
    "trainer_state.json": json.dumps({"log_history": ROWS, "max_steps": 290}, indent=2).encode(),
    "bandit.ipynb": (DATA_FOLDER / "hf_notebook_5.23.0" / "bandit.ipynb").read_bytes(),
    "mlflow.db": (DATA_FOLDER / "mlflow_3.17.2" / "database" / "mlflow.db").read_bytes(),
    "rewards.txt": b",".join(b"%d.5" % number for number in range(60)),
    "evaluations.npz": (DEMO_LOGS_FOLDER / "sb3_cartpole" / "evaluations.npz").read_bytes(),
}


def save(path: Path, data: bytes) -> None:
    """Replace a file as editors do."""
    other = path.with_name("saving")
    other.write_bytes(data)
    other.replace(path)


def look(follower: Follower, session: Session) -> DocumentReading:
    """What is known of all sources after reading what is new."""
    follower.sweep_soon()
    drain(follower, session)
    session.assign_pending_logs()
    sources = [source for run in session.runs.values() for source in run.sources.values()]
    values = {
        f"{source.key} {tag}": repr(list(series.values))
        for source in sources
        for tag, series in source.series.items()
    }
    return values, sum(len(source.problems) for source in sources)


@pytest.fixture
def session() -> Session:
    """A session with no settings."""
    return Session(Settings())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_damaged_document_keeps_its_last_good_reading(
    name: str, tmp_path: Path, session: Session
) -> None:
    """What can still be read as a document is a new reading; all is well once it is whole again."""
    good = DOCUMENTS[name]
    path = tmp_path / name
    save(path, good)
    following = Follower([path])
    before, no_problems = look(following, session)
    assert before
    assert no_problems == 0
    unreadable = 0
    for seed in range(DAMAGES):
        save(path, damaged_bytes(good, seed))
        values, problems = look(following, session)
        if problems:
            unreadable += 1
            assert values == before, seed
        save(path, good)
        assert look(following, session) == (before, 0), seed
    following.close()
    assert unreadable > 0
