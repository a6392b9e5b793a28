"""A notebook in which Hugging Face's Trainer draws its table, executed by nbclient.

The policy is a bandit's, its metrics bear the names of TRL's GRPO; the callback adds them as
columns the way Unsloth does (a blank on both sides of each slash). The trainings save their own
`log_history`, which becomes `expected.points`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(os.environ["OUT"]) / "hf_notebook_5.23.0"

SETUP = """
import json, torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments
from transformers.utils.notebook import NotebookProgressCallback

class Prompts(Dataset):
    def __len__(self): return 16384
    def __getitem__(self, index): return {"input_ids": torch.tensor([index])}

class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.zeros(8))
    def forward(self, input_ids): return 20 * self.logits.expand(len(input_ids), 8)

class Table(NotebookProgressCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            values = {k.replace("/", " / "): v for k, v in logs.items()}
            values = {k: v for k, v in values.items() if k not in ("loss", "epoch")}
            values |= {"Training Loss": logs["loss"], "Step": state.global_step}
            self.training_tracker.write_line(values)

class Bandit(Trainer):
    bad_after = fails_at = None
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        step = self.state.global_step
        if step == self.fails_at:
            raise RuntimeError("CUDA error: device-side assert triggered")
        log_p = torch.log_softmax(model(inputs["input_ids"]), -1)
        arm = torch.distributions.Categorical(logits=log_p).sample()
        good = self.bad_after is None or step < self.bad_after
        reward = (arm if good else -arm).float() / 7
        chosen = log_p.gather(1, arm[:, None])[:, 0]
        kl = (log_p.exp() * (log_p + torch.log(torch.tensor(8.0)))).sum(-1).mean()
        entropy = -(log_p.exp() * log_p).sum(-1).mean()
        self.seen = {"reward": (arm / 7 if good else arm / 7 - 0.6).mean().item(),
            "reward_std": reward.std().item(), "kl": kl.item(), "entropy": entropy.item(),
            "completions/mean_length": 20.0 + arm.float().mean().item()}
        return -((reward - reward.mean()) * chosen).mean()
    def log(self, logs, *args, **kwargs):
        if "loss" in logs: logs |= self.seen
        super().log(logs, *args, **kwargs)

def train(name, steps=40, seed=1, bad_after=None, fails_at=None):
    options = TrainingArguments("out", max_steps=steps, logging_steps=1, learning_rate=1e-3,
        seed=seed, per_device_train_batch_size=256, report_to=[], save_strategy="no",
        use_cpu=True)
    trainer = Bandit(Policy(), options, train_dataset=Prompts())
    trainer.remove_callback(NotebookProgressCallback)
    trainer.add_callback(Table)
    trainer.bad_after, trainer.fails_at = bad_after, fails_at
    try:
        return trainer.train()
    finally:
        with open(name + ".json", "w") as file: json.dump(trainer.state.log_history, file)
"""
CELLS = (
    "print('256 prompts, 8 arms')",
    "train('healthy')",
    "for seed in (2, 3): train(f'seed{seed}', seed=seed, steps=12)",
    "train('sick', steps=60, bad_after=30)",
    "train('crashed', fails_at=25)",
    "undefined_name",
    "for episode in range(1, 41):\n"
    "    reward, loss = episode * 0.5 - 3, 1 / episode\n"
    "    print(f'Episode {episode}/40 | reward: {reward:.2f} | loss: {loss:.4f}')",
)
TRAININGS = ("healthy", "seed2", "seed3", "sick", "crashed")


def main() -> None:
    """Execute the notebook, keep it as Jupyter saves it, and what the trainers logged."""
    cells = [nbformat.v4.new_markdown_cell("# A bandit, trained five times")]
    cells += [nbformat.v4.new_code_cell(code.strip()) for code in (SETUP, *CELLS)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, allow_errors=True, timeout=600).execute()
    FOLDER.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, FOLDER / "bandit.ipynb")
    rows = []
    for name in TRAININGS:
        for entry in json.loads(Path(f"{name}.json").read_text(encoding="utf-8")):
            rows += [
                {"run": name, "tag": tag, "step": entry["step"], "value": value, "time": None}
                for tag, value in entry.items()
                if "loss" in entry and tag not in ("step", "epoch")
            ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (FOLDER / "expected.points").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
