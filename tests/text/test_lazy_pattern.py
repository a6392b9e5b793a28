"""A pattern that is compiled by the first text it is tried on, and is the pattern from then on."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ppo_top.text.lazy_pattern import LazyPattern, lazy_pattern

COMPILE_ALL = """
import gc, importlib, pkgutil
import ppo_top
from ppo_top.text.lazy_pattern import LazyPattern
for module in pkgutil.walk_packages(ppo_top.__path__, "ppo_top."):
    if not module.name.startswith(("ppo_top.demo.", "ppo_top.__main__")):
        importlib.import_module(module.name)
print(sum(bool(each.pattern) for each in gc.get_objects() if isinstance(each, LazyPattern)))
"""
"""All but what needs PyTorch, and what runs when it is imported."""

TEXT = "Kl=1 CLIP=22 x"


@pytest.mark.parametrize("use", ["findall", "search", "match", "fullmatch", "split"])
def test_it_does_what_the_pattern_does(use: str) -> None:
    """With text and with bytes, by whichever method comes first."""
    source = r"(?P<name>[a-z]+)=(\d+)"
    for each, text in ((source, TEXT), (source.encode(), TEXT.encode())):
        ours, theirs = LazyPattern(each, re.IGNORECASE), re.compile(each, re.IGNORECASE)
        assert str(getattr(ours, use)(text)) == str(getattr(theirs, use)(text))
        assert [match.span() for match in ours.finditer(text)] == [(0, 4), (5, 12)]
        for name in ("pattern", "flags", "groups", "groupindex"):
            assert getattr(ours, name) == getattr(theirs, name)


def test_it_compiles_when_it_is_used_and_not_before() -> None:
    """An expression that is none is an error only then."""
    with pytest.raises(re.error):
        lazy_pattern("(").search("text")
    assert not hasattr(lazy_pattern("a"), "no_method")


def test_all_patterns_of_the_program_are_expressions() -> None:
    """Nothing else would find a broken one before a log that needs it."""
    command = [sys.executable, "-c", COMPILE_ALL]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) > 100
