"""Tiny language models that answer in letters, trained with TRL."""
