"""Streams whose source is a generator or a connection, and checks of handles.

This package knows no methods: the packages that implement methods import it, never the reverse.
"""
