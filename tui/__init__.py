"""The screen: the only place where Textual, Rich and plotext are known."""
