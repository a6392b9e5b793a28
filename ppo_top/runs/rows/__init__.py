"""The rows of a run: merged from its logs, judged, and kept as a timeline."""
