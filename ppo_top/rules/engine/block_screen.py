"""Which rules need to be asked at the rows of a block, so that nothing they would say is missed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ppo_top.model import Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.persistence import Persistence
from ppo_top.rules.engine.rule import BlockCheck
from ppo_top.rules.engine.selected_rules import PlannedDiagnosis, PlannedRule, SelectedRules


class Asked(NamedTuple):
    """The rules to ask at a row; besides all diagnoses, or just some if nothing else has opened.

    `diagnoses` are enough as long as the open findings are those of `open_before`.
    """

    rules: Sequence[PlannedRule] = ()
    diagnoses: Sequence[PlannedDiagnosis] = ()
    open_before: Mapping[str, Severity] = {}

    def holds(self, run: JudgedRun) -> bool:
        """Whether it is still enough to ask these."""
        return run.gains_nothing and run.open_severities == self.open_before


class BlockScreen:
    """Chooses the rules to ask at parts of a block; `run` is as before the block."""

    def __init__(
        self,
        run: JudgedRun,
        book: SelectedRules,
        persistences: Sequence[Persistence],
        block: RowBlock,
    ) -> None:
        self._run = run
        self._book = book
        self._persistences = persistences
        self._block = block
        self._concerned = self._rules_concerned(block, book.rules_for(block.columns))
        self._is_first = not run.histories.keys() >= block.columns.keys()

    def asked_at(self, start: int, rows: int) -> tuple[Asked, Asked]:
        """Whom to ask at so many rows from index `start` on, once the rows before were judged.

        The first is for as long as it `holds`, the second for the rest of these rows.
        """
        run, plan = self._run, self._concerned
        if not (plan or run.open_severities):
            return (nobody := Asked()), nobody
        part, open_before = self._block.part(start, rows), run.open_severities.copy()
        anyway = Asked(self._rules_concerned(part, plan), self._needed_diagnoses(), open_before)
        if self._is_first or not (run.gains_nothing and run.open_severities):
            return anyway, anyway
        unsettled = [each for each in anyway.rules if not self._stays_open(each[0], part)]
        diagnoses = [each for each in anyway.diagnoses if not self._is_settled(each[0], part)]
        return Asked(unsettled, diagnoses, open_before), anyway

    def _rules_concerned(self, block: RowBlock, plan: Iterable[PlannedRule]) -> list[PlannedRule]:
        """The rules of a plan that may have something to say about the next rows, a block."""
        return [
            each
            for each in plan
            if self._persistences[each[0]].is_alert or not self._stays_calm(each[0], block)
        ]

    def _needed_diagnoses(self) -> list[PlannedDiagnosis]:
        """The diagnoses that may have something to say, while the same findings are open."""
        open_rules = self._run.recently_open()
        return [
            (index, needs)
            for index, needs in self._book.untriggered_diagnoses
            if not (needs and open_rules.isdisjoint(needs)) or self._persistences[index].is_alert
        ]

    def _is_settled(self, index: int, block: RowBlock) -> bool:
        """Whether a diagnosis would say the same at each row of a block, or nothing at all."""
        is_alert = self._persistences[index].is_alert
        return self._stays_open(index, block) if is_alert else self._stays_calm(index, block)

    def _stays_calm(self, index: int, block: RowBlock) -> bool:
        return self._holds(self._book.rules[index].rule.stays_calm, index, block)

    def _stays_open(self, index: int, block: RowBlock) -> bool:
        """Whether no row of a block changes the open finding of a rule."""
        rule, persistence = self._book.rules[index].rule, self._persistences[index]
        if rule.tells_duration and persistence.restated_at <= self._run.updates + len(block.steps):
            return False
        return persistence.is_steady and self._holds(rule.keeps_level, index, block)

    def _holds(self, check: BlockCheck | None, index: int, block: RowBlock) -> bool:
        """Whether a check of a rule holds for a block."""
        if check is None:
            return False
        try:
            return check(self._run, block, self._book.rules[index].limits)
        except Exception:  # noqa: BLE001 (asked row by row, the rule reports what is wrong)
            return False
