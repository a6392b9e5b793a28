"""Objects kept as compressed pickles while they are not needed.

The bytes never leave this process: nothing read from a file is ever unpickled.
"""

from __future__ import annotations

import io
import pickle
import zlib
from types import FunctionType, MappingProxyType
from typing import Any

from ppo_top.model import Profile

ZLIB_LEVEL = 1
"""Higher levels take three times as long and save a tenth."""

ALWAYS_SHARED_TYPES = (FunctionType, MappingProxyType, Profile)
"""Never packed: objects that others use as well, or that cannot be pickled."""


class Packed:
    """A packed object; objects of the `shared` types and `ALWAYS_SHARED_TYPES` stay as they are."""

    __slots__ = ("_bytes", "_shared")

    def __init__(self, thing: Any, shared: tuple[type, ...] = ()) -> None:
        out = io.BytesIO()
        packer = _Packer(out, (*ALWAYS_SHARED_TYPES, *shared))
        packer.dump(thing)
        self._bytes = zlib.compress(out.getbuffer(), ZLIB_LEVEL)
        self._shared = packer.objects

    def __len__(self) -> int:
        return len(self._bytes)

    def unpack(self) -> Any:
        """Return a copy of the object."""
        return _Unpacker(io.BytesIO(zlib.decompress(self._bytes)), self._shared).load()


class _Packer(pickle.Pickler):
    """Replaces shared objects by numbers."""

    def __init__(self, out: io.BytesIO, shared: tuple[type, ...]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._types = shared
        self._numbers: dict[int, int] = {}
        self.objects: list[Any] = []

    def persistent_id(self, obj: Any) -> int | None:
        """The number of a shared object; None for all others."""
        if not isinstance(obj, self._types):
            return None
        number = self._numbers.setdefault(id(obj), len(self.objects))
        if number == len(self.objects):
            self.objects.append(obj)
        return number


class _Unpacker(pickle.Unpickler):
    """Puts shared objects back."""

    def __init__(self, data: io.BytesIO, objects: list[Any]) -> None:
        super().__init__(data)
        self._objects = objects

    def persistent_load(self, pid: Any) -> Any:
        """The shared object with a number."""
        return self._objects[pid]
