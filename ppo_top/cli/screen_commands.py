"""The commands with a screen: the live monitor, replays and the demo."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top import __version__
from ppo_top.cli.options import (
    Command,
    UsageError,
    add_cache_option,
    add_paths,
    add_screen_options,
    add_settings_options,
    ask_for_paste,
    paths_or_default,
    read_settings,
)
from ppo_top.paths import PERMISSION_DENIED, unreachable_reason

if TYPE_CHECKING:
    from ppo_top.tui import Replay


SCREEN_MODULES = ("textual", "plotext", "ppo_top.tui")


def watch(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    parser.add_argument("--no-wait", action="store_true", help="fail if a PATH does not exist")
    parser.add_argument("--tee", metavar="FILE", help="with -: append standard input to FILE")
    parser.add_argument(
        "--machine", action="store_true", help="measure CPU, memory and GPU of the training here"
    )
    add_screen_options(parser)
    add_cache_option(parser)
    add_settings_options(parser)
    parser.add_argument("--version", action="version", version=f"ppo-top {__version__}")

    def run(options: argparse.Namespace) -> int:
        if options.path == ["-"]:
            return _monitor(options, [], stdin=True, tee=_writable(options.tee))
        if options.tee is not None:
            raise UsageError("--tee copies standard input: `train.py | ppo-top - --tee run.log`")
        paths = paths_or_default(options.path)
        waits = sys.stdout.isatty() and not options.no_wait
        for path in paths:
            why = unreachable_reason(path)
            if why and (why == PERMISSION_DENIED or not waits):
                raise UsageError(f"{path}: {why}")
        return _monitor(options, paths)

    return run


def _writable(name: str | None) -> Path | None:
    """The file to append to, if there is one; UsageError if it cannot be written."""
    if name is None:
        return None
    try:
        with open(name, "ab"):
            return Path(name)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from None


def replay(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser, many=False)
    _add_speed_option(parser)
    parser.add_argument("--from", dest="start", metavar="STEP|50%", help="where to start")
    parser.add_argument("--paused", action="store_true", help="start paused")
    add_screen_options(parser)
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        _need_screen()
        from ppo_top.tui import Replay
        from ppo_top.tui.state.cursor import parse_destination

        path = paths_or_default(options.path)[0]
        if why := unreachable_reason(path):
            raise UsageError(f"{path}: {why}")
        if options.start is not None and parse_destination(options.start) is None:
            raise UsageError(f"--from expects a step or a percentage, got {options.start!r}")
        replay = Replay(options.speed, options.start, options.paused)
        return _monitor(options, [path], replay=replay)

    return run


def _add_speed_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed",
        type=speed_factor,
        help="playback speed, 1 = real time (default: 30 seconds in all)",
    )


def speed_factor(text: str) -> float:
    """The factor that `4`, `4x` or `0.5` stands for."""
    with suppress(ValueError):
        speed = float(text.removesuffix("x"))
        if 0 < speed <= 1_000_000:
            return speed
    raise argparse.ArgumentTypeError(f"expected a number above 0, not {text!r}")


def demo(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument("--live", action="store_true", help="train a small PPO and watch it")
    parser.add_argument(
        "--fault",
        choices=("none", "lr", "clip", "entropy", "critic", "nan"),
        help="train with this fault (implies --live)",
    )
    _add_speed_option(parser)
    add_screen_options(parser)
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        _need_screen()
        from ppo_top import demo

        if options.live or options.fault is not None:
            fault = options.fault or "none"
            return demo.train_and_watch(fault, lambda paths: _monitor(options, paths))
        from ppo_top.tui import Replay

        if not demo.shipped_logs().is_dir():
            raise UsageError("the logs of the demo are not in this file (pip install ppo-top)")
        shown = Replay(options.speed, one_by_one=True, title="demo: shipped logs")
        return _monitor(options, [demo.shipped_logs()], replay=shown)

    return run


def _need_screen() -> None:
    """UsageError where there is no screen: in the one-file program for headless commands."""
    from importlib.util import find_spec

    try:
        missing = [name for name in SCREEN_MODULES if find_spec(name) is None]
    except ModuleNotFoundError as error:
        missing = [str(error.name)]
    if missing:
        raise UsageError(
            f"the screen needs {missing[0]}, which is not installed here (pip install ppo-top); "
            "check, status, export, report and explain work without it"
        )


def _monitor(
    options: argparse.Namespace,
    paths: Sequence[Path],
    *,
    stdin: bool = False,
    tee: Path | None = None,
    replay: Replay | None = None,
) -> int:
    settings = read_settings(options, paths)
    if not sys.stdout.isatty():
        raise UsageError("stdout is not a terminal; use `ppo-top check` or `ppo-top status`")
    _need_screen()
    if stdin:
        ask_for_paste()
    from ppo_top.tui.app.start import ScreenOptions, run

    shown = ScreenOptions(
        stdin=stdin,
        tee=tee,
        replay=replay,
        ascii=options.ascii,
        theme=options.theme,
        bell=not options.no_bell,
        machine=getattr(options, "machine", False),
        cached=not getattr(options, "no_cache", False),
    )
    return run(paths, settings, shown)
