"""Streams fed by a generator or a connection, and checks of handles.

Methods are unknown here: the packages that handle methods import this one, never the reverse.
"""
