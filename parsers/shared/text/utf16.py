"""Converts UTF-16, as written by PowerShell's `>` and Tee-Object, to UTF-8."""

from __future__ import annotations

from codecs import (
    BOM_UTF16_BE,
    BOM_UTF16_LE,
    BOM_UTF32_LE,
    IncrementalDecoder,
    getincrementaldecoder,
)
from collections.abc import Callable

from ppo_top.model import Batch
from ppo_top.parsers.base import Parser

BOMS = (BOM_UTF16_LE, BOM_UTF16_BE)
"""Byte order marks, little and big endian."""

_FIRST_BOM_BYTES = tuple(mark[:1] for mark in BOMS)


class Utf16Decoder:
    """Decodes one stream; offsets count its bytes as UTF-8.

    `is_utf8`: it has no byte order mark, so there is nothing to decode.
    """

    def __init__(self) -> None:
        self.is_utf8 = False
        self._held_byte = b""
        self._decoder: IncrementalDecoder | None = None

    def decode(self, data: bytes) -> bytes:
        """The next bytes as UTF-8; a byte that may begin a mark is held back."""
        if self._decoder is None:
            data, self._held_byte = self._held_byte + data, b""
            if len(data) < 2 and data.startswith(_FIRST_BOM_BYTES):
                self._held_byte = data
                return b""
            if not data.startswith(BOMS):
                self.is_utf8 = bool(data)
                return data
            self._decoder = getincrementaldecoder("utf-16")("replace")
        return self._decoder.decode(data).encode("utf-8", "replace")


def is_utf16(head: bytes) -> bool:
    """Whether a file's first bytes are the mark of UTF-16, and not that of UTF-32."""
    return head.startswith(BOMS) and not head.startswith(BOM_UTF32_LE)


class Utf16Parser:
    """Reads a file in UTF-16 by the parser of the same in UTF-8."""

    def __init__(self, make_parser: Callable[[], Parser]) -> None:
        self._decoder = Utf16Decoder()
        self._parser = make_parser()

    def feed(self, data: bytes) -> Batch:
        """What is complete after the next bytes of the file."""
        return self._parser.feed(self._decoder.decode(data))

    def finish(self) -> Batch:
        """What is certain although no more bytes will follow."""
        return self._parser.finish()
