"""What the user is looking at: the chosen run and value, the cursor, the filter, the open layer.

It knows the session and nothing of Textual: every key is a method `do_<action>` here, and `frame`
gives what is to be drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ppo_top.model import Finding, State, Verdict
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.support.acknowledgements import Memory
from ppo_top.text.format import plural
from ppo_top.tui import Replay
from ppo_top.tui.graphics.symbols import UNICODE, Glyphs
from ppo_top.tui.state.chart_options import ChartView
from ppo_top.tui.state.cursor import Player
from ppo_top.tui.state.line_input import Typing
from ppo_top.tui.state.replay_time import best_story, row_at, time_at
from ppo_top.tui.state.run_list import Known, RunList, counts, newest_live
from ppo_top.tui.state.snapshot import Frame, Loading, Prompt, Pyramids, Transport
from ppo_top.tui.state.view_cache import Glance, trouble_of, verdict_of
from ppo_top.views.run_view import RunView

LOOKED = 4
"""So many runs are kept at hand: going back and forth between them reads nothing again."""

WAITING = (
    "Looking for logs in {place}\n"
    "TensorBoard, Stable-Baselines3, TRL, W&B, SwanLab, Trackio and console logs are found by "
    "themselves, also in a directory that does not exist yet.\n"
    "Nothing comes? Give the directory that the trainer writes to, or its output: "
    "python train.py 2>&1 | ppo-top -\n"
    "q quits, ? shows all keys."
)

HINT = "New here? ? lists all keys · ⏎ opens a chart · e explains a value · n jumps to a finding"


@dataclass(slots=True)
class Desk:
    """The state of the screen."""

    session: Session
    memory: Memory
    place: str = "."
    waiting: str = "Waiting for logs"
    replay: Replay | None = None
    glyphs: Glyphs = UNICODE
    clock: Callable[[], float] = time.time
    roster: RunList = field(default_factory=RunList)
    chosen: str = ""
    picked: bool = False
    concept: str = ""
    focus: str = "values"
    layer: str = ""
    scroll: int = 0
    hidden: frozenset[str] = frozenset()
    typing: Typing | None = None
    toast: str = ""
    watching: str = ""
    """What wakes the reader, in words."""
    loading: Loading | None = None
    size: tuple[int, int] = (80, 24)
    chart: ChartView = field(default_factory=ChartView)
    pyramids: Pyramids = field(default_factory=Pyramids)
    players: dict[str, Player] = field(default_factory=dict)
    looked: list[str] = field(default_factory=list)
    """The runs looked at last, the newest first: their points are kept."""
    beside: list[str] = field(default_factory=list)
    """The runs that are compared with the chosen one."""
    hurry: bool = False
    """A key is being answered: what is shown may be a moment old."""
    _glance: Glance = field(init=False)

    def __post_init__(self) -> None:
        self.roster.verdict_of = self.verdict_of
        self.roster.trouble_of = lambda run, row: trouble_of(self.memory, run, row)
        self.roster.row_of = self.row_of
        self._glance = Glance(self.memory)

    # --- what there is -------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        """The chosen run."""
        return self.session.runs.get(self.chosen)

    @property
    def player(self) -> Player:
        """The cursor of the chosen run; in a replay it begins at the start, playing."""
        player = self.players.get(self.chosen)
        if player is None:
            player = Player()
            if self.chosen:
                self.players[self.chosen] = player
        return player

    @property
    def at_hand(self) -> list[str]:
        """The runs of which all points are needed."""
        return [*self.looked, *(self.beside if self.layer == "compare" else ())]

    def known(self) -> list[Known]:
        """All runs as the list has them."""
        return self.roster.known(self.session, self.clock())

    def row_of(self, run: Run) -> int | None:
        """At which row a run is seen; None: its end. In a replay the clock of the cursor counts."""
        chosen = self.run
        if self.replay is None or chosen is None:
            return None
        row = self.player.row
        if run.id == chosen.id or row is None:
            return row
        return row_at(run, time_at(chosen, row))

    def verdict_of(self, run: Run, row: int | None = None) -> Verdict:
        """The verdict of a run, not counting what the user has acknowledged or muted."""
        return verdict_of(self.memory, run, row)

    def summary(self) -> str:
        """The terminal's title: how many of all runs are red."""
        every = self.known()
        bad = sum(1 for each in every if each.verdict is Verdict.CRIT)
        return f"ppo-top: {bad} of {plural(len(every), 'run')} red" if bad else "ppo-top"

    def view(self) -> RunView | None:
        """The chosen run at its cursor."""
        run = self.run
        if run is None:
            return None
        return self._glance.at(run, self.player.row, self.clock(), self.hurry)

    def look_anew(self) -> None:
        """What counts as trouble has changed: believe nothing that was seen."""
        self._glance.forget()
        self.roster.look_anew()

    def settle_choice(self) -> None:
        """Choose a run where none is chosen, or the chosen one is gone.

        A live one stays once all is read: runs that write in turn would take the screen in turn.
        """
        if self.chosen not in self.session.runs:
            self.picked = False
        if self.picked and self.chosen:
            return
        every = self.known()
        live = any(each.id == self.chosen and each.state is State.LIVE for each in every)
        if live and not self.session.reading:
            return
        first = newest_live(every)
        if first is not None:
            story = best_story(self.session, self.replay) if self.replay is not None else None
            self.choose(story or first.id)

    def choose(self, run_id: str) -> None:
        """Look at a run."""
        if run_id != self.chosen:
            self.chosen, self.scroll = run_id, 0
            self.looked = [run_id, *(each for each in self.looked if each != run_id)][:LOOKED]

    def begin_replay(self) -> None:
        """Set the cursor of the chosen run to where the replay is to begin, once."""
        run, replay = self.run, self.replay
        if run is None or replay is None or self.player.replay or not len(run.timeline):
            return
        from ppo_top.tui.state.cursor import find_place

        start = find_place(run.timeline, replay.start) if replay.start else 0
        player = self.player
        player.replay, player.speed, player.row = True, replay.speed, start or 0
        player.playing = not replay.paused

    # --- drawing -------------------------------------------------------------------------------

    def frame(self) -> Frame:
        """All that a picture depends on."""
        every = self.known()
        shown = self.roster.shown(every)
        view = self.view()
        run = self.run
        self._settle_concept(view)
        return Frame(
            place=self.place,
            view=view,
            findings=tuple(run.findings) if run is not None else (),
            entries=self.roster.entries(every, self.chosen),
            chosen=self.chosen,
            counts=counts(every, len(shown)),
            updated=self._updated(run),
            transport=self._transport(run),
            focus=self.focus,
            concept=self.concept,
            scroll=self.scroll,
            hidden=self.hidden,
            prompt=self._prompt(every, shown),
            filter=self.roster.filter,
            loading=self.loading,
            toast=self.toast,
            waiting=self.waiting,
            acknowledged=self._notes(run),
            glyphs=self.glyphs,
            pyramids=self.pyramids,
        )

    def _settle_concept(self, view: RunView | None) -> None:
        if view is not None and self.concept not in self.concepts(view):
            self.concept = next(iter(self.concepts(view)), "")

    def concepts(self, view: RunView | None = None) -> list[str]:
        """The values that can be chosen, in the order in which they are drawn."""
        view = view or self.view()
        if view is None:
            return []
        listed = [row.concept for row in view.checklist if row.track is not None]
        drawn = [track.track.concept for panel in view.panels for track in panel.tracks]
        return list(dict.fromkeys(listed + drawn))

    def _updated(self, run: Run | None) -> str:
        newest = run.last_change if run is not None else 0.0
        if not newest:
            return ""
        age = self.clock() - newest
        return time.strftime("%H:%M:%S" if age < 86400 else "%d %b %H:%M", time.localtime(newest))

    def _transport(self, run: Run | None) -> Transport | None:
        if run is None or (self.player.row is None and not self.player.replay):
            return None
        player = self.player
        row = player.place(run.timeline)
        return Transport(row, len(run.timeline), player.playing, player.speed, player.replay)

    def _prompt(self, every: list[Known], shown: list[Known]) -> Prompt | None:
        if self.typing is None:
            return None
        hint = "Enter to apply · Esc to leave"
        if self.typing.label == "/":
            hint = f"[{len(shown)}/{len(every)}]  {hint}"
        return Prompt(self.typing.label, self.typing.text, hint)

    def _notes(self, run: Run | None) -> dict[str, str]:
        if run is None:
            return {}
        notes = {}
        for finding in run.findings:
            note = self.memory.note(run.path, finding.rule, finding.since.step)
            if note is not None:
                notes[finding.rule] = note.reason
        return notes

    # --- moving --------------------------------------------------------------------------------

    def step_run(self, by: int) -> None:
        """The run above or below in the list."""
        ids = [entry.id for entry in self.roster.entries(self.known(), self.chosen)]
        if not ids:
            return
        self.picked = True
        if self.chosen not in ids:  # the filter hides it
            self.choose(ids[0])
            return
        at = ids.index(self.chosen)
        self.choose(ids[min(len(ids) - 1, max(0, at + by))])

    def step_concept(self, by: int) -> None:
        """The value above or below."""
        names = self.concepts()
        if names:
            at = names.index(self.concept) if self.concept in names else 0
            self.concept = names[min(len(names) - 1, max(0, at + by))]

    def next_finding(self, direction: int) -> Finding | None:
        """Move the cursor to where the next finding (or the one before) fired."""
        run = self.run
        if run is None or not len(run.timeline):
            return None
        here = self.player.place(run.timeline)
        rows = sorted(
            ((finding.opened.row, finding) for finding in run.findings), key=lambda pair: pair[0]
        )
        if direction > 0:
            ahead = [finding for row, finding in rows if row > here]
        else:
            ahead = [finding for row, finding in reversed(rows) if row < here]
        if not ahead:
            return None
        self.player.playing = False
        self.player.to(run.timeline, ahead[0].opened.row)
        return ahead[0]
