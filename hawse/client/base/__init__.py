"""Errors, options, results, backoff and channel state. This package imports no other client packages."""
