"""Python functions as simulations: their identity, the artifact they travel in, and their execution by a runner."""
