"""Train TRL's GRPO on a tiny, randomly initialised language model with rule-based rewards."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

LETTERS = "abcdefghijklmnopqr"
VOWELS = "aeio"
MODEL = Path("tiny-model")


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--beta", type=float, default=0.4, help="weight of the KL penalty")
    parser.add_argument("--max-completion-length", type=int, default=48, help="tokens")
    parser.add_argument("--rewards", default="vowels,brief", help="names of reward functions")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def vowels(completions: list[str], **_: Any) -> list[float]:
    """The fraction of vowels in the text."""
    return [sum(text.count(vowel) for vowel in VOWELS) / max(1, len(text)) for text in completions]


def brief(completion_ids: list[list[int]], **_: Any) -> list[float]:
    """Reward completions that end before the limit and have about a dozen tokens."""
    return [1.0 - min(1.0, abs(len(tokens) - 12) / 36) for tokens in completion_ids]


def late(completions: list[str], **_: Any) -> list[float]:
    """The fraction of letters from the end of the alphabet in use."""
    return [sum(letter >= "l" for letter in text) / max(1, len(text)) for text in completions]


def constant(completions: list[str], **_: Any) -> list[float]:
    """The same reward for everything: nothing can be learnt from it."""
    return [0.5] * len(completions)


REWARDS = {function.__name__: function for function in (vowels, brief, late, constant)}


def make_model() -> None:
    """Save a randomly initialised Qwen2 of two layers and a tokenizer of single letters."""
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    words = trainers.BpeTrainer(
        vocab_size=len(LETTERS) + 2, special_tokens=["?", "."], initial_alphabet=list(LETTERS)
    )
    tokenizer.train_from_iterator([LETTERS], words)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="?", eos_token=".", pad_token="?"
    ).save_pretrained(MODEL)
    config = Qwen2Config(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        pad_token_id=tokenizer.token_to_id("?"),
        eos_token_id=tokenizer.token_to_id("."),
        bos_token_id=None,
    )
    Qwen2ForCausalLM(config).save_pretrained(MODEL)


def prompts(seed: int) -> Dataset:
    """Prompts of four letters each."""
    draw = random.Random(seed)
    return Dataset.from_list([{"prompt": "".join(draw.choices(LETTERS, k=4))} for _ in range(512)])


def main() -> None:
    """Train once."""
    asked = options()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)
    make_model()
    trainer = GRPOTrainer(
        model=str(MODEL),
        reward_funcs=[REWARDS[name] for name in asked.rewards.split(",")],
        train_dataset=prompts(asked.seed),
        args=GRPOConfig(
            output_dir=asked.logdir,
            learning_rate=asked.learning_rate,
            beta=asked.beta,
            max_completion_length=asked.max_completion_length,
            max_steps=asked.steps,
            per_device_train_batch_size=128,
            num_generations=8,
            logging_steps=1,
            save_steps=asked.steps,
            save_only_model=True,
            report_to="tensorboard",
            seed=asked.seed,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
        ),
    )
    trainer.train()


if __name__ == "__main__":
    main()
