"""What one record looks like: dictionaries, pairs, trainers' own lines, indented maps."""
