"""How much of the rules the tests pin down: `python -m tools.mutate`.

Changes one thing of `ppo_top/rules` at a time (a constant halved or doubled, a comparison turned, a
condition dropped) and runs the tests of rules in a forked process. A change that no test
notices has survived. Code that only decides whether a block of rows needs to be looked at is left
out: when it says no too often, nothing but speed is lost.

    python -m tools.mutate [--sample N] [--seed N] [--at-least SHARE] [--only PART] [--jobs N]
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import io
import os
import random
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "ppo_top" / "rules"

TESTS = [
    f"tests/rules/{name}.py"
    for name in (
        "test_limits", "test_reward_points", "test_stats", "test_rule_cases",
        "test_families", "test_traps", "test_odd_but_healthy", "test_odd_but_healthy_llm",
        "test_statements", "test_advice", "test_text_and_ranges", "test_judge",
    )
]  # fmt: skip
"""Fast ones that see most first; those of whole logs take minutes and are left out."""

TESTS_OF_REWARDS = ["tests/rules/test_false_alarms.py"]
"""Slower ones, for changes to what is known of the reward."""

SKIPPED_FILES = ("block.py", "calm.py")
TIMEOUT = 180  # seconds for the tests of one change; one that never ends is noticed

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: of a node (by its number in the module) into another one."""

    path: Path
    line: int
    what: str
    node: int
    replacement: ast.AST

    def tree(self) -> ast.Module:
        """The changed module."""
        module = ast.parse(self.path.read_text(encoding="utf-8"))
        target = list(ast.walk(module))[self.node]
        target.__class__ = type(self.replacement)
        target.__dict__.update(self.replacement.__dict__)
        return ast.fix_missing_locations(module)

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.what}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All changes to a module."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(node) for part in _skipped(module) for node in ast.walk(part)}
    for number, node in enumerate(ast.walk(module)):
        if id(node) in skipped:
            continue
        for what, replacement in _changes(node):
            yield Mutant(path, getattr(node, "lineno", 0), what, number, replacement)


def _skipped(module: ast.Module) -> Iterator[ast.AST]:
    """Annotations, and functions about whole blocks."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            if "RowBlock" in ast.unparse(node.args):
                yield node
            yield from (each.annotation for each in node.args.args if each.annotation)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Constant) and type(number := node.value) in (int, float) and number:
        assert isinstance(number, int | float)
        for value in (number * 2, type(number)(number / 2)):
            yield f"{number} -> {value}", ast.Constant(value)
    elif isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            other = deepcopy(node)
            other.ops[index] = TURNED[type(operator)]()
            yield f"{ast.unparse(node)} -> {ast.unparse(other)}", other
    elif isinstance(node, ast.BoolOp):
        for index in range(len(node.values)):
            left = node.values[:index] + node.values[index + 1 :]
            fewer = left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
            yield f"without {ast.unparse(node.values[index])}", deepcopy(fewer)
    elif isinstance(node, ast.If) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        without = deepcopy(node)
        without.test = ast.Constant(False)
        yield f"never {ast.unparse(node.test)}", without


class _MutantFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the changed module in place of the original."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.name = ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.mutant.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.tree(), str(self.mutant.path), "exec"), module.__dict__)


def start_tests(mutant: Mutant | None) -> int:
    """Run the tests with a change (or none) in a forked process; returns its id."""
    child = os.fork()
    if child:
        return child
    signal.alarm(TIMEOUT)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            tests = TESTS
            if mutant is not None:
                sys.meta_path.insert(0, _MutantFinder(mutant))
                tests = TESTS + TESTS_OF_REWARDS * mutant.path.name.startswith("reward")
            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
        except BaseException:  # noqa: BLE001 (whatever it is, the change was noticed)
            code = 1
    os._exit(code)


def survivors_of(mutants: Sequence[Mutant | None], jobs: int) -> Iterator[Mutant | None]:
    """The changes with which all tests pass, as they are found."""
    waiting = list(reversed(mutants))
    running: dict[int, Mutant | None] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[start_tests(mutant)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        if status == 0:
            yield mutant


def main() -> int:
    """Print the survivors and the share that was noticed; 1 if that is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="so many changes, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.0, help="the share to be noticed")
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.chdir(ROOT)
    paths = [path for path in sorted(RULES.rglob("*.py")) if path.name not in SKIPPED_FILES]
    mutants = [m for path in paths if options.only in str(path) for m in mutants_of(path)]
    print(f"{len(mutants)} changes")
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    if not list(survivors_of([None], 1)):
        print("the tests fail without any change")
        return 1
    survived = 0
    for mutant in survivors_of(mutants, options.jobs):
        if mutant is not None:
            survived += 1
            print(f"survived  {mutant}", flush=True)
    noticed = 1.0 - survived / max(1, len(mutants))
    print(f"{noticed:.1%} of {len(mutants)} changes noticed")
    return int(noticed < options.at_least)


if __name__ == "__main__":
    sys.exit(main())
