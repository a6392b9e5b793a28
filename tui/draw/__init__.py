"""Pure drawing: a snapshot and a size become styled lines."""
