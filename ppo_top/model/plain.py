"""Values as plain data (what JSON can hold) and back, by the types of their fields.

Named tuples become lists, and so do objects whose `__init__` is given all that they hold, in this
order; so both directions have to be of the same version of the program.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union

T = TypeVar("T")


def to_plain(value: object) -> Any:
    """A value as plain data."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [to_plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(to_plain(each) for each in value)
    if isinstance(value, Mapping):
        return {key: to_plain(each) for key, each in value.items()}
    if hasattr(value, "__dict__"):
        return [to_plain(each) for each in vars(value).values()]
    return value


def from_plain(kind: type[T], plain: Any) -> T:
    """The value of this type; raises ValueError or TypeError if the data does not fit."""
    value: T = _reader(kind)(plain)  # type: ignore[arg-type]  # a class can be hashed
    return value


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        inner = [each for each in arguments if each is not type(None)]
        read = _reader(inner[0]) if len(inner) == 1 else _unchanged
        return lambda plain: None if plain is None else read(plain)
    if origin is tuple and arguments[1:] != (...,):
        readers = [_reader(each) for each in arguments]
        return lambda plain: tuple(read(p) for read, p in zip(readers, plain, strict=True))
    if origin in (list, tuple, frozenset, set):
        read = _reader(arguments[0])
        return lambda plain: origin(map(read, plain))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        read = _reader(arguments[1])
        return lambda plain: {key: read(each) for key, each in plain.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    is_plain_class = isinstance(getattr(kind, "__init__", None), types.FunctionType)
    if is_plain_class or hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind.__init__ if is_plain_class else kind)
        readers = [_reader(hint) for name, hint in hints.items() if name != "return"]
        return lambda plain: kind(*(read(p) for read, p in zip(readers, plain, strict=True)))
    return _unchanged


def _unchanged(plain: Any) -> Any:
    return plain
