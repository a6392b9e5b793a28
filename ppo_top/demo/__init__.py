"""`ppo-top demo`: the shipped logs, or a small training that is watched while it runs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

REQUIRED_MODULES = ("torch", "gymnasium")
INSTALL_HINT = (
    'ppo-top: demo --live trains for real and needs {missing}: pip install "ppo-top[demo]"'
)
SHUTDOWN_GRACE_S = 5.0
"""How long the training may take to end when it is asked to."""


def shipped_logs() -> Path:
    """The directory of the shipped logs: in this package when installed, else in the checkout."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "demo_logs"
    return shipped if shipped.is_dir() else package.parent / "demo_logs"


def train_and_watch(fault: str, watch: Callable[[Sequence[Path]], int]) -> int:
    """Train CartPole in a child process and watch what it writes; ends with the screen.

    `fault` is one of those of `demo.train`; the logs go to a temporary directory and with it.
    """
    missing = [name for name in REQUIRED_MODULES if importlib.util.find_spec(name) is None]
    if missing:
        print(INSTALL_HINT.format(missing=" and ".join(missing)), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="ppo-top-demo-") as folder:
        name = "cartpole" if fault == "none" else f"cartpole-{fault}"
        run = Path(folder) / name
        run.mkdir()
        with open(run / "console.log", "wb") as console:
            training = subprocess.Popen(
                [
                    sys.executable,
                    "-u",
                    "-m",
                    "ppo_top.demo.train",
                    "--logdir",
                    str(run),
                    "--fault",
                    fault,
                ],
                stdout=console,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
            try:
                return watch([Path(folder)])
            finally:
                _stop_training(training)


def _stop_training(training: subprocess.Popen[bytes]) -> None:
    training.terminate()
    try:
        training.wait(SHUTDOWN_GRACE_S)
    except subprocess.TimeoutExpired:
        training.kill()
        training.wait()
