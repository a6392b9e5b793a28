"""Values of JSON and YAML under flat names."""
