"""A training logged again in another way: other names, formats, units, files or rows."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.labelled_runs import shown
from ppo_top.model import Severity
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from tests.support.event_files import event_record, scalar_record

START = 1_795_000_000.0
"""The time of the first row of an event file."""

STEP = "time/total_timesteps"
REWARDS = ("rollout/ep_rew_mean", "eval/mean_reward")

OWN_NAMES = {
    "rollout/ep_rew_mean": "avg_return",
    "rollout/ep_len_mean": "ep_len",
    "time/fps": "fps",
    "train/approx_kl": "approx_kl",
    "train/clip_fraction": "clip_frac",
    "train/clip_range": "clip_range",
    "train/clip_range_vf": "clip_range_vf",
    "train/entropy_loss": "entropy",
    "train/explained_variance": "explained_var",
    "train/learning_rate": "lr",
    "train/loss": "loss",
    "train/n_updates": "n_updates",
    "train/policy_gradient_loss": "pi_loss",
    "train/std": "std",
    "train/value_loss": "vf_loss",
    STEP: "step",
}
"""SB3's tags as a script of one's own might call them."""

CLEANRL_NAMES = {
    "rollout/ep_rew_mean": "charts/episodic_return",
    "rollout/ep_len_mean": "charts/episodic_length",
    "time/fps": "charts/SPS",
    "train/approx_kl": "losses/approx_kl",
    "train/clip_fraction": "losses/clipfrac",
    "train/entropy_loss": "losses/entropy",
    "train/explained_variance": "losses/explained_variance",
    "train/learning_rate": "charts/learning_rate",
    "train/policy_gradient_loss": "losses/policy_loss",
    "train/value_loss": "losses/value_loss",
    STEP: STEP,
}
"""The same in CleanRL, which logs neither the clip range nor the number of updates."""

LoggedRow = Mapping[str, float]


@dataclass(frozen=True)
class Log:
    """Rows of a log, by the trainer's names; `write` puts them into a folder."""

    rows: tuple[LoggedRow, ...]
    write: Callable[[Iterable[LoggedRow], Path], None]

    def map(self, change: Callable[[str, float], float]) -> Log:
        """The log with other values."""
        rows = ({name: change(name, value) for name, value in row.items()} for row in self.rows)
        return replace(self, rows=tuple(rows))

    def rename(self, names: Mapping[str, str]) -> Log:
        """The log with other names; what has none is left out. An entropy loss is an entropy."""
        rows = []
        for row in self.rows:
            renamed = {names[name]: value for name, value in row.items() if name in names}
            if "train/entropy_loss" in row:
                renamed[names["train/entropy_loss"]] = -row["train/entropy_loss"]
            rows.append(renamed)
        return replace(self, rows=tuple(rows))


def read_sb3(path: Path) -> Log:
    """The rows of SB3's `progress.csv`."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(file)]
    return Log(tuple(rows), write_csv)


def _number(value: float) -> int | float:
    return int(value) if math.isfinite(value) and value == int(value) else value


def write_csv(rows: Iterable[LoggedRow], folder: Path) -> None:
    """As SB3's CSV writer does."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _number(value) for name, value in row.items()} for row in rows)
    (folder / "progress.csv").write_text(text.getvalue(), encoding="utf-8")


def write_json_lines(rows: Iterable[LoggedRow], folder: Path, name: str = "progress.json") -> None:
    """One object a row."""
    lines = (json.dumps({k: _number(v) for k, v in row.items()}) + "\n" for row in rows)
    (folder / name).write_text("".join(lines), encoding="utf-8")


def write_own_json_lines(rows: Iterable[LoggedRow], folder: Path) -> None:
    """The same, called as a script might."""
    write_json_lines(rows, folder, "metrics.jsonl")


def write_console(rows: Iterable[LoggedRow], folder: Path) -> None:
    """SB3's tables, with five digits rather than three: it is not rounding that is looked at."""
    lines = []
    for row in rows:
        lines.append("-" * 46)
        section = ""
        for name, value in sorted(row.items()):
            head, _, tail = name.partition("/")
            if head != section:
                section = head
                lines.append(f"| {head + '/':<24} | {'':<15} |")
            shown_value = str(_number(float(f"{value:.6g}")))
            lines.append(f"|    {tail:<21} | {shown_value:<15} |")
        lines.append("-" * 46)
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_key_values(rows: Iterable[LoggedRow], folder: Path) -> None:
    """Lines of `key: value` pairs."""
    lines = (" | ".join(f"{k}: {_number(v)}" for k, v in row.items()) + "\n" for row in rows)
    (folder / "train.log").write_text("".join(lines), encoding="utf-8")


def event_bytes(rows: Iterable[LoggedRow]) -> bytes:
    """An event file; steps and times are those of each event."""
    parts = [event_record(file_version="brain.Event:2", time=START)]
    for row in rows:
        step, seconds = int(row[STEP]), row.get("time/time_elapsed", row[STEP] / 1000.0)
        parts += [
            scalar_record(name, step, value, START + seconds)
            for name, value in row.items()
            if name not in (STEP, "time/time_elapsed", "time/iterations")
        ]
    return b"".join(parts)


def write_events(rows: Iterable[LoggedRow], folder: Path) -> None:
    """One event file."""
    path = folder / "events.out.tfevents.1795000000.host.1.0"
    path.write_bytes(event_bytes(rows))


def write_two_event_files(rows: Iterable[LoggedRow], folder: Path) -> None:
    """The first half in one event file, the second in another, as a resumed run does."""
    rows = list(rows)
    for number, part in enumerate((rows[: len(rows) // 2], rows[len(rows) // 2 :])):
        path = folder / f"events.out.tfevents.179500000{number}.host.{number}.0"
        path.write_bytes(event_bytes(part))


def write_csv_and_events(rows: Iterable[LoggedRow], folder: Path) -> None:
    """Everything twice, as SB3 does with several output formats."""
    rows = list(rows)
    write_csv(rows, folder)
    write_events(rows, folder)


@dataclass(frozen=True)
class FinalVerdict:
    """What stands open at the end, its first cause, and after which share of rows it was said."""

    open_rules: frozenset[str]
    cause: str
    at: float


def judge_log(log: Log, folder: Path, least: Severity = Severity.WARN) -> FinalVerdict:
    """Write a log and judge it as a user's own; what is milder than `least` does not count."""
    folder.mkdir(parents=True, exist_ok=True)
    log.write(log.rows, folder)
    session = load_session([folder], Settings(), err := io.StringIO(), ended=True)
    assert session is not None, err.getvalue()
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    last = len(run.timeline)
    loud = [f for f in shown(run.findings, last) if (f.severity_at(last) or 0) >= least]
    since = [c.mark.row for f in loud for c in f.changes if c.severity >= least]
    return FinalVerdict(
        open_rules=frozenset(f.rule for f in run.findings if (f.severity_at(last) or 0) >= least),
        cause=next((f.causes[0] for f in loud if f.causes), ""),
        at=min(since, default=math.inf) / last,
    )
