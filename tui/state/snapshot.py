"""What drawing depends on, as plain values, so that drawing is a pure function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ppo_top.model import Finding, State, Status, Verdict
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.support.acknowledgements import AckNote
from ppo_top.tui.graphics.styled_text import StyledLine, display_text
from ppo_top.tui.graphics.symbols import UNICODE_SYMBOLS, Symbols
from ppo_top.tui.state.chart_options import RowWindow
from ppo_top.tui.state.metric_choice import MetricChoice
from ppo_top.views.downsample import MinMaxPyramid
from ppo_top.views.restart import Restart
from ppo_top.views.run_view import RunView
from ppo_top.views.siblings import BelowSiblings


class RunListEntry(NamedTuple):
    """A line of the run list: a run, or a folded group of seeds (`seeds` above 1).

    `alike`: how many of a group's seeds have its mark. `compared`: chosen for comparing. `changed`:
    its verdict, state or worst finding is not what it was when the user last looked.
    `finding` (the worst open one), `since`, `reward` and `step` are shown in a wide list.
    """

    id: str
    name: str
    verdict: Verdict
    mark: Status
    state: State
    seeds: int = 1
    alike: int = 1
    folded: bool = False
    member: bool = False
    is_copy: bool = False
    changed: bool = False
    compared: bool = False
    finding: str = ""
    since: str = ""
    reward: str = ""
    step: str = ""


class RunCounts(NamedTuple):
    """The number of runs by state and verdict, hidden ones included.

    `unreadable` counts logs and folders of which nobody knows what runs they hold.
    """

    live: int = 0
    finished: int = 0
    total: int = 0
    shown: int = 0
    stalled: int = 0
    starting: int = 0
    died: int = 0
    ended: int = 0
    verdicts: Mapping[Verdict, int] = {}
    unreadable: int = 0


class OverlaidRun(NamedTuple):
    """A run chosen for comparing, whose curves are drawn with those of the run shown.

    `row` is the last row drawn, `version` what it depends on; `note` says why it is not drawn.
    """

    id: str
    name: str
    style: str
    timeline: Timeline
    row: int
    version: int
    note: str = ""


class PlaybackState(NamedTuple):
    """The position and speed of the cursor."""

    row: int
    rows: int
    playing: bool
    speed: float
    replay: bool
    one_by_one: bool = False


SECTIONS = {
    "runs": "Run list",
    "finding": "Verdict",
    "values": "Crucial values",
    "panels": "Charts",
}
"""Sections of the main page that can be hidden, as they are called."""


class LoadingProgress(NamedTuple):
    """Bytes read so far, and how many runs are judged."""

    read_bytes: int
    total_bytes: int
    judged_runs: int = 0
    total_runs: int = 0

    def with_verdicts(self, runs: Iterable[Run]) -> LoadingProgress:
        """The same, with the verdicts so far on these runs."""
        judged = [run.judged and not run.has_more_to_read for run in runs]
        return self._replace(judged_runs=sum(judged), total_runs=len(judged))


class InputPrompt(NamedTuple):
    """A line that is being typed: prompt, text and hint."""

    label: str
    text: str
    hint: str = ""


class ClickRegion(NamedTuple):
    """A clickable region and its meaning."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    target: str = ""

    def shifted(self, dx: int, dy: int) -> ClickRegion:
        """The region, moved."""
        return self._replace(x=self.x + dx, y=self.y + dy)


@dataclass(slots=True)
class ScreenBlock:
    """Some lines of the screen and their clickable regions."""

    lines: list[StyledLine] = field(default_factory=list)
    click_regions: list[ClickRegion] = field(default_factory=list)
    scroll: int | None = None
    """The first line shown of a text overlay, or the page of charts, within its ends."""

    def append_block(self, other: ScreenBlock, x: int = 0) -> None:
        """Append another block below."""
        self.click_regions.extend(hit.shifted(x, len(self.lines)) for hit in other.click_regions)
        self.lines.extend(other.lines)
        self.scroll = other.scroll if self.scroll is None else self.scroll


class DrawingCache:
    """Min/max summaries of recently drawn tracks, and the curves of the last view."""

    MAX_TRACKS = 400

    def __init__(self) -> None:
        self._pyramids: dict[int, tuple[Track, MinMaxPyramid]] = {}
        self._lines: dict[Hashable, list[StyledLine]] = {}
        self._view: RunView | None = None

    def cached_lines(
        self, view: RunView, key: Hashable, draw: Callable[[], list[StyledLine]]
    ) -> list[StyledLine]:
        """A curve of a view, drawn once: most keys change none of them."""
        if view is not self._view:
            self._lines.clear()
            self._view = view
        lines = self._lines.get(key)
        if lines is None:
            lines = self._lines[key] = draw()
        return lines

    def pyramid_for(self, track: Track) -> MinMaxPyramid:
        """The min/max summary of a track, made once."""
        kept = self._pyramids.get(id(track))
        if kept is None or kept[0] is not track:
            if len(self._pyramids) >= self.MAX_TRACKS:
                self._pyramids.clear()
            kept = self._pyramids[id(track)] = (track, MinMaxPyramid(track.values))
        return kept[1]


@dataclass(slots=True)
class Snapshot:
    """The state to draw."""

    watched_paths: str = "."
    view: RunView | None = None
    findings: Sequence[Finding] = ()
    """All findings, for the timeline."""
    below_siblings: BelowSiblings | None = None
    """How far the selected run is below all others of its experiment."""
    restart: Restart | None = None
    """From where to resume, if advice is to go back and there are checkpoints."""
    entries: Sequence[RunListEntry] = ()
    chosen_run_id: str = ""
    counts: RunCounts = field(default_factory=RunCounts)
    last_change_text: str = ""
    playback_state: PlaybackState | None = None
    position: int = 0
    """Which of the listed runs is shown, from 1."""
    overlay: str = ""
    focus: str = "values"
    concept: str = ""
    scroll: int = 0
    window: RowWindow | None = None
    """The rows that curves show; None: all."""
    overlaid: Sequence[OverlaidRun] = ()
    """The runs whose curves are drawn in every chart, too."""
    hidden_sections: frozenset[str] = frozenset()
    prompt: InputPrompt | None = None
    filter: str = ""
    run_order: str = "severity"
    metrics: MetricChoice = field(default_factory=MetricChoice)
    loading: LoadingProgress | None = None
    toast: str = ""
    news: str = ""
    """What happened while the user was away."""
    alerts: Sequence[str] = ()
    """What became critical elsewhere, the newest last."""
    waiting_text: str = ""
    why_nothing: Sequence[str] = ()
    lost_hosts: Sequence[tuple[str, float]] = ()
    reading_error: str = ""
    acknowledged: Mapping[str, AckNote] = field(default_factory=dict)
    symbols: Symbols = UNICODE_SYMBOLS
    drawing_cache: DrawingCache = field(default_factory=DrawingCache)

    @property
    def is_growing(self) -> bool:
        """Whether rows are added: the run is live at its newest row, or its past is played."""
        if self.playback_state is not None:
            return self.playback_state.playing
        return self.view is not None and self.view.state in (State.STARTING, State.LIVE)

    def display_text(self, text: str) -> str:
        """Text of a rule or a log in the characters of the screen, at its final width."""
        return self.symbols.translate(display_text(text))
