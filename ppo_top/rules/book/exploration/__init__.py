"""Entropy and the spread of actions."""
