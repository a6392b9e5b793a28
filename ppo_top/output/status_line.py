"""`ppo-top status`: one line for tmux's `status-right`, a prompt or a Slurm comment; short JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ppo_top.model import Severity, State, Status, verdict_counts_text
from ppo_top.output.reports.run_report import SCHEMA_VERSION, RunReport
from ppo_top.text.format import clean, dated, duration
from ppo_top.text.marks import MARKS

TMUX_STYLES = {
    Status.CRIT: "#[fg=red,bold]",
    Status.WARN: "#[fg=yellow]",
    Status.WATCH: "#[fg=yellow]",
    Status.OK: "#[fg=green]",
}
MAX_STATUS_CHARS = 100
SEPARATOR = " · "

MAX_OPEN_RULES = 3
"""Findings named of a run in the short JSON, the worst first."""


def status_json(reports: Sequence[RunReport]) -> str:
    """What scripts and agents ask of each run first: some 300 bytes, and no text from its log but
    its name.
    """
    return json.dumps({"schema": SCHEMA_VERSION, "runs": [_run_object(each) for each in reports]})


def _run_object(report: RunReport) -> dict[str, object]:
    identity, facts = report.identity, report.facts
    return {
        "name": identity.name,
        "path": identity.path,
        "verdict": facts.verdict.value,
        "state": identity.state.value,
        "step": facts.step,
        "total": facts.total,
        "open": [
            {
                "rule": each.rule,
                "severity": Severity(each.severity).word,
                "since_step": each.since_step,
            }
            for each in facts.open_rules[:MAX_OPEN_RULES]
        ],
    }


def status_line(reports: Sequence[RunReport], fmt: str) -> str:
    """The first (worst) run, then the number of runs by verdict; `fmt` is `plain` or `tmux`."""
    if not reports:
        return "no runs"
    counts = verdict_counts_text(each.summary.verdict for each in reports)
    sums = f"{SEPARATOR}{counts}" if len(reports) > 1 else ""
    text = _within(_run_words(reports[0]), MAX_STATUS_CHARS - len(sums)) + sums
    if fmt == "tmux":
        style = TMUX_STYLES.get(reports[0].mark, "")
        return style + text.replace("#", "##") + "#[default]"
    return text


def _within(words: list[str], room: int) -> str:
    """As many words as there is room for: a number that is cut would be another number."""
    while len(text := SEPARATOR.join(words)) > room and len(words) > 2:
        words = words[:-1]
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _run_words(report: RunReport) -> list[str]:
    """Its mark and name, then what is wrong, then what matters less and less."""
    identity, summary = report.identity, report.summary
    words = [f"{MARKS[report.mark]} {clean(identity.name)}"]
    has_title = summary.title and summary.verdict.is_trouble
    words.append(clean(summary.title) if has_title else summary.words)
    if identity.state is not State.LIVE:
        words.append(identity.state.value)
    if summary.step is not None:
        words.append(dated(summary.axis, summary.step))
    if summary.eta_s is not None and identity.state is State.LIVE:
        words.append(f"{duration(summary.eta_s)} left")
    return words
