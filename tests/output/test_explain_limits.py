"""What `ppo-top explain RULE` says of the thresholds that users can set."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ppo_top.catalogue.limits import EVERY_RULE, limit_meanings
from ppo_top.catalogue.table import shared_table
from ppo_top.cli import main
from ppo_top.output.explain import explain
from ppo_top.rules.book import BY_ID, RULES
from ppo_top.rules.engine.rule import ENGINE_LIMITS, Rule
from ppo_top.text.page import LEFT_COLUMN_WIDTH

COMPUTED = {"k", "n", "clear_after"}
"""Of these a page says what they are in the rule that it is about."""

SHORT = 90
"""Characters of a meaning: two lines of a page of 80 columns."""

LINES = [
    (rule, name, meaning)
    for rules, name, meaning in shared_table("limits")
    for rule in rules.split("|")
]
OWN = [line for line in LINES if line[0] != EVERY_RULE]
SHARED = [line for line in LINES if line[0] == EVERY_RULE]


def own_names(rule: Rule) -> set[str]:
    """The thresholds that a rule sets, for whatever trainer."""
    return {*rule.limits}.union(*rule.limit_overrides.values())


def meanings_shown(lines: list[str]) -> dict[str, str]:
    """The part of a rule's page that explains names: name -> text."""
    began = lines.index("What these names mean") + 1
    shown: dict[str, str] = {}
    name = ""
    for line in lines[began : lines.index("", began)]:
        name = line[:LEFT_COLUMN_WIDTH].strip() or name
        shown[name] = f"{shown.get(name, '')} {line[LEFT_COLUMN_WIDTH:].strip()}".strip()
    return shown


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_name_that_can_be_set_is_explained(rule: Rule) -> None:
    """A rule's own thresholds, those of a trainer only, and those that all rules have."""
    assert rule.threshold_names - COMPUTED <= limit_meanings(rule.id).keys()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_page_explains_each_name_once(rule: Rule) -> None:
    """What the rule sets, in the words of the table; what it does not set is said to be unset."""
    shown, meanings = meanings_shown(explain(rule.id)), limit_meanings(rule.id)
    for name in own_names(rule) - COMPUTED:
        assert shown.pop(name) == meanings[name]
    assert {"k, n", "clear_after"} <= shown.keys()
    unset = {name: text for name, text in shown.items() if name in ENGINE_LIMITS}
    del unset["clear_after"]
    assert unset.keys() == {*ENGINE_LIMITS} - COMPUTED - own_names(rule)
    assert all(text == f"{meanings[name]} (not set)" for name, text in unset.items())
    assert shown.keys() == {"k, n", "clear_after", *unset}


def test_a_reward_that_never_moves_is_explained_name_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rule with the most thresholds says of each what it does, also into a pipe."""
    assert main(["explain", "reward-never-moves"]) == 0
    shown = meanings_shown(capsys.readouterr().out.splitlines())
    assert BY_ID["reward-never-moves"].limits.keys() <= shown.keys()
    assert "near and at the end of the run: a rise" in shown["end_rise"]
    assert "a reward that is always the same" in shown["constant"]
    assert shown["k, n"].endswith("crit 3 of 3")


def test_no_line_is_about_what_is_not_there() -> None:
    """A rule or a threshold that is renamed or removed takes its line along."""
    there = {(rule.id, name) for rule in RULES for name in own_names(rule) - COMPUTED}
    assert [each for each in OWN if each[:2] not in there] == []


@pytest.mark.parametrize("name", [name for _, name, _ in SHARED])
def test_what_is_said_of_all_rules_is_said_of_several(name: str) -> None:
    """A name of one rule has a line of that rule; one that all share has no other line."""
    users = [each.id for each in RULES if name in own_names(each)]
    assert len(users) >= 2 or name in ENGINE_LIMITS
    assert [each for each in OWN if each[1] == name] == []


def test_no_name_is_explained_twice() -> None:
    """Of two lines for one name of a rule, the second would count unseen."""
    assert [each for each, count in Counter(line[:2] for line in LINES).items() if count > 1] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_thresholds_stand_in_the_order_of_their_meanings(rule: Rule) -> None:
    """A meaning that says "if it is more than" goes on where the one above it ends."""
    lines = explain(rule.id, 200)
    told = [name for name in meanings_shown(lines) if name in rule.limits and name not in COMPUTED]
    values = next((line for line in lines if line.strip().startswith("default ")), "")
    shown = [name for name in re.findall(r"(\w+) = ", values) if name in told]
    assert shown == told[: len(shown)]


def test_a_meaning_is_a_short_clause() -> None:
    """It says more than the name, and fits on two lines."""
    for _, name, meaning in LINES:
        assert len(meaning) <= SHORT, meaning
        assert len({*re.findall(r"\w+", meaning)} - {name, *name.split("_")}) >= 4, meaning
        assert meaning == meaning.strip().rstrip(".:;,"), meaning


def test_what_a_meaning_refers_to_is_on_the_same_page() -> None:
    """Names between backquotes are other thresholds of the rule, or other rules."""
    for rule, name, meaning in OWN:
        others = set(re.findall(r"`([\w-]+)`", meaning))
        assert others <= (own_names(BY_ID[rule]) - {name}) | BY_ID.keys(), meaning
