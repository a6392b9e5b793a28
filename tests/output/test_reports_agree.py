"""A report agrees with itself: verdict, findings, their dates, causes, advice and the checklist.

Read as its reader does, on the demo logs and on each twenty-fifth run of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from corpus.table import CORPUS_RUNS
from ppo_top.catalogue import concept
from ppo_top.catalogue.causes import known_causes
from ppo_top.model import Finding, Severity, Status
from ppo_top.views.run_view import CheckRow, RunView, make_run_view
from tests.support.growing_logs import demo_runs
from tests.support.screens import read_session

EACH = 25
NUMBER = r"(-?[\d.,]+(?:e-?\d+)?)( %)?"


@cache
def views() -> tuple[RunView, ...]:
    """The newest moment of each run."""
    packed = sorted(path.parent for path in CORPUS_RUNS.glob("*/meta.json"))
    read = (read_session([path]) for path in (*demo_runs(), *packed[::EACH]))
    return tuple(make_run_view(run) for session in read for run in session.runs.values())


def open_findings() -> Iterator[tuple[str, list[Finding]]]:
    """Of each run."""
    for view in views():
        yield view.name, [each.finding for each in view.open_findings]


def test_there_is_something_to_read() -> None:
    """Healthy runs and sick ones, with several findings at once."""
    verdicts = {view.verdict for view in views()}
    assert {"healthy", "warn", "crit"} <= verdicts
    assert sum(len(found) > 1 for _, found in open_findings()) > 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("reward-never-moves", "reward-crash"),
        ("still-improving", "reward-crash"),
        ("entropy-collapsed", "entropy-not-falling"),
        ("no-op-updates", "kl-high"),
    ],
)
def test_what_excludes_each_other_is_not_said_at_once(one: str, other: str) -> None:
    """Nothing was gained, or it was lost."""
    both = {one, other}
    assert [name for name, found in open_findings() if both <= {each.rule for each in found}] == []


def test_a_finding_does_not_hold_before_its_first_sign_nor_after_it_opened() -> None:
    """First sign, since, opened, cleared: in this order."""
    wrong = []
    for name, found in open_findings():
        for each in found:
            rows = [each.first_sign.row, each.since.row, each.opened.row]
            if rows != sorted(rows):
                wrong.append((name, each.rule, rows))
    assert wrong == []


ABOUT_WHAT_IS_NOT_LOGGED = {"not-training", "slow"}
"""No loss is logged; the speed is measured."""


def test_a_finding_is_about_metrics_of_the_log() -> None:
    """It names none that the trainer does not log, and so marks a row that is there."""
    wrong, seen = [], 0
    for view in views():
        for finding in (*(each.finding for each in view.open_findings), *view.cleared_findings):
            if finding.rule in ABOUT_WHAT_IS_NOT_LOGGED:
                continue
            missing = set(finding.concepts) - set(view.timeline.tracks)
            seen += bool(finding.concepts)
            if missing - {"clip_range", "lr"}:  # a setting may be to blame that is not logged
                wrong.append((view.name, finding.rule, missing))
    assert seen > 100
    assert wrong == []


def test_no_cause_stands_beside_its_opposite() -> None:
    """Steps are too large or too small, exploration is too much or too little."""
    causes, wrong = known_causes(), []
    for name, found in open_findings():
        said = {causes.by_sentence.get(text) for each in found for text in each.causes}
        wrong += [(name, pair) for pair in causes.opposites if set(pair) <= said]
    assert wrong == []


def test_no_option_is_both_raised_and_lowered() -> None:
    """By the option's name, as it stands in the advice."""
    wrong = []
    for name, found in open_findings():
        advice = "\n".join(text for each in found for text in each.remedies)
        ways = [
            set(re.findall(rf"^{word} (?:the [^:]+: )?(\w+)", advice, re.M))
            for word in ("raise", "lower")
        ]
        wrong += [(name, option) for option in ways[0] & ways[1]]
    assert wrong == []


def test_no_advice_is_given_twice_by_one_finding() -> None:
    """Nor the beginning of another one."""
    wrong = []
    for name, found in open_findings():
        for each in found:
            pairs = combinations(sorted(each.remedies), 2)
            wrong += [(name, each.rule, a) for a, b in pairs if b.startswith(a)]
    assert wrong == []


def is_inside(row: CheckRow) -> bool:
    """Whether a value is in the range in words, as far as that gives numbers."""

    def number(digits: str, percent: str) -> float:
        return float(digits.replace(",", "")) / (100.0 if percent else 1.0)

    assert row.value is not None
    if between := re.match(rf"{NUMBER}(?: to |-){NUMBER}", row.healthy):
        low, high = number(*between.groups()[:2]), number(*between.groups()[2:])
        return low <= row.value <= high
    if bound := re.match(rf"(<=|>=) {NUMBER}", row.healthy):
        limit = number(*bound.groups()[1:])
        return row.value <= limit if bound[1] == "<=" else row.value >= limit
    return "> 0" not in row.healthy or row.concept == "entropy" or row.value > 0.0


def test_a_bare_tick_stands_beside_a_value_in_its_range() -> None:
    """What is outside is marked, or a note says why that is no matter."""
    wrong, seen = [], 0
    for view in views():
        for row in view.checklist:
            if row.status is Status.OK and row.value is not None and not row.note:
                seen += bool(re.search(r"\d", row.healthy))
                if not is_inside(row):
                    wrong.append((view.name, row.concept, row.value, row.healthy))
    assert seen > 200
    assert wrong == []


def test_evidence_calls_a_metric_as_the_checklist_does() -> None:
    """`KL to reference` is not `KL to ref / token` a few lines above.

    The reward is called that, also where the checklist has the trainer's `score`.
    """
    other_names = 0
    for view in views():
        findings = [*(each.finding for each in view.open_findings), *view.cleared_findings]
        said = [line for each in findings for line in each.evidence]
        for row in view.checklist:
            usual = concept(row.concept).label
            if row.label != usual and row.concept != "reward_mean":
                assert [line for line in said if line.startswith(f"{usual} ")] == [], view.name
                other_names += any(line.startswith(f"{row.label} ") for line in said)
    assert other_names


def test_a_verdict_is_that_of_its_worst_open_finding() -> None:
    """What is only told, without blame, does not make it worse than healthy."""
    for view in views():
        worst = max((each.severity for each in view.open_findings), default=Severity.INFO)
        if worst > Severity.INFO:
            assert view.verdict == worst.name.lower()
        else:
            assert view.verdict in ("healthy", "info", "unjudged", "warming-up")
