"""Paths to bytes to updates: which files are logs, what each gained, and who still writes them."""
