"""Evaluates a run's rows into a timeline and findings.

Sealed rows are judged once. Rows that may still grow (the newest ones) are judged by a copy of the
judge; where they turn out to be complete as they were, the copy goes on from there, otherwise it is
thrown away and they are judged again. So the findings depend only on what the logs hold, not on how
the bytes were split or in which order they arrived: live, replay and check agree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from ppo_top.catalogue import DEFAULT_TOTAL_OPTIONS, setting_name, with_algorithm
from ppo_top.model import ConfigValue, Finding, Profile, as_number
from ppo_top.rules.coverage import SkippedRule
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.judge import Judge
from ppo_top.runs.evaluation import Evaluation
from ppo_top.runs.reward_curve import RewardCurve, extended_curve
from ppo_top.runs.rows.concept_stream import ConceptStream
from ppo_top.runs.rows.row_judging import (
    BLOCK_ROWS,
    HASTY_BLOCK_ROWS,
    Position,
    RowJudging,
)
from ppo_top.runs.rows.row_merge import RowMerger
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.runs.source_selection import SourceSelection, select_sources
from ppo_top.runs.sources.console_notes import gather_notes
from ppo_top.runs.sources.machine_streams import MachineStream, machine_streams
from ppo_top.runs.sources.run_ends import deaths
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings

MAX_UNSEALED_ROWS = 64
"""Rows that may wait for a lagging source before they are sealed without it."""

LOGGED_SETTINGS = {"lr": "learning_rate", "clip_range": "clip_range"}
"""Metric of a setting that trainers log -> its option; the first value is the initial setting.

