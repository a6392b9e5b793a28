"""How the configurations of `corpus.letters.tasks` are trained with TRL."""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from datasets import Dataset
from torch import nn
from torch.nn import functional
from transformers import TrainerCallback
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from corpus.letters.model import FastGPT2, letters, load_model
from corpus.letters.tasks import (
    LETTER_FAULTS,
    LETTER_TASKS,
    TOKENS,
    LetterFault,
    LetterSetup,
    LetterTask,
    PlannedLetterRun,
    draw_answer,
    draw_prompt,
    letter_hyperparameters,
    letter_onset,
    letter_setup,
)

LOGS = Path("logs")
TRAINERS = {
    "grpo": (GRPOTrainer, GRPOConfig),
    "rloo": (RLOOTrainer, RLOOConfig),
    "dpo": (DPOTrainer, DPOConfig),
}
PROMPTS, SCORED_PROMPTS, SCORED_SEED = 512, 384, 7
"""Prompts of a run; those apart from them that its true score is measured on."""


class RewardModel:
    """A small network fitted to a rule on answers of the task's language.

    Its features: which places hold the right letter, and the length.
    """

    def __init__(self, setup: LetterSetup, seed: int) -> None:
        self.task = LETTER_TASKS[setup.task]
        draw = random.Random(seed)
        prompts = [draw_prompt(self.task, draw) for _ in range(600)]
        texts = [draw_answer(self.task, prompt, draw) for prompt in prompts]
        pairs = list(zip(prompts, texts, strict=True))
        aims = torch.tensor([setup.rule(self.task.answer(prompt), text) for prompt, text in pairs])
        features = torch.stack([self.features(*pair) for pair in pairs])
        self.net = nn.Sequential(nn.Linear(TOKENS + 1, 24), nn.Tanh(), nn.Linear(24, 1))
        optimiser = torch.optim.Adam(self.net.parameters(), lr=0.01)
        for _ in range(300):
            optimiser.zero_grad()
            functional.mse_loss(self.net(features).squeeze(1), aims).backward()
            optimiser.step()

    def features(self, prompt: str, text: str) -> Any:
        """One number a place, and the length in tens: shape (TOKENS + 1,)."""
        found = [0.0] * TOKENS
        for place, (right, letter) in enumerate(zip(self.task.answer(prompt), text, strict=False)):
            found[place] = float(right == letter)
        return torch.tensor([*found, len(text) / 10])

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def score(self, prompt: str, text: str) -> float:
        """What the network thinks of an answer."""
        return float(self.net(self.features(prompt, text)))


class AlteredReward:
    """The reward function that the trainer calls, altered by the fault once its time has come."""

    def __init__(self, setup: LetterSetup, fault: LetterFault, seed: int) -> None:
        self.setup, self.fault = setup, fault
        self.onset = letter_onset(setup, fault)
        self.judge = RewardModel(setup, seed) if setup.reward_model else None
        self.__name__ = "reward_model" if self.judge else setup.rule.__name__
        self.noise = random.Random(seed)

    def __call__(
        self, prompts: list[str], completions: list[str], trainer_state: Any, **_: Any
    ) -> list[float]:
        """The rewards of a batch of completions."""
        due = self.fault.reward and trainer_state.global_step >= self.onset
        rewards = []
        for prompt, completion in zip(
            map(letters, prompts), map(letters, completions), strict=True
        ):
            reward = self.setup.offset + self.setup.scale * self.rate(prompt, completion)
            if due:
                reward = getattr(self, self.fault.reward)(completion, reward)
            rewards.append(reward)
        return rewards

    def rate(self, prompt: str, text: str) -> float:
        """By the network, or by the rule."""
        if self.judge:
            return self.judge.score(prompt, text)  # type: ignore[no-any-return]
        return self.setup.rule(LETTER_TASKS[self.setup.task].answer(prompt), text)

    def flip(self, text: str, reward: float) -> float:
        """The wrong sign."""
        return -reward

    def fix(self, text: str, reward: float) -> float:
        """The same for every text."""
        return 0.0

    def blur(self, text: str, reward: float) -> float:
        """Noise a hundred times as large as the reward."""
        return reward + self.noise.gauss(0.0, 100.0 * self.setup.scale)

    def enlarge(self, text: str, reward: float) -> float:
        """A thousand times as much."""
        return 1000.0 * reward

    def lengthen(self, text: str, reward: float) -> float:
        """A tenth of the rule, and half a point a letter, whatever it is."""
        return 0.1 * reward + 0.5 * self.setup.scale * len(text)


