"""What the user looks at: keys and actions, cursor, list of runs, snapshot."""
