"""The commands: each adds its options to a parser and returns the function that runs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NoReturn

from ppo_top.cli.options import (
    Command,
    UsageError,
    add_paths,
    add_settings_options,
    paths_or_default,
    read_settings,
)
from ppo_top.cli.output_file import refuse_among_logs, write_output
from ppo_top.cli.screen_commands import demo, replay, watch
from ppo_top.cli.serve_command import serve
from ppo_top.cli.verdict_commands import check, status
from ppo_top.output.exit_codes import EXIT_ERROR

if TYPE_CHECKING:
    from ppo_top.cli.completion import CommandLine


def _export(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    parser.add_argument(
        "--format", choices=("csv", "jsonl"), required=True, help="CSV or JSON lines"
    )
    parser.add_argument(
        "--source",
        choices=("all", "best"),
        default="all",
        help="all: every point of every file (default); best: the merged series that is charted",
    )
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        from ppo_top.output.export import export
        from ppo_top.runs.load import open_loader

        paths = paths_or_default(options.path)
        loader = open_loader(paths, read_settings(options, paths), sys.stderr, bounded=True)
        if loader is None:
            return EXIT_ERROR
        with closing(loader):
            runs = loader.complete_runs()
            export(runs, sys.stdout, options.format, options.source, sys.stderr)
        return 0

    return run


def _report(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="write the page here; - is stdout"
    )
    parser.add_argument(
        "--with-settings",
        action="store_true",
        help="also show the settings, without those that look like secrets",
    )
    add_settings_options(parser)

    def run(options: argparse.Namespace) -> int:
        import time

        from ppo_top.output.reports.html_report import html_report
        from ppo_top.runs.load import open_loader

        paths = paths_or_default(options.path)
        refuse_among_logs(options.output, paths)
        loader = open_loader(paths, read_settings(options, paths), sys.stderr, bounded=True)
        if loader is None:
            return EXIT_ERROR
        with closing(loader):
            runs = loader.complete_runs()
            page = html_report(runs, time.time(), with_settings=options.with_settings)
        write_output(options.output, page)
        return 0

    return run


def _explain(parser: argparse.ArgumentParser) -> Command:
    parser.add_argument(
        "name", nargs="*", metavar="METRIC|RULE", help="a metric, a tag, a rule or an option"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="all tags under which a metric is logged"
    )

    def run(options: argparse.Namespace) -> int:
        import shutil

        width = min(100, shutil.get_terminal_size((96, 24)).columns)
        for page in _explanations(options.name, width, options.verbose):
            print(page)
        return 0

    return run


def _explanations(words: Sequence[str], width: int, all_tags: bool) -> list[str]:
    """The page on a name of one or more words, or those on each of several names."""
    from ppo_top.output.explain import UnknownName, explain

    def page(name: str | None) -> str:
        return "\n".join(explain(name, width, all_tags=all_tags))

    try:
        return [page(" ".join(words) or None)]
    except UnknownName as error:
        with suppress(UnknownName):
            return [page(word) + "\n" for word in words]
        raise UsageError(str(error)) from None


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

        print(completion_script(options.shell, command_lines()), end="")
        return 0

    return run


COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], Command], str, str]] = {
    "watch": (watch, "live monitor of the runs below the paths", "[PATH ...]"),
    "replay": (replay, "replay a log in the monitor", "replay PATH [--speed 60]"),
    "check": (
        check,
        "print a verdict (no TUI), for CI and scripts",
        "check PATH ... [--json] [--active AGE] [--follow]",
    ),
    "status": (status, "one line for tmux or a prompt", "status PATH [--format tmux]"),
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
    "serve": (
        serve,
        "verdicts for Prometheus, until it is stopped",
        "serve [PATH ...] [--listen HOST:PORT]",
    ),
    "explain": (
        _explain,
        "what a metric or a rule means, and what to try",
        "explain [METRIC|RULE ...]",
    ),
    "demo": (
        demo,
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


class CommandParser(argparse.ArgumentParser):
    """Names the option that was probably meant, where there is none of the name given."""

    def error(self, message: str) -> NoReturn:
        """Print the message to stderr, in a line; exit code 2."""
        unknown = message.startswith("unrecognized arguments: ")
        for word in message.split()[2:] if unknown else ():
            from difflib import get_close_matches

            known = self._option_string_actions if word.startswith("--") else ()
            for near in get_close_matches(word.partition("=")[0], known, 1):
                message += f"; did you mean {near}?"
        hint = f"`{self.prog} --help` lists the options"
        self.exit(EXIT_ERROR, f"{self.prog}: error: {message} ({hint})\n")


def make_parser(name: str) -> tuple[argparse.ArgumentParser, Command]:
    """The argument parser of a command and the function that runs it.

    That of `watch` is also the program's own: its help lists the commands.
    """
    add_options, description, _ = COMMANDS[name]
    main = name == "watch"
    parser = CommandParser(
        prog="ppo-top" if main else f"ppo-top {name}",
        usage="ppo-top [OPTION ...] [PATH ...]\n       ppo-top COMMAND ..." if main else None,
        description=OVERVIEW if main else description,
        epilog=_command_list() if main else None,
        formatter_class=HelpFormatter,
    )
    return parser, add_options(parser)


def command_lines() -> dict[str, CommandLine]:
    """What can be typed after each command, by its name."""
    from ppo_top.cli.completion import CommandLine, arguments_of

    return {
        name: CommandLine(description, arguments_of(make_parser(name)[0]))
        for name, (_, description, _) in COMMANDS.items()
    }


OVERVIEW = "Is my training healthy, and if not, since when, why, and what do I try?"


def _command_list() -> str:
    width = max(len(usage) for _, _, usage in COMMANDS.values())
    lines = (f"  ppo-top {usage:<{width}} {what}" for _, what, usage in COMMANDS.values())
    hint = "run `ppo-top COMMAND --help` for its options; the options above are the monitor's"
    return "\n".join(("commands:", *lines, "", hint))
