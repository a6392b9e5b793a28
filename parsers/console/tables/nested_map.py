"""Groups of names and values, as YAML prints them, below a line that says a step.

EasyR1 (verl/utils/logger/logger.py, ConsoleLogger) prints its metrics so; the name of a value is
the path to it: `timing_s/reward`.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.documents.yaml_subset import YamlReader
from ppo_top.parsers.shared.text.evaluation_heading import is_evaluation_heading
from ppo_top.text.lazy_pattern import lazy_pattern

_GROUP = lazy_pattern(r"[A-Za-z_][\w.-]{0,60}:\s*")
_ROW = lazy_pattern(r" {1,60}[^\s:{}\[\]][^:{}\[\]]{0,120}:(?: .*)?")


class NestedMap:
    """The map that is being printed."""

    def __init__(self) -> None:
        self._yaml: YamlReader | None = None

    @property
    def is_open(self) -> bool:
        """Whether the last line belongs to a map."""
        return self._yaml is not None

    def read_line(self, text: str, *, may_begin: bool) -> ConsoleRecord | tuple[()] | None:
        """The value in a line of the map; empty if the line holds no number, None if it is other.

        `may_begin`: the line above says only a step.
        """
        if _GROUP.fullmatch(text) and not is_evaluation_heading(text):
            if self._yaml is None and may_begin:
                self._yaml = YamlReader()
        elif not _ROW.fullmatch(text):
            self._yaml = None
        if self._yaml is None:
            return None
        name, value = self._yaml.read_line(text) or ("", "")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return ConsoleRecord([(name, float(value))]) if is_number else ()
