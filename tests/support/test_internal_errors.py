"""Our own bugs: one thing fails, that is shown, and what a bug report needs is logged."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ppo_top.model import Mark, Profile, Row
from ppo_top.rules import book
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.judge import Judge
from ppo_top.support import internal_errors


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session in which nothing has failed yet."""
    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])


def defect(words: str = "boom") -> Exception:
    """An error with a traceback."""
    try:
        raise RuntimeError(words)
    except RuntimeError as error:
        return error


def test_a_defect_is_written_down_once(tmp_path: Path) -> None:
    """Version, message and traceback are in the state directory, once."""
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    for _ in range(3):
        words = internal_errors.report_internal_error("parser", defect(), environ)
        assert words.startswith("parser failed: RuntimeError('boom')")
        assert words.endswith(f"(see {tmp_path / 'ppo-top' / internal_errors.ERROR_LOG_NAME})")
    text = (tmp_path / "ppo-top" / internal_errors.ERROR_LOG_NAME).read_text()
    assert text.count("Traceback") == 1
    assert "test_internal_errors.py" in text and "ppo-top " in text


def test_nothing_is_written_below_a_watched_path(tmp_path: Path) -> None:
    """As when the whole home directory is watched."""
    internal_errors.forbid_writes_below([tmp_path])
    words = internal_errors.report_internal_error(
        "parser", defect(), {"XDG_STATE_HOME": str(tmp_path / "state")}
    )
    assert words == "parser failed: RuntimeError('boom')"
    assert list(tmp_path.iterdir()) == []


def test_nowhere_to_write_is_no_second_defect(tmp_path: Path) -> None:
    """The message is shown all the same."""
    (tmp_path / "file").touch()
    words = internal_errors.report_internal_error(
        "parser", defect(), {"XDG_STATE_HOME": str(tmp_path / "file")}
    )
    assert words == "parser failed: RuntimeError('boom')"


def test_the_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long log is overwritten; a session logs a limited number."""
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    monkeypatch.setattr(internal_errors, "MAX_ERROR_LOG_BYTES", 2_000)
    for number in range(2 * internal_errors.MAX_ERROR_REPORTS):
        internal_errors.report_internal_error(f"reader {number}", defect("x" * 500), environ)
    path = tmp_path / "ppo-top" / internal_errors.ERROR_LOG_NAME
    assert path.stat().st_size < 6_000
    assert len(internal_errors._reported) == internal_errors.MAX_ERROR_REPORTS


def test_a_rule_that_fails_ends_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other rules go on judging, and the report explains why this one does not."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def read(*_: object) -> None:
        raise ZeroDivisionError("a defect in a rule")

    broken = Rule("broken", "Broken", "", ("approx_kl",), read)

    monkeypatch.setattr(book, "RULES", (broken, *book.RULES))
    judge = Judge(Profile(trainer_id="sb3", family="on-policy"))
    for row in range(5):
        judge.add_row(Row(Mark(row, row, float(row)), {"approx_kl": 0.01, "value_loss": math.nan}))
    assert judge.findings
    (why,) = [each.reason for each in judge.skipped_rules() if each.rule == "broken"]
    assert why.startswith("the rule broken failed: ZeroDivisionError")
    assert (
        "a defect in a rule" in (tmp_path / "ppo-top" / internal_errors.ERROR_LOG_NAME).read_text()
    )


def test_a_cause_that_cannot_be_found_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding is reported with what its rule says."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def explain(*_: object) -> None:
        raise ZeroDivisionError("a defect in a fact")

    monkeypatch.setattr("ppo_top.rules.run_findings.explain_cause", explain)
    judge = Judge(Profile(trainer_id="sb3", family="on-policy"))
    for row in range(8):
        judge.add_row(Row(Mark(row, row, float(row)), {"approx_kl": 2.0, "clip_fraction": 0.9}))
    finding = next(finding for finding in judge.findings if finding.rule == "kl-high")
    rule = next(rule for rule in book.RULES if rule.id == "kl-high")
    assert rule.causes
    assert finding.causes == rule.causes
    assert not finding.remedies
