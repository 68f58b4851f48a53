"""A simulation as a function of its inputs, executed by a pool: `Coordinator.evaluator` and `Study.evaluator`."""
