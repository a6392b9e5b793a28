"""Output without a TUI: reports, JSON, status line, exported points, explanations."""
