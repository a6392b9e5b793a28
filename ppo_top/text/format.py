"""Numbers, percentages, durations and steps as short text; makes hostile text harmless."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ppo_top.model import Axis

REPLACEMENT = "�"
"""Replaces every character that a terminal might obey or hide instead of showing."""

ASCII_FALLBACKS = {
    "·": "|", "–": "-", "—": "-", "…": "~", "→": "->", "≤": "<=", "≥": ">=", "×": "x",
    "²": "2", "−": "-", "±": "+/-", "✗": "X", "✓": "+", "▲": "!", "△": "^", "┄": "-", "─": "-",
    "│": "|", "■": "#", "●": "*", "’": "'", "“": '"', "”": '"', "ε": "eps", "β": "beta",
    "σ": "sd", "π": "pi", "⏎": "Enter", "↑": "^", "↓": "v", "↗": "/", "↘": "\\", "★": "*",
    "▸": ">", "▾": "v", "√": "sqrt", "≈": "~", "▶": ">", "†": "x", "ℹ": "i", "←": "<-",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
    "━": "=",
}  # fmt: skip
"""Our own symbols in ASCII, for terminals and pipes that support no more."""

_OTHER = re.compile("[^ -~\u2500-\u259f\u2800-\u28ff\u2190-\u2199\u2713-\u2718·–…]")
"""Anything but printable ASCII, box drawing and our own symbols needs a closer look."""

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMBINING = frozenset({"Mn", "Me"})
_LARGE = 10_000_000.0
_SMALL = 1e-4 * (1.0 - 1e-6)  # in single precision, 1e-4 is a little less
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0


def ascii_error_handler(error: UnicodeError) -> tuple[str, int]:
    """A codec error handler: symbols become ASCII, other characters escapes; it never fails."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(ASCII_FALLBACKS.get(c) or ascii(c)[1:-1] for c in text), error.end


def clean(text: str) -> str:
    """Remove what a terminal could obey: control, bidirectional and invisible characters.

    Each becomes `�`, a tab or a line break a space; combining marks that do not compose with their
    letter are dropped, so that every character is one or two cells wide.
    """
    return text if _OTHER.search(text) is None else _cleaned(text)


@lru_cache(maxsize=4096)
def _cleaned(text: str) -> str:
    return "".join(_safe(character) for character in unicodedata.normalize("NFC", text))


