"""Runs a command on paths such as `node3:/runs`: it is given those of copies here."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIG_DFL, SIGHUP, SIGTERM

from ppo_top.cli.options import Command, UsageError
from ppo_top.output.exit_codes import EXIT_ERROR
from ppo_top.remote.address import RemotePathError, parse_remote
from ppo_top.remote.connection import ConnectionOptions
from ppo_top.remote.hosts import Hosts, connected
from ppo_top.text.format import clean

MOST_FILES = 50_000
"""Files of one host."""
WAITING_COMMANDS = frozenset({"watch", "serve"})
"""Commands that begin before there is a log; the others want everything at once."""


def run_with_remote_paths(name: str, options: argparse.Namespace, run: Command) -> int:
    """Run a command, some of whose paths may be on other machines; returns its exit code."""
    try:
        if not any(map(parse_remote, options.path)):
            return run(options)
        is_live = name in WAITING_COMMANDS or getattr(options, "follow", False)
        waits = name in WAITING_COMMANDS and not getattr(options, "no_wait", False)
        chosen = _connection_options(options, once=not is_live)
        options.no_cache = True  # copies are new each time
        with _orderly_end(), connected(options.path, chosen) as hosts:
            if not waits:
                return _run_when_complete(hosts, options, run, is_live)
            options.path = hosts.all_paths()
            return run(options)
    except RemotePathError as error:
        raise UsageError(str(error)) from None


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Delete the copies also when a signal ends the program."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    signals = [each for each in (SIGTERM, SIGHUP) if signal.getsignal(each) == SIG_DFL]
    before = {each: signal.signal(each, end) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _connection_options(options: argparse.Namespace, once: bool) -> ConnectionOptions:
    try:
        ssh = shlex.split(options.ssh)
    except ValueError as error:
        raise UsageError(f"--ssh: {error}") from None
    if not ssh:
        raise UsageError("--ssh: no command")
    space, notebooks = options.remote_space, options.notebooks
    return ConnectionOptions(ssh, options.remote_python, space, MOST_FILES, once, notebooks)


def _run_when_complete(
    hosts: Hosts, options: argparse.Namespace, run: Command, is_live: bool
) -> int:
    """Run a command on what could be read; 2 if some of it, or (live) nothing, could be."""
    hosts.wait()
    failures, paths = hosts.failures(), hosts.complete_paths()
    told_later = hosts.problems() if paths else []  # by whoever reads the others
    for line in failures:
        if line not in told_later:
            print(f"ppo-top: {clean(line)}", file=sys.stderr)
    if not paths:
        return EXIT_ERROR
    options.path = paths
    if is_live:  # a host that cannot be reached now may be later
        hosts.create_missing()
        options.path = hosts.all_paths()
    code = run(options)
    return EXIT_ERROR if failures and not is_live else code
