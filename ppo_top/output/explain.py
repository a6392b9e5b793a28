"""Texts on a metric, a rule or an option: meaning, healthy range, why it matters, what to try."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from ppo_top.catalogue import (
    METRIC_GROUPS,
    ON_POLICY,
    UNKNOWN_TRAINER,
    Concept,
    LoggedTag,
    Term,
    Trainer,
    concept,
    concept_stem,
    concepts,
    known_trainers,
    logged_as,
    option_spellings,
)
from ppo_top.catalogue.limits import limit_meanings
from ppo_top.model import ConfigValue, Mark, Profile, Row, Severity
from ppo_top.output.explained_names import find_meanings, similar_names
from ppo_top.rules.advice import LOGGED_OPTIONS, fill_advice
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.ranges import healthy_range
from ppo_top.rules.engine.rule import DEFAULT_CLEAR_AFTER, ENGINE_LIMITS, Rule
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.text.format import first_names, number, plural
from ppo_top.text.page import Page

MAX_TAGS = 10
"""Tags of a metric that are listed unasked: a reward has a hundred."""

MAX_LABELS = 3
"""Most trainers' names before a range that several have."""

MAX_ADVICE = 8
"""Pieces of advice listed for a metric; each of its rules may have more."""

FAMILY_LABELS = {
    "on-policy": "on-policy (PPO, A2C, TRPO)",
    "value-based": "value-based (DQN)",
    "off-policy": "off-policy (SAC, TD3, DDPG)",
    "rlhf": "LLM with a critic (TRL PPO)",
    "grpo": "LLM without a critic (GRPO, RLOO)",
    "preference": "preference training (DPO)",
    "unknown": "any trainer",
}

MAIN_ALGORITHM = "PPO"
"""Whose ranges are shown for trainers with several on-policy algorithms."""

NO_RANGE = "no healthy range"

GRADE_MEANINGS = {
    "A": "stated by the trainers' own guides or code",
    "B": "reported in papers, by maintainers or by users",
    "C": "set and checked on labelled training runs",
    "D": "an estimate, not yet confirmed on real runs",
}


class UnknownName(LookupError):
    """No metric, tag, rule or option has this name; the text suggests similar ones."""


def explain(
    name: str | None = None,
    width: int = 80,
    trainer: Trainer = UNKNOWN_TRAINER,
    config: Mapping[str, ConfigValue] | None = None,
    *,
    rows: Iterable[Row] = (),
    all_tags: bool = False,
) -> list[str]:
    """Lines of text about a metric, a tag, a rule or an option; without a name, an index.

    With the `trainer`, `config` and `rows` of a run, ranges and advice are specific to it. Of the
    tags of a metric the first are listed, or `all_tags`. Raises UnknownName.
    """
    page = Page(width)
    if name is None:
        _index(page)
        return page.lines
    asked = name.strip(" :=")  # as printed on a console: `KL:`
    found = find_meanings(asked, trainer)
    if not found:
        raise UnknownName(similar_names(name))
    run = _run_of(trainer, config or {}, rows)
    for subject, note in found:
        page.add_blank_line()
        if note:
            page.add_paragraph(note)
            page.add_blank_line()
        if isinstance(subject, Rule):
            _rule(page, subject, run, trainer)
        elif isinstance(subject, Concept):
            most_tags = None if all_tags else MAX_TAGS
            _concept(page, subject, run, trainer, asked if note else "", most_tags)
        elif isinstance(subject, Term):
            _term(page, subject)
        else:
            _option(page, subject)
    return page.lines


def _run_of(trainer: Trainer, config: Mapping[str, ConfigValue], rows: Iterable[Row]) -> JudgedRun:
    """A run of which no more is known."""
    run = JudgedRun(Profile(trainer.id, trainer.family, config, algo=trainer.algo))
    for row in rows:
        run.add_row(row)
    return run


def logged_options(timeline: Timeline, row: int) -> list[Row]:
    """The first values of options that a run logs, and those at a row: what a schedule has done."""
    tracks = {name: timeline.tracks.get(name) for name in LOGGED_OPTIONS.values()}
    seen = {name: track for name, track in tracks.items() if track and track.count_until(row)}
    first = {name: track.values[0] for name, track in seen.items()}
    newest = {name: track.values[track.count_until(row) - 1] for name, track in seen.items()}
    return [Row(Mark(at, at, math.nan), values) for at, values in enumerate((first, newest))]


# --- a metric --------------------------------------------------------------------------------


