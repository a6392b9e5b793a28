"""Words that say a run is over: a complete traceback, an out-of-memory kill, a farewell."""

from __future__ import annotations

import re

from ppo_top.model import Ended, State

_HEADER = re.compile(r"\s*[+|\s]*(?:Exception Group )?Traceback \(most recent call last\)")
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?::\s.*|:)?")
_BETWEEN = ("The above exception was", "During handling of the above")
_FATAL_STARTS = re.compile(
    r"Killed$|\S+: line \d+:\s+\d+ (?:Killed|Segmentation fault|Aborted|Bus error)"
    r"|Segmentation fault|Fatal Python error|Aborted(?: \(core dumped\))?$|Bus error"
    r"|srun: error: |slurmstepd: error: |terminate called after"
)
_FATAL_WORDS = (
    "CUDA out of memory",
    "CUDA error: ",
    "oom_kill",
    "oom-kill",
    "Out of memory: Killed process",
    "ChildFailedError",
    "(core dumped)",
)
_FINISHED = re.compile(
    r"^(?:Training complete[d!.]|Training (?:has )?finished|MAX EPOCHS NUM!)", re.IGNORECASE
)
LONGEST = 4096


class Endings:
    """Reads one stream's lines for the words of an end."""

    def __init__(self) -> None:
        self.in_traceback = False

    def see(self, text: str, is_record: bool = False) -> Ended | None:
        """The end that this line completes, if it does; records only ever say farewell."""
        if self.in_traceback:
            return self._inside(text)
        if is_record:
            return self._farewell(text)
        if "Traceback" in text and _HEADER.match(text):
            self.in_traceback = True
            return None
        if len(text) > LONGEST:
            return None
        if _FATAL_STARTS.match(text) or any(words in text for words in _FATAL_WORDS):
            return Ended(State.DIED, text.strip())
        return self._farewell(text)

    def _farewell(self, text: str) -> Ended | None:
        if text[:1] in "TtMm" and _FINISHED.match(text):
            return Ended(State.FINISHED, text.strip())
        return None

    def _inside(self, text: str) -> Ended | None:
        """A traceback ends with the first line at the margin that names an error."""
        if not text or text[0] in " \t+|" or text.startswith(_BETWEEN) or "Traceback" in text:
            return None
        self.in_traceback = False
        if _ERROR.fullmatch(text.strip()[:LONGEST]):
            return Ended(State.DIED, text.strip()[:LONGEST])
        return self.see(text)
