"""Lines that say a run is over: a complete traceback, a kill, a cancelled job, a final message."""

from __future__ import annotations

import re

from ppo_top.model import RunEnd, State
from ppo_top.parsers.shared.text.traceback_end import end_of_traceback
from ppo_top.text.lazy_pattern import lazy_pattern

_TRACEBACK_START = lazy_pattern(
    r"(?:\^C)*\s*[+|\s]*(?:Exception Group )?Traceback \(most recent call last\)"
)
_ERROR_LINE = lazy_pattern(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:\(\w+\))?(?::\s.*|:)?")
_TRACEBACK_LINES = (" ", "\t", "+", "|", "The above exception was", "During handling of the above")
_FATAL_STARTS = lazy_pattern(
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
    "Watchdog caught collective operation timeout",
    "(core dumped)",
)
_CANCELLED_JOB = lazy_pattern(
    r"Terminated$|slurmstepd: error: \*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT (?!.*NODE FAIL)"
)
"""By a time limit, a preemption or its user; the training did not fail, and a node did not."""
_FINISHED_LINE = lazy_pattern(
    r"^(?:Training complete[d!.]|Training (?:has )?finished|MAX EPOCHS NUM!)", re.IGNORECASE
)
_LOGGED_ERROR, _AFTER_LOGGED = "--- Logging error ---", "Call stack:"
"""What Python prints before and after the tracebacks of a log call that failed, and goes on."""
_OF_THREAD = "Exception in thread "
"""Before the traceback of a thread, such as a progress bar's, without which the run goes on."""
MAX_END_LINE_CHARS = 4096


def may_end_run(record: str) -> bool:
    """Whether a line may be the last of a run even if it is a record."""
    return _FINISHED_LINE.match(record) is not None


class RunEndDetector:
    """Looks for the end of a run in the lines of one process."""

    def __init__(self) -> None:
        self.in_traceback = False
        self._is_cancelled = False
        self._is_survived = self._is_of_thread = False
        """Whether tracebacks are those of a failed log call, or the next one is a thread's."""

    def read_line(self, text: str, is_record: bool = False) -> RunEnd | None:
        """The end that this line completes; a record can only be a regular end.

        What a cancelled job prints on its way out (`srun: error: node1: task 0: Terminated`) is no
        failure of its own.
        """
        ended = self._read_end(text, is_record)
        if is_record:
            self._is_cancelled = False
        elif self._is_cancelled and ended is not None and ended.state is State.DIED:
            return None
        return ended

    def _read_end(self, text: str, is_record: bool) -> RunEnd | None:
        if self.in_traceback:
            return self._read_traceback_line(text)
        if is_record:
            return self._finished(text)
        if text.startswith((_LOGGED_ERROR, _AFTER_LOGGED)):
            self._is_survived = text.startswith(_LOGGED_ERROR)
        if "Traceback" in text and _TRACEBACK_START.match(text):
            self.in_traceback = True
            return None
        self._is_of_thread = text.startswith(_OF_THREAD)
        if len(text) > MAX_END_LINE_CHARS:
            return None
        if _CANCELLED_JOB.match(text):
            self._is_cancelled = True
            return RunEnd(State.ENDED, text.strip())
        if _FATAL_STARTS.match(text) or any(words in text for words in _FATAL_WORDS):
            return RunEnd(State.DIED, text.strip())
        return self._finished(text)

    def _finished(self, text: str) -> RunEnd | None:
        if text[:1] in "TtMm" and _FINISHED_LINE.match(text):
            return RunEnd(State.FINISHED, text.strip())
        return None

    def _read_traceback_line(self, text: str) -> RunEnd | None:
        """A traceback ends with the first unindented line that names an error."""
        if not text or text.startswith(_TRACEBACK_LINES) or "Traceback" in text:
            return None
        self.in_traceback = False
        words = text.strip()[:MAX_END_LINE_CHARS]
        if _ERROR_LINE.fullmatch(words):
            is_survived, self._is_of_thread = self._is_survived or self._is_of_thread, False
            return None if is_survived else end_of_traceback(words)
        return self._read_end(text, is_record=False)
