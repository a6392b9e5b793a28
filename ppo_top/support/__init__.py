"""What serves every layer: the cache, internal errors, what the user has acknowledged."""
