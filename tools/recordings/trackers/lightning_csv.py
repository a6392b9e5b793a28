"""PyTorch Lightning's CSVLogger: a bandit's policy, trained by a LightningModule of one's own.

Rows are sparse: one for each kind of value (training step, epoch, validation). A column that
appears late makes the logger write the file anew. `expected.points` is what `csv.DictReader` finds.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from pathlib import Path

import lightning
import torch

HOME = Path(os.environ["OUT"]) / "lightning_2.6.6"


class Policy(lightning.LightningModule):
    """REINFORCE on eight arms; with `sick` the rewards turn round halfway."""

    def __init__(self, learning_rate: float = 0.05, sick: bool = False) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.logits = torch.nn.Parameter(torch.zeros(8))
        self.sick = sick

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        """One update."""
        log_p = torch.log_softmax(self.logits, -1).expand(len(batch), 8)
        arm = torch.distributions.Categorical(logits=log_p).sample()
        reward = arm / 7
        if self.sick and self.global_step >= 60:
            reward = -reward
        chosen = log_p.gather(1, arm[:, None])[:, 0]
        loss = -((reward - reward.mean()) * chosen).mean()
        self.log("train/reward", reward.mean(), on_step=True)
        self.log("train/loss", loss, on_step=True, on_epoch=True)
        self.log("train/entropy", -(log_p.exp() * log_p).sum(-1).mean(), on_step=True)
        if self.current_epoch > 0:
            self.log("train/late", float(index), on_step=True)
        return loss

    def validation_step(self, batch: torch.Tensor, index: int) -> None:
        """The mean reward of the policy."""
        self.log("eval/reward", (torch.softmax(self.logits, -1) * torch.arange(8) / 7).sum())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.parameters(), lr=self.hparams["learning_rate"])


def main() -> None:
    """Six epochs of 20 updates, a row every second one."""
    sick = sys.argv[1] == "sick"
    torch.manual_seed(1)
    logger = lightning.pytorch.loggers.CSVLogger("logs", name=sys.argv[1])
    data = torch.utils.data.DataLoader(torch.zeros(20 * 256, 1), batch_size=256)
    trainer = lightning.Trainer(
        max_epochs=6, logger=logger, log_every_n_steps=2, accelerator="cpu",
        enable_checkpointing=False, enable_progress_bar=False, num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit(Policy(sick=sick), data, torch.utils.data.DataLoader(torch.zeros(1, 1)))
    made, kept = Path("logs") / sys.argv[1] / "version_0", HOME / sys.argv[1] / "version_0"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(made, kept)
    with (made / "metrics.csv").open(newline="") as file:
        rows = [
            {"tag": tag, "step": int(row["step"]), "value": float(value), "time": None}
            for row in csv.DictReader(file)
            for tag, value in row.items()
            if value
        ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (kept.parent / "expected.points").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
