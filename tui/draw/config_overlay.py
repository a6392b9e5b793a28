"""The configuration of a run, its sources, and how its settings differ from those of others."""

from __future__ import annotations

from ppo_top.model import ConfigValue
from ppo_top.text.format import clean, count, number, plural
from ppo_top.tui.graphics.distinct_names import shared_parts, shorten_distinctly
from ppo_top.tui.graphics.styled_text import StyledLine, line, pad, shorten, text_width, wrap
from ppo_top.tui.state.comparison import chosen_for_comparing
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import RunView
from ppo_top.views.seed_groups import setting_kind

MIN_VALUE_CELLS = 12
"""The narrowest column of a run's settings."""


def config_text(ui: UiState, snap: Snapshot, cells: int) -> list[StyledLine]:
    """How chosen runs differ, the sources of the run, then its hyperparameters."""
    view, run = snap.view, ui.run
    if view is None or run is None:
        return [line(("no run selected", "dim"))]
    rows = [line((f"Sources in {clean(view.path)}", "title"))]
    for key in sorted(run.sources):
        source = run.sources[key]
        facts = f"{source.format}, {plural(source.points, 'point')}"
        if source.problem_count:
            facts += f", {plural(source.problem_count, 'parse error')}"
        rows.append(line("  ", shorten(clean(key), cells - 2)))
        rows.append(line((f"    {facts}", "dim")))
        if source.left_out_text:
            rows.append(line((shorten(f"    {source.left_out_text}", cells), "warn")))
        for note in source.all_notes:
            rows += [line((part, "dim")) for part in wrap(f"    {clean(note)}", cells)]
        for problem in source.problems[:5]:
            text = f"    at byte {count(problem.offset)}: {clean(problem.message)}"
            rows.append(line((shorten(text, cells), "warn")))
    if ui.watching:
        rows += [line((part, "dim")) for part in wrap(clean(ui.watching), cells)]
    differences = differences_text(ui, cells)
    return [*differences, *rows, (), line(("Hyperparameters", "title")), *_settings(view, cells)]


def _settings(view: RunView, cells: int) -> list[StyledLine]:
    if not view.config:
        return [line(("  no hyperparameters found", "dim"))]
    rows = []
    names = min(max(text_width(clean(name)) for name in view.config), max(cells // 2, 8))
    for name, value in sorted(view.config.items()):
        label = pad(shorten(clean(name), names), names)
        text = _value_text(value)
        rows.append(line("  ", (label, "dim"), "  ", shorten(text, cells - names - 4)))
    return rows


def _value_text(value: ConfigValue | None) -> str:
    if value is None:
        return ""
    return number(value) if isinstance(value, float) else clean(str(value))


def differences_text(ui: UiState, cells: int) -> list[StyledLine]:
    """The settings in which the selected run and those chosen for comparing differ, by column.

    Names, paths and times of single runs are no settings; a seed is one.
    """
    ids = list(dict.fromkeys([ui.chosen_run_id, *chosen_for_comparing(ui)]))
    runs = [ui.session.runs[run_id] for run_id in ids if run_id in ui.session.runs]
    if len(runs) < 2:
        return []
    configs = [run.evaluation.config for run in runs]
    names = sorted({name for config in configs for name in config if setting_kind(name) != "own"})
    differing = [name for name in names if len({_value_text(c.get(name)) for c in configs}) > 1]
    rows = [line((f"Settings that differ, {len(differing)} of {len(names)}", "title"))]
    first = max([8, *(text_width(clean(name)) for name in differing)])
    first = min(first, cells // 3)
    fitting = max(1, (cells - first - 2) // (MIN_VALUE_CELLS + 2))
    shown, wide = runs[:fitting], (cells - first - 2) // min(len(runs), fitting) - 2
    shared = shared_parts(tuple(clean(run.name) for run in runs))
    titles = (shorten_distinctly(clean(run.name), shared[clean(run.name)], wide) for run in shown)
    heads = "".join("  " + pad(title, wide) for title in titles)
    rows.append(line((" " * (first + 2) + heads, "dim")))
    for name in differing:
        values = (_value_text(config.get(name)) or "-" for config in configs[:fitting])
        cells_text = "".join("  " + pad(shorten(value, wide), wide) for value in values)
        label = "  " + pad(shorten(clean(name), first), first)
        rows.append(line((label, "dim"), cells_text))
    if len(runs) > fitting:
        rows.append(line((f"  {plural(len(runs) - fitting, 'more run')} in a wider window", "dim")))
    return [*rows, ()]
