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


def open_rules(log: Path, last_line: str) -> list[str]:
    """The rules whose open findings are told of a console that ends with an exception."""
    with log.open("a") as console:
        console.write(f'Traceback (most recent call last):\n  File "t.py", line 1\n{last_line}\n')
    (run,) = read_session([log]).runs.values()
    view = make_run_view(run, None, run_status(run, 0.0))
    return [opened.finding.rule for opened in view.open_findings]


@pytest.mark.parametrize(("last_line", "told"), [(NAN, "non-finite"), (KEY, "crashed")])
def test_what_says_why_a_process_died_stands_for_its_crash(
    tmp_path: Path, last_line: str, told: str
) -> None:
    """One line of the console is told once, under the cause that it names."""
    rules = open_rules(write_unhealthy_console(tmp_path / "train.log"), last_line)
    assert {"non-finite", "crashed"}.intersection(rules) == {told}
