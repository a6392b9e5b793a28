"""The tool that changes rules to see whether a test notices."""

from __future__ import annotations

import ast
from pathlib import Path

from tools import mutate

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
    found = {mutant.what: ast.unparse(mutant.tree()) for mutant in mutate.mutants_of(path)}
    assert set(found) == {
        "4 -> 8", "4 -> 2", "never calm", "value > LIMIT -> value <= LIMIT",
        "without value > LIMIT", "without not calm",
    }  # fmt: skip
    assert "LIMIT = 8" in found["4 -> 8"] and "block.high <= 4" in found["4 -> 8"]
    assert "return not calm" in found["without value > LIMIT"]
    assert "if False:" in found["never calm"]


def test_every_change_of_a_rule_still_compiles() -> None:
    """A change that is no Python would be noticed by chance."""
    for mutant in mutate.mutants_of(mutate.RULES / "book" / "step_size.py"):
        compile(mutant.tree(), str(mutant.path), "exec")
