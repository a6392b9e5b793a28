"""Language-model tasks on letters for TRL's trainers, their faults, which runs are made.

A prompt is a few letters, its answer is made of them. A tiny model was first taught the task by
supervised training on answers of which many are careless; then it is trained on. Needs no trainer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

ALPHABET = "abcdefgh"
TOKENS = 16
"""Maximum length of a completion; right answers and their end take 5 to 9."""

CARELESS_ANSWERS, WRONG_LETTERS = 0.6, 0.3
"""Share of careless answers in the supervised training, and of wrong letters in those."""


@dataclass(frozen=True)
class LetterTask:
    """What is the right answer to a prompt, and in which part of the corpus it stands."""

    split: str
    prompt_letters: int
    answer: Callable[[str], str]


LETTER_TASKS = {
    "doubled": LetterTask("tune", 4, lambda prompt: "".join(2 * letter for letter in prompt)),
    "reversed": LetterTask("tune", 6, lambda prompt: prompt[::-1]),
    "mirrored": LetterTask("check", 4, lambda prompt: prompt + prompt[::-1]),
    "rotated": LetterTask("check", 6, lambda prompt: prompt[2:] + prompt[:2]),
    "swapped": LetterTask("tune", 6, lambda prompt: "".join(prompt[i ^ 1] for i in range(6))),
    "repeated": LetterTask("tune", 4, lambda prompt: prompt + prompt),
    "skipped": LetterTask("check", 8, lambda prompt: prompt[::2]),
    "sorted": LetterTask("tune", 5, lambda prompt: "".join(sorted(prompt))),
    "halves": LetterTask("tune", 6, lambda prompt: prompt[3:] + prompt[2::-1]),
    "framed": LetterTask("tune", 4, lambda prompt: prompt[-1] + prompt + prompt[0]),
    "woven": LetterTask(
        "last", 6, lambda prompt: "".join(map("".join, zip(prompt, prompt[3:], strict=False)))
    ),
    "trimmed": LetterTask("last", 8, lambda prompt: prompt[1:-1]),
    "tripled": LetterTask("last", 3, lambda prompt: "".join(3 * letter for letter in prompt)),
}


def draw_prompt(task: LetterTask, draw: random.Random) -> str:
    """Random letters."""
    return "".join(draw.choices(ALPHABET, k=task.prompt_letters))


def draw_answer(task: LetterTask, prompt: str, draw: random.Random) -> str:
    """An answer as the supervised training shows it: right, or with wrong letters or length."""
    letters = list(task.answer(prompt))
    if draw.random() >= CARELESS_ANSWERS:
        return "".join(letters)
    for place in range(len(letters)):
        if draw.random() < WRONG_LETTERS:
            letters[place] = draw.choice(prompt)
    kind = draw.random()
    if kind < 0.5:
        letters = letters[: draw.randint(2, len(letters))]
    elif kind < 0.8:
        letters += draw.choices(prompt, k=draw.randint(1, 4))
    return "".join(letters)


def share_right(answer: str, text: str) -> float:
    """The share of places that hold the right letter; missing and surplus places are wrong."""
    return 1.0 + errors(answer, text) / max(len(answer), len(text))


def all_right(answer: str, text: str) -> float:
    """1 for the right answer, else 0."""
    return float(answer == text)


def errors(answer: str, text: str) -> float:
    """Minus the number of wrong, missing and surplus places."""
    return -float(sum(right != letter for right, letter in zip_longest(answer, text)))


LetterRule = Callable[[str, str], float]


@dataclass(frozen=True)
class LetterSetup:
    """A task, what rewards it, the trainer that learns it, and its hyperparameters.

    What is logged as reward is `offset + scale * rule`, or what a small network that was fitted to
    the rule says (`reward_model`).
    """

    trainer: str
    task: str
    options: dict[str, Any] = field(default_factory=dict)
    rule: LetterRule = share_right
    scale: float = 1.0
    offset: float = 0.0
    reward_model: bool = False
    updates: int = 80
    logging_steps: int = 1
    batch: int = 64

    @property
    def name(self) -> str:
        """The configuration's name."""
        return f"{self.trainer}-{self.task}{'-judged' if self.reward_model else ''}"


_GRPO: dict[str, Any] = {"learning_rate": 5e-4, "beta": 0.04, "num_generations": 8}
_RLOO: dict[str, Any] = {"learning_rate": 5e-4, "beta": 0.02, "num_generations": 8}
_DPO: dict[str, Any] = {"learning_rate": 3e-4, "beta": 0.1}
_PPO: dict[str, Any] = {"learning_rate": 3e-4, "kl_coef": 0.03, "temperature": 1.0}

