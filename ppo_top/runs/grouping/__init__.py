"""Which logs are one run: units of logs, what ties them together, and clusters of them."""
