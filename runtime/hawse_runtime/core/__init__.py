"""Tasks, thread pools, framing, weak callbacks, globs and output patterns. This package imports none of the others."""
