"""The tiny language model of `corpus.letters.tasks`, and the supervised training before the run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn import functional
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from corpus.letters.tasks import ALPHABET, LETTER_TASKS, TOKENS, draw_answer, draw_prompt

WIDTH, LAYERS, HEADS = 48, 2, 4
REFERENCE_STEPS, REFERENCE_BATCH, REFERENCE_RATE = 300, 48, 4e-3
REFERENCE_SEED = 0
END, PAD = ".", "?"


class FastGPT2(GPT2LMHeadModel):
    """GPT-2 that samples in plain torch: transformers' `generate` takes most of a tiny run's time.

    Prompts have one length. Completions are padded after their end token.
    """

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def generate(self, input_ids: Any, generation_config: Any, **_: Any) -> Any:
        """Sample one completion a prompt: shape (prompts, prompt length + completion length)."""
        end, pad = self.config.eos_token_id, self.config.pad_token_id
        memory: list[tuple[Any, Any]] = []
        tokens, fresh = input_ids, input_ids
        done = torch.zeros(len(tokens), dtype=torch.bool)
        for _step in range(generation_config.max_new_tokens):
            logits = self.next_logits(fresh, tokens.shape[1] - fresh.shape[1], memory)
            shares = (logits / generation_config.temperature).softmax(-1)
            drawn = torch.multinomial(shares, 1).squeeze(1).masked_fill(done, pad)
            tokens, fresh = torch.cat([tokens, drawn[:, None]], 1), drawn[:, None]
            done |= drawn == end
            if done.all():
                break
        return tokens

    def next_logits(self, fresh: Any, before: int, memory: list[tuple[Any, Any]]) -> Any:
        """The logits after `fresh` tokens; `memory` holds keys and values of those before."""
        places = torch.arange(before, before + fresh.shape[1])
        body = self.transformer
        hidden = body.wte(fresh) + body.wpe(places)
        for layer, block in enumerate(body.h):
            heads = block.attn.num_heads
            mixed = block.attn.c_attn(block.ln_1(hidden)).chunk(3, -1)
            query, key, value = (each.unflatten(-1, (heads, -1)).transpose(1, 2) for each in mixed)
            if before:
                key = torch.cat([memory[layer][0], key], 2)
                value = torch.cat([memory[layer][1], value], 2)
                memory[layer] = (key, value)
            else:
                memory.append((key, value))
            seen = functional.scaled_dot_product_attention(query, key, value, is_causal=not before)
            hidden = hidden + block.attn.c_proj(seen.transpose(1, 2).flatten(2))
            hidden = hidden + block.mlp(block.ln_2(hidden))
        return self.lm_head(body.ln_f(hidden[:, -1]))


def letters(text: str) -> str:
    """Decoded text without the blanks between its tokens."""
    return "".join(letter for letter in text if letter in ALPHABET)


def load_model(folder: Path) -> tuple[FastGPT2, Any]:
    """The reference that was trained into a folder, and its tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    return FastGPT2.from_pretrained(folder), tokenizer


def train_reference(task_name: str, folder: Path) -> None:
    """Teach a new model a task by supervised training; store it and its tokenizer in a folder."""
    task, draw = LETTER_TASKS[task_name], random.Random(REFERENCE_SEED)
    torch.manual_seed(REFERENCE_SEED)
    tokenizer, model = _tokenizer(), _new_model()
    optimiser = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, REFERENCE_RATE, total_steps=REFERENCE_STEPS
    )
    for _ in range(REFERENCE_STEPS):
        prompts = [draw_prompt(task, draw) for _ in range(REFERENCE_BATCH)]
        texts = [prompt + draw_answer(task, prompt, draw) + END for prompt in prompts]
        tokens = tokenizer(texts, return_tensors="pt", padding=True)["input_ids"]
        aims = tokens.masked_fill(tokens == tokenizer.pad_token_id, -100)
        aims[:, : task.prompt_letters] = -100
        logits = model(input_ids=tokens).logits[:, :-1]
        loss = functional.cross_entropy(logits.flatten(0, 1), aims[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer() -> PreTrainedTokenizerFast:
    """A token for each letter, one for the end and one for padding."""
    numbers = {token: number for number, token in enumerate([PAD, END, *ALPHABET])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=PAD))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token=PAD, eos_token=END, pad_token=PAD
    )


def _new_model() -> GPT2LMHeadModel:
    longest = max(task.prompt_letters for task in LETTER_TASKS.values())
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(ALPHABET) + 2, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS,
            n_positions=longest + TOKENS + 2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            pad_token_id=0, eos_token_id=1, bos_token_id=None,
        )
    )  # fmt: skip
