"""Streams that are fed by a generator or a connection, and checks on handles.

This package knows nothing about methods: the packages that implement them import it, never the other way round.
"""
