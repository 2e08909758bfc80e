"""Streams of the runtime's calls: output only, the latest of a value, fed by a generator; and checks of handles.

It knows no method: the packages that handle methods import it, never the reverse.
"""
