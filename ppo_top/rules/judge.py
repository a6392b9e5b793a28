"""The judge of a run: rows go in one by one, findings come out.

Findings depend on the profile and on the rows (and notes and restarts) alone, in their order: how
they were grouped on the way, and whether the run is watched live or replayed, makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ppo_top.model import Finding, Mark, Profile, Row, Severity, SeverityChange
from ppo_top.rules import book
from ppo_top.rules.advice import fill_advice
from ppo_top.rules.console_text import LAST_ERROR
from ppo_top.rules.coverage import (
    SkippedRule,
    WarmingRule,
    point_count,
    skipped_rules,
    warming_rules,
)
from ppo_top.rules.custom import build_custom_rule
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.persistence import Persistence
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits
from ppo_top.rules.engine.terms import CRIT, WATCH
from ppo_top.rules.evidence import collect_evidence, gather_members
from ppo_top.settings.custom_rule import CustomRule
from ppo_top.support import internal_errors

TEXT_FINDING_ROWS = 20
"""A finding that rests on console text alone clears after so many rows without more of it."""

SURVIVED_AFTER_ROWS = {"crashed": 2, "out-of-memory": 2}
"""A run that logs on for so many rows has survived what the console said."""

MAX_EVIDENCE_LINES = 5
"""Lines of console text that a finding keeps as evidence."""

ERROR_NAMING_KINDS = ("non-finite:crit", "out-of-memory:crit")
"""Kinds of lines that end a traceback and have a rule of their own."""

MAX_ROW_PLANS = 64
"""How many sets of concepts a run's rows are expected to come in."""


