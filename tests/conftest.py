"""The same surroundings for every test: nobody's own settings, terminal or luck."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no failure, so no example has a deadline. In continuous integration the examples
# are the same at every run: what fails there fails at one's desk too.
settings.register_profile("desk", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

PATIENCE_S = {"light": 180.0, "real": 600.0}
"""How long a test may take: a wait for what never comes must not hold up the rest."""

UNSET = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "COLORFGBG",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "TMUX",
    "LC_ALL",
    "TEXTUAL_ANIMATIONS",
)


# Started with `nohup` or in the background these are ignored, and so by every child that a test
# starts, which then cannot be interrupted. What is handled is the child's default again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Settings and memory of the tests' own, a common terminal, UTF-8."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in UNSET:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("LANG", "C.UTF-8")
        # logs that lie here have no writer; states must not depend on how much this machine tells
        patch.setattr("ppo_top.views.liveness.LOG_WRITERS.has_no_writers", lambda logs: False)
        yield home


@pytest.fixture(autouse=True)
def untouched(surroundings: Path) -> Iterator[None]:
    """What a test leaves among the user's own files does not reach the next one."""
    yield
    for name in ("config", "state"):
        for path in sorted((surroundings / name).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that hangs, with the place where it does."""
    limit = PATIENCE_S["real" if item.get_closest_marker("real") else "light"]

    def ring(*_: object) -> None:
        raise TimeoutError(f"not done after {limit:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    # It rings again: leaving a `with` block may wait for the same child that hangs.
    signal.setitimer(signal.ITIMER_REAL, limit, 5.0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
