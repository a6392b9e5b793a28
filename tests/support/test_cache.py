"""The store behind remembered verdicts: bounded, and what was not used for longest goes first."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from ppo_top.support import cache as cache_module
from ppo_top.support.cache import Cache


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache."""
    return Cache(environ={"XDG_CACHE_HOME": str(tmp_path)})


def noise(size: int) -> str:
    """A text that cannot be compressed much."""
    return random.Random(size).randbytes(size // 2).hex()


def test_texts_are_found_by_part_and_by_key(cache: Cache) -> None:
    """And replaced by newer ones."""
    cache.write([("s", "a", "1", "x"), ("s", "b", "1", "y"), ("s", "a", "2", "z")])
    cache.write([("s", "a", "1", "new"), ("other", "a", "1", "w")])
    assert cache.read_part("s", "a") == {"1": "new", "2": "z"}
    assert cache.read_key("s", "1") == {"a": "new", "b": "y"}
    assert cache.read_part("nothing", "a") == {}


def test_reading_an_empty_cache_makes_no_file(cache: Cache, tmp_path: Path) -> None:
    """Who only looks leaves nothing behind."""
    assert cache.read_part("s", "a") == {}
    assert not list(tmp_path.iterdir())


def test_its_number_of_texts_is_bounded(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are deleted, the newest stay."""
    monkeypatch.setattr(cache_module, "MAX_CACHE_TEXTS", 100)
    for number in range(250):
        cache.write([("s", "a", str(number), "text")])
        assert len(cache.read_part("s", "a")) <= 100
    assert list(cache.read_part("s", "a"))[-50:] == [str(number) for number in range(200, 250)]


def test_its_size_is_bounded(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the texts are."""
    monkeypatch.setattr(cache_module, "MAX_CACHE_BYTES", 1 << 20)
    for number in range(60):
        cache.write([("s", "a", str(number), noise(100_000))])
    assert cache.path.stat().st_size < 1.3 * (1 << 20)
    assert "59" in cache.read_part("s", "a")


def test_what_was_read_lately_stays(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Age counts from the last use, to a day."""
    now = 1.8e9
    monkeypatch.setattr(time, "time", lambda: now)
    cache.write([("used", "a", "1", "x"), ("unused", "a", "1", "x")])
    now += 3 * 24 * 3600
    cache.read_part("used", "a")
    monkeypatch.setattr(cache_module, "MAX_CACHE_TEXTS", 2)
    cache.write([("new", "a", "1", "x")])
    left = [scope for scope in ("used", "unused", "new") if cache.read_part(scope, "a")]
    assert left == ["used", "new"] or left == ["new"]
    assert "unused" not in left


def test_a_read_only_cache_can_be_read(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that is mounted read-only."""
    cache.write([("s", "a", "1", "x")])
    connect = sqlite3.connect

    def read_only(path: Path, timeout: float) -> object:
        return connect(f"file:{path}?mode=ro", timeout=timeout, uri=True)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    monkeypatch.setattr(cache_module, "USED_RESOLUTION_S", -1)
    assert cache.read_part("s", "a") == {"1": "x"}
    cache.write([("s", "a", "2", "y")])
    assert cache.problem.startswith("cache off: ")


def test_names_that_are_no_text(cache: Cache) -> None:
    """File names may hold any bytes."""
    name = os.fsdecode(b"run-\xff")
    cache.write([("s", "a", ascii(name), "x")])
    assert cache.read_part("s", "a") == {ascii(name): "x"}
