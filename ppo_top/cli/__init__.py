"""The command line: dispatch to a command, exit codes and errors; loads only that command."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from ppo_top.cli.commands import COMMANDS, make_parser
from ppo_top.cli.options import UsageError
from ppo_top.output.exit_codes import EXIT_ERROR
from ppo_top.paths import unreachable_reason

OUTPUT_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk, or of a quota: no bug of ours."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _use_ascii_fallbacks()
    try:
        return _run(arguments)
    except UsageError as error:
        from ppo_top.text.format import clean

        print(f"ppo-top: {clean(str(error))}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        from ppo_top.output.standard_output import discard_stdout

        discard_stdout()
        return 0
    except OSError as error:
        if error.errno not in OUTPUT_FULL or error.filename is not None:
            return _bug(error)
        from ppo_top.output.standard_output import discard_stdout

        discard_stdout()
        print(f"ppo-top: standard output: {error.strerror}", file=sys.stderr)
        return EXIT_ERROR
    except Exception as error:  # noqa: BLE001 - Python's own exit code for a bug means a sick run
        return _bug(error)


def _bug(error: Exception) -> int:
    from ppo_top.support.internal_errors import report_internal_error
    from ppo_top.text.format import clean

    print(f"ppo-top: {clean(report_internal_error('ppo-top', error))}", file=sys.stderr)
    return EXIT_ERROR


def _use_ascii_fallbacks() -> None:
    """Write symbols in ASCII where standard output is not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            from codecs import register_error

            from ppo_top.text.format import ascii_error_handler

            register_error("ppo-top", ascii_error_handler)
            stream.reconfigure(errors="ppo-top")


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["help"] and unreachable_reason("help"):  # no directory of that name
        arguments = [*arguments[1:2], "--help"]
    if not arguments or arguments[0] not in COMMANDS:
        if arguments:
            _check_for_typo(arguments[0])
        arguments = ["watch", *arguments]
    parser, run = make_parser(arguments[0])
    options = parser.parse_args(arguments[1:])
    if any(":" in word for word in getattr(options, "path", ())):
        from ppo_top.cli.remote_paths import run_with_remote_paths

        return run_with_remote_paths(arguments[0], options, run)
    return run(options)


def _check_for_typo(word: str) -> None:
    """Reject `chekc` instead of waiting for such a directory; `./chekc` is always a path."""
    why = "" if word.startswith("-") else unreachable_reason(word)
    if not why:
        return
    from difflib import get_close_matches

    for command in get_close_matches(word, list(COMMANDS), 1, 0.75):
        raise UsageError(f"{word}: {why}; did you mean `ppo-top {command}`?")
