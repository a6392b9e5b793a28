"""Train the demo runs and keep their logs: `python demo_logs/make.py NAME ...` or `all`."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recipes import RECIPES, Recipe

HERE = Path(__file__).resolve().parent
TRAINERS = [
    "torch",
    "gymnasium",
    "stable-baselines3",
    "trl",
    "transformers",
    "numpy",
    "tensorboard",
]


def train(recipe: Recipe, scratch: Path) -> tuple[Path, int, float]:
    """Run the recipe's command in an empty folder; return folder, exit code and seconds."""
    workdir, code = scratch / "run", scratch / "code"
    workdir.mkdir()
    # Links, so that tracebacks in the logs contain no path of this machine.
    code.mkdir()
    for source in (*HERE.glob("*.py"), HERE.parent / "ppo_top"):
        (code / source.name).symlink_to(source)
    extra = {"PYTHONPATH": str(code), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    started = time.monotonic()
    with (workdir / "stdout.log").open("wb") as out, (workdir / "stderr.log").open("wb") as err:
        done = subprocess.run(
            [sys.executable, *shlex.split(recipe.command)],
            cwd=workdir,
            env=os.environ | extra | recipe.environment,
            stdout=out,
            stderr=out if recipe.merge_stderr else err,
        )
    return workdir, done.returncode, time.monotonic() - started


def kept(recipe: Recipe, workdir: Path) -> Iterator[tuple[Path, Path]]:
    """Each file to keep, and its path in the demo folder."""
    logs = workdir / "logs"
    for path in sorted(workdir.rglob("*")):
        base = logs if path.is_relative_to(logs) else workdir
        wanted = any(path.match(pattern) for pattern in recipe.keep)
        if path.is_file() and wanted and path.stat().st_size:
            yield path, path.relative_to(base)


def note(recipe: Recipe, code: int, seconds: float) -> str:
    """The note on how a run was made."""
    lines = [f"# {recipe.name}", "", recipe.about, "", "| | |", "|---|---|"]
    lines.append(f"| created by | `python demo_logs/make.py {recipe.name}` |")
    prefix = " ".join(f"{key}={value}" for key, value in recipe.environment.items())
    merged = " 2>&1" if recipe.merge_stderr else ""
    lines.append(f"| command | `{prefix + ' ' if prefix else ''}python {recipe.command}{merged}` |")
    lines.append(f"| exit code, wall time | {code}, {seconds:.0f} s on one CPU core |")
    lines.append(f"| date | {time.strftime('%Y-%m-%d', time.gmtime())} |")
    lines.append(f"| versions | {', '.join(versions())} |")
    lines += ["", "What to look for:", "", *(f"- {fact}" for fact in recipe.seen), ""]
    return "\n".join(lines)


def versions() -> Iterator[str]:
    """The installed versions of Python and of each trainer."""
    yield f"Python {platform.python_version()}"
    for package in TRAINERS:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def make(recipe: Recipe) -> None:
    """Train, then replace the demo folder with the new run's logs and note."""
    print(f"{recipe.name}: training", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        workdir, code, seconds = train(recipe, Path(scratch))
        folder = HERE / recipe.name
        shutil.rmtree(folder, ignore_errors=True)
        for path, target in kept(recipe, workdir):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / target)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "NOTE.md").write_text(note(recipe, code, seconds), encoding="utf-8")
    print(f"{recipe.name}: exit code {code}, {seconds:.0f} s", flush=True)


def main(names: list[str]) -> int:
    """Make the named demos; without a name, list them."""
    wanted = list(RECIPES) if names == ["all"] else names
    unknown = [name for name in wanted if name not in RECIPES]
    if unknown or not wanted:
        print(f"usage: make.py all | NAME ...   with NAME one of {', '.join(RECIPES)}")
        return 2
    for name in wanted:
        make(RECIPES[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
