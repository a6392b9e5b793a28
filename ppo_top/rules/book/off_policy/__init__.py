"""Learners with a replay buffer."""
