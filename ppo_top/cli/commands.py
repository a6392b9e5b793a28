"""The commands: each adds its options to a parser and returns the function that runs it."""

from __future__ import annotations

import argparse
import gc
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top import __version__
from ppo_top.paths import PERMISSION_DENIED, is_folder, unreachable_reason

if TYPE_CHECKING:
    from ppo_top.output.answers import Answer
    from ppo_top.settings import Settings
    from ppo_top.tui import Replay

DEFAULT_PATH = "./runs"
EXIT_ERROR = 2

Command = Callable[[argparse.Namespace], int]


class UsageError(Exception):
    """A mistake in the call; its text is the whole message."""


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
        "--settings", metavar="FILE", help="use FILE instead of your own ppo-top.toml"
    )
    parser.add_argument("--goal", type=float, metavar="REWARD", help="target reward")
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


def _cache_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="judge every run again, remember none"
    )


def _screen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ascii", action="store_true", help="use ASCII characters only")
    parser.add_argument(
        "--theme", choices=("dark", "light"), help="colours for a dark or light terminal"
    )
    parser.add_argument(
        "--no-bell", action="store_true", help="do not ring the bell on critical findings"
    )


def _paths_or_default(paths: Sequence[str]) -> list[Path]:
    if "-" in paths:
        raise UsageError(
            "only `ppo-top -` and `ppo-top check -` read standard input, and nothing beside it; "
            "save it to a file instead: `python train.py 2>&1 | tee run.log`"
        )
    if paths:
        return [Path(path) for path in paths]
    return [Path(DEFAULT_PATH) if is_folder(DEFAULT_PATH) else Path()]


# --- commands --------------------------------------------------------------------------------


