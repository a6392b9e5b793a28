"""Text for terminals: numbers, durations, hostile strings, and pages of a given width."""
