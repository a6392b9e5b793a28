"""The step of a record: its own, its progress bar's, or another training's first."""
