"""Thresholds: each stands in a table beside this file (the rules' own tests try both sides)."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ppo_top import rules
from ppo_top.model import Profile, Severity, Status
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.ranges import BANDS_BY_FAMILY, colour
from ppo_top.rules.engine.rule import Rule
from tests.rules.specification import NEAR, table

WATCH, WARN, CRIT = Severity.WATCH, Severity.WARN, Severity.CRIT


def limits_in_code(rule: Rule) -> Iterator[tuple[str, str, str, str]]:
    """A rule's thresholds as the table writes them."""
    for scope, limits in (("all", rule.limits), *rule.limit_overrides.items()):
        yield from ((rule.id, scope, name, repr(value)) for name, value in limits.items())
    steps = {Severity(level).word: f"{k}/{n}" for level, (k, n) in rule.persistence.items()}
    if len(steps) == 4 and len(set(steps.values())) == 1:
        steps = {"all": next(iter(steps.values()))}
    yield from ((rule.id, scope, "k/n", value) for scope, value in steps.items())


def test_every_threshold_stands_in_the_table() -> None:
    """A number that judges is changed in two places, on purpose."""
    written = [tuple(row) for row in table("limits.tsv")]
    assert sorted(written) == sorted(row for rule in RULES for row in limits_in_code(rule))


def numbers_in_code() -> Iterator[tuple[str, str, str]]:
    """The named numbers of all modules of rules, as the table writes them."""
    prefix = f"{rules.__name__}."
    for found in pkgutil.walk_packages(rules.__path__, prefix):
        module = importlib.import_module(found.name)
        for name in assigned_names(Path(str(module.__file__))):
            value = getattr(module, name)
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            for key, part in parts:
                if all(type(each) in (int, float) for each in flattened(part)):
                    full = f"{name}[{key}]" if key else name
                    yield found.name.removeprefix(prefix), full, repr(part)


def flattened(value: object) -> tuple[object, ...]:
    """The elements of a tuple, or the value itself."""
    return value if isinstance(value, tuple) else (value,)


def assigned_names(path: Path) -> Iterator[str]:
    """The public names that a module gives to values of its own."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        names = (each for target in targets for each in ast.walk(target))
        yield from (each.id for each in names if isinstance(each, ast.Name) and each.id[0] != "_")


def test_named_numbers_stand_in_the_table() -> None:
    """Those that several rules rest on, and of facts about causes, are changed on purpose, too."""
    assert sorted(map(tuple, table("constants.tsv"))) == sorted(numbers_in_code())


ALGORITHMS = {"on-policy": "PPO"}
"""Whose ranges are meant, where they depend on it."""

BANDS = [(row[0], row[1], *row[2:6], row[6]) for row in table("bands.tsv")]


def test_every_band_stands_in_the_table() -> None:
    """No metric is coloured by a range that nobody wrote down."""
    assert {(family, metric) for family, metric, *_ in BANDS} == {
        (family, metric) for family, bands in BANDS_BY_FAMILY.items() for metric in bands
    }


@pytest.mark.parametrize("band", BANDS, ids=lambda band: f"{band[0]}-{band[1]}")
def test_a_value_is_coloured_by_its_band(band: tuple[str, ...]) -> None:
    """Green within, amber outside, red far outside: a few per cent on either side."""
    family, metric, *edges, status = band
    profile, red = Profile("", family, algo=ALGORITHMS.get(family, "")), Status(status)
    low, high, red_low, red_high = (float(edge) if edge else None for edge in edges)

    def coloured(edge: float, side: int) -> Status:
        return colour(metric, edge + side * (NEAR * abs(edge) or 0.001), profile)

    for edge, side, end in ((low, -1, red_low), (high, 1, red_high)):
        if edge is not None:
            assert coloured(edge, -side) == Status.OK
            assert coloured(edge, side) == (red if end == edge else Status.WATCH)
        if end is not None and end != edge:
            assert coloured(end, -side) == (Status.OK if edge is None else Status.WATCH)
            assert coloured(end, side) == red
