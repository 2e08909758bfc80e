"""Participants of a terminal: presence, the writer lease and the size policy.

It is independent of PTYs, journals and connections; a participant is an object with a key.
"""
