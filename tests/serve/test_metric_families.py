"""What a fleet is in Prometheus' words: names, labels, values, whatever runs are called."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.catalogue import concept, concepts
from ppo_top.model import State
from ppo_top.serve.exposition import Exposition, ScrapeRequest, classic_text
from ppo_top.serve.fleet import ExportLimits, Fleet, Look, chosen_runs
from ppo_top.serve.metric_families import (
    FLEET_HELP,
    MAX_PARTS,
    RUN_HELP,
    VALUE_PREFIX,
    ExportedValues,
    FleetCollector,
    value_family,
)
from ppo_top.text.format import clean
from ppo_top.views.run_facts import OpenRule
from tests.support.scrapes import (
    exported_run,
    fleet_series,
    names,
    openmetrics_families,
    series,
    value,
)

HOSTILE = st.text(
    st.one_of(
        st.sampled_from('"\\\n\r\t{}=,#\x00\x1b\x7f\u202e\u200b\u2028\udc80\udcff\ud800é😀 a'),
        st.characters(),
    ),
    max_size=12,
)
UNLIMITED = ExportLimits(math.inf, 10_000)


def fleet_of(*runs: object) -> Fleet:
    """A fleet of some runs, as the loop would make it."""
    return chosen_runs(runs, 0.0, UNLIMITED, Look())  # type: ignore[arg-type]


def test_a_run_in_trouble_is_these_series() -> None:
    """Everything that alerts and dashboards rest on, by name, label and number."""
    found = fleet_series(fleet_of(exported_run("runs/a")))
    run = {"run": "runs/a"}
    info = {"name": "a", "producer": "sb3", "family": "on-policy"}
    assert value(found, "ppo_top_run_info", **run, **info) == 1
    assert value(found, "ppo_top_run_severity", **run) == 4
    assert value(found, "ppo_top_run_step", **run) == 4096
    assert value(found, "ppo_top_run_target_steps", **run) == 80_000
    assert value(found, "ppo_top_run_start_timestamp_seconds", **run) == 1.7e9
    assert value(found, "ppo_top_run_last_change_timestamp_seconds", **run) == 1.7e9 + 100
    assert value(found, "ppo_top_run_eta_seconds", **run) == 60
    assert value(found, "ppo_top_run_unreadable_places", **run) == 0
    rule = {**run, "rule": "kl-high"}
    assert value(found, "ppo_top_finding_severity", **rule) == 4
    assert value(found, "ppo_top_finding_since_step", **rule) == 2048
    assert value(found, "ppo_top_finding_since_timestamp_seconds", **rule) == 1.7e9 + 50
    assert value(found, "ppo_top_value_approx_kl", **run) == 0.5


def test_a_run_is_in_one_of_six_states() -> None:
    """1 for the state that it is in, 0 for the five others."""
    for state in State:
        found = fleet_series(fleet_of(exported_run(state=state)))
        by_state = {
            dict(labels)["state"]: found[name, labels]
            for name, labels in found
            if name == "ppo_top_run_state"
        }
        assert by_state == {each.value: float(each is state) for each in State}
    assert len(State) == 6


def test_what_is_unknown_has_no_series() -> None:
    """Unknown steps and times are absent: 0 would be a lie, and NaN breaks sums."""
    bare = exported_run(
        state=State.STARTING, severity=-1, step=None, total=None, first_time=None,
        last_change=None, eta_s=None, open_rules=[], crucial_values={},
    )  # fmt: skip
    assert names(fleet_series(fleet_of(bare))) - {f"ppo_top_{name}" for name in FLEET_HELP} == {
        "ppo_top_run_info",
        "ppo_top_run_severity",
        "ppo_top_run_state",
        "ppo_top_run_unreadable_places",
    }


def test_the_time_left_is_told_of_live_runs_only() -> None:
    """A run that died has none."""
    found = fleet_series(fleet_of(exported_run(state=State.DIED)))
    assert "ppo_top_run_eta_seconds" not in names(found)


def test_a_finding_without_a_step_has_a_severity() -> None:
    """Of a run that logged no step; alerts start from the severity, which is always there."""
    found = fleet_series(fleet_of(exported_run(open_rules=[OpenRule("crashed", 4, None, None)])))
    assert value(found, "ppo_top_finding_severity", run="runs/a", rule="crashed") == 4
    assert "ppo_top_finding_since_step" not in names(found)


def test_values_that_are_no_numbers_stay_so() -> None:
    """NaN and infinities are what a sick run logs."""
    values = {"approx_kl": math.nan, "value_loss": math.inf, "policy_loss": -math.inf}
    found = fleet_series(fleet_of(exported_run(crucial_values=values)))
    assert math.isnan(found["ppo_top_value_approx_kl", frozenset({("run", "runs/a")})])
    assert value(found, "ppo_top_value_value_loss", run="runs/a") == math.inf
    assert value(found, "ppo_top_value_policy_loss", run="runs/a") == -math.inf


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ExportedValues(), {"ppo_top_value_approx_kl"}),
        (ExportedValues(False, False), set()),
        (ExportedValues(True, True), {"ppo_top_value_approx_kl", "ppo_top_value_lr"}),
    ],
)
def test_the_user_chooses_which_values(values: ExportedValues, expected: set[str]) -> None:
    """The crucial ones, none, or all that are known by name."""
    found = names(fleet_series(fleet_of(exported_run()), FleetCollector(values)))
    assert {name for name in found if name.startswith(VALUE_PREFIX)} == expected


def test_reward_functions_are_parts_of_one_metric_and_few() -> None:
    """A log that makes up a reward function for every sample adds a bounded number of series."""
    parts = {f"reward_component_mean{{{number}}}": 1.0 for number in range(10 * MAX_PARTS)}
    found = fleet_series(fleet_of(exported_run(crucial_values=parts)))
    mine = [labels for name, labels in found if name == "ppo_top_value_reward_component_mean"]
    assert len(mine) == MAX_PARTS
    assert frozenset({("run", "runs/a"), ("part", "0")}) in mine


@settings(max_examples=30)
@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=6))
def test_any_names_of_runs_give_a_readable_answer(named: list[tuple[str, str]]) -> None:
    """Quotes, line breaks, escapes, lone surrogates: every run is there once, in both formats."""
    runs = [exported_run(path)._replace(name=name) for path, name in named]
    collector = FleetCollector(labels={"user": named[0][0]})
    collector.fleet = fleet_of(*runs)
    exposition = Exposition(collector)
    found = series(exposition.answer(ScrapeRequest()).body)
    shown = [dict(labels)["run"] for name, labels in found if name == "ppo_top_run_severity"]
    assert len(set(shown)) == len(runs)
    assert all(clean(text) == text for text in shown)
    openmetrics = exposition.answer(ScrapeRequest("application/openmetrics-text"))
    family = openmetrics_families(openmetrics.body)["ppo_top_run_severity"]
    again = [sample.labels["run"] for sample in family.samples]
    assert sorted(again) == sorted(shown)


@settings(max_examples=30)
@given(HOSTILE, HOSTILE)
def test_any_names_of_rules_and_parts_give_a_readable_answer(rule: str, part: str) -> None:
    """Rules have the names that a settings file gives them, parts those of a log."""
    rules = [OpenRule(rule, 4, 1, 1.0), OpenRule(rule, 2, 1, 1.0)]
    values = {f"reward_component_mean{{{part}}}": 1.0, "reward_component_mean{b}": 2.0}
    run = exported_run(open_rules=rules, crucial_values=values)
    found = fleet_series(fleet_of(run))
    assert value(found, "ppo_top_finding_severity", run="runs/a", rule=clean(rule)) == 4


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "a (2)", "a\x00", "a\x01", "b"]), max_size=8))
def test_no_two_runs_are_one_series(paths: list[str]) -> None:
    """Paths that look alike once they are harmless, and several runs in one file."""
    fleet = fleet_of(*(exported_run(path)._replace(name="x") for path in paths))
    assert len({run.path for run in fleet.runs}) == len(paths)
    fleet_series(fleet)  # fails on two series with the same labels


def test_in_a_textfile_every_series_has_a_run_and_the_labels() -> None:
    """node_exporter drops what two files hold alike; and it knows no labels but those of a file."""
    collector = FleetCollector(labels={"user": "ann"}, for_textfile=True)
    found = fleet_series(fleet_of(exported_run("a"), exported_run("b")), collector)
    assert found
    assert all({"run", "user"} <= dict(labels).keys() for _, labels in found)


def test_over_http_constant_labels_are_on_the_info_alone() -> None:
    """`* on (run) group_left (user) ppo_top_run_info` joins them to any other series."""
    found = fleet_series(fleet_of(exported_run()), FleetCollector(labels={"user": "ann"}))
    assert {name for name, labels in found if "user" in dict(labels)} == {"ppo_top_run_info"}


def test_every_name_that_can_be_exported_is_allowed() -> None:
    """Names of the classic format, in base units, and no suffix that means another type."""
    values = [value_family(name) for name in concepts()]
    every = [*(f"ppo_top_{name}" for name in (*RUN_HELP, *FLEET_HELP)), *values]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in every)
    assert not [
        name for name in values if re.search(r"_(total|sum|count|bucket|created|info)$", name)
    ]


def test_the_help_of_a_metric_does_not_depend_on_its_part() -> None:
    """node_exporter refuses files that explain one name differently."""
    one, other = (exported_run(crucial_values={f"stage_time{{{part}}}": 1.0}) for part in "ab")
    texts = [classic_text(fleet_of(run), FleetCollector()).decode() for run in (one, other)]
    helps = [re.findall("# HELP ppo_top_value_stage_time .*", text) for text in texts]
    assert helps[0] == helps[1]
    assert concept("stage_time{a}").meaning in helps[0][0]
