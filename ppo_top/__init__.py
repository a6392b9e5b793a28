"""ppo-top: a live verdict on reinforcement learning runs, in the terminal."""

__version__ = "0.1.0"
