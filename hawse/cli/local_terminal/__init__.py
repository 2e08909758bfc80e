"""The local terminal: its modes, its replies, and predictive echo."""