class Judge:
    """Feeds rows to the rules that apply to a run and keeps what they found.

    `findings` holds all that ever opened, in that order, updated in place as they grow more severe,
    gain evidence or clear.
    """

    def __init__(self, profile: Profile, custom_rules: Iterable[CustomRule] = ()) -> None:
        self.profile = profile
        self.findings: list[Finding] = []
        self._all_rules = (
            *book.RULES,
            *(build_custom_rule(entry, profile) for entry in custom_rules),
        )
        rules = [rule for rule in self._all_rules if _applies(rule, profile)]
        self._rules: tuple[tuple[Rule, RuleLimits], ...] = tuple(
            (rule, rule.limits_for(profile)) for rule in rules
        )
        self._rule_index = {rule.id: place for place, rule in enumerate(rules)}
        self._diagnoses = tuple(p for p, rule in enumerate(rules) if rule.members)
        self._untriggered_diagnoses = tuple(p for p in self._diagnoses if not rules[p].triggers)
        self._max_severities = [rule.max_severity(profile) for rule in rules]
        self._milder = [int(limits.get("milder", 0)) for _, limits in self._rules]
        self._rules_by_concepts: dict[tuple[str, ...], tuple[tuple[int, str], ...]] = {}
        self._persistence_steps = [rule.persistence_steps(limits) for rule, limits in self._rules]
        self._persistences = [Persistence(steps) for steps in self._persistence_steps]
        self._text_rows: dict[str, tuple[int, ...]] = {}
        self._context = RuleContext(profile)
        self._restarting = False
        self._failed_rules: dict[str, str] = {}

    def copy(self) -> Judge:
        """An independent copy, cheap enough to be made for every incomplete row."""
        other = Judge.__new__(Judge)
        other.__dict__.update(self.__dict__)
        other._context = self._context.copy()
        other._persistences = [latch.copy() for latch in self._persistences]
        other._text_rows = self._text_rows.copy()
        other.findings = [_copied(finding) for finding in self.findings]
        return other

    def restart(self) -> None:
        """The next row begins a new segment: the run was resumed from an earlier state."""
        self._restarting = True

    def add_row(self, row: Row) -> None:
        """Judge one complete update; rows come in the order of the run's timeline."""
        if self._restarting:
            self._start_segment(row.mark)
        run = self._context
        run.add_row(row)
        number, histories = row.mark.row, run.histories
        before = len(self.findings)
        for place, concept in self._rules_for(row.values):
            if concept:
                history = histories.get(concept)
                if history is None or history.last_row != number:
                    continue
                if history.count <= self._rules[place][1].get("warmup", 0):
                    continue
            self._apply_rule(place)
        if run.open_severities:
            for place in self._untriggered_diagnoses:
                self._apply_rule(place)
        if self._text_rows:
            self._clear_old_text_findings()
        if len(self.findings) != before:
            self._gather_members()

    def add_text_evidence(self, kind: str, text: str, mark: Mark) -> None:
        """Take in a line of console text that is evidence; `kind` is `TextEvidence.kind`."""
        if kind == LAST_ERROR:
            self._name_error(text)
            return
        if kind in ERROR_NAMING_KINDS:
            self._name_error(text)
        rule_id, _, word = kind.partition(":")
        place = self._rule_index.get(rule_id)
        if place is None:
            return
        severity = Severity[word.upper()] if word else CRIT
        rows = (*self._text_rows.get(rule_id, ()), mark.row)[-MAX_EVIDENCE_LINES:]
        self._text_rows[rule_id] = rows
        if rule_id == "ratio-off" and len(rows) >= 3 and mark.row - rows[-3] <= 10:
            severity = CRIT
        self._raise_finding(place, Assessment(severity, math.nan, None, text), severity, mark)
        index = self._persistences[place].finding_index
        if index is not None:
            finding = self.findings[index]
            lines = [line for line in finding.evidence if line != text]
            finding.evidence = (*lines, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(mark.row)

    def _name_error(self, text: str) -> None:
        """The line that ends a traceback says more than its beginning."""
        place = self._rule_index.get("crashed")
        index = self._persistences[place].finding_index if place is not None else None
        if index is not None:
            finding = self.findings[index]
            finding.message = text
            finding.evidence = (*finding.evidence, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(self._context.mark.row)

    def skipped_rules(self) -> list[SkippedRule]:
        """Rules that do not look at this run so far, and why."""
        return skipped_rules(self._all_rules, self._context, self._text_rows, self._failed_rules)

    def warming_rules(self) -> list[WarmingRule]:
        """Rules that have seen a part of the points that they need before they speak."""
        return warming_rules(self._rules, self._context)

    def _rules_for(self, values: Mapping[str, float]) -> tuple[tuple[int, str], ...]:
        """Which rules look at a row that holds these concepts, each with the one it looks at."""
        key = tuple(values)
        plan = self._rules_by_concepts.get(key)
        if plan is None:
            plan = self._rules_by_concepts[key] = tuple(
                (place, next((c for c in rule.triggers if c in values), ""))
                for place, (rule, _) in enumerate(self._rules)
                if any(c in values for c in rule.triggers) or not (rule.triggers or rule.members)
            )
            if len(self._rules_by_concepts) > MAX_ROW_PLANS:
                del self._rules_by_concepts[next(iter(self._rules_by_concepts))]
        return plan

    def _apply_rule(self, place: int) -> None:
        rule, limits = self._rules[place]
        if rule.id in self._failed_rules:
            return
        try:
            reading = rule.assess(self._context, limits)
        except Exception as error:  # noqa: BLE001 (a defect of a rule ends that rule only)
            self._failed_rules[rule.id] = internal_errors.report_internal_error(
                f"the rule {rule.id}", error
            )
            return
        latch = self._persistences[place]
        if reading is None and latch.finding_index is None and not latch.recent:
            return
        severity = latch.add_point(reading, self._context.mark)
        if severity and reading is not None:
            self._raise_finding(place, reading, Severity(severity), self._context.mark)
        elif latch.finding_index is None or rule.id in self._text_rows:
            return
        elif latch.has_cleared(int(limits.get("clear_after", 3))):
            self._clear_finding(place, self._context.mark)

    def _raise_finding(
        self, place: int, reading: Assessment, severity: Severity, mark: Mark
    ) -> None:
        """Open a finding, or raise the one that is open.

        Diagnoses go by what the rule says; what is shown of it is capped by how well it is founded.
        """
        rule, latch = self._rules[place][0], self._persistences[place]
        severity = Severity(max(Severity.INFO, severity - self._milder[place]))
        shown = min(severity, self._max_severities[place])
        if latch.finding_index is None and latch.repeats_too_often and shown <= WATCH:
            return  # three remarks about a value that wobbles are enough
        self._context.last_severities[rule.id] = max(
            severity, self._context.open_severities.get(rule.id, 0)
        )
        self._context.open_severities[rule.id] = Severity(self._context.last_severities[rule.id])
        if latch.finding_index is None:
            self._context.opened_rows[rule.id] = mark.row
            latch.open_finding(len(self.findings), self._context.updates)
            since = latch.first_bad_point(mark)
            self.findings.append(self._new_finding(rule, reading, shown, since, mark))
            self.findings[-1].record_version(mark.row)
        elif shown > self.findings[latch.finding_index].severity:
            finding = self.findings[latch.finding_index]
            finding.changes.append(SeverityChange(mark, shown))
            finding.value, finding.limit = reading.value, reading.limit
            finding.message = reading.message
            finding.evidence = collect_evidence(rule, reading, self._context)
            finding.members = ()
            finding.record_version(mark.row)
            self._gather_members()

    def _new_finding(
        self, rule: Rule, reading: Assessment, severity: Severity, since: Mark, mark: Mark
    ) -> Finding:
        return Finding(
            rule=rule.id,
            title=rule.title,
            concepts=rule.concepts,
            since=since,
            changes=[SeverityChange(mark, severity)],
            value=reading.value,
            limit=reading.limit,
            message=reading.message,
            evidence=collect_evidence(rule, reading, self._context),
            causes=rule.causes,
            remedies=fill_advice(rule.remedies, self._context),
            source=rule.source,
        )

    def _clear_finding(self, place: int, mark: Mark) -> None:
        rule, latch = self._rules[place][0], self._persistences[place]
        if latch.finding_index is not None:
            self.findings[latch.finding_index].cleared = mark
        latch.close_finding()
        self._context.open_severities.pop(rule.id, None)
        self._context.closed_rows[rule.id] = mark.row

    def _gather_members(self) -> None:
        """Put the findings that a diagnosis explains into its evidence, in the order they began."""
        for place in self._diagnoses:
            index = self._persistences[place].finding_index
            if index is not None:
                gather_members(self.findings, self.findings[index], self._rules[place][0].members)
                self.findings[index].record_version(self._context.mark.row)

    def _clear_old_text_findings(self) -> None:
        mark = self._context.mark
        for rule_id, rows in list(self._text_rows.items()):
            place = self._rule_index[rule_id]
            index = self._persistences[place].finding_index
            if mark.row - rows[-1] > SURVIVED_AFTER_ROWS.get(rule_id, TEXT_FINDING_ROWS):
                del self._text_rows[rule_id]
                if index is not None and not point_count(self._rules[place][0], self._context):
                    self._clear_finding(place, mark)

    def _start_segment(self, mark: Mark) -> None:
        self._restarting = False
        for place, latch in enumerate(self._persistences):
            if latch.finding_index is not None:
                self._clear_finding(place, mark)
            self._persistences[place] = Persistence(self._persistence_steps[place])
        self._text_rows.clear()
        self._context.restart()
        self._context.segment += 1


def _applies(rule: Rule, profile: Profile) -> bool:
    return profile.family in rule.families and rule.id not in profile.muted


def _copied(finding: Finding) -> Finding:
    """A finding that may be changed without changing the original; one that is over never is."""
    if finding.cleared is not None:
        return finding
    return replace(finding, changes=finding.changes.copy(), versions=finding.versions.copy())
