"""What there is to see of a run at a row: pure functions of its timeline and findings."""
