"""Rules that rest on the findings of others say so, and name only rules that exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from ppo_top.rules import book
from ppo_top.rules.book import BY_ID, RULES
from ppo_top.rules.engine.rule import Rule, rules_by_id


@pytest.mark.parametrize("field", ["members", "needs", "asks_about"])
def test_an_unknown_id_is_an_error(field: str) -> None:
    """It would never be open: the rule would be silent for good."""
    changed: dict[str, Any] = {"id": "mine", field: ("kl-hihg",)}
    rule = BY_ID["kl-high"]._replace(**changed)
    with pytest.raises(ValueError, match="mine rests on unknown rules: kl-hihg"):
        rules_by_id([*RULES, rule])


def test_an_id_is_used_once() -> None:
    """Settings and other rules name a rule by it."""
    with pytest.raises(ValueError, match="kl-high"):
        rules_by_id([*RULES, BY_ID["kl-high"]])


def strings(value: object) -> Iterator[str]:
    """The strings in constants, and in tuples of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for each in value:
            yield from strings(each)


def named(function: Any, seen: set[object]) -> Iterator[str]:
    """The strings in a function, and in those of the rules that it calls."""
    if function in seen or not isinstance(function, FunctionType):
        return
    seen.add(function)
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        yield from strings(code.co_consts)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__module__.startswith(book.__name__):
                yield from named(value, seen)
            else:
                yield from strings(value)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_declares_what_it_asks_about(rule: Rule) -> None:
    """Every rule that its code names is among those that it rests on."""
    assert {each for each in named(rule.assess, set()) if each in BY_ID} - {
        rule.id
    } <= rule.rests_on


def asked_ids(tree: ast.AST) -> Iterator[str]:
    """The ids that code asks for with `severity_of`, `severities.get` or `in open_severities`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            asks = ast.unparse(node.func).endswith(("severity_of", "_severities.get"))
            found = node.args[0]
        elif isinstance(node, ast.Compare):
            asks = ast.unparse(node.comparators[0]).endswith("_severities")
            found = node.left
        else:
            continue
        if asks and isinstance(found, ast.Constant):
            yield str(found.value)


def test_code_asks_only_about_rules_that_exist() -> None:
    """A misspelt id would be 'not open' for ever."""
    files = Path(book.__path__[0]).rglob("*.py")
    asked = {each for path in files for each in asked_ids(ast.parse(path.read_text("utf-8")))}
    assert len(asked) > 20 and asked <= BY_ID.keys()
