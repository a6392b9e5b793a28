"""Which runs are compared with the selected one, by experiment, or drawn in its charts."""

from __future__ import annotations

from ppo_top.rules.engine.terms import NOT_LLM
from ppo_top.runs.run import Run
from ppo_top.tui.state.snapshot import OverlaidRun
from ppo_top.tui.state.ui_state import UiState

MAX_GROUPS = 8
"""Curves in a comparison."""

MAX_COMPARED_RUNS = 48
"""Runs in a comparison: each needs all of its points in memory."""

OVERLAY_STYLES = ("run1", "run2", "run3", "run4", "run5", "run6")
"""A style for each run that is drawn beside the one shown."""

RunGroup = tuple[str, list[Run]]
"""Name of an experiment and its runs (seeds)."""


def comparable_groups(ui: UiState, metric: str) -> list[RunGroup]:
    """The listed runs that log a metric, by experiment: the selected run's first.

    Only runs of the selected one's kind: the rewards of a language model and of CartPole are not
    comparable, those of PPO and SAC are. If runs were chosen for comparing, only these.
    """
    every = ui.listed_runs()
    chosen = chosen_for_comparing(ui)
    listed_ids = [listed.id for listed in ui.run_list.filtered(every)]
    shown = {*(chosen or listed_ids), ui.chosen_run_id}
    runs = ui.session.runs
    family = ui.run.profile.family if ui.run is not None else None
    candidates = [
        listed
        for listed in every
        if listed.id in shown
        and metric in runs[listed.id].profile.tags
        and (family is None or comparable(family, runs[listed.id].profile.family))
    ]
    candidates.sort(key=lambda listed: listed.id != ui.chosen_run_id)
    groups = ui.run_list.group_by_experiment(candidates)
    return [(name, [runs[each.id] for each in members]) for name, members in groups.items()]


def seeds_among(ui: UiState, groups: list[RunGroup]) -> list[Run]:
    """The selected run and the other seeds of its experiment, also where each is a group."""
    shown = {run.id: run for _, members in groups for run in members}
    listed = [each for each in ui.listed_runs() if each.id in shown]
    for members in ui.run_list.experiments(listed).values():
        if ui.chosen_run_id in {each.id for each in members}:
            return [shown[each.id] for each in members]
    return []


def chosen_for_comparing(ui: UiState) -> list[str]:
    """The runs that were chosen for comparing and are still there."""
    return [run_id for run_id in ui.run_list.compared if run_id in ui.session.runs]


def overlaid_runs(ui: UiState) -> list[OverlaidRun]:
    """The runs chosen for comparing, as the charts of the run shown draw them.

    Each keeps its style while others are shown.
    """
    shown = ui.run
    if shown is None:
        return []
    found = []
    for run_id, style in zip(chosen_for_comparing(ui), OVERLAY_STYLES, strict=False):
        run = ui.session.runs[run_id]
        if run is shown:
            continue
        row = ui.row_of(run)
        last = len(run.timeline) - 1 if row is None else row
        note = _why_not_drawn(shown, run)
        found.append(OverlaidRun(run.id, run.name, style, run.timeline, last, run.version, note))
    return found


def _why_not_drawn(shown: Run, other: Run) -> str:
    """Why a run's curves do not stand beside those of the run shown; empty: they do."""
    if not comparable(shown.profile.family, other.profile.family):
        return "another kind of training"
    if shown.timeline.axis is not other.timeline.axis:
        return f"counts by {other.timeline.axis}"
    return "" if other.is_whole else "loading"


def comparable(family: str, other: str) -> bool:
    """Whether runs of two families may share a task."""
    return family == other or NOT_LLM.issuperset((family, other))


def groups_that_fit(groups: list[RunGroup], rows: int) -> list[RunGroup]:
    """The groups that a comparison of this many lines draws."""
    return groups[: min(MAX_GROUPS, max(1, rows // 3))]


def compared_runs(groups: list[RunGroup]) -> list[Run]:
    """The runs whose points are needed to draw some groups."""
    return [run for _, members in groups for run in members][:MAX_COMPARED_RUNS]


def select_compared_runs(ui: UiState, rows: int) -> None:
    """Request the points of all runs that a comparison of this many lines, or the charts, draw."""
    if ui.overlay != "compare":
        ui.compared_run_ids = chosen_for_comparing(ui)[: len(OVERLAY_STYLES)]
        return
    groups = groups_that_fit(comparable_groups(ui, ui.selected_concept()), rows)
    ui.compared_run_ids = [run.id for run in compared_runs(groups)]
