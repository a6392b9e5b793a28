"""Squeezes objects that nobody needs just now into some bytes of memory, and gives them back.

The bytes never leave this process: nothing that was read from a file is ever unpickled.
"""

from __future__ import annotations

import io
import pickle
import zlib
from types import FunctionType, MappingProxyType
from typing import Any

from ppo_top.model import Profile

ZLIB_LEVEL = 1
"""Of zlib: higher ones take three times as long for a tenth less."""

ALWAYS_SHARED_TYPES = (FunctionType, MappingProxyType, Profile)
"""What belongs to others as well, or cannot be squeezed, stays as it is."""


class Packed:
    """An object as bytes; the types `kept` in it stay objects, as `ALWAYS_SHARED_TYPES` do."""

    __slots__ = ("_bytes", "_shared")

    def __init__(self, thing: Any, kept: tuple[type, ...] = ()) -> None:
        out = io.BytesIO()
        packer = _Packer(out, (*ALWAYS_SHARED_TYPES, *kept))
        packer.dump(thing)
        self._bytes = zlib.compress(out.getbuffer(), ZLIB_LEVEL)
        self._shared = packer.objects

    def __len__(self) -> int:
        return len(self._bytes)

    def unpack(self) -> Any:
        """An equal object."""
        return _Unpacker(io.BytesIO(zlib.decompress(self._bytes)), self._shared).load()


class _Packer(pickle.Pickler):
    """Numbers the objects that are kept."""

    def __init__(self, out: io.BytesIO, kept: tuple[type, ...]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._types = kept
        self._numbers: dict[int, int] = {}
        self.objects: list[Any] = []

    def persistent_id(self, obj: Any) -> int | None:
        """The number of an object that is kept; None for all others."""
        if not isinstance(obj, self._types):
            return None
        place = self._numbers.setdefault(id(obj), len(self.objects))
        if place == len(self.objects):
            self.objects.append(obj)
        return place


class _Unpacker(pickle.Unpickler):
    """Finds the objects that were kept."""

    def __init__(self, data: io.BytesIO, objects: list[Any]) -> None:
        super().__init__(data)
        self._objects = objects

    def persistent_load(self, pid: Any) -> Any:
        """The object of a number."""
        return self._objects[pid]
