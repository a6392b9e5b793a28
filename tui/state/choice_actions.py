"""What the keys do that choose, filter, fold, search and pin: `do_<action>`, as in `Actions`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from pathlib import Path

from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.text.format import plural
from ppo_top.tui.state.line_input import LineInput
from ppo_top.tui.state.metric_choice import is_expression
from ppo_top.tui.state.ui_state import CHART_OVERLAYS, UiState


class ChoiceActions:
    """The actions that choose runs, metrics and places in a text."""

    def __init__(self, ui: UiState) -> None:
        self.ui_state = ui

    @property
    def _in_text(self) -> bool:
        """Whether the keys move in a text that is shown over the run."""
        return bool(self.ui_state.overlay) and self.ui_state.overlay not in CHART_OVERLAYS

    def do_filter(self) -> None:
        """Filter the runs, or the metrics of a single one and of a chart; search in a text."""
        ui = self.ui_state
        if self._in_text:
            self._search_text()
        elif not ui.overlay and (ui.focus == "runs" or len(ui.session.runs) > 1):
            self._filter_runs()
        else:
            self._filter_metrics()

    def _filter_runs(self, typed: str = "") -> None:
        """Type a filter, applied while it is typed; Esc restores the old one.

        If it hides the selected run, Enter selects the first one shown. Tab filters the metrics by
        what was typed instead.
        """
        ui = self.ui_state
        runs = ui.run_list

        def preview(text: str) -> None:
            runs.filter = text

        def apply(text: str) -> None:
            preview(text)
            shown = [listed.id for listed in runs.filtered(ui.listed_runs())]
            if shown and ui.chosen_run_id not in shown:
                ui.move_run_choice(0)

        def hint() -> str:
            every = ui.listed_runs()
            return f"[{len(runs.filtered(every))}/{len(every)}]  Tab: metrics"

        line = LineInput("/", apply, preview, runs.filter, hint=hint)
        self._type_filter(line, typed, self._filter_metrics)

    def _filter_metrics(self, typed: str = "") -> None:
        """Type a pattern that the charts shown match, while it is typed; Esc restores the old."""
        ui = self.ui_state

        def preview(text: str) -> None:
            ui.metrics.filter, ui.scroll = text, 0

        def hint() -> str:
            view = ui.view()
            every = view.charted_tracks if view is not None else []
            found = sum(ui.metrics.matches(track) for track in every)
            literal = "" if is_expression(ui.metrics.filter) else ", no regex: taken literally"
            return f"[{found}/{len(every)}{literal}]  Tab: runs"

        line = LineInput("/ metrics: ", preview, preview, ui.metrics.filter, hint=hint)
        self._type_filter(line, typed, self._filter_runs)

    def _type_filter(
        self, line: LineInput, typed: str, filter_others: Callable[[str], None]
    ) -> None:
        """Type a filter, which begins with what was typed for the other list before Tab."""
        before = line.text
        line.on_cancel = lambda: line.on_change(before)
        line.on_tab = lambda text: filter_others("" if text == before else text)
        self.ui_state.line_input = line
        if typed:
            line.set_text(typed)

    def _search_text(self) -> None:
        """Type a pattern; the text goes to its first match, n and N to the others."""
        ui = self.ui_state
        before = ui.search.pattern
        ui.line_input = LineInput(
            "/ search: ", ui.search.start, ui.search.start, "", lambda: ui.search.start(before)
        )

    def do_go_to_error(self) -> None:
        """Show the last error in the console output; once more, the one before it."""
        ui = self.ui_state
        run = ui.run
        if run is None or not any(source.evidence for source in run.sources.values()):
            ui.toast = "No error in the console output"
        elif ui.overlay == "console" and ui.search.errors:
            ui.search.go(-1)
        else:
            if ui.overlay != "console":
                ui.open_overlay("console")
            ui.search.start_errors()

    def _step_run(self, by: int) -> None:
        ui, before = self.ui_state, self.ui_state.chosen_run_id
        ui.move_run_choice(by)
        if ui.chosen_run_id == before:
            ui.toast = "This is the last run" if by > 0 else "This is the first run"

    do_previous_run = partialmethod(_step_run, -1)
    do_next_run = partialmethod(_step_run, 1)

    def do_fold(self) -> None:
        runs = self.ui_state.run_list
        runs.fold_seeds = not runs.fold_seeds
        self.ui_state.toast = f"Seed groups {'folded' if runs.fold_seeds else 'unfolded'}"

    def _unfold(self) -> bool:
        """Unfold the seed group that is chosen in the list; False if it is none."""
        ui = self.ui_state
        return ui.run_list.unfold(ui.session, ui.clock(), ui.chosen_run_id)

    def _fold(self) -> None:
        """Fold the seed group of the run that is chosen in the list."""
        ui = self.ui_state
        if first := ui.run_list.fold(ui.session, ui.clock(), ui.chosen_run_id):
            ui.choose_run(first)

    def do_sort(self) -> None:
        runs = self.ui_state.run_list
        runs.next_order()
        self.ui_state.toast = f"Runs by {runs.order}"

    def do_toggle_compared(self) -> None:
        """Choose the selected run for comparing, or no longer."""
        ui = self.ui_state
        if ui.run is None:
            ui.toast = "No run to compare"
            return
        runs = ui.run_list
        is_compared = runs.toggle_compared(ui.chosen_run_id)
        amount = plural(len(runs.compared), "run")
        done = "chosen for comparing" if is_compared else "no longer compared"
        how = "; in all charts, c compares, 6 shows how settings differ" if runs.compared else ""
        ui.toast = f"{ui.run.name} {done} ({amount}{how})"

    def do_write(self) -> None:
        """Write the zoomed series, up to the row shown, to a CSV file in the current directory."""
        ui = self.ui_state
        found = self._zoomed_series("w writes")
        if found is None:
            return
        from ppo_top.output.series_file import SeriesFileError, write_series

        run, track, seen = found
        try:
            path = write_series(run, track, seen, Path.cwd(), ui.paths)
        except SeriesFileError as error:
            ui.toast = str(error)
        else:
            ui.toast = f"{plural(seen, 'point')} written to {path.name}"

    def series_to_copy(self, most_chars: int) -> str:
        """The zoomed series up to the row shown, as far as it fits; empty where there is none."""
        found = self._zoomed_series("y copies")
        if found is None:
            return ""
        from ppo_top.output.series_file import series_text

        _, track, seen = found
        text, points = series_text(track, seen, most_chars)
        which = plural(seen, "point") if points == seen else f"newest {points:,} of {seen:,} points"
        self.ui_state.toast = f"{which} sent to the terminal's clipboard"
        return text

    def _zoomed_series(self, key_does: str) -> tuple[Run, Track, int] | None:
        """The run and series of the chart that is open, and how many points are shown."""
        ui = self.ui_state
        run, view = ui.run, ui.view()
        track = run.timeline.tracks.get(ui.selected_concept()) if run is not None else None
        if ui.overlay != "zoom" or run is None or view is None or track is None:
            ui.toast = f"{key_does} the series of a chart: Enter opens it"
            return None
        return run, track, track.count_until(view.row or 0)

    def do_pin(self) -> None:
        """Pin the selected metric's chart to the front, or unpin it."""
        ui = self.ui_state
        view, name = ui.view(), ui.selected_concept()
        track = (
            next((each for each in view.tracks if each.track.concept == name), None)
            if view
            else None
        )
        if track is None:
            ui.toast = "No metric to pin"
        elif ui.metrics.toggle_pin(name):
            ui.scroll = 0 if not ui.overlay else ui.scroll
            ui.toast = f"{track.label} pinned to the front; z again unpins it"
        else:
            ui.toast = f"{track.label} is not pinned any more"
