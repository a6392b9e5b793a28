"""Bytes as lines, text and numbers."""
