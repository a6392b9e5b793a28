"""Which runs are compared with the selected one, by experiment."""

from __future__ import annotations

from ppo_top.rules.engine.terms import NOT_LLM
from ppo_top.runs.run import Run
from ppo_top.tui.state.ui_state import UiState

MAX_GROUPS = 8
"""Curves in a comparison."""

MAX_COMPARED_RUNS = 48
"""Runs in a comparison: each needs all of its points in memory."""

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


def chosen_for_comparing(ui: UiState) -> list[str]:
    """The runs that were chosen for comparing and are still there."""
    return [run_id for run_id in ui.run_list.marked if run_id in ui.session.runs]


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
    """Request the points of all runs that a comparison of this many lines draws."""
    groups = groups_that_fit(comparable_groups(ui, ui.selected_concept()), rows)
    ui.compared_run_ids = [run.id for run in compared_runs(groups)]
