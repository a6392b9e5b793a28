"""What leaves the program without a screen: reports, JSON, status line, points, explanations."""
