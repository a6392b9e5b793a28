"""Logs of other machines, over the user's own ssh: a folder of copies here stands for each host."""
