"""How a configuration of `corpus.letters.tasks` is trained with TRL's PPO, the one with a critic.

Its trainer left TRL after 1.12. It asks for a reward model that reads tokens, and for a policy
whose `generate` tells the logits.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from transformers import GPT2ForSequenceClassification
from trl.experimental.ppo import PPOConfig, PPOTrainer

from corpus.letters.model import FastGPT2
from corpus.letters.tasks import LETTER_TASKS, LetterSetup


class ScoredGPT2(FastGPT2):
    """The policy, with the logits of what it sampled."""

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def generate(
        self, input_ids: Any, generation_config: Any, output_scores: bool = False, **_: Any
    ) -> Any:
        """As TRL's PPO asks: sequences, and for each place the logits at the temperature."""
        tokens = super().generate(input_ids, generation_config)
        if not output_scores:
            return tokens
        logits = self(input_ids=tokens).logits[:, input_ids.shape[1] - 1 : -1]
        scores = (logits / generation_config.temperature).unbind(1)
        return SimpleNamespace(sequences=tokens, scores=scores)


class RewardOfTexts(nn.Module):
    """A reward function of texts as TRL's PPO asks for a reward model.

    A backbone, whose last hidden state `score` turns into one number a place: here the reward at
    each. What follows an end or a padding token is no part of the text.
    """

    base_model_prefix = "texts"

    def __init__(self, setup: LetterSetup, reward: Any, tokenizer: Any) -> None:
        super().__init__()
        self.prompt_letters = LETTER_TASKS[setup.task].prompt_letters
        self.reward, self.tokenizer = reward, tokenizer
        self.trainer: list[Any] = []  # in a list: a module would take it for a part of itself
        self.unused = nn.Parameter(torch.zeros(1))

    def texts(self, input_ids: Any, **_: Any) -> SimpleNamespace:
        """The reward of each completion, at each of its places: shape (texts, places, 1)."""
        after = self.prompt_letters
        ends = (input_ids == self.tokenizer.eos_token_id) | (
            input_ids == self.tokenizer.pad_token_id
        )
        written = ends[:, after:].cumsum(1) == 0
        completions = input_ids[:, after:].masked_fill(~written, self.tokenizer.pad_token_id)
        rewards = self.reward(
            self.tokenizer.batch_decode(input_ids[:, :after]),
            self.tokenizer.batch_decode(completions),
            self.trainer[0].state,
        )
        each = torch.tensor(rewards, dtype=torch.float32)[:, None, None]
        return SimpleNamespace(hidden_states=[each.expand(-1, input_ids.shape[1], 1)])

    def score(self, hidden: Any) -> Any:
        """The backbone has it already."""
        return hidden


def prepare_ppo(
    setup: LetterSetup, reference: Path, reward: Any, options: dict[str, Any], given: dict[str, Any]
) -> Any:
    """A PPO trainer whose policy, reference and critic all start from the reference's weights.

    `options` and `given` are what trainers of all kinds are told.
    """
    tokenizer = given["processing_class"]
    reward_model = RewardOfTexts(setup, reward, tokenizer)
    updates = {
        "total_episodes": setup.updates * setup.batch,
        "local_rollout_forward_batch_size": setup.batch,
        "stop_token": "eos",
        "num_sample_generations": 0,
    }
    options = {name: value for name, value in options.items() if name != "max_steps"} | updates
    prompts = given["train_dataset"].map(
        lambda row: tokenizer(row["prompt"]), remove_columns="prompt"
    )
    trainer = PPOTrainer(
        args=PPOConfig(**options),
        model=ScoredGPT2.from_pretrained(reference),
        ref_model=ScoredGPT2.from_pretrained(reference),
        reward_model=reward_model,
        value_model=GPT2ForSequenceClassification.from_pretrained(reference, num_labels=1),
        **given | {"train_dataset": prompts},
    )
    reward_model.trainer.append(trainer)
    return trainer
