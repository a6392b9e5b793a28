"""What is installed: every folder of the project, under one top-level name, with its data."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import run_until_shown

ROOT = Path(__file__).parents[2]
LARGE = ("corpus/runs/", "tests/data/", "screenshots/")
FOLDERS = {"ppo_top": "ppo_top", "parsers": "ppo_top.parsers", "tui": "ppo_top.tui"}


def settings() -> dict[str, Any]:
    """The setuptools part of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        table: dict[str, Any] = tomllib.load(file)["tool"]["setuptools"]
    return table


def packages_on_disk() -> set[str]:
    """Every folder that holds Python modules, under the name by which it is imported."""
    found = {"ppo_top.demo_logs"}
    for folder, name in FOLDERS.items():
        for module in (ROOT / folder).rglob("*.py"):
            inside = module.parent.relative_to(ROOT / folder)
            linked = any(parent.is_symlink() for parent in [module.parent, *module.parents])
            if not linked:
                found.add(".".join([name, *inside.parts]))
    return found


def test_every_folder_is_in_the_list_of_packages() -> None:
    """A folder missing from the list works in a checkout and is absent from the wheel."""
    assert set(settings()["packages"]) == packages_on_disk()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from the project without its links (as a zip of it is)."""
    tree = tmp_path_factory.mktemp("tree")
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip("not a checkout")
    for name in archive.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and not path.is_symlink() and not name.startswith(LARGE):
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    out = tmp_path_factory.mktemp("source")
    build = [sys.executable, "-m", "build", "--sdist", "-o", str(out), str(tree)]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds from the source distribution."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture
def unpacked(built: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which the wheel's content comes first, away from the checkout."""
    zipfile.ZipFile(built).extractall(tmp_path / "site")
    return {**os.environ, "PYTHONPATH": str(tmp_path / "site")}


def test_the_source_distribution_holds_the_program_and_no_more(source: Path) -> None:
    """Recordings and pictures would make it ten times as large."""
    with tarfile.open(source) as archive:
        folders = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "docs",
        "demo_logs",
        "parsers",
        "tui",
    } <= folders
    assert not folders & {"tests", "corpus", "benchmarks", "screenshots", "tools"}


def test_the_wheel_holds_one_top_level_name(built: Path) -> None:
    """`parsers` and `tui` at the top level of site-packages would collide with other projects."""
    names = {name.split("/")[0] for name in zipfile.ZipFile(built).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"ppo_top"}


def test_the_wheel_holds_the_data_that_is_needed_at_run_time(built: Path) -> None:
    """The tables of the catalogue and the demo logs are included."""
    names = set(zipfile.ZipFile(built).namelist())
    for folder, prefix, pattern in (
        ("ppo_top/catalogue", "ppo_top/catalogue", "*.tsv"),
        ("demo_logs", "ppo_top/demo_logs", "*/*"),
    ):
        wanted = {
            f"{prefix}/{path.relative_to(ROOT / folder).as_posix()}"
            for path in (ROOT / folder).glob(pattern)
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted
        assert wanted <= names


def test_the_wheel_holds_every_module_and_no_recording(built: Path) -> None:
    """What is in the wheel is what lies in the three folders and the demo logs."""
    names = {name for name in zipfile.ZipFile(built).namelist() if ".dist-info/" not in name}
    modules = {
        f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, package in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
    }
    assert {name for name in names if name.endswith(".py") and "/demo_logs/" not in name} == modules
    assert not [name for name in names if name.endswith(".pyc") or "/tests/" in name]
    assert Path(built).stat().st_size < 3_000_000


def test_what_would_be_uploaded_passes_the_check_of_the_index(source: Path, built: Path) -> None:
    """The long description renders and the metadata is valid (twine: extra `lint`)."""
    pytest.importorskip("twine", reason="comes with the extra `lint`")
    check = [sys.executable, "-m", "twine", "check", "--strict", str(source), str(built)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["explain", "kl-high"], 0, "KL"),
        (["check", str(ROOT / "demo_logs" / "torch_cartpole")], 0, "torch_cartpole"),
        (["check", str(ROOT / "demo_logs" / "torch_cartpole_lr")], 1, "KL"),
    ],
)
def test_the_wheel_runs_without_the_checkout(
    unpacked: dict[str, str], arguments: list[str], code: int, word: str, tmp_path: Path
) -> None:
    """Unpacked elsewhere, the program finds all its parts and judges."""
    done = subprocess.run(
        [sys.executable, "-m", "ppo_top", *arguments],
        cwd=tmp_path,
        env=unpacked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert word in done.stdout


def test_the_wheel_brings_the_logs_of_the_demo(unpacked: dict[str, str], tmp_path: Path) -> None:
    """`ppo-top demo` shows a finding without the checkout."""
    unpacked.update(TERM="xterm-256color", PYTHONSAFEPATH="1")
    where = [sys.executable, "-c", "from ppo_top.demo import shipped_logs; print(shipped_logs())"]
    shown = subprocess.run(where, env=unpacked, capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()).is_relative_to(tmp_path)
    code, screen = run_until_shown(
        [sys.executable, "-m", "ppo_top", "demo"], "\N{BALLOT X}", 60.0, unpacked
    )
    assert code == 0, screen


def test_links_stay_inside_the_project() -> None:
    """A clone alone can be built and tested."""
    for link in (path for path in (ROOT / "ppo_top").iterdir() if path.is_symlink()):
        assert link.resolve().is_relative_to(ROOT)
