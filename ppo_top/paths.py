"""Which places can hold logs at all: names of folders and endings, and paths inside one another."""

# ruff: noqa: PTH112, PTH113, PTH116
# Paths stay text here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

SKIPPED_FOLDERS = frozenset(
    [
        *(".git", ".hg", ".svn", "node_modules", "site-packages", "dist-packages"),
        *(".venv", ".tox", ".nox", ".eggs", "__pycache__", ".ipynb_checkpoints"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache", ".local"),
        *(".conda", ".npm", ".cargo", ".rustup"),
    ]
)
"""Folders that hold tools and their caches; give one as a PATH to look into it all the same."""
NON_LOG_SUFFIXES = frozenset(
    [
        *("pt", "pth", "ckpt", "safetensors", "bin", "onnx", "gguf", "h5", "hdf5", "msgpack"),
        *("npy", "pkl", "pickle", "parquet", "arrow", "zip", "gz", "tar", "whl", "lock"),
        *("png", "jpg", "jpeg", "gif", "svg", "webp", "mp4", "avi", "webm", "wav", "mp3", "pdf"),
        *("py", "pyc", "pyi", "ipynb", "c", "h", "cc", "cpp", "cu", "so", "o", "rs", "go", "js"),
        *("ts", "css", "html", "md", "rst", "sh", "toml", "xml", "pyx", "java"),
    ]
)
"""No log ends so (behind a single dot): told without asking the patterns of all formats."""
PERMISSION_DENIED = "permission denied"
"""What waiting does not mend."""
SYSTEM_FOLDERS = frozenset(("/proc", "/sys", "/dev"))
"""Where files are not files."""


def unreachable_reason(path: str | os.PathLike[str]) -> str:
    """Why a path cannot be looked at (`no such file or directory`, ...), or nothing."""
    try:
        os.stat(path)
    except OSError as error:
        return (
            PERMISSION_DENIED
            if error.errno == errno.EACCES
            else (error.strerror or str(error)).lower()
        )
    except ValueError:  # a name that no file system can hold
        return "no such file or directory"
    return "" if os.access(path, os.R_OK) else PERMISSION_DENIED


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether it is one; `Path.is_dir` raises where a folder on the way is closed to us."""
    return os.path.isdir(path)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether it is one, as far as can be seen."""
    return os.path.isfile(path)


def join_key(key: str, name: str) -> str:
    return f"{key}/{name}" if key else name


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def without_nested(paths: Sequence[str]) -> list[str]:
    """Leave out paths that are seen from another: twice the same, or below one."""
    kept: list[str] = []
    homes = [os.path.realpath(path) for path in paths]
    for place, (path, home) in enumerate(zip(paths, homes, strict=True)):
        others = [other for other in homes[:place] + homes[place + 1 :] if other != home]
        doubled = home in homes[:place]
        if not doubled and not any(_is_covered_by(other, home) for other in others):
            kept.append(path)
    return kept


def _is_covered_by(folder: str, path: str) -> bool:
    if not is_inside(path, folder):
        return False
    return SKIPPED_FOLDERS.isdisjoint(path[len(folder) :].split("/"))


def config_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the user's own settings are, by the XDG convention."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def state_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where what the tool itself remembers is kept, by the XDG convention."""
    return _xdg(environ, "XDG_STATE_HOME", ".local/state")


def _xdg(environ: Mapping[str, str], name: str, below_home: str) -> Path:
    place = Path(environ.get(name) or ".")
    if not place.is_absolute():  # the convention: what is not absolute is to be ignored
        place = Path(environ.get("HOME") or Path.home(), below_home)
    return place / "ppo-top"