def _watch(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--no-wait", action="store_true", help="fail if a PATH does not exist")
    parser.add_argument("--tee", metavar="FILE", help="with -: append standard input to FILE")
    _screen_options(parser)
    _cache_option(parser)
    _settings_options(parser)
    parser.add_argument("--version", action="version", version=f"ppo-top {__version__}")

    def run(options: argparse.Namespace) -> int:
        if options.path == ["-"]:
            return _monitor(options, [], stdin=True, tee=_writable(options.tee))
        if options.tee is not None:
            raise UsageError("--tee copies standard input: `train.py | ppo-top - --tee run.log`")
        paths = _paths_or_default(options.path)
        for path in paths:
            why = unreachable_reason(path)
            if why and (options.no_wait or why == PERMISSION_DENIED):
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


def _replay(parser: argparse.ArgumentParser) -> Command:
    _paths(parser, many=False)
    _speed_option(parser)
    parser.add_argument("--from", dest="start", metavar="STEP|50%", help="where to start")
    parser.add_argument("--paused", action="store_true", help="start paused")
    _screen_options(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.tui import Replay

        path = _paths_or_default(options.path)[0]
        if why := unreachable_reason(path):
            raise UsageError(f"{path}: {why}")
        replay = Replay(options.speed, options.start, options.paused)
        return _monitor(options, [path], replay=replay)

    return run


def _speed_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed",
        type=_speed,
        help="playback speed, 1 = real time (default: 30 seconds in all)",
    )


def _speed(text: str) -> float:
    speed = float(text.removesuffix("x"))
    if not 0 < speed <= 1_000_000:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return speed


def _age(text: str) -> float:
    """A duration such as `7d` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError("expected a number and a unit: 90s, 30m, 12h, 7d")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]]


def _check(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--follow", action="store_true", help="keep running, one line per change")
    parser.add_argument(
        "--ended",
        action="store_true",
        help="the trainings are over (for a job's last line): judge them as a whole",
    )
    parser.add_argument(
        "--active",
        metavar="AGE",
        type=_age,
        default=math.inf,
        help="with --follow: ignore logs not written for AGE (90s, 30m, 12h, 7d)",
    )
    parser.add_argument(
        "--backtest", action="store_true", help="how often and how early each rule fired"
    )
    parser.add_argument(
        "--fail-on",
        choices=("watch", "warn", "crit"),
        default="crit",
        help="lowest severity that gives exit code 1 (default: crit)",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also say which files gave nothing, and why"
    )
    _cache_option(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.model import Severity

        if options.active < math.inf and not options.follow:
            raise UsageError("--active needs --follow")
        if options.ended and options.follow:
            raise UsageError("--ended is for a single look, not for --follow")
        if options.path == ["-"]:
            return _check_stdin(options)
        paths = _paths_or_default(options.path)
        settings = _settings(options, paths)
        fail_on, json = Severity[options.fail_on.upper()], options.json
        if options.backtest or options.follow:
            from ppo_top.output import check

            if options.backtest:
                return check.print_backtest(paths, settings, as_object=json)
            age = options.active
            return check.follow(paths, settings, as_object=json, fail_on=fail_on, active_s=age)
        answer = _answer(options, paths, settings, ["json" if json else "text"])
        if answer is None:
            return EXIT_ERROR
        from ppo_top.output.answers import print_answer

        return print_answer(answer, as_object=json, fail_on=fail_on)

    return run


def _check_stdin(options: argparse.Namespace) -> int:
    """Judge what comes on standard input, a log or a paste, once it has ended."""
    from ppo_top.model import Severity
    from ppo_top.output import check

    if options.follow or options.backtest:
        raise UsageError("--follow and --backtest need files; `ppo-top -` follows a pipe")
    if sys.stdin.isatty():
        print("ppo-top: paste a log here, then press Ctrl-D on a line of its own", file=sys.stderr)
    return check.check(
        [],
        _settings(options, []),
        as_object=options.json,
        fail_on=Severity[options.fail_on.upper()],
        ended=True,
        stdin=sys.stdin.buffer,
    )


def _status(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument(
        "--format", choices=("plain", "tmux"), default="plain", help="tmux adds colours"
    )
    _cache_option(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        paths = _paths_or_default(options.path)
        answer = _answer(options, paths, _settings(options, paths), [])
        if answer is None:
            return EXIT_ERROR
        from ppo_top.output.status_line import status_line

        print(status_line(answer.reports, options.format))
        return 0

    return run


def _export(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument(
        "--format", choices=("csv", "jsonl"), required=True, help="CSV or JSON lines"
    )
    parser.add_argument(
        "--source",
        choices=("all", "best"),
        default="all",
        help="all: every point of every file (default); best: the merged series that is charted",
    )
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output.export import export
        from ppo_top.runs.load import open_loader

        paths = _paths_or_default(options.path)
        loader = open_loader(paths, _settings(options, paths), sys.stderr, bounded=True)
        if loader is None:
            return EXIT_ERROR
        with closing(loader):
            export(loader.complete_runs(), sys.stdout, options.format, options.source)
        return 0

    return run


def _report(parser: argparse.ArgumentParser) -> Command:
    _paths(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="write the page here; - is stdout"
    )
    parser.add_argument(
        "--with-settings",
        action="store_true",
        help="also show the settings, without those that look like secrets",
    )
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        import time

        from ppo_top.output.html_report import html_report
        from ppo_top.runs.load import open_loader

        paths = _paths_or_default(options.path)
        _refuse_log_folder(options.output, paths)
        loader = open_loader(paths, _settings(options, paths), sys.stderr, bounded=True)
        if loader is None:
            return EXIT_ERROR
        with closing(loader):
            runs = loader.complete_runs()
            page = html_report(runs, time.time(), with_settings=options.with_settings)
        _write_whole(options.output, page)
        return 0

    return run


def _refuse_log_folder(output: str, paths: Sequence[Path]) -> None:
    """Nothing is written where logs lie."""
    for path in filter(is_folder, paths):
        if output != "-" and Path(output).resolve().is_relative_to(path.resolve()):
            raise UsageError(f"{output}: lies among the logs in {path}; give another directory")


def _write_whole(output: str, text: str) -> None:
    """Write a file so that nobody sees half of it."""
    data = text.encode("utf-8", "replace")
    if output == "-":
        sys.stdout.buffer.write(data)
        return
    part = Path(output).with_name(f".{Path(output).name}.part")
    try:
        part.write_bytes(data)
        part.replace(output)
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror or error}") from None


def _explain(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument(
        "name", nargs="?", metavar="METRIC|RULE", help="a metric, a tag, a rule or an option"
    )

    def run(options: argparse.Namespace) -> int:
        import shutil

        from ppo_top.output.explain import UnknownName, explain

        try:
            width = min(100, shutil.get_terminal_size((96, 24)).columns)
            print("\n".join(explain(options.name, width=width)))
        except UnknownName as error:
            raise UsageError(str(error)) from None
        return 0

    return run


def _demo(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument("--live", action="store_true", help="train a small PPO and watch it")
    parser.add_argument(
        "--fault",
        choices=("none", "lr", "clip", "entropy", "critic", "nan"),
        help="train with this fault (implies --live)",
    )
    _speed_option(parser)
    _screen_options(parser)
    _settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top import demo

        if options.live or options.fault is not None:
            fault = options.fault or "none"
            return demo.train_and_watch(fault, lambda paths: _monitor(options, paths))
        from ppo_top.tui import Replay

        shown = Replay(options.speed, one_by_one=True, title="demo: shipped logs")
        return _monitor(options, [demo.shipped_logs()], replay=shown)

    return run


def _cache(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument(
        "action", nargs="?", choices=("clear",), help="clear: forget every remembered verdict"
    )

    def run(options: argparse.Namespace) -> int:
        from ppo_top.support.cache import Cache
        from ppo_top.text.format import plural

        cache = Cache()
        if options.action == "clear":
            cache.clear()
        size = cache.size()
        if cache.problem:
            print(f"ppo-top: {cache.problem}", file=sys.stderr)
            return EXIT_ERROR
        megabytes = f"{size.bytes / 1e6:.1f} MB"
        print(f"{cache.path}: {plural(size.runs, 'remembered run')}, {megabytes}")
        return 0

    return run


def _completion(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))

    def run(options: argparse.Namespace) -> int:
        from ppo_top.cli.completion import completion_script

        print(completion_script(options.shell), end="")
        return 0

    return run


# --- helpers ---------------------------------------------------------------------------------


def _answer(
    options: argparse.Namespace, paths: Sequence[Path], settings: Settings, parts: Sequence[str]
) -> Answer | None:
    """The reports on all runs, remembered if nothing changed; None (after a line) without any."""
    from ppo_top.output.answers import recall
    from ppo_top.support.cache import Cache, verdict_scope

    cache = Cache(paths)
    ended, verbose = getattr(options, "ended", False), getattr(options, "verbose", False)
    cache.is_on = cache.is_on and not (options.no_cache or ended)
    scope = verdict_scope(settings.judging_text)
    answer = None if verbose else recall(cache, scope, paths, parts)
    if answer is None:
        gc.disable()  # nothing loaded now is garbage
        from ppo_top.output.check import judge_paths

        gc.freeze()
        gc.enable()
        answer = judge_paths(
            paths, settings, cache, parts, sys.stderr, ended=ended, verbose=verbose
        )
    for line in answer.problems if answer is not None else ():
        print(f"ppo-top: {line}", file=sys.stderr)
    return answer


def _settings(options: argparse.Namespace, paths: Sequence[Path]) -> Settings:
    """Settings from the files and the command line; mistakes in them go to stderr.

    UsageError if a file that was named cannot be read: the verdict would be another one.
    """
    from dataclasses import replace

    from ppo_top.settings import UnusableSettingsError, load_settings

    def thresholds() -> dict[str, Iterable[str]]:
        from ppo_top.rules.book import RULES

        return {rule.id: rule.threshold_names for rule in RULES}

    def is_concept(name: str) -> bool:
        from ppo_top import catalogue

        return catalogue.is_concept(name)

    folder = next((path if is_folder(path) else path.parent for path in paths), None)
    own = Path(options.settings) if options.settings else None
    try:
        settings = load_settings(folder, thresholds, is_concept, user_file=own)
    except UnusableSettingsError as error:
        raise UsageError(str(error)) from None
    for problem in settings.problems:
        print(f"ppo-top: {problem}", file=sys.stderr)
    settings = replace(settings, notebooks=options.notebooks)
    if options.goal is not None:
        settings = replace(settings, goal=options.goal)
    return settings.with_curriculum() if options.curriculum else settings


def _monitor(
    options: argparse.Namespace,
    paths: Sequence[Path],
    *,
    stdin: bool = False,
    tee: Path | None = None,
    replay: Replay | None = None,
) -> int:
    settings = _settings(options, paths)
    if not sys.stdout.isatty():
        raise UsageError("stdout is not a terminal; use `ppo-top check` or `ppo-top status`")
    from ppo_top.tui.app.start import ScreenOptions, run

    shown = ScreenOptions(
        stdin=stdin,
        tee=tee,
        replay=replay,
        ascii=options.ascii,
        theme=options.theme,
        bell=not options.no_bell,
        cached=not getattr(options, "no_cache", False),
    )
    return run(paths, settings, shown)


COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], Command], str, str]] = {
    "watch": (_watch, "live monitor of the runs below the paths", "[PATH ...]"),
    "replay": (_replay, "replay a log in the monitor", "replay PATH [--speed 60]"),
    "check": (
        _check,
        "print a verdict (no TUI), for CI and scripts",
        "check PATH ... [--json] [--follow [--active AGE]]",
    ),
    "status": (_status, "one line for tmux or a prompt", "status PATH [--format tmux]"),
    "export": (
        _export,
        "every point as CSV or JSON lines, one row per point",
        "export PATH ... --format csv|jsonl",
    ),
    "report": (
        _report,
        "a page for an issue or a paper: verdict, evidence, charts",
        "report PATH ... -o FILE.html",
    ),
    "explain": (
        _explain,
        "what a metric or a rule means, and what to try",
        "explain [METRIC|RULE]",
    ),
    "demo": (
        _demo,
        "replay the shipped logs, or train a small PPO live",
        "demo [--live] [--fault NAME]",
    ),
    "cache": (_cache, "what is remembered of judged runs, and how to forget it", "cache [clear]"),
    "completion": (_completion, "print a shell completion script", "completion bash|zsh|fish"),
}
"""name -> (adds its options and returns the command, description, short usage)"""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Asks for the width of the terminal without `shutil`, which takes long to load."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, width=columns - 2)


def make_parser(name: str) -> tuple[argparse.ArgumentParser, Command]:
    """The argument parser of a command and the function that runs it.

    That of `watch` is also the program's own: its help lists the commands.
    """
    add_options, description, _ = COMMANDS[name]
    main = name == "watch"
    parser = argparse.ArgumentParser(
        prog="ppo-top" if main else f"ppo-top {name}",
        usage="ppo-top [OPTION ...] [PATH ...]\n       ppo-top COMMAND ..." if main else None,
        description=OVERVIEW if main else description,
        epilog=_command_list() if main else None,
        formatter_class=HelpFormatter,
    )
    return parser, add_options(parser)


OVERVIEW = "Is my training healthy, and if not, since when, why, and what do I try?"


def _command_list() -> str:
    width = max(len(usage) for _, _, usage in COMMANDS.values())
    lines = (f"  ppo-top {usage:<{width}} {what}" for _, what, usage in COMMANDS.values())
    hint = "run `ppo-top COMMAND --help` for its options; the options above are the monitor's"
    return "\n".join(("commands:", *lines, "", hint))
