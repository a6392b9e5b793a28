"""Trials of advice: what a person would change who follows one, and what counts as regained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.diagnosis import accuracy_document
from corpus.advice_trials import (
    TRIALS_FILE,
    advised_options,
    chosen_runs,
    first_advice,
    regained,
)
from corpus.table import CORPUS_RUNS
from ppo_top.catalogue.causes import known_causes


@pytest.mark.parametrize(
    ("advice", "options", "expected"),
    [
        ("raise gamma (SB3's default is 0.99) to 0.99", {}, {"gamma": 0.99}),
        ("lower the entropy bonus: ent_coef, to 0.01 or 0", {}, {"ent_coef": 0.01}),
        ("raise learning_rate (1e-8 now), to about 0.0003", {}, {"learning_rate": 0.0003}),
        (
            "raise learning_rate (1e-8 now; SB3's default is 0.0001)",
            {},
            {"learning_rate": 0.0001},
        ),
        (
            "set learning_starts to 1000, in a long run to 1 % of its steps",
            {},
            {"learning_starts": 1000},
        ),
        (
            "lower learning_rate (0.1 now), by 10 to 100 times",
            {"learning_rate": 0.1},
            {"learning_rate": 0.0032},
        ),
        (
            "lower learning_rate (0.09 now; SB3's default is 0.001), by 10 to 100 times",
            {"learning_rate": 0.09},
            {"learning_rate": 0.001},
        ),
        (
            "lower learning_rate (0.09 now; SB3's default is 3e-05), by 10 to 100 times",
            {"learning_rate": 0.09},
            {"learning_rate": 0.0009},
        ),
        (
            "raise learning_rate, by 10 times",
            {"learning_rate": 0.3},
            {"learning_rate": 3.0},
        ),
        ("raise learning_rate (1e-8 now)", {}, {}),
        ("check the update of the target network", {}, {}),
        ("check how observations and rewards are wired", {}, {}),
        ("", {}, {}),
    ],
)
def test_an_advice_names_an_option_and_a_value_or_it_is_not_followed(
    advice: str, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    """In a range the default, if it lies there; else the end next to it, or the middle."""
    found = advised_options(advice, "sb3", options)
    assert found == pytest.approx(expected)


def test_sentences_that_name_settings_in_words_are_advice_that_is_given() -> None:
    """The two that are understood without an option's name."""
    texts = [text for cases in known_causes().texts.values() for text in cases]
    said = {advice for text in texts for advice in text.remedies}
    understood = {each for each in said if advised_options(each, "unknown", {})}
    assert any("exploration rate" in each for each in understood)
    assert any("target entropy" in each for each in understood)


def result(new: float | None) -> dict[str, Any]:
    """A trial: healthy runs gain from -100 to 0."""
    return {"healthy_start": -100.0, "healthy_return": 0.0, "new_return": new}


@pytest.mark.parametrize(("new", "counts"), [(-19.0, True), (-21.0, False), (None, False)])
def test_four_fifths_of_the_gain_are_regained(new: float | None, counts: bool) -> None:
    """What was not trained again, or died, has regained nothing."""
    assert regained(result(new)) is counts


def meta(name: str, fault: str, seconds: float, **more: Any) -> dict[str, Any]:
    """A label of a run that a fault harmed."""
    usual = {"id": name, "producer": "sb3", "algorithm": "DQN", "split": "tune", "harmful": True}
    return usual | {"fault": fault, "seconds": seconds} | more


def test_the_fastest_harmed_run_of_each_fault_and_family_is_tried() -> None:
    """Only *tune*, only cheap ones, only faults of a setting, only control tasks."""
    metas = [
        meta("slow", "gamma-0", 20.0),
        meta("fast", "gamma-0", 5.0),
        meta("other-family", "gamma-0", 9.0, algorithm="SAC"),
        meta("dear", "lr-x100", 26.0),
        meta("untimed", "lr-x100", 30.0),
        meta("harmless", "lr-1e-8", 1.0, harmful=False),
        meta("check", "lr-1e-8", 1.0, split="check"),
        meta("no-setting", "reward-flipped", 1.0),
        meta("language-model", "lr-x100", 1.0, producer="trl-grpo"),
    ]
    chosen = chosen_runs(metas, {"gamma-0", "lr-x100", "lr-1e-8"})
    assert [each["id"] for each in chosen] == ["fast", "other-family"]


def test_the_document_lists_every_trial() -> None:
    """With what was not followed."""
    followed = result(-5.0) | {
        "run": "a-s1",
        "advice": "raise gamma to 0.99",
        "changed": {"gamma": 0.99},
        "sick_return": -90.0,
        "regained": True,
    }
    unfound = result(None) | {
        "run": "b-s1",
        "advice": "",
        "changed": {},
        "sick_return": -95.0,
        "regained": False,
    }
    text = accuracy_document({}, [], [followed, unfound])
    assert "Regained: 1/2 (50 %" in text
    assert "| a-s1 | raise gamma to 0.99 | gamma 0.99 | -90, -5; 0 | yes |" in text
    assert "| b-s1 | none: not found | - | -95, -; 0 | no |" in text


def test_what_was_tried_is_what_is_advised() -> None:
    """Else the trials have to be made anew: `python -m corpus.advice_trials`."""
    tried = {each["run"]: each["advice"] for each in json.loads(TRIALS_FILE.read_text())}
    assert {run: first_advice(CORPUS_RUNS / run)[0] for run in tried} == tried
