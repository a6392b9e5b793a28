"""What rules depend on: drawn courses that differ in one condition, and what is said of each."""

from __future__ import annotations

import pytest

from ppo_top.model import Profile, Severity
from tests.rules import (
    specifications_buffer,
    specifications_conditions,
    specifications_course,
    specifications_diagnoses,
    specifications_llm,
    specifications_log,
    specifications_losses,
    specifications_outcome,
    specifications_replay,
    specifications_signal,
    specifications_step,
    specifications_text,
    specifications_value,
)
from tests.rules.specifications import Contrast
from tests.support.drawn_runs import HEALTHY_COLUMNS, SB3_TAGS, TRAINER_BY_FAMILY

PAIRS = (
    *specifications_step.PAIRS,
    *specifications_value.PAIRS,
    *specifications_llm.PAIRS,
    *specifications_replay.PAIRS,
    *specifications_text.PAIRS,
    *specifications_course.PAIRS,
    *specifications_conditions.PAIRS,
    *specifications_log.PAIRS,
    *specifications_losses.PAIRS,
    *specifications_diagnoses.PAIRS,
    *specifications_signal.PAIRS,
    *specifications_buffer.PAIRS,
    *specifications_outcome.PAIRS,
)


def reached(pair: Contrast, *, differs: bool) -> Severity | int:
    """The worst severity of the pair's rule in one of its courses; 0: it does not speak."""
    columns = {**HEALTHY_COLUMNS[pair.family], **pair.course, **(pair.differs if differs else {})}
    config = {**pair.config, **(pair.differs_config if differs else {})}
    trainer = (differs and pair.otherwise_trainer) or pair.trainer or TRAINER_BY_FAMILY[pair.family]
    count = (pair.otherwise_count if differs else None) or pair.count
    goal = (differs and pair.otherwise_goal) or pair.goal
    log = (pair.otherwise_log if differs else None) or pair.log
    about = Profile(trainer, pair.family, config, goal=goal, tags=SB3_TAGS)
    return log.severity(pair.rule, about, columns, count)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.rule}: {pair.says}")
def test_a_rule_depends_on_this(pair: Contrast) -> None:
    """The course is judged as written, and otherwise where just that differs."""
    assert reached(pair, differs=False) == pair.level
    assert reached(pair, differs=True) == pair.otherwise


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.rule}: {pair.says}")
def test_a_pair_shows_a_difference(pair: Contrast) -> None:
    """A pair of which both are judged alike would show nothing."""
    assert pair.level != pair.otherwise
