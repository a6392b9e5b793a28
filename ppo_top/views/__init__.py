"""What there is to see of a run at one update: pure functions of its timeline and findings."""
