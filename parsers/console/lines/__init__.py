"""The lines of a console: decoded, freed of prefixes, kept for the log pane; what ended a run."""
