"""The participants of a terminal: presence, the writer lease and the size policy.

This package knows neither PTYs nor journals nor connections. A participant is an object with a key.
"""
