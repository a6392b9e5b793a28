"""Patterns that are compiled by the first text they are tried on: most logs need few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr

_TAKEN_OVER = (
    "findall", "finditer", "fullmatch", "match", "search", "split", "sub",
    "flags", "groupindex", "groups", "pattern",
)  # fmt: skip


class LazyPattern:
    """Becomes the pattern when any of it is used; from then on each method is the pattern's own."""

    def __init__(self, source: str | bytes, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _TAKEN_OVER:
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for each in _TAKEN_OVER:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


if TYPE_CHECKING:

    def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """`re.compile`, done when it is needed first."""
        ...

else:
    lazy_pattern = LazyPattern
