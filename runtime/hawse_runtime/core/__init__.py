"""Tasks, thread pools, framing, weak callbacks, globs and output patterns. Imports none of the other packages."""
