"""Where in a run the lines of its consoles belong that are evidence of something."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from operator import itemgetter

from ppo_top.model import Series, State
from ppo_top.rules.console_text import (
    DEATH,
    LAST_WORDS,
    MAX_EVIDENCE_CHARS,
    TextEvidence,
    message_in,
)
from ppo_top.runs.sources.run_ends import deaths
from ppo_top.runs.sources.source import SourceState

END_OF_RUN_STEP = 1 << 62
"""The step of console evidence without a step in a run without points."""

ConsoleNote = tuple[int, TextEvidence, str]
"""(step or row count of a console line, what it is evidence of, its text)."""

GatheredNotes = tuple[list[ConsoleNote], list[ConsoleNote]]
"""By the run's own steps, and by the number of rows before the line."""


def gather_notes(sources: Collection[SourceState], clock: Sequence[Series]) -> GatheredNotes:
    """Console evidence by step and by row count; without any steps it belongs to the end.

    Last of all comes how a process died, which tells of it where its console has no evidence. What
    ended one job of several in a console is not the end of one that says it has finished.
    """
    by_step: list[ConsoleNote] = []
    by_rank: list[ConsoleNote] = []
    died = deaths(sources)
    for source in sorted(sources, key=lambda each: each.key):
        steps = _foreign_steps(source, clock)
        finished = source.ended is not None and source.ended.state is State.FINISHED
        for line, found in source.evidence:
            if finished and found.kind in LAST_WORDS:
                continue
            text = message_in(line.text)
            if line.step is None:
                at_end = not source.points or (source in died and found.kind in LAST_WORDS)
                by_step.append((END_OF_RUN_STEP if at_end else -1, found, text))
            elif steps is None:
                by_step.append((line.step, found, text))
            else:
                by_rank.append((bisect_right(steps, line.step), found, text))
    texts = [each.ended.text[:MAX_EVIDENCE_CHARS] for each in died if each.ended is not None]
    last_words = [(END_OF_RUN_STEP, TextEvidence(DEATH, text), text) for text in texts]
    return [*sorted(by_step, key=itemgetter(0)), *last_words], sorted(by_rank, key=itemgetter(0))


def _foreign_steps(source: SourceState, clock: Sequence[Series]) -> Sequence[int] | None:
    """The steps of a source that may count something else than the run does, else None."""
    own = source.series.values()
    if not clock or not own or any(series is each for series in own for each in clock):
        return None
    return max(own, key=len).steps
