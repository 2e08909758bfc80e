"""Errors, options, results, backoff and the state of a channel. They do not import the other packages."""
