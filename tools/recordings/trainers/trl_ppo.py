"""Records TRL's second PPO trainer on a tiny random GPT-2: console, events, trainer_state.json.

With trl 0.11.4 it is PPOv2Trainer (transformers 4 prints numbers), with trl 1.12.0
trl.experimental.ppo (transformers 5 prints strings).
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from oracle import fresh, point, tensorboard_points, write_expected

UPDATES = 6
BATCH = 8


def build(folder: str) -> None:
    """A policy and a reward model with a vocabulary of 64, saved for `from_pretrained` to find."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        GPT2Config,
        GPT2ForSequenceClassification,
        GPT2LMHeadModel,
        PreTrainedTokenizerFast,
    )

    torch.manual_seed(3)
    words = {f"w{i}": i for i in range(60)} | {"<pad>": 60, "<eos>": 61, "<unk>": 62}
    base = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=base, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    ).save_pretrained(folder)
    sizes = {
        "vocab_size": 64, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2,
        "bos_token_id": 61, "eos_token_id": 61, "pad_token_id": 60,
    }  # fmt: skip
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(f"{folder}/policy")
    GPT2ForSequenceClassification(GPT2Config(**sizes, num_labels=1)).save_pretrained(
        f"{folder}/reward"
    )


def train(single: bool) -> None:
    """With a single minibatch `val/ratio_var` is the variance of one number: NaN."""
    import torch
    from transformers import TrainerCallback

    class Listen(TrainerCallback):
        """Keeps what every other callback gets too."""

        def on_log(
            self, args: Any, state: Any, control: Any, logs: Any = None, **rest: Any
        ) -> None:
            seen.append((state.global_step, dict(logs or {})))

    torch.manual_seed(3)
    seen: list[tuple[int, dict[str, object]]] = []
    make_trainer(single, Listen()).train()
    rows = [
        point(key, step, number, None)
        for step, logs in seen
        for key, number in logs.items()
        if isinstance(number, (int, float))
    ]
    write_expected(Path(), rows)


def make_trainer(single: bool, callback: Any) -> Any:
    """The trainer of the installed version, with the models that `build` has saved."""
    import trl
    from datasets import Dataset

    old = trl.__version__.startswith("0.")
    if old:
        from trl.trainer.ppov2_config import PPOv2Config as Config
        from trl.trainer.ppov2_trainer import PPOv2Trainer as Trainer
    else:
        from trl.experimental.ppo import PPOConfig as Config
        from trl.experimental.ppo import PPOTrainer as Trainer
    prompts = [[(7 * i + k) % 60 for k in range(4)] for i in range(64)]
    data = Dataset.from_dict({"input_ids": prompts})
    config = Config(
        output_dir="out",
        per_device_train_batch_size=BATCH if single else BATCH // 2,
        gradient_accumulation_steps=1,
        num_mini_batches=1 if single else 2,
        num_ppo_epochs=1 if single else 2,
        total_episodes=UPDATES * BATCH,
        response_length=8,
        stop_token="eos",
        missing_eos_penalty=1.0,
        learning_rate=3e-3,
        logging_steps=1,
        save_steps=3,
        num_sample_generations=2,
        report_to=["tensorboard"],
        use_cpu=True,
        seed=3,
    )
    names = ("config", "tokenizer", "policy", "ref_policy")
    if not old:
        names = ("args", "processing_class", "model", "ref_model")
    words, policy, reference, reward, value = load_models()
    return Trainer(
        **dict(zip(names, (config, words, policy, reference), strict=True)),
        reward_model=reward,
        value_model=value,
        train_dataset=data,
        eval_dataset=data,
        callbacks=[callback],
    )


def load_models() -> tuple[Any, Any, Any, Any, Any]:
    """Tokenizer, policy, reference, reward model and critic, as `build` has saved them."""
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    words = AutoTokenizer.from_pretrained("models", padding_side="left")
    policy, reference = (AutoModelForCausalLM.from_pretrained("models/policy") for _ in range(2))
    reward, value = (
        AutoModelForSequenceClassification.from_pretrained("models/reward", num_labels=1)
        for _ in range(2)
    )
    return words, policy, reference, reward, value


def write_options(path: Path) -> None:
    """The fields of PPOConfig and their defaults, those that are plain values."""
    from trl.experimental.ppo import PPOConfig

    config = PPOConfig(output_dir="out", bf16=False, use_cpu=True)
    found = {each.name: getattr(config, each.name) for each in dataclasses.fields(config)}
    values = {name: getattr(value, "value", value) for name, value in sorted(found.items())}
    plain = {
        name: value if isinstance(value, (bool, int, float, str)) else None
        for name, value in values.items()
    }
    path.write_text(json.dumps(plain, indent=0) + "\n")


def main() -> None:
    if sys.argv[1:2] == ["train"]:
        return train(sys.argv[2:] == ["single"])
    import trl

    old = trl.__version__.startswith("0.")
    target = fresh(f"trl_{trl.__version__}", "ppov2" if old else "ppo")
    build("models")
    command = [sys.executable, __file__, "train"]
    with (target / "console.log").open("wb") as both:
        subprocess.run(command, stdout=both, stderr=subprocess.STDOUT, check=True)
    shutil.copy("expected.points", target)
    if not old:
        write_options(target / "options.json")
    wanted = ("tfevents", "trainer_state.json")
    kept = [p for p in Path("out").rglob("*") if any(name in p.name for name in wanted)]
    for path in kept:
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    write_expected(target, tensorboard_points(target), "expected_tensorboard")
    shutil.rmtree("out")
    with (target / "stdout.log").open("wb") as out, (target / "stderr.log").open("wb") as err:
        subprocess.run([*command, "single"], stdout=out, stderr=err, check=True)
    shutil.copy("expected.points", target / "expected_single.points")
    print(
        *(f"{p.stat().st_size:8} {p}" for p in sorted(target.rglob("*")) if p.is_file()), sep="\n"
    )
    return None


if __name__ == "__main__":
    main()
