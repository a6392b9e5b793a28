"""Converts UTF-16, as written by PowerShell's `>` and Tee-Object, to UTF-8."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder

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
