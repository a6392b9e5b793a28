"""What holds for every rule of the book; what each of them says stands in `tests/rules/book/`."""

from __future__ import annotations

import importlib
import string

import pytest

from ppo_top.catalogue import canonical_names
from ppo_top.model import Profile, Severity
from ppo_top.rules.advice import ALTERNATIVE_OPTIONS
from ppo_top.rules.advice.phrases import ADVICE_PHRASES
from ppo_top.rules.book import BY_ID, RULES
from ppo_top.rules.engine.rule import Rule
from tests.rules.specification import RuleTests, rule_cases, specified_rules
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    draw_rows,
    findings,
    rules_found,
)

NOT_BY_COLUMNS = {
    *("out-of-memory", "disk-full", "crashed", "killed", "numpy-warning", "restarted", "slow"),
    "action-values-short",
}
"""Rules that columns of numbers cannot make speak, but text, the clock or the end of a run does:
they have tests of their own."""


def test_every_rule_has_a_case() -> None:
    """A rule without a sick and a healthy case would not be known to work."""
    rules = {rule.id for rule in RULES}
    assert rules - rule_cases().keys() == NOT_BY_COLUMNS
    assert specified_rules().keys() <= rules


def test_a_rule_is_specified_in_the_file_of_the_same_name() -> None:
    """What a file of the book says is tested by one file, in the same folder."""
    for tests in RuleTests.__subclasses__():
        name = tests.__module__.removeprefix("tests.rules.book.").replace("test_", "")
        module = importlib.import_module(f"ppo_top.rules.book.{name}")
        assert tests.rule in {rule.id for rule in module.RULES}, tests


@pytest.mark.parametrize("family", HEALTHY_COLUMNS)
def test_a_healthy_run_has_no_finding(family: str) -> None:
    """Nothing above a mere explanation is said of a healthy run, however long it is."""
    found = findings(
        Profile(TRAINER_BY_FAMILY[family], family), draw_rows(HEALTHY_COLUMNS[family], 75)
    )
    assert rules_found(found, Severity.WATCH) == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_advice_names_options_that_are_known(rule: Rule) -> None:
    """Every `{option}` of what to try is in the catalogue, and a rule says what it rests on."""
    fields = [
        name for sentence in rule.remedies for _, name, _, _ in string.Formatter().parse(sentence)
    ]
    options = canonical_names() | ALTERNATIVE_OPTIONS.keys()
    assert {name for name in fields if name} <= options | ADVICE_PHRASES.keys()
    assert set(rule.dated_by) <= set(rule.members) <= BY_ID.keys()
    assert rule.description and rule.source and rule.grade in "ABCD"


def test_no_diagnosis_explains_itself() -> None:
    """Members are not shown beside their diagnosis: two of each other would both be hidden."""

    def below(rule: str) -> set[str]:
        members = BY_ID[rule].members
        return {*members}.union(*(below(member) for member in members))

    assert [rule.id for rule in RULES if rule.id in below(rule.id)] == []
