"""Orders the causes that may stand behind a finding, by what was counted on labelled runs.

Naive Bayes, in logarithms: how common a cause is, times how often each symptom stood beside it.
A cause that a setting proves comes first, one that a setting rules out is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ppo_top.catalogue import TEXT_FAMILIES
from ppo_top.catalogue.causes import (
    ANY_CASE,
    CauseCounts,
    CauseText,
    SymptomCounts,
    cause_counts,
    known_causes,
)
from ppo_top.catalogue.families import holds
from ppo_top.model import Finding
from ppo_top.rules.advice.contradictions import without_opposites
from ppo_top.rules.advice.symptoms import facts_seen
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import WATCH

MOST_CAUSES = 3
"""Causes stated first; more are no answer."""

CLOSE_ODDS = 20.0
"""Where the next cause is at most this many times less likely, a look tells them apart."""

TIED_ODDS = 1.1
"""Causes are as likely as each other where their odds differ by no more than they may by the chance
of what was counted."""

UNSEEN_REPORTS = 3.0
"""What a few reports on a cause happened to show counts less; the number that ranked causes best
for runs in environments that had been left out of the counts (of 1, 2, 3 and 5)."""

FAMILY_REPORTS = 5.0
"""How common a cause is in a family, with so many reports as common as in all families (0, 5 and 20
were tried as above)."""

RULE_PREFIX = "rule "
"""Prefix of the symptom that a rule has found something."""


NO_SYMPTOMS = frozenset({"reward-never-moves", "critic-not-learning"})
"""Rules that say what facts say already."""


def symptoms_of(run: JudgedRun) -> dict[str, bool]:
    """Facts that hold or do not, and the rules with an open finding of *watch* or more."""
    opened = {rule for rule, level in run.open_severities.items() if level >= WATCH}
    return facts_seen(run) | {RULE_PREFIX + rule: True for rule in opened - NO_SYMPTOMS}


def cause_scores(
    symptoms: Mapping[str, bool], family: str, counted: CauseCounts | None = None
) -> dict[str, float]:
    """Cause -> logarithm of its odds, up to a constant; best first.

    If a setting proves one, the others are left out. `counted` is the shipped table by default.
    """
    counted = counted or cause_counts()
    causes, reports = known_causes(), counted.reports
    counts = counted.text if is_text(family) else counted.control
    seen = {fact for fact, holds in symptoms.items() if holds}
    of_family = {cause for cause in causes.texts if family in causes.families.get(cause, {family})}
    of_family = {each for each in of_family if not any((each, x) in causes.vetoes for x in seen)}
    proven = {cause for fact, cause in causes.proofs.items() if fact in seen} & of_family
    known = [_weights(counts[name], holds) for name, holds in symptoms.items() if name in counts]
    scores = {
        cause: math.log(_how_common(counted, cause, family))
        + sum([weights[cause] for weights in known])
        for cause in proven or reports
        if cause in of_family
    }
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def is_text(family: str) -> bool:
    """Whether it is about language models, whose symptoms are counted apart."""
    return family in TEXT_FAMILIES


def _how_common(counts: CauseCounts, cause: str, family: str) -> float:
    """Reports on a cause in this family, up to a factor that all causes share."""
    usual = (counts.reports[cause] + 1.0) / (sum(counts.reports.values()) + len(counts.reports))
    return counts.by_family.get(family, {}).get(cause, 0) + FAMILY_REPORTS * usual


@lru_cache(maxsize=512)  # twice the lines of the shipped table, and more
def _weights(counted: SymptomCounts, holds: bool) -> Mapping[str, float]:
    """Cause -> the logarithm of how often reports on it show, or do not show, a symptom.

    `UNSEEN_REPORTS`, which show it as often as all do, are added to what was counted.
    """
    usual = (sum(counted.there.values()) + 0.5) / (sum(counted.could.values()) + 1.0)
    weights = {}
    for cause in known_causes().texts:
        there, could = counted.there.get(cause, 0), counted.could.get(cause, 0)
        share = (there + UNSEEN_REPORTS * usual) / (could + UNSEEN_REPORTS)
        weights[cause] = math.log(share if holds else 1.0 - share)
    return weights


def likely_causes(run: JudgedRun, rule: str) -> tuple[list[CauseText], str]:
    """The likeliest causes of what a rule has found, and the look that tells the first two apart.

    The look is "" if that is clear. What need be no fault is not said beside faults, nor of a
    warning.
    """
    symptoms = symptoms_of(run)
    scores = cause_scores(symptoms, run.family)
    first = _first_named(scores, symptoms, rule, run.family)
    scores = {first: max(scores.values())} | {
        each: scores[each] for each in scores if each != first
    }
    ranked = without_opposites(scores)[:MOST_CAUSES]
    texts = [cause_text(cause, symptoms, run.family) for cause in ranked]
    harmless = known_causes().harmless.get(rule)
    proven = any(symptoms.get(fact) for fact in known_causes().proofs)
    is_mild = run.open_severities.get(rule, WATCH) <= WATCH
    if harmless is not None and is_mild and _holds(harmless.when, symptoms) and not proven:
        texts = [harmless]
    close = len(ranked) > 1 and scores[ranked[0]] - scores[ranked[1]] < math.log(CLOSE_ODDS)
    looks = (text.look for text in texts[:2] if text.look)
    return texts, next(looks, "") if close else ""


def is_excused(finding: Finding) -> bool:
    """Whether a finding was said to need be no fault, which no diagnosis takes over."""
    harmless = known_causes().harmless.get(finding.rule)
    return harmless is not None and harmless.sentence in finding.causes


def _holds(condition: str, symptoms: Mapping[str, bool]) -> bool:
    """Whether the facts of a condition hold: `this one & not that one`."""
    return holds(condition.split(" & "), lambda fact: bool(symptoms.get(fact)))


def _first_named(
    scores: Mapping[str, float], symptoms: Mapping[str, bool], rule: str, family: str
) -> str:
    """What the rule measures, or the likeliest cause; no setting that nobody saw changed.

    Labelled runs were given each fault as often as another; people leave such a setting alone. Of
    causes that are as likely, the first whose remedy gives a value to try: to change a setting
    costs less than to look for what is wrong in the code.
    """
    causes = known_causes()
    measured, where = causes.firsts.get(rule, ("", ""))
    if measured in scores and (not where or symptoms.get(where)):
        return measured
    seen = [each for each in scores if _is_witnessed(each, symptoms)] or [*scores]
    tied = [each for each in seen if scores[seen[0]] - scores[each] <= math.log(TIED_ODDS)]
    remedies = ((each, cause_text(each, symptoms, family).remedies[0]) for each in tied)
    return next((each for each, remedy in remedies if any(map(str.isdigit, remedy))), seen[0])


def _is_witnessed(cause: str, symptoms: Mapping[str, bool]) -> bool:
    """Whether a fact shows that somebody changed the setting that is this cause, if it is one."""
    needed = known_causes().witnesses.get(cause, frozenset())
    return not needed or any(symptoms.get(fact) for fact in needed)


def cause_text(cause: str, symptoms: Mapping[str, bool], family: str) -> CauseText:
    """What is said of a cause beside these symptoms."""
    texts = known_causes().texts[cause]
    cases = (family, ANY_CASE)
    return next(text for text in texts if text.when in cases or _holds(text.when, symptoms))


def ranked_advice(run: JudgedRun, rule: str) -> tuple[tuple[str, ...], Iterator[str]]:
    """The likeliest causes as sentences, and templates of what to try, the first cause's first."""
    texts, look = likely_causes(run, rule)
    return tuple(text.sentence for text in texts), _remedies(texts, look)


def _remedies(texts: list[CauseText], look: str) -> Iterator[str]:
    first, *others = texts
    yield from first.remedies[:1]
    if look:
        yield look
    yield from first.remedies[1:]
    for text in others:
        yield from text.remedies[:1]