LETTER_SETUPS = (
    LetterSetup("grpo", "doubled", _GRPO),
    LetterSetup("rloo", "mirrored", _RLOO, updates=120, logging_steps=5),
    LetterSetup("grpo", "reversed", _GRPO | {"beta": 0.0, "num_iterations": 2}, all_right),
    LetterSetup("grpo", "rotated", _GRPO | {"beta": 0.0}, errors),
    LetterSetup("rloo", "reversed", _RLOO, scale=100.0, updates=100),
    LetterSetup("grpo", "mirrored", _GRPO | {"beta": 0.02}, reward_model=True),
    LetterSetup("dpo", "doubled", _DPO),
    LetterSetup("grpo", "doubled", _GRPO, reward_model=True, updates=120, logging_steps=5),
    LetterSetup("rloo", "rotated", _RLOO, all_right, scale=10.0, offset=-5.0),
    LetterSetup("dpo", "rotated", _DPO),
)  # fmt: skip

FIRST_LAST_LETTER_SETUPS = (
    LetterSetup("grpo", "swapped", _GRPO),
    LetterSetup("rloo", "repeated", _RLOO, errors),
    LetterSetup("grpo", "skipped", _GRPO | {"beta": 0.0, "num_iterations": 2}, all_right),
    LetterSetup("grpo", "repeated", _GRPO, reward_model=True, updates=120, logging_steps=5),
    LetterSetup("dpo", "skipped", _DPO),
)
"""The configurations of the first last part, before it was judged; now in *tune* and *check*."""

SECOND_LAST_LETTER_SETUPS = (
    LetterSetup("rloo", "sorted", _RLOO),
    LetterSetup("grpo", "halves", _GRPO, errors),
    LetterSetup("grpo", "framed", _GRPO | {"beta": 0.0}, all_right, scale=5.0),
    LetterSetup("rloo", "halves", _RLOO, reward_model=True, updates=120, logging_steps=5),
    LetterSetup("dpo", "framed", _DPO),
)
"""The configurations of the second one; now in *tune*."""

PPO_SETUPS = (
    LetterSetup("ppo", "doubled", _PPO),
    LetterSetup("ppo", "mirrored", _PPO, errors),
    LetterSetup("ppo", "halves", _PPO, all_right, scale=5.0),
    LetterSetup("ppo", "skipped", _PPO, reward_model=True, updates=120),
    LetterSetup("ppo", "sorted", _PPO, scale=10.0, offset=-5.0),
)
"""PPO, whose critic can fail, too; in *tune* and *check*."""

LAST_LETTER_SETUPS = (
    LetterSetup("ppo", "woven", _PPO),
    LetterSetup("ppo", "trimmed", _PPO, errors),
    LetterSetup("ppo", "tripled", _PPO, all_right, scale=5.0),
    LetterSetup("ppo", "woven", _PPO, reward_model=True, updates=120),
)
"""Configurations of the last part: their tasks stand nowhere else."""

_EARLIER_SETUPS = (*LETTER_SETUPS, *FIRST_LAST_LETTER_SETUPS, *SECOND_LAST_LETTER_SETUPS)


@dataclass(frozen=True)
class LetterFault:
    """What is changed: hyperparameters, the reward, or the model.

    `reward` is a method of `AlteredReward`, `model` one of `LetterChange`.
    """

    trainers: tuple[str, ...] = ("grpo", "rloo", "ppo")
    scale: tuple[tuple[str, float], ...] = ()
    replace: tuple[tuple[str, Any], ...] = ()
    reward: str = ""
    model: str = ""
    midway: bool = False


_ALL = ("grpo", "rloo", "dpo", "ppo")
_WITH_CRITIC = ("ppo",)

LETTER_FAULTS = {
    "none": LetterFault(_ALL),
    "lr-x100": LetterFault(_ALL, scale=(("learning_rate", 100.0),)),
    "reward-flipped-midway": LetterFault(reward="flip", midway=True),
    "length-hack": LetterFault(replace=(("beta", 0.0),), reward="lengthen"),
    "lr-x0.001": LetterFault(_ALL, scale=(("learning_rate", 0.001),)),
    "weights-reloaded-midway": LetterFault(model="reload_start", midway=True),
    "reward-constant": LetterFault(reward="fix"),
    "temperature-0.1": LetterFault(replace=(("temperature", 0.1),)),
    "lr-x100-midway": LetterFault(_ALL, model="raise_learning_rate", midway=True),
    "beta-x1000": LetterFault(replace=(("beta", 40.0),)),
    "loss-reversed": LetterFault(_ALL, model="reverse_loss"),
    "clip-off-lr-x10": LetterFault(
        scale=(("learning_rate", 10.0),), replace=(("epsilon", 1e6), ("num_iterations", 4))
    ),
    "temperature-5": LetterFault(replace=(("temperature", 5.0),)),
    "limit-short": LetterFault(replace=(("max_completion_length", 3),)),
    "reward-noise": LetterFault(reward="blur"),
    "iterations-32": LetterFault(replace=(("num_iterations", 32),)),
    "critic-frozen": LetterFault(_WITH_CRITIC, replace=(("vf_coef", 0.0),)),
    "value-clip-tiny": LetterFault(_WITH_CRITIC, replace=(("cliprange_value", 0.001),)),
    "gamma-0": LetterFault(_WITH_CRITIC, replace=(("gamma", 0.0),)),
    "reward-x1000": LetterFault(_WITH_CRITIC, reward="enlarge"),
}
"""The order is that in which a configuration takes its share of them."""

