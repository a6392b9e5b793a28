"""The ways in which people's own scripts log: consoles, CSV, JSON lines, CleanRL's event files.

Each way has its own names for the same figures, as different people have.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
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
    "episodes": {
        "policy_loss": "Actor loss", "value_loss": "Critic loss", "loss": "Loss",
        "epsilon": "Epsilon",
    },
    "equals": {
        "return": "mean_ret", "length": "ep_steps", "policy_loss": "loss_pi",
        "value_loss": "loss_v", "entropy": "ent_mean", "kl": "kl_approx", "clip_fraction": "clip",
        "loss": "loss_q", "q_mean": "qvals", "epsilon": "eps", "learning_rate": "lr",
    },
    "dict": {
        "return": "rew_mean", "length": "ep_len_avg", "policy_loss": "actor_loss",
        "value_loss": "critic_loss", "entropy": "policy_entropy", "kl": "approx_kl",
        "loss": "td_error", "q_mean": "avg_q", "epsilon": "exploration",
    },
    "sheet": {
        "return": "mean_episode_return", "length": "mean_episode_length",
        "policy_loss": "policy_objective", "value_loss": "value_mse", "entropy": "action_entropy",
        "kl": "kl_old_new", "loss": "bellman_loss", "q_mean": "mean_q", "epsilon": "explore_prob",
    },
    "records": {
        "return": "episode_return", "length": "episode_length", "policy_loss": "policy",
        "value_loss": "value", "entropy": "entropy", "clip_fraction": "clip_ratio",
        "loss": "critic", "q_mean": "q_values", "epsilon": "epsilon",
        "explained_variance": "explained_variance",
    },
}  # fmt: skip
"""way of logging -> figure -> its name there; a figure without a name is not logged"""

FILES = {
    "csv": "results.csv", "jsonl": "metrics.jsonl", "sheet": "training.csv", "records": "log.jsonl",
}  # fmt: skip
"""Where a way does not print to the console."""

EPISODES_A_LINE, RECENT_EPISODES = 10, 100
"""How often `episodes` prints a line, and how many episodes its mean is of."""


class LogWriter:
    """Writes a script's log in one way into a folder."""

    def __init__(self, way: str, folder: Path, total_steps: int, row_steps: list[int]) -> None:
        self.way, self.total_steps, self.row_steps = way, total_steps, row_steps
        self.started = time.time()
        self._names = NAMES[way]
        self._columns: list[str] = []
        self._scores: deque[float] = deque(maxlen=RECENT_EPISODES)
        self._newest: UpdateFigures = {}
        if way == "events":
            from torch.utils.tensorboard import SummaryWriter

            self._writer: Any = SummaryWriter(str(folder))
            self._output = self._writer
        else:
            self._file = (folder / FILES.get(way, "train.log")).open("w", encoding="utf-8")
            self._output = self._file
        if way == "logging":
            handler = logging.StreamHandler(self._file)
            handler.setFormatter(logging.Formatter("%(asctime)s [%(levelname)s] %(message)s"))
            self._logger = logging.Logger("train", logging.INFO)
            self._logger.addHandler(handler)

    def close(self) -> None:
        """Close the file."""
        self._output.close()

    def episode(self, script: Any, score: float, length: float) -> None:
        """An episode ended: CleanRL logs each by itself."""
        if self.way == "events":
            self._writer.add_scalar("charts/episodic_return", score, script.steps)
            self._writer.add_scalar("charts/episodic_length", length, script.steps)
        elif self.way == "episodes":
            self._scores.append(score)
            if script.episodes % EPISODES_A_LINE == 0:
                self._print_episode(script, score)

    def row(self, script: Any, figures: UpdateFigures) -> None:
        """An update is done."""
        if self.way == "episodes":
            self._newest = figures
            return
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
        self._table({"iteration": script.updates, "env_steps": script.steps}, script, named)

    def _sheet(self, script: Any, named: UpdateFigures) -> None:
        self._table({"total_timesteps": script.steps}, script, named)

    def _table(self, place: dict[str, int], script: Any, named: UpdateFigures) -> None:
        if not self._columns:
            every = ("return", "length", *script.figures, "learning_rate")
            names = (self._names[key] for key in every if key in self._names)
            self._columns = [*place, *names]
            self._print(",".join(self._columns))
        cells = {**place, **named}
        self._print(",".join(f"{cells[c]:.6g}" if c in cells else "" for c in self._columns))

    def _print_episode(self, script: Any, score: float) -> None:
        self.row_steps.append(script.steps)
        mean = sum(self._scores) / len(self._scores)
        cells = [f"Episode {script.episodes}", f"Step: {script.steps}", f"Score: {score:.2f}"]
        cells.append(f"Average Score: {mean:.2f}")
        named = ((self._names[k], v) for k, v in self._newest.items() if k in self._names)
        self._print("\t".join([*cells, *(f"{name}: {value:.4f}" for name, value in named)]))

    def _equals(self, script: Any, named: UpdateFigures) -> None:
        cells = [f"[iter {script.updates:4d}]", f"env_steps={script.steps}"]
        self._print(" ".join([*cells, *(f"{name}={value:.5f}" for name, value in named.items())]))

    def _dict(self, script: Any, named: UpdateFigures) -> None:
        rounded = {name: round(value, 5) for name, value in named.items()}
        self._print(str({"update": script.updates, "global_step": script.steps, **rounded}))

    def _records(self, script: Any, named: UpdateFigures) -> None:
        episodes = {name: named.pop(name) for name in tuple(named) if name.startswith("episode")}
        record = {"env_steps": script.steps, "episodes": script.episodes, "train": episodes}
        self._print(json.dumps(record | {"losses": named}))

    def _jsonl(self, script: Any, named: UpdateFigures) -> None:
        cells = {"iter": script.updates, "timesteps": script.steps, "time": time.time(), **named}
        self._print(json.dumps(cells))

    def _logging(self, script: Any, named: UpdateFigures) -> None:
        cells = " ".join(f"{name}={value:.3f}" for name, value in named.items())
        self._logger.info("episode %d step %d %s", script.episodes, script.steps, cells)
