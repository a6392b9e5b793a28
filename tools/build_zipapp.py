"""Builds the program as one file: `python -m tools.build_zipapp FOLDER` (`make zipapp`).

`ppo-top.pyz` has the headless commands but `serve` and needs nothing but Python;
`ppo-top-screen.pyz` has the monitor and `serve`, too, with the packages that they need, taken from
the environment that runs this. What is compiled (numpy, orjson, google-crc32c) cannot be in a zip
file: it is used where it is installed.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADLESS, SCREEN = "ppo-top.pyz", "ppo-top-screen.pyz"
NOT_HEADLESS = (
    *("tui", "demo", "serve"),
    *("files/pipe_drain.py", "files/machine/nvml.py", "files/machine/process_use.py"),
    *("output/series_file.py", "support/acknowledgements.py", "views/listed_checkpoints.py"),
)
"""Folders and modules that only the screen and `serve` use."""
PACKAGES = ("textual", "plotext", "watchdog", "prometheus_client")
DATA_SUFFIXES = (".tsv", ".typed")
COMPILED_SUFFIXES = (".so", ".pyd", ".pyc")
SHEBANG = b"#!/usr/bin/env python3\n"
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
"""Of every member: the same sources make the same bytes."""

MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.stderr.write("ppo-top: needs Python 3.11 or newer, this is %d.%d\\n" % sys.version_info[:2])
    sys.exit(2)

from ppo_top.cli import main

sys.exit(main())
"""
"""Read by old Pythons, too."""


def build(folder: Path) -> tuple[Path, Path]:
    """Write both files into a folder; the one without the screen first."""
    folder.mkdir(parents=True, exist_ok=True)
    headless = dict(_own_files(without=NOT_HEADLESS))
    whole = {**dict(_own_files(without=())), **dict(_files_of_packages())}
    return _write(folder / HEADLESS, headless), _write(folder / SCREEN, whole)


def _own_files(without: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """The modules and data files of the program, by their names in the file."""
    for folder in ("ppo_top", "parsers", "tui"):
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT / folder)
            linked = any(parent.is_symlink() for parent in path.parents)
            if linked or not (path.suffix == ".py" or path.suffix in DATA_SUFFIXES):
                continue
            place = inside if folder == "ppo_top" else Path(folder, inside)
            if not any(map(place.is_relative_to, without)):
                yield f"ppo_top/{place.as_posix()}", path.read_bytes()


def _files_of_packages() -> Iterator[tuple[str, bytes]]:
    """The files of the packages that screen and `serve` need, and of those that they need."""
    waiting, seen = list(PACKAGES), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        package = distribution(name)
        needed = [each for each in package.requires or () if ";" not in each]
        waiting += [re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in needed]
        for file in package.files or ():
            if ".." not in file.parts and file.suffix not in COMPILED_SUFFIXES:
                yield file.as_posix(), Path(str(file.locate())).read_bytes()


def _write(path: Path, members: dict[str, bytes]) -> Path:
    with open(path, "wb") as out:
        out.write(SHEBANG)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in sorted({**members, "__main__.py": MAIN.encode()}.items()):
                archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), data, zipfile.ZIP_DEFLATED)
    path.chmod(0o755)
    return path


def main() -> None:
    """Build both files and tell their sizes."""
    for path in build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
