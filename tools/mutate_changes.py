"""Single changes to a module: constants, comparisons, conditions; and putting one into effect."""

from __future__ import annotations

import ast
import gc
import importlib
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ppo_top.rules import book
from ppo_top.rules.engine.rule import Rule

ROOT = Path(__file__).resolve().parents[1]

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
        become(list(ast.walk(module))[self.node], self.replacement)
        return ast.fix_missing_locations(module)

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.what}"


def become(node: ast.AST, other: ast.AST) -> None:
    """Turn a node into another one, at the same place."""
    node.__class__ = type(other)
    node.__dict__.update(other.__dict__)


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


def module_at(path: Path) -> ModuleType:
    """The loaded module of a file."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return importlib.import_module(name.removesuffix(".__init__"))


def put_in_place(path: Path, tree: ast.Module, extra: dict[str, object] | None = None) -> None:
    """Make a loaded module behave as if it had been imported from this tree.

    Functions get new code; rules, constants and defaults new values, also where other modules have
    imported them by name. For a forked process that ends afterwards.
    """
    real = module_at(path)
    name, code = real.__name__, compile(tree, str(path), "exec")
    changed = ModuleType(name)
    changed.__dict__.update({"__file__": str(path), "__package__": name.rpartition(".")[0]})
    changed.__dict__.update(extra or {})
    exec(code, changed.__dict__)
    codes = {(each.co_qualname, each.co_firstlineno): each for each in _codes(code)}
    for function in _functions():
        old = function.__code__
        new = codes.get((old.co_qualname, old.co_firstlineno))
        if function.__module__ != name or old.co_filename != str(path) or new is None:
            continue
        if function.__globals__ is real.__dict__ and new.co_freevars == old.co_freevars:
            function.__code__ = new
            function.__globals__.update(extra or {})
    for key, value in vars(changed).items():
        if not key.startswith("__") and key not in (extra or {}):
            _replace(real, key, value)


def _functions() -> list[FunctionType]:
    return [each for each in gc.get_objects() if isinstance(each, FunctionType)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _replace(module: ModuleType, name: str, new: object) -> None:
    """Give a global its new value, wherever it has been imported."""
    old = module.__dict__.get(name)
    if isinstance(new, ModuleType) or old is new:
        return
    if isinstance(new, FunctionType) and isinstance(old, FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    elif isinstance(new, type) and isinstance(old, type):
        _replace_in_class(old, new)
    elif name == "RULES" and isinstance(old, tuple) and isinstance(new, tuple):
        _replace_rules(old, new)
    elif old != new:
        _rebind(name, old, new)


def _rebind(name: str, old: object, new: object) -> None:
    """Give a global its new value in all modules that hold the old one."""
    for other in list(sys.modules.values()):
        if getattr(other, "__dict__", {}).get(name) is old:
            setattr(other, name, new)


def _replace_rules(old: tuple[Rule, ...], new: tuple[Rule, ...]) -> None:
    """Put rules into the book; functions with a name stay, for their code has been replaced."""
    for before, rule in zip(old, new, strict=True):
        named: dict[str, Any] = {
            field: value
            for field, value in before._asdict().items()
            if isinstance(value, FunctionType) and "<" not in value.__qualname__
        }
        book.BY_ID[rule.id] = rule._replace(**named)
    _rebind("RULES", book.RULES, tuple(book.BY_ID[each.id] for each in book.RULES))


def _replace_in_class(old: type, new: type) -> None:
    if old.__module__ != new.__module__:
        return
    for name, value in vars(new).items():
        current = old.__dict__.get(name)
        if isinstance(value, FunctionType) and isinstance(current, FunctionType):
            current.__defaults__ = value.__defaults__
        elif isinstance(value, int | float | tuple) and value != current:
            setattr(old, name, value)
