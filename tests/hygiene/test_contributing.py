"""CONTRIBUTING names files that exist, and the words of the program are in the glossary."""

from __future__ import annotations

import re
import tomllib

import pytest

from ppo_top.model import Severity, State, Verdict
from tools.docs import MAN_PAGE, ROOT
from tools.man_page import man_page

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PATHS = sorted(
    set(
        re.findall(
            r"`((?:ppo_top|parsers|tui|tests|tools|docs|benchmarks)/[\w./-]*)`", CONTRIBUTING
        )
    )
    - {"parsers/", "tests/parsers/test_mylog.py"}
)
"""Every path between backquotes, but for examples."""


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_named_exists(path: str) -> None:
    """A file that moves takes its line of the map along."""
    assert (ROOT / path).exists()


def test_the_map_answers_twenty_questions() -> None:
    """Each with at least one file."""
    section = CONTRIBUTING.partition("## Where is ...?")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if "?" in line]
    assert len(rows) >= 20
    assert all(re.search(r"`[a-z_]+/[\w/-]+\.\w+`", row) for row in rows)


def test_every_module_of_the_way_of_a_byte_exists() -> None:
    """The picture names modules by folder and file."""
    picture = CONTRIBUTING.partition("```\n")[2].partition("```")[0]
    folder = None
    for line in picture.splitlines():
        found = re.match(r"^ (?:(\w+)/)? +([\w/]*\w) {2,}", line)
        if found is None or found[2] == "a":
            continue
        folder = found[1] or folder
        assert (ROOT / "ppo_top" / str(folder) / f"{found[2]}.py").exists(), line


def test_folders_stand_in_the_order_of_their_layers() -> None:
    """The table says that each may import only from those below it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    depth = {name: at for at, layer in enumerate(layers) for name in layer.split(" | ")}
    table = CONTRIBUTING.partition("## Folders")[2].partition("\n## ")[0]
    firsts = re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE)
    named = [re.findall(r"`(?:ppo_top/)?(\w+)(?:/|\.py)", first) for first in firsts]
    known = [depth[name] for names in named for name in names if name in depth]
    assert known == sorted(known) and set(known) == set(range(1, len(layers)))


def test_the_glossary_has_the_words_of_verdicts_and_states() -> None:
    """Whatever the program says of a run is explained there."""
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = {each.words for each in (*State, *Verdict)} | {each.word for each in Severity}
    assert all(word in text for word in words), [word for word in words if word not in text]


def test_the_man_page_is_up_to_date() -> None:
    """Run `python -m tools.docs` when this fails."""
    assert MAN_PAGE.read_text("utf-8") == man_page()
