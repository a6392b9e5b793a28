"""What is installed: every folder of the project, under one top-level name, with its data."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {"ppo_top": "ppo_top", "parsers": "ppo_top.parsers", "tui": "ppo_top.tui"}


def settings() -> dict[str, object]:
    """The setuptools part of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        table: dict[str, object] = tomllib.load(file)["tool"]["setuptools"]
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
    """A folder that is missing works in a checkout and is absent from the wheel."""
    assert set(settings()["packages"]) == packages_on_disk()  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project copied without its links (as a zip of it would be), built to a wheel by pip."""
    tree = tmp_path_factory.mktemp("tree")
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip("not a checkout")
    for name in archive.stdout.decode().split("\0"):
        source = ROOT / name
        if name and source.is_file() and not source.is_symlink():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(tree)]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_holds_one_top_level_name(built: Path) -> None:
    """`parsers` and `tui` at the top level of site-packages would collide with other projects."""
    names = {name.split("/")[0] for name in zipfile.ZipFile(built).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"ppo_top"}


def test_the_wheel_holds_the_data_that_is_needed_at_run_time(built: Path) -> None:
    """Tables of the catalogue and the demo logs are no Python files, and yet needed."""
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


def test_the_wheel_runs_without_the_checkout(built: Path, tmp_path: Path) -> None:
    """Unpacked elsewhere, the program finds all its parts."""
    zipfile.ZipFile(built).extractall(tmp_path)
    code = "import ppo_top.cli as c; raise SystemExit(c.main(['explain', 'kl-high']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "KL" in done.stdout


def test_nothing_in_the_project_leans_on_what_is_outside_it() -> None:
    """A clone alone builds and tests; links stay inside."""
    for link in (path for path in (ROOT / "ppo_top").iterdir() if path.is_symlink()):
        assert link.resolve().is_relative_to(ROOT)
