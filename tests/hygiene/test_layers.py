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


def lint(tree: Path) -> tuple[set[str], str]:
    """The names of the contracts that do not hold in a tree, and what import-linter prints."""
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
    return found, done.stdout


def test_the_code_keeps_its_contracts(tree: Path) -> None:
    """Nothing in the project breaks a layer."""
    assert lint(tree)[0] == set()


PLANTED = {
    LAYERS: {
        "ppo_top/model/__init__.py": "import ppo_top.catalogue",
        "ppo_top/runs/session.py": "import ppo_top.tui.state.keys",
        "ppo_top/parsers/tensorboard/parser.py": "import ppo_top.rules.judge",
        "ppo_top/rules/book/reward/crash.py": "import ppo_top.parsers.base",
        "ppo_top/unlisted.py": "",
        "ppo_top/serve/fleet.py": "import ppo_top.tui.state.keys",
    },
    TUI_LAYERS: {
        "ppo_top/tui/draw/header.py": "import ppo_top.tui.app.canvas",
        "ppo_top/tui/state/keys.py": "import ppo_top.tui.draw.header",
        "ppo_top/tui/graphics/theme.py": "import ppo_top.tui.state.keys",
        "ppo_top/tui/unlisted.py": "",
    },
    RULE_LAYERS: {
        "ppo_top/rules/engine/rule.py": "import ppo_top.rules.book.reward.crash",
        "ppo_top/rules/advice/phrases.py": "import ppo_top.rules.judge",
        "ppo_top/rules/unlisted.py": "",
    },
    CONSOLE_LAYERS: {
        "ppo_top/parsers/console/lines/unwrap.py": f"import {CONSOLE}.records.dicts",
        "ppo_top/parsers/console/unlisted.py": "",
    },
    HELPER_LAYERS: {
        "ppo_top/parsers/shared/text/plain_text.py": f"import {HELPERS}.names",
        "ppo_top/parsers/shared/unlisted.py": "",
    },
    LIBRARIES: {
        "ppo_top/output/reports/text_report.py": "import rich.text",
        "ppo_top/cli/commands.py": "import textual",
        "ppo_top/tui/draw/header.py": "import textual.widget",
        "ppo_top/tui/state/keys.py": "from rich.style import Style",
        "ppo_top/tui/graphics/theme.py": "import textual.color",
        "ppo_top/tui/graphics/sparkline.py": "import plotext",
    },
    TRAINER: {
        "ppo_top/files/tail.py": "import torch",
        "ppo_top/tui/draw/charts/zoom_chart.py": "import gymnasium",
        "ppo_top/parsers/tensorboard/event.py": "import tensorboard.compat.proto",
    },
    CLIENT: {
        "ppo_top/output/follow.py": "import prometheus_client",
    },
    FORMATS: {
        "ppo_top/parsers/csv_table.py": "from ppo_top.parsers import tensorboard",
        "ppo_top/parsers/shared/stores/magic.py": "import ppo_top.parsers.csv_table",
        "ppo_top/parsers/newcomer.py": "from ppo_top.parsers.csv_table import FORMAT",
    },
}
"""Contract -> module -> the line in it that violates it; without one, the module is unlisted."""


def test_every_contract_is_violated() -> None:
    """None is left untried."""
    assert PLANTED.keys() == set(CONTRACTS)


@pytest.mark.parametrize("contract", PLANTED)
def test_planted_imports_are_found(tree: Path, contract: str) -> None:
    """Each violation is named, by the contract that forbids it and no other."""
    for module, line in PLANTED[contract].items():
        with open(tree / module, "a") as file:
            file.write(f"\n{line}\n")
    broken, report = lint(tree)
    assert broken == {contract}
    planted = {module.removesuffix(".py").replace("/", ".") for module in PLANTED[contract]}
    assert {name for name in planted if name.removesuffix(".__init__") not in report} == set()