PPO_NAMES = {
    "beta": "kl_coef",
    "epsilon": "cliprange",
    "num_iterations": "num_ppo_epochs",
    "max_completion_length": "response_length",
}
"""What options are called in PPO."""

HEALTHY_SEEDS = (1, 2, 3)
FIRST_FAULT_SEED = 20
FIRST_EVERY_FAULT_SEED = 40
FIRST_PPO_SEED = 60
FAULTS_A_SETUP = 5

LETTER_WAYS = ("trainer_state", "console", "jsonl")
"""The ways of logging; seeds take turns."""

PlannedLetterRun = tuple[str, str, int]
"""Configuration, fault, seed."""


def letter_setup(name: str) -> LetterSetup:
    """The configuration of this name; `KeyError` if there is none."""
    known = (*_EARLIER_SETUPS, *PPO_SETUPS, *LAST_LETTER_SETUPS)
    return {setup.name: setup for setup in known}[name]


def letter_faults_of(setup: LetterSetup) -> list[str]:
    """The faults that a configuration's trainer can have."""
    faults = LETTER_FAULTS.items()
    return [key for key, fault in faults if key != "none" and setup.trainer in fault.trainers]


def letter_hyperparameters(setup: LetterSetup, fault: LetterFault) -> dict[str, Any]:
    """The trainer's options with the fault in them."""
    options = dict(setup.options)
    if setup.trainer != "dpo":
        options["max_completion_length"] = TOKENS
    for name, factor in fault.scale:
        options[name] = options[name] * factor
    options |= dict(fault.replace)
    names = PPO_NAMES if setup.trainer == "ppo" else {}
    return {names.get(name, name): value for name, value in options.items()}


def letter_onset(setup: LetterSetup, fault: LetterFault) -> int:
    """The update after which the fault acts: 0, or 55 % of the run."""
    return int(0.55 * setup.updates) if fault.midway else 0


def planned_letter_runs(setups: Sequence[LetterSetup] = LETTER_SETUPS) -> list[PlannedLetterRun]:
    """The runs of *tune* and *check*: a healthy seed and faults of each configuration in turn.

    A configuration begins with the fault after the last one of the one before it.
    """
    begins = dict.fromkeys((setup.trainer == "dpo" for setup in setups), 0)
    turns: list[list[PlannedLetterRun]] = [[] for _ in range(FAULTS_A_SETUP + 1)]
    for number, setup in enumerate(setups):
        known = letter_faults_of(setup)
        count = min(FAULTS_A_SETUP, len(known))
        first = begins[setup.trainer == "dpo"]
        begins[setup.trainer == "dpo"] = first + count
        for turn, seed in enumerate(HEALTHY_SEEDS):
            turns[turn].append((setup.name, "none", seed))
        for turn in range(count):
            fault = known[(first + turn) % len(known)]
            turns[turn + 1].append((setup.name, fault, FIRST_FAULT_SEED + number))
    return [run for turn in turns for run in turn]


def every_letter_fault() -> list[PlannedLetterRun]:
    """Each fault of each configuration of *tune* once more: causes are counted on these."""
    tune = [setup for setup in _EARLIER_SETUPS if LETTER_TASKS[setup.task].split == "tune"]
    return [
        (setup.name, fault, FIRST_EVERY_FAULT_SEED + number)
        for number, setup in enumerate(tune)
        for fault in letter_faults_of(setup)
    ]


def planned_ppo_runs() -> list[PlannedLetterRun]:
    """The healthy runs of PPO, and each fault of each of its configurations once."""
    healthy = [(setup.name, "none", seed) for seed in HEALTHY_SEEDS for setup in PPO_SETUPS]
    return healthy + [
        (setup.name, fault, FIRST_PPO_SEED + number)
        for number, setup in enumerate(PPO_SETUPS)
        for fault in letter_faults_of(setup)
    ]
