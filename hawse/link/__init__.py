"""The stream between a gateway and a runtime, and what both ends do with its socket."""
