"""Which of the open findings are told, and which need not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.runs.liveness import run_status
from ppo_top.views.run_view import make_run_view
from tests.support.screens import read_session, write_unhealthy_console

NAN = (
    "ValueError: Expected parameter logits (Tensor of shape (64, 2)) of distribution "
    "Categorical(logits: torch.Size([64, 2])) to satisfy the constraint "
    "IndependentConstraint(Real(), 1), but found invalid values:"
)
KEY = "KeyError: 'observation'"
RAY = """OSError: [Errno 28] No space left on device

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
ray.exceptions.RayTaskError(OSError): ray::Worker.save_checkpoint() (pid=7)"""
"""A full disk where Ray's worker saves, then what its driver says of it."""


def open_rules(log: Path, last_line: str) -> list[str]:
    """The rules whose open findings are told of a console that ends with an exception."""
    with log.open("a") as console:
        console.write(f'Traceback (most recent call last):\n  File "t.py", line 1\n{last_line}\n')
    (run,) = read_session([log]).runs.values()
    view = make_run_view(run, None, run_status(run, 0.0))
    return [opened.finding.rule for opened in view.open_findings]


@pytest.mark.parametrize(
    ("last_line", "told"), [(NAN, "non-finite"), (KEY, "crashed"), (RAY, "disk-full")]
)
def test_what_says_why_a_process_died_stands_for_its_crash(
    tmp_path: Path, last_line: str, told: str
) -> None:
    """A death is told once, under the cause that the console names."""
    rules = open_rules(write_unhealthy_console(tmp_path / "train.log"), last_line)
    assert {"non-finite", "crashed", "disk-full"}.intersection(rules) == {told}


def test_what_is_judged_at_the_end_of_a_run_is_not_said_to_begin_there(tmp_path: Path) -> None:
    """A reward that gained nothing in a whole run did not stop to gain at its last update."""
    rewards = [20 + (7 * i) % 5 for i in range(80)]
    rows = [f"Episode {i} | Reward: {reward}" for i, reward in enumerate(rewards)]
    (tmp_path / "train.log").write_text("\n".join([*rows, "Training complete!"]) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    (opened,) = make_run_view(run).open_findings
    assert opened.finding.rule == "reward-never-moves"
    assert opened.dated_title == "No gain in reward at episode 79"
    assert opened.cost == "the last episode"


def test_a_learning_rate_that_was_cut_is_not_told_twice(tmp_path: Path) -> None:
    """That it fell to zero at once says that it is zero."""
    rows = [f"{i},{20 + i},{3e-4 if i < 30 else 0.0},{0.01 + i / 1e4}" for i in range(40)]
    text = "\n".join(["step,ep_rew_mean,learning_rate,approx_kl", *rows])
    (tmp_path / "progress.csv").write_text(text + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    assert {"learning-rate-cut", "learning-rate-zero"} <= {each.rule for each in run.findings}
    told = [opened.finding.rule for opened in make_run_view(run).open_findings]
    assert "learning-rate-cut" in told and "learning-rate-zero" not in told
