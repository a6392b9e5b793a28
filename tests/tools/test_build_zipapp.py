"""The program as one file: it runs where there is nothing but Python."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.servers import eventually
from tests.support.terminal import run_until_shown
from tools import build_zipapp
from tools.build_zipapp import HEADLESS, MAIN, SCREEN

RUN = DEMO_LOGS_FOLDER / "trl_grpo_lr1e-1"
OURS = re.compile(r"ppo_top/.*\.py")
SCREEN_FOLDERS = ("ppo_top/tui/", "ppo_top/demo/", "ppo_top/serve/")
BARE = ["-I", "-S"]
"""Neither site-packages nor variables nor the current directory: a node without anything."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both files."""
    folder = tmp_path_factory.mktemp("dist")
    build_zipapp.build(folder)
    return folder


def run(
    python: str, program: Path, *arguments: str, home: Path
) -> subprocess.CompletedProcess[str]:
    """Run one of the files with a Python, in an empty environment and a directory of its own."""
    return subprocess.run(
        [python, *BARE, str(program), *arguments],
        cwd=home,
        env={"HOME": str(home)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_what_is_left_out_is_used_by_the_screen_alone(built: Path) -> None:
    """No module of the headless file imports one that only the screen's file has."""
    with zipfile.ZipFile(built / HEADLESS) as inside:
        names = {name for name in inside.namelist() if name.endswith(".py")}
        sources = {name: inside.read(name).decode() for name in names}
    ours = {name for name in zipfile.ZipFile(built / SCREEN).namelist() if OURS.fullmatch(name)}
    alone = {name for name in ours - names if not name.startswith(SCREEN_FOLDERS)}
    modules = {name.removesuffix(".py").replace("/", ".") for name in alone}
    assert modules
    for name, source in sources.items():
        assert not modules & imported(source), name


def imported(source: str) -> set[str]:
    """The modules, and what may be modules, that a source imports."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


def test_the_headless_file_is_small_and_holds_only_ours(built: Path) -> None:
    """Under a megabyte, without the screen; the one with it needs what Textual needs."""
    names = zipfile.ZipFile(built / HEADLESS).namelist()
    assert (built / HEADLESS).stat().st_size < 1_000_000
    assert {name.split("/")[0] for name in names} == {"__main__.py", "ppo_top"}
    assert "ppo_top/catalogue/concepts.tsv" in names
    assert not [name for name in names if name.startswith(SCREEN_FOLDERS)]
    assert "textual/app.py" in zipfile.ZipFile(built / SCREEN).namelist()


def test_the_same_sources_make_the_same_file(built: Path, tmp_path: Path) -> None:
    """Whoever builds it can compare."""
    again, _ = build_zipapp.build(tmp_path)
    assert again.read_bytes() == (built / HEADLESS).read_bytes()


@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13", "python3.14"])
def test_it_judges_as_the_installed_program_does(
    name: str, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With each Python of this machine; the second answer comes from its cache."""
    python = shutil.which(name)
    here = name == f"python3.{sys.version_info.minor}"
    if here:
        python = sys.executable
    if (
        python is None
        or subprocess.run([python, "-V"], capture_output=True, check=False).returncode
    ):
        pytest.skip(f"no {name} here")
    code = main(["check", "--json", "--no-cache", str(RUN)])
    said = capsys.readouterr().out
    for _ in range(2 if here else 1):
        done = run(python, built / HEADLESS, "check", "--json", str(RUN), home=tmp_path)
        assert (done.returncode, done.stderr) == (code, "")
        assert json.loads(done.stdout) == json.loads(said)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["export", "--format", "jsonl", str(RUN)], '"tag": "clip_ratio/high_max"'),
        (["explain", "kl-high"], "Update KL too high"),
        (["report", str(RUN), "-o", "-"], "<!doctype html>"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_the_other_commands_run(
    arguments: list[str], word: str, built: Path, tmp_path: Path
) -> None:
    """What they read of the program's data is in the file."""
    done = run(sys.executable, built / HEADLESS, *arguments, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert word in done.stdout


@pytest.mark.parametrize("arguments", [[str(RUN)], ["replay", str(RUN)], ["demo"]])
def test_the_screen_is_missed_in_a_sentence(
    arguments: list[str], built: Path, tmp_path: Path
) -> None:
    """In a terminal, where the monitor would start."""
    command = [sys.executable, *BARE, str(built / HEADLESS), *arguments]
    code, said = run_until_shown(command, "no such word", 60.0, {"HOME": str(tmp_path)})
    assert code == 2
    assert said.count("\n") == 1
    assert "the screen needs textual, which is not installed here" in said


@pytest.mark.parametrize("command", ["serve", "status --format prometheus"])
def test_metrics_are_for_the_larger_file(command: str, built: Path, tmp_path: Path) -> None:
    """The smaller one says so in a sentence."""
    words = (*command.split(), str(RUN))
    done = run(sys.executable, built / HEADLESS, *words, home=tmp_path)
    said = f"ppo-top: `{command}` needs prometheus_client: ppo-top-screen.pyz has it\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_the_larger_file_has_the_metrics(built: Path, tmp_path: Path) -> None:
    """Those of one look, and those that `serve` writes for node_exporter."""
    words = ("status", "--format", "prometheus", str(RUN))
    once = run(sys.executable, built / SCREEN, *words, home=tmp_path)
    assert (once.returncode, once.stderr) == (0, "")
    assert "\nppo_top_run_severity{" in once.stdout
    textfile = tmp_path / "textfiles" / "ppo_top.prom"
    textfile.parent.mkdir()
    options = ["--no-listen", "--textfile", str(textfile), "--active", "0", "--retire", "0"]
    command = [sys.executable, *BARE, str(built / SCREEN), "serve", *options, str(RUN)]
    with subprocess.Popen(command, env={"HOME": str(tmp_path)}, stderr=subprocess.PIPE) as process:
        try:
            eventually(textfile.exists, "textfile")
            assert b"\nppo_top_run_severity{" in textfile.read_bytes()
        finally:
            process.terminate()


def test_the_larger_file_has_the_screen(built: Path, tmp_path: Path) -> None:
    """It shows a finding; only the logs of the demo are missing."""
    env = {"HOME": str(tmp_path), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    program = [sys.executable, *BARE, str(built / SCREEN)]
    code, screen = run_until_shown([*program, str(RUN)], "\N{BALLOT X}", 60.0, env)
    assert code == 0, screen
    code, said = run_until_shown([*program, "demo"], "no such word", 60.0, env)
    assert code == 2
    assert "the logs of the demo are not in this file" in said


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence and code 2, before anything is imported that it could not read."""
    err = io.StringIO()
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit) as ended:
        exec(MAIN, {})
    assert ended.value.code == 2
    assert err.getvalue() == "ppo-top: needs Python 3.11 or newer, this is 3.8\n"
