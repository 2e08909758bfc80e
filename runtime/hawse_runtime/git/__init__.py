"""The `git.*` methods, which run the sandbox's `git`. Credentials never end up in files, arguments or variables.

This package knows nothing about terminals or other packages' methods.
"""
