"""Language models: drift from the reference, groups, completions, the sampler."""
