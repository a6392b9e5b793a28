"""How a rule is specified: examples of drawn runs, and what the rule says of each.

A class of tests for each rule stands in `tests/rules/book/`, in a file for each one of
`ppo_top/rules/book/`. Their examples are a `RuleCase` (sick and nearly sick), a `Contrast` for each
condition that the assessment depends on, a `Boundary` for each threshold, and a `Clearing` for each
at which a finding is over.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

import pytest

from ppo_top.model import ConfigValue, Mark, Profile, Row, Sample, Severity
from ppo_top.rules.book import BY_ID
from ppo_top.rules.judge import Judge
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    SB3_TAGS,
    TRAINER_BY_FAMILY,
    DrawnColumns,
    draw_rows,
    findings,
    rules_found,
)

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT

UPDATE_MEANS = Sample("update")
"""Rewards that are means of what an update collected."""


class Example(Protocol):
    """A run and what a rule says of it; its text names it among the rule's examples."""

    def check(self, rule: str) -> None:
        """Fail if the rule says anything else."""


class RuleTests:
    """The tests of a rule. Its classes are found by their names, as others are."""

    rule: ClassVar[str]
    examples: ClassVar[tuple[Example, ...]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """A test for each example."""
        metafunc.parametrize("example", self.examples, ids=str)

    def test_says_so(self, example: Example) -> None:
        """The rule says of the example what stands beside it."""
        example.check(self.rule)


@dataclass(frozen=True)
class RuleCase:
    """What is put in place of healthy columns: `sick` makes the rule speak, `near` does not.

    `min_severity` is the severity that a sick run reaches at least, `sick_row_options` how its rows
    are stamped.
    """

    sick: DrawnColumns
    near: DrawnColumns
    min_severity: Severity = WARN
    family: str = "on-policy"
    trainer: str = ""
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    sick_row_options: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return "sick, and nearly so"

    @property
    def profile(self) -> Profile:
        """What is known of the run."""
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        samples = {"reward_mean": UPDATE_MEANS}
        return Profile(trainer, self.family, self.config, samples=samples, tags=SB3_TAGS)

    def rows(self, columns: DrawnColumns, **options: float) -> list[Row]:
        """A healthy run with other columns in it."""
        return draw_rows({**HEALTHY_COLUMNS[self.family], **columns}, self.count, **options)  # type: ignore[arg-type]

    def check(self, rule: str) -> None:
        """The sick run makes the rule speak, as severely as it should; the other one does not."""
        found = findings(self.profile, self.rows(self.sick, **self.sick_row_options))
        mine = [finding for finding in found if finding.rule == rule]
        assert mine, f"spoke: {rules_found(found, INFO)}"
        worst, first = max(finding.severity for finding in mine), mine[0]
        assert worst >= self.min_severity
        if self._is_unconfirmed(rule):
            assert worst <= WATCH, "what no guide, report or run confirms is only remarked on"
        assert first.message and first.causes and first.source
        assert first.since.row <= first.opened.row
        if self.min_severity >= WARN:
            assert len(first.remedies) >= 2, "a fault has two things to try"
        near = findings(self.profile, self.rows(self.near))
        assert rule not in rules_found(near, min(self.min_severity, WATCH))

    def _is_unconfirmed(self, rule: str) -> bool:
        """Whether the thresholds rest on no guide, no report and no run."""
        return BY_ID[rule].grade_by_family.get(self.family, BY_ID[rule].grade) == "D"


@dataclass(frozen=True)
class RowLog:
    """What is known of a log beside its metrics: what a row is, when and at which step it came.

    `seconds` is the time since the row before, `ended` whether the end of the run is told,
    `restarts_at` the row at which it is resumed. `left_open` looks only at what is open at last.
    """

    sample: Sample = UPDATE_MEANS
    seconds: Callable[[int], float] = lambda row: 2.0
    step: Callable[[int], int] = lambda row: 1000 * (row + 1)
    ended: bool = False
    restarts_at: int | None = None
    left_open: bool = False

    def severity(self, rule: str, about: Profile, columns: DrawnColumns, count: int) -> int:
        """The worst severity of a rule in so many rows; 0 if it does not speak."""
        judge, time = Judge(about._replace(samples={"reward_mean": self.sample})), 1e9
        for row in draw_rows(columns, count):
            number = row.mark.row
            time += self.seconds(number)
            if number == self.restarts_at:
                judge.restart()
            judge.add_row(Row(Mark(number, self.step(number), time), row.values))
        if self.ended:
            judge.end_run()
        found = [each for each in judge.findings if each.rule == rule]
        still = [each for each in found if each.cleared is None or not self.left_open]
        return max((each.severity for each in still), default=0)


ENDED = RowLog(ended=True)
"""The run is over after its rows, and known to be."""

AT_LAST = RowLog(left_open=True)
"""What is open when the log ends."""


@dataclass(frozen=True)
class Contrast:
    """A course, what is replaced in the other one, and what the rule says of each (0: nothing).

    `says` completes "the rule depends on whether ...".
    """

    says: str
    course: DrawnColumns
    differs: DrawnColumns = field(default_factory=dict)
    level: Severity | int = WARN
    otherwise: Severity | int = 0
    family: str = "on-policy"
    trainer: str = ""
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    differs_config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    otherwise_count: int | None = None
    otherwise_trainer: str = ""
    goal: float | None = None
    otherwise_goal: float | None = None
    log: RowLog = RowLog()
    otherwise_log: RowLog | None = None

    def __str__(self) -> str:
        return self.says

    def __post_init__(self) -> None:
        if self.level == self.otherwise:
            raise ValueError(f"a contrast of which both are judged alike shows nothing: {self}")

    def check(self, rule: str) -> None:
        """The course is judged as written, and otherwise where just that differs."""
        assert self._reached(rule, differs=False) == self.level
        assert self._reached(rule, differs=True) == self.otherwise

    def _reached(self, rule: str, *, differs: bool) -> Severity | int:
        """The worst severity of the rule in one of the courses; 0: it does not speak."""
        columns = {**HEALTHY_COLUMNS[self.family], **self.course}
        config, count, goal, log = dict(self.config), self.count, self.goal, self.log
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        if differs:
            columns.update(self.differs)
            config.update(self.differs_config)
            trainer = self.otherwise_trainer or trainer
            count = self.otherwise_count or count
            goal, log = self.otherwise_goal or goal, self.otherwise_log or log
        about = Profile(trainer, self.family, config, goal=goal, tags=SB3_TAGS)
        return log.severity(rule, about, columns, count)


def table(name: str) -> Iterator[list[str]]:
    """The fields of the lines of a table beside this file."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


LIMITS = {(rule, scope, name): value for rule, scope, name, value in table("limits.tsv")}
"""The thresholds as they are written down beside the tests: (rule, scope, name) -> value."""

NEAR = 0.03
"""How far from a threshold is tried, as a share of it."""

ColumnsAt = Callable[[float], DrawnColumns]
"""The columns of a run in which the metric that is tried is at a value."""


@dataclass(frozen=True)
class Boundary:
    """A run in which a metric is at `x`: beyond the threshold the rule reaches `level`.

    `side` is 1 where larger values are worse. `step` is not a share of the threshold but a
    distance, for counts and thresholds near 0. `total` is the length of the run in steps, where
    what is tried is the share completed.
    """

    limit: str
    columns: ColumnsAt
    level: Severity = WARN
    side: int = 1
    family: str = "on-policy"
    scope: str = "all"
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    step: float = 0.0
    trainer: str = ""
    total: Callable[[float], float] | None = None

    def __str__(self) -> str:
        return f"{self.limit}-{self.scope}-{self.level.word}"

    def check(self, rule: str) -> None:
        """A few per cent on one side it reaches the level, as many on the other it does not."""
        assert self._reached(rule, self.side) >= self.level
        assert self._reached(rule, -self.side) < self.level

    def _reached(self, rule: str, side: int) -> Severity | int:
        """The worst severity of the rule with the metric on one side of the threshold."""
        threshold = float(LIMITS[rule, self.scope, self.limit])
        x = threshold + side * (self.step or NEAR * abs(threshold))
        columns = {**HEALTHY_COLUMNS[self.family], **self.columns(x)}
        length = "max_steps" if self.family == "preference" else "total_timesteps"
        config = {**self.config, **({length: self.total(x)} if self.total else {})}
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        about = Profile(trainer, self.family, config, samples={"reward_mean": UPDATE_MEANS})
        found = findings(about, draw_rows(columns, self.count))
        return max((f.severity for f in found if f.rule == rule), default=0)


@dataclass(frozen=True)
class Clearing:
    """A run in which a metric is bad and then at `x`: its finding is over on one side of `limit`.

    On `side` it is still open: between that threshold and the one that raises it nothing changes.
    """

    limit: str
    columns: ColumnsAt
    side: int = 1
    family: str = "on-policy"
    scope: str = "all"
    count: int = 70

    def __str__(self) -> str:
        return f"open up to {self.limit}-{self.scope}"

    def check(self, rule: str) -> None:
        """A few per cent on one side it is open at last, as many on the other it has cleared."""
        assert self._left_open(rule, self.side)
        assert not self._left_open(rule, -self.side)

    def _left_open(self, rule: str, side: int) -> bool:
        """Whether a finding of the rule opened, and is open when the log ends."""
        columns = self.columns(float(LIMITS[rule, self.scope, self.limit]) * (1.0 + side * NEAR))
        about = Profile(TRAINER_BY_FAMILY[self.family], self.family, tags=SB3_TAGS)
        row_log, columns = RowLog(), {**HEALTHY_COLUMNS[self.family], **columns}
        assert row_log.severity(rule, about, columns, self.count)
        return bool(AT_LAST.severity(rule, about, columns, self.count))


def specified_rules() -> dict[str, tuple[Example, ...]]:
    """The examples of every rule that has a class of tests."""
    for path in sorted(Path(__file__).parent.glob("book/*/test_*.py")):
        importlib.import_module(f"tests.rules.book.{path.parent.name}.{path.stem}")
    return {each.rule: each.examples for each in RuleTests.__subclasses__()}


def rule_cases() -> dict[str, RuleCase]:
    """The sick and nearly sick run of each rule that columns of numbers can make speak."""
    return {
        rule: example
        for rule, examples in specified_rules().items()
        for example in examples
        if isinstance(example, RuleCase)
    }
