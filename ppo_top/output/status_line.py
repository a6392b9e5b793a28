"""`ppo-top status`: one line for tmux's `status-right`, a prompt or a Slurm comment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ppo_top.model import State, Status
from ppo_top.runs.run import Run
from ppo_top.text.format import clean, count, duration
from ppo_top.text.marks import MARKS
from ppo_top.views.run_view import RunView

TMUX_STYLES = {
    Status.CRIT: "#[fg=red,bold]",
    Status.WARN: "#[fg=yellow]",
    Status.WATCH: "#[fg=yellow]",
    Status.OK: "#[fg=green]",
}
MAX_STATUS_CHARS = 100


def status_line(pairs: Sequence[tuple[Run, RunView]], fmt: str) -> str:
    """The worst run, then the number of runs by mark; `fmt` is `plain` or `tmux` (coloured)."""
    if not pairs:
        return "no runs"
    worst = pairs[0][1]
    text = _run_words(worst)
    if len(pairs) > 1:
        text += f" · {_others([view for _, view in pairs])}"
    text = text[:MAX_STATUS_CHARS]
    if fmt == "tmux":
        return TMUX_STYLES.get(worst.verdict.status, "") + text.replace("#", "##") + "#[default]"
    return text


def _run_words(view: RunView) -> str:
    words = [f"{MARKS[view.verdict.status]} {clean(view.name)}"]
    if view.open_findings and view.verdict.is_trouble:
        words.append(clean(view.open_findings[0].finding.title))
    else:
        words.append(view.verdict_words)
    if view.state is not State.LIVE:
        words.append(view.state.value)
    if view.progress.step is not None:
        words.append(f"step {count(view.progress.step)}")
    if view.progress.eta_s is not None and view.state is State.LIVE:
        words.append(f"{duration(view.progress.eta_s)} left")
    return " · ".join(words)


def _others(views: Sequence[RunView]) -> str:
    counts = Counter(MARKS[view.verdict.status] for view in views)
    worst_first = dict.fromkeys(MARKS[status] for status in reversed(Status))
    return " ".join(f"{mark}{counts[mark]}" for mark in worst_first if counts[mark])
