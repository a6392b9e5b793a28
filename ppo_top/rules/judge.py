"""Judges a run: rows go in one by one, findings come out.

Findings depend only on the profile and the order of rows, console lines and restarts: batching, and
watching live instead of replaying, make no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

from ppo_top.model import Finding, Mark, Profile, Row, Severity, SeverityChange
from ppo_top.rules.advice import explain_cause
from ppo_top.rules.advice.contradictions import keep_consistent
from ppo_top.rules.console_text import LAST_ERROR, STOPPED_BY_HAND
from ppo_top.rules.coverage import (
    SkippedRule,
    WarmingRule,
    point_count,
    skipped_rules,
    warming_rules,
)
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.block_screen import Asked, BlockScreen
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.persistence import Persistence
from ppo_top.rules.engine.rule import DEFAULT_CLEAR_AFTER, Assessment, Rule
from ppo_top.rules.engine.terms import CRIT, WATCH
from ppo_top.rules.evidence import collect_evidence, first_member, gather_members
from ppo_top.rules.selection import select_rules
from ppo_top.settings.custom_rule import CustomRule
from ppo_top.settings.settings import CURRICULUM_RULES
from ppo_top.support import internal_errors

TEXT_FINDING_ROWS = 20
"""A finding based on console text alone clears after this many rows without more of it."""

SURVIVED_AFTER_ROWS = {"crashed": 2, "out-of-memory": 2}
"""A run that logs this many more rows has survived the error on its console."""

PART_ROWS = 16
"""Rows of a block that a rule may find healthy together, where it cannot for the whole block."""

MAX_EVIDENCE_LINES = 5
"""Console lines that count towards a finding."""

SHORT_RUN_UPDATES = 5
"""A run that ended with fewer updates is too short for most rules to have k of n points."""

ERROR_NAMING_KINDS = ("non-finite:crit", "out-of-memory:crit")
"""Kinds of console lines that end a traceback and have their own rule."""


class Judge:
    """Feeds rows to the rules that apply to a run and keeps their findings.

    `findings` holds every finding in opening order, updated in place as it gets more severe, gains
    evidence or clears.
    """

    def __init__(self, profile: Profile, custom_rules: Iterable[CustomRule] = ()) -> None:
        self.profile = profile
        self.findings: list[Finding] = []
        self._book = select_rules(profile, custom_rules)
        self._rules = self._book.rules
        self._persistences = [Persistence(each.steps) for each in self._rules]
        self._text_rows: dict[str, tuple[int, ...]] = {}
        self._context = RuleContext(profile)
        self._restarting = False
        self._failed_rules: dict[str, str] = {}
        self._raised: list[int] = []
        """The rules whose finding opened, or became more severe, at this row."""

    def copy(self) -> Judge:
        """An independent copy, cheap enough to make for every incomplete row."""
        other = Judge.__new__(Judge)
        other.__dict__.update(self.__dict__)
        other._context = self._context.copy()
        other._persistences = [persistence.copy() for persistence in self._persistences]
        other._text_rows = self._text_rows.copy()
        other.findings = [
            finding.copy() if finding.cleared is None else finding for finding in self.findings
        ]
        other._raised = self._raised.copy()
        return other

    @property
    def context(self) -> RuleContext:
        """What is known of the run at its newest row."""
        return self._context

    def restart(self) -> None:
        """The next row starts a new segment: the run was resumed from a checkpoint."""
        self._restarting = True

    def add_row(self, row: Row) -> None:
        """Judge one complete update; rows come in timeline order."""
        if self._restarting:
            self._start_segment(row.mark)
        self._context.add_row(row)
        self._ask(Asked(self._book.rules_for(row.values)))

    def add_block(self, block: RowBlock) -> None:
        """Judge complete updates in order: the same findings as one `add_row` for each.

        A rule that sees from the bounds of all rows, or of a few of them, that none can be anything
        but healthy, or but as bad as its open finding, is not asked at these.
        """
        run = self._context
        if self._restarting or not run.fits(block):
            for index, mark in enumerate(block.marks()):
                self.add_row(Row(mark, block.row(index)))
            return
        screen = BlockScreen(run, self._book, self._persistences, block)
        rows = run.add_block(block)
        for start in range(0, len(block.steps), PART_ROWS):
            asked, anyway = screen.asked_at(start, PART_ROWS)
            for _ in islice(rows, PART_ROWS):
                if asked is not anyway and not asked.holds(run):
                    asked = anyway
                self._ask(asked)
        next(rows, None)  # the end of the block

    def _ask(self, asked: Asked) -> None:
        """Ask rules about the newest row; those with a trigger metric only if it is in the row."""
        run = self._context
        if not (asked.rules or run.open_severities or self._text_rows):
            return
        number, state, histories = run.mark.row, run.reward_state, run.histories
        rules, persistences = self._rules, self._persistences
        before = len(self.findings)
        for index, concept, states in asked.rules:
            if states and not states & state and not persistences[index].is_alert:
                continue
            rule, points = rules[index], run.updates
            if concept:
                history = histories.get(concept)
                if history is None or history.last_row != number:
                    continue
                points = history.count
            if points <= rule.warmup or points % rule.every:
                continue
            self._apply_rule(index)
        if run.open_severities:
            self._ask_diagnoses(asked)
        if self._text_rows:
            self._clear_old_text_findings()
        if len(self.findings) != before:
            self._gather_members()
        self._explain_raised()

    def _ask_diagnoses(self, asked: Asked) -> None:
        """Ask the diagnoses of which a needed finding is open."""
        is_known = self._context.open_severities == asked.open_before
        diagnoses = asked.diagnoses if is_known else self._book.untriggered_diagnoses
        open_rules = self._context.recently_open() if diagnoses else set()
        for index, needs in diagnoses:
            is_needed = not needs or not open_rules.isdisjoint(needs)
            if is_needed or self._persistences[index].is_alert:
                self._apply_rule(index)

    def end_run(self) -> None:
        """The run is complete: ask the rules that weigh its whole length once more."""
        self._context.ended = True
        logged = self._context.histories
        for index, each in enumerate(self._rules if self._context.updates else ()):
            triggers = each.rule.triggers
            if each.rule.at_end and (not triggers or any(name in logged for name in triggers)):
                self._apply_rule(index)
        if self._context.updates < SHORT_RUN_UPDATES:
            self._raise_pending()
        self._explain_raised()

    def _raise_pending(self) -> None:
        """Raise what the newest points of a short run agree on: no more of them will come."""
        run = self._context
        for index, persistence in enumerate(self._persistences):
            level = persistence.pending_level(run.mark)
            assessment = self._assess(index) if level else None
            if assessment is not None:
                self._raise_finding(index, assessment, Severity(level), run.mark)

    def add_text_evidence(self, kind: str, text: str, mark: Mark) -> None:
        """Add a console line that is evidence; `kind` is `TextEvidence.kind`."""
        if kind == LAST_ERROR:
            self._name_error(text)
            return
        if kind in ERROR_NAMING_KINDS:
            self._name_error(text)
        rule_id, _, word = kind.partition(":")
        index = self._book.index.get(rule_id)
        if index is None:
            return
        severity = Severity[word.upper()] if word else CRIT
        rows = (*self._text_rows.get(rule_id, ()), mark.row)[-MAX_EVIDENCE_LINES:]
        self._text_rows[rule_id] = rows
        if rule_id == "ratio-off" and len(rows) >= 3 and mark.row - rows[-3] <= 10:
            severity = CRIT
        self._raise_finding(index, Assessment(severity, math.nan, None, text), severity, mark)
        finding_index = self._persistences[index].finding_index
        if finding_index is not None:
            finding = self.findings[finding_index]
            lines = [line for line in finding.evidence if line != text]
            finding.evidence = (*lines, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(mark.row)
        self._explain_raised()

    def _name_error(self, text: str) -> None:
        """Report a crash by the last line of its traceback, which names the error."""
        index = self._book.index.get("crashed")
        finding_index = self._persistences[index].finding_index if index is not None else None
        if finding_index is not None and index is not None:
            finding = self.findings[finding_index]
            finding.message = text
            finding.evidence = (*finding.evidence, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(self._context.mark.row)
            if text.startswith(STOPPED_BY_HAND):
                self._clear_finding(index, self._context.mark)

    def skipped_rules(self) -> list[SkippedRule]:
        """Rules that do not apply to this run so far, and why."""
        return skipped_rules(
            self._book.all_rules, self._context, self._text_rows, self._failed_rules
        )

    def warming_rules(self) -> list[WarmingRule]:
        """Rules that have fewer points than they need to fire."""
        return warming_rules(self._rules, self._context)

    def _apply_rule(self, index: int) -> None:
        selected, run = self._rules[index], self._context
        rule = selected.rule
        assessment = self._assess(index)
        persistence = self._persistences[index]
        if (assessment is None or not assessment.level) and not persistence.is_alert:
            return
        if rule.id in self._failed_rules:
            return
        tolerated = run.is_tolerated(rule.id)
        if tolerated and rule.eased_to is not None and assessment is not None:
            assessment = assessment.eased(rule.eased_to)
        severity = persistence.add_point(assessment, run.mark)
        if tolerated and assessment is not None:
            self._ease_finding(index, assessment, severity or WATCH)
        if severity and assessment is not None:
            if max(Severity.INFO, severity - self._milder(index)) > run.open_severities.get(
                rule.id, 0
            ):
                self._raise_finding(index, assessment, Severity(severity), run.mark)
            return
        if persistence.finding_index is None or rule.id in self._text_rows:
            return
        clear = int(selected.limits.get("clear_after", DEFAULT_CLEAR_AFTER))
        if persistence.has_cleared(clear, self.findings[persistence.finding_index].is_single):
            self._clear_finding(index, run.mark)

    def _milder(self, index: int) -> int:
        """By how many levels a rule is less severe: by one where it is told of a curriculum."""
        selected = self._rules[index]
        is_eased = selected.rule.id in CURRICULUM_RULES and self._context.has_new_lesson
        return max(selected.milder, int(is_eased))

    def _assess(self, index: int) -> Assessment | None:
        """What a rule says of the newest row; None of one that has failed."""
        rule = self._rules[index].rule
        if rule.id in self._failed_rules:
            return None
        try:
            return rule.assess(self._context, self._rules[index].limits)
        except Exception as error:  # noqa: BLE001 (a bug in a rule disables only that rule)
            report = internal_errors.report_internal_error
            self._failed_rules[rule.id] = report(f"the rule {rule.id}", error)
            return None

    def _ease_finding(self, index: int, assessment: Assessment, called: int) -> None:
        """Lower the severity of an open finding that is tolerated, once less was called for long.

        A value between clearing and calling for more is only watched.
        """
        run, rule, persistence = self._context, self._rules[index].rule, self._persistences[index]
        severity = Severity(max(Severity.INFO, called - self._milder(index)))
        is_milder = severity < run.open_severities.get(rule.id, severity)
        if not persistence.has_eased(is_milder) or persistence.finding_index is None:
            return
        run.last_severities[rule.id] = run.open_severities[rule.id] = severity
        finding = self.findings[persistence.finding_index]
        shown = min(severity, self._rules[index].max_severity)
        if shown < finding.severity:
            finding.changes.append(SeverityChange(run.mark, shown))
            if assessment.message:
                finding.value, finding.message = assessment.value, assessment.message
            finding.record_version(run.mark.row)

    def _raise_finding(
        self, index: int, assessment: Assessment, severity: Severity, mark: Mark
    ) -> None:
        """Open a finding, or raise the severity of the open one.

        Diagnoses use the rule's own severity; the finding shows it capped by the rule's grade.
        """
        rule, persistence = self._rules[index].rule, self._persistences[index]
        severity = Severity(max(Severity.INFO, severity - self._milder(index)))
        shown = min(severity, self._rules[index].max_severity)
        if persistence.finding_index is None and persistence.repeats_too_often and shown <= WATCH:
            return  # three findings about a value that oscillates around its limit are enough
        run = self._context
        severity = max(severity, run.open_severities.get(rule.id, severity))
        run.last_severities[rule.id] = run.open_severities[rule.id] = severity
        if persistence.finding_index is None:
            run.opened_rows[rule.id] = mark.row
            persistence.open_finding(len(self.findings), run.updates)
            since = persistence.first_bad_point(mark)
            self.findings.append(self._new_finding(rule, assessment, shown, since, mark))
            self.findings[-1].record_version(mark.row)
            self._raised.append(index)
        elif shown > self.findings[persistence.finding_index].severity:
            finding = self.findings[persistence.finding_index]
            finding.changes.append(SeverityChange(mark, shown))
            finding.value, finding.limit = assessment.value, assessment.limit
            finding.message = assessment.message
            finding.evidence = collect_evidence(rule, assessment, run)
            finding.members = ()
            finding.record_version(mark.row)
            self._raised.append(index)
            self._gather_members()

    def _new_finding(
        self, rule: Rule, assessment: Assessment, severity: Severity, since: Mark, mark: Mark
    ) -> Finding:
        return Finding(
            rule=rule.id,
            title=rule.title,
            concepts=assessment.concepts or self._context.judged_as(rule.concepts),
            since=since,
            changes=[SeverityChange(mark, severity)],
            value=assessment.value,
            limit=assessment.limit,
            message=assessment.message,
            evidence=collect_evidence(rule, assessment, self._context),
            source=rule.source,
            is_event=rule.is_event,
        )

    def _explain_raised(self) -> None:
        """State causes and advice, once all rules have been asked; then drop contradictions."""
        if not self._raised:
            return
        run, explained = self._context, []
        for index in self._raised:
            finding_index = self._persistences[index].finding_index
            if finding_index is not None:
                finding = self.findings[finding_index]
                rule = self._rules[index].rule
                try:
                    ranking = self._book.ranking if rule.inherits_causes else ()
                    first = first_member(self.findings, finding, ranking)
                    finding.causes, finding.remedies = explain_cause(rule, run, first)
                except Exception as error:  # noqa: BLE001 (a bug in a fact about symptoms)
                    finding.causes, finding.remedies = rule.causes, ()
                    internal_errors.report_internal_error(f"the causes of {rule.id}", error)
                explained.append(finding)
        self._raised.clear()
        still_open = [finding for finding in self.findings if finding.cleared is None]
        explained += keep_consistent(still_open, run.profile.trainer_id)
        for finding in explained:
            finding.record_version(run.mark.row)

    def _clear_finding(self, index: int, mark: Mark) -> None:
        rule, persistence = self._rules[index].rule, self._persistences[index]
        if persistence.finding_index is not None:
            self.findings[persistence.finding_index].cleared = mark
        persistence.close_finding()
        self._context.open_severities.pop(rule.id, None)
        self._context.closed_rows[rule.id] = mark.row

    def _gather_members(self) -> None:
        """Add the findings that a diagnosis explains to its evidence, in the order they began."""
        for index in self._book.diagnoses:
            finding_index = self._persistences[index].finding_index
            if finding_index is not None:
                diagnosis = self.findings[finding_index]
                members, axis = self._rules[index].rule.members, self._context.profile.axis
                gather_members(self.findings, diagnosis, members, axis)
                diagnosis.record_version(self._context.mark.row)

    def _clear_old_text_findings(self) -> None:
        mark = self._context.mark
        for rule_id, rows in list(self._text_rows.items()):
            index = self._book.index[rule_id]
            if mark.row - rows[-1] > SURVIVED_AFTER_ROWS.get(rule_id, TEXT_FINDING_ROWS):
                del self._text_rows[rule_id]
                is_open = self._persistences[index].finding_index is not None
                if is_open and not point_count(self._rules[index].rule, self._context):
                    self._clear_finding(index, mark)

    def _start_segment(self, mark: Mark) -> None:
        self._restarting = False
        for index, persistence in enumerate(self._persistences):
            if persistence.finding_index is not None:
                self._clear_finding(index, mark)
            self._persistences[index] = Persistence(self._rules[index].steps)
        self._text_rows.clear()
        self._context.restart()
        self._context.segment += 1
