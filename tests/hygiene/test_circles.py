"""No two modules need each other, not even inside a function or for a type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ppo_top", "parsers", "tui", "tools", "benchmarks", "corpus")
FRONT = "ppo_top"
"""Hands on what the library offers when asked, and holds the version that all may name."""


def modules() -> dict[str, ast.Module]:
    """Every module by its name; those of `parsers` and `tui` belong to `ppo_top`."""
    found = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if not any(parent.is_symlink() for parent in path.parents):
                parts = path.relative_to(ROOT).with_suffix("").parts
                inside = ("ppo_top",) if folder in ("parsers", "tui") else ()
                name = ".".join((*inside, *parts)).removesuffix(".__init__")
                found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module, names: set[str]) -> Iterator[str]:
    """The modules that a module imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{each.name}" for each in node.names} & names
            yield from parts or {node.module} & names
        elif isinstance(node, ast.Import):
            yield from {each.name for each in node.names} & names


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Each can be read without those that rest on it."""
    trees = modules()
    names = set(trees) - {FRONT}
    graph = {name: {*imported(trees[name], names)} for name in names}
    assert len([*TopologicalSorter(graph).static_order()]) == len(names) > 500
