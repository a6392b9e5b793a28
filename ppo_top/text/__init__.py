"""Text for terminals: numbers, durations, hostile strings, pages of a given width."""
