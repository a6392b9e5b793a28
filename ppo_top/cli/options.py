"""Options that several commands share, and the settings that follow from them."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.paths import is_folder

if TYPE_CHECKING:
    from ppo_top.settings import Settings

DEFAULT_PATH = "./runs"

Command = Callable[[argparse.Namespace], int]


class UsageError(Exception):
    """A mistake in the call; its text is the whole message."""


def add_paths(parser: argparse.ArgumentParser, many: bool = True) -> None:
    parser.add_argument(
        "path",
        nargs="*" if many else 1,
        metavar="PATH",
        help=f"file or directory (default: {DEFAULT_PATH} if there, else .); HOST:PATH: over ssh",
    )
    _add_remote_options(parser)


def _add_remote_options(parser: argparse.ArgumentParser) -> None:
    """In a group of their own, which the help shows last."""
    group = parser.add_argument_group("logs of other machines (HOST:PATH)")
    group.add_argument(
        "--ssh",
        metavar="COMMAND",
        default=os.environ.get("PPO_TOP_SSH") or "ssh",
        help="how to reach the host of a HOST:PATH (default: $PPO_TOP_SSH, else ssh)",
    )
    group.add_argument(
        "--remote-python",
        metavar="PROGRAM",
        type=_program,
        default="python3",
        help="the Python (3.6 or newer) there (default: python3)",
    )
    group.add_argument(
        "--remote-space",
        metavar="SIZE",
        type=byte_count,
        default=1 << 30,
        help="copy at most so many bytes of logs from a host (default: 1GiB)",
    )


def _program(text: str) -> str:
    """A program that can be named to any shell as it is."""
    if re.fullmatch(r"[\w~./+][\w~./+-]*", text, re.ASCII) is None:
        raise argparse.ArgumentTypeError("expected the name or the path of a program")
    return text


def byte_count(text: str) -> int:
    """A size such as `500MB` or `1GiB` in bytes."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([KMGT]?)(i?)B?", text, re.IGNORECASE)
    size = 0
    if found is not None:
        power = " KMGT".index(found[2].upper() or " ")
        size = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    if size <= 0:
        raise argparse.ArgumentTypeError("expected a size: 500MB, 1GiB")
    return size


def finite_number(text: str) -> float:
    """A number that something can be compared with: neither infinite nor NaN."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError("expected a finite number")
    return number


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settings", metavar="FILE", help="use FILE instead of your own ppo-top.toml"
    )
    parser.add_argument("--goal", type=finite_number, metavar="REWARD", help="target reward")
    parser.add_argument(
        "--curriculum",
        action="store_true",
        help="non-stationary task: downgrade reward drops one level",
    )
    parser.add_argument(
        "--notebooks",
        action="store_true",
        help="also read the notebooks (.ipynb) in directories; one that is named is always read",
    )


def add_cache_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="neither use nor update remembered verdicts"
    )


def add_screen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ascii", action="store_true", help="use ASCII characters only")
    parser.add_argument(
        "--theme", choices=("dark", "light"), help="colours for a dark or light terminal"
    )
    parser.add_argument(
        "--no-bell", action="store_true", help="do not ring the bell on critical findings"
    )


def paths_or_default(paths: Sequence[str]) -> list[Path]:
    """The paths of a call; UsageError for what is none."""
    if "" in paths:  # `Path("")` would be the current directory, whose runs may be well
        raise UsageError("an empty PATH: is a variable of the shell unset?")
    if "-" in paths:
        raise UsageError(
            "only `ppo-top -` and `ppo-top check -` read standard input, and nothing beside it; "
            "save it to a file instead: `python train.py 2>&1 | tee run.log`"
        )
    if paths:
        return [Path(path) for path in paths]
    return [Path(DEFAULT_PATH) if is_folder(DEFAULT_PATH) else Path()]


def ask_for_paste() -> None:
    """Say what to do where standard input is a terminal, from which nothing comes by itself."""
    if sys.stdin.isatty():
        print("ppo-top: paste a log here, then press Ctrl-D on a line of its own", file=sys.stderr)


def need_prometheus_client(command: str) -> None:
    """UsageError if what is exported to Prometheus, or its one dependency, is not installed."""
    from importlib.util import find_spec

    if all(map(find_spec, ("prometheus_client", "ppo_top.serve"))):
        return
    in_one_file = not Path(__file__).exists()
    remedy = "ppo-top-screen.pyz has it" if in_one_file else "pip install prometheus_client"
    raise UsageError(f"`{command}` needs prometheus_client: {remedy}")


def age(text: str) -> float:
    """A duration such as `7d` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError("expected a number and a unit: 90s, 30m, 12h, 7d")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]]


def read_settings(options: argparse.Namespace, paths: Sequence[Path]) -> Settings:
    """Settings from the files and the command line; mistakes in them go to stderr.

    UsageError if a file that was named cannot be read: the verdict would be another one.
    """
    from ppo_top.runs.path_settings import settings_for
    from ppo_top.settings import UnusableSettingsError

    if options.settings == "":
        raise UsageError("an empty --settings FILE: is a variable of the shell unset?")
    own = Path(options.settings) if options.settings is not None else None
    try:
        settings = settings_for(paths, own)
    except UnusableSettingsError as error:
        raise UsageError(str(error)) from None
    for problem in settings.problems:
        print(f"ppo-top: {problem}", file=sys.stderr)
    settings = settings._replace(notebooks=options.notebooks)
    if options.goal is not None:
        settings = settings._replace(goal=options.goal)
    return settings.with_curriculum() if options.curriculum else settings
