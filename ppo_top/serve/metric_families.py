"""A fleet as metric families of the Prometheus client: names, labels, units.

The rules are those of Prometheus ("Writing exporters", "Metric and label naming"): base units, one
metric for values whose sum means nothing, no labels that the scrape adds itself. The help of a name
is always the same, since node_exporter refuses files that disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from ppo_top import __version__
from ppo_top.catalogue import concept, concept_stem, concepts
from ppo_top.model import State
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.serve.fleet import ExportedRun, Fleet
from ppo_top.text.format import clean

MAX_PARTS = 32
"""Values of one metric and run that differ in their part only, such as reward functions."""

MAX_PART_CHARS = 100

VALUE_PREFIX = "ppo_top_value_"

RUN_HELP = {
    "run_info": "What is known of a run; 1.",
    "run_severity": "Worst open finding of a run: 4 crit, 3 warn, 2 watch, 1 info, 0 none; "
    "-1 while it is not judged.",
    "run_state": "1 for the state that a run is in, 0 for the others.",
    "run_step": "Newest step of a run, as its trainer counts.",
    "run_target_steps": "Steps that a run will take.",
    "run_start_timestamp_seconds": "When the first value of a run was logged.",
    "run_last_change_timestamp_seconds": "When a log of a run last grew.",
    "run_eta_seconds": "Estimated time until a live run has taken all its steps.",
    "run_unreadable_places": "Places in the logs of a run that cannot be read.",
    "finding_severity": "Severity of an open finding: 4 crit, 3 warn, 2 watch, 1 info. "
    "`ppo-top explain RULE` says what it means.",
    "finding_since_step": "Step at which an open finding began.",
    "finding_since_timestamp_seconds": "When an open finding began.",
}
FLEET_HELP = {
    "runs": "Runs that are watched, by state, exported or not.",
    "runs_left_out": "Runs that are not exported: over for long (retired), beyond the limit, or in "
    "folders whose logs were not opened, which are counted instead (inactive).",
    "last_look_timestamp_seconds": "When the logs were last looked at.",
    "look_duration_seconds": "How long the last look at the logs took.",
    "ready": "1 once every log has been read and judged for the first time.",
    "read_bytes_total": "Bytes of logs that were read.",
    "files": "Files that are followed.",
    "build_info": "The version of ppo-top; 1.",
}
COUNTERS = frozenset({"read_bytes_total"})


class ExportedValues(NamedTuple):
    """Which newest values of a run are exported: the `crucial` ones, the `others`."""

    crucial: bool = True
    others: bool = False


class FleetCollector(Collector):
    """Gives what is in `fleet` to a registry of the client; `fleet` may be replaced at any time.

    `labels` are constant labels of `ppo_top_run_info`. In a file for node_exporter (`for_textfile`)
    they are on all series, and there is none without a run: another file may hold the same.
    """

    def __init__(
        self,
        values: ExportedValues | None = None,
        labels: Mapping[str, str] | None = None,
        for_textfile: bool = False,
    ) -> None:
        self.fleet = Fleet()
        self._values = values or ExportedValues()
        self._labels = {name: clean(value) for name, value in (labels or {}).items()}
        self._for_textfile = for_textfile

    def describe(self) -> Iterable[Metric]:
        """Every possible family, so that a scrape can ask for some by name."""
        for name, text in (RUN_HELP | FLEET_HELP).items():
            yield _metric(name, text)
        for name in concepts():
            yield Metric(value_family(name), _value_help(name), "gauge")

    def collect(self) -> Iterator[Metric]:
        """All families that have samples."""
        fleet = self.fleet
        families = _Families(RUN_HELP, self._labels if self._for_textfile else {})
        for run in fleet.runs:
            self._add_run(families, run)
        yield from families.with_samples()
        yield from self._values_of(fleet.runs)
        if not self._for_textfile:
            yield from _fleet_families(fleet)

    def _add_run(self, families: _Families, run: ExportedRun) -> None:
        facts, labels = run.facts, {"run": run.path}
        names = {"name": run.name, "producer": facts.producer, "family": facts.family}
        families.add("run_info", {**labels, **names, **self._labels}, 1)
        families.add("run_severity", labels, facts.severity)
        for state in State:
            families.add("run_state", {**labels, "state": state.value}, state is run.state)
        families.add("run_step", labels, facts.step)
        families.add("run_target_steps", labels, facts.total)
        families.add("run_start_timestamp_seconds", labels, facts.first_time)
        families.add("run_last_change_timestamp_seconds", labels, facts.last_change)
        if run.state is State.LIVE:
            families.add("run_eta_seconds", labels, facts.eta_s)
        families.add("run_unreadable_places", labels, facts.unreadable_places)
        worst_last = reversed(facts.open_rules)
        for rule, each in {clean(each.rule): each for each in worst_last}.items():
            of_rule = {**labels, "rule": rule}
            families.add("finding_severity", of_rule, each.severity)
            families.add("finding_since_step", of_rule, each.since_step)
            families.add("finding_since_timestamp_seconds", of_rule, each.since_time)

    def _values_of(self, runs: Iterable[ExportedRun]) -> Iterable[Metric]:
        """A metric for each concept; what fills in its parameter is the label `part`."""
        added = self._labels if self._for_textfile else {}
        found: dict[str, Metric] = {}
        for run in runs:
            for name, part, value in _values(run, self._values):
                family = value_family(name)
                if family not in found:
                    found[family] = Metric(family, _value_help(name), "gauge")
                labels = {"run": run.path, **({"part": part} if part else {}), **added}
                found[family].add_sample(family, labels, value)
        return [found[family] for family in sorted(found)]


class _Families:
    """Families by name, in the order of their help; samples without a value are left out."""

    def __init__(self, helps: Mapping[str, str], labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._metrics = {name: _metric(name, text) for name, text in helps.items()}

    def add(self, name: str, labels: Mapping[str, str], value: float | None) -> None:
        if value is not None:
            every = {**labels, **self._labels}
            self._metrics[name].add_sample(f"ppo_top_{name}", every, float(value))

    def with_samples(self) -> Iterable[Metric]:
        return [metric for metric in self._metrics.values() if metric.samples]


def _metric(name: str, text: str) -> Metric:
    """A family of our own; the client adds the suffix of a counter."""
    kind = "counter" if name in COUNTERS else "gauge"
    return Metric(f"ppo_top_{name.removesuffix('_total')}", text, kind)


def _fleet_families(fleet: Fleet) -> Iterable[Metric]:
    """What concerns no single run."""
    families, look = _Families(FLEET_HELP, {}), fleet.look
    for state in State:
        families.add("runs", {"state": state.value}, fleet.states.get(state, 0))
    for reason, count in fleet.left_out.items():
        families.add("runs_left_out", {"reason": reason}, count)
    families.add("last_look_timestamp_seconds", {}, look.time)
    families.add("look_duration_seconds", {}, look.seconds)
    families.add("ready", {}, look.is_complete)
    families.add("read_bytes_total", {}, look.read_bytes)
    families.add("files", {}, look.files)
    families.add("build_info", {"version": __version__}, 1)
    return families.with_samples()


def _values(run: ExportedRun, wanted: ExportedValues) -> Iterator[tuple[str, str, float]]:
    """Concept, part (empty: none) and newest value, of a bounded number of parts."""
    facts, parts = run.facts, dict[str, set[str]]()
    values = dict(facts.crucial_values) if wanted.crucial else {}
    values.update(facts.other_values if wanted.others else {})
    for name, value in values.items():
        stem, brace, rest = name.partition("{")
        part = clean(rest.removesuffix("}"))[:MAX_PART_CHARS] if brace else ""
        known = parts.setdefault(stem, set())
        if part not in known and len(known) < MAX_PARTS:
            known.add(part)
            yield name, part, value


def value_family(name: str) -> str:
    """The name of the metric of a concept's values; `_count` is a histogram's suffix."""
    return re.sub("_count$", "_number", VALUE_PREFIX + concept_stem(name))


def _value_help(name: str) -> str:
    """Meaning and unit of a metric, the same whatever its part."""
    described = concept(name)
    return f"{described.meaning} Newest value, unit: {described.unit}."
