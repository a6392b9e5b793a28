"""The commands that print a verdict: `check` and `status`."""

from __future__ import annotations

import argparse
import gc
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.cli.options import (
    EXIT_ERROR,
    Command,
    UsageError,
    add_cache_option,
    add_paths,
    add_settings_options,
    age,
    paths_or_default,
    read_settings,
)

if TYPE_CHECKING:
    from ppo_top.model import Severity
    from ppo_top.output.answers import Answer
    from ppo_top.output.overview import TextStyle
    from ppo_top.settings import Settings

COLOUR_CHOICES = ("auto", "always", "never")


def check(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    _add_check_options(parser)
    add_cache_option(parser)
    add_settings_options(parser)
    return _run_check


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("--follow", action="store_true", help="keep running, one line per change")
    add(
        "--ended",
        action="store_true",
        help="the trainings are over (for a job's last line): judge them as a whole",
    )
    add(
        "--active",
        metavar="AGE",
        type=age,
        default=math.inf,
        help="with --follow: ignore logs not written for AGE (90s, 30m, 12h, 7d)",
    )
    add("--backtest", action="store_true", help="how often and how early each rule fired")
    add(
        "--fail-on",
        choices=("watch", "warn", "crit"),
        default="crit",
        help="lowest severity that gives exit code 1 (default: crit)",
    )
    add(
        "-v",
        "--verbose",
        action="store_true",
        help="whole reports of all runs; which rules and files were passed over, and why",
    )
    add(
        "--color",
        choices=COLOUR_CHOICES,
        default="auto",
        help="colour the text (auto: on a terminal, unless NO_COLOR is set)",
    )


def _run_check(options: argparse.Namespace) -> int:
    from ppo_top.model import Severity

    if options.active < math.inf and not options.follow:
        raise UsageError("--active needs --follow")
    if options.ended and options.follow:
        raise UsageError("--ended is for a single look, not for --follow")
    fail_on = Severity[options.fail_on.upper()]
    if options.path == ["-"]:
        return _check_stdin(options, fail_on)
    paths = paths_or_default(options.path)
    settings = read_settings(options, paths)
    if options.backtest:
        from ppo_top.output.backtest import print_backtest

        return print_backtest(paths, settings, as_object=options.json)
    if options.follow:
        from ppo_top.output.follow import follow

        style, age_s = _text_style(options), options.active
        return follow(paths, settings, fail_on=fail_on, style=style, active_s=age_s)
    from ppo_top.output.answers import answer_parts, print_answer

    style = _text_style(options)
    answer = _answer(options, paths, settings, answer_parts(style))
    if answer is None:
        return EXIT_ERROR
    return print_answer(answer, fail_on=fail_on, style=style)


def _text_style(options: argparse.Namespace) -> TextStyle | None:
    """How to print text; None for JSON."""
    if options.json:
        return None
    from ppo_top.output.colour import wants_colour
    from ppo_top.output.overview import TextStyle

    width = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else None
    return TextStyle(options.verbose, wants_colour(options.color, sys.stdout), width or None)


def _check_stdin(options: argparse.Namespace, fail_on: Severity) -> int:
    """Judge what comes on standard input, a log or a paste, once it has ended."""
    from ppo_top.output.check import check

    if options.follow or options.backtest:
        raise UsageError("--follow and --backtest need files; `ppo-top -` follows a pipe")
    if sys.stdin.isatty():
        print("ppo-top: paste a log here, then press Ctrl-D on a line of its own", file=sys.stderr)
    return check(
        [],
        read_settings(options, []),
        fail_on=fail_on,
        style=_text_style(options),
        ended=True,
        stdin=sys.stdin.buffer,
    )


def status(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    parser.add_argument(
        "--format", choices=("plain", "tmux"), default="plain", help="tmux adds colours"
    )
    add_cache_option(parser)
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        paths = paths_or_default(options.path)
        answer = _answer(options, paths, read_settings(options, paths), [])
        if answer is None:
            return EXIT_ERROR
        from ppo_top.output.status_line import status_line

        print(status_line(answer.reports, options.format))
        return 0

    return run


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
