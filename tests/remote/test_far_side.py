"""The script by itself, as ssh starts it: old Pythons, and an end when nobody is there."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ppo_top.remote import far_side
from ppo_top.remote.far_script import LOADER, MODULES, far_script, far_texts
from ppo_top.remote.protocol import FileData, FrameReader, Request, Swept
from tests.support.installed_program import until
from tests.support.sshd import old_python

SMALL_MODULES = {
    *(
        "errno",
        "json",
        "os",
        "re",
        "select",
        "signal",
        "stat",
        "sys",
        "time",
        "types",
        "typing",
        "zlib",
    )
}


def started(
    folder: Path, once: bool = True, python: str = sys.executable, silence_s: int = 60
) -> subprocess.Popen[bytes]:
    """A far side that has its request; it gives up when nothing happens for a while."""
    script = far_script()
    assert b"SILENCE_S = 60" in script
    script = script.replace(b"SILENCE_S = 60", b"SILENCE_S = %d" % silence_s)
    code = f"import sys;exec(sys.stdin.buffer.read({len(script)}))"
    process = subprocess.Popen(
        [python, "-u", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(script + Request([str(folder)], 1 << 30, 1000, once).encode())
    process.stdin.flush()
    return process


def test_the_script_is_of_the_language_of_python_3_6() -> None:
    """And imports nothing but modules of that age, which load quickly, and its own."""
    names = {
        name
        for text in [LOADER.format(texts=[]), *dict(far_texts()).values()]
        for name in imported_modules(text)
    }
    assert names == SMALL_MODULES | {name for name, _ in far_texts()[:-1]}


def imported_modules(text: str) -> list[str]:
    """The modules that a text in the language of Python 3.6 imports."""
    tree = ast.parse(text, feature_version=(3, 6))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return [
        each.name if isinstance(node, ast.Import) else str(node.module)
        for node in imports
        for each in node.names
    ]


def test_every_module_of_the_far_side_is_sent() -> None:
    """In an order in which each finds there what it imports."""
    assert far_side.__file__ is not None
    paths = Path(far_side.__file__).parent.glob("*.py")
    assert {path.stem for path in paths} - {"__init__"} == set(MODULES)
    loaded: set[str] = set()
    for name, text in far_texts():
        own = {each for each in imported_modules(text) if each.startswith("ppo_top.")}
        assert own <= loaded, name
        loaded.add(name)


def test_the_script_runs_on_python_3_6(tmp_path: Path) -> None:
    """And ends by itself when everything was sent."""
    if not old_python():
        pytest.skip("no Python 3.6")
    (tmp_path / "train.log").write_bytes(b"x")
    with started(tmp_path, python=old_python()) as process:
        data, _ = process.communicate(timeout=60)
    frames = list(FrameReader(1).feed(data))
    assert FileData(0, "train.log", 0, b"x") in frames
    assert isinstance(frames[-1], Swept)
    assert process.returncode == 0


def test_it_ends_when_nobody_has_said_a_word_for_long(tmp_path: Path) -> None:
    """Its machine may not have noticed that the connection is dead."""
    with started(tmp_path, once=False, silence_s=1) as process:
        assert process.wait(30) == 0


def test_it_ends_when_nobody_takes_what_it_writes(tmp_path: Path) -> None:
    """It would wait for ever."""
    (tmp_path / "train.log").write_bytes(os.urandom(1_000_000))
    with started(tmp_path, once=False, silence_s=1) as process:
        assert process.wait(30) == -signal.SIGALRM


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    """At once."""
    with started(tmp_path, once=False) as process:
        assert process.stdin is not None and process.stdout is not None
        while b"swept" not in process.stdout.readline():
            assert process.poll() is None
        process.stdin.close()
        assert until(lambda: process.poll() == 0, 10)
