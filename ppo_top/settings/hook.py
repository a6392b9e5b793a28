"""A command that runs when something happens to a run: `[[on]]` in the settings, or `--on`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ppo_top.model.named_tuple import NamedTuple

SEVERITY_EVENTS = ("watch", "warn", "crit")
STATE_EVENTS = ("stalled", "died", "finished")
HOOK_EVENTS = (*SEVERITY_EVENTS, "cleared", *STATE_EVENTS, "any")
"""What may start a command: a finding at least that severe, one that cleared, a run's new state."""

HOOK_KEYS = {
    "event": f"one of {', '.join(HOOK_EVENTS)}",
    "command": "a program and its arguments, as a list of strings",
}
"""The keys of a hook, and what each expects."""


class Hook(NamedTuple):
    """A program with its arguments, which no shell reads, and the event that starts it."""

    event: str
    command: tuple[str, ...]

    def with_home(self) -> Hook:
        """The same, with `~/` at the start of the program as a shell would read it."""
        program, rest = self.command[:1], self.command[1:]
        return Hook(self.event, (*map(os.path.expanduser, program), *rest))


def find_hook_fault(given: Mapping[str, object]) -> tuple[str, str] | None:
    """The first wrong key and what is wrong with it; None if these keys make a hook."""
    if given.keys() != HOOK_KEYS.keys():
        return "", "needs event and command"
    command = given["command"]
    if given["event"] not in HOOK_EVENTS:
        return "event", f"expected {HOOK_KEYS['event']}"
    is_list = isinstance(command, list) and all(isinstance(word, str) for word in command)
    if not is_list or not command or any("\0" in word for word in command):  # type: ignore[attr-defined]
        return "command", f"expected {HOOK_KEYS['command']}"
    return None


def make_hook(given: Mapping[str, object]) -> Hook:
    """The hook of keys without a fault."""
    return Hook(str(given["event"]), tuple(given["command"]))  # type: ignore[arg-type]
