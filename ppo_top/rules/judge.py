"""The judge of a run: rows go in one by one, findings come out.

Findings depend on the profile and on the rows (and notes and restarts) alone, in their order: how
they were grouped on the way, and whether the run is watched live or replayed, makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ppo_top.model import Change, Finding, Mark, Profile, Row, Severity
from ppo_top.rules import book
from ppo_top.rules.advice import fill
from ppo_top.rules.console_text import LAST_ERROR
from ppo_top.rules.coverage import Skipped, Warming, points, skipped, warming
from ppo_top.rules.custom import rule_of
from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.persistence import Latch
from ppo_top.rules.engine.rule import Limits, Reading, Rule
from ppo_top.rules.engine.terms import CRIT, WATCH
from ppo_top.rules.evidence import gather, own_evidence
from ppo_top.settings.custom_rule import OwnRule
from ppo_top.support import internal_errors as mishap

NOTE_FADES = 20
"""A finding that rests on console text alone clears after so many rows without more of it."""

SURVIVED = {"crashed": 2, "out-of-memory": 2}
"""A run that logs on for so many rows has survived what the console said."""

MOST_NOTES = 5
"""Lines of console text that a finding keeps as evidence."""

NAMING = ("non-finite:crit", "out-of-memory:crit")
"""Kinds of lines that end a traceback and have a rule of their own."""

PLANS = 64
"""How many sets of concepts a run's rows are expected to come in."""


