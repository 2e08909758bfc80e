"""Streams that a generator or a connection feeds, and checks of handles.

It knows no method: the packages that handle methods import it, never the reverse.
"""
