"""CRC-32C against TensorBoard's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import crc32c as theirs
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from ppo_top.parsers.tensorboard.crc32c import (
    byte_contributions,
    crc32c,
    crc32c_by_table,
    is_intact,
)


def test_known_value() -> None:
    """The check value of the standard (RFC 3720)."""
    assert crc32c(b"123456789") == crc32c_by_table(b"123456789") == 0xE3069283


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    """Short messages, plain and masked, with and without google-crc32c."""
    assert crc32c(data) == crc32c_by_table(data) == theirs(data)
    assert is_intact(data, masked_crc32c(data))
    assert not is_intact(data, masked_crc32c(data) ^ 1)


@pytest.mark.parametrize("size", [4095, 4096, 70_001])
def test_long_messages(size: int) -> None:
    """Long messages, with and without google-crc32c."""
    data = bytes(number * number >> 3 & 255 for number in range(size))
    assert crc32c(data) == crc32c_by_table(data) == theirs(data)


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
