"""`ppo-top serve`: verdicts for Prometheus, over HTTP or in a file for node_exporter."""
