"""Lines of words that say only a step: `Starting episode 12/500...`, `Iteration 3 finished`.

A line that says it behind a record is no heading, but closes what stands above it.
"""

from __future__ import annotations

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS, step_axis
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_CHARS = 120
_UNIT = r"episode|ep|game|round|generation|gen|iteration|iter|epoch|update|rollout|(?:time)?step"
_BEGINS_OR_ENDS = (
    r"start(?:s|ed|ing)?|beg[iau]n(?:s|ning)?|finish(?:ed|ing)?|complete[d]?|end(?:s|ed)?|done|over"
    r"|running|training|playing|in progress|results?|summary|report|stat(?:s|istics)"
)
_PLANNED = r"(?!\W{0,60}(?:training|start(?:s|ed|ing)?) [a-z]{2,12}s\s*:)"
"""What follows is no `Training epochs: 90`, which says how many there will be."""
_HEADING = lazy_pattern(
    rf"(?i){_PLANNED}\W{{0,60}}(?:(?P<before>{_BEGINS_OR_ENDS}|now|after|current)"
    r"(?: (?:of|at|for|after|the))* )?"
    rf"(?P<unit>{_UNIT})s?(?: number| no\.?)?\s*[#:]?\s*(?P<step>\d{{1,12}})"
    r"(?:\s*(?:/|of|out of)\s*(?P<total>\d{1,12}))?"
    rf"(?P<after>(?:\W{{1,3}}(?:is |has |now )?(?:{_BEGINS_OR_ENDS}))?)"
    r"(?:,? (?:in|took|after) [\d.]{1,12} ?(?:s|secs?|seconds|min|minutes))?"
    r"(?P<remark>\s{1,9}\([^():=]{1,60}\))?\W{0,60}"
)
"""A remark in brackets says nothing else: `Iteration 1/12  (global 24)`."""
_COUNT = lazy_pattern(
    rf"(?i)\W{{0,60}}(?P<before>(?:(?:{_BEGINS_OR_ENDS}|collected|after)(?: (?:of|after|the))* )?)"
    rf"(?P<step>\d{{1,12}})(?:\s*/\s*(?P<total>\d{{1,12}}))? (?P<unit>{_UNIT})s"
    rf"(?P<after>(?: (?:{_BEGINS_OR_ENDS}|collected|so far))?)(?P<remark>)\W{{0,60}}"
)
_NO_OTHER = (
    r"(?!.{0,60}(?:sav|checkpoint|resum|load|restor|stop|best|start|finish|eval|valid|test))"
)
_AT_STEP = lazy_pattern(
    rf"(?i)(?P<before>\W{{0,60}}{_NO_OTHER}"
    rf"[a-z]{{1,20}}(?: [a-z]{{1,20}}){{0,2}} (?:@|at) )(?P<unit>{_UNIT}) (?P<step>\d{{1,12}})"
    r"(?P<total>)(?P<after>)(?P<remark>):?"
)
"""`Sanity check @ step 200`, above what it found; not what is done once at a step."""


_MAX_RULED_CHARS = 400
_RULE = r"[-─━=*#~]{3,200}"
_RULED = lazy_pattern(
    rf"(?i)(?P<before>{_RULE}\W{{0,3}}{_NO_OTHER}(?:[a-z]\w{{0,19}} ){{0,2}}\(?)(?P<unit>{_UNIT})s?"
    r"\s*[#:]?\s*(?P<step>\d{1,3}(?:_\d{3}){1,4}|\d{1,12})(?P<total>)"
    rf"(?P<after>\W{{0,3}}{_RULE})(?P<remark>)"
)
"""The title of a rule across the screen: `-----[Agent Step 558_096]-----` (Dreamer)."""


class WordedHeadings:
    """Finds such lines where the first of them stands above the first record."""

    def __init__(self) -> None:
        self._are_above: bool | None = None
        """None until the first of them."""

    def read(self, text: str, *, is_first: bool) -> ConsoleRecord | None:
        """The step that a line says; `is_first`: no record has come before it."""
        if self._are_above is False or (found := _parse_heading(text)) is None:
            return None
        if self._are_above is None:
            self._are_above = is_first
        return found if self._are_above else None


def _parse_heading(text: str) -> ConsoleRecord | None:
    """The step that a line of words says; None if it says something else as well, or no words."""
    if len(text) > _MAX_CHARS:
        found = _RULED.fullmatch(text) if len(text) <= _MAX_RULED_CHARS else None
    else:
        patterns = _HEADING, _COUNT, _AT_STEP, _RULED
        found = next((match for each in patterns if (match := each.fullmatch(text))), None)
    if found is None or not (found["before"] or found["after"] or found["remark"]):
        return None
    unit, step = found["unit"].lower(), int(found["step"])
    axis = step_axis(unit) or "iteration"
    total = found["total"]
    settings: dict[str, ConfigValue] = {TOTAL_SETTINGS[axis]: int(total)} if total else {}
    return ConsoleRecord([(unit, float(step))], step, axis, settings)
