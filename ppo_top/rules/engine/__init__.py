"""What every rule builds on: the run, histories, persistence, ranges and statistics."""
