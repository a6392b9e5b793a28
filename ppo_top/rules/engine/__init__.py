"""What every rule stands on: history, persistence, ranges, statistics, and the shape of a rule."""
