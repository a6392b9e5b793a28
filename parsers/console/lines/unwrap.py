"""Strips what launchers put before a line: ranks, clocks, log levels."""

from __future__ import annotations

import re
from datetime import datetime

from ppo_top.model import UNKNOWN_TIME
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names.metric_names import is_metric, step_axis
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN
from ppo_top.text.lazy_pattern import lazy_pattern

_RANK = lazy_pattern(
    r"\s*+\[(?:default|rank|node\d*:?|worker)?\s?(\d{1,5})\]:\s?|\[rank:?\s?(\d{1,5})\]:?\s"
)
_RAY_PROCESS = lazy_pattern(
    r"\s*+\((?:([\w.:]{1,60})(?:\([^()]{1,200}\))? )?pid=(\d{1,10})(?:, ip=[\d.:a-f]{1,40})?\)\s?"
)
_SRUN_LABEL = lazy_pattern(r"\s{0,4}(\d{1,5}): ")
_BEHAVIOUR = lazy_pattern(r"(?:.{0,200}: )?([\w?=&-]{1,80})[.:] Step: \d")
"""ML-Agents trains several behaviours at once and prints a line for each."""
_STEP_IN_BRACKETS = lazy_pattern(
    r"(?i)\[\s?(?:ep|episode|epoch|it|iter|iteration|step|timestep|update)[\s#:=]"
)
_BLANKS = lazy_pattern(r"(?:[ |]|: (?=\[?(?:INFO|DEBUG|WARN|TRACE|NOTICE|SUCCESS)\b))*+")
_CLOCK_PATTERN = (
    r"\[?(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)"
    r"(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?\]?"
)
_CLOCK = lazy_pattern(_CLOCK_PATTERN)
CLOCK_BYTES = re.compile(r"\((?!\?)").sub("(?:", _CLOCK_PATTERN).encode()
"""Expression of a clock, without groups."""
_SHORT_CLOCK = lazy_pattern(
    r"\[?(?:(?:\d\d-\d\d |\d{4} |\d\d[/.]\d\d[/.]\d{4} )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|(?:\d{4}-)?\d\d-\d\d[_ ]\d\d-\d\d-\d\d|\d{4}-\d\d-\d\d \d\d:\d\d(?= \| ))"
    r"\]?(?=[\s:\]|-])"
)
_LEVEL_PREFIX = lazy_pattern(
    r"(?:\[?(?:INFO|DEBUG|WARNING|WARN|TRACE|NOTICE|SUCCESS)\]?(?:\s*+:|(?=[\s|])))(?:[\w.]{1,60}:)?"
    r"(?: \[PID: \d{1,10}\](?=\s))?"
)
_LOG_LEVELS = ("INFO", "DEBUG", "WARN", "TRACE", "NOTICE", "SUCCESS")
_ZONE = lazy_pattern(r"(?:UTC|GMT|MSK|HKT|SGT|[CEW]ES?T|[A-Z][SD]T|A[CEKW][SD]T|NZ[SD]T)(?=\s?\|)")
"""Between a clock and a bar."""
_RULE = lazy_pattern(r"[ |]{0,8}(-{4,200} {0,9}-{2,200})\s{0,9}")
"""Of a table, each line of which has a clock: rllab's and rlpyt's."""
_GLOG_PREFIX = lazy_pattern(
    r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9}\s{1,8}\d{1,20} [\w./<>-]{1,120}:\d{1,6}\] "
)
"""absl's and glog's: level, month and day, thread, place in the source."""
_SOURCE_LOCATION = lazy_pattern(
    r"(?:\w[\w.]{0,80}(?:\s?[-|:–—])?\s{1,24}(?=\[?(?:INFO|DEBUG|WARN|TRACE|NOTICE|SUCCESS)\b))|"
    r"[\w./<>-]{1,120}(?::[\w<>.]{1,60})?:\d{1,6}(?:\]|:)?(?=\s)|\[\d{1,8}\]|[-|–—]{1,2}(?=\s)|"
    r"(?:\w{1,40} )?@[\w./<>-]{1,120}:\d{1,6}\](?=\s)|(?:\[[\w.<>-]{1,60}\]){1,6} ==>(?=\s)"
)
"""`[01-01 10:00:00 MainThread @train.py:119]` (PARL, tensorpack) and `[2025-01-01 10:00:00,123]
[train][INFO][log.py><_log] ==>` (EfficientZero) say more behind their clock."""