class LetterChange(TrainerCallback):
    """A change of the model or the optimiser, once its time has come."""

    def __init__(self, kind: str, onset: int, reference: Path) -> None:
        self.kind, self.onset, self.reference = kind, onset, reference
        self.done = False

    def on_step_end(self, args: Any, state: Any, control: Any, **at_hand: Any) -> None:
        """Change it once; PPO tells the ends of steps only."""
        if self.done or state.global_step < self.onset:
            return
        self.done = True
        getattr(self, self.kind)(at_hand)

    def raise_learning_rate(self, at_hand: dict[str, Any]) -> None:
        """A hundred times the learning rate."""
        scheduler = at_hand["lr_scheduler"]
        inner = getattr(scheduler, "scheduler", scheduler)
        inner.base_lrs = [100.0 * rate for rate in inner.base_lrs]

    def reload_start(self, at_hand: dict[str, Any]) -> None:
        """The weights of the start."""
        start = load_model(self.reference)[0].state_dict()
        policy_of(at_hand["model"]).load_state_dict(start)


def policy_of(model: Any) -> Any:
    """The policy alone: PPO's model holds the critic, too."""
    return getattr(model, "policy", model)


def reverse_gradients(model: Any) -> None:
    """Turn the sign of each gradient as it is computed."""
    for weight in model.parameters():
        weight.register_hook(torch.neg)


class JsonLines(TrainerCallback):
    """Writes what the trainer logs as JSON lines."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Write one row."""
        with open(LOGS / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def true_score(setup: LetterSetup, model: FastGPT2, tokenizer: Any) -> float:
    """The mean of the rule on prompts of no run, at temperature 1; NaN for weights that are NaN."""
    if not all(weight.isfinite().all() for weight in model.parameters()):
        return math.nan
    task, draw = LETTER_TASKS[setup.task], random.Random(SCORED_SEED)
    prompts = [draw_prompt(task, draw) for _ in range(SCORED_PROMPTS)]
    asked = tokenizer(prompts, return_tensors="pt")["input_ids"]
    with torch.random.fork_rng():
        torch.manual_seed(SCORED_SEED)
        written = model.generate(asked, SimpleNamespace(max_new_tokens=TOKENS, temperature=1.0))
    texts = tokenizer.batch_decode(written[:, task.prompt_letters :], skip_special_tokens=True)
    scores = [
        setup.rule(task.answer(prompt), letters(text))
        for prompt, text in zip(prompts, texts, strict=True)
    ]
    return setup.offset + setup.scale * sum(scores) / len(scores)


def prepare_trainer(run: PlannedLetterRun, way: str, reference: Path) -> Any:
    """A trainer that logs to ./logs or to the console, with the fault in it."""
    name, key, seed = run
    setup, fault = letter_setup(name), LETTER_FAULTS[key]
    torch.manual_seed(seed)
    model, tokenizer = load_model(reference)
    callbacks: list[TrainerCallback] = []
    if fault.model and fault.model != "reverse_loss":
        callbacks.append(LetterChange(fault.model, letter_onset(setup, fault), reference))
    if way == "jsonl":
        callbacks.append(JsonLines())
    given = {
        "processing_class": tokenizer,
        "train_dataset": _training_data(setup, seed),
        "callbacks": callbacks,
    }
    options = _trainer_options(setup, fault, seed, way)
    reward = AlteredReward(setup, fault, seed)
    if setup.trainer == "ppo":
        from corpus.letters.ppo import prepare_ppo  # TRL 1.12 has it, newer ones do not

        trainer = prepare_ppo(setup, reference, reward, options, given)
    else:
        if setup.trainer != "dpo":
            given["reward_funcs"] = [reward]
        trainer_class, config_class = TRAINERS[setup.trainer]
        trainer = trainer_class(model=model, args=config_class(**options), **given)
    if fault.model == "reverse_loss":
        reverse_gradients(policy_of(trainer.model))
    return trainer


def _trainer_options(setup: LetterSetup, fault: LetterFault, seed: int, way: str) -> dict[str, Any]:
    return {
        "output_dir": str(LOGS), "max_steps": setup.updates, "logging_steps": setup.logging_steps,
        "per_device_train_batch_size": setup.batch, "seed": seed, "use_cpu": True, "bf16": False,
        "gradient_checkpointing": False, "report_to": "none",
        "save_strategy": "steps" if way == "trainer_state" else "no",
        "save_steps": setup.updates, "save_only_model": True,
    } | letter_hyperparameters(setup, fault)  # fmt: skip


def _training_data(setup: LetterSetup, seed: int) -> Dataset:
    """Prompts; for DPO with two answers, of which the rule prefers the chosen one."""
    task, draw = LETTER_TASKS[setup.task], random.Random(seed)
    rows = [{"prompt": draw_prompt(task, draw)} for _ in range(PROMPTS)]
    if setup.trainer == "dpo":
        rows = [row | _preference(task, setup, row["prompt"], draw) for row in rows]
    return Dataset.from_list(rows)


def _preference(
    task: LetterTask, setup: LetterSetup, prompt: str, draw: random.Random
) -> dict[str, str]:
    """Two answers of the task's language that the rule does not find equal."""
    answer = task.answer(prompt)
    while True:
        texts = (draw_answer(task, prompt, draw), draw_answer(task, prompt, draw))
        worse, better = sorted(texts, key=lambda text: setup.rule(answer, text))
        if setup.rule(answer, worse) < setup.rule(answer, better):
            return {"chosen": better, "rejected": worse}
