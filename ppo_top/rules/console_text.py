"""Console lines that are evidence by themselves: warnings and errors that trainers print."""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.lazy_pattern import lazy_pattern

MAX_EVIDENCE_CHARS = 300
"""Longest evidence text in characters; log lines may be of any length."""


LAST_ERROR = "last-error"
"""The kind of a line such as `ValueError: ...` that ends a traceback."""


TRACEBACK = "Traceback (most recent call last)"
"""What names a crash until its error is known."""


DEATH = "death"
"""The kind of the text with which a log says that its process failed, whatever wrote it."""


NAMED_DEATHS = ("killed", "out-of-memory", "disk-full")
"""Rules that say why a process died, beside which it need not be told that it did."""

DEATHS = ("crashed", *NAMED_DEATHS)
"""Rules that say that a process died."""

LAST_WORDS = (*(f"{rule}:crit" for rule in DEATHS), LAST_ERROR)
"""Kinds of lines that end a process, unless it goes on."""

_KILLED = lazy_pattern(r"\bKilled\b")


class TextEvidence(NamedTuple):
    """`kind`: a rule's id and a severity, such as `ref-kl-negative:crit`."""

    kind: str
    text: str


_WORKER = lazy_pattern(r"^(?:\([\w.: ]{0,60}\bpid=\d+[^()]{0,60}\)|\[rank\d+\]:)\s*(?=\S)")
"""Which of several processes says it, as Ray and torch write before a line: no part of it."""

_BAR = lazy_pattern(r"^[^\[\]]{0,200}\[\d+:\d\d(?::\d\d)?[<,][^\[\]]{0,400}\]\s*(?=\S)")
"""tqdm's bar, `45%|### | 9/20 [00:07<00:08, 1.3it/s]`, behind which a warning stands."""

_LOG_LEVEL = r"\b(?:ERROR|WARN(?:ING)?|CRITICAL|INFO|DEBUG)\b"
_OUT_OF_MEMORY = r"CUDA out of memory|OutOfMemoryError|MPS backend out of memory"
_DISK_FULL = r"No space left on device|Disk quota exceeded|PytorchStreamWriter failed writing file"
_KILLED_FOR_MEMORY = r"oom[-_]kill|Out of memory: Killed process|Out Of Memory$"
_SENTENCES = (
    ("ref-kl-negative:crit", r"KL divergence is starting to become negative: -?[\d.]+"),
    ("ratio-off:warn", r"The average ratio of batch \([\d.naif]+\) exceeds threshold [\d.]+"),
    ("kl-early-stop:info", r"Early stopping at step \d+ due to reaching max kl"),
    (
        "non-finite:crit",
        r"Expected parameter (?:logits|loc|probs|scale)\b.*to satisfy the constraint",
    ),
    ("non-finite:crit", r"normal expects all elements of std >= 0\.0"),
    (
        "non-finite:crit",
        r"probability tensor contains either [`'\"]?inf[`'\"]?, [`'\"]?nan[`'\"]? or element < 0",
    ),
    ("non-finite:crit", r"\b(?:[Ll]oss|[Gg]radients?|[Rr]eward) (?:is|are|became) [Nn]a[Nn]\b"),
    ("out-of-memory:crit", _OUT_OF_MEMORY),
    ("killed:crit", _KILLED_FOR_MEMORY),
    ("disk-full:crit", _DISK_FULL),
    # after a log level on the same line, the traceback is of an exception that was caught
    ("crashed:crit", rf"^(?:(?!{_LOG_LEVEL}).)*{re.escape(TRACEBACK)}"),
    ("numpy-warning:watch", r"RuntimeWarning: (?:invalid value|overflow|divide by zero) encounter"),
    (
        LAST_ERROR,
        r"^(?:[A-Za-z_][\w.]*)?(?:Error|Exception|KeyboardInterrupt)(?:\(\w+\))?(?::|$)",
    ),
)

_HINTS = (
    "KL divergence is starting",
    "average ratio of batch",
    "Early stopping at step",
    "Expected parameter",
    "normal expects all",
    "probability tensor",
    "out of memory",
    "Out of memory",
    "Out Of Memory",
    "oom",
    "No space left",
    "Disk quota",
    "StreamWriter failed",
    "Traceback",
    "RuntimeWarning",
    " nan",
    " NaN",
    "Error",
    "Exception",
    "KeyboardInterrupt",
)


def rule_of_death(text: str) -> str:
    """The rule that tells of a death by its words: `killed` from outside, else `crashed`."""
    return "killed" if _KILLED.search(text) else "crashed"


def message_in(line: str) -> str:
    """What a console line says, without the process that it is of and a bar before it."""
    return _BAR.sub("", _WORKER.sub("", line))


def find_text_evidence(line: str) -> TextEvidence | None:
    """The evidence in a console line, or None; fast, because it runs on every line."""
    head = line[: 4 * MAX_EVIDENCE_CHARS]
    if not _may_match(head):
        return None
    for kind, regex in _SENTENCES:  # compiled by the first line that may match: few logs have one
        found = re.search(regex, head)
        if found is not None:
            start = max(0, found.start() - 40)
            text = "".join(c for c in head[start : start + MAX_EVIDENCE_CHARS] if c.isprintable())
            return TextEvidence(kind, text.strip())
    return None


def _may_match(head: str) -> bool:
    """Whether any pattern can match: plain substring search is twenty times faster than regex."""
    for hint in _HINTS:  # noqa: SIM110 - a generator would take twice as long
        if hint in head:
            return True
    return False