def _concept(
    page: Page,
    about: Concept,
    run: JudgedRun,
    trainer: Trainer,
    asked: str,
    most_tags: int | None,
) -> None:
    page.add_paragraph(f"{about.label}  ({about.name})")
    page.add_blank_line()
    page.add_paragraph(about.meaning)
    if about.why:
        page.add_paragraph(about.why)
    page.add_heading("Healthy")
    page.add_table(_healthy(about.name, run.profile, trainer))
    rules = [rule for rule in RULES if _is_about(rule, about.name)]
    stem = concept_stem(about.name)
    advice = _advice([rule for rule in rules if rule.concepts[:1] == (stem,)], run)
    if advice:
        page.add_heading("What to try")
    for title, tries in advice.items():
        page.add_paragraph(f"{title}:", indent="    ", first="  ")
        page.add_list(tries, numbered=True, indent="    ")
    if rules:
        page.add_heading("Rules on this metric (ppo-top explain RULE)")
        page.add_table((rule.id, rule.title) for rule in rules)
    page.add_heading("Logged as")
    logged = _logged(about.name, trainer)
    shown = _first(logged, most_tags, asked)
    page.add_table(_tag_rows(shown) or [("-", "not logged by any known trainer")])
    if left := len(logged) - len(shown):
        words = f"and {plural(left, 'more tag')}: ppo-top explain -v {about.name}"
        page.add_paragraph(words, indent="    ", first="  ")


def _is_about(rule: Rule, name: str) -> bool:
    about = {*rule.concepts, *rule.triggers}
    return not {name, concept_stem(name)}.isdisjoint({*about, *map(concept_stem, about)})


def _healthy(name: str, profile: Profile, trainer: Trainer) -> Iterator[tuple[str, str]]:
    """(trainers, range): of the trainer given, or of all that log the metric."""
    if trainer.id != UNKNOWN_TRAINER.id:
        yield trainer.label, _range(name, profile)
        return
    ranges: dict[str, list[str]] = {}
    for each in known_trainers():
        if logged_as(name, each):
            algo = each.algo or (MAIN_ALGORITHM if each.family == ON_POLICY else "")
            text = _range(name, Profile(each.id, each.family, algo=algo))
            ranges.setdefault(text, []).append(each.label)
    if not ranges:
        yield FAMILY_LABELS["unknown"], NO_RANGE
    for text, labels in ranges.items():
        yield first_names(labels, MAX_LABELS), text


def _range(name: str, profile: Profile) -> str:
    found = healthy_range(name, profile)
    if found is None:
        return NO_RANGE
    return f"{found.text} ({found.origin})" if found.origin else found.text


def _advice(rules: list[Rule], run: JudgedRun) -> dict[str, list[str]]:
    """Title of a rule -> what to try: too high and too low need opposite advice.

    Each piece of advice is given once, at the first rule that has it.
    """
    given = list[str]()
    advice: dict[str, list[str]] = {}
    for rule in rules:
        tries = _tries(rule, run)
        new = [text for text in tries if not any(each.startswith(text) for each in given)]
        new = new[: MAX_ADVICE - len(given)]
        given += new
        if new:
            advice[rule.title] = new
    return advice


def _tries(rule: Rule, run: JudgedRun) -> tuple[str, ...]:
    """What a rule advises: for a run of one of its families if it is not for this run's."""
    if run.family not in rule.families:
        family = ON_POLICY if ON_POLICY in rule.families else min(rule.families)
        run = JudgedRun(run.profile._replace(family=family))
    return fill_advice(rule.remedies, run)


def _logged(name: str, trainer: Trainer) -> list[LoggedTag]:
    """The tags of a metric, for this trainer or else for all."""
    asked = [trainer] if trainer.id != UNKNOWN_TRAINER.id else known_trainers()
    return [each for one in asked for each in logged_as(name, one)]


def _first(logged: list[LoggedTag], most: int | None, asked: str) -> list[LoggedTag]:
    """At most so many: the tags that were asked for, and of the others the first."""
    if most is None or len(logged) <= most:
        return logged
    named = [each for each in logged if each.tag == asked or each.tag.endswith(f"/{asked}")]
    return [*named, *(each for each in logged if each not in named)][: max(most, len(named))]


def _tag_rows(found: list[LoggedTag]) -> list[tuple[str, str]]:
    """(trainer, its tag with a note)"""
    labels = [each.trainer.label for each in found]
    first = {label: labels.index(label) for label in labels}
    return [
        (label if first[label] == at else '"', f"{each.tag}  {each.note}".rstrip())
        for at, (label, each) in enumerate(zip(labels, found, strict=True))
    ]


