"""What a metric, a rule or an option means, offline: healthy range, why it matters, what to try."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from ppo_top.catalogue import (
    METRIC_GROUPS,
    UNKNOWN_TRAINER,
    Concept,
    LoggedTag,
    Trainer,
    all_tags,
    concept,
    concept_stem,
    concepts,
    is_concept,
    known_trainers,
    logged_as,
    meanings_of,
    option_called,
    option_spellings,
    options,
)
from ppo_top.model import ConfigValue, Profile
from ppo_top.rules.advice import fill_advice
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.ranges import healthy_range
from ppo_top.rules.engine.rule import Rule
from ppo_top.text.format import clean, number
from ppo_top.text.page import Page

MAX_ADVICE = 8
"""So many pieces of advice are given on a value; each of its rules can tell of more."""

FAMILY_LABELS = {
    "ctrl": "control (SB3, CleanRL, ...)",
    "rlhf": "RLHF with a critic (TRL PPO)",
    "grpo": "GRPO and relatives (TRL, verl, ...)",
    "unknown": "any trainer",
}

GRADE_MEANINGS = {
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
    trainer: Trainer = UNKNOWN_TRAINER,
    config: Mapping[str, ConfigValue] | None = None,
) -> list[str]:
    """Lines of text about a tag, a concept, a rule or an option; without a name, an index.

    `trainer` and `config` are those of the run at hand: then ranges and advice are its own. Raises
    UnknownName.
    """
    page = Page(width)
    reader = Profile(trainer.id, trainer.family, config or {})
    if name is None:
        _index(page)
        return page.lines
    found = _meanings_of(name.strip(" :="), trainer)  # as it stands on a console: `KL:`
    if not found:
        raise UnknownName(_similar_names(name))
    for subject, words in found:
        page.add_blank_line()
        if words:
            page.add_paragraph(words)
            page.add_blank_line()
        if isinstance(subject, Rule):
            _rule(page, subject, reader, trainer)
        elif isinstance(subject, Concept):
            _concept(page, subject, reader, trainer)
        else:
            _option(page, subject)
    return page.lines


def explained_names() -> list[str]:
    """Everything that `explain` has a text for: concepts, rules and options (tags come on top)."""
    settings = {each.canonical for each in options()}
    return sorted({*concepts(), *(rule.id for rule in RULES), *settings})


# --- finding what is meant -------------------------------------------------------------------

NameMeanings = list[tuple[Concept | Rule | str, str]]
"""What a name stands for (a text is an option), each with words on the name itself."""


def _meanings_of(name: str, producer: Trainer) -> NameMeanings:
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
        return [(concept(each), _logged_by(name, by)) for each, by in meant.items()]
    setting = option_called(plain)
    return [(setting, "")] if setting else []


def _logged_by(tag: str, by: list[Trainer]) -> str:
    """Who logs a tag, for the line above the text on its concept."""
    if not by:
        return f"{tag}: by its name probably this"
    *others, last = [each.label for each in by]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{tag}, as {names} log{'s' * (len(by) == 1)} it"


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.lower())


def _similar_names(name: str) -> str:
    known = {_plain(each): each for each in explained_names()}
    known |= {_plain(each.label): each.name for each in concepts().values()}
    known |= {_plain(tag): tag for tag in all_tags()}
    near = difflib.get_close_matches(_plain(name), list(known), 3, 0.6)
    shown = list(dict.fromkeys(known[each] for each in near))
    hint = f"did you mean {', '.join(shown)}?" if shown else "`ppo-top explain` lists what there is"
    return f"nothing is known of {clean(name)!r}; {hint}"


# --- a concept -------------------------------------------------------------------------------


def _concept(page: Page, about: Concept, reader: Profile, producer: Trainer) -> None:
    page.add_paragraph(f"{about.label}  ({about.name})")
    page.add_blank_line()
    page.add_paragraph(about.meaning)
    if about.why:
        page.add_paragraph(about.why)
    page.add_heading("Healthy")
    page.add_table(_healthy(about.name, reader, producer))
    rules = [rule for rule in RULES if _is_about(rule, about.name)]
    advice = _advice(
        [rule for rule in rules if rule.concepts[:1] == (concept_stem(about.name),)], reader
    )
    if advice:
        page.add_heading("What to try")
    for title, tries in advice.items():
        page.add_paragraph(f"{title}:", indent="    ", first="  ")
        page.add_list(tries, numbered=True, indent="    ")
    if rules:
        page.add_heading("Rules that look at it (ppo-top explain RULE)")
        page.add_table((rule.id, rule.title) for rule in rules)
    page.add_heading("Logged as")
    page.add_table(_logged(about.name, producer))


def _is_about(rule: Rule, name: str) -> bool:
    wanted = {name, concept_stem(name)}
    return any(
        each in wanted or concept_stem(each) in wanted for each in (*rule.concepts, *rule.triggers)
    )


def _healthy(name: str, reader: Profile, producer: Trainer) -> Iterator[tuple[str, str]]:
    """(whose range it is, the range): of the run at hand, or of all trainers that log it."""
    if producer.id != UNKNOWN_TRAINER.id:
        yield producer.label, _range(name, reader)
        return
    said: dict[str, list[str]] = {}
    for each in known_trainers():
        if logged_as(name, each):
            words = _range(name, Profile(each.id, each.family))
            said.setdefault(words, []).append(each.label)
    if not said:
        yield FAMILY_LABELS["unknown"], "no range: it is shown as it is"
    for words, labels in said.items():
        yield _together(labels), words


def _together(labels: list[str]) -> str:
    return (
        ", ".join(labels)
        if len(labels) <= 3
        else f"{', '.join(labels[:2])} and {len(labels) - 2} more"
    )


def _range(name: str, profile: Profile) -> str:
    found = healthy_range(name, profile)
    if found is None:
        return "no range: it is shown as it is"
    return f"{found.text} ({found.origin})" if found.origin else found.text


def _advice(rules: list[Rule], reader: Profile) -> dict[str, list[str]]:
    """What is wrong -> what to try: too high and too low ask for opposite things.

    Each advice is given once, where it first helps.
    """
    run, said = RuleContext(reader), list[str]()
    advice: dict[str, list[str]] = {}
    for rule in rules:
        new = [words for words in fill_advice(rule.remedies, run) if not _is_said(words, said)]
        new = new[: MAX_ADVICE - len(said)]
        said += new
        if new:
            advice[rule.title] = new
    return advice


def _is_said(words: str, said: list[str]) -> bool:
    return any(each.startswith(words) for each in said)


def _logged(name: str, producer: Trainer) -> list[tuple[str, str]]:
    """(trainer, tag and what is to be known of it)."""
    asked = [producer] if producer.id != UNKNOWN_TRAINER.id else known_trainers()
    found = [each for one in asked for each in logged_as(name, one)]
    if not found:
        return [("-", "no trainer that is known here logs it")]
    labels = [each.trainer.label for each in found]
    first = {label: labels.index(label) for label in labels}
    return [
        (each.trainer.label if first[each.trainer.label] == at else '"', _noted(each))
        for at, each in enumerate(found)
    ]


def _noted(logged: LoggedTag) -> str:
    return f"{logged.tag}  {logged.note}".rstrip()


# --- a rule ----------------------------------------------------------------------------------


def _rule(page: Page, rule: Rule, reader: Profile, producer: Trainer) -> None:
    page.add_paragraph(f"{rule.title}  (rule {rule.id})")
    page.add_blank_line()
    page.add_paragraph(f"Speaks when {rule.description}.")
    page.add_heading("About")
    page.add_table(
        [
            ("values", ", ".join(concept(each).label for each in rule.concepts)),
            (
                "trainers",
                "; ".join(FAMILY_LABELS[each] for each in FAMILY_LABELS if each in rule.families),
            ),
        ]
    )
    if rule.limits:
        page.add_heading(f"Limits, to be changed in ppo-top.toml under [rules.{rule.id}]")
        page.add_table(_limits(rule, reader, producer))
    if rule.causes:
        page.add_heading("Why it happens")
        page.add_list(rule.causes)
    tries = fill_advice(rule.remedies, RuleContext(reader))
    if tries:
        page.add_heading("What to try")
        page.add_list(tries, numbered=True)
    page.add_heading("Where the limits come from")
    grade = rule.grade_by_family.get(reader.family, rule.grade)
    page.add_list(each for each in (rule.source, GRADE_MEANINGS[grade]) if each)


def _limits(rule: Rule, reader: Profile, producer: Trainer) -> Iterator[tuple[str, str]]:
    if producer.id != UNKNOWN_TRAINER.id:
        yield producer.label, _spelt(rule.limits_for(reader))
        return
    yield "usual", _spelt(rule.limits)
    for who, limits in rule.limit_overrides.items():
        yield FAMILY_LABELS.get(who, who), _spelt(limits)


def _spelt(limits: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in limits.items())


# --- an option -------------------------------------------------------------------------------


def _option(page: Page, canonical: str) -> None:
    page.add_paragraph(f"{canonical}  (an option)")
    page.add_heading("What trainers call it, and take by default")
    page.add_table(_called(canonical))


def _called(canonical: str) -> Iterator[tuple[str, str]]:
    for each in option_spellings(canonical):
        value = each.default
        shown = (
            "" if value is None else f" = {number(value) if isinstance(value, float) else value}"
        )
        yield each.trainer.label, f"{each.name}{shown}" + (f"  ({each.note})" if each.note else "")


# --- the index -------------------------------------------------------------------------------


def _index(page: Page) -> None:
    page.add_paragraph(
        "What there is to explain: ppo-top explain NAME, with a name from this list, or any tag."
    )
    for group in METRIC_GROUPS:
        page.add_heading(group)
        members = (each for each in concepts().values() if each.group == group)
        page.add_table((each.name, each.meaning) for each in members)
    page.add_heading("Rules")
    page.add_table((rule.id, rule.title) for rule in RULES)
