"""Framings and databases that trackers write: LevelDB logs, protocol buffers, SQLite."""
