"""Tables that are printed: one per update, or Ray Tune's table of trials."""
