"""Health rules: what is looked at, from which limit on it speaks, and what it says."""