# --- a rule ----------------------------------------------------------------------------------


def _rule(page: Page, rule: Rule, run: JudgedRun, trainer: Trainer) -> None:
    profile = run.profile
    page.add_paragraph(f"{rule.title}  (rule {rule.id})")
    page.add_blank_line()
    page.add_paragraph(f"Fires when {rule.description}.")
    page.add_heading("Applies to")
    metrics = ", ".join(concept(each).label for each in rule.concepts) or "the whole run"
    families = (label for family, label in FAMILY_LABELS.items() if family in rule.families)
    page.add_table([("metrics", metrics), ("trainers", "; ".join(families))])
    if rule.limits:
        page.add_heading(f"Thresholds (override in ppo-top.toml under [rules.{rule.id}])")
        page.add_table(_limits(rule, profile, trainer))
    page.add_heading("What these names mean")
    page.add_table(_meanings(rule, profile))
    if rule.causes:
        page.add_heading("Why it happens")
        page.add_list(rule.causes)
    tries = _tries(rule, run)
    if tries:
        page.add_heading("What to try")
        page.add_list(tries, numbered=True)
    page.add_heading("Source of the thresholds")
    grade = rule.grade_for(profile)
    page.add_list(each for each in (rule.source, GRADE_MEANINGS[grade]) if each)


def _limits(rule: Rule, profile: Profile, trainer: Trainer) -> Iterator[tuple[str, str]]:
    if trainer.id != UNKNOWN_TRAINER.id:
        yield trainer.label, _format_limits(rule, rule.limits_for(profile))
        return
    yield "default", _format_limits(rule, rule.limits)
    for who, limits in rule.limit_overrides.items():
        yield FAMILY_LABELS.get(who, who), _format_limits(rule, limits)


def _meanings(rule: Rule, profile: Profile) -> Iterator[tuple[str, str]]:
    """What each name of a threshold means, and how many points a finding takes and clears after."""
    limits = rule.limits_for(profile)
    steps = rule.persistence_steps(limits)
    needed = "; ".join(f"{Severity(level).word} {k} of {n}" for level, k, n in reversed(steps))
    calm = int(limits.get("clear_after", DEFAULT_CLEAR_AFTER))
    named = {*rule.limits}.union(*rule.limit_overrides.values())
    meanings = limit_meanings(rule.id)
    yield from ((name, meaning) for name, meaning in meanings.items() if name in named)
    yield "k, n", f"a severity is reached when k of the last n points call for it: {needed}"
    yield "clear_after", f"{calm} calm points in a row clear a finding, twice as many the next time"
    for name in ENGINE_LIMITS:
        if name in meanings and name not in named:
            yield name, f"{meanings[name]} (not set)"


def _format_limits(rule: Rule, limits: Mapping[str, float]) -> str:
    """Thresholds in the order in which their names are explained."""
    explained = [name for name in limit_meanings(rule.id) if name in limits]
    names = [*explained, *(name for name in limits if name not in explained)]
    return ", ".join(f"{name} = {number(limits[name])}" for name in names)


# --- a term ----------------------------------------------------------------------------------


def _term(page: Page, about: Term) -> None:
    page.add_paragraph(f"{about.name}  (term)")
    page.add_blank_line()
    page.add_paragraph(about.meaning)
    page.add_heading("Metrics that show it")
    page.add_table((each, concept(each).meaning) for each in about.metrics)


# --- an option -------------------------------------------------------------------------------


def _option(page: Page, canonical: str) -> None:
    page.add_paragraph(f"{canonical}  (option)")
    page.add_heading("Name and default by trainer")
    page.add_table(_spellings(canonical))


def _spellings(canonical: str) -> Iterator[tuple[str, str]]:
    for each in option_spellings(canonical):
        value = number(each.default) if isinstance(each.default, float) else each.default
        shown = each.name if value is None else f"{each.name} = {value}"
        yield each.trainer.label, f"{shown}  ({each.note})" if each.note else shown


# --- the index -------------------------------------------------------------------------------


def _index(page: Page) -> None:
    page.add_paragraph(
        "ppo-top explain NAME, with a metric or a rule from this list, an option or any tag."
    )
    for group in METRIC_GROUPS:
        page.add_heading(group)
        members = (each for each in concepts().values() if each.group == group)
        page.add_table((each.name, each.meaning) for each in members)
    page.add_heading("Rules")
    page.add_table((rule.id, rule.title) for rule in RULES)
