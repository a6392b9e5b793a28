"""The log itself and the run's progress."""
