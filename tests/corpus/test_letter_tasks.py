"""The runs of tiny language models: what is rewarded, and which runs are planned."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from corpus.accepted_rules import accepted_rules
from corpus.causes import CAUSE_BY_FAULT
from corpus.last.judged_parts import judged_parts
from corpus.last_part import LETTER_PART, drawn_letter_runs
from corpus.letters.tasks import (
    LAST_LETTER_SETUPS,
    LETTER_FAULTS,
    LETTER_SETUPS,
    LETTER_TASKS,
    PPO_SETUPS,
    TOKENS,
    LetterRule,
    all_right,
    draw_answer,
    draw_prompt,
    errors,
    every_letter_fault,
    letter_faults_of,
    letter_hyperparameters,
    letter_onset,
    letter_setup,
    planned_letter_runs,
    planned_ppo_runs,
    share_right,
)


@pytest.mark.parametrize(
    ("task", "prompt", "answer"),
    [
        ("doubled", "abca", "aabbccaa"),
        ("reversed", "abcdef", "fedcba"),
        ("mirrored", "abcd", "abcddcba"),
        ("rotated", "abcdef", "cdefab"),
        ("swapped", "abcdef", "badcfe"),
        ("repeated", "abcd", "abcdabcd"),
        ("skipped", "abcdefgh", "aceg"),
        ("woven", "abcdef", "adbecf"),
        ("trimmed", "abcdefgh", "bcdefg"),
        ("tripled", "abc", "aaabbbccc"),
    ],
)
def test_a_task_has_one_right_answer(task: str, prompt: str, answer: str) -> None:
    """It fits into the limit together with the end."""
    assert len(prompt) == LETTER_TASKS[task].prompt_letters
    assert LETTER_TASKS[task].answer(prompt) == answer
    assert len(answer) < TOKENS


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (share_right, "abcd", 1.0),
        (share_right, "abdc", 0.5),
        (share_right, "abcdabcd", 0.5),
        (share_right, "", 0.0),
        (all_right, "abcd", 1.0),
        (all_right, "abcda", 0.0),
        (errors, "abcd", 0.0),
        (errors, "bbc", -2.0),
        (errors, "abcdef", -2.0),
    ],
)
def test_a_rule_rewards_a_text(rule: LetterRule, text: str, expected: float) -> None:
    """The right answer is `abcd`: shares, all or nothing, or minus the errors."""
    assert rule("abcd", text) == pytest.approx(expected)


@pytest.mark.parametrize("task", LETTER_TASKS)
def test_answers_of_the_supervised_training_leave_something_to_learn(task: str) -> None:
    """Some 40 % are right; the others differ in length and letters, and fit into the limit."""
    known, draw = LETTER_TASKS[task], random.Random(1)
    prompts = [draw_prompt(known, draw) for _ in range(400)]
    pairs = [(known.answer(prompt), draw_answer(known, prompt, draw)) for prompt in prompts]
    right = sum(all_right(*pair) for pair in pairs) / len(pairs)
    assert 0.35 < right < 0.6
    assert max(len(text) for _, text in pairs) < TOKENS
    assert len({len(text) for _, text in pairs}) >= 5


def test_a_task_belongs_to_one_part() -> None:
    """Two of *tune*, two of *check*, and three that are met in the last part only."""
    parts = Counter(LETTER_TASKS[setup.task].split for setup in LETTER_SETUPS)
    last = {LETTER_TASKS[setup.task].split for setup in LAST_LETTER_SETUPS}
    assert parts.keys() == {"tune", "check"}
    assert last == {"last"}
    assert len({setup.task for setup in LAST_LETTER_SETUPS}) == 3
    assert LETTER_PART.environments == {setup.task for setup in LAST_LETTER_SETUPS}
    others = [set(part["environments"]) for part in judged_parts()]
    assert LETTER_PART.environments.isdisjoint(
        set().union(*(part for part in others if part != LETTER_PART.environments))
    )


def test_configurations_have_names_of_their_own() -> None:
    """A run is labelled by the healthy runs of the same name."""
    setups = (*LETTER_SETUPS, *PPO_SETUPS, *LAST_LETTER_SETUPS)
    assert len({setup.name for setup in setups}) == len(setups)
    assert all(letter_setup(setup.name) is setup for setup in setups)


def test_every_planned_fault_can_be_judged() -> None:
    """Its cause is known, and the rules that would be right about it."""
    for key in LETTER_FAULTS.keys() - {"none"}:
        assert key in CAUSE_BY_FAULT
        for trainer in LETTER_FAULTS[key].trainers:
            assert accepted_rules({"producer": f"trl-{trainer}", "fault": key})


def test_tune_and_check_have_each_fault_and_many_healthy_runs() -> None:
    """At least 25 healthy ones and as many faulty ones; none is planned twice."""
    runs = [*planned_letter_runs(), *planned_ppo_runs()]
    faults = Counter(fault for _, fault, _ in runs)
    assert len(set(runs)) == len(runs)
    assert faults.keys() == LETTER_FAULTS.keys()
    assert min(faults["none"], len(runs) - faults["none"]) >= 25


def test_a_fault_is_planned_only_for_trainers_that_can_have_it() -> None:
    """DPO samples nothing: it has no temperature and no limit of length."""
    for name, fault, _ in (*planned_letter_runs(), *planned_ppo_runs(), *drawn_letter_runs("a1")):
        assert letter_setup(name).trainer in LETTER_FAULTS[fault].trainers


def test_the_last_part_is_drawn_from_a_commit() -> None:
    """At least 30 healthy and 30 faulty runs; another commit draws others."""
    once, again, other = (drawn_letter_runs(commit) for commit in ("a1", "a1", "b2"))
    assert once == again != other
    healthy = sum(fault == "none" for _, fault, _ in once)
    assert min(healthy, len(once) - healthy) >= 30
    assert {seed for *_, seed in once}.isdisjoint(seed for *_, seed in planned_letter_runs())


def test_a_fault_changes_the_hyperparameters() -> None:
    """Times a factor, or to a value; others stay."""
    setup = letter_setup("grpo-doubled")
    sick = letter_hyperparameters(setup, LETTER_FAULTS["clip-off-lr-x10"])
    assert sick["learning_rate"] == pytest.approx(10 * setup.options["learning_rate"])
    assert (sick["epsilon"], sick["beta"]) == (1e6, setup.options["beta"])
    short = letter_hyperparameters(setup, LETTER_FAULTS["limit-short"])
    assert short["max_completion_length"] == 3


def test_ppo_has_names_of_its_own_for_options() -> None:
    """And no others of them: its trainer refuses those of GRPO."""
    setup = letter_setup("ppo-doubled")
    sick = letter_hyperparameters(setup, LETTER_FAULTS["clip-off-lr-x10"])
    assert (sick["cliprange"], sick["num_ppo_epochs"], sick["response_length"]) == (1e6, 4, TOKENS)
    strong = letter_hyperparameters(setup, LETTER_FAULTS["beta-x1000"])
    assert (strong["kl_coef"], sick["kl_coef"]) == (40.0, setup.options["kl_coef"])
    assert not {"epsilon", "num_iterations", "max_completion_length", "beta"} & sick.keys()


def test_ppo_has_every_fault_of_its_own_in_both_parts() -> None:
    """Once in each configuration, beside three healthy runs."""
    parts = {LETTER_TASKS[setup.task].split for setup in PPO_SETUPS}
    assert parts == {"tune", "check"}
    for setup in PPO_SETUPS:
        faults = Counter(fault for name, fault, _ in planned_ppo_runs() if name == setup.name)
        assert faults == Counter({"none": 3}) + Counter(letter_faults_of(setup))
        assert {"critic-frozen", "value-clip-tiny", "gamma-0"} <= faults.keys()


def test_a_fault_midway_begins_after_55_percent() -> None:
    """Others act from the start."""
    setup = letter_setup("rloo-reversed")
    assert letter_onset(setup, LETTER_FAULTS["lr-x100-midway"]) == 55
    assert letter_onset(setup, LETTER_FAULTS["lr-x100"]) == 0


def test_every_fault_of_the_tuned_configurations_is_trained_once_more() -> None:
    """None of *check* or *last*, and with seeds that no other planned run has."""
    runs = every_letter_fault()
    assert {LETTER_TASKS[letter_setup(name).task].split for name, *_ in runs} == {"tune"}
    for name in {run[0] for run in runs}:
        faults = [fault for each, fault, _ in runs if each == name]
        assert faults == letter_faults_of(letter_setup(name))
    assert {seed for *_, seed in runs}.isdisjoint(seed for *_, seed in planned_letter_runs())
