"""The options `--on` and `--on-existing`: commands that events of runs start."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ppo_top.cli.options import UsageError

if TYPE_CHECKING:
    from ppo_top.settings import Settings

SHELL_WORD = r"[12&]?>.*|<|\|\|?|&&?|.*;|\$.+"
"""A word of a command that means something to a shell only: `>>`, `|`, `;`, `$NAME`."""
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish")


def add_hook_options(parser: argparse.ArgumentParser, when: str = "") -> None:
    """`--on` and `--on-existing`; `when` begins their help."""
    parser.add_argument(
        "--on",
        nargs=2,
        action="append",
        metavar=("EVENT", "COMMAND"),
        default=[],
        help=f"{when}run COMMAND when a finding is as severe as EVENT (watch, warn, crit) "
        "or has cleared, or a run has stalled, died or finished, or at any of these",
    )
    parser.add_argument(
        "--on-existing",
        action="store_true",
        help="with --on: also for what is already there when the watching begins",
    )


def with_hooks(settings: Settings, given: Iterable[Sequence[str]]) -> Settings:
    """The settings with the hooks of `--on EVENT COMMAND`; UsageError if one cannot run.

    A hook of the settings file whose program is missing is reported and left out.
    """
    import shlex
    import shutil

    from ppo_top.settings import HOOK_EVENTS, Hook

    hooks = []
    for event, text in given:
        try:
            command = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(f"--on {event}: {text}: {str(error).lower()}") from None
        if event not in HOOK_EVENTS:
            raise UsageError(f"--on {event}: the events are {', '.join(HOOK_EVENTS)}")
        hook = Hook(event, command).with_home()
        if not command or shutil.which(hook.command[0]) is None:
            raise UsageError(f"--on {event}: {text or 'no command'}: no such program")
        _tell_of_shell_words(event, hook.command)
        hooks.append(hook)
    for hook in (each.with_home() for each in settings.hooks):
        if shutil.which(hook.command[0]) is None:
            print(f"ppo-top: on {hook.event}: {hook.command[0]}: no such program", file=sys.stderr)
        else:
            hooks.append(hook)
    return settings._replace(hooks=tuple(hooks))


def _tell_of_shell_words(event: str, command: Sequence[str]) -> None:
    """Say so if a command has words that only a shell would read: it would do something else."""
    program = command[0].rpartition("/")[2]
    unread = [word for word in command[1:] if re.fullmatch(SHELL_WORD, word)]
    if unread and program not in SHELLS:
        why = f"{unread[0]} is given to {program} as it is, no shell reads it"
        print(f"ppo-top: --on {event}: {why} (sh -c '...' does)", file=sys.stderr)
