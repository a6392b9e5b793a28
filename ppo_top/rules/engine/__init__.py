"""What every rule builds on: context, history, persistence, ranges and statistics."""
