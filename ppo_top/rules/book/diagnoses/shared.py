"""What diagnoses have in common: how long they last, the values they state, a remedy."""

from __future__ import annotations

import math

from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import k_of_n
from ppo_top.rules.engine.wording import format_value

DIAGNOSIS_PERSISTENCE = k_of_n(2, 3)

BEST_CHECKPOINT_REMEDY = "go back to the best checkpoint"


def last_value(run: JudgedRun, concept: str) -> float:
    """The newest value of a metric; NaN if none is logged."""
    history = run.histories.get(concept)
    return history.last if history is not None else math.nan


def last_value_text(run: JudgedRun, concept: str) -> str:
    """The same as a message states it."""
    value = last_value(run, concept)
    return "?" if math.isnan(value) else format_value(concept, value)
