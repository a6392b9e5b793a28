"""What serves every layer: internal errors, and what the user has acknowledged."""
