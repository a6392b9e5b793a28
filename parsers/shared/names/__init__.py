"""What names mean: metrics, steps, times and settings, in English and Chinese."""
