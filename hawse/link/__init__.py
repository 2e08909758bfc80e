"""The stream between a gateway and a runtime, and socket operations that both use."""
