"""What each key does, as changes of the desk; `do_<action>` for every action of the key table."""

from __future__ import annotations

from ppo_top.text.format import count
from ppo_top.tui.state.cursor import find_row
from ppo_top.tui.state.line_input import LineInput
from ppo_top.tui.state.ui_state import UiState

CHART_OVERLAYS = ("zoom", "compare")
PAGE_LINES = 10


class Actions:
    """The keys that change what is looked at; those of the program itself are the app's."""

    def __init__(self, desk: UiState) -> None:
        self.ui_state = desk

    # --- layers ----------------------------------------------------------------------------------

    def _toggle_overlay(self, name: str) -> None:
        desk = self.ui_state
        desk.overlay = "" if desk.overlay == name else name
        desk.scroll = 0

    def do_help(self) -> None:
        self._toggle_overlay("help")

    def do_findings(self) -> None:
        self._toggle_overlay("findings")

    def do_explain(self) -> None:
        self._toggle_overlay("explain")

    def do_log(self) -> None:
        self._toggle_overlay("log")

    def do_config(self) -> None:
        self._toggle_overlay("config")

    def do_compare(self) -> None:
        self._toggle_overlay("compare")

    def do_zoom(self) -> None:
        """Into the chart; from the runs (where they fill the screen) to the chosen one."""
        desk = self.ui_state
        if self._in_list:
            desk.chosen_by_user = True
            if not desk.run_list.unfold(desk.session, desk.clock(), desk.chosen_run_id):
                desk.focus = "values"
            return
        if desk.overlay in ("", "explain", "compare"):
            desk.overlay, desk.chart.cursor_row = "zoom", None

    def do_out(self) -> None:
        """One layer out: the layer, then the cursor's past, then the filter."""
        desk = self.ui_state
        if desk.overlay:
            desk.overlay, desk.scroll = "", 0
        elif desk.focus == "runs":
            desk.focus = "values"
        elif desk.cursor.row is not None and not desk.cursor.replay:
            self.do_live()
        elif desk.run_list.filter:
            desk.run_list.filter = ""

    # --- moving ----------------------------------------------------------------------------------

    def _move(self, by: int) -> None:
        desk = self.ui_state
        if desk.overlay and desk.overlay not in CHART_OVERLAYS and desk.overlay != "explain":
            desk.scroll = max(0, desk.scroll + by)
        elif desk.focus == "runs":
            desk.move_run_choice(by)
        else:
            desk.move_concept_choice(by)

    def do_up(self) -> None:
        self._move(-1)

    def do_down(self) -> None:
        self._move(1)

    def do_page_up(self) -> None:
        self._page(-1)

    def do_page_down(self) -> None:
        self._page(1)

    @property
    def _in_list(self) -> bool:
        """Whether keys move in the list of runs."""
        return self.ui_state.focus == "runs" and not self.ui_state.overlay

    def _page(self, by: int) -> None:
        desk = self.ui_state
        if self._in_list:
            desk.move_run_choice(by * PAGE_LINES)
        else:
            desk.scroll = max(0, desk.scroll + (by * PAGE_LINES if desk.overlay else by))
            if not desk.overlay:
                desk.scroll = min(desk.scroll, len(desk.selectable_concepts()) // 4)

    def do_next_pane(self) -> None:
        self.ui_state.focus = "values" if self.ui_state.focus == "runs" else "runs"

    def do_run_before(self) -> None:
        self.ui_state.move_run_choice(-1)

    def do_run_after(self) -> None:
        self.ui_state.move_run_choice(1)

    def do_fold(self) -> None:
        self.ui_state.run_list.fold_seeds = not self.ui_state.run_list.fold_seeds
        self.ui_state.toast = "groups of seeds " + (
            "folded" if self.ui_state.run_list.fold_seeds else "unfolded"
        )

    def _toggle(self, section: str) -> None:
        self.ui_state.hidden_sections = self.ui_state.hidden_sections ^ {section}

    def do_toggle_runs(self) -> None:
        self._toggle("runs")

    def do_toggle_finding(self) -> None:
        self._toggle("finding")

    def do_toggle_values(self) -> None:
        self._toggle("values")

    def do_toggle_panels(self) -> None:
        self._toggle("panels")

    def do_filter(self) -> None:
        """Type a filter; it holds while it is typed, Esc brings the old one back.

        Where it hides the chosen run, Enter goes to the first that it shows.
        """
        desk = self.ui_state
        runs = desk.run_list

        def hold(text: str) -> None:
            runs.filter = text

        def keep(text: str) -> None:
            hold(text)
            shown = [known.id for known in runs.filtered(desk.listed_runs())]
            if shown and desk.chosen_run_id not in shown:
                desk.move_run_choice(0)

        before = runs.filter
        desk.line_input = LineInput("/", keep, hold, before, lambda: hold(before))

    # --- time travel -----------------------------------------------------------------------------

    def _move_cursor(self, rows: int) -> None:
        desk = self.ui_state
        if desk.run is not None and len(desk.run.timeline):
            desk.cursor.playing = False
            desk.cursor.move_by(desk.run.timeline, rows)

    def do_back(self, times: int = 1) -> None:
        self._move_cursor(-times)

    def do_forward(self, times: int = 1) -> None:
        self._move_cursor(times)

    def do_next_red(self) -> None:
        self._go_to_finding(1)

    def do_previous_red(self) -> None:
        self._go_to_finding(-1)

    def _go_to_finding(self, direction: int) -> None:
        desk = self.ui_state
        found = desk.go_to_finding(direction)
        if found is None or desk.run is None:
            where, key = ("after", "N") if direction > 0 else ("before", "n")
            desk.toast = f"no finding {where} this moment"
            if desk.run is not None and desk.run.findings:
                desk.toast += f"; {key} goes the other way"
            return
        share = round(100 * (found.opened.row + 1) / max(len(desk.run.timeline), 1))
        desk.toast = (
            f"{found.title}: fired at step {count(found.opened.step)}, {share} % of the run"
        )

    def do_pause(self) -> None:
        if self.ui_state.run is not None:
            self.ui_state.cursor.toggle_playing(self.ui_state.run.timeline)

    def do_faster(self) -> None:
        self._speed(1)

    def do_slower(self) -> None:
        self._speed(-1)

    def _speed(self, direction: int) -> None:
        self.ui_state.cursor.change_speed(direction)
        self.ui_state.toast = f"replay at {self.ui_state.cursor.speed:,.0f}x"

    def do_start(self) -> None:
        if self._in_list:
            self.ui_state.move_run_choice(-len(self.ui_state.session.runs))
        elif self.ui_state.run is not None and len(self.ui_state.run.timeline):
            self.ui_state.cursor.go_to(self.ui_state.run.timeline, 0)

    def do_live(self) -> None:
        if self._in_list:
            self.ui_state.move_run_choice(len(self.ui_state.session.runs))
        elif self.ui_state.run is not None:
            self.ui_state.cursor.go_to(self.ui_state.run.timeline, None)

    def do_jump(self) -> None:
        self.ui_state.line_input = LineInput("go to step or % ", self._jump)

    def _jump(self, text: str) -> None:
        run = self.ui_state.run
        if run is None or not text.strip():
            return
        row = find_row(run.timeline, text)
        if row is None:
            self.ui_state.toast = f"{text!r} is neither a step nor a percentage"
        else:
            self.ui_state.cursor.playing = False
            self.ui_state.cursor.go_to(run.timeline, row)

    # --- charts ----------------------------------------------------------------------------------

    def do_axis(self) -> None:
        self.ui_state.chart.next_axis()

    def do_logarithm(self) -> None:
        self.ui_state.chart.log_scale = not self.ui_state.chart.log_scale

    def do_smoother(self) -> None:
        self.ui_state.chart.change_smoothing(1)

    def do_rougher(self) -> None:
        self.ui_state.chart.change_smoothing(-1)

    def do_raw(self) -> None:
        self.ui_state.chart.smoothing = 0.0

    def do_stack(self) -> None:
        self.ui_state.chart.stacked = not self.ui_state.chart.stacked

    def do_left(self, times: int = 1) -> None:
        self._chart_cursor(-times)

    def do_right(self, times: int = 1) -> None:
        self._chart_cursor(times)

    def _chart_cursor(self, by: int) -> None:
        """Move the chart's cursor; outside a chart the arrows move the timeline's."""
        desk = self.ui_state
        run = desk.run
        if run is None:
            return
        if desk.overlay not in CHART_OVERLAYS:
            self._move_cursor(by)
            return
        last = desk.cursor.current_row(run.timeline)
        here = last if desk.chart.cursor_row is None else desk.chart.cursor_row
        desk.chart.cursor_row = max(0, min(last, here + by))

    # --- findings --------------------------------------------------------------------------------

    def do_acknowledge(self) -> None:
        self._ask_reason("acknowledge, because: ", mute=False)

    def do_mute(self) -> None:
        self._ask_reason("mute, because: ", mute=True)

    def _ask_reason(self, label: str, mute: bool) -> None:
        desk = self.ui_state
        run, view = desk.run, desk.view()
        if run is None or view is None or not view.open_findings:
            desk.toast = "no finding is open"
            return
        finding = view.open_findings[0].finding  # what is acknowledged stands behind what is not
        path = run.path
        if desk.acknowledgements.find(path, finding.rule, finding.since.step) is not None:
            for opened in view.open_findings:
                desk.acknowledgements.revoke(path, opened.finding.rule)
            desk.invalidate()
            desk.toast = "everything acknowledged or muted here is told again"
            return

        def keep(reason: str) -> None:
            if mute:
                desk.acknowledgements.mute(path, finding.rule, reason)
            else:
                desk.acknowledgements.acknowledge(path, finding.rule, finding.since.step, reason)
            desk.invalidate()
            word = "muted" if mute else "acknowledged"
            desk.toast = desk.acknowledgements.problem or f"{finding.title}: {word}"

        desk.line_input = LineInput(label, keep)

    # --- the mouse -------------------------------------------------------------------------------

    def click(self, what: str, arg: str, share: float) -> None:
        """A click on a run, a value or the timeline (at a share of its width)."""
        desk = self.ui_state
        if what == "run":
            desk.chosen_by_user = True
            if desk.chosen_run_id == arg:
                desk.focus = "values"
            desk.choose_run(arg)
        elif what == "concept":
            if desk.concept == arg and desk.focus == "values":
                self.do_zoom()
            desk.focus, desk.concept = "values", arg
        elif what == "time" and desk.run is not None and len(desk.run.timeline):
            rows = len(desk.run.timeline)
            row = min(rows - 1, int(share * rows))
            desk.cursor.go_to(desk.run.timeline, row if row < rows - 1 else None)
