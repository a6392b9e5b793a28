"""The commands: each adds its options to a parser and gives what runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top import __version__
from ppo_top.paths import PERMISSION_DENIED, is_folder, unreachable_reason

if TYPE_CHECKING:
    from ppo_top.settings import Settings
    from ppo_top.tui import Replay

DEFAULT_PATH = "./runs"
EXIT_ERROR = 2

Command = Callable[[argparse.Namespace], int]


class UsageError(Exception):
    """Something about the call that the user can mend; its text is the whole message."""


# --- options that several commands share -----------------------------------------------------


def _paths(parser: argparse.ArgumentParser, many: bool = True) -> None:
    parser.add_argument(
        "path",
        nargs="*" if many else 1,
        metavar="PATH",
        help=f"file or directory (default: {DEFAULT_PATH} if there, else .)",
    )


def _settings_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settings", metavar="FILE", help="a settings file instead of the usual ones"
    )
    parser.add_argument(
        "--goal", type=float, metavar="REWARD", help="the reward that means success"
    )
    parser.add_argument(
        "--curriculum",
        action="store_true",
        help="the task changes on the way: falls of the reward are a level less severe",
    )


def _screen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ascii", action="store_true", help="no characters beyond ASCII")
    parser.add_argument(
        "--theme", choices=("dark", "light"), help="colours for a dark or light terminal"
    )
    parser.add_argument("--no-bell", action="store_true", help="no bell when something turns red")


def _paths_or_default(paths: Sequence[str]) -> list[Path]:
    if "-" in paths:
        raise UsageError(
            "only the screen reads standard input (`ppo-top -`); keep it in a file, as with "
            "`python train.py 2>&1 | tee run.log`, and give that"
        )
    if paths:
        return [Path(path) for path in paths]
    return [Path(DEFAULT_PATH) if is_folder(DEFAULT_PATH) else Path()]


# --- commands: each adds its options and gives what runs it ----------------------------------


def _watch(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--no-wait", action="store_true", help="fail when a PATH does not exist")
    _screen_options(parser)
    _settings_options(parser)
    parser.add_argument("--version", action="version", version=f"ppo-top {__version__}")

    def run(options: argparse.Namespace) -> int:
        if options.path == ["-"]:
            return _screen(options, [], stdin=True)
        paths = _paths_or_default(options.path)
        for path in paths:
            why = unreachable_reason(path)
            if why and (options.no_wait or why == PERMISSION_DENIED):
                raise UsageError(f"{path}: {why}")
        return _screen(options, paths)

    return run


def _replay(parser: argparse.ArgumentParser) -> Command:
    _paths(parser, many=False)
    parser.add_argument("--speed", type=_speed, default=60.0, help="times the log's own clock (60)")
    parser.add_argument("--from", dest="start", metavar="STEP|50%", help="where to begin")
    parser.add_argument("--paused", action="store_true", help="begin paused")
    _screen_options(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.tui import Replay

        path = _paths_or_default(options.path)[0]
        if why := unreachable_reason(path):
            raise UsageError(f"{path}: {why}")
        return _screen(options, [path], replay=Replay(options.speed, options.start, options.paused))

    return run


def _speed(text: str) -> float:
    speed = float(text.removesuffix("x"))
    if not 0 < speed <= 1_000_000:
        raise argparse.ArgumentTypeError("a speed is a number above 0")
    return speed


def _check(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--follow", action="store_true", help="go on, a line for each change")
    parser.add_argument(
        "--backtest", action="store_true", help="how often each rule fired, and how early"
    )
    parser.add_argument(
        "--fail-on",
        choices=("watch", "warn", "crit"),
        default="crit",
        help="lowest severity that makes the exit code 1 (crit)",
    )
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.model import Severity
        from ppo_top.output import check

        paths, settings = (
            _paths_or_default(options.path),
            _settings(options, _paths_or_default(options.path)),
        )
        if options.backtest:
            return check.print_backtest(paths, settings, as_object=options.json)
        fail_on = Severity[options.fail_on.upper()]
        judge = check.follow if options.follow else check.check
        code: int = judge(paths, settings, as_object=options.json, fail_on=fail_on)
        return code

    return run


def _status(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--format", choices=("plain", "tmux"), default="plain")
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output import check, status_line
        from ppo_top.runs.load import load_session

        paths = _paths_or_default(options.path)
        session = load_session(paths, _settings(options, paths), sys.stderr, lambda run: None)
        if session is None:
            return EXIT_ERROR
        print(status_line.status_line(check.current_views(session), options.format))
        return 0

    return run


def _export(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--format", choices=("csv", "jsonl"), required=True)
    parser.add_argument(
        "--source",
        choices=("all", "best"),
        default="all",
        help="every point of every file, or the merged series that is charted (all)",
    )
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output.export import export
        from ppo_top.runs.load import open_loader

        paths = _paths_or_default(options.path)
        reading = open_loader(paths, _settings(options, paths), sys.stderr, lambda run: None)
        if reading is None:
            return EXIT_ERROR
        with closing(reading):
            export(reading.complete_runs(), sys.stdout, options.format, options.source)
        return 0

    return run


def _explain(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument("name", nargs="?", metavar="METRIC|RULE", help="a tag, a concept or a rule")

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output.explain import UnknownName, explain

        try:
            print("\n".join(explain(options.name, width=_width())))
        except UnknownName as error:
            raise UsageError(str(error)) from None
        return 0

    return run


def _width() -> int:
    import shutil

    return min(100, shutil.get_terminal_size((96, 24)).columns)


def _demo(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument("--live", action="store_true", help="train a small PPO and watch it")
    parser.add_argument(
        "--fault", choices=("none", "lr", "clip", "entropy", "critic", "nan"), default=None
    )
    parser.add_argument("--speed", type=_speed, default=1.0, help="times the log's own clock (1)")
    _screen_options(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top import demo

        if options.live or options.fault is not None:
            return demo.train_and_watch(
                options.fault or "none", lambda paths: _screen(options, paths)
            )
        from ppo_top.tui import Replay

        return _screen(options, [demo.shipped_logs()], replay=Replay(options.speed))

    return run


# --- doing -----------------------------------------------------------------------------------


def _settings(options: argparse.Namespace, paths: Sequence[Path]) -> Settings:
    """What the settings files and the command line say; what they say wrongly goes to stderr."""
    from dataclasses import replace

    from ppo_top.catalogue import is_concept
    from ppo_top.rules.book import RULES
    from ppo_top.settings import load_settings

    folder = next((path if is_folder(path) else path.parent for path in paths), None)
    own = Path(options.settings) if options.settings else None
    names = {rule.id: rule.threshold_names for rule in RULES}
    settings = load_settings(folder, lambda: names, is_concept, user_file=own)
    for problem in settings.problems:
        print(f"ppo-top: {problem}", file=sys.stderr)
    if options.goal is not None:
        settings = replace(settings, goal=options.goal)
    return settings.with_curriculum() if options.curriculum else settings


def _screen(
    options: argparse.Namespace,
    paths: Sequence[Path],
    *,
    stdin: bool = False,
    replay: Replay | None = None,
) -> int:
    settings = _settings(options, paths)
    if not sys.stdout.isatty():
        raise UsageError("the screen needs a terminal; `ppo-top check` and `ppo-top status` do not")
    from ppo_top.tui.app.start import run

    return run(
        paths,
        settings=settings,
        stdin=stdin,
        replay=replay,
        ascii=options.ascii,
        theme=options.theme,
        bell=not options.no_bell,
    )


COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], Command], str, str]] = {
    "watch": (_watch, "live monitor of the runs below the paths", "[PATH ...]"),
    "replay": (
        _replay,
        "the same screen, driven by the log's own clock",
        "replay PATH [--speed 60]",
    ),
    "check": (
        _check,
        "a verdict without a screen, for CI and scripts",
        "check PATH ... [--json] [--follow]",
    ),
    "status": (_status, "one line, for tmux or a prompt", "status PATH [--format tmux]"),
    "export": (_export, "every point, in long form", "export PATH ... --format csv|jsonl"),
    "explain": (
        _explain,
        "what a metric or a rule means, and what to try",
        "explain [METRIC|RULE]",
    ),
    "demo": (
        _demo,
        "replay of the shipped logs, or a live training",
        "demo [--live] [--fault NAME]",
    ),
}
USAGE_CHARS = max(len(usage) for _, _, usage in COMMANDS.values())
