"""The ways in which people's own scripts log: consoles, CSV, JSON lines, CleanRL's event files.

Each way has its own names for the same figures, as different people have.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

UpdateFigures = dict[str, float]

NAMES: dict[str, dict[str, str]] = {
    "colons": {
        "return": "ret", "length": "len", "policy_loss": "pi_loss", "value_loss": "vf_loss",
        "entropy": "ent", "kl": "kl", "clip_fraction": "clipfrac", "loss": "loss",
        "q_mean": "q", "epsilon": "eps", "learning_rate": "lr", "explained_variance": "ev",
    },
    "bars": {
        "return": "Mean Reward", "length": "Ep Length", "policy_loss": "Policy Loss",
        "value_loss": "Value Loss", "entropy": "Entropy", "kl": "KL", "clip_fraction": "clip%",
        "loss": "Loss", "q_mean": "Mean Q", "epsilon": "Epsilon",
    },
    "csv": {
        "return": "avg_return", "length": "avg_len", "policy_loss": "pg_loss",
        "value_loss": "v_loss", "entropy": "H", "kl": "approx_kl_div", "clip_fraction": "clipped",
        "loss": "td_loss", "q_mean": "q_mean", "epsilon": "epsilon", "learning_rate": "lr",
    },
    "jsonl": {
        "return": "score", "length": "episode_len", "policy_loss": "loss/policy",
        "value_loss": "loss/value", "entropy": "entropy", "kl": "kl_div",
        "clip_fraction": "clip_frac", "loss": "loss/q", "q_mean": "q_value", "epsilon": "epsilon",
        "learning_rate": "learning_rate", "explained_variance": "explained_var",
    },
    "logging": {
        "return": "reward", "policy_loss": "actor_loss", "value_loss": "critic_loss",
        "entropy": "entropy", "loss": "loss", "epsilon": "epsilon",
    },
    "events": {
        "policy_loss": "losses/policy_loss", "value_loss": "losses/value_loss",
        "entropy": "losses/entropy", "kl": "losses/approx_kl", "clip_fraction": "losses/clipfrac",
        "loss": "losses/td_loss", "q_mean": "losses/q_values", "epsilon": "charts/epsilon",
        "learning_rate": "charts/learning_rate",
        "explained_variance": "losses/explained_variance",
    },
}  # fmt: skip
"""way of logging -> figure -> its name there; a figure without a name is not logged"""

FILES = {"csv": "results.csv", "jsonl": "metrics.jsonl"}
"""Where a way does not print to the console."""


class LogWriter:
    """Writes a script's log in one way into a folder."""

    def __init__(self, way: str, folder: Path, total_steps: int, row_steps: list[int]) -> None:
        self.way, self.total_steps, self.row_steps = way, total_steps, row_steps
        self.started = time.time()
        self._names = NAMES[way]
        self._columns: list[str] = []
        if way == "events":
            from torch.utils.tensorboard import SummaryWriter

            self._writer: Any = SummaryWriter(str(folder))
        else:
            self._file = (folder / FILES.get(way, "train.log")).open("w", encoding="utf-8")
        if way == "logging":
            handler = logging.StreamHandler(self._file)
            handler.setFormatter(logging.Formatter("%(asctime)s [%(levelname)s] %(message)s"))
            logging.getLogger("train").addHandler(handler)
            logging.getLogger("train").setLevel(logging.INFO)

    def episode(self, script: Any, score: float, length: float) -> None:
        """An episode ended: CleanRL logs each by itself."""
        if self.way == "events":
            self._writer.add_scalar("charts/episodic_return", score, script.steps)
            self._writer.add_scalar("charts/episodic_length", length, script.steps)

    def row(self, script: Any, figures: UpdateFigures) -> None:
        """An update is done."""
        self.row_steps.append(script.steps)
        if script.recent:
            returns, lengths = zip(*script.recent, strict=True)
            figures["return"] = sum(returns) / len(returns)
            figures["length"] = sum(lengths) / len(lengths)
        named = {self._names[key]: value for key, value in figures.items() if key in self._names}
        getattr(self, f"_{self.way}")(script, named)

    def _events(self, script: Any, named: UpdateFigures) -> None:
        for name, value in named.items():
            self._writer.add_scalar(name, value, script.steps)
        speed = int(script.steps / (time.time() - self.started))
        self._writer.add_scalar("charts/SPS", speed, script.steps)

    def _print(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def _colons(self, script: Any, named: UpdateFigures) -> None:
        cells = [f"update: {script.updates}", f"steps: {script.steps}"]
        self._print(" ".join([*cells, *(f"{name}: {value:.4g}" for name, value in named.items())]))

    def _bars(self, script: Any, named: UpdateFigures) -> None:
        updates = round(self.total_steps * script.updates / script.steps)
        cells = [f"Iteration {script.updates}/{updates}", f"Episodes: {script.episodes}"]
        for name, value in named.items():
            cells.append(f"{name}: {value:.1%}" if name == "clip%" else f"{name}: {value:.4f}")
        self._print(" | ".join(cells))

    def _csv(self, script: Any, named: UpdateFigures) -> None:
        cells: dict[str, Any] = {"iteration": script.updates, "env_steps": script.steps, **named}
        if not self._columns:
            every = ("return", "length", *script.figures, "learning_rate")
            self._columns = ["iteration", "env_steps", *(self._names[key] for key in every
                             if key in self._names)]  # fmt: skip
            self._print(",".join(self._columns))
        self._print(",".join(f"{cells[c]:.6g}" if c in cells else "" for c in self._columns))

    def _jsonl(self, script: Any, named: UpdateFigures) -> None:
        cells = {"iter": script.updates, "timesteps": script.steps, "time": time.time(), **named}
        self._print(json.dumps(cells))

    def _logging(self, script: Any, named: UpdateFigures) -> None:
        cells = " ".join(f"{name}={value:.3f}" for name, value in named.items())
        logging.getLogger("train").info(
            "episode %d step %d %s", script.episodes, script.steps, cells
        )
