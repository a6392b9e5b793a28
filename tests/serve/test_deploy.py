"""What is shipped in `deploy/` asks for metrics that exist, and calls options that exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ppo_top.catalogue import concepts
from ppo_top.cli.commands import command_lines
from ppo_top.serve.metric_families import FLEET_HELP, RUN_HELP, value_family
from tests.support.growing_logs import DEMO_LOGS_FOLDER

ROOT = DEMO_LOGS_FOLDER.parent
FILES = sorted(path for path in (ROOT / "deploy").rglob("*") if path.is_file())
DOCUMENT = ROOT / "docs" / "fleet.md"
EXPORTED = {
    *(f"ppo_top_{name}" for name in (*RUN_HELP, *FLEET_HELP)),
    *map(value_family, concepts()),
}
RECORDED = {"ppo_top_runs_in_trouble", "ppo_top_run_silence", "ppo_top_run_progress"}
"""Names between the colons of recorded series."""
OTHER_WORDS = {"ppo_top_ann", "ppo_top_value"}
"""Names of textfiles, and the prefix that documents speak of."""


@pytest.mark.parametrize("path", [*FILES, DOCUMENT], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_metric_that_is_named_is_exported(path: Path) -> None:
    """A metric that is renamed takes alerts, dashboard and documents along."""
    named = set(re.findall(r"\bppo_top_[a-z_]*[a-z]", path.read_text("utf-8")))
    assert named <= EXPORTED | RECORDED | OTHER_WORDS


@pytest.mark.parametrize("path", [*FILES, DOCUMENT], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_option_of_serve_that_is_used_exists(path: Path) -> None:
    """In scripts, units, manifests and documents."""
    flags = {flag for each in command_lines()["serve"].arguments for flag in each.flags}
    joined = path.read_text("utf-8").replace("\\\n", " ")
    calls = re.findall(r"\bserve\b(?!\])[^\n|`]*", joined)
    used = {flag for call in calls for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", call)}
    assert used <= flags | {"--unix-socket"}  # that of curl, in a comment


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """Every key and value of it; the program itself need not be installed here."""
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("needs systemd-analyze")
    text = (ROOT / "deploy" / "systemd" / "ppo-top.service").read_text("utf-8")
    unit = tmp_path / "ppo-top.service"
    unit.write_text(re.sub(r"(?<=ExecStart=)\S+", "/bin/true", text.replace("man:ppo-top(1)", "")))
    command = [analyze, "--user", "verify", str(unit)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_the_dashboard_shows_every_run_by_default() -> None:
    """Each panel that is about runs can be narrowed to some of them."""
    board = json.loads((ROOT / "deploy" / "grafana" / "ppo-top.json").read_text("utf-8"))
    assert {each["name"] for each in board["templating"]["list"]} == {"datasource", "run"}
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    about_runs = [text for text in asked if not re.match("count|sum", text)]
    assert len(about_runs) >= 6
    assert all('run=~"$run"' in text for text in about_runs)
