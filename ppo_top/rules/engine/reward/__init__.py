"""The reward as measurements of known noise, and what its course says."""
