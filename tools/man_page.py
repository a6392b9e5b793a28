"""The man page, from the parsers of the commands."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top import __version__
from ppo_top.cli.commands import COMMANDS, OVERVIEW, command_lines
from ppo_top.cli.completion import Argument

EXIT_CODES = (
    ("0", "no open finding at or above --fail-on; other commands: success"),
    ("1", "check: at least one such finding is open"),
    (
        "2",
        "could not check, or not all of it: wrong usage, no such path, a log that cannot be opened",
    ),
)
FILES = (
    ("DIRECTORY/ppo-top.toml", "settings next to the logs"),
    ("~/.config/ppo-top/ppo-top.toml", "your own settings, which take precedence"),
    ("~/.local/state/ppo-top/", "acknowledged findings, and tracebacks of internal errors"),
    ("~/.cache/ppo-top/", "verdicts on runs whose logs did not change since (`ppo-top cache`)"),
)


def man_page() -> str:
    """ppo-top(1) as troff source."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH PPO-TOP 1 "" "ppo-top {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"ppo-top \- live verdict on reinforcement learning runs, in the terminal"
    yield ".SH SYNOPSIS"
    for usage in (usage for _, _, usage in COMMANDS.values()):
        yield f".B ppo-top\n{_escaped(usage)}\n.br"
    yield ".SH DESCRIPTION"
    yield f"{_escaped(OVERVIEW)}\nppo-top reads the logs that a training writes, and never writes"
    yield "where they are."
    for name, (what, arguments) in command_lines().items():
        yield f".SH {'OPTIONS' if name == 'watch' else name.upper()}"
        yield _escaped(f"{what[0].upper()}{what[1:]}.")
        for each in arguments:
            if "--help" not in each.flags:
                yield from _entry(_synopsis(each), each.help)
    for title, entries in (("EXIT STATUS", EXIT_CODES), ("FILES", FILES)):
        yield f".SH {title}"
        for head, text in entries:
            yield from _entry(head, text)


def _entry(head: str, text: str) -> Iterator[str]:
    yield f".TP\n.B {_escaped(head)}\n{_escaped(text)}".rstrip()


def _synopsis(each: Argument) -> str:
    listed = each.choices if len(each.choices) <= 10 else ()
    value = f"{{{','.join(listed)}}}" if listed else each.metavar
    return f"{', '.join(each.flags)} {value}".strip()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-")
