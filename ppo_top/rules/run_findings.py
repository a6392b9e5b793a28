"""The findings of a run: opened, made worse, eased, cleared, and explained."""

from __future__ import annotations

from ppo_top.model import Finding, Mark, Severity, SeverityChange
from ppo_top.rules.advice import explain_cause
from ppo_top.rules.advice.contradictions import keep_consistent
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.persistence import Persistence
from ppo_top.rules.engine.rule import DEFAULT_CLEAR_AFTER, Assessment, Rule
from ppo_top.rules.engine.selected_rules import SelectedRules
from ppo_top.rules.engine.terms import WATCH
from ppo_top.rules.evidence import collect_evidence, first_member, gather_members
from ppo_top.settings.settings import CURRICULUM_RULES
from ppo_top.support import internal_errors


class RunFindings:
    """What the rules have found in a run, by what each says of one row after the other.

    `all` holds every finding in opening order, updated in place as it gets more severe, gains
    evidence or clears. Rules go by their index in the `book`.
    """

    def __init__(self, book: SelectedRules, run: JudgedRun) -> None:
        self.all: list[Finding] = []
        self.persistences = [Persistence(each.steps) for each in book.rules]
        self._book = book
        self._run = run
        self._raised: list[int] = []
        """The rules whose finding opened, or became more severe, at this row."""

    def copy(self, run: JudgedRun) -> RunFindings:
        """An independent copy on the copied run; findings that have cleared are shared."""
        other = RunFindings.__new__(RunFindings)
        other._book, other._run = self._book, run
        other.all = [each.copy() if each.cleared is None else each for each in self.all]
        other.persistences = [persistence.copy() for persistence in self.persistences]
        other._raised = self._raised.copy()
        return other

    def open_of(self, index: int) -> Finding | None:
        """The open finding of a rule."""
        place = self.persistences[index].finding_index
        return self.all[place] if place is not None else None

    def open_by_id(self, rule: str) -> Finding | None:
        """The open finding of a rule; None, too, if the rule is muted."""
        index = self._book.index.get(rule)
        return self.open_of(index) if index is not None else None

    def add_assessment(self, index: int, assessment: Assessment | None, *, held: bool) -> None:
        """Take in what a rule says of the newest row; a finding that is `held` does not clear."""
        run, selected, persistence = self._run, self._book.rules[index], self.persistences[index]
        if (assessment is None or not assessment.level) and not persistence.is_alert:
            return
        rule = selected.rule
        tolerated = run.is_tolerated(rule.id)
        if tolerated and rule.eased_to is not None and assessment is not None:
            assessment = assessment.eased(rule.eased_to)
        severity = persistence.add_point(assessment, run.mark)
        if tolerated and assessment is not None:
            self._ease(index, assessment, severity or WATCH)
        if severity and assessment is not None:
            known = run.open_severities.get(rule.id, 0)
            if severity > known and max(Severity.INFO, severity - self._milder(index)) > known:
                self.raise_to(index, assessment, Severity(severity), run.mark)
            else:
                self._restate(index, assessment)
            return
        finding = self.open_of(index)
        if finding is None or held:
            return
        clear = int(selected.limits.get("clear_after", DEFAULT_CLEAR_AFTER))
        if persistence.has_cleared(clear, finding.is_single):
            self.clear(index, run.mark)

    def raise_to(self, index: int, assessment: Assessment, severity: Severity, mark: Mark) -> None:
        """Open a finding, or raise the severity of the open one.

        Diagnoses use the rule's own severity; the finding shows it capped by the rule's grade.
        """
        rule, persistence = self._book.rules[index].rule, self.persistences[index]
        severity = Severity(max(Severity.INFO, severity - self._milder(index)))
        shown = min(severity, self._book.rules[index].max_severity)
        finding = self.open_of(index)
        if finding is None and persistence.repeats_too_often and shown <= WATCH:
            return  # three findings about a value that oscillates around its limit are enough
        run = self._run
        severity = max(severity, run.open_severities.get(rule.id, severity))
        run.last_severities[rule.id] = run.open_severities[rule.id] = severity
        if finding is None:
            run.opened_rows[rule.id] = mark.row
            persistence.open_finding(len(self.all), run.updates)
            bad = persistence.first_bad_point(mark)
            since = min(bad, assessment.since or bad, key=lambda each: each.row)
            self.all.append(self._new_finding(rule, assessment, shown, since, mark))
            self.all[-1].record_version(mark.row)
            self._raised.append(index)
        elif shown > finding.severity:
            finding.changes.append(SeverityChange(mark, shown))
            finding.value, finding.limit = assessment.value, assessment.limit
            finding.message = assessment.message
            finding.evidence = collect_evidence(rule, assessment, run)
            finding.members = ()
            finding.record_version(mark.row)
            self._raised.append(index)
            self.gather_members()

    def _restate(self, index: int, assessment: Assessment) -> None:
        """State an open finding anew, if its rule tells of what lasts, and it is as bad as ever."""
        run, rule, finding = self._run, self._book.rules[index].rule, self.open_of(index)
        known = run.open_severities.get(rule.id, 0)
        level = max(Severity.INFO, assessment.level - self._milder(index))
        if finding is None or not rule.tells_duration or level < known:
            return
        if self.persistences[index].is_restated(run.updates, has_ended=run.ended):
            finding.value, finding.limit = assessment.value, assessment.limit
            finding.message = assessment.message
            finding.record_version(run.mark.row)
            self.gather_members()  # the evidence of a diagnosis tells it, too

    def clear(self, index: int, mark: Mark) -> None:
        """Clear the open finding of a rule."""
        rule, finding = self._book.rules[index].rule, self.open_of(index)
        if finding is not None:
            finding.cleared = mark
        self.persistences[index].close_finding()
        self._run.open_severities.pop(rule.id, None)
        self._run.closed_rows[rule.id] = mark.row

    def start_segment(self, mark: Mark) -> None:
        """The run was resumed from a checkpoint: what was found before is over."""
        for index, persistence in enumerate(self.persistences):
            if persistence.finding_index is not None:
                self.clear(index, mark)
            self.persistences[index] = Persistence(self._book.rules[index].steps)

    def gather_members(self) -> None:
        """Add the findings that a diagnosis explains to its evidence, in the order they began."""
        for index in self._book.diagnoses:
            diagnosis = self.open_of(index)
            if diagnosis is not None:
                rule, profile = self._book.rules[index].rule, self._run.profile
                gather_members(self.all, diagnosis, rule.members, profile, dated_by=rule.dated_by)
                diagnosis.record_version(self._run.mark.row)

    def explain_raised(self) -> None:
        """State causes and advice, once all rules have been asked; then drop contradictions."""
        if not self._raised:
            return
        explained = []
        for index in self._raised:
            finding = self.open_of(index)
            if finding is not None:
                self._explain(self._book.rules[index].rule, finding)
                explained.append(finding)
        self._raised.clear()
        still_open = [finding for finding in self.all if finding.cleared is None]
        explained += keep_consistent(still_open, self._run.profile.trainer_id)
        for finding in explained:
            finding.record_version(self._run.mark.row)

    def _explain(self, rule: Rule, finding: Finding) -> None:
        try:
            ranking = self._book.ranking if rule.inherits_causes else ()
            first = first_member(self.all, finding, ranking)
            finding.causes, finding.remedies = explain_cause(rule, self._run, first)
        except Exception as error:  # noqa: BLE001 (a bug in a fact about symptoms)
            finding.causes, finding.remedies = rule.causes, ()
            internal_errors.report_internal_error(f"the causes of {rule.id}", error)

    def _new_finding(
        self, rule: Rule, assessment: Assessment, severity: Severity, since: Mark, mark: Mark
    ) -> Finding:
        return Finding(
            rule=rule.id,
            title=rule.title,
            concepts=assessment.concepts or self._metrics_of(rule),
            since=since,
            changes=[SeverityChange(mark, severity)],
            value=assessment.value,
            limit=assessment.limit,
            message=assessment.message,
            evidence=collect_evidence(rule, assessment, self._run),
            source=rule.source,
            is_event=rule.is_event,
            is_moment=rule.is_moment or (self._run.ended and since.row == mark.row),
        )

    def _metrics_of(self, rule: Rule) -> tuple[str, ...]:
        """The logged metrics that a rule judges; all of them if their absence is found."""
        others = self._run.judged_as(rule.judged_at or ())[:1]
        return self._run.judged_as(rule.concepts) or others or rule.concepts

    def _milder(self, index: int) -> int:
        """By how many levels a rule is less severe: by one where it is told of a curriculum."""
        selected = self._book.rules[index]
        is_eased = selected.rule.id in CURRICULUM_RULES and self._run.has_new_lesson
        return max(selected.milder, int(is_eased))

    def _ease(self, index: int, assessment: Assessment, called: int) -> None:
        """Lower the severity of an open finding that is tolerated, once less was called for long.

        A value between clearing and calling for more is only watched.
        """
        run, selected = self._run, self._book.rules[index]
        rule_id, finding = selected.rule.id, self.open_of(index)
        severity = max(Severity.INFO, called - self._milder(index))
        is_milder = severity < run.open_severities.get(rule_id, severity)
        if not self.persistences[index].has_eased(is_milder) or finding is None:
            return
        run.last_severities[rule_id] = run.open_severities[rule_id] = Severity(severity)
        shown = Severity(min(severity, selected.max_severity))
        if shown < finding.severity:
            finding.changes.append(SeverityChange(run.mark, shown))
            if assessment.message:
                finding.value, finding.message = assessment.value, assessment.message
            finding.record_version(run.mark.row)
