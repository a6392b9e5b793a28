"""Every rule speaks in a sick run and is silent in one that comes near."""

from __future__ import annotations

import string

import pytest

from ppo_top.model import Profile, Sample, Severity
from ppo_top.rules.advice import ADVICE_NAMES
from ppo_top.rules.book import BY_ID, RULES
from ppo_top.rules.engine.rule import Rule
from tests.rules import cases, cases_llm
from tests.rules.cases import RuleCase
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    SB3_TAGS,
    TRAINER_BY_FAMILY,
    draw_rows,
    findings,
    judged,
    rules_found,
)

ALL_CASES = (*cases.CONTROL_CASES, *cases_llm.LLM_CASES)

NOT_BY_COLUMNS = {
    *("out-of-memory", "crashed", "killed", "numpy-warning", "restarted", "slow"),
    "action-values-short",
}
"""Rules that columns of numbers cannot make speak, but text, the clock or the end of a run does:
they have tests of their own."""


def about(case: RuleCase) -> Profile:
    """The profile of a case."""
    trainer = case.trainer or TRAINER_BY_FAMILY[case.family]
    samples = {"reward_mean": Sample("update")}
    return Profile(trainer, case.family, case.config, samples=samples, tags=SB3_TAGS)


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.rule)
def test_a_sick_run_makes_the_rule_speak(case: RuleCase) -> None:
    """The rule opens, is as severe as it should be, and says why and what to try."""
    columns = {**HEALTHY_COLUMNS[case.family], **case.sick}
    found = findings(about(case), draw_rows(columns, case.count, **case.sick_row_options))  # type: ignore[arg-type]
    mine = [finding for finding in found if finding.rule == case.rule]
    assert mine, f"spoke: {rules_found(found, Severity.INFO)}"
    assert max(finding.severity for finding in mine) >= case.min_severity
    assert mine[0].message and mine[0].causes and mine[0].source
    assert mine[0].since.row <= mine[0].opened.row


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.rule)
def test_a_run_that_comes_near_does_not(case: RuleCase) -> None:
    """A value just inside the limits, or outside for a moment, opens nothing of this rule."""
    columns = {**HEALTHY_COLUMNS[case.family], **case.near}
    found = findings(about(case), draw_rows(columns, case.count))
    assert case.rule not in rules_found(found, min(case.min_severity, Severity.WATCH))


def unconfirmed(case: RuleCase) -> bool:
    """Whether the thresholds of a case's rule rest on no guide, no report and no run."""
    rule = BY_ID[case.rule]
    return rule.grade_by_family.get(about(case).family, rule.grade) == "D"


@pytest.mark.parametrize(
    "case", [case for case in ALL_CASES if unconfirmed(case)], ids=lambda case: case.rule
)
def test_what_no_run_has_confirmed_is_only_remarked_on(case: RuleCase) -> None:
    """However sick the run, such a rule asks to watch and no more."""
    columns = {**HEALTHY_COLUMNS[case.family], **case.sick}
    made = draw_rows(columns, case.count, **case.sick_row_options)  # type: ignore[arg-type]
    mine = [f.severity for f in findings(about(case), made) if f.rule == case.rule]
    assert mine and max(mine) <= Severity.WATCH


@pytest.mark.parametrize("family", HEALTHY_COLUMNS)
def test_a_healthy_run_has_no_finding(family: str) -> None:
    """Nothing above a mere explanation is said of a healthy run, however long it is."""
    found = findings(
        Profile(TRAINER_BY_FAMILY[family], family), draw_rows(HEALTHY_COLUMNS[family], 75)
    )
    assert rules_found(found, Severity.WATCH) == set()


def test_every_rule_has_a_case() -> None:
    """A rule without a sick and a healthy case would not be known to work."""
    assert {rule.id for rule in RULES} - {case.rule for case in ALL_CASES} == NOT_BY_COLUMNS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_advice_names_options_that_are_known(rule: Rule) -> None:
    """Every `{option}` of what to try is in the catalogue, and faults have two things to try."""
    fields = [
        name for sentence in rule.remedies for _, name, _, _ in string.Formatter().parse(sentence)
    ]
    assert {name for name in fields if name} <= ADVICE_NAMES
    assert set(rule.dated_by) <= set(rule.members) <= BY_ID.keys()
    assert rule.description and rule.source and rule.grade in "ABCD"


def test_no_diagnosis_explains_itself() -> None:
    """Members are not shown beside their diagnosis: two of each other would both be hidden."""

    def below(rule: str) -> set[str]:
        members = BY_ID[rule].members
        return {*members}.union(*(below(member) for member in members))

    assert [rule.id for rule in RULES if rule.id in below(rule.id)] == []


def test_faults_name_two_things_to_try() -> None:
    """Whatever is worth a warning has at least two remedies, in every family that it speaks in."""
    for case in ALL_CASES:
        if case.min_severity < Severity.WARN:
            continue
        columns = {**HEALTHY_COLUMNS[case.family], **case.sick}
        made = draw_rows(columns, case.count, **case.sick_row_options)  # type: ignore[arg-type]
        mine = [f for f in judged(about(case), made).findings if f.rule == case.rule]
        assert len(mine[0].remedies) >= 2, case.rule
