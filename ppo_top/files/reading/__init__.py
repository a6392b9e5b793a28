"""Reads a log, or standard input, with the parser of its format."""
