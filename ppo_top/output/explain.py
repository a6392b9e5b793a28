"""What a metric, a rule or an option means, offline: healthy range, why it matters, what to try."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from ppo_top.catalogue import (
    GROUPS,
    UNKNOWN,
    Concept,
    Logged,
    Producer,
    concept,
    concepts,
    is_concept,
    logged_as,
    meanings_of,
    option_called,
    options,
    producers,
    spellings,
    stem,
    tags,
)
from ppo_top.model import ConfigValue, Profile
from ppo_top.rules.advice import fill
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.ranges import band
from ppo_top.rules.engine.rule import Rule
from ppo_top.text.format import clean, number
from ppo_top.text.page import Page

MOST_TRIES = 8
"""So many pieces of advice are given on a value; each of its rules can tell of more."""

FAMILIES = {
    "ctrl": "control (SB3, CleanRL, ...)",
    "rlhf": "RLHF with a critic (TRL PPO)",
    "grpo": "GRPO and relatives (TRL, verl, ...)",
    "unknown": "any trainer",
}

GRADES = {
    "A": "stated by the trainers' own guides or code",
    "B": "reported by papers, maintainers or users",
    "C": "set and checked on labelled training runs",
    "D": "an estimate that no runs have confirmed yet",
}


class UnknownName(LookupError):
    """A name that nothing here is called by; the text says what comes nearest."""


def explain(
    name: str | None = None,
    width: int = 80,
    producer: Producer = UNKNOWN,
    config: Mapping[str, ConfigValue] | None = None,
) -> list[str]:
    """Lines of text about a tag, a concept, a rule or an option; without a name, an index.

    `producer` and `config` are those of the run at hand: then ranges and advice are its own. Raises
    UnknownName.
    """
    page = Page(width)
    reader = Profile(producer.id, producer.family, config or {})
    if name is None:
        _index(page)
        return page.lines
    found = _find(name.strip(" :="), producer)  # as it stands on a console: `KL:`
    if not found:
        raise UnknownName(_nearest(name))
    for subject, words in found:
        page.gap()
        if words:
            page.text(words)
            page.gap()
        if isinstance(subject, Rule):
            _rule(page, subject, reader, producer)
        elif isinstance(subject, Concept):
            _concept(page, subject, reader, producer)
        else:
            _option(page, subject)
    return page.lines


def names() -> list[str]:
    """Everything that `explain` has a text for: concepts, rules and options (tags come on top)."""
    settings = {each.canonical for each in options()}
    return sorted({*concepts(), *(rule.id for rule in RULES), *settings})


# --- finding what is meant -------------------------------------------------------------------

Found = list[tuple[Concept | Rule | str, str]]
"""What a name stands for (a text is an option), each with words on the name itself."""


def _find(name: str, producer: Producer) -> Found:
    """What a name stands for: a rule, a concept, a tag or an option, in this order."""
    plain = _plain(name)
    if is_concept(name):  # exactly: clip_high is a value, clip-high the rule on it
        return [(concept(name), "")]
    rules = [rule for rule in RULES if plain in (_plain(rule.id), _plain(rule.title))]
    if rules:
        return [(rules[0], "")]
    named = [each for each in concepts().values() if plain in (each.name, _plain(each.label))]
    if named:
        return [(named[0], "")]
    meant = meanings_of(name, producer)
    if meant:
        return [(concept(each), _whose(name, by)) for each, by in meant.items()]
    setting = option_called(plain)
    return [(setting, "")] if setting else []


def _whose(tag: str, by: list[Producer]) -> str:
    """Who logs a tag, for the line above the text on its concept."""
    if not by:
        return f"{tag}: by its name probably this"
    *others, last = [each.label for each in by]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{tag}, as {names} log{'s' * (len(by) == 1)} it"


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.lower())


def _nearest(name: str) -> str:
    known = {_plain(each): each for each in names()}
    known |= {_plain(each.label): each.name for each in concepts().values()}
    known |= {_plain(tag): tag for tag in tags()}
    near = difflib.get_close_matches(_plain(name), list(known), 3, 0.6)
    shown = list(dict.fromkeys(known[each] for each in near))
    hint = f"did you mean {', '.join(shown)}?" if shown else "`ppo-top explain` lists what there is"
    return f"nothing is known of {clean(name)!r}; {hint}"


# --- a concept -------------------------------------------------------------------------------


def _concept(page: Page, about: Concept, reader: Profile, producer: Producer) -> None:
    page.text(f"{about.label}  ({about.name})")
    page.gap()
    page.text(about.meaning)
    if about.why:
        page.text(about.why)
    page.heading("Healthy")
    page.table(_healthy(about.name, reader, producer))
    rules = [rule for rule in RULES if _is_about(rule, about.name)]
    advice = _advice([rule for rule in rules if rule.concepts[:1] == (stem(about.name),)], reader)
    if advice:
        page.heading("What to try")
    for title, tries in advice.items():
        page.text(f"{title}:", indent="    ", first="  ")
        page.points(tries, numbered=True, indent="    ")
    if rules:
        page.heading("Rules that look at it (ppo-top explain RULE)")
        page.table((rule.id, rule.title) for rule in rules)
    page.heading("Logged as")
    page.table(_logged(about.name, producer))


def _is_about(rule: Rule, name: str) -> bool:
    wanted = {name, stem(name)}
    return any(each in wanted or stem(each) in wanted for each in (*rule.concepts, *rule.on))


def _healthy(name: str, reader: Profile, producer: Producer) -> Iterator[tuple[str, str]]:
    """(whose range it is, the range): of the run at hand, or of all trainers that log it."""
    if producer.id != UNKNOWN.id:
        yield producer.label, _range(name, reader)
        return
    said: dict[str, list[str]] = {}
    for each in producers():
        if logged_as(name, each):
            words = _range(name, Profile(each.id, each.family))
            said.setdefault(words, []).append(each.label)
    if not said:
        yield FAMILIES["unknown"], "no range: it is shown as it is"
    for words, labels in said.items():
        yield _together(labels), words


def _together(labels: list[str]) -> str:
    return (
        ", ".join(labels)
        if len(labels) <= 3
        else f"{', '.join(labels[:2])} and {len(labels) - 2} more"
    )


def _range(name: str, profile: Profile) -> str:
    found = band(name, profile)
    if found is None:
        return "no range: it is shown as it is"
    return f"{found.words} ({found.origin})" if found.origin else found.words


def _advice(rules: list[Rule], reader: Profile) -> dict[str, list[str]]:
    """What is wrong -> what to try: too high and too low ask for opposite things.

    Each advice is given once, where it first helps.
    """
    run, said = Run(reader), list[str]()
    advice: dict[str, list[str]] = {}
    for rule in rules:
        new = [words for words in fill(rule.tries, run) if not _is_said(words, said)]
        new = new[: MOST_TRIES - len(said)]
        said += new
        if new:
            advice[rule.title] = new
    return advice


def _is_said(words: str, said: list[str]) -> bool:
    return any(each.startswith(words) for each in said)


def _logged(name: str, producer: Producer) -> list[tuple[str, str]]:
    """(trainer, tag and what is to be known of it)."""
    asked = [producer] if producer.id != UNKNOWN.id else producers()
    found = [each for one in asked for each in logged_as(name, one)]
    if not found:
        return [("-", "no trainer that is known here logs it")]
    labels = [each.producer.label for each in found]
    first = {label: labels.index(label) for label in labels}
    return [
        (each.producer.label if first[each.producer.label] == at else '"', _noted(each))
        for at, each in enumerate(found)
    ]


def _noted(logged: Logged) -> str:
    return f"{logged.tag}  {logged.note}".rstrip()


# --- a rule ----------------------------------------------------------------------------------


def _rule(page: Page, rule: Rule, reader: Profile, producer: Producer) -> None:
    page.text(f"{rule.title}  (rule {rule.id})")
    page.gap()
    page.text(f"Speaks when {rule.sees}.")
    page.heading("About")
    page.table(
        [
            ("values", ", ".join(concept(each).label for each in rule.concepts)),
            ("trainers", "; ".join(FAMILIES[each] for each in FAMILIES if each in rule.families)),
        ]
    )
    if rule.limits:
        page.heading(f"Limits, to be changed in ppo-top.toml under [rules.{rule.id}]")
        page.table(_limits(rule, reader, producer))
    if rule.causes:
        page.heading("Why it happens")
        page.points(rule.causes)
    tries = fill(rule.tries, Run(reader))
    if tries:
        page.heading("What to try")
        page.points(tries, numbered=True)
    page.heading("Where the limits come from")
    grade = rule.grades.get(reader.family, rule.grade)
    page.points(each for each in (rule.source, GRADES[grade]) if each)


def _limits(rule: Rule, reader: Profile, producer: Producer) -> Iterator[tuple[str, str]]:
    if producer.id != UNKNOWN.id:
        yield producer.label, _spelt(rule.resolved(reader))
        return
    yield "usual", _spelt(rule.limits)
    for who, limits in rule.by.items():
        yield FAMILIES.get(who, who), _spelt(limits)


def _spelt(limits: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in limits.items())


# --- an option -------------------------------------------------------------------------------


def _option(page: Page, canonical: str) -> None:
    page.text(f"{canonical}  (an option)")
    page.heading("What trainers call it, and take by default")
    page.table(_called(canonical))


def _called(canonical: str) -> Iterator[tuple[str, str]]:
    for each in spellings(canonical):
        value = each.default
        shown = (
            "" if value is None else f" = {number(value) if isinstance(value, float) else value}"
        )
        yield each.producer.label, f"{each.name}{shown}" + (f"  ({each.note})" if each.note else "")


# --- the index -------------------------------------------------------------------------------


def _index(page: Page) -> None:
    page.text(
        "What there is to explain: ppo-top explain NAME, with a name from this list, or any tag."
    )
    for group in GROUPS:
        page.heading(group)
        members = (each for each in concepts().values() if each.group == group)
        page.table((each.name, each.meaning) for each in members)
    page.heading("Rules")
    page.table((rule.id, rule.title) for rule in RULES)
