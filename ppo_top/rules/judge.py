"""Judges a run: rows go in one by one, findings come out.

Findings depend only on the profile and the order of rows, console lines and restarts: batching, and
watching live instead of replaying, make no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from ppo_top.model import Finding, Mark, Profile, Row, Severity
from ppo_top.rules.console_text import (
    DEATH,
    DEATHS,
    LAST_ERROR,
    NAMED_DEATHS,
    TRACEBACK,
    rule_of_death,
)
from ppo_top.rules.coverage import SkippedRule, point_count, skipped_rules
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.block_screen import Asked, BlockScreen
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment
from ppo_top.rules.engine.selected_rules import PlannedRule
from ppo_top.rules.engine.terms import CRIT, WATCH
from ppo_top.rules.run_findings import RunFindings
from ppo_top.rules.selection import select_rules
from ppo_top.settings.custom_rule import CustomRule
from ppo_top.support import internal_errors
from ppo_top.text.lazy_pattern import lazy_pattern
from ppo_top.text.stopped_process import why_stopped

TEXT_FINDING_ROWS = 20
"""A finding based on console text alone clears after this many rows without more of it."""

SURVIVED_AFTER_ROWS = dict.fromkeys(DEATHS, 2)
"""A run that logs this many more rows has survived the error on its console."""

PART_ROWS = 16
"""Rows of a block that a rule may find healthy together, where it cannot for the whole block."""

MAX_EVIDENCE_LINES = 5
"""Console lines that count towards a finding."""

PRINTED_OFTEN = {"ratio-off": (3, 10, CRIT), "kl-early-stop": (5, 5, WATCH)}
"""Lines of a rule that stand within so many rows of the newest, and how severe so many are."""

SHORT_RUN_UPDATES = 5
"""A run that ended with fewer updates is too short for most rules to have k of n points."""

ERROR_NAMING_KINDS = ("non-finite:crit", "out-of-memory:crit", "disk-full:crit")
"""Kinds of console lines that end a traceback and have their own rule."""

_NUMBER = lazy_pattern(r"\d[\d.,]*")
"""Lines of the console that differ in no more are one piece of evidence, the newest of them."""


class Judge:
    """Feeds rows to the rules that apply to a run, and what they say to its findings."""

    def __init__(self, profile: Profile, custom_rules: Iterable[CustomRule] = ()) -> None:
        self.profile = profile
        self._book = select_rules(profile, custom_rules)
        self._rules = self._book.rules
        self._run = JudgedRun(profile)
        self._found = RunFindings(self._book, self._run)
        self._text_rows: dict[str, tuple[int, ...]] = {}
        """The rows at which the console gave evidence for a rule, by its id."""
        self._restarting = False
        self._failed_rules: dict[str, str] = {}
        self._concerned: tuple[Asked, int, Sequence[PlannedRule]] = Asked(), 0, ()
        """Whom to ask, the reward's state, and which of the rules it concerns."""

    def copy(self) -> Judge:
        """An independent copy, cheap enough to make for every incomplete row."""
        other = Judge.__new__(Judge)
        other.__dict__.update(self.__dict__)
        other._run = self._run.copy()
        other._found = self._found.copy(other._run)
        other._text_rows = self._text_rows.copy()
        return other

    @property
    def findings(self) -> list[Finding]:
        """Every finding in opening order (`RunFindings.all`)."""
        return self._found.all

    @property
    def run(self) -> JudgedRun:
        """What is known of the run at its newest row."""
        return self._run

    def restart(self) -> None:
        """The next row starts a new segment: the run was resumed from a checkpoint."""
        self._restarting = True

    def add_row(self, row: Row) -> None:
        """Judge one complete update; rows come in timeline order."""
        if self._restarting:
            self._start_segment(row.mark)
        self._run.add_row(row)
        self._ask(Asked(self._book.rules_for(row.values)))

    def add_block(self, block: RowBlock) -> None:
        """Judge complete updates in order: the same findings as one `add_row` for each.

        A rule that sees from the bounds of all rows, or of a few of them, that none can be anything
        but healthy, or but as bad as its open finding, is not asked at these.
        """
        run = self._run
        if self._restarting or not run.fits(block):
            for index, mark in enumerate(block.marks()):
                self.add_row(Row(mark, block.row(index)))
            return
        screen = BlockScreen(run, self._book, self._found.persistences, block)
        rows = run.add_block(block)
        for start in range(0, len(block.steps), PART_ROWS):
            asked, anyway = screen.asked_at(start, PART_ROWS)
            for _ in islice(rows, PART_ROWS):
                if asked is not anyway and not asked.holds(run):
                    asked = anyway
                self._ask(asked)
        next(rows, None)  # the end of the block

    def _ask(self, asked: Asked) -> None:
        """Ask rules about the newest row."""
        run, found = self._run, self._found
        if not (asked.rules or run.open_severities or self._text_rows):
            return
        before = len(found.all)
        self._ask_rules(self._rules_concerned(asked) if asked.rules else ())
        if run.open_severities:
            self._ask_diagnoses(asked)
        if self._text_rows:
            self._clear_old_text_findings()
        if len(found.all) != before:
            found.gather_members()
        found.explain_raised()

    def _rules_concerned(self, asked: Asked) -> Sequence[PlannedRule]:
        """The rules to ask that the reward's state concerns, or that are alert.

        They are the same as long as the state is: a rule becomes alert only when it is asked.
        """
        state, persistences = self._run.reward_state, self._found.persistences
        last, last_state, found = self._concerned
        if asked is not last or state != last_state:
            found = [
                (index, concept, states)
                for index, concept, states in asked.rules
                if not states or states & state or persistences[index].is_alert
            ]
            self._concerned = asked, state, found
        return found

    def _ask_rules(self, planned: Sequence[PlannedRule]) -> None:
        """Ask the rules that are due; those with a trigger metric only if it is in the row."""
        run, rules = self._run, self._rules
        number, histories = run.mark.row, run.histories
        for index, concept, _ in planned:
            rule, points = rules[index], run.updates
            if concept:
                history = histories.get(concept)
                if history is None or history.last_row != number:
                    continue
                points = history.count
            if points > rule.warmup and not points % rule.every:
                self._apply_rule(index)

    def _ask_diagnoses(self, asked: Asked) -> None:
        """Ask the diagnoses of which a needed finding is open."""
        is_known = self._run.open_severities == asked.open_before
        diagnoses = asked.diagnoses if is_known else self._book.untriggered_diagnoses
        open_rules = self._run.recently_open() if diagnoses else set()
        for index, needs in diagnoses:
            is_needed = not needs or not open_rules.isdisjoint(needs)
            if is_needed or self._found.persistences[index].is_alert:
                self._apply_rule(index)

    def end_run(self) -> None:
        """The run is complete: ask the rules that weigh its whole length once more."""
        self._run.ended = True
        logged = self._run.histories
        for index, each in enumerate(self._rules if self._run.updates else ()):
            triggers, lasts = each.rule.triggers, self._found.open_of(index) is not None
            is_asked = each.rule.at_end or (each.rule.tells_duration and lasts)
            if is_asked and (not triggers or any(name in logged for name in triggers)):
                self._apply_rule(index)
        if self._run.updates < SHORT_RUN_UPDATES:
            self._raise_pending()
        self._found.explain_raised()

    def _raise_pending(self) -> None:
        """Raise what the newest points of a short run agree on: no more of them will come."""
        mark = self._run.mark
        for index, persistence in enumerate(self._found.persistences):
            level = persistence.pending_level(mark)
            assessment = self._assess(index) if level else None
            if assessment is not None:
                self._found.raise_to(index, assessment, Severity(level), mark)

    def add_text_evidence(self, kind: str, text: str, mark: Mark) -> None:
        """Add a console line that is evidence; `kind` is `TextEvidence.kind`."""
        if kind == LAST_ERROR:
            self._name_error(text, mark)
            return
        if kind == DEATH:
            self._add_death(text, mark)
            return
        if kind in ERROR_NAMING_KINDS:
            self._name_error(text, mark)
        rule_id, _, word = kind.partition(":")
        index = self._book.index.get(rule_id)
        if index is None:
            return
        severity = Severity[word.upper()] if word else CRIT
        rows = (*self._text_rows.get(rule_id, ()), mark.row)[-MAX_EVIDENCE_LINES:]
        self._text_rows[rule_id] = rows
        if rule_id in PRINTED_OFTEN:
            times, within, often = PRINTED_OFTEN[rule_id]
            if len(rows) >= times and mark.row - rows[-times] <= within:
                severity = often
        self._found.raise_to(index, Assessment(severity, math.nan, None, text), severity, mark)
        finding = self._found.open_of(index)
        if finding is not None:
            words = _NUMBER.sub("", text)
            lines = [line for line in finding.evidence if _NUMBER.sub("", line) != words]
            finding.evidence = (*lines, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(mark.row)
        self._found.explain_raised()

    def _add_death(self, text: str, mark: Mark) -> None:
        """Report in its last words that the process died, unless a finding says why it did."""
        crash = self._found.open_by_id("crashed")
        if crash is None and self._run.open_severities.keys().isdisjoint(NAMED_DEATHS):
            self.add_text_evidence(f"{rule_of_death(text)}:crit", text, mark)
        elif crash is not None and TRACEBACK in crash.message:
            self._name_error(text, mark)

    def _name_error(self, text: str, mark: Mark) -> None:
        """Report a crash by the last line of its traceback, which names the error."""
        finding = self._found.open_by_id("crashed")
        if finding is not None:
            finding.message = text
            lines = [each for each in finding.evidence if each != text and TRACEBACK not in each]
            finding.evidence = (*lines, text)[-2 * MAX_EVIDENCE_LINES :]
            finding.record_version(mark.row)
            if why_stopped(text):
                self._found.clear(self._book.index["crashed"], mark)

    def skipped_rules(self) -> list[SkippedRule]:
        """Rules that do not apply to this run so far, and why."""
        return skipped_rules(self._book.all_rules, self._run, self._text_rows, self._failed_rules)

    def _apply_rule(self, index: int) -> None:
        rule_id, assessment = self._rules[index].rule.id, self._assess(index)
        if rule_id not in self._failed_rules:
            self._found.add_assessment(index, assessment, held=rule_id in self._text_rows)

    def _assess(self, index: int) -> Assessment | None:
        """What a rule says of the newest row; None of one that has failed."""
        rule = self._rules[index].rule
        if rule.id in self._failed_rules:
            return None
        try:
            return rule.assess(self._run, self._rules[index].limits)
        except Exception as error:  # noqa: BLE001 (a bug in a rule disables only that rule)
            report = internal_errors.report_internal_error
            self._failed_rules[rule.id] = report(f"the rule {rule.id}", error)
            return None

    def _clear_old_text_findings(self) -> None:
        mark = self._run.mark
        for rule_id, rows in list(self._text_rows.items()):
            index = self._book.index[rule_id]
            if mark.row - rows[-1] > SURVIVED_AFTER_ROWS.get(rule_id, TEXT_FINDING_ROWS):
                del self._text_rows[rule_id]
                finding = self._found.open_of(index)
                if finding is not None and not point_count(self._rules[index].rule, self._run):
                    self._found.clear(index, mark)

    def _start_segment(self, mark: Mark) -> None:
        self._restarting = False
        self._found.start_segment(mark)
        self._text_rows.clear()
        self._run.restart()
        self._run.segment += 1
