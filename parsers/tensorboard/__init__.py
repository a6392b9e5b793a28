"""TensorBoard event files."""

from ppo_top.parsers.tensorboard.parser import FORMAT as FORMAT
