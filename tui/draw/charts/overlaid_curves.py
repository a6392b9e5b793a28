"""The curves of runs chosen for comparing, in the charts of the run shown, and their legend."""

from __future__ import annotations

import math

from ppo_top.text.format import clean
from ppo_top.tui.draw.charts.curve_columns import step_bounds
from ppo_top.tui.draw.charts.step_axis import StepRange
from ppo_top.tui.graphics.braille_plot import OtherCurve
from ppo_top.tui.graphics.distinct_names import shared_parts, shorten_distinctly
from ppo_top.tui.graphics.sparkline import extents_between
from ppo_top.tui.graphics.styled_text import Span, StyledLine, line, width
from ppo_top.tui.state.snapshot import OverlaidRun, Snapshot
from ppo_top.views.run_view import RunView

GROWTH = 1.05
"""While a run grows, its axis ends at a power of this: the curves of a page seldom move."""

MIN_NAME_CELLS = 8
"""The shortest name in the legend; runs without room for one are counted."""


def drawn_runs(snap: Snapshot) -> list[OverlaidRun]:
    """The overlaid runs that have something to draw."""
    return [each for each in snap.overlaid if not each.note and each.row >= 0]


def shared_steps(snap: Snapshot, view: RunView) -> StepRange | None:
    """The steps that all charts show: of the longest run, or of the rows zoomed to.

    None where no run is overlaid: charts then show the rows of their run.
    """
    others = drawn_runs(snap)
    if not others or view.row is None:
        return None
    own = view.timeline.steps
    if snap.window is not None:
        low, high = own[snap.window.first], own[snap.window.last]
    else:
        low = min(own[0], *(each.timeline.steps[0] for each in others))
        high = max(own[view.row], *(each.timeline.steps[each.row] for each in others))
        if snap.is_growing and high > low:
            return StepRange(low, low + GROWTH ** math.ceil(math.log(high - low, GROWTH)))
    return StepRange(low, high) if high > low else None


def other_curves(snap: Snapshot, steps: StepRange, name: str, columns: int) -> list[OtherCurve]:
    """The curves of a metric in the overlaid runs that log it."""
    curves = []
    for each in drawn_runs(snap):
        track = each.timeline.tracks.get(name)
        if track is not None:
            pyramid = snap.drawing_cache.pyramid_for(track)
            bounds = step_bounds(each.timeline, steps, columns, 0, each.row)
            curves.append(OtherCurve(extents_between(track, pyramid, bounds), each.style))
    return curves


def overlay_legend(snap: Snapshot, view: RunView, cells: int) -> StyledLine:
    """The names of the runs drawn, this one first, each with its line, in at most some cells."""
    if not snap.overlaid:
        return ()
    runs = [
        (view.name, "curve", ""),
        *((each.name, each.style, each.note) for each in snap.overlaid),
    ]
    names = [clean(name) for name, _, _ in runs]
    notes = [f" ({clean(note)})" if note else "" for _, _, note in runs]
    signs = [_sign(snap, style) for _, style, _ in runs]
    fixed = [width((sign,)) + 3 + len(note) for sign, note in zip(signs, notes, strict=True)]
    kept = len(runs)
    while kept > 1 and sum(fixed[:kept]) + kept * MIN_NAME_CELLS + len(" +9") > cells:
        kept -= 1
    left = f" +{len(runs) - kept}" if kept < len(runs) else ""
    room = cells - sum(fixed[:kept]) - len(left)
    shared = shared_parts(tuple(names))
    parts: list[Span] = []
    for at in range(kept):
        # a short name leaves its cells to those after it
        share = max(room // (kept - at), MIN_NAME_CELLS)
        name = shorten_distinctly(names[at], shared[names[at]], share)
        room -= width(((name, ""),))
        parts += [(" ", ""), signs[at], (f" {name}", "dim"), (notes[at], "missing"), (" ", "")]
    return line(*parts, (left, "dim"))


def _sign(snap: Snapshot, style: str) -> Span:
    """How a curve looks; with ASCII, the character it is drawn with."""
    if snap.symbols.ascii_only:
        return style.removeprefix("run") if style != "curve" else "*", style
    return "━━", style
