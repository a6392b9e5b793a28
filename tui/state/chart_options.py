"""Options of the chart: x axis, scale, smoothing, cursor."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model.named_tuple import NamedTuple

CHART_AXES = ("step", "time", "update")
SMOOTHINGS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)
"""Weights of the exponential moving average; 0: no smoothing."""


MIN_ROWS_SHOWN = 8
"""The fewest rows that the curves are zoomed to."""


class RowWindow(NamedTuple):
    """The rows of a run that its curves show, both included."""

    first: int
    last: int


@dataclass(slots=True)
class ChartOptions:
    """Options of the zoomed chart, and the rows that all curves show."""

    axis: str = "step"
    log_scale: bool = False
    smoothing: float = 0.0
    stacked: bool = False
    cursor_row: int | None = None
    """The row under the chart's cursor; None: the latest one shown."""
    rows_shown: int | None = None
    """How many rows the curves show; None: all."""
    last_shown: int | None = None
    """The last one of them; None: the newest, while the run grows."""

    def window(self, newest: int) -> RowWindow | None:
        """The rows shown of a run with so many; None: all."""
        if self.rows_shown is None or self.rows_shown > newest:
            return None
        last = newest if self.last_shown is None else min(self.last_shown, newest)
        last = max(last, self.rows_shown - 1)
        return RowWindow(last - self.rows_shown + 1, last)

    def zoom_rows(self, direction: int, centre: int, newest: int) -> bool:
        """Show half (1) or twice (-1) as many rows; `centre` keeps its place. False: no change."""
        first, last = self.window(newest) or RowWindow(0, newest)
        rows = last - first + 1
        wanted = max(MIN_ROWS_SHOWN, rows // 2) if direction > 0 else 2 * rows
        if wanted > newest:
            self.show_all_rows()
            return rows <= newest
        share = (centre - first) / max(rows - 1, 1)
        self.rows_shown = wanted
        self._end_at(round(centre + (1.0 - share) * (wanted - 1)), newest)
        return wanted != rows

    def show_all_rows(self) -> None:
        """End the zoom."""
        self.rows_shown = self.last_shown = None

    def show_row(self, row: int, newest: int) -> None:
        """Move the window so that a row is in it."""
        window = self.window(newest)
        if window is not None and self.rows_shown is not None and not window[0] <= row <= window[1]:
            self._end_at(row if row > window.last else row + self.rows_shown - 1, newest)

    def _end_at(self, last: int, newest: int) -> None:
        self.last_shown = None if last >= newest else last

    def next_axis(self) -> None:
        """Switch to the next x axis."""
        self.axis = CHART_AXES[(CHART_AXES.index(self.axis) + 1) % len(CHART_AXES)]

    def toggle_log_scale(self) -> None:
        """Switch between a linear and a logarithmic y axis."""
        self.log_scale = not self.log_scale

    def toggle_stacked(self) -> None:
        """Show the related charts below each other, or only one."""
        self.stacked = not self.stacked

    def stop_smoothing(self) -> None:
        """Draw the values as they are."""
        self.smoothing = 0.0

    def change_smoothing(self, direction: int) -> None:
        """More (1) or less (-1) smoothing."""
        at = SMOOTHINGS.index(self.smoothing) + direction
        self.smoothing = SMOOTHINGS[max(0, min(len(SMOOTHINGS) - 1, at))]
