"""What several log formats need: numbers, names of metrics, framings, time stamps."""
