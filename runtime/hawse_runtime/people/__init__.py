"""Participants of a terminal: presence, the writer lease and the size policy.

It knows no PTY, journal or connection; a participant is an object with a key.
"""
