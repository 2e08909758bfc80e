"""Tasks, thread pools, framing, weak callbacks, globs and output patterns. Imports no other package of the runtime."""
