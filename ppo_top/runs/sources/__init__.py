"""What was read from each source of a run: its points, console, end and measurements."""
