"""Errors, options, results, backoff and channel state. They do not import other packages of the client."""
