"""The commands that print a verdict: `check` and `status`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.cli.hook_options import add_hook_options, with_hooks
from ppo_top.cli.options import (
    Command,
    UsageError,
    add_cache_option,
    add_paths,
    add_settings_options,
    age,
    ask_for_paste,
    need_prometheus_client,
    paths_or_default,
    read_settings,
)
from ppo_top.cli.output_file import STDOUT, refuse_among_logs, write_output
from ppo_top.output.exit_codes import EXIT_ERROR

if TYPE_CHECKING:
    from ppo_top.model import Severity
    from ppo_top.output.answers import Answer
    from ppo_top.output.reports.overview import OutputStyle
    from ppo_top.settings import Settings

CHECK_FORMATS = ("text", "json", "markdown", "github", "junit")
MIN_BEAT_S = 0.1
COLOUR_CHOICES = ("auto", "always", "never")


def check(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    _add_check_options(parser)
    add_cache_option(parser)
    add_settings_options(parser)
    return _run_check


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    _add_output_options(parser)
    _add_look_options(parser)
    add_hook_options(parser, "with --follow: ")
    add = parser.add_argument
    add(
        "--backtest",
        action="store_true",
        help="how often and how early each rule fired on old runs",
    )
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


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    """Options on the form of the answer, and where it goes."""
    add = parser.add_argument
    add(
        "--format",
        choices=CHECK_FORMATS,
        default="text",
        help="text (default), json, markdown for an issue or a job's summary, github for "
        "annotations, junit for CI systems",
    )
    add("--json", dest="format", action="store_const", const="json", help="short for --format json")
    add(
        "-o",
        "--output",
        metavar="FILE",
        default=STDOUT,
        help="write to FILE, which may not lie among the logs (default: -, stdout)",
    )


def _add_look_options(parser: argparse.ArgumentParser) -> None:
    """Options on what to look at, and for how long."""
    add = parser.add_argument
    add("--follow", action="store_true", help="print a line per change, until interrupted")
    add(
        "--until-over",
        action="store_true",
        help="with --follow: end once the exit code is 1, or all runs are over",
    )
    add(
        "--ended",
        action="store_true",
        help="treat all runs as finished (for the last line of a job script)",
    )
    add(
        "--active",
        metavar="AGE",
        type=age,
        default=math.inf,
        help="skip logs that have not been written for AGE (90s, 30m, 12h, 7d)",
    )
    add(
        "--beat",
        metavar="SECONDS",
        type=_seconds,
        default=math.inf,
        help="with --follow --json: print a heartbeat line every SECONDS",
    )


def _seconds(text: str) -> float:
    with suppress(ValueError):
        seconds = float(text)
        if MIN_BEAT_S <= seconds < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"expected a number of seconds, at least {MIN_BEAT_S}")


def _run_check(options: argparse.Namespace) -> int:
    from ppo_top.model import Severity

    _check_usage(options)
    fail_on = Severity[options.fail_on.upper()]
    if options.path == ["-"]:
        return _print_answer(options, _judge_stdin(options), fail_on)
    paths = paths_or_default(options.path)
    settings = read_settings(options, paths)
    if options.backtest:
        from ppo_top.output.backtest import print_backtest

        return print_backtest(paths, settings, as_object=options.format == "json")
    if options.follow:
        from ppo_top.output.follow import follow

        return follow(
            paths,
            with_hooks(settings, options.on),
            fail_on=fail_on,
            style=_output_style(options),
            active_s=options.active,
            beat_s=options.beat,
            on_existing=options.on_existing,
            until_over=options.until_over,
        )
    from ppo_top.output.answers import answer_parts

    refuse_among_logs(options.output, paths)
    answer = _answer(options, paths, settings, answer_parts(_output_style(options)))
    return _print_answer(options, answer, fail_on)


def _print_answer(options: argparse.Namespace, answer: Answer | None, fail_on: Severity) -> int:
    """Print an answer, or write it to a file; returns the exit code."""
    if answer is None:
        return EXIT_ERROR
    from ppo_top.output.answers import answer_code, answer_text, print_answer

    style = _output_style(options)
    if options.output == STDOUT:
        return print_answer(answer, fail_on, style)
    write_output(options.output, answer_text(answer, fail_on, style) + "\n")
    return answer_code(answer, fail_on)


def _output_style(options: argparse.Namespace) -> OutputStyle:
    """How to print; a file has no width, and colours only if they are asked for."""
    from ppo_top.output.colour import wants_colour
    from ppo_top.output.reports.overview import OutputStyle

    on_terminal = options.output == STDOUT and sys.stdout.isatty()
    width = os.get_terminal_size(sys.stdout.fileno()).columns if on_terminal else None
    wanted = wants_colour(options.color, sys.stdout)
    colour = wanted and (on_terminal or options.color == "always")
    return OutputStyle(options.format, options.verbose, colour, width or None)


def _check_usage(options: argparse.Namespace) -> None:
    """UsageError for options that do not go together."""
    if options.active < math.inf and (options.backtest or options.path == ["-"]):
        raise UsageError("--active is for logs in files, and not for --backtest")
    if (options.on or options.on_existing) and not options.follow:
        raise UsageError("--on and --on-existing need --follow")
    if options.until_over and not options.follow:
        raise UsageError("--until-over needs --follow")
    if options.beat < math.inf and not (options.follow and options.format == "json"):
        raise UsageError("--beat needs --follow --json")
    if options.ended + options.follow + options.backtest > 1:
        raise UsageError("choose one of --ended, --follow and --backtest")
    for mode in ("follow", "backtest"):
        if not getattr(options, mode):
            continue
        if options.format not in ("text", "json"):
            raise UsageError(f"--{mode} prints text or JSON, not {options.format}")
        if options.output != STDOUT:
            raise UsageError(f"--{mode} prints to stdout: use > FILE instead of --output")


def _judge_stdin(options: argparse.Namespace) -> Answer | None:
    """Judge what comes on standard input, a log or a paste, once it has ended."""
    from ppo_top.output.answers import answer_parts
    from ppo_top.output.check import judge_paths

    if options.follow or options.backtest:
        raise UsageError("--follow and --backtest need files; `ppo-top -` follows a pipe")
    ask_for_paste()
    settings, parts = read_settings(options, []), answer_parts(_output_style(options))
    return judge_paths([], settings, None, parts, sys.stderr, ended=True, stdin=sys.stdin.buffer)


def status(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    parser.add_argument(
        "--format",
        choices=("plain", "tmux", "json", "prometheus"),
        default="plain",
        help="tmux adds colours; json and prometheus list every run",
    )
    add_cache_option(parser)
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output.reports.run_report import FACTS_PART

        if options.format == "prometheus":
            need_prometheus_client("status --format prometheus")
        paths = paths_or_default(options.path)
        parts = [FACTS_PART] if options.format in ("json", "prometheus") else []
        answer = _answer(options, paths, read_settings(options, paths), parts)
        if answer is None:
            return EXIT_ERROR
        print(_status_text(answer, options.format), end="")
        return 0

    return run


def _status_text(answer: Answer, fmt: str) -> str:
    """What `status` prints, in one of its formats."""
    from ppo_top.output.status_line import status_json, status_line

    if fmt == "prometheus":
        from ppo_top.serve.exposition import reports_text

        return reports_text(answer.reports)
    text = status_json(answer.reports) if fmt == "json" else status_line(answer.reports, fmt)
    return f"{text}\n"


def _answer(
    options: argparse.Namespace, paths: Sequence[Path], settings: Settings, parts: Sequence[str]
) -> Answer | None:
    """The reports on all runs, remembered if nothing changed; None (after a line) without any."""
    from ppo_top.output.kept_answers import recall
    from ppo_top.support.cache import Cache, verdict_scope

    cache = Cache(paths)
    ended, verbose = getattr(options, "ended", False), getattr(options, "verbose", False)
    active_s = getattr(options, "active", math.inf)
    # What is kept knows nothing of the end of a job, nor which runs are too old today.
    cache.is_on = cache.is_on and not (options.no_cache or ended or active_s < math.inf)
    scope = verdict_scope(settings.judging_text) if cache.is_on else ""
    answer = None if verbose else recall(cache, scope, paths, parts)
    if answer is None:
        from ppo_top.support import garbage

        with garbage.loading():
            from ppo_top.output.check import judge_paths

        answer = judge_paths(
            paths,
            settings,
            cache,
            parts,
            sys.stderr,
            ended=ended,
            verbose=verbose,
            active_s=active_s,
        )
    else:
        for line in answer.problems:
            print(f"ppo-top: {line}", file=sys.stderr)
    return answer
