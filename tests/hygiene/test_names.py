"""Names lead to one thing: a class, a module, a folder that says what it holds."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("ppo_top", "parsers", "tui")
FOLDERS = (*CODE, "tests", "benchmarks", "corpus", "demo_logs", "screenshots", "tools")
SENTENCE = re.compile(r"[^\n]{15,99}\.(\n\n|$)")
"""A first line that ends with a full stop, with nothing or an empty line below."""


def python_files(folders: Iterable[str]) -> list[str]:
    """The Python files below some folders; the links in `ppo_top` are left out."""
    return [
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
    ]


@cache
def modules() -> dict[str, ast.Module]:
    """Every Python file of the project by its path."""
    return {path: ast.parse((ROOT / path).read_text("utf-8")) for path in python_files(FOLDERS)}


def type_names(tree: ast.Module) -> list[str]:
    """The classes of a module, nested ones too, and its aliases of types (`Name = dict[...]`)."""
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    aliases = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and re.match(r"[A-Z]\w*[a-z]", target.id)
    ]
    return classes + aliases


def test_a_type_name_exists_once() -> None:
    """A stack trace and a jump to a symbol need no second look."""
    places = defaultdict(list)
    for path, tree in modules().items():
        for name in type_names(tree):
            places[name].append(path)
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_module_has_the_name_of_one_of_the_standard_library() -> None:
    """`import typing` in a script of the same folder would import the wrong one."""
    paths = [Path(path) for path in modules()]
    names = {path.parent.name if path.name == "__init__.py" else path.stem for path in paths}
    assert not (names - {"__main__"}) & sys.stdlib_module_names


@pytest.mark.parametrize("folder", sorted({path.rpartition("/")[0] for path in python_files(CODE)}))
def test_a_package_says_in_its_first_line_what_it_holds(folder: str) -> None:
    """Who looks for a file reads one line for each folder."""
    tree = modules().get(f"{folder}/__init__.py")
    assert tree is not None
    assert SENTENCE.match(ast.get_docstring(tree) or "")
