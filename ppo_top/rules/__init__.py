"""Rules: what is healthy, since when a run is not, why, and what to try."""
