"""Each contract of import-linter holds, and a planted violation breaks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

pytest.importorskip("importlinter", reason="comes with the extra `lint`")

ROOT = Path(__file__).parents[2]
LAYERS = "Layers: what is above may use what is below, never the other way round"
TUI_LAYERS = "Layers of the screen: app, draw, state, graphics"
RULE_LAYERS = "Layers of the rules: judging uses the book, the book uses the engine"
CONSOLE_LAYERS = "Layers of the console: the parser reads records, records are found in lines"
HELPER_LAYERS = "Layers of the formats' helpers: stores, tables and documents, names, text"
LIBRARIES = "Textual is for tui.app, Rich for it and tui.graphics, plotext for one plot"
TRAINER = "Watching never needs a trainer"
CLIENT = "The Prometheus client is for serve alone"
FORMATS = "A log format knows no other log format"
CONTRACTS = (
    LAYERS,
    TUI_LAYERS,
    RULE_LAYERS,
    CONSOLE_LAYERS,
    HELPER_LAYERS,
    LIBRARIES,
    TRAINER,
    CLIENT,
    FORMATS,
)
CONSOLE, HELPERS = "ppo_top.parsers.console", "ppo_top.parsers.shared"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The code of the project, without links and caches."""
    for folder in ("ppo_top", "ppo_top/parsers", "ppo_top/tui"):
        source = ROOT / Path(folder).name
        hidden = ignore_patterns(
            "__pycache__", "demo_logs", *(["tui", "parsers"] * (folder == "ppo_top"))
        )
        copytree(source, tmp_path / folder, ignore=hidden)
    helper = Path("tests", "support", "import_contracts.py")
    (tmp_path / helper).parent.mkdir(parents=True)
    copy(ROOT / helper, tmp_path / helper)
    copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken(tree: Path) -> set[str]:
    """The names of the contracts that do not hold in a tree."""
    code = "import importlinter.cli as c; raise SystemExit(c.lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False
    )
    verdicts = {
        name: verdict
        for name in CONTRACTS
        for verdict in ("KEPT", "BROKEN")
        if f"{name} {verdict}" in done.stdout
    }
    assert len(verdicts) == len(CONTRACTS), done.stdout + done.stderr
    found = {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
    assert bool(found) == bool(done.returncode)
    return found


def test_the_code_keeps_its_contracts(tree: Path) -> None:
    """Nothing in the project breaks a layer."""
    assert not broken(tree)


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("ppo_top/model/__init__.py", "import ppo_top.catalogue", LAYERS),
        ("ppo_top/runs/session.py", "import ppo_top.tui.state.keys", LAYERS),
        ("ppo_top/parsers/tensorboard/parser.py", "import ppo_top.rules.judge", LAYERS),
        ("ppo_top/rules/book/reward/crash.py", "import ppo_top.parsers.base", LAYERS),
        ("ppo_top/unlisted.py", "", LAYERS),
        ("ppo_top/tui/draw/header.py", "import ppo_top.tui.app.canvas", TUI_LAYERS),
        ("ppo_top/tui/state/keys.py", "import ppo_top.tui.draw.header", TUI_LAYERS),
        ("ppo_top/tui/graphics/theme.py", "import ppo_top.tui.state.keys", TUI_LAYERS),
        ("ppo_top/tui/unlisted.py", "", TUI_LAYERS),
        ("ppo_top/rules/engine/rule.py", "import ppo_top.rules.book.reward.crash", RULE_LAYERS),
        ("ppo_top/rules/advice/phrases.py", "import ppo_top.rules.judge", RULE_LAYERS),
        ("ppo_top/rules/unlisted.py", "", RULE_LAYERS),
        ("ppo_top/output/text_report.py", "import rich.text", LIBRARIES),
        ("ppo_top/cli/commands.py", "import textual", LIBRARIES),
        ("ppo_top/tui/draw/header.py", "import textual.widget", LIBRARIES),
        ("ppo_top/tui/state/keys.py", "from rich.style import Style", LIBRARIES),
        ("ppo_top/tui/graphics/theme.py", "import textual.color", LIBRARIES),
        ("ppo_top/tui/graphics/sparkline.py", "import plotext", LIBRARIES),
        ("ppo_top/files/tail.py", "import torch", TRAINER),
        ("ppo_top/tui/draw/zoom_chart.py", "import gymnasium", TRAINER),
        ("ppo_top/parsers/tensorboard/event.py", "import tensorboard.compat.proto", TRAINER),
        ("ppo_top/output/follow.py", "import prometheus_client", CLIENT),
        ("ppo_top/serve/fleet.py", "import ppo_top.tui.state.keys", LAYERS),
        ("ppo_top/parsers/csv_table.py", "from ppo_top.parsers import tensorboard", FORMATS),
        (
            "ppo_top/parsers/console/lines/unwrap.py",
            f"import {CONSOLE}.records.dicts",
            CONSOLE_LAYERS,
        ),
        ("ppo_top/parsers/console/unlisted.py", "", CONSOLE_LAYERS),
        (
            "ppo_top/parsers/shared/text/plain_text.py",
            f"import {HELPERS}.names",
            HELPER_LAYERS,
        ),
        ("ppo_top/parsers/shared/unlisted.py", "", HELPER_LAYERS),
        ("ppo_top/parsers/shared/stores/magic.py", "import ppo_top.parsers.csv_table", FORMATS),
        ("ppo_top/parsers/newcomer.py", "from ppo_top.parsers.csv_table import FORMAT", FORMATS),
    ],
)
def test_a_planted_import_is_found(tree: Path, module: str, line: str, contract: str) -> None:
    """A violation breaks the contract that forbids it, and no other."""
    with open(tree / module, "a") as file:
        file.write(f"\n{line}\n")
    assert broken(tree) == {contract}
