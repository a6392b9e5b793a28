"""What fuzzing begins with and what it has found: every input keeps every promise."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ppo_top.parsers import formats
from tests.fuzz.seeds import ROOT, seeds
from tests.fuzz.smaller import failure_place, minimise
from tests.fuzz.targets import CUTS_BYTES, fuzz_together, gives_no_points, targets, with_cuts

FINDING_FILES = sorted(
    path for path in (ROOT / "tests/fuzz/findings").glob("*/*") if path.is_file()
)
ALL_TARGETS = targets()
SEEDS_BY_TARGET = seeds()


@pytest.mark.parametrize("path", FINDING_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_stays_mended(path: Path) -> None:
    """An input that once broke a promise."""
    ALL_TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", sorted(ALL_TARGETS))
def test_every_seed_keeps_its_promises(name: str) -> None:
    """Fuzzing begins with whole logs, each also with cuts elsewhere and with some bytes changed."""
    assert SEEDS_BY_TARGET[name]
    draw = random.Random(name)
    for seed in SEEDS_BY_TARGET[name][:3]:
        data = bytearray(seed[:3000])
        ALL_TARGETS[name](bytes(data))
        data[:CUTS_BYTES] = draw.randbytes(CUTS_BYTES)
        for _ in range(4):
            data[draw.randrange(len(data))] = draw.randrange(256)
        ALL_TARGETS[name](bytes(data))


def test_every_format_is_fuzzed() -> None:
    """A new format has a target by being there; only those that give nothing have none."""
    missing = [each for each in formats() if each.name not in ALL_TARGETS]
    assert all(each.parser is not None and gives_no_points(each.parser) for each in missing)


def test_a_parser_that_depends_on_cuts_is_found() -> None:
    """The promise is really asked for: lines that are lost at a cut are missed."""
    console = next(each for each in formats() if each.console and each.parser)
    assert console.parser is not None

    class Forgetful(console.parser):  # type: ignore[name-defined, misc]
        def feed(self, data: bytes) -> object:
            return super().feed(data.replace(b"0", b"") if data.startswith(b"0") else data)

    from tests.fuzz.targets import fuzz_parser, unchanged_bytes

    line = b"Iteration 7/9 | KL: 0.0047 | Mean Reward: 20.8\n"

    fuzz_parser(Forgetful, unchanged_bytes, with_cuts(line * 6, (3, 3, 3, 3)))
    with pytest.raises(AssertionError):
        fuzz_parser(Forgetful, unchanged_bytes, with_cuts(line * 6, (20, 20, 20, 20)))


def test_a_finding_is_made_small() -> None:
    """Whatever does not matter is left out."""

    def target(data: bytes) -> None:
        if b"boom" in data:
            raise ValueError("boom")

    found = None
    try:
        target(b"boom")
    except ValueError as error:
        found = failure_place(error)
    assert found is not None
    assert minimise(target, b"x" * 500 + b"boom" + b"y" * 500, found) == b"boom"


def test_all_in_one_reaches_every_target() -> None:
    """The first byte says which."""
    reached: list[str] = []
    known = {name: lambda _, name=name: reached.append(name) for name in ALL_TARGETS}
    one = fuzz_together(known)  # type: ignore[arg-type]
    for number in range(len(known)):
        one(bytes([number]))
    assert sorted(reached) == sorted(ALL_TARGETS)
