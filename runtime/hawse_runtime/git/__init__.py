"""The `git.*` methods, which run the sandbox's `git`. Credentials reach no file, argument or environment variable.

This package knows neither terminals nor the methods of other packages.
"""
