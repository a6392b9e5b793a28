"""Numbers and names as messages print them."""

from __future__ import annotations

from ppo_top.catalogue import concept as about
from ppo_top.text.format import number, percent


def label(concept: str) -> str:
    """The label of a metric or tag."""
    return about(concept).label


def num(value: float) -> str:
    """A number to three significant digits: `0.0831`, `14.2`, `3.7e-6`, `NaN`."""
    return number(value, 3)


def pct(share: float) -> str:
    """A fraction as percent: `61 %`."""
    return percent(share)


def format_value(concept: str, value: float) -> str:
    """A value in its metric's format."""
    return percent(value) if about(concept).fmt == "pct" else number(value, 3)


def ratio_text(after: float, before: float) -> str:
    """A ratio: `x 5,000`."""
    return f"x {num(after / before)}" if before else "from 0"
