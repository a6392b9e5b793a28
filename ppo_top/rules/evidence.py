"""The lines that back a finding: values beside it, and for a diagnosis what broke first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ppo_top.model import Finding, Mark
from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.ranges import band
from ppo_top.rules.engine.rule import Reading, Rule
from ppo_top.rules.engine.terms import WARN
from ppo_top.rules.engine.wording import label, num, show


def own_evidence(rule: Rule, reading: Reading, run: Run) -> tuple[str, ...]:
    """What the reading says for itself, and how the rule's other concepts stand."""
    beside = (_standing(run, concept) for concept in rule.beside)
    lines = [*reading.evidence, *(line for line in beside if line)]
    if "reward_mean" not in rule.concepts:
        lines.append(_reward(run))
    return tuple(line for line in lines if line)


def _standing(run: Run, concept: str) -> str:
    value = run.value(concept, 3)
    if value is None:
        return ""
    healthy = band(concept, run.profile)
    words = f" (healthy {healthy.words})" if healthy is not None and healthy.words else ""
    return f"{label(concept)} {show(concept, value)}{words}"


def _reward(run: Run) -> str:
    reward = run.reward
    if reward is None or reward.count < 3:
        return ""
    if reward.falling:
        return f"reward {num(reward.best)} -> {num(reward.smooth)}, falling"
    trend = "rising" if reward.rising else "at its ceiling" if reward.at_max else "not rising"
    return f"reward {num(reward.base)} -> {num(reward.smooth)}, {trend}"


def gather(findings: Sequence[Finding], diagnosis: Finding, members: Iterable[str]) -> None:
    """Bring the open findings that a diagnosis is made of into it, in the order they began.

    It began with the first of them that is a fault: a remark may have stood there all the time.
    """
    wanted = frozenset(members)
    found = [f for f in findings if f.rule in wanted and _together(f, diagnosis)]
    found.sort(key=lambda finding: _broke(finding).row)
    names = tuple(dict.fromkeys(finding.rule for finding in found))
    if not found:
        return
    faults = [finding for finding in found if finding.severity >= WARN] or found
    first = min(_broke(faults[0]), diagnosis.since, key=lambda mark: mark.row)
    kept = tuple(line for line in diagnosis.evidence if not line.startswith(_PLACES))
    placed = [_placed(finding, first.row) for finding in found]
    rows = [_broke(finding).row for finding in found]
    if first.row in rows:
        at = rows.index(first.row)
        placed[at] = placed[at].replace("with it", "first", 1)
    diagnosis.evidence = (*placed, *kept)
    diagnosis.members = names
    diagnosis.since = first


_PLACES = ("before: ", "first: ", "with it: ", "then ")


def _broke(finding: Finding) -> Mark:
    """Where it became a fault: a remark may have stood there long before, without any harm."""
    opened, *later = finding.changes
    if opened.severity >= WARN:
        return finding.since
    return next((change.mark for change in later if change.severity >= WARN), finding.since)


def _together(finding: Finding, diagnosis: Finding) -> bool:
    """Open at the same time as the diagnosis, or over at most a few rows before it opened."""
    ended = finding.cleared
    return ended is None or ended.row >= diagnosis.opened.row - 3


def _placed(finding: Finding, first: int) -> str:
    broke = _broke(finding)
    later = broke.row - first
    after = f"then {later} update{'s' if later > 1 else ''} later" if later else "with it"
    if later < 0:
        after = "before"
    return f"{after}: {finding.message}, since step {broke.step:,}"