_QUOTE = lazy_pattern(r"(?:>\s?){1,8}(?=\S)")
"""Marks of a quoted text in mail and Markdown."""
_CONTAINER = lazy_pattern(
    r"[a-z0-9][\w.-]{0,80}[-_]\d{1,4}\s{1,24}\|\s(?=\S)"  # docker compose
    r"|\[pod/[\w./-]{1,200}\]\s"  # kubectl logs --prefix
    r"|(?:stdout|stderr) [FP] "  # a container runtime's file
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} "
    r"[\w./@-]{1,80}(?:\[\d{1,10}\])?: "  # journald
)
_TUPLE_ITEM = rf"'[^'\\]*+(?:\\t[^'\\]*+)*+'|{NUMBER_PATTERN}"
_FIRST_WORD = lazy_pattern(r"[A-Za-z_]\w{0,40}[=:, |]{1,2}(?=[ \w.+-])")
_MAX_PREFIXES = 8
_LINE_NUMBER = lazy_pattern(
    r"\s{0,6}(\d{1,6})(\.?)(?:\s{0,2}[|│]\s?|[ \t]{1,4})(?=\S)"
    r"(?!episodes |reward {1,8}\S{1,20}/)"
)
"""Of an editor or a web page; with a dot that of an item in a Markdown list.

`9 episodes - ...` (Keras-RL) and `9 reward 1.0/2.0/3.0 ...` (RLlib's course) count themselves."""
_ARRAY_ITEM = r"array\([^()]{1,400}\)"
_PRINTED_TUPLE = lazy_pattern(
    rf"\((?:{_TUPLE_ITEM}), (?:(?:{_TUPLE_ITEM}|{_ARRAY_ITEM}), ){{0,40}}"
    rf"(?:{_TUPLE_ITEM}|{_ARRAY_ITEM})\)\s*+"
)
"""What Python 2 makes of `print("Episode", 3, "reward", 21.5)`."""
_ROW_OF_NUMBERS = lazy_pattern(
    r"(?:[\s|]*+(?:[-+\d.][\d.,e+-]*+[%s]?+|[\u2013\u2014]|nan|inf|No Log))*+[\s|]*+"
    r"(?:(?:\[[^][]{0,40}+\]|\([^()]{0,40}+\))\s*+)?+$"
    r"|(?:\s*+[-+\d.][\d.,e+-]*+[%s]?+(?=\s)){4}",
    re.IGNORECASE,
)
"""The cells of a table, and perhaps a remark behind them, or at least four cells: a line number
stands before text."""


class UnwrappedLine(NamedTuple):
    """A line without its prefixes."""

    text: str
    process: str
    """The process that wrote it; "" if unknown or the first rank."""
    time: float


class Unwrapper:
    """Strips the prefixes of one stream's lines.

    `srun --label` puts `0: ` before each line, which looks like a list; it counts as a rank only
    once a number has come twice.
    """

    def __init__(self) -> None:
        self._labels: set[str] = set()
        self._has_srun_labels = False
        self._highest_label = -1
        self._line_number = 0
        self._has_numbered_words = False
        self._known_prefixes: dict[str, int] = {}
        """What has stood after a clock, with the first word of the line, and its length without."""

    def unwrap(self, text: str) -> UnwrappedLine:
        """The line's text, process and time."""
        head = text[:1]
        if head == "`":
            text = text.strip("`")  # of Markdown's code, which may begin in the midst of a line
            head = text[:1]
        if head == " " and _CLOCK.match(text, 1):  # as Megatron-LM prints it
            text = text[1:]
            head = text[:1]
        if head == ">" and (quote := _QUOTE.match(text)):
            text = text[quote.end() :]
        if (head.isdigit() and text[2:3] != ":" and text[4:5] != "-") or head in (" ", ">"):
            text = self._strip_line_number(text)
        elif head == "(" and text.startswith("('") and _PRINTED_TUPLE.fullmatch(text):
            return UnwrappedLine(_join_tuple(text), "", UNKNOWN_TIME)
        found = self._unwrap_prefixes(text)
        container = _CONTAINER.match(found.text) if _may_be_container(found.text) else None
        if container is None:
            return found
        inner = self._unwrap_prefixes(found.text[container.end() :])
        return inner if inner.time == inner.time else inner._replace(time=found.time)

    def _strip_line_number(self, text: str) -> str:
        """Without the number of an editor or a web page: one more than on the line before."""
        number = _LINE_NUMBER.match(text)
        if number is None:
            return text
        is_next = int(number[1]) == self._line_number + 1
        self._line_number = int(number[1])
        if _ROW_OF_NUMBERS.match(text, number.end()):  # perhaps that of a table, and its step
            is_next = is_next and self._has_numbered_words
        else:
            self._has_numbered_words = is_next
        is_record = bool(number[2]) or text.startswith(("{", "| ", "--"), number.end())
        return text[number.end() :] if is_next or is_record else text

    def _unwrap_prefixes(self, text: str) -> UnwrappedLine:
        head = text[:1]
        if head in "IWEF" and (glog := _GLOG_PREFIX.match(text)):
            return UnwrappedLine(text[glog.end() :], "", UNKNOWN_TIME)
        if head.isalpha() and not text.startswith(_LOG_LEVELS):
            return UnwrappedLine(text, "", UNKNOWN_TIME)
        text, process = self._strip_process(text)
        head = text[:1]
        if not (head.isdigit() or head == "[" or text.startswith(_LOG_LEVELS)):
            return UnwrappedLine(text, process, UNKNOWN_TIME)
        text, time = self._strip_prefix(text)
        if "Std of Reward: " in text and (behaviour := _BEHAVIOUR.match(text)):
            process = behaviour[1]
        return UnwrappedLine(text, process, time)

    def _strip_prefix(self, text: str) -> tuple[str, float]:
        """Strip clock, level and source location; what has stood after a clock is known by then."""
        clock = _CLOCK.match(text)
        if clock is None:
            return _strip_prefixes(text)
        end = clock.end()
        for known, length in self._known_prefixes.items():
            if text.startswith(known, end):
                return text[end + length :], _clock_time(clock)
        rest, time = _strip_prefixes(text)
        word = _FIRST_WORD.match(rest)
        if word is not None and time == time and len(self._known_prefixes) < _MAX_PREFIXES:
            start = len(text) - len(rest)
            self._known_prefixes[text[end : start + word.end()]] = start - end
        return rest, time

    def _strip_process(self, text: str) -> tuple[str, str]:
        head = text[:12].lstrip()[:1]
        if head == "[" and (rank := _RANK.match(text)):
            return text[rank.end() :], _rank_name(rank[1] or rank[2])
        if head == "(" and (process := _RAY_PROCESS.match(text)):
            kind = "worker pid" if "worker" in (process[1] or "").lower() else "pid"
            return text[process.end() :], f"{kind} {process[2]}"
        if head.isdigit() and (label := _SRUN_LABEL.match(text)):
            return self._strip_label(text, label[1], label.end())
        return text, ""

    def _strip_label(self, text: str, label: str, end: int) -> tuple[str, str]:
        """Without the rank that `srun` puts there; `210: reward 3.5` after `105:` is a step."""
        self._has_srun_labels = self._has_srun_labels or label in self._labels
        jumps = int(label) > self._highest_label + 1
        self._highest_label = max(self._highest_label, int(label))
        if len(self._labels) < 4096:
            self._labels.add(label)
        if jumps and text[end : end + 1].isalpha() and not self._has_srun_labels:
            return text, ""
        return text[end:], _rank_name(label) if self._has_srun_labels else ""


