"""Which paths can hold logs: names of folders, suffixes, and paths inside one another."""

# ruff: noqa: PTH112, PTH113, PTH116
# Paths stay strings here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

SKIPPED_FOLDERS = frozenset(
    [
        ".git", ".hg", ".svn", "node_modules", "site-packages", "dist-packages",
        ".venv", ".tox", ".nox", ".eggs", "__pycache__", ".ipynb_checkpoints",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache", ".local",
        ".conda", ".npm", ".cargo", ".rustup",
    ]
)  # fmt: skip
"""Folders of tools and caches; one that is given as a PATH is searched all the same."""
NON_LOG_SUFFIXES = frozenset(
    [
        "pt", "pth", "ckpt", "safetensors", "bin", "onnx", "gguf", "h5", "hdf5", "msgpack",
        "pkl", "pickle", "parquet", "arrow", "zip", "gz", "tar", "whl", "lock",
        "png", "jpg", "jpeg", "gif", "svg", "webp", "mp4", "avi", "webm", "wav", "mp3", "pdf",
        "py", "pyc", "pyi", "ipynb", "c", "h", "cc", "cpp", "cu", "so", "o", "rs", "go", "js",
        "ts", "css", "html", "md", "rst", "sh", "toml", "xml", "pyx", "java",
    ]
)  # fmt: skip
"""No log has one of these after a single dot: a quick check before the formats' patterns."""
NOTEBOOK_SUFFIX = ".ipynb"
"""Of notebooks, which are read where they are asked for."""
TEXT_SUFFIXES = frozenset(
    ["txt", "log", "out", "csv", "tsv", "json", "jsonl", "db", "sqlite", "sqlite3", "ipynb"]
)
"""What is not a log by its name but may be one."""
PERMISSION_DENIED = "permission denied"
"""An error that waiting does not cure."""
SYSTEM_FOLDERS = frozenset(("/proc", "/sys", "/dev"))
"""Folders without regular files."""


def unreachable_reason(path: str | os.PathLike[str]) -> str:
    """Why a path cannot be read (`no such file or directory`, ...); empty if it can."""
    try:
        os.stat(path)
    except OSError as error:
        denied = error.errno == errno.EACCES
        return PERMISSION_DENIED if denied else (error.strerror or str(error)).lower()
    except ValueError:  # no file system can hold such a name
        return "no such file or directory"
    return "" if os.access(path, os.R_OK) else PERMISSION_DENIED


def is_notebook(name: str) -> bool:
    return name.endswith(NOTEBOOK_SUFFIX)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Like `Path.is_dir`, which raises if a parent folder may not be searched."""
    return os.path.isdir(path)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Like `Path.is_file`, which raises if a parent folder may not be searched."""
    return os.path.isfile(path)


def join_key(key: str, name: str) -> str:
    return f"{key}/{name}" if key else name


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def lies_among(path: str | os.PathLike[str], logs: Iterable[str | os.PathLike[str]]) -> bool:
    """Whether a path, its links followed, is one of these or inside one: nothing is written there.

    A log that is a file stands for itself only.
    """
    real = os.path.realpath(path)
    return any(is_inside(real, os.path.realpath(each)) for each in logs)


def without_nested(paths: Sequence[str]) -> list[str]:
    """Leave out duplicates and paths below another."""
    kept: list[str] = []
    real_paths = [os.path.realpath(path) for path in paths]
    for index, (path, real_path) in enumerate(zip(paths, real_paths, strict=True)):
        others = [other for other in real_paths if other != real_path]
        is_repeated = real_path in real_paths[:index]
        if not is_repeated and not any(_is_covered_by(other, real_path) for other in others):
            kept.append(path)
    return kept


def _is_covered_by(folder: str, path: str) -> bool:
    if not is_inside(path, folder):
        return False
    return SKIPPED_FOLDERS.isdisjoint(path[len(folder) :].split("/"))


NO_HOME = Path("/nonexistent")
"""The home of users that are to have none, as Debian has it."""


def config_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the user's own settings are (XDG base directories)."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def state_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where ppo-top keeps what it remembers (XDG base directories)."""
    return _xdg(environ, "XDG_STATE_HOME", ".local/state")


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where ppo-top keeps what it could compute again (XDG base directories)."""
    on_mac = sys.platform == "darwin"
    return _xdg(environ, "XDG_CACHE_HOME", "Library/Caches" if on_mac else ".cache")


def _xdg(environ: Mapping[str, str], name: str, below_home: str) -> Path:
    base = Path(environ.get(name) or ".")
    if not base.is_absolute():  # the specification: relative paths are to be ignored
        base = _home(environ) / below_home
    return base / "ppo-top"


def _home(environ: Mapping[str, str]) -> Path:
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:  # a container's user need not be known to it
        return NO_HOME


def make_own_directory(
    folder: Path, mode: int = 0o777, environ: Mapping[str, str] = os.environ
) -> None:
    """Make a directory of ours; OSError if that cannot be.

    A home that is not there is not made: whose home is `/nonexistent` is to have none.
    """
    home = _home(environ)
    if home in folder.parents and not is_folder(home):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(home))
    folder.mkdir(parents=True, mode=mode, exist_ok=True)
