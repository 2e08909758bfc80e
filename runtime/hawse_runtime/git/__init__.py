"""Git by the sandbox's own `git` program: `git.*`, with credentials that reach no file, argument or environment.

It is independent of terminals and other methods.
"""
