"""Tasks, thread pools, weak callbacks, globs and output patterns. They know no other package of the runtime."""
