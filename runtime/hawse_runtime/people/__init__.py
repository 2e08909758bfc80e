"""A terminal's participants: presence, the writer lease and the size policy.

This package knows nothing about PTYs, journals or connections. A participant is an object with a key.
"""
