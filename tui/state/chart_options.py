"""Options of the chart: x axis, scale, smoothing, cursor."""

from __future__ import annotations

from dataclasses import dataclass

CHART_AXES = ("step", "time", "update")
SMOOTHINGS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)
"""Weights of the exponential moving average; 0: no smoothing."""


@dataclass(slots=True)
class ChartOptions:
    """Options of the zoomed chart."""

    axis: str = "step"
    log_scale: bool = False
    smoothing: float = 0.0
    stacked: bool = False
    cursor_row: int | None = None
    """The row under the chart's cursor; None: the latest one shown."""

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
