"""Policy updates: their size and shape, gradients, the learning rate."""