A 0 is none: a schedule warms up from it, or it was rounded.
"""

_clock: Callable[[], float] = time.perf_counter


class OngoingEvaluation(Evaluation):
    """One pass over the rows of some sources, from the first to the newest.

    A run's streams, trainer and configuration are fixed at the start. If they change, or a point
    turns up before a sealed row, `refresh` returns False: a new evaluation has to start over.
    """

    def __init__(self, sources: Collection[SourceState], settings: Settings) -> None:
        selection = select_sources(sources, settings.tags)
        config = _gather_config(sources, selection)
        trainer = with_algorithm(selection.trainer, config.get("algorithm"))
        selection = selection._replace(trainer=trainer)
        profile = _make_profile(selection, config, settings)
        timeline = Timeline(profile.axis, profile.row_kind)
        super().__init__(selection.trainer, config, profile, timeline)
        self._sources = sources
        self._selection = selection
        self._deaths = deaths(sources)
        self.judge = Judge(profile, settings.rules)
        self._findings = self.judge.findings
        merger = RowMerger(selection.streams, selection.clock_series)
        merger.refresh()
        own = {stream.concept for stream in selection.streams}
        machine = [each for each in machine_streams(sources) if each.concept not in own]
        self._sealed = Position(merger, self.judge, machine)
        """Where the rows end that cannot change any more."""
        self._ahead: Position | None = None
        """Behind the unsealed rows of the timeline; None if they have to be judged again."""
        self.sealed_rows = 0
        self._curve = RewardCurve()
        self.is_over = False
        """Whether the run is known to have ended."""
        notes = gather_notes(sources, selection.clock_series)
        self._rows = RowJudging(self.timeline, notes, selection.has_times)
        self._add_tracks()

    def _add_tracks(self) -> None:
        """An empty track for each stream."""
        timeline, sealed = self.timeline, self._sealed
        for stream in self._selection.streams:
            timeline.tracks[stream.concept] = Track(
                stream.concept,
                stream.tag,
                stream.source,
                () if stream in sealed.merger.episode_streams else stream.parts,
                timeline,
                stream.scale,
                stream.offset,
            )
        for each in sealed.machine:
            track = Track(each.concept, each.tag, each.source, (), timeline)
            timeline.tracks[each.concept] = track

    # --- what was found ----------------------------------------------------------------------

    @property
    def findings(self) -> list[Finding]:
        return self._findings

    def reward_curve(self) -> RewardCurve:
        """The points of sealed rows are read once."""
        timeline, metrics = self.timeline, REWARD_CONCEPTS
        self._curve = extended_curve(self._curve, timeline, self.sealed_rows, metrics)
        return extended_curve(self._curve, timeline, len(timeline), metrics)

    def skipped_rules(self) -> list[SkippedRule]:
        return self.judge.skipped_rules()

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        return self._selection.concepts.get((source.key, tag))

    def newest_of_machine(self) -> dict[str, float]:
        newest = ((stream.concept, stream.newest()) for stream in self._sealed.machine)
        return {concept: value for concept, value in newest if value is not None}

    # --- judging -----------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Look for new points; False if they need a new evaluation."""
        is_current = self._selection.is_current() and self._deaths == deaths(self._sources)
        return is_current and (self._seal_ahead() or self._sealed.merger.refresh())

    def advance(self, deadline: float) -> bool:
        """Judge new rows until the deadline (`time.perf_counter`); True if all are judged."""
        self._drop_unsealed()
        is_done = False
        while self._seal_rows(deadline):
            is_done = self._judge_unsealed()
            if is_done:
                break
            self._drop_unsealed()
            merger = self._sealed.merger
            if (key := merger.next_key()) is not None:
                merger.lagging.update(merger.waiting_for(key))
        if not is_done:
            self.judge = self._sealed.judge
        self._findings = self.judge.findings
        return is_done

    def _seal_rows(self, deadline: float) -> bool:
        """Judge complete rows until the deadline; False if more of them are left."""
        merger = self._sealed.merger
        max_rows = HASTY_BLOCK_ROWS if deadline < math.inf else BLOCK_ROWS
        while (key := merger.next_key()) is not None:
            is_block = self._rows.append_block(self._sealed, key, max_rows)
            if not is_block:
                if merger.waiting_for(key):
                    break
                self._rows.append(self._sealed, key)
            self.sealed_rows = len(self.timeline)
            if not is_block and self.sealed_rows % 8:
                continue
            if _clock() > deadline:
                return False
        return True

    def _seal_ahead(self) -> bool:
        """Seal the unsealed rows as they were judged; False if one of them may be another now."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or not self._is_complete(ahead):
            return False
        self._sealed, self.sealed_rows = ahead, len(self.timeline)
        return True

    def _is_complete(self, ahead: Position) -> bool:
        """Whether every source has passed the newest row, and nothing belongs to rows before."""
        if not (ahead.merger.refresh() and ahead.merger.has_sealed()):
            return False
        newest = self.timeline.times[-1]
        return not any(each.pop_until(newest) is not None for each in ahead.machine)

    def drop_history(self, keep: int) -> set[int]:
        """Keep the findings, the newest `keep` sealed rows, and what judging on needs.

        Gives the `id` of each series whose newer points are still to be read.
        """
        self.reward_curve()
        self._ahead = None
        self.timeline.drop_before(self.sealed_rows - keep)
        self._sealed.merger.drop_read()
        for stream in self._sealed.machine:
            stream.drop_read()
        self.judge = self._sealed.judge
        streams: Iterator[ConceptStream | MachineStream]
        streams = chain(self._selection.streams, self._sealed.machine)
        return {id(part) for stream in streams for part in stream.parts}

    def _judge_unsealed(self) -> bool:
        """Judge the rows that may still grow by a copy of the judge; False if too many wait."""
        sealed, rows = self._sealed, self._rows
        is_whole = sealed.merger.next_key() is None and rows.has_passed_notes(sealed)
        if is_whole and not self.is_over:
            self.judge = sealed.judge
            return True
        ahead = sealed.copy()
        while (key := ahead.merger.next_key()) is not None:
            if len(self.timeline) - self.sealed_rows >= MAX_UNSEALED_ROWS:
                return False
            rows.append(ahead, key)
        if not self.is_over and rows.has_passed_notes(ahead):
            self._ahead = ahead
        rows.pass_notes(ahead, None)
        if self.is_over:
            ahead.judge.end_run()
        self.judge = ahead.judge
        return True

    def _drop_unsealed(self) -> None:
        """Remove the unsealed rows from the timeline."""
        self._ahead = None
        if len(self.timeline) > self.sealed_rows:
            self.timeline.truncate(self.sealed_rows)


def _gather_config(
    sources: Iterable[SourceState], selection: SourceSelection
) -> dict[str, ConfigValue]:
    """Settings under canonical names; the better ranked source wins, of two event files the newer.

    Of two consoles that of the longer training does: it may be resumed to train longer. A length
    of -1 means that another file has it (rl-baselines3-zoo's `args.yml`).
    """
    config: dict[str, ConfigValue] = {}
    newest_first = sorted(sources, key=_settings_order)
    for source in newest_first:
        for key, value in source.config.items():
            setting = setting_name(key, selection.trainer)
            if not (setting in DEFAULT_TOTAL_OPTIONS and value == -1):
                config.setdefault(setting, value)
    iterations = config.get("total_iterations")
    if iterations is None and "max_steps" not in config:  # which may end it within an epoch
        iterations = config.get("num_train_epochs")
    if selection.steps_an_iteration and isinstance(iterations, (int, float)):
        config.setdefault("total_timesteps", iterations * selection.steps_an_iteration)
    for stream in selection.streams:
        name = LOGGED_SETTINGS.get(stream.concept)
        first = next((part.values[0] for part in stream.parts if part.values), None)
        if name is not None and name not in config and first and first == first:
            config[name] = stream.offset + stream.scale * first
    return config


def _settings_order(source: SourceState) -> tuple[int, int, float, str]:
    """Sort key: the source whose settings count before those of others comes first."""
    stated = (as_number(source.config.get(name)) for name in DEFAULT_TOTAL_OPTIONS)
    total = max((each for each in stated if each is not None and each > 0.0), default=0.0)
    return -source.rank, -source.creation_order[0], -total, source.key


def _make_profile(
    selection: SourceSelection, config: dict[str, ConfigValue], settings: Settings
) -> Profile:
    """What the rules know of the run besides its metrics."""
    return Profile(
        trainer_id=selection.trainer.id,
        family=selection.trainer.family,
        algo=selection.trainer.algo,
        axis=selection.axis,
        row_kind=selection.row_kind,
        environments=selection.parallel_environments,
        config=config,
        threshold_overrides=settings.thresholds,
        muted=settings.muted,
        goal=settings.goal,
        samples={stream.concept: stream.sample for stream in selection.streams},
        tags={stream.concept: stream.tag for stream in selection.streams},
        first_step=selection.first_step,
    )
