"""The command line: which command, and how it ends; only that command is loaded."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from ppo_top import __version__
from ppo_top.cli.commands import COMMANDS, EXIT_ERROR, USAGE_CHARS, UsageError
from ppo_top.paths import unreachable_reason


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _spell_out()
    try:
        return _run(arguments)
    except UsageError as error:
        print(f"ppo-top: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        from ppo_top.support.internal_errors import discard_stdout

        discard_stdout()
        return 0


def _spell_out() -> None:
    """Where standard output is not UTF-8 (an old locale, a pipe), signs are written in ASCII."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            from codecs import register_error

            from ppo_top.text.format import ascii_error_handler

            register_error("ppo-top", ascii_error_handler)
            stream.reconfigure(errors="ppo-top")


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        if arguments and arguments[0] in ("-h", "--help", "--version"):
            _overview().parse_args(arguments)
        if arguments:
            _refuse_misspelt(arguments[0])
        arguments = ["watch", *arguments]
    name, *rest = arguments
    parser = argparse.ArgumentParser(
        prog="ppo-top" if name == "watch" else f"ppo-top {name}",
        description=COMMANDS[name][1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run = COMMANDS[name][0](parser)
    return run(parser.parse_args(rest))


def _refuse_misspelt(word: str) -> None:
    """`chekc` is not waited for as a directory, unless there is one; `./chekc` is."""
    why = "" if word.startswith("-") else unreachable_reason(word)
    if not why:
        return
    from difflib import get_close_matches

    for command in get_close_matches(word, list(COMMANDS), 1, 0.75):
        raise UsageError(f"{word}: {why}; did you mean `ppo-top {command}`?")


def _overview() -> argparse.ArgumentParser:
    commands = "\n".join(
        f"  ppo-top {usage:<{USAGE_CHARS}} {' '.join(what.split())}"
        for _, what, usage in COMMANDS.values()
    )
    parser = argparse.ArgumentParser(
        prog="ppo-top",
        usage="ppo-top [COMMAND] [PATH ...]",
        description="Is my training healthy, and if not, since when, why, and what do I try?",
        epilog=f"commands:\n{commands}\n\n`ppo-top COMMAND --help` tells the options of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ppo-top {__version__}")
    return parser