def has_no_prefix(text: str) -> bool:
    """Whether a line begins with a word that is no prefix, whatever its numbers are."""
    if _STEP_IN_BRACKETS.match(text):
        return True
    if not text[:1].isalpha() or text.startswith(_LOG_LEVELS) or _GLOG_PREFIX.match(text):
        return False
    return _CONTAINER.match(text) is None


def constant_prefix(text: str, rest: str) -> str | None:
    """What stands between a clock, with which the line begins, and its text; None without one."""
    is_clock = text.startswith("[") or text[4:5] == "-"
    clock = _CLOCK.match(text) if is_clock and text.endswith(rest) else None
    return None if clock is None else text[clock.end() : len(text) - len(rest)]


def clock_time(text: str) -> float:
    """The unix time of a clock."""
    clock = _CLOCK.match(text)
    return UNKNOWN_TIME if clock is None else _clock_time(clock)


def _join_tuple(text: str) -> str:
    """The words of a printed tuple as Python 3 would have printed them."""
    items = re.findall(_TUPLE_ITEM, re.sub(rf"'[^']{{0,40}}', {_ARRAY_ITEM}", "", text))
    return " ".join(item.strip("'").replace("\\t", "\t") for item in items)


def _may_be_container(text: str) -> bool:
    """A quick look before the search."""
    if text[9:13:3] == "::" or text.startswith(("[pod/", "stdout ", "stderr ")):
        return True
    return text[:1].isalnum() and "| " in text[:120]


def _rank_name(rank: str) -> str:
    return f"rank{int(rank)}" if int(rank) else ""


def _strip_prefixes(text: str) -> tuple[str, float]:
    """Strip clock, level and source location; also return the clock's unix time."""
    time = UNKNOWN_TIME
    position = end = 0
    for _ in range(8):
        position = _BLANKS.match(text, end).end()  # type: ignore[union-attr]
        match = _CLOCK.match(text, position)
        if match is not None:
            time = _clock_time(match)
        else:
            match = (
                _SHORT_CLOCK.match(text, position)
                or _LEVEL_PREFIX.match(text, position)
                or (_source_location(text, position) if end else None)
                or (_ZONE.match(text, position) if end else None)
            )
        if match is None:
            break
        end = match.end()
    rest = text[end:].lstrip(" |-–—:]") if end else ""
    if end and not rest and (rule := _RULE.fullmatch(text, end)):
        rest = rule[1]
    return (rest, time) if rest else (text, UNKNOWN_TIME)


def _source_location(text: str, position: int) -> re.Match[str] | None:
    """A place in the source such as `train.py:33`, or a logger's name; `step:33` is none."""
    match = _SOURCE_LOCATION.match(text, position)
    if match is None or text.startswith(_LOG_LEVELS, match.end()):
        return match
    name = match[0].partition(":")[0]
    if name.endswith(".py"):
        return match
    return None if step_axis(name) or is_metric(name) else match


def _clock_time(match: re.Match[str]) -> float:
    """A clock without a zone is local time: logs are watched where they are made."""
    zone = (match[8] or "").replace("Z", "+00:00")
    fraction = f".{match[7][:6]}" if match[7] else ""
    day = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}{fraction}{zone}"
    try:
        return datetime.fromisoformat(day).timestamp()
    except (ValueError, OverflowError, OSError):
        return UNKNOWN_TIME
