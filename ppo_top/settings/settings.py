"""The settings of a session."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.settings.custom_rule import CustomRule
from ppo_top.settings.hook import Hook
from ppo_top.settings.run_patterns import NO_PATTERNS, RunPatterns

CURRICULUM_RULES = (
    "reward-crash",
    "value-loss-spike",
    "reward-wrong-way",
    "explained-variance-dropped",
)
"""Rules about what is normal when tasks get harder during training: one level less severe then."""


class Settings(NamedTuple):
    """The settings of a session; `problems` has a line for each thing that was not understood."""

    thresholds: Mapping[str, Mapping[str, float]] = {}
    """rule -> name -> value"""
    muted: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = {}
    """rule -> why it is muted"""
    rules: tuple[CustomRule, ...] = ()
    tags: Mapping[str, str] = {}
    """tag -> metric, with what is done to the number: `entropy neg`"""
    console: tuple[str, ...] = ()
    """regular expressions for console lines: named groups are metrics, `step` is the step"""
    runs: RunPatterns = NO_PATTERNS
    """which logs are one run, where the user knows better"""
    goal: float | None = None
    notebooks: bool = False
    """read the notebooks in directories, too"""
    hooks: tuple[Hook, ...] = ()
    """commands that events start while runs are followed"""
    bell: bool = True
    desktop: bool = False
    """notify through the terminal (OSC 9)"""
    tmux: bool = False
    machine: bool = False
    """measure the machine that the selected training runs on"""
    theme: str | None = None
    ascii: bool | None = None
    problems: tuple[str, ...] = ()

    def with_curriculum(self) -> Settings:
        """The same for runs whose task changes during training, which is not the policy's fault."""
        own = self.thresholds
        softer = {rule: {"milder": 1.0, **own.get(rule, {})} for rule in CURRICULUM_RULES}
        return self._replace(thresholds={**own, **softer})

    @property
    def judging_text(self) -> str:
        """All that findings depend on, as a text: equal for equal settings."""
        parts = (self.thresholds, self.reasons, self.tags)
        ordered = [sorted((key, str(value)) for key, value in part.items()) for part in parts]
        rest = (self.rules, self.console, self.goal, self.notebooks, self.runs)
        return repr((*ordered, sorted(self.muted), *rest))

    @property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The compiled expressions for console lines."""
        return tuple(re.compile(expression) for expression in self.console)
