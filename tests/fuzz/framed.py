"""Files whose records carry checksums, made of records that need not: chance never finds one.

The records of an input stand one after another with `RECORD_SEPARATOR` between them; here they are
given what their formats put around them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from ppo_top.parsers.tensorboard.crc32c import crc32c, masked
from tests.support.leveldb_files import leveldb_file

RECORD_SEPARATOR = b"\0\xfe\xff\n"
LEVELDB_IDENT = b":W&B\xe1\xbe\0"


def event_file(data: bytes) -> bytes:
    """TFRecords with right checksums."""
    return b"".join(map(_tfrecord, data.split(RECORD_SEPARATOR)))


def _tfrecord(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    sums = (struct.pack("<I", masked(crc32c(part))) for part in (length, payload))
    return length + next(sums) + payload + next(sums)


def transaction_log(data: bytes) -> bytes:
    """LevelDB's parts as W&B and SwanLab write them."""
    return leveldb_file(LEVELDB_IDENT, data.split(RECORD_SEPARATOR))


RECORD_FILE_BUILDERS: dict[str, dict[str, Callable[[bytes], bytes]]] = {
    "tfevents": {"tfevents-records": event_file},
    "wandb": {"wandb-records": transaction_log},
    "swanlab": {"swanlab-records": transaction_log},
}
"""format -> targets that feed it records, and how their files are made."""
