"""Errors, options, results, backoff and the state of a channel. They know no connection."""
