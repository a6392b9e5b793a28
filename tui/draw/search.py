"""Lines of a text that match what is searched for, with the matches coloured."""

from __future__ import annotations

from ppo_top.tui.graphics.styled_text import Span, StyledLine, line, plain_text
from ppo_top.tui.state.metric_choice import TextSearch, compiled

ERROR_STYLE = "crit"
"""The style of console lines that are evidence of a finding."""


def matches(pattern: str, row: StyledLine) -> bool:
    """Whether a line holds a typed pattern."""
    return bool(pattern) and compiled(pattern).search(plain_text(row)) is not None


def is_found(search: TextSearch, row: StyledLine) -> bool:
    """Whether a line is what is searched for: it matches the pattern, or tells of an error."""
    if search.errors:
        return bool(row) and row[0][1] == ERROR_STYLE
    return matches(search.pattern, row)


def highlighted(pattern: str, row: StyledLine) -> StyledLine:
    """The line, with what matches in the style of matches."""
    if not matches(pattern, row):
        return row
    found = [
        at for match in compiled(pattern).finditer(plain_text(row)) for at in range(*match.span())
    ]
    inside, spans, position = set(found), list[Span](), 0
    for text, style in row:
        for letter in text:
            here = "match" if position in inside else style
            if spans and spans[-1][1] == here:
                spans[-1] = (spans[-1][0] + letter, here)
            else:
                spans.append((letter, here))
            position += 1
    return line(*spans)
