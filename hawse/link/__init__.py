"""The stream between a gateway and a runtime, and socket operations used by both."""
