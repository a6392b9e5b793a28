"""Causes of faults, and how often symptoms stood beside each of them on labelled runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ppo_top.catalogue.table import shared_table
from ppo_top.model.named_tuple import NamedTuple

ANY_CASE = "-"
"""The last line of each cause: said where no other holds."""

REPORTS_LINE, ALL_FAMILIES = "reports", "all"
"""First word of the lines that count reports, and the second one where it is not a family."""

CONTROL_PART, TEXT_PART = "control", "text"
"""Second word of the lines that count a symptom: of control tasks, of language models."""


class CauseText(NamedTuple):
    """What is said of a cause in one case.

    `when` is a fact, a family or `ANY_CASE`; `look` tells the cause from others that leave the
    same trace ("" if none does); `remedies` are templates of advice.
    """

    cause: str
    when: str
    sentence: str
    look: str
    remedies: tuple[str, ...]


class Causes(NamedTuple):
    """The table of causes. `proofs`: fact -> cause; `vetoes`: (cause, fact) that never go together.

    `opposites` (both ways round) are never named together. `families` names those that a cause is
    limited to. `firsts`: rule -> the cause that it measures, where a fact holds ("" if always).
    `witnesses`: a cause that is a setting which hardly anybody changes -> facts without which it is
    not named first. `harmless`: rule -> what may stand behind it that is no fault, where facts
    hold. `texts` holds the lines of each cause, `by_sentence` the cause of each, and of sentences
    of rules that name their causes themselves.
    """

    proofs: Mapping[str, str]
    firsts: Mapping[str, tuple[str, str]]
    vetoes: frozenset[tuple[str, str]]
    opposites: frozenset[tuple[str, str]]
    families: Mapping[str, frozenset[str]]
    witnesses: Mapping[str, frozenset[str]]
    harmless: Mapping[str, CauseText]
    texts: Mapping[str, tuple[CauseText, ...]]
    by_sentence: Mapping[str, str]


class SymptomCounts:
    """How often a symptom was there, of the reports that could show it: cause -> reports."""

    __slots__ = ("could", "there")

    def __init__(self, there: Mapping[str, int], could: Mapping[str, int]) -> None:
        self.there = there
        self.could = could


class CauseCounts(NamedTuple):
    """What was counted on labelled runs: reports on each cause, and on each symptom beside it.

    `by_family`: family -> cause -> reports. `control` and `text` count symptoms of control tasks
    and of language models, which share few causes and fewer habits.
    """

    reports: Mapping[str, int]
    by_family: Mapping[str, Mapping[str, int]]
    control: Mapping[str, SymptomCounts]
    text: Mapping[str, SymptomCounts]


@cache
def known_causes() -> Causes:
    """The table of causes."""
    proofs: dict[str, str] = {}
    firsts: dict[str, tuple[str, str]] = {}
    vetoes: set[tuple[str, str]] = set()
    opposites: set[tuple[str, str]] = set()
    families: dict[str, frozenset[str]] = {}
    texts: dict[str, tuple[CauseText, ...]] = {}
    sentences: dict[str, str] = {}
    harmless: dict[str, CauseText] = {}
    witnesses: dict[str, frozenset[str]] = {}
    for first, *cells in shared_table("causes"):
        if first == "!proof":
            proofs[cells[0]] = cells[1]
        elif first == "!veto":
            vetoes.add((cells[0], cells[1]))
        elif first == "!first":
            rule, cause, *fact = cells
            firsts[rule] = cause, "".join(fact)
        elif first == "!opposite":
            opposites |= {(cells[0], cells[1]), (cells[1], cells[0])}
        elif first == "!says":
            sentences[cells[1]] = cells[0]
        elif first == "!witness":
            witnesses[cells[0]] = witnesses.get(cells[0], frozenset()) | {cells[1]}
        elif first == "!harmless":
            rule, when, sentence, remedy = cells
            harmless[rule] = CauseText(first, when, sentence, "", (remedy,))
        elif first == "!only":
            families[cells[0]] = frozenset(cells[1].split())
        else:
            when, sentence, look, remedies = cells
            text = CauseText(first, when, sentence, look, tuple(remedies.split("|")))
            texts[first] = (*texts.get(first, ()), text)
    sentences |= {text.sentence: text.cause for some in texts.values() for text in some}
    pairs = frozenset(vetoes), frozenset(opposites)
    return Causes(proofs, firsts, *pairs, families, witnesses, harmless, texts, sentences)


@cache
def cause_counts() -> CauseCounts:
    """The counted table: a line a symptom, a column a cause, `there/could` in each cell.

    Before them the reports on each cause, in all and in each family. The second column says of what
    the line counts.
    """
    (_, _, *causes), *lines = shared_table("cause_counts")
    reports: dict[str, dict[str, int]] = {}
    symptoms: dict[str, dict[str, SymptomCounts]] = {CONTROL_PART: {}, TEXT_PART: {}}
    for name, part, *cells in lines:
        if name == REPORTS_LINE:
            reports[part] = dict(zip(causes, map(int, cells), strict=True))
            continue
        pairs = [tuple(map(int, cell.split("/"))) for cell in cells]
        symptoms[part][name] = SymptomCounts(
            {cause: there for cause, (there, _) in zip(causes, pairs, strict=True)},
            {cause: could for cause, (_, could) in zip(causes, pairs, strict=True)},
        )
    of_all = reports.pop(ALL_FAMILIES)
    return CauseCounts(of_all, reports, symptoms[CONTROL_PART], symptoms[TEXT_PART])
