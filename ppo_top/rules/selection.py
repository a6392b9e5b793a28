"""Which rules judge a run: those of the book that concern it, and those of the settings."""

from __future__ import annotations

from collections.abc import Iterable

from ppo_top.model import Profile
from ppo_top.rules import book
from ppo_top.rules.custom import build_custom_rule
from ppo_top.rules.engine.selected_rules import SelectedRules, select
from ppo_top.settings.custom_rule import CustomRule

_SELECTED: dict[object, SelectedRules] = {}
"""The rules for the kinds of runs seen so far; the limits are the same for thousands of runs."""

MAX_KINDS_OF_RUNS = 64
"""For how many kinds of runs that is remembered."""


def select_rules(profile: Profile, custom_rules: Iterable[CustomRule]) -> SelectedRules:
    """The rules for a run; those of the settings depend on what its metrics are called."""
    custom = [build_custom_rule(entry, profile) for entry in custom_rules]
    if custom:
        return select(profile, (*book.RULES, *custom))
    overrides = profile.threshold_overrides.items()
    limits = tuple(sorted((rule, *sorted(own.items())) for rule, own in overrides))
    kind = (profile.family, profile.trainer_id, profile.algo, profile.muted, limits)
    found = _SELECTED.get(kind)
    if found is None or found.all_rules is not book.RULES:
        if len(_SELECTED) >= MAX_KINDS_OF_RUNS:
            _SELECTED.clear()
        found = _SELECTED[kind] = select(profile, book.RULES)
    return found
