"""Evidence lines of a finding: related values, and for a diagnosis what broke first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ppo_top.model import NO_STEP, Finding, Mark, Profile
from ppo_top.rules.crucial_values import value_name
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.ranges import healthy_range
from ppo_top.rules.engine.rule import Assessment, Rule
from ppo_top.rules.engine.terms import WARN
from ppo_top.rules.engine.wording import format_value, num
from ppo_top.text.format import count, dated, healthy_text, plural


def collect_evidence(rule: Rule, assessment: Assessment, run: JudgedRun) -> tuple[str, ...]:
    """The assessment's own lines, then the rule's related metrics and the reward at this step."""
    lines = [_metric_line(run, concept) for concept in rule.related]
    if "reward_mean" not in rule.concepts:
        lines.append(_reward_line(run))
    step = run.mark.step
    at = f", at {dated(run.profile.axis, step)}" if step != NO_STEP else ""
    return (*assessment.evidence, *(line + at for line in lines if line))


def _metric_line(run: JudgedRun, concept: str) -> str:
    value = run.value(concept, 3)
    if value is None:
        return ""
    healthy = healthy_range(concept, run.profile)
    words = f" ({healthy_text(healthy.text)})" if healthy is not None and healthy.text else ""
    return f"{value_name(concept, run.profile)} {format_value(concept, value)}{words}"


def _reward_line(run: JudgedRun) -> str:
    reward = run.reward
    if reward is None or reward.count < 3 or run.turned_non_finite(run.reward_concept or ""):
        return ""
    if reward.falling:
        return f"reward {num(reward.best)} -> {num(reward.smooth)}, falling"
    began, now = num(reward.baseline), num(reward.smooth)
    trend = ", rising" if reward.rising else ", at its ceiling" if reward.at_max else ""
    if reward.smooth < reward.baseline and began != now:
        trend = f", below its start{', rising again' * reward.rising}"
    elif reward.flat:
        trend = ", no longer rising" if reward.gained else ", not rising"
    elif began == now and not trend:
        return ""  # too few to tell
    return f"reward {began} -> {now}{trend}"


def gather_members(
    findings: Sequence[Finding],
    diagnosis: Finding,
    members: Iterable[str],
    profile: Profile,
    dated_by: Container[str] = (),
) -> None:
    """Add the findings that a diagnosis explains to its evidence, in the order they began.

    Trouble began with the first of them at warn or above, its first sign: milder ones may be much
    older. The diagnosis holds since then, or since the first that it is `dated_by`.
    """
    wanted = frozenset(members)
    found = [f for f in findings if f.rule in wanted and overlaps(f, diagnosis)]
    if not found:
        return
    found.sort(key=lambda finding: _fault_mark(finding).row)
    faults = [finding for finding in found if finding.severity >= WARN] or found
    first = _earliest(diagnosis.first_sign, faults)
    kept = tuple(line for line in diagnosis.evidence if not line.startswith(_ORDER_PREFIXES))
    told = _first_of_each_rule(found)
    order = [_member_line(finding, first.row, profile) for finding in told]
    rows = [_fault_mark(finding).row for finding in told]
    if first.row in rows:
        at = rows.index(first.row)
        order[at] = order[at].replace("with it", "first", 1)
    diagnosis.evidence = (*order, *kept)
    diagnosis.members = tuple(dict.fromkeys(finding.rule for finding in found))
    diagnosis.first_sign = first
    shown = [finding for finding in faults if not dated_by or finding.rule in dated_by]
    diagnosis.since = _earliest(diagnosis.since, shown)


def _first_of_each_rule(found: Iterable[Finding]) -> list[Finding]:
    """The first finding of each rule, at warn or above if one is, in the order they began."""
    first: dict[str, Finding] = {}
    for finding in sorted(found, key=lambda each: each.severity < WARN):
        first.setdefault(finding.rule, finding)
    return sorted(first.values(), key=lambda finding: _fault_mark(finding).row)


def _earliest(mark: Mark, faults: Iterable[Finding]) -> Mark:
    return min([mark, *map(_fault_mark, faults)], key=lambda mark: mark.row)


def first_member(
    findings: Sequence[Finding], diagnosis: Finding, rules: Container[str]
) -> Finding | None:
    """The first finding of some rules that a diagnosis explains: at warn or above, if one is."""
    wanted = [f for f in findings if f.rule in diagnosis.members and f.rule in rules]
    found = [finding for finding in wanted if overlaps(finding, diagnosis)]
    return min(found, key=lambda f: (f.severity < WARN, _fault_mark(f).row), default=None)


_ORDER_PREFIXES = ("before: ", "first: ", "with it: ", "after ")


def _fault_mark(finding: Finding) -> Mark:
    """Where it reached warn: milder findings may have been open long before, without harm."""
    opened, *later = finding.changes
    if opened.severity >= WARN:
        return finding.since
    return next((change.mark for change in later if change.severity >= WARN), finding.since)


def overlaps(finding: Finding, diagnosis: Finding) -> bool:
    """Open at the same time as the diagnosis, or cleared at most three rows before it."""
    ended = finding.cleared
    return ended is None or ended.row >= diagnosis.opened.row - 3


def _member_line(finding: Finding, first: int, profile: Profile) -> str:
    broke = _fault_mark(finding)
    later = broke.row - first
    after = f"after {plural(later, profile.row_kind)}" if later else "with it"
    if later < 0:
        after = "before"
    when = f"{finding.since_word} {dated(profile.axis, finding.since.step)}"
    if broke.row > finding.since.row:
        when += f", a warning at {count(broke.step)}"
    return f"{after}: {finding.message}, {when}"
