"""What each key does to the `UiState`: `do_<action>` for the actions of the key table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod

from ppo_top.text.format import number
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.tui.state.choice_actions import ChoiceActions
from ppo_top.tui.state.cursor import find_row
from ppo_top.tui.state.line_input import LineInput
from ppo_top.tui.state.replay_time import detection_text
from ppo_top.tui.state.snapshot import SECTIONS

END_OF_TEXT = 1_000_000_000
"""A line after that of any text: what is drawn goes back to the last page."""


class Actions(ChoiceActions):
    """The actions that change the `UiState`; those of the program itself are in the app."""

    # --- overlays --------------------------------------------------------------------------------

    def _toggle_overlay(self, name: str) -> None:
        ui = self.ui_state
        if ui.overlay == name:
            self.do_back()
        else:
            ui.open_overlay(name)

    do_help = partialmethod(_toggle_overlay, "help")
    do_findings = partialmethod(_toggle_overlay, "findings")
    do_explain = partialmethod(_toggle_overlay, "explain")
    do_console = partialmethod(_toggle_overlay, "console")
    do_config = partialmethod(_toggle_overlay, "config")
    do_compare = partialmethod(_toggle_overlay, "compare")

    def do_zoom(self) -> None:
        """Open the chart; in the run list, unfold a group or switch to the selected run."""
        ui = self.ui_state
        if self._in_list:
            ui.chosen_by_user = True
            if not self._unfold():
                ui.focus = "values"
            return
        if ui.overlay in ("", "explain", "compare"):
            ui.open_overlay("zoom")
            ui.chart.cursor_row = None

    def do_back(self) -> None:
        """Close the overlay, or leave the run list, or return to live, or clear a filter."""
        ui = self.ui_state
        if ui.overlay:
            ui.overlay = ui.overlays_below.pop() if ui.overlays_below else ""
            ui.scroll, ui.follow_choice = 0, True
            ui.search.start("")
        elif ui.focus == "runs":
            ui.focus = "values"
        elif ui.cursor.row is not None and not ui.cursor.replay:
            self.do_latest()
        elif ui.chart.rows_shown is not None:
            ui.chart.show_all_rows()
        elif ui.metrics.filter:
            ui.metrics.filter = ""
        elif ui.run_list.filter:
            ui.run_list.filter = ""

    # --- moving ----------------------------------------------------------------------------------

    def _move(self, by: int) -> None:
        ui = self.ui_state
        ui.search.follow = False
        if ui.overlay == "findings" and self._move_finding_choice(by):
            return
        if self._in_text and ui.overlay != "explain":
            self._scroll_text(ui.scroll + by)
        elif ui.focus == "runs":
            ui.move_run_choice(by)
        else:
            ui.move_concept_choice(by)

    def _move_finding_choice(self, by: int) -> bool:
        """Choose the next open finding; False at the ends, where the text is scrolled on."""
        ui, view = self.ui_state, self.ui_state.view()
        last = len(view.open_findings) - 1 if view is not None else -1
        ui.follow_choice = 0 <= ui.finding_at + by <= last
        if ui.follow_choice:
            ui.finding_at += by
        return ui.follow_choice

    do_up = partialmethod(_move, -1)
    do_down = partialmethod(_move, 1)

    @property
    def _in_list(self) -> bool:
        """Whether the keys move in the run list."""
        return self.ui_state.focus == "runs" and not self.ui_state.overlay

    def _page(self, by: int) -> None:
        ui = self.ui_state
        if self._in_list:
            ui.move_run_choice(by * ui.page_lines)
        elif ui.overlay:
            self._scroll_text(ui.scroll + by * ui.page_lines)
        else:
            ui.scroll = max(0, ui.scroll + by)

    def _scroll_text(self, line: int) -> None:
        """Show a text from a line on, or its end, and leave it there."""
        ui = self.ui_state
        ui.follow_choice = ui.search.follow = False
        ui.scroll = max(0, line)

    do_page_up = partialmethod(_page, -1)
    do_page_down = partialmethod(_page, 1)

    def do_switch_focus(self) -> None:
        self.ui_state.focus = "values" if self.ui_state.focus == "runs" else "runs"

    def _toggle(self, section: str) -> None:
        ui = self.ui_state
        if ui.overlay:
            ui.toast = f"{SECTIONS[section]}: on the main page only (Esc)"
            return
        if section not in ui.hideable_sections:
            why = "not shown here; Tab shows it" if section == "runs" else "not hidden at this size"
            ui.toast = f"{SECTIONS[section]}: {why}"
            return
        ui.hidden_sections = ui.hidden_sections ^ {section}
        key = list(SECTIONS).index(section) + 1
        hidden = section in ui.hidden_sections
        ui.toast = f"{SECTIONS[section]} hidden: {key} to show again" if hidden else ""
        if section == "runs" and hidden:
            ui.focus = "values"  # with the keys in it, the list would fill the screen
            ui.toast += ", Tab to show a full table"

    do_toggle_runs = partialmethod(_toggle, "runs")
    do_toggle_finding = partialmethod(_toggle, "finding")
    do_toggle_values = partialmethod(_toggle, "values")
    do_toggle_panels = partialmethod(_toggle, "panels")

    # --- time travel -----------------------------------------------------------------------------

    def _move_cursor(self, rows: int) -> None:
        ui = self.ui_state
        if ui.run is not None and len(ui.run.timeline):
            ui.cursor.playing = False
            ui.cursor.move_by(ui.run.timeline, rows)

    def do_step_back(self, times: int = 1) -> None:
        self._move_cursor(-times)

    def do_step_forward(self, times: int = 1) -> None:
        self._move_cursor(times)

    def _go_to_finding(self, direction: int) -> None:
        ui = self.ui_state
        if ui.search.is_active:
            ui.search.go(direction)
            return
        found = ui.go_to_finding(direction)
        if found is None or ui.run is None:
            ui.toast = "No later finding" if direction > 0 else "No earlier finding"
            if ui.next_finding(-direction) is not None:
                ui.toast += " (N: previous)" if direction > 0 else " (n: next)"
            return
        ui.toast = detection_text(ui.run, found)

    do_next_finding = partialmethod(_go_to_finding, 1)
    do_previous_finding = partialmethod(_go_to_finding, -1)

    def do_go_to_alert(self) -> None:
        ui = self.ui_state
        waiting = [run_id for run_id in ui.alerts if run_id in ui.session.runs]
        if not waiting:
            ui.toast = "No run has turned red since you looked"
            return
        ui.chosen_by_user = True
        ui.choose_run(waiting[-1])

    def do_pause(self) -> None:
        if self.ui_state.run is not None:
            self.ui_state.cursor.toggle_playing(self.ui_state.run.timeline)

    def _speed(self, direction: int) -> None:
        self.ui_state.cursor.change_speed(direction)
        self.ui_state.toast = f"replay speed {number(self.ui_state.cursor.speed, 3)}x"

    do_faster = partialmethod(_speed, 1)
    do_slower = partialmethod(_speed, -1)

    def do_first(self) -> None:
        ui = self.ui_state
        if self._in_list:
            ui.move_run_choice(-len(ui.session.runs))
        elif self._in_text:
            self._scroll_text(0)
        elif ui.run is not None and len(ui.run.timeline):
            ui.cursor.go_to(ui.run.timeline, 0)

    def do_latest(self) -> None:
        ui = self.ui_state
        if self._in_list:
            ui.move_run_choice(len(ui.session.runs))
        elif self._in_text and ui.overlay != "console":
            self._scroll_text(END_OF_TEXT)
        elif ui.run is not None:
            ui.follow_choice = True
            ui.cursor.go_to(ui.run.timeline, None)

    def do_jump(self) -> None:
        self.ui_state.line_input = LineInput("Go to step or %: ", self._jump)

    def _jump(self, text: str) -> None:
        run = self.ui_state.run
        if run is None or not text.strip():
            return
        row = find_row(run.timeline, text)
        if row is None:
            self.ui_state.toast = f"expected a step or a percentage, got {text!r}"
        else:
            self.ui_state.cursor.playing = False
            self.ui_state.cursor.go_to(run.timeline, row)

    # --- charts ----------------------------------------------------------------------------------

    def _change_chart(self, change: Callable[[ChartOptions], None]) -> None:
        """Change how the chart of a metric is drawn, if it is open."""
        ui = self.ui_state
        if ui.overlay == "zoom":
            change(ui.chart)
        else:
            ui.toast = "That is a key of the chart: Enter opens it"

    def do_axis(self) -> None:
        """Switch the x axis of a chart, or of a comparison."""
        if self.ui_state.overlay == "compare":
            self.ui_state.chart.next_axis()
        else:
            self._change_chart(ChartOptions.next_axis)

    do_log_scale = partialmethod(_change_chart, ChartOptions.toggle_log_scale)
    do_more_smooth = partialmethod(_change_chart, lambda chart: chart.change_smoothing(1))
    do_less_smooth = partialmethod(_change_chart, lambda chart: chart.change_smoothing(-1))
    do_no_smooth = partialmethod(_change_chart, ChartOptions.stop_smoothing)
    do_stack = partialmethod(_change_chart, ChartOptions.toggle_stacked)

    def zoom_rows(self, direction: int, share: float | None = None) -> None:
        """Show fewer (1) or more (-1) rows in all curves.

        Around a place by its share of the width, else the cursor, else the newest row.
        """
        ui, view = self.ui_state, self.ui_state.view()
        if view is None or view.row is None or ui.overlay not in ("", "zoom"):
            ui.toast = "i and o zoom the charts of one run (Esc)"
            return
        first, last = ui.chart.window(view.row) or (0, view.row)
        centre = last if ui.chart.cursor_row is None else ui.chart.cursor_row
        if share is not None:
            centre = first + round(share * (last - first))
        if not ui.chart.zoom_rows(direction, min(max(centre, first), last), view.row):
            ui.toast = "No fewer rows than these" if direction > 0 else "All rows are shown"

    do_zoom_in = partialmethod(zoom_rows, 1)
    do_zoom_out = partialmethod(zoom_rows, -1)

    def do_left(self, times: int = 1) -> None:
        """Move the cursor; in the run list, where there is none, fold a group."""
        if self._in_list:
            self._fold()
        else:
            self._chart_cursor(-times)

    def do_right(self, times: int = 1) -> None:
        """Move the cursor; in the run list unfold a group."""
        if self._in_list:
            self._unfold()
        else:
            self._chart_cursor(times)

    def _chart_cursor(self, by: int) -> None:
        """Move the cursor of the chart that is open; without one, the timeline's."""
        ui = self.ui_state
        run = ui.run
        if run is None:
            return
        if ui.overlay != "zoom":
            self._move_cursor(by)
            return
        last = ui.cursor.current_row(run.timeline)
        here = last if ui.chart.cursor_row is None else ui.chart.cursor_row
        ui.chart.cursor_row = max(0, min(last, here + by))
        ui.chart.show_row(ui.chart.cursor_row, last)

    # --- findings --------------------------------------------------------------------------------

    def _ask_reason(self, verb: str, mute: bool) -> None:
        ui = self.ui_state
        run, view = ui.run, ui.view()
        finding = ui.chosen_finding(view) if view is not None else None
        if run is None or view is None or finding is None:
            ui.toast = "No open finding"
            return
        place = run.place
        if ui.acknowledgements.find(place, finding.rule, finding.since.step) is not None:
            in_list = ui.overlay == "findings"  # elsewhere acknowledged ones come last: all are
            undone = [finding] if in_list else [each.finding for each in view.open_findings]
            for each in undone:
                ui.acknowledgements.revoke(place, each.rule)
            ui.invalidate()
            ui.toast = f"Open again: {finding.title if in_list else 'all findings of this run'}"
            return

        def save(reason: str) -> None:
            if mute:
                ui.acknowledgements.mute(place, finding.rule, reason)
            else:
                ui.acknowledgements.acknowledge(place, finding.rule, finding.since.step, reason)
            ui.invalidate()
            done = "Muted in this run" if mute else "Acknowledged"
            ui.toast = f"{done}: {finding.title}"
            if ui.acknowledgements.problem:
                ui.toast = f"{done} until you quit: {ui.acknowledgements.problem}"

        ui.line_input = LineInput(f"{verb} {finding.title}, reason: ", save)

    do_acknowledge = partialmethod(_ask_reason, "Acknowledge", mute=False)
    do_mute = partialmethod(_ask_reason, "Mute", mute=True)

    # --- the mouse -------------------------------------------------------------------------------

    def click(self, what: str, arg: str, share: float) -> None:
        """A click on a run, a metric or the timeline (at a share of its width)."""
        ui = self.ui_state
        if what == "run":
            ui.chosen_by_user = True
            if ui.chosen_run_id == arg:
                ui.focus = "values"
            ui.choose_run(arg)
        elif what == "concept":
            if ui.concept == arg and ui.focus == "values":
                self.do_zoom()
            ui.focus, ui.concept = "values", arg
        elif what == "time" and ui.run is not None and len(ui.run.timeline):
            rows = len(ui.run.timeline)
            row = min(rows - 1, int(share * rows))
            ui.cursor.go_to(ui.run.timeline, row if row < rows - 1 else None)
