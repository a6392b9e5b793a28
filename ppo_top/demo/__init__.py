"""`ppo-top demo`: the shipped logs, or a small training run to watch live."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

REQUIRED_MODULES = ("torch", "gymnasium", "tensorboard")
INSTALL_HINT = "ppo-top: `demo --live` needs {missing}: pip install torch gymnasium tensorboard"
TRAIN_COMMAND = (sys.executable, "-u", "-m", "ppo_top.demo.train")
SHUTDOWN_GRACE_S = 5.0
"""How long the training may take to stop before it is killed."""


def shipped_logs() -> Path:
    """The directory of the shipped logs: in the installed package, or in the checkout."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "demo_logs"
    return shipped if shipped.is_dir() else package.parent / "demo_logs"


def train_and_watch(fault: str, watch: Callable[[Sequence[Path]], int]) -> int:
    """Train CartPole in a child process until `watch` returns; return its exit code.

    `fault` is a key of `demo.train.FAULT_SETTINGS`. The logs are in a temporary directory, which is
    deleted.
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
                [*TRAIN_COMMAND, "--logdir", str(run), "--fault", fault],
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
