"""A bounded store of texts in the user's cache directory.

Whatever goes wrong with it (no space, a read-only or network home, damage, another process at
work) costs its content or its use, never more: nothing here raises. Each call opens the database
and closes it again, so that no lock is held in between and any thread may call.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ppo_top import __version__
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.paths import cache_directory, is_file, lies_among, make_own_directory

if TYPE_CHECKING:  # loaded where there is a database to open
    import sqlite3

T = TypeVar("T")

RUN_PART = "run"
"""The part that every remembered run has."""

CACHE_FILE = "verdicts.sqlite"
MAX_CACHE_BYTES = 64 << 20
"""Beyond this size the texts that were not used for longest are deleted."""
MAX_CACHE_TEXTS = 80_000
"""Beyond this number, too: some 20,000 runs."""
KEPT_SHARE = 0.75
"""The share of the limits that is left after deleting."""
BUSY_TIMEOUT_S = 0.2
"""How long to wait for another process."""
USED_RESOLUTION_S = 24 * 3600
"""How exactly the time of the last use is kept: reading should seldom have to write."""

_TABLE = """
CREATE TABLE IF NOT EXISTS texts (
    scope TEXT, part TEXT, key TEXT, used INTEGER, data BLOB, PRIMARY KEY (scope, key, part)
)
"""


CachedText = tuple[str, str, str, str]
"""Scope, part, key and text."""


class CacheSize(NamedTuple):
    """The bytes of the cache on disk, and the runs it holds."""

    bytes: int
    runs: int


class Cache:
    """Texts by scope, part and key.

    `problem` says in a line why the cache is off; empty while it is on, or where it must be off
    because its directory lies inside one of the watched paths `logs`.
    """

    def __init__(self, logs: Iterable[Path] = (), environ: Mapping[str, str] = os.environ) -> None:
        folder = cache_directory(environ)
        self.path = folder / CACHE_FILE
        self.is_on = not lies_among(folder, logs)
        self.problem = ""

    def read_part(self, scope: str, part: str) -> dict[str, str]:
        """key -> text, for a part of a scope, oldest first."""
        return self._read("key", "scope = ? AND part = ?", (scope, part))

    def read_key(self, scope: str, key: str) -> dict[str, str]:
        """part -> text, for a key of a scope."""
        return self._read("part", "scope = ? AND key = ?", (scope, key))

    def _read(self, name: str, where: str, which: tuple[str, str]) -> dict[str, str]:
        def work(database: sqlite3.Connection) -> dict[str, str]:
            from sqlite3 import OperationalError

            query = f"SELECT {name}, data, used FROM texts WHERE {where} ORDER BY rowid"
            rows = database.execute(query, which).fetchall()
            now = int(time.time())
            if any(abs(now - used) > USED_RESOLUTION_S for _, _, used in rows):
                with suppress(OperationalError):  # a read-only or busy database
                    database.execute(f"UPDATE texts SET used = {now} WHERE {where}", which)
            return {name: zlib.decompress(data).decode() for name, data, _ in rows}

        return self._call(work, {}) if self._exists() else {}

    def write(self, texts: Iterable[CachedText]) -> None:
        """Keep texts: all of them or none."""
        now = int(time.time())
        rows = [(*where, now, zlib.compress(text.encode(), 1)) for *where, text in texts]

        def work(database: sqlite3.Connection) -> bool:
            database.execute(_TABLE)
            database.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?)", rows)
            _delete_oldest(database)
            return True

        for _ in range(2):  # a damaged database is deleted by the first attempt
            if not rows or not self._create() or self._call(work, False):
                return

    def size(self) -> CacheSize:
        """How large the cache is."""
        query = "SELECT count(DISTINCT scope || key) FROM texts WHERE part = ?"

        def count(database: sqlite3.Connection) -> int:
            return int(database.execute(query, (RUN_PART,)).fetchone()[0])

        if not self._exists():
            return CacheSize(0, 0)
        runs = self._call(count, 0)
        return CacheSize(self.path.stat().st_size if self._exists() else 0, runs)

    def clear(self) -> None:
        """Delete everything."""
        try:
            for suffix in ("", "-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            self._switch_off(error)

    # --- access ------------------------------------------------------------------------------

    def _exists(self) -> bool:
        return self.is_on and is_file(self.path)

    def _create(self) -> bool:
        """Make sure that the file exists, for nobody else to read."""
        if not self.is_on:
            return False
        try:
            make_own_directory(self.path.parent, 0o700)
            if stat.S_IMODE(self.path.parent.stat().st_mode) != 0o700:
                self.path.parent.chmod(0o700)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        except OSError as error:
            self._switch_off(error)
        return self.is_on

    def _call(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        import sqlite3

        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S)) as database, database:
                database.execute("PRAGMA synchronous = OFF")  # what a crash loses is judged again
                return work(database)
        except sqlite3.Error as error:
            busy = sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in busy:
                return otherwise
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                self._switch_off(error)
            else:
                self.clear()
        except (OSError, zlib.error, UnicodeDecodeError) as error:
            if isinstance(error, OSError):
                self._switch_off(error)
            else:
                self.clear()
        return otherwise

    def _switch_off(self, error: Exception) -> None:
        self.is_on = False
        self.problem = f"cache off: {self.path}: {getattr(error, 'strerror', None) or error}"


def _delete_oldest(database: sqlite3.Connection) -> None:
    """Keep to the limits."""
    pages, free, page_bytes = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    texts = int(database.execute("SELECT count(*) FROM texts").fetchone()[0])
    excess = max((pages - free) * page_bytes / MAX_CACHE_BYTES, texts / MAX_CACHE_TEXTS)
    if excess > 1:
        surplus = int(texts * (1 - KEPT_SHARE / excess)) + 1
        oldest = "SELECT rowid FROM texts ORDER BY used, rowid LIMIT ?"
        database.execute(f"DELETE FROM texts WHERE rowid IN ({oldest})", (surplus,))


@cache
def program_version() -> str:
    """The version, and what distinguishes the files of this installation from those of another."""
    count = size = newest = 0
    package = Path(__file__).parents[1]
    if not package.is_dir():  # in a zip file
        archive = next(path for path in package.parents if path.is_file()).stat()
        return f"{__version__} {archive.st_size}-{archive.st_mtime_ns}"
    waiting = [str(package)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name == "__pycache__":
                    continue
                if entry.is_dir():
                    waiting.append(entry.path)
                    continue
                found = entry.stat()
                count, size = count + 1, size + found.st_size
                newest = max(newest, found.st_mtime_ns)
    return f"{__version__} {count}-{size}-{newest}"


def verdict_scope(judging_text: str, final: bool = True) -> str:
    """The scope of what this program finds with some settings (`Settings.judging_text`).

    `final`: unfinished ends of logs were read, too.
    """
    return repr((program_version(), judging_text, final))
