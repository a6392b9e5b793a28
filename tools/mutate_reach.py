"""Which tests can notice which change: those in which changed code returns another value.

The module is run with every expression that a change concerns computed both ways; where the values
differ, the function around it is called again with the change, and its results are compared. That
is one run of the tests instead of one for each change.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType

from tools.mutate_changes import Mutant, become, module_at, put_in_place

REACHED = "__reached__"
COMPARED = "__compared__"
AROUND = "__around__"

CHANGES_STATE = frozenset(
    ("add", "add_block", "add_point", "add_row", "append", "appendleft", "begin_block", "clear",
     "copy", "discard", "extend", "fresh", "_fresh", "has_eased", "insert", "merge_pairs", "next",
     "_new_episodes", "_point_of_row", "pop", "popleft", "push", "remove", "setdefault", "sort",
     "split_into_episodes", "update")
)  # fmt: skip
"""Calls that are not made twice."""


class Reach:
    """The changes that the current test could notice.

    `variants` makes a function as it is with a change.
    """

    def __init__(self) -> None:
        self.found: set[int] = set()
        self.variants: dict[int, Callable[[], Callable[..., object]]] = {}
        self._functions: dict[int, Callable[..., object]] = {}
        self._differing: list[set[int]] = []
        self._trying = False

    def names(self) -> dict[str, object]:
        """What instrumented code calls."""
        return {REACHED: self.reached, COMPARED: self.compared, AROUND: self.around}

    def reached(self, changes: tuple[int, ...]) -> bool:
        """An expression was reached that cannot be computed twice."""
        self._note(changes)
        return True

    def compared(
        self, changes: tuple[int, ...], value: Callable[[], object], *others: Callable[[], object]
    ) -> object:
        """The value of an expression; notes the changes that would give it another one."""
        result = value()
        if not self._trying:
            for change, other in zip(changes, others, strict=True):
                if change not in self.found and not _is_same(result, other):
                    self._note((change,))
        return result

    def around(self, function: Callable[..., object], *values: object) -> object:
        """The result of a function without state; notes the changes that would give another."""
        if self._trying:
            return function(*values)
        state = _state_of(values)
        before = [dict(each) for each in state]
        self._differing.append(set())
        try:
            result = function(*values)
        except Exception:
            self.found |= self._differing.pop()  # with the change it may raise nothing
            raise
        differing = self._differing.pop()
        after = [dict(each) for each in state]
        self._trying = True
        for change in differing - self.found:
            _restore(state, before)
            changed = self._function(change)
            if not _is_same((result, after), lambda: (changed(*values), state)):  # noqa: B023
                self.found.add(change)
        self._trying = False
        _restore(state, after)
        return result

    def _function(self, change: int) -> Callable[..., object]:
        if change not in self._functions:
            self._functions[change] = self.variants[change]()
        return self._functions[change]

    def _note(self, changes: tuple[int, ...]) -> None:
        if self._trying:
            return
        for change in changes:
            if change in self.variants and self._differing:
                self._differing[-1].add(change)
            else:
                self.found.add(change)


def _state_of(values: Sequence[object]) -> list[dict[object, object]]:
    """What a rule remembers of a run."""
    found = (getattr(value, name, None) for value in values for name in ("memos", "non_finite"))
    return [each for each in found if isinstance(each, dict)]


def _restore(state: list[dict[object, object]], before: list[dict[object, object]]) -> None:
    for each, values in zip(state, before, strict=True):
        each.clear()
        each.update(values)


def _is_same(result: object, other: Callable[[], object]) -> bool:
    try:
        found = other()
        return type(found) is type(result) and (
            found is result or found == result or (found != found and result != result)
        )
    except Exception:  # noqa: BLE001 (whatever it raises, it differs)
        return False


def watch(path: Path, mutants: Sequence[tuple[int, Mutant]], reach: Reach) -> set[int]:
    """Put an instrumented module in place; returns the numbers of the changes it can note."""
    tree, noted = instrumented(path, mutants)
    module = module_at(path)
    original = ast.parse(path.read_text(encoding="utf-8"))
    owners = {
        id(node): function.name
        for function in _without_state(original)
        for node in ast.walk(function)
    }
    names = [owners.get(id(node)) for node in ast.walk(original)]
    for number, mutant in mutants:
        name = names[mutant.node]
        if number in noted and name is not None:
            reach.variants[number] = partial(_changed_function, mutant, name, module)
    for function in list(_without_state(tree)):
        _put_around(function)
    put_in_place(path, ast.fix_missing_locations(tree), reach.names())
    return noted


def _without_state(module: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of the module itself, but generators."""
    for node in module.body:
        if not isinstance(node, ast.FunctionDef) or node.args.kwonlyargs or node.args.vararg:
            continue
        if not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
            yield node


