"""What `check` and `status` print of a run, made of plain texts: nothing here judges.

So a run that was judged before can be reported without loading parsers and rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ppo_top import __version__
from ppo_top.model import (
    Axis,
    RunRank,
    State,
    Status,
    Verdict,
    worst_first,
)
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.plain import from_plain
from ppo_top.views.restart import CheckpointSearch
from ppo_top.views.run_facts import RunFacts
from ppo_top.views.siblings import SiblingFacts

SCHEMA_VERSION = 1
"""Incremented when a field changes its meaning or is removed, not when one is added."""

JSON_PART, TEXT_PART, SKIPPED_PART, FACTS_PART = "json", "text", "skipped", "facts"
"""The texts of a report."""


class RunIdentity(NamedTuple):
    """What a report says of a run that depends on other runs or on the time of day."""

    name: str
    path: str
    state: State
    state_text: str
    copy_of: str = ""
    last_change: float = 0.0
    """When its logs last grew, in unix seconds."""


class RunSummary(NamedTuple):
    """A run in a few words.

    `words` is the verdict with a reservation where much is not logged, `severity` that of its worst
    open finding (0: none is open), `title` what the worst one shown is called.

    `finding` is the worst one that is more than information, `since` its first step, `when` that
    and how long it has lasted, `message` what it says, `cause` its likeliest cause, `remedy` what
    to try first; `others` is how many more there are.
    """

    verdict: Verdict
    words: str
    severity: int
    producer: str
    trainer: str
    family: str
    step: int | None
    total: int | None
    rows: str
    eta_s: float | None
    title: str
    reward: str
    since: str
    finding: str
    when: str
    message: str
    cause: str
    remedy: str
    others: int
    axis: Axis = Axis.STEP
    """What `step` and `since` are: `update` where they are only counted."""
    checkpoints: CheckpointSearch | None = None
    """Where its checkpoints may be, if their names say from when they are."""
    sibling: SiblingFacts | None = None
    """By what it is compared with its siblings."""
    outside: str = ""
    """Which values are out of their range, where there is no finding that says more."""


class RunReport(NamedTuple):
    """The report on a run: `json` and `text` are what follows on identity and head lines.

    `skipped` are lines on the rules that did not check it, `facts_text` holds its facts. `remarks`,
    `additions` (to its JSON) and `below_siblings` (in a few words) stand beside its own verdict:
    they depend on the disk and on other runs.
    """

    identity: RunIdentity
    summary: RunSummary
    json: str = ""
    text: str = ""
    skipped: str = ""
    facts_text: str = ""
    remarks: Sequence[str] = ()
    additions: Mapping[str, Any] = {}
    below_siblings: str = ""

    @classmethod
    def from_texts(
        cls, identity: RunIdentity, summary: RunSummary, texts: Mapping[str, str]
    ) -> RunReport:
        """The report with these texts, by part; those that are missing stay empty."""
        return cls(
            identity,
            summary,
            json=texts.get(JSON_PART, ""),
            text=texts.get(TEXT_PART, ""),
            skipped=texts.get(SKIPPED_PART, ""),
            facts_text=texts.get(FACTS_PART, ""),
        )

    @property
    def facts(self) -> RunFacts:
        """What programs ask of it first."""
        return from_plain(RunFacts, json.loads(self.facts_text))

    @property
    def mark(self) -> Status:
        """The mark of the run, also where it is stalled."""
        return self.summary.verdict.mark(self.identity.state, watches=bool(self.summary.outside))

    @property
    def finding(self) -> str:
        """What a row of a table says of it: its worst finding, or what stands for one."""
        return self.summary.finding or self.below_siblings or self.summary.outside

    @property
    def rank(self) -> RunRank:
        """Sort key: the worst first."""
        run, watches = self.identity, bool(self.summary.outside)
        return worst_first(
            self.summary.verdict, run.state, run.last_change, run.name, watches=watches
        )

    @property
    def is_notable(self) -> bool:
        """Whether it is described among others: it is in trouble, or far below its siblings."""
        return self.summary.verdict.is_trouble or bool(self.below_siblings)


def report_json(
    runs: Iterable[RunReport],
    problems: Sequence[str] = (),
    unopened_folders: int = 0,
    unread: Sequence[str] = (),
) -> str:
    """The object for several runs, what could not be read, and how many folders were left out."""
    first: dict[str, Any] = {"schema": SCHEMA_VERSION, "version": __version__}
    left_out = {
        "problems": list(problems),
        "unread": list(unread),
        "unopened_folders": unopened_folders,
    }
    head = json.dumps(first | left_out)[:-1]
    return f'{head}, "runs": [{", ".join(map(_run_json, runs))}]}}'


def _run_json(report: RunReport) -> str:
    identity, summary = report.identity, report.summary
    first = {
        "name": identity.name,
        "path": identity.path,
        "producer": summary.producer,
        "family": summary.family,
        "state": identity.state.value,
        "state_text": identity.state_text,
        "copy_of": identity.copy_of or None,
        **report.additions,
    }
    return f"{json.dumps(first)[:-1]}, {report.json[1:]}"
