"""What this machine tells of the files and processes of a training."""
