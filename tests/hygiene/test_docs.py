"""The documents are right: tables come from the code, commands run, links have a target."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ppo_top.catalogue import concept_like
from ppo_top.cli import main
from ppo_top.cli.commands import COMMANDS
from ppo_top.model import Severity, State, Status
from ppo_top.output.export import EXPORT_COLUMNS
from ppo_top.parsers import detect_format, formats
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.rules.book import RULES
from ppo_top.settings import load_settings
from ppo_top.tui.state.keys import KEYS
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tools.docs import PARTS, ROOT, SYSTEMS, LogSystem, fill_parts

README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "corpus" / "README.md"})
HEADLESS = {"check", "status", "export", "explain"}


def blocks(language: str) -> list[str]:
    """The code blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def calls() -> list[str]:
    """Every line of the README's shell blocks that calls the program."""
    lines = "".join(blocks("sh")).splitlines()
    return [line for line in lines if re.search(r"(^|\| )ppo-top", line)]


def arguments_of(line: str) -> list[str]:
    """The arguments that a line of shell gives to ppo-top."""
    parts = shlex.split(line, comments=True)
    start = parts.index("ppo-top") + 1
    ends = [index for index in range(start, len(parts)) if parts[index] in ("||", ">", "|")]
    return parts[start : ends[0] if ends else None]


@pytest.mark.parametrize("path", PARTS)
def test_generated_parts_are_up_to_date(path: str) -> None:
    """Run `python -m tools.docs` when this fails."""
    text = (ROOT / path).read_text("utf-8")
    assert fill_parts(text, PARTS[path]) == text


def test_every_field_that_programs_may_read_is_documented(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """docs/output.md names every field and value that `check --json` and `export` write."""
    text = (ROOT / "docs" / "output.md").read_text("utf-8")
    documented = set(re.findall(r"`([a-z_-]+)`", text)) | set(EXPORT_COLUMNS)
    main(["check", str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2"), "--json"])
    whole = json.loads(capsys.readouterr().out)
    (found,) = whole["runs"]
    parts = (found["sources"], found["metrics"], found["checklist"], found["findings"])
    fields = {*whole, *found, *found["progress"], *(key for part in parts for key in part[0])}
    assert fields <= documented, fields - documented
    values = {each.value for each in (*State, *Status)} | {each.word for each in Severity}
    assert values <= documented, values - documented


def test_the_readme_lists_every_key() -> None:
    """What it does stands beside it."""
    assert all(f"`{key.label}` | {key.description} |" in README for key in KEYS)


def test_the_readme_is_short() -> None:
    """It can be read in a few minutes."""
    assert len(README.splitlines()) <= 210


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_have_a_target(path: Path) -> None:
    """Links to files and pictures of the project are right."""
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("line", calls())
def test_documented_commands_parse(line: str) -> None:
    """Every option that the README uses exists."""
    name, *rest = arguments_of(line)
    if name not in COMMANDS:
        name, rest = "watch", [name, *rest]
    parser = argparse.ArgumentParser()
    COMMANDS[name][0](parser)
    parser.parse_args(rest)


@pytest.mark.parametrize("line", [line for line in calls() if arguments_of(line)[0] in HEADLESS])
def test_a_headless_command_runs(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints something for a directory with a healthy and a sick run."""
    for run in ("torch_cartpole", "torch_cartpole_lr"):
        shutil.copytree(ROOT / "demo_logs" / run, tmp_path / "runs" / run)
    monkeypatch.chdir(tmp_path)
    arguments = arguments_of(line)
    judges = arguments[0] == "check" and "--backtest" not in arguments
    assert main(arguments) == (1 if judges else 0)
    assert capsys.readouterr().out


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_filters_of_jq_find_something(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that are documented for the JSON of a check, in the version that is installed."""
    main(["check", str(ROOT / "demo_logs" / "torch_cartpole_lr"), "--json"])
    verdict = capsys.readouterr().out
    text = (ROOT / "docs" / "output.md").read_text("utf-8")
    filters = re.findall(r"^ppo-top check ./runs --json \| (jq .+)$", text, re.MULTILINE)
    assert filters
    for line in filters:
        run = subprocess.run(shlex.split(line), input=verdict, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout and "null" not in run.stdout


def test_the_settings_example_is_valid(tmp_path: Path) -> None:
    """Every part of the example takes effect."""
    (example,) = blocks("toml")
    path = tmp_path / "ppo-top.toml"
    path.write_text(example)
    known = {rule.id: rule.threshold_names for rule in RULES}
    settings = load_settings(
        None, lambda: known, concept_like, {"HOME": str(tmp_path)}, user_file=path
    )
    assert settings.problems == ()
    assert settings.goal == 475
    assert settings.muted
    assert settings.thresholds
    assert settings.tags
    assert settings.rules
    assert settings.desktop
    assert settings.runs.join and settings.runs.split


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_documented_formats_are_recognised(system: LogSystem) -> None:
    """Real files of each system are detected as the formats that the README names."""
    found = set()
    for pattern in system.samples:
        paths = sorted(ROOT.glob(pattern))
        assert paths, pattern
        for path in paths:
            with open(path, "rb") as file:
                format_ = detect_format(path.name, file.read(HEAD_BYTES))
            assert isinstance(format_, Format), path
            found.add(format_.name)
    assert found <= set(system.formats)


def test_every_format_is_documented() -> None:
    """The README's table covers every parser."""
    assert {name for each in SYSTEMS for name in each.formats} == {each.name for each in formats()}


def test_the_tools_of_ci_are_those_of_the_readme() -> None:
    """CI runs the two marked commands word for word."""
    script = (ROOT / ".ci" / "run").read_text()
    for name in ("install-command", "test-command"):
        assert f"<!-- {name} -->\n```sh\npython3 -m venv .venv && " in README
        assert name in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
