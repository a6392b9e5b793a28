"""The transaction log of Weights & Biases."""

from ppo_top.parsers.wandb.parser import FORMAT as FORMAT
