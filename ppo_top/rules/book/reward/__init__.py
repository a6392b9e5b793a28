"""The reward's course, its spread, and episodes."""
