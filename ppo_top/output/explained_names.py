"""What a name stands for: a metric, a tag of a trainer, a rule, a term or an option."""

from __future__ import annotations

import difflib
import re

from ppo_top.catalogue import (
    Concept,
    Term,
    Trainer,
    all_tags,
    concept,
    concepts,
    is_concept,
    meanings_of,
    meanings_of_ending,
    option_called,
    options,
    term,
)
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.rule import Rule
from ppo_top.text.format import clean

NameMeanings = list[tuple[Concept | Rule | Term | str, str]]
"""What a name stands for (a plain string is an option), each with a note on the name."""


def find_meanings(name: str, trainer: Trainer) -> NameMeanings:
    """What a name stands for: a rule, a metric, a tag, a term, a guess or an option.

    The option that advice names comes first, for that is what one looks up; a name of ours is that
    of a metric before.
    """
    setting = option_called(_plain(name))
    option = [(setting, "")] if setting else []
    if is_concept(name):  # exactly: clip_high is a metric, clip-high the rule on it
        return [(concept(name), ""), *option]
    return [*option, *_other_meanings(name, trainer, guesses=not option)]


def _other_meanings(name: str, trainer: Trainer, *, guesses: bool) -> NameMeanings:
    """What a name stands for besides an option; `guesses`: also what it is only like."""
    plain = _plain(name)
    rules = [rule for rule in RULES if plain in (_plain(rule.id), _plain(rule.title))]
    if rules:
        return [(rules[0], "")]
    named = [each for each in concepts().values() if plain in (each.name, _plain(each.label))]
    if named:
        return [(named[0], "")]
    meant, word = meanings_of(name, trainer), term(name)
    if word is not None and not any(meant.values()):
        return [(word, "")]
    if not any(meant.values()):
        meant = meanings_of_ending(name) or meant
    fitting = {each: by for each, by in meant.items() if by or guesses}
    return [(concept(each), _logged_by(name, by)) for each, by in fitting.items()]


def _logged_by(tag: str, by: list[Trainer]) -> str:
    if not by:
        return f"{tag}: probably this, judging by its name"
    *others, last = [each.label for each in by]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{tag}, as {names} log{'s' * (len(by) == 1)} it"


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.lower())


def similar_names(name: str) -> str:
    """The message on an unknown name, with those that look like it."""
    known = {_plain(tag): tag for tag in all_tags()}
    known |= {_plain(each.label): each.name for each in concepts().values()}
    known |= {_plain(each): each for each in explained_names()}
    near = difflib.get_close_matches(_plain(name), list(known), 3, 0.6)
    shown = list(dict.fromkeys(known[each] for each in near))
    hint = f"did you mean {', '.join(shown)}?" if shown else "run `ppo-top explain` for the list"
    return f"unknown metric or rule {clean(name)!r}; {hint}"


def explained_names() -> list[str]:
    """The names of all metrics, rules and options; `explain` also knows every tag."""
    settings = {each.canonical for each in options()}
    return sorted({*concepts(), *(rule.id for rule in RULES), *settings})
