"""The tool that changes rules to see whether a test notices."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import mutate, mutate_changes, mutate_reach

SOURCE = """
LIMIT = 4
def speaks(value: float, calm: bool) -> bool:
    if calm:
        return False
    return value > LIMIT and not calm
def stays_calm(run, block: RowBlock) -> bool:
    return block.high <= 4
"""


def test_constants_comparisons_and_conditions_are_changed(tmp_path: Path) -> None:
    """One thing at a time; what only skips blocks of rows is left alone."""
    path = tmp_path / "rule.py"
    path.write_text(SOURCE, encoding="utf-8")
    found = {mutant.what: ast.unparse(mutant.tree()) for mutant in mutate_changes.mutants_of(path)}
    assert set(found) == {
        "4 -> 8", "4 -> 2", "never calm", "value > LIMIT -> value <= LIMIT",
        "without value > LIMIT", "without not calm",
    }  # fmt: skip
    assert "LIMIT = 8" in found["4 -> 8"] and "block.high <= 4" in found["4 -> 8"]
    assert "return not calm" in found["without value > LIMIT"]
    assert "if False:" in found["never calm"]


def test_every_change_of_a_rule_still_compiles() -> None:
    """A change that is no Python would be noticed by chance."""
    for mutant in mutate_changes.mutants_of(mutate.RULES / "book" / "updates" / "step_size.py"):
        compile(mutant.tree(), str(mutant.path), "exec")


def changes_noticed(folder: Path, source: str, value: float) -> set[str]:
    """The changes of a module that a call of its function can notice."""
    path = folder / "rule.py"
    path.write_text(source, encoding="utf-8")
    mutants = list(mutate_changes.mutants_of(path))
    tree, noted = mutate_reach.instrumented(path, list(enumerate(mutants)))
    assert noted == set(range(len(mutants)))
    reach = mutate_reach.Reach()
    module = reach.names()
    exec(compile(tree, str(path), "exec"), module)
    speaks = module["speaks"]
    assert callable(speaks)
    speaks(value)
    return {mutants[number].what for number in reach.found}


def test_a_test_can_notice_only_what_changes_a_value(tmp_path: Path) -> None:
    """6 is above 4 and above 2, but not above 8: halving that limit shows with none of these."""
    source = "def speaks(value: float) -> bool:\n    return value > 4\n"
    assert changes_noticed(tmp_path, source, 6) == {"4 -> 8", "value > 4 -> value <= 4"}


def test_what_can_be_read_once_is_not_read_twice(tmp_path: Path) -> None:
    """Nothing would be left of it with the change, which would seem to make no difference."""
    source = """
def speaks(value: float) -> bool:
    found = (each for each in (value, value))
    return any(each > 4 for each in found)
"""
    assert changes_noticed(tmp_path, source, 3) >= {"each > 4 -> each <= 4"}


def test_a_test_that_expects_an_error_can_notice_a_change() -> None:
    """With the change the function may raise nothing."""
    reach = mutate_reach.Reach()

    def fails() -> None:
        reach.reached((7,))
        raise ValueError

    reach.variants[7] = lambda: fails
    with pytest.raises(ValueError):
        reach.around(fails)
    assert reach.found == {7}
