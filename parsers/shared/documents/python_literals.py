"""Documents that `print` or `str` wrote instead of `json.dump`: quotes, None, True, nan, tuples.

{'rewards': [21.5, nan, np.float64(23.1)], 'losses': None, 1: (0.5, True)}
"""

from __future__ import annotations

import json
import re

from ppo_top.text.lazy_pattern import lazy_pattern

_START = lazy_pattern(r"\s*+(?:[\[(]\s*+)*+(?:\{\s*+(?:'|-?\d++\s*+:)|(?:np\.|nan\b|None\b|\())")
"""A document that JSON's reader would not take; one in brackets may begin with a number."""
_LINE_OF_OBJECT = lazy_pattern(
    r"\s*+(?:\{[^\n]*\}[ \t\r]*\n\s*+\{"
    r"|\{\s*+'(?:[^\n{}\[\](]|\((?![-+.\d]))*\}[ \t\r]*(?:\n\s*+)?$)"
)
"""Another one begins below it, or it is all there is and holds no list."""
_TOKEN = lazy_pattern(
    r"""('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
    r"|(?<![\w.])(?:(None|True|False|nan|inf)(?!\w)"
    r"|(?:[a-z]{1,9}\.)?(?:u?int\d*|float\d*|bool_?|array|tensor)\(([-+\w.]++)[^()\[\]]*+\))"
    r"|(?<=[{,])(\s*+)(-?\d++)(?=\s*+:)|([()])|,(?=\s*+[\]})])",
    re.DOTALL,
)
"""A text; a word or a wrapped number; a key that is a number; a bracket; a last comma."""
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN", "inf": "Infinity"}
_BRACKETS = {"(": "[", ")": "]"}


def is_literal(head: bytes) -> bool:
    """Whether a file begins as a document of Python, and not as lines of dictionaries."""
    text = head.decode("utf-8", "replace")
    return bool(_START.match(text)) and not _LINE_OF_OBJECT.match(text)


def as_json(data: bytes) -> bytes:
    """The same document as JSON; of one that is cut off, as far as it goes."""
    return _TOKEN.sub(_translated, data.decode("utf-8", "replace")).encode()


def _translated(match: re.Match[str]) -> str:
    quoted, word, number, blanks, key, bracket = match.groups()
    if quoted is not None:
        return _requoted(quoted)
    if word is not None:
        return _WORDS[word]
    if number is not None:
        return _WORDS.get(number, number.rstrip("."))
    if key is not None:
        return f"{blanks}{json.dumps(key)}"
    return _BRACKETS.get(bracket, "")


def _requoted(quoted: str) -> str:
    if "\\" not in quoted:
        return json.dumps(quoted[1:-1], ensure_ascii=False)
    try:
        from ast import literal_eval  # 3 ms, seldom needed

        return json.dumps(literal_eval(quoted))
    except (SyntaxError, ValueError):
        return quoted
