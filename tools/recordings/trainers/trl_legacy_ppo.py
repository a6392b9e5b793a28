"""Records TRL's first PPO trainer (0.11.4) on a tiny random GPT-2: TensorBoard and W&B offline."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from oracle import fresh, point, tensorboard_points, write_expected
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import AutoModelForCausalLMWithValueHead, PPOConfig, PPOTrainer, create_reference_model

STEPS = 8
BATCH = 8


def tokenizer() -> PreTrainedTokenizerFast:
    """Sixty words and three marks; nothing to download."""
    words = {f"w{i}": i for i in range(60)} | {"<pad>": 60, "<eos>": 61, "<unk>": 62}
    base = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=base, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


def model(path: Path) -> AutoModelForCausalLMWithValueHead:
    config = GPT2Config(
        vocab_size=64,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=61,
        eos_token_id=61,
    )
    GPT2LMHeadModel(config).save_pretrained(path)
    return AutoModelForCausalLMWithValueHead.from_pretrained(str(path))


def train(log_with: str) -> list[dict[str, Any]]:
    """A handful of updates; the numbers handed to the trackers are returned."""
    torch.manual_seed(3)
    policy = model(Path("model"))
    words = tokenizer()
    config = PPOConfig(
        model_name="tiny-gpt2",
        learning_rate=3e-3,
        batch_size=BATCH,
        mini_batch_size=4,
        ppo_epochs=2,
        log_with=log_with,
        tracker_project_name="ppo-legacy",
        project_kwargs={"logging_dir": "tb"} if log_with == "tensorboard" else {},
        seed=3,
    )
    trainer = PPOTrainer(config, policy, create_reference_model(policy), words)
    seen = []
    track = trainer.accelerator.log

    def listen(logs: dict[str, object], **rest: object) -> None:
        seen.append({"step": rest.get("step"), "scalars": scalars(logs)})
        track(logs, **rest)

    trainer.accelerator.log = listen
    generate = {"max_new_tokens": 8, "min_length": -1, "do_sample": True, "top_k": 0, "top_p": 1.0,
                "pad_token_id": 60}  # fmt: skip
    for _ in range(STEPS):
        queries = [torch.randint(0, 60, (4,)) for _ in range(BATCH)]
        answers = [trainer.generate(q, return_prompt=False, **generate)[0] for q in queries]
        rewards = [torch.tensor(float((a < 20).float().mean())) for a in answers]
        stats = trainer.step(queries, answers, rewards)
        batch = {"query": words.batch_decode(queries), "response": words.batch_decode(answers)}
        trainer.log_stats(stats, batch, rewards)
    trainer.accelerator.end_training()
    return seen


def scalars(logs: dict[str, Any]) -> dict[str, float]:
    """The single numbers of one call; arrays and tables are left out."""
    found = {}
    for key, value in logs.items():
        if isinstance(value, (int, float)) or getattr(value, "ndim", None) == 0:
            found[key] = float(value)
    return found


def main() -> None:
    which = sys.argv[1]
    if which == "wandb":
        os.environ["WANDB_MODE"] = "offline"
    target = fresh("trl_0.11.4", f"ppo_{which}")
    seen = train(which)
    if which == "wandb":
        run = next(Path().glob("wandb/offline-run-*"))
        skip = shutil.ignore_patterns("logs", "media", "requirements.txt", "tmp")
        shutil.copytree(run, target / run.name, ignore=skip)
        rows = [point(k, s["step"], v, None) for s in seen for k, v in s["scalars"].items()]
        write_expected(target, rows, "logged")
    else:
        shutil.copytree("tb", target / "tb")
        write_expected(target, tensorboard_points(target))
    print(json.dumps(seen[-1])[:1500])


if __name__ == "__main__":
    main()
