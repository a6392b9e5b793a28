"""Several runs on one concept: an overlay, seeds as mean and band, this run beside its siblings."""

from __future__ import annotations

import math
from bisect import bisect_right
from statistics import mean, stdev

from ppo_top.catalogue import concept
from ppo_top.run import Run
from ppo_top.timeline import Track
from ppo_top.tui.desk import Desk
from ppo_top.tui.frame import Frame
from ppo_top.tui.plots import Chart, Curve, draw
from ppo_top.tui.runs import group_of
from ppo_top.tui.spans import Line, line, pack, shorten
from ppo_top.words import clean, compact, count, number, plural, value

COLOURS = "abcdefgh"
MOST = len(COLOURS)
MOST_BESIDE = 48
"""So many runs are compared at a time: of each all points are needed."""


def value_at(track: Track, step: float, seen: int | None = None) -> float:
    """The last finite value of a track at or before a step; NaN before the first."""
    at = bisect_right(track.steps, step, 0, len(track) if seen is None else seen) - 1
    while at >= 0 and not math.isfinite(track.values[at]):
        at -= 1
    return track.values[at] if at >= 0 else math.nan


def grouped(runs: list[Run], chosen: str) -> dict[str, list[Run]]:
    """Runs by the name they share up to their seed, the chosen run's group first."""
    groups: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda each: (each.id != chosen, each.name)):
        groups.setdefault(group_of(run.name), []).append(run)
    return groups


def compare_lines(desk: Desk, frame: Frame, cells: int, rows: int) -> list[Line]:
    """The body of the layer: what is compared, the chart, a line for each curve."""
    name = frame.concept
    shown = {known.id for known in desk.roster.shown(desk.known())}
    runs = [
        run
        for run in desk.session.runs.values()
        if (run.id in shown or run.id == desk.chosen) and name in run.profile.tags
    ]
    if not runs:
        return [line((" no run logs this value", "dim"))]
    groups = list(grouped(runs, desk.chosen).items())
    drawn, away = _at_hand(desk, groups[: min(MOST, max(1, rows // 3))], name)
    about = concept(name)
    chart = Chart(x_label=compact, y_label=lambda y: value(y, about.fmt))
    legend: list[Line] = []
    for (group, members), style in zip(drawn, COLOURS, strict=False):
        chart.curves += _curves(members, name, style, 2 * cells)
        legend.append(_legend(frame, group, members, name, style, cells))
    title = f" {clean(about.label)} of {plural(len(runs), 'run')} by step"
    if len(groups) > len(drawn):
        title += f", the first {len(drawn)} of {len(groups)}"
    if away:
        title += f", {away} of them being read"
    siblings = drawn[0][1] if drawn else []
    head = [line((title, "title")), _against_siblings(desk, siblings, name, cells)]
    room = rows - len(head) - len(legend)
    return [*head, *draw(chart, cells, room, frame.glyphs.braille), *legend]


def _at_hand(
    desk: Desk, groups: list[tuple[str, list[Run]]], name: str
) -> tuple[list[tuple[str, list[Run]]], int]:
    """The groups with the members whose points are here, and how many are still to be read.

    Old runs are kept without their points: which ones are needed is left on the desk.
    """
    desk.beside = [run.id for _, members in groups for run in members][:MOST_BESIDE]
    whole = [
        (group, [run for run in members if run.is_whole and run.timeline.tracks.get(name)])
        for group, members in groups
    ]
    kept = [(group, members) for group, members in whole if members]
    wanted = (desk.session.runs[each] for each in desk.beside)
    return kept, sum(not run.is_whole for run in wanted)


def _curves(members: list[Run], name: str, style: str, points: int) -> list[Curve]:
    """One run as it is; several as their mean and, fainter, the edges of their band."""
    tracks = [run.timeline.tracks[name] for run in members]
    last = max(track.steps[-1] for track in tracks)
    first = min(track.steps[0] for track in tracks)
    grid = [first + (last - first) * at / max(points - 1, 1) for at in range(points)]
    middle, low, high = Curve([], [], style), Curve([], [], "faint"), Curve([], [], "faint")
    for step in grid:
        values = [value_at(t, step) for t in tracks if step <= t.steps[-1] + 1e-9]
        finite = [each for each in values if math.isfinite(each)]
        if not finite:
            continue
        for curve, each in ((middle, mean(finite)), (low, min(finite)), (high, max(finite))):
            curve.xs.append(step)
            curve.ys.append(each)
    return [low, high, middle] if len(members) > 1 else [middle]


def _legend(
    frame: Frame, group: str, members: list[Run], name: str, style: str, cells: int
) -> Line:
    tracks = [run.timeline.tracks[name] for run in members]
    newest = [value_at(track, math.inf) for track in tracks]
    fmt = concept(name).fmt
    label = members[0].name if len(members) == 1 else f"{group} ({plural(len(members), 'seed')})"
    bar = "=" if frame.glyphs.ascii else "━━"
    parts = [
        line((f" {bar} ", style), shorten(clean(label), max(cells // 2, 12))),
        line(("last ", "dim"), (value(mean(newest), fmt), "value")),
    ]
    if len(members) > 1:
        parts.append(line((f"{value(min(newest), fmt)} to {value(max(newest), fmt)}", "dim")))
    step = count(max(track.steps[-1] for track in tracks))
    parts.append(line((f"at step {step}", "dim")))
    return pack(parts, cells)


def _against_siblings(desk: Desk, siblings: list[Run], name: str, cells: int) -> Line:
    """The chosen run beside the other seeds of its group at the same step."""
    run = desk.run
    track = run.timeline.tracks.get(name) if run is not None else None
    others = [each for each in siblings if run is not None and each.id != run.id]
    if run is None or track is None or not others:
        return line((" alone in its group: no other seeds to compare with", "dim"))
    step = run.timeline.steps[desk.player.place(run.timeline)]
    here = value_at(track, step)
    there = [value_at(each.timeline.tracks[name], step) for each in others]
    there = [each for each in there if math.isfinite(each)]
    if not there or not math.isfinite(here):
        return line((" its siblings have no value at this step", "dim"))
    fmt = concept(name).fmt
    text = f" {value(here, fmt)} at step {count(step)}; its {plural(len(there), 'sibling')} "
    spread = stdev(there) if len(there) > 1 else 0.0
    text += value(mean(there), fmt)
    if spread > 0:
        away = (here - mean(there)) / spread
        side = "above" if away > 0 else "below"
        text += f" ± {value(spread, fmt)}: {number(abs(away), 2)} sd {side} them"
    return line((shorten(text, cells), "value"))
