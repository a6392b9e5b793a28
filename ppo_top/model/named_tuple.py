"""Named tuples that are made in a third of the time: a short check makes a hundred at every start.

`typing.NamedTuple` compiles each annotation to see whether it may be a type; mypy does that for us.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _NamedTupleMaker(type):
        """Turns the body of a class, whose annotations are texts, into a named tuple."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            types = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in types if field in body]
            made = namedtuple(name, types, defaults=defaults)
            for key, value in body.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_NamedTupleMaker, "NamedTuple", (), {})
