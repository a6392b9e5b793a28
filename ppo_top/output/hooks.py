"""Which hooks an event starts (`--on`, `[[on]]`), and what their commands are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ppo_top.model import Severity
from ppo_top.output.hook_runner import TIME_LIMIT_S, HookCall, HookRunner
from ppo_top.settings import Hook
from ppo_top.settings.hook import SEVERITY_EVENTS, STATE_EVENTS
from ppo_top.text.format import clean

MAX_VARIABLE_CHARS = 1024


class Hooks:
    """Starts commands for events of `check --follow`.

    Each finding counts once a severity, and not at all while an open diagnosis explains it. What
    was there when watching began starts nothing, unless `existing`.
    """

    def __init__(
        self, hooks: Sequence[Hook], tell: Callable[[str], None], *, existing: bool = False
    ) -> None:
        self._hooks = hooks
        self._runner = HookRunner(tell)
        self._is_started = existing
        self._severities: dict[tuple[str, str], Severity] = {}
        """(path of the run, rule) -> the highest severity reported of an open finding"""

    def begin(self) -> None:
        """From now on events are new: what was there has been read."""
        self._is_started = True

    def take(self, event: dict[str, Any]) -> None:
        """Start the commands that want this event; returns at once."""
        words = self._words(event) if "run" in event else set()
        if not words or not self._is_started:
            return
        for hook in self._hooks:
            if hook.event in words:
                self._runner.start(_call(hook, event))

    def wait(self) -> None:
        """Wait until the commands that were started have ended, or their time is over."""
        self._runner.wait(TIME_LIMIT_S)

    def close(self) -> None:
        """End the commands that still run."""
        self._runner.close()

    def _words(self, event: dict[str, Any]) -> set[str]:
        """The events of hooks that this one is; none if it is not news."""
        word = str(event["event"])
        if "rule" not in event:
            if word in ("run-started", "run-gone"):
                self._forget_run(str(event["path"]))
            return {word.removeprefix("run-"), "any"} & {*STATE_EVENTS, "any"}
        key = str(event["path"]), str(event["rule"])
        if word == "cleared":
            return {"cleared", "any"} if self._severities.pop(key, None) is not None else set()
        severity = Severity[str(event["severity"]).upper()]
        if event["explained_by"] is not None or severity <= self._severities.get(key, 0):
            return set()
        self._severities[key] = severity
        return {"any", *(each for each in SEVERITY_EVENTS if severity >= Severity[each.upper()])}

    def _forget_run(self, path: str) -> None:
        """Another training may write where one was before."""
        for key in [each for each in self._severities if each[0] == path]:
            del self._severities[key]


def _call(hook: Hook, event: dict[str, Any]) -> HookCall:
    """What a command gets: the line of `--follow --json`, and some of it in variables."""
    named = {
        "EVENT": event["event"],
        "RUN": event["run"],
        "PATH": event["path"],
        "RULE": event.get("rule", ""),
        "SEVERITY": event.get("severity", ""),
        "STEP": event.get("since_step"),
        "MESSAGE": event.get("message") or event.get("text", ""),
    }
    variables = {
        f"PPO_TOP_{name}": clean("" if value is None else str(value))[:MAX_VARIABLE_CHARS]
        for name, value in named.items()
    }
    about = f"{event['run']}, {event.get('severity', '')} {event.get('rule', event['event'])}"
    line = json.dumps(event).encode() + b"\n"
    return HookCall(str(event["path"]), " ".join(about.split()), hook.command, line, variables)
