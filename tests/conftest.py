"""The same environment for every test: no user settings, a fixed terminal, a time limit."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadlines: a slow machine is no failure. In CI the examples are the same in every run, so that
# what fails there can be reproduced elsewhere.
settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "local")

TIME_LIMIT_S = {"light": 180.0, "real": 600.0}
"""A test that takes longer fails, so that one that hangs does not hold up the rest."""

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


# Under `nohup` or in the background these signals are ignored, also by every child that a test
# starts, which then cannot be interrupted. A signal with a handler is back at its default there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Empty settings and state directories, a common terminal, UTF-8."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in UNSET:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("LANG", "C.UTF-8")
        # No process writes these logs; whether that can be seen differs from system to system.
        patch.setattr("ppo_top.runs.liveness.LOG_WRITERS.has_no_writers", lambda logs: False)
        patch.setattr("ppo_top.runs.liveness.TRAININGS.are_gone", lambda logs, since: False)
        yield home


@pytest.fixture(autouse=True)
def clean_home(isolated_home: Path) -> Iterator[None]:
    """Delete the user files that a test has written."""
    yield
    for name in ("config", "state"):
        for path in sorted((isolated_home / name).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that exceeds its time limit, with a traceback of where it hangs."""
    limit = TIME_LIMIT_S["real" if item.get_closest_marker("real") else "light"]

    def give_up(*_: object) -> None:
        raise TimeoutError(f"not done after {limit:.0f} s")

    before = signal.signal(signal.SIGALRM, give_up)
    # Repeated, since leaving a `with` block may wait for the same child that hangs.
    signal.setitimer(signal.ITIMER_REAL, limit, 5.0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