def _safe(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category in _COMBINING:
        return ""
    if category == "Zs":
        return " "
    return REPLACEMENT if category in _UNSAFE else character


def number(value: float | None, digits: int = 4) -> str:
    """A number in at most `digits` significant digits: `0.0123`, `187.4`, `14,336`, `1.2e-5`."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    size = abs(value)
    if size == 0:
        return "0"
    if size >= _LARGE or size < _SMALL:
        return _scientific(value, digits)
    if size >= 1000:
        return f"{value:,.0f}"
    return _rounded(value, digits)


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text or abs(float(text)) >= 1000 else text


def _scientific(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{max(digits - 2, 1)}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def percent(share: float | None) -> str:
    """A fraction in percent: `61 %`, `6.2 %`, `0.04 %`, `0 %`."""
    if share is None or not math.isfinite(share):
        return number(share)
    points = share * 100
    if points == 0:
        return "0 %"
    if abs(points) >= 9.95:
        return f"{points:,.0f} %"
    return f"{_rounded(points, 2)} %" if abs(points) >= 0.01 else f"{_scientific(points, 3)} %"


def count(value: float | None) -> str:
    """A whole number with thousands separators: `14,336`."""
    if value is None or not math.isfinite(value):
        return number(value)
    return f"{round(value):,}"


def compact(value: float | None) -> str:
    """A count in at most five characters: `950`, `1.2k`, `14k`, `3.1M`."""
    if value is None or not math.isfinite(value):
        return number(value)
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if abs(scaled) < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}" if abs(value) >= 10 or value == round(value) else f"{value:.1f}"


def rate(per_second: float | None) -> str:
    """A speed: `1.2k/s`, `35/s`; a slow one per minute or hour: `4/min`, `2.5/h`."""
    if per_second is None or not math.isfinite(per_second) or per_second < 0:
        return "–"
    if per_second >= 1 or per_second == 0:
        return f"{compact(per_second)}/s"
    if per_second * _MINUTE >= 1:
        return f"{compact(per_second * _MINUTE)}/min"
    return f"{compact(per_second * _HOUR)}/h"


def duration(seconds: float | None) -> str:
    """A time span in its two largest units: `8 ms`, `0.4 s`, `6 min`, `2 h 5 min`, `3 d 4 h`."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    span = abs(seconds)
    sign = "-" if seconds < 0 else ""
    if 0 < span < 0.0995:
        return f"{sign}{number(span * 1000, 2)} ms"
    if span < 9.95:
        return f"{sign}{_rounded(span, 2)} s"
    if span < 99.5:
        return f"{sign}{span:.0f} s"
    if span < _HOUR - 30:
        return f"{sign}{span / _MINUTE:.0f} min"
    if span < _DAY - 30:
        return sign + _pair(span + 30, _HOUR, "h", _MINUTE, "min")
    return sign + _pair(span + _HOUR / 2, _DAY, "d", _HOUR, "h")


def tick_time(seconds: float) -> str:
    """A time on an axis, to the second below an hour, where ticks may be 30 s apart."""
    whole = round(seconds)
    if 99.5 <= seconds < _HOUR and whole % _MINUTE:
        return _pair(whole, _MINUTE, "min", 1, "s")
    return duration(seconds)


def _pair(span: float, large: float, large_name: str, small: float, small_name: str) -> str:
    whole = int(span // large)
    rest = int(span % large // small)
    return f"{whole} {large_name} {rest} {small_name}" if rest else f"{whole} {large_name}"


def steps(step: float | None, total: float | None = None, axis: Axis = Axis.STEP) -> str:
    """A step: `14,336`, or `14,336 / 80,000` if the total is known; `update 12` on that axis."""
    word = "" if axis is Axis.STEP else f"{axis} "
    return word + (f"{count(step)} / {count(total)}" if total else count(step))


def dated(axis: Axis, step: float | None) -> str:
    """A step with its axis: `step 14,336`, or `update 12` where updates are only counted."""
    return f"{axis} {count(step)}"


def dated_title(title: str, since: str) -> str:
    """`Update KL too high, since step 14,336`, `Training process crashed at step 16,384`."""
    comma = "," if since.startswith("since") else ""
    return f"{title}{comma} {since}" if since else title


def format_metric_value(amount: float | None, fmt: str) -> str:
    """A value in the format of its metric: `pct`, `int`, `s`, `lr` or a plain number."""
    if fmt in ("%", "pct"):
        return percent(amount)
    if fmt == "int":
        return count(amount)
    if fmt == "s":
        return duration(amount)
    if fmt == "lr" and amount is not None and 0 < abs(amount) < 1e-3:
        return _scientific(amount, 4)
    return number(amount)


def healthy_text(words: str) -> str:
    """A healthy range in a sentence: `healthy 0.001-0.02`, but `should rise`."""
    return words if not words or words[0].isalpha() else f"healthy {words}"


def plural(amount: int, one: str, many: str = "") -> str:
    """An amount with its noun: `1 run`, `2 runs`, `3 retries`."""
    return f"{count(amount)} {one if amount == 1 else many or one + 's'}"


def first_names(names: Sequence[str], most: int) -> str:
    """`a, b and 7 more`: all names, if no more than `most`, else so many parts."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {count(len(names) - most + 1)} more"


def common_start(names: Sequence[str]) -> str:
    """The letters with which all of some names begin."""
    alike = 0
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        alike += 1
    return names[0][:alike]


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: as Rich says, which reports do not load."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


@lru_cache(maxsize=1024)
def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """A text with blanks up to a width in cells: behind it, or before it to align it right."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks
