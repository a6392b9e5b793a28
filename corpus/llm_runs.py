"""TRL's GRPO and PPO on a tiny language model: tasks, faults, and how each is trained."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo_logs"))

import torch
from torch import nn
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2ForCausalLM,
    Qwen2ForSequenceClassification,
    TrainerCallback,
)
from trl_grpo import LETTERS, MODEL, VOWELS, brief, constant, late, make_model, prompts, vowels

TRAINING_STEPS = {"grpo": 100, "ppo": 60}
COMPLETION_TOKENS = {"grpo": 48, "ppo": 24}
"""Maximum length of a completion."""
PROMPT_TOKENS = 4


@dataclass(frozen=True)
class LlmTask:
    """A rule-based reward, with a learning rate and a KL weight that work for it."""

    split: str
    rule: str
    architecture: str
    grpo: dict[str, Any]
    ppo: dict[str, Any]


LLM_TASKS = {
    "vowels": LlmTask(
        "tune", "vowels", "qwen2",
        {"learning_rate": 1e-3, "beta": 0.4}, {"learning_rate": 1e-3, "kl_coef": 0.05},
    ),
    "late": LlmTask(
        "check", "late", "llama",
        {"learning_rate": 1.5e-3, "beta": 0.4}, {"learning_rate": 1e-3, "kl_coef": 0.03},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class LlmFault:
    """What is changed, and for which algorithms."""

    algorithms: tuple[str, ...] = ("grpo", "ppo")
    learning_rate_factor: float = 1.0
    midway: bool = False
    reward: str = ""
    completion_tokens: int = 0
    beta: float | None = None


LLM_FAULTS = {
    "none": LlmFault(),
    "lr-x100": LlmFault(learning_rate_factor=100.0),
    "lr-x100-midway": LlmFault(learning_rate_factor=100.0, midway=True),
    "reward-constant": LlmFault(reward="constant"),
    "limit-short": LlmFault(algorithms=("grpo",), completion_tokens=4),
    "length-hack": LlmFault(algorithms=("grpo",), reward="wordy", beta=0.0),
    "reward-nan-midway": LlmFault(reward="nan", midway=True),
}


class TrueScores:
    """Records the mean true reward of each batch of completions."""

    def __init__(self) -> None:
        self.means: list[float] = []

    def add(self, scores: list[float]) -> None:
        """Record one batch."""
        self.means.append(sum(scores) / len(scores))


class RaiseLearningRate(TrainerCallback):
    """Multiplies the learning rate when `onset` updates have been made."""

    def __init__(self, factor: float, onset: int) -> None:
        self.factor, self.onset, self.done = factor, onset, False

    def on_step_begin(self, args: Any, state: Any, control: Any, **at_hand: Any) -> None:
        """Change the base of the schedule."""
        self.raise_when_due(state.global_step, at_hand)

    def on_step_end(self, args: Any, state: Any, control: Any, **at_hand: Any) -> None:
        """The same for TRL's PPO, which has no other event."""
        self.raise_when_due(state.global_step, at_hand)

    def raise_when_due(self, step: int, at_hand: dict[str, Any]) -> None:
        """Raise it once."""
        if self.done or step < self.onset:
            return
        self.done = True
        scheduler = at_hand["lr_scheduler"]
        inner = getattr(scheduler, "scheduler", scheduler)
        inner.base_lrs = [self.factor * rate for rate in inner.base_lrs]


def onset(algorithm: str, fault: LlmFault) -> int:
    """The update after which the fault acts."""
    return int(0.55 * TRAINING_STEPS[algorithm]) if fault.midway else 0


def hyperparameters(algorithm: str, task: LlmTask, fault: LlmFault) -> dict[str, Any]:
    """The trainer's hyperparameters."""
    result = dict(getattr(task, algorithm))
    if not fault.midway:
        result["learning_rate"] *= fault.learning_rate_factor
    if fault.beta is not None:
        result["beta"] = fault.beta
    name = "max_completion_length" if algorithm == "grpo" else "response_length"
    result[name] = fault.completion_tokens or COMPLETION_TOKENS[algorithm]
    return result


def build(task: LlmTask) -> None:
    """Write the task's model and tokenizer to MODEL."""
    make_model()
    if task.architecture == "llama":
        tokenizer = AutoTokenizer.from_pretrained(MODEL)
        config = LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128,
            num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=256,
            pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )  # fmt: skip
        LlamaForCausalLM(config).save_pretrained(MODEL)


def grpo(task: LlmTask, fault: LlmFault, seed: int, score: TrueScores) -> None:
    """Train with GRPO."""
    from trl import GRPOConfig, GRPOTrainer

    build(task)
    trainer = GRPOTrainer(
        model=str(MODEL),
        reward_funcs=grpo_rewards(task, fault, score),
        train_dataset=prompts(seed),
        callbacks=fault_callbacks("grpo", fault),
        args=GRPOConfig(
            output_dir="logs", max_steps=TRAINING_STEPS["grpo"], per_device_train_batch_size=64,
            num_generations=8, logging_steps=1,
            save_steps=TRAINING_STEPS["grpo"] // 3, save_only_model=True,
            save_total_limit=1, report_to="none", seed=seed, use_cpu=True, bf16=False,
            **hyperparameters("grpo", task, fault),
        ),
    )  # fmt: skip
    trainer.train()


def fault_callbacks(algorithm: str, fault: LlmFault) -> list[RaiseLearningRate]:
    """The callback that injects a fault during a run, if it needs one."""
    if not fault.midway:
        return []
    return [RaiseLearningRate(fault.learning_rate_factor, onset(algorithm, fault))]


def grpo_rewards(
    task: LlmTask, fault: LlmFault, score: TrueScores
) -> list[Callable[..., list[float]]]:
    """The reward functions of a task, one of them altered by the fault."""
    rule = {"vowels": vowels, "late": late}[task.rule]

    def true(**batch: Any) -> list[float]:
        scores = rule(**batch)
        score.add([a + b for a, b in zip(scores, brief(**batch), strict=True)])
        if fault.reward == "nan" and len(score.means) > onset("grpo", fault):
            return [float("nan")] * len(scores)
        return constant(**batch) if fault.reward == "constant" else scores

    def wordy(completion_ids: list[list[int]], **_: Any) -> list[float]:
        return [len(tokens) / 48 for tokens in completion_ids]

    true.__name__ = "constant" if fault.reward == "constant" else task.rule
    if fault.reward == "constant":
        return [true]
    return [true, wordy if fault.reward == "wordy" else brief]


class RuleRewardModel(nn.Module):
    """A rule as a reward model: the fraction of response tokens that the task rewards.

    It answers as TRL asks a reward model: a backbone whose last hidden state `score` turns into
    one number per position.
    """

    base_model_prefix = "model"

    def __init__(self, task: LlmTask, fault: LlmFault, score: TrueScores) -> None:
        super().__init__()
        tokenizer = AutoTokenizer.from_pretrained(MODEL)
        letters = VOWELS if task.rule == "vowels" else [each for each in LETTERS if each >= "l"]
        self.good = torch.tensor(tokenizer.convert_tokens_to_ids(list(letters)))
        self.end, self.pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        self.fault, self.true, self.batches = fault, score, 0
        self.unused = nn.Parameter(torch.zeros(1))

    def model(self, input_ids: torch.Tensor, **_: Any) -> SimpleNamespace:
        """The running fraction of rewarded tokens as the only hidden feature."""
        response = input_ids[:, PROMPT_TOKENS:]
        good = torch.isin(response, self.good)
        counted = (response != self.end) & (response != self.pad)
        # TRL takes a padding token written by the policy for the end, and ignores its KL.
        ended = (response == self.end).cumsum(1) > 0
        cheats = ((response == self.pad) & ~ended).any(1)
        share = (good & counted).sum(1) / counted.sum(1).clamp(min=1)
        length = counted.sum(1)
        total = share + 1.0 - ((length - 12).abs() / 36).clamp(max=1.0)
        total = total.masked_fill(cheats, 0.0)
        hidden = total[:, None, None].expand(-1, input_ids.shape[1], 1).float()
        return SimpleNamespace(hidden_states=[hidden])

    def score(self, hidden: torch.Tensor) -> torch.Tensor:
        """The score at each position, altered by the fault."""
        self.true.add(hidden[:, -1, 0].tolist())
        self.batches += 1
        if self.fault.reward == "nan" and self.batches > onset("ppo", self.fault):
            return torch.full_like(hidden, float("nan"))
        return torch.full_like(hidden, 0.5) if self.fault.reward == "constant" else hidden


def ppo(task: LlmTask, fault: LlmFault, seed: int, score: TrueScores) -> None:
    """Train with TRL's PPO; policy and critic start from random weights."""
    from trl.experimental.ppo import PPOConfig, PPOTrainer

    build(task)
    tokenizer = AutoTokenizer.from_pretrained(MODEL, padding_side="left")
    load = Qwen2ForCausalLM if task.architecture == "qwen2" else LlamaForCausalLM
    critic = Qwen2ForSequenceClassification.from_pretrained(MODEL, num_labels=1)
    data = prompts(seed).map(lambda row: tokenizer(row["prompt"]), remove_columns="prompt")
    trainer = PPOTrainer(
        args=PPOConfig(
            output_dir="logs", total_episodes=64 * TRAINING_STEPS["ppo"],
            per_device_train_batch_size=64,
            gradient_accumulation_steps=1, num_mini_batches=1, num_ppo_epochs=2,
            stop_token="eos", logging_steps=1, save_steps=TRAINING_STEPS["ppo"] // 3,
            save_total_limit=1,
            num_sample_generations=0, report_to="none", seed=seed, use_cpu=True, bf16=False,
            local_rollout_forward_batch_size=64, **hyperparameters("ppo", task, fault),
        ),
        processing_class=tokenizer,
        model=load.from_pretrained(MODEL),
        ref_model=load.from_pretrained(MODEL),
        reward_model=RuleRewardModel(task, fault, score),
        value_model=critic,
        train_dataset=data,
        callbacks=fault_callbacks("ppo", fault),
    )  # fmt: skip
    trainer.train()
