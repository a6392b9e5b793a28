"""What each key does, as changes of the desk; `do_<action>` for every action of the key table."""

from __future__ import annotations

from ppo_top.text.format import count
from ppo_top.tui.state.cursor import find_place
from ppo_top.tui.state.line_input import Typing
from ppo_top.tui.state.ui_state import Desk

CHARTS = ("zoom", "compare")
PAGE = 10


class Actions:
    """The keys that change what is looked at; those of the program itself are the app's."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    # --- layers ----------------------------------------------------------------------------------

    def _layer(self, name: str) -> None:
        desk = self.desk
        desk.layer = "" if desk.layer == name else name
        desk.scroll = 0

    def do_help(self) -> None:
        self._layer("help")

    def do_findings(self) -> None:
        self._layer("findings")

    def do_explain(self) -> None:
        self._layer("explain")

    def do_log(self) -> None:
        self._layer("log")

    def do_config(self) -> None:
        self._layer("config")

    def do_compare(self) -> None:
        self._layer("compare")

    def do_zoom(self) -> None:
        """Into the chart; from the runs (where they fill the screen) to the chosen one."""
        desk = self.desk
        if self._in_list:
            desk.picked = True
            if not desk.roster.unfold(desk.session, desk.clock(), desk.chosen):
                desk.focus = "values"
            return
        if desk.layer in ("", "explain", "compare"):
            desk.layer, desk.chart.cursor = "zoom", None

    def do_out(self) -> None:
        """One layer out: the layer, then the cursor's past, then the filter."""
        desk = self.desk
        if desk.layer:
            desk.layer, desk.scroll = "", 0
        elif desk.focus == "runs":
            desk.focus = "values"
        elif desk.player.row is not None and not desk.player.replay:
            self.do_live()
        elif desk.roster.filter:
            desk.roster.filter = ""

    # --- moving ----------------------------------------------------------------------------------

    def _move(self, by: int) -> None:
        desk = self.desk
        if desk.layer and desk.layer not in CHARTS and desk.layer != "explain":
            desk.scroll = max(0, desk.scroll + by)
        elif desk.focus == "runs":
            desk.step_run(by)
        else:
            desk.step_concept(by)

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
        return self.desk.focus == "runs" and not self.desk.layer

    def _page(self, by: int) -> None:
        desk = self.desk
        if self._in_list:
            desk.step_run(by * PAGE)
        else:
            desk.scroll = max(0, desk.scroll + (by * PAGE if desk.layer else by))
            if not desk.layer:
                desk.scroll = min(desk.scroll, len(desk.concepts()) // 4)

    def do_next_pane(self) -> None:
        self.desk.focus = "values" if self.desk.focus == "runs" else "runs"

    def do_run_before(self) -> None:
        self.desk.step_run(-1)

    def do_run_after(self) -> None:
        self.desk.step_run(1)

    def do_fold(self) -> None:
        self.desk.roster.fold = not self.desk.roster.fold
        self.desk.toast = "groups of seeds " + ("folded" if self.desk.roster.fold else "unfolded")

    def _toggle(self, section: str) -> None:
        self.desk.hidden = self.desk.hidden ^ {section}

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
        desk = self.desk
        runs = desk.roster

        def hold(text: str) -> None:
            runs.filter = text

        def keep(text: str) -> None:
            hold(text)
            shown = [known.id for known in runs.shown(desk.known())]
            if shown and desk.chosen not in shown:
                desk.step_run(0)

        before = runs.filter
        desk.typing = Typing("/", keep, hold, before, lambda: hold(before))

    # --- time travel -----------------------------------------------------------------------------

    def _travel(self, rows: int) -> None:
        desk = self.desk
        if desk.run is not None and len(desk.run.timeline):
            desk.player.playing = False
            desk.player.move(desk.run.timeline, rows)

    def do_back(self, times: int = 1) -> None:
        self._travel(-times)

    def do_forward(self, times: int = 1) -> None:
        self._travel(times)

    def do_next_red(self) -> None:
        self._finding(1)

    def do_previous_red(self) -> None:
        self._finding(-1)

    def _finding(self, direction: int) -> None:
        desk = self.desk
        found = desk.next_finding(direction)
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
        if self.desk.run is not None:
            self.desk.player.toggle(self.desk.run.timeline)

    def do_faster(self) -> None:
        self._speed(1)

    def do_slower(self) -> None:
        self._speed(-1)

    def _speed(self, direction: int) -> None:
        self.desk.player.change_speed(direction)
        self.desk.toast = f"replay at {self.desk.player.speed:,.0f}x"

    def do_start(self) -> None:
        if self._in_list:
            self.desk.step_run(-len(self.desk.session.runs))
        elif self.desk.run is not None and len(self.desk.run.timeline):
            self.desk.player.to(self.desk.run.timeline, 0)

    def do_live(self) -> None:
        if self._in_list:
            self.desk.step_run(len(self.desk.session.runs))
        elif self.desk.run is not None:
            self.desk.player.to(self.desk.run.timeline, None)

    def do_jump(self) -> None:
        self.desk.typing = Typing("go to step or % ", self._jump)

    def _jump(self, text: str) -> None:
        run = self.desk.run
        if run is None or not text.strip():
            return
        row = find_place(run.timeline, text)
        if row is None:
            self.desk.toast = f"{text!r} is neither a step nor a percentage"
        else:
            self.desk.player.playing = False
            self.desk.player.to(run.timeline, row)

    # --- charts ----------------------------------------------------------------------------------

    def do_axis(self) -> None:
        self.desk.chart.next_axis()

    def do_logarithm(self) -> None:
        self.desk.chart.logarithm = not self.desk.chart.logarithm

    def do_smoother(self) -> None:
        self.desk.chart.smoother(1)

    def do_rougher(self) -> None:
        self.desk.chart.smoother(-1)

    def do_raw(self) -> None:
        self.desk.chart.smoothing = 0.0

    def do_stack(self) -> None:
        self.desk.chart.stacked = not self.desk.chart.stacked

    def do_left(self, times: int = 1) -> None:
        self._chart_cursor(-times)

    def do_right(self, times: int = 1) -> None:
        self._chart_cursor(times)

    def _chart_cursor(self, by: int) -> None:
        """Move the chart's cursor; outside a chart the arrows move the timeline's."""
        desk = self.desk
        run = desk.run
        if run is None:
            return
        if desk.layer not in CHARTS:
            self._travel(by)
            return
        last = desk.player.place(run.timeline)
        here = last if desk.chart.cursor is None else desk.chart.cursor
        desk.chart.cursor = max(0, min(last, here + by))

    # --- findings --------------------------------------------------------------------------------

    def do_acknowledge(self) -> None:
        self._note("acknowledge, because: ", mute=False)

    def do_mute(self) -> None:
        self._note("mute, because: ", mute=True)

    def _note(self, label: str, mute: bool) -> None:
        desk = self.desk
        run, view = desk.run, desk.view()
        if run is None or view is None or not view.open:
            desk.toast = "no finding is open"
            return
        finding = view.open[0].finding  # what is acknowledged stands behind what is not
        path = run.path
        if desk.memory.note(path, finding.rule, finding.since.step) is not None:
            for opened in view.open:
                desk.memory.forget(path, opened.finding.rule)
            desk.look_anew()
            desk.toast = "everything acknowledged or muted here is told again"
            return

        def keep(reason: str) -> None:
            if mute:
                desk.memory.mute(path, finding.rule, reason)
            else:
                desk.memory.acknowledge(path, finding.rule, finding.since.step, reason)
            desk.look_anew()
            word = "muted" if mute else "acknowledged"
            desk.toast = desk.memory.problem or f"{finding.title}: {word}"

        desk.typing = Typing(label, keep)

    # --- the mouse -------------------------------------------------------------------------------

    def click(self, what: str, arg: str, share: float) -> None:
        """A click on a run, a value or the timeline (at a share of its width)."""
        desk = self.desk
        if what == "run":
            desk.picked = True
            if desk.chosen == arg:
                desk.focus = "values"
            desk.choose(arg)
        elif what == "concept":
            if desk.concept == arg and desk.focus == "values":
                self.do_zoom()
            desk.focus, desk.concept = "values", arg
        elif what == "time" and desk.run is not None and len(desk.run.timeline):
            rows = len(desk.run.timeline)
            row = min(rows - 1, int(share * rows))
            desk.player.to(desk.run.timeline, row if row < rows - 1 else None)
