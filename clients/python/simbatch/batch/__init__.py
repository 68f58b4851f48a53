"""Studies at a coordinator: batches, their progress, their answers and their tables."""