def _changed_function(mutant: Mutant, name: str, module: ModuleType) -> FunctionType:
    tree = mutant.tree()
    tree.body = [
        node for node in tree.body if getattr(node, "name", "") == name or _is_future(node)
    ]
    values = dict(vars(module))
    exec(compile(tree, str(mutant.path), "exec"), values)
    function = values[name]
    function = getattr(function, "__wrapped__", function)
    assert isinstance(function, FunctionType)
    return function


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _put_around(function: ast.FunctionDef) -> None:
    inner = deepcopy(function)
    inner.name, inner.decorator_list = "__body__", []
    inner.args.defaults = []
    names = [each.arg for each in inner.args.args]
    values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in ("__body__", *names)]
    call = ast.Call(ast.Name(AROUND, ast.Load()), values, [])
    function.body = [inner, ast.Return(call)]


def instrumented(path: Path, mutants: Sequence[tuple[int, Mutant]]) -> tuple[ast.Module, set[int]]:
    """The module that notes its changes (with their numbers), and which of them it can note."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(module))
    changes: dict[int, list[tuple[int, ast.AST]]] = defaultdict(list)
    for number, mutant in mutants:
        changes[id(nodes[mutant.node])].append((number, mutant.replacement))
    noted: set[int] = set()
    for owner, root, once in list(_expressions(module)):
        variants = list(_variants(owner, root, changes))
        if variants:
            noted.update(number for number, _ in variants)
            runs_once = isinstance(owner, ast.Expr) or _must_run_once(root, once)
            become(root, _noting(deepcopy(root), variants, runs_once))
    return ast.fix_missing_locations(module), noted


def _expressions(module: ast.Module) -> Iterator[tuple[ast.stmt, ast.expr, set[str]]]:
    """The outermost expressions of the statements within functions, and what has been read once."""
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef):
            continue
        once = _read_once(function)
        for node in ast.walk(function):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) or not isinstance(node, ast.stmt):
                continue
            for name in ("value", "test", "iter", "exc"):
                child = getattr(node, name, None)
                if isinstance(child, ast.expr):
                    yield node, child, once


def _read_once(function: ast.FunctionDef) -> set[str]:
    """The names that a function gives to iterators: whoever reads one leaves nothing of it."""
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _is_iterator(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_iterator(value: ast.expr) -> bool:
    called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.GeneratorExp) or called in ("map", "zip", "pairwise")


def _variants(
    owner: ast.stmt, root: ast.expr, changes: dict[int, list[tuple[int, ast.AST]]]
) -> Iterator[tuple[int, ast.expr]]:
    """The expression with each of its changes."""
    if isinstance(owner, ast.If):
        for number, replacement in changes.pop(id(owner), ()):
            assert isinstance(replacement, ast.If)
            yield number, replacement.test
    for node in list(ast.walk(root)):
        before = type(node), dict(node.__dict__)
        for number, replacement in changes.pop(id(node), ()):
            become(node, replacement)
            yield number, deepcopy(root)
            node.__class__ = before[0]
            node.__dict__.clear()
            node.__dict__.update(before[1])


def _noting(root: ast.expr, variants: Sequence[tuple[int, ast.expr]], runs_once: bool) -> ast.expr:
    numbers = ast.Tuple([ast.Constant(number) for number, _ in variants], ast.Load())
    if runs_once:
        call = ast.Call(ast.Name(REACHED, ast.Load()), [numbers], [])
        return ast.IfExp(call, root, ast.Constant(None))
    both = [_lambda(each) for each in (root, *(variant for _, variant in variants))]
    return ast.Call(ast.Name(COMPARED, ast.Load()), [numbers, *both], [])


def _must_run_once(root: ast.expr, once: set[str]) -> bool:
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and node.id in once:
            return True
        if isinstance(node, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
            if name in CHANGES_STATE or name == "super":
                return True
    return False


def _lambda(body: ast.expr) -> ast.Lambda:
    nothing = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(nothing, body)
