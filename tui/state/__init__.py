"""The state of the screen: keys and actions, cursor, run list, snapshot."""
