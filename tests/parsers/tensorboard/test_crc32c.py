"""CRC-32C against TensorBoard's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import crc32c as theirs
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from ppo_top.parsers.tensorboard.crc32c import (
    are_all_intact,
    byte_contributions,
    crc32c,
    is_intact,
    masked,
)


def test_known_value() -> None:
    """The check value of the standard (RFC 3720)."""
    assert crc32c(b"123456789") == 0xE3069283


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    """Short messages, plain and masked."""
    assert crc32c(data) == theirs(data)
    assert is_intact(data, masked_crc32c(data))
    assert not is_intact(data, masked_crc32c(data) ^ 1)


@pytest.mark.parametrize("size", [2047, 2048, 2049, 4095, 4096, 5001, 70_001])
def test_long_messages(size: int) -> None:
    """Long messages are folded in rows, whatever remains."""
    data = bytes(number * number >> 3 & 255 for number in range(size))
    assert crc32c(data) == theirs(data)


@given(st.binary(min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 255))
def test_a_byte_has_its_share(data: bytes, place: int, change: int) -> None:
    """Changing one byte changes the checksum by the difference of its shares."""
    place %= len(data)
    changed = data[:place] + bytes([data[place] ^ change]) + data[place + 1 :]
    assert crc32c(changed) ^ crc32c(data) == byte_contributions(len(data) - 1 - place)[change]


def test_a_byte_far_from_the_end_has_its_share() -> None:
    """However long the message is, and whatever was asked before."""
    byte_contributions.cache_clear()
    data = bytes(20_000)
    changed = b"\x9c" + data[1:]
    assert theirs(changed) ^ theirs(data) == byte_contributions(len(data) - 1)[0x9C]


@given(st.lists(st.binary(min_size=9, max_size=9), min_size=1, max_size=20), st.data())
def test_many_at_once(messages: list[bytes], data: st.DataObject) -> None:
    """Messages that differ in known places are checked together; one wrong bit is seen."""
    messages = [b"abc" + each[3:8] + b"z" for each in messages]
    stored = [masked(theirs(each)).to_bytes(4, "little") for each in messages]
    rows = bytearray(b"".join(map(bytes.__add__, messages, stored)))
    fixed = crc32c(b"abc" + bytes(5) + b"z")

    def right() -> bool:
        return are_all_intact([bytes(rows[place::13]) for place in range(13)], range(3, 8), fixed)

    assert right()
    wrong = data.draw(st.integers(0, len(rows) - 1).filter(lambda at: 3 <= at % 13 != 8))
    rows[wrong] ^= 1 << data.draw(st.integers(0, 7))
    assert not right()
