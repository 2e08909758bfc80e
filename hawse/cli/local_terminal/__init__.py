"""The terminal that the command runs in: its modes, its answers and predicted echo."""