class Judge:
    """Feeds rows to the rules that apply to a run and keeps what they found.

    `findings` holds all that ever opened, in that order, updated in place as they grow more severe,
    gain evidence or clear.
    """

    def __init__(self, profile: Profile, own: Iterable[OwnRule] = ()) -> None:
        self.profile = profile
        self.findings: list[Finding] = []
        self._known = (*book.RULES, *(rule_of(entry, profile) for entry in own))
        rules = [rule for rule in self._known if _applies(rule, profile)]
        self._rules: tuple[tuple[Rule, Limits], ...] = tuple(
            (rule, rule.resolved(profile)) for rule in rules
        )
        self._places = {rule.id: place for place, rule in enumerate(rules)}
        self._combining = tuple(p for p, rule in enumerate(rules) if rule.members)
        self._last = tuple(p for p in self._combining if not rules[p].on)
        self._caps = [rule.cap(profile) for rule in rules]
        self._milder = [int(limits.get("milder", 0)) for _, limits in self._rules]
        self._plans: dict[tuple[str, ...], tuple[tuple[int, str], ...]] = {}
        self._steps = [rule.steps(limits) for rule, limits in self._rules]
        self._latches = [Latch(steps) for steps in self._steps]
        self._noted: dict[str, tuple[int, ...]] = {}
        self._run = Run(profile)
        self._restarting = False
        self._broken: dict[str, str] = {}

    def copy(self) -> Judge:
        """An independent copy, cheap enough to be made for every incomplete row."""
        other = Judge.__new__(Judge)
        other.__dict__.update(self.__dict__)
        other._run = self._run.copy()
        other._latches = [latch.copy() for latch in self._latches]
        other._noted = self._noted.copy()
        other.findings = [_copied(finding) for finding in self.findings]
        return other

    def restart(self) -> None:
        """The next row begins a new segment: the run was resumed from an earlier state."""
        self._restarting = True

    def feed(self, row: Row) -> None:
        """Judge one complete update; rows come in the order of the run's timeline."""
        if self._restarting:
            self._begin_again(row.mark)
        run = self._run
        run.take(row)
        number, histories = row.mark.row, run.histories
        before = len(self.findings)
        for place, concept in self._plan(row.values):
            if concept:
                history = histories.get(concept)
                if history is None or history.row != number:
                    continue
                if history.count <= self._rules[place][1].get("warmup", 0):
                    continue
            self._look(place)
        if run.open:
            for place in self._last:
                self._look(place)
        if self._noted:
            self._fade_notes()
        if len(self.findings) != before:
            self._gather_members()

    def note(self, kind: str, text: str, mark: Mark) -> None:
        """Take in a line of console text that is evidence; `kind` is `TextEvidence.kind`."""
        if kind == LAST_ERROR:
            self._name_error(text)
            return
        if kind in NAMING:
            self._name_error(text)
        rule_id, _, word = kind.partition(":")
        place = self._places.get(rule_id)
        if place is None:
            return
        severity = Severity[word.upper()] if word else CRIT
        rows = (*self._noted.get(rule_id, ()), mark.row)[-MOST_NOTES:]
        self._noted[rule_id] = rows
        if rule_id == "ratio-off" and len(rows) >= 3 and mark.row - rows[-3] <= 10:
            severity = CRIT
        self._tell(place, Reading(severity, math.nan, None, text), severity, mark)
        index = self._latches[place].index
        if index is not None:
            finding = self.findings[index]
            lines = [line for line in finding.evidence if line != text]
            finding.evidence = (*lines, text)[-2 * MOST_NOTES :]
            finding.tell(mark.row)

    def _name_error(self, text: str) -> None:
        """The line that ends a traceback says more than its beginning."""
        place = self._places.get("crashed")
        index = self._latches[place].index if place is not None else None
        if index is not None:
            finding = self.findings[index]
            finding.message = text
            finding.evidence = (*finding.evidence, text)[-2 * MOST_NOTES :]
            finding.tell(self._run.mark.row)

    def skipped(self) -> list[Skipped]:
        """Rules that do not look at this run so far, and why."""
        return skipped(self._known, self._run, self._noted, self._broken)

    def warming(self) -> list[Warming]:
        """Rules that have seen a part of the points that they need before they speak."""
        return warming(self._rules, self._run)

    def _plan(self, values: Mapping[str, float]) -> tuple[tuple[int, str], ...]:
        """Which rules look at a row that holds these concepts, each with the one it looks at."""
        key = tuple(values)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = tuple(
                (place, next((c for c in rule.on if c in values), ""))
                for place, (rule, _) in enumerate(self._rules)
                if any(c in values for c in rule.on) or not (rule.on or rule.members)
            )
            if len(self._plans) > PLANS:
                del self._plans[next(iter(self._plans))]
        return plan

    def _look(self, place: int) -> None:
        rule, limits = self._rules[place]
        if rule.id in self._broken:
            return
        try:
            reading = rule.read(self._run, limits)
        except Exception as error:  # noqa: BLE001 (a defect of a rule ends that rule only)
            self._broken[rule.id] = mishap.note(f"the rule {rule.id}", error)
            return
        latch = self._latches[place]
        if reading is None and latch.index is None and not latch.recent:
            return
        severity = latch.see(reading, self._run.mark)
        if severity and reading is not None:
            self._tell(place, reading, Severity(severity), self._run.mark)
        elif latch.index is None or rule.id in self._noted:
            return
        elif latch.has_cleared(int(limits.get("clear_after", 3))):
            self._clear(place, self._run.mark)

    def _tell(self, place: int, reading: Reading, severity: Severity, mark: Mark) -> None:
        """Open a finding, or raise the one that is open.

        Diagnoses go by what the rule says; what is shown of it is capped by how well it is founded.
        """
        rule, latch = self._rules[place][0], self._latches[place]
        severity = Severity(max(Severity.INFO, severity - self._milder[place]))
        shown = min(severity, self._caps[place])
        if latch.index is None and latch.tired and shown <= WATCH:
            return  # three remarks about a value that wobbles are enough
        self._run.told[rule.id] = max(severity, self._run.open.get(rule.id, 0))
        self._run.open[rule.id] = Severity(self._run.told[rule.id])
        if latch.index is None:
            self._run.opened[rule.id] = mark.row
            latch.open(len(self.findings), self._run.updates)
            since = latch.since(mark)
            self.findings.append(self._finding(rule, reading, shown, since, mark))
            self.findings[-1].tell(mark.row)
        elif shown > self.findings[latch.index].severity:
            finding = self.findings[latch.index]
            finding.changes.append(Change(mark, shown))
            finding.value, finding.limit = reading.value, reading.limit
            finding.message = reading.message
            finding.evidence = own_evidence(rule, reading, self._run)
            finding.members = ()
            finding.tell(mark.row)
            self._gather_members()

    def _finding(
        self, rule: Rule, reading: Reading, severity: Severity, since: Mark, mark: Mark
    ) -> Finding:
        return Finding(
            rule=rule.id,
            title=rule.title,
            concepts=rule.concepts,
            since=since,
            changes=[Change(mark, severity)],
            value=reading.value,
            limit=reading.limit,
            message=reading.message,
            evidence=own_evidence(rule, reading, self._run),
            causes=rule.causes,
            tries=fill(rule.tries, self._run),
            source=rule.source,
        )

    def _clear(self, place: int, mark: Mark) -> None:
        rule, latch = self._rules[place][0], self._latches[place]
        if latch.index is not None:
            self.findings[latch.index].cleared = mark
        latch.close()
        self._run.open.pop(rule.id, None)
        self._run.closed[rule.id] = mark.row

    def _gather_members(self) -> None:
        """Put the findings that a diagnosis explains into its evidence, in the order they began."""
        for place in self._combining:
            index = self._latches[place].index
            if index is not None:
                gather(self.findings, self.findings[index], self._rules[place][0].members)
                self.findings[index].tell(self._run.mark.row)

    def _fade_notes(self) -> None:
        mark = self._run.mark
        for rule_id, rows in list(self._noted.items()):
            place = self._places[rule_id]
            index = self._latches[place].index
            if mark.row - rows[-1] > SURVIVED.get(rule_id, NOTE_FADES):
                del self._noted[rule_id]
                if index is not None and not points(self._rules[place][0], self._run):
                    self._clear(place, mark)

    def _begin_again(self, mark: Mark) -> None:
        self._restarting = False
        for place, latch in enumerate(self._latches):
            if latch.index is not None:
                self._clear(place, mark)
            self._latches[place] = Latch(self._steps[place])
        self._noted.clear()
        self._run.restart()
        self._run.segment += 1


def _applies(rule: Rule, profile: Profile) -> bool:
    return profile.family in rule.families and rule.id not in profile.muted


def _copied(finding: Finding) -> Finding:
    """A finding that may be changed without changing the original; one that is over never is."""
    if finding.cleared is not None:
        return finding
    return replace(finding, changes=finding.changes.copy(), told=finding.told.copy())
